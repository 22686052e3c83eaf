"""What makes each guard that take-over alone asks refuse, and not know."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from workflows.engine.core import Params
from workflows.facts import FleetFacts, known
from workflows.facts.read.firmware import FirmwareFacts
from workflows.tests.bad_imports import cached, gone_on, labels, rings
from workflows.tests.bends import UNREAD, Bad, Bend, a_pool, as_it_is, beside, both, every_disk, has_it_too, listed_leaves, node, put

LATER_SECONDS = 700.0
PLACEHOLDERS = FirmwareFacts("Vendor", {"chassis": "To Be Filled By O.E.M.", "product": "Default string", "board": "None"})


def head(**changes: Any) -> Bend:
    """What is known of the dead node."""

    def bent(facts: FleetFacts, params: Params) -> FleetFacts:
        there = facts.nodes.get(params.get("dead_node", ""))
        return facts if there is None else replace(facts, nodes={**facts.nodes, there.node: put(there, **changes)})

    return bent


def forgotten(facts: FleetFacts, params: Params) -> FleetFacts:
    """Nothing that the dead node reported is known."""
    return replace(facts, nodes={name: one for name, one in facts.nodes.items() if name != params.get("dead_node")})


def later(facts: FleetFacts, params: Params) -> FleetFacts:
    return replace(facts, at=facts.at + LATER_SECONDS) if known(facts.at) else facts


def timeless(facts: FleetFacts, params: Params) -> FleetFacts:
    return replace(facts, at=UNREAD)


def of_the_heads_hostid(facts: FleetFacts, params: Params) -> FleetFacts:
    there = facts.nodes.get(params.get("dead_node", ""))
    return facts if there is None else node(hostid=there.hostid)(facts, params)


def has_it_again(facts: FleetFacts, params: Params) -> FleetFacts:
    """The head reports, and has imported the pool."""
    return head(age_seconds=5.0, pools=(a_pool(params),))(facts, params)


REFUSED = (
    Bad("the_dead_node_is_silent", "so it runs. Export", head(age_seconds=5.0)),
    Bad("its_serial_numbers_are_known", "has placeholders for serial numbers", head(firmware=PLACEHOLDERS)),
    Bad("what_fenced_it_is_fresh", "Have it shown again", later),
    Bad("what_fenced_it_is_fresh", "reported after that was taken", head(age_seconds=1.0)),
    Bad("its_hostid_is_another", "have the same hostid", of_the_heads_hostid),
    Bad("every_label_names_the_dead_node", "Take it from the host that the labels name", labels(hostid=77, hostname="oss77")),
    Bad("every_label_names_the_dead_node", "was exported by oss02", labels(state=1)),
    Bad("every_member_is_here_and_can_be_read", "are not here", listed_leaves(state="UNAVAIL")),
    Bad("no_third_node_has_or_may_have_it", "is imported on oss09", has_it_too),
    Bad("no_third_node_imports_it_by_itself", "oss09 has it in its cache file", cached),
    Bad("a_minute_lies_between_the_looks", "the second comes after 60 s", as_it_is),
    Bad("no_host_wrote_to_it_meanwhile", "Some host has it, whatever was shown", rings(gone_on, first_only=True)),
    Bad("the_head_does_not_have_it_too", "Two hosts write to it", has_it_again),
    Bad("the_head_cannot_import_it", "what it imports at its next boot is not known", head(age_seconds=900.0)),
)
UNSURE = (
    Bad("the_dead_node_is_silent", "Nothing that oss02 reported is known", forgotten),
    Bad("its_serial_numbers_are_known", "are not known", head(firmware=UNREAD)),
    Bad("what_fenced_it_is_fresh", "was not read", timeless),
    Bad("its_hostid_is_another", "is not known", head(hostid=UNREAD)),
    Bad("every_label_names_the_dead_node", "is known to carry a label", every_disk(labels=())),
    Bad("every_label_names_the_dead_node", "The hostname of oss02 is not known", head(hostname=UNREAD)),
    Bad("every_member_is_here_and_can_be_read", "are not known", node(timelines=UNREAD)),
    Bad("no_third_node_has_or_may_have_it", "It may have the pool", beside(age_seconds=900.0)),
    Bad("no_third_node_imports_it_by_itself", "is not known", beside(cached=UNREAD)),
    Bad("a_minute_lies_between_the_looks", "was not read", timeless),
    Bad("no_host_wrote_to_it_meanwhile", "are not known", node(timelines=UNREAD)),
    Bad("the_head_does_not_have_it_too", "is not known", head(age_seconds=5.0, pools=UNREAD)),
    Bad("the_head_cannot_import_it", "is not known", both(head(age_seconds=1.0, pools=(), cached=UNREAD))),
)
NEVER: dict[tuple[str, str], str] = {}  # (guard, outcome) that cannot be -> why
ANSWERS = {  # what judges an answer at the rack -> a phrase with which it refuses a wrong one
    "the_head_has_no_power": "does not state that the machine has no power",
    "the_head_is_kept_from_it": "Say what keeps the head from importing the pool",
}

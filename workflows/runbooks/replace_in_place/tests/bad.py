"""What makes each guard that replace-in-place alone asks refuse, and not know."""

from __future__ import annotations

from workflows.engine.core import Params
from workflows.facts import FleetFacts, known
from workflows.runbooks.replace_in_place.guards import OF_NEW, about_the_new_disk
from workflows.tests import bad_disks
from workflows.tests.bends import UNREAD, Bad, Bend, above, leaf, node, on_disk, one_sibling, pool

OUT = {"state": "FAULTED", "note": "too many errors"}


def a_member_again(facts: FleetFacts, params: Params) -> FleetFacts:
    """The disk that left is a member of another pool by now."""
    here = facts.nodes[params["node"]]
    pools = here.pools if known(here.pools) else ()
    changed = one_sibling(wwid=params.get("old_wwid", ""))(facts, params)
    return changed if pools else facts


REFUSED = (
    Bad("the_member_still_serves", "and serves nothing", leaf(**OUT)),
    Bad("no_replacement_holds_the_member", "Let that finish first", above(kind="spare")),
    Bad("both_disks_serve_meanwhile", "Do not call it off now", leaf(**OUT)),
    Bad("both_disks_serve_meanwhile", "End this run to call it off", on_disk("wwid", **OUT)),
    Bad("the_new_half_can_be_taken_out", "Do not call it off now", leaf(**OUT)),
    Bad("the_new_half_can_be_taken_out", "nothing to call off", above(kind="raidz")),
    Bad("the_replacement_is_over", "still holds the two disks", above(kind="replacing")),
    Bad("the_disk_belongs_to_no_pool", "It stays in its bay", a_member_again),
)
UNSURE = (
    Bad("the_member_still_serves", "are not known", pool(tops=UNREAD)),
    Bad("no_replacement_holds_the_member", "are not known", pool(tops=UNREAD)),
    Bad("both_disks_serve_meanwhile", "are not known", pool(tops=UNREAD)),
    Bad("the_new_half_can_be_taken_out", "are not known", pool(tops=UNREAD)),
    Bad("the_replacement_is_over", "are not known", pool(tops=UNREAD)),
    Bad("the_disk_belongs_to_no_pool", "is not known", node(pools=UNREAD)),
)


def of_the_new_disk(bend: Bend) -> Bend:
    """The same change to the new disk and its bay."""
    return lambda facts, params: bend(facts, about_the_new_disk(params))


ASKED_OF_IT = (
    "exactly_this_bay_is_lit",
    "no_other_bay_is_lit",
    "the_bay_is_dark",
    "the_bay_is_empty",
    "the_disk_belongs_to_no_pool",
    "the_disk_sits_in_the_bay_meant",
)
REFUSED, UNSURE = (
    (*own, *(Bad(f"{OF_NEW}{bad.guard}", bad.expected, of_the_new_disk(bad.bend)) for bad in (*own, *shared) if bad.guard in ASKED_OF_IT))
    for own, shared in ((REFUSED, bad_disks.REFUSED), (UNSURE, bad_disks.UNSURE))
)
NEVER: dict[tuple[str, str], str] = {}  # (guard, outcome) that cannot be -> why
ANSWERS = {  # what judges an answer at the rack -> a phrase with which it refuses a wrong one
    "the_bay_of_the_new_disk_that_blinks": "You see bay 999 blink",
    "the_disk_that_comes_out": "Pull nothing, and look for that one",
    "the_new_disk_that_comes_out": "Pull nothing, and look for that one",
    "the_serial_that_was_pulled": "Put it back now",
}

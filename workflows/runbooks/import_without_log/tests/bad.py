"""What makes each guard that import-without-log alone asks refuse, and not know."""

from __future__ import annotations

from workflows.engine.core import Params
from workflows.facts import FleetFacts, known
from workflows.tests.bends import Bad, beside, each, listed, no_nodes, put


def another_node_sees_one_more(facts: FleetFacts, params: Params) -> FleetFacts:
    """A disk that this node does not see, with a label of the pool."""
    here = facts.nodes.get(params.get("node", ""))
    disks = here.disks if here is not None and known(here.disks) else ()
    more = tuple(put(disk, labels=each(guid=4711)) for disk in disks if known(disk.labels) and disk.labels)
    return beside(disks=more[:1])(facts, params)


REFUSED = (
    Bad(
        "only_a_log_of_it_is_lost",
        "Begin import-pool",
        listed(tops=lambda tops: tuple(pair for pair in tops if pair[0] != "log"), state="ONLINE", note="", more_devices=False),
    ),
    Bad("no_other_node_sees_its_log", "It may be the log", another_node_sees_one_more),
)
UNSURE = (
    Bad("only_a_log_of_it_is_lost", "does not show every vdev", listed(tops=())),
    Bad("no_other_node_sees_its_log", "", no_nodes),
)
NEVER: dict[tuple[str, str], str] = {}  # (guard, outcome) that cannot be -> why
ANSWERS: dict[str, str] = {"where_it_was_looked_for": "Say where the log was looked for", "what_was_started": "Say what was started"}

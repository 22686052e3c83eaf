"""How old facts may be. A report gives the time of the node's last report; a guard uses the time when its sources were read."""

from collections.abc import Mapping

from agents.collectors import COLLECTORS
from workflows.engine.core import Params, Verdict, guard, ok, unknown
from workflows.facts import FleetFacts, NodeFacts, known, lookup, need
from workflows.facts.read.source_states import BROUGHT_SECONDS

FACTS_AGE_SECONDS_MAX = 60  # since the node reported, and beyond the time a source may be left alone
ONE_MOMENT = (
    "{node} has no agent. What was brought of it shows how it was {seconds:.0f} s ago, and that alone does not say what it has in use now."
    " Enrol an agent there; or switch {node} off, or take these disks away from it, retire it here, and begin again."
)

# What the guards about a lost member and its replacement read.
SOURCES = ("zpool_status", "zpool_status_guid", "zdb_label", "block", "disk_links", "mounts", "enclosure", "node")
OF_OTHERS = ("zpool_status", "zdb_label", "block", "mounts")  # what they read of other nodes that see the same disks


@guard
def facts_are_fresh(facts: FleetFacts, params: Params) -> Verdict:
    node = need(lookup.node(facts, params.get("node", "")))
    if not node.age_seconds >= 0:  # so that NaN is caught too
        return unknown(f"The age of the last report of {node.node} is not known. Check the clock of the portal.")
    if why := stale(node, SOURCES):
        return unknown(why)
    return ok(f"{node.node} reported {node.age_seconds:.0f} s ago. {_oldest(node)}")


def stale(node: NodeFacts, sources: tuple[str, ...]) -> str:
    """Why what these sources say of the node cannot be relied upon now; empty when it can."""
    if node.brought:
        return _brought_too_long_ago(node)
    if not 0 <= node.age_seconds <= FACTS_AGE_SECONDS_MAX:
        return f"{node.node} last reported {node.age_seconds:.0f} s ago; {FACTS_AGE_SECONDS_MAX} s is the limit. Check its agent."
    if not known(node.ages):
        return f"{node.node}: {node.ages.reason} Have the node look again."
    return next((why for source in sources if (why := _too_old(node.node, node.ages, source))), "")


def stale_elsewhere(node: NodeFacts, sources: tuple[str, ...]) -> str:
    """The same of another node than the one that is acted on. One moment of a node without an agent does not say what it does now: it may
    have imported the pool or taken the disk since, and no report would show that."""
    return ONE_MOMENT.format(node=node.node, seconds=node.age_seconds) if node.brought else stale(node, sources)


def _brought_too_long_ago(node: NodeFacts) -> str:
    if 0 <= node.age_seconds <= BROUGHT_SECONDS:
        return ""
    return (
        f"{node.node} has no agent, and what was brought of it was taken {node.age_seconds:.0f} s ago; {BROUGHT_SECONDS} s is the limit."
        f" Bring it again: `slotlight collect {node.node}`."
    )


def age_seconds_max(source: str) -> float:
    """How long ago a source may have been asked: as long as it is left alone, and what a report may be late."""
    return float(COLLECTORS[source].EVERY_SECONDS) + FACTS_AGE_SECONDS_MAX


def _too_old(node: str, ages: Mapping[str, float], source: str) -> str:
    seconds = ages.get(source)
    if seconds is None:
        return f"{node} has not been asked for {source} yet. Wait for its next report, or have it look."
    if 0 <= seconds <= age_seconds_max(source):
        return ""
    return f"{source} of {node} was read {seconds:.0f} s ago; {age_seconds_max(source):.0f} s is the limit. Have the node look at it again."


def _oldest(node: NodeFacts) -> str:
    if not known(node.ages):
        return node.ages.reason
    ages = node.ages
    source = max(SOURCES, key=lambda source: ages[source])
    return f"The oldest of what is asked here, {source}, was read {ages[source]:.0f} s ago."

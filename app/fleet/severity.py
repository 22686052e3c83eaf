"""How a situation's severity is shown: its colour, its words and its place in a list."""

from operator import attrgetter

from app.fleet.models import NO_POOL
from workflows.analysis.judgement import not_current
from workflows.analysis.pool_fate import losses_left
from workflows.engine.core import Situation
from workflows.facts import FleetFacts, known

SEVERITY_TONES = {"act": "bad", "watch": "watch", "info": "info"}
SEVERITY_WORDS = {"act": "act now", "watch": "keep watching", "info": "to know"}
SEVERITY_ORDER = ("act", "watch", "info")

WORST_FIRST = ("rank", "margin", "opened_at", "pk")  # the columns of a situation that every list is ordered by
worst_first = attrgetter(*WORST_FIRST)


def rank(severity: str) -> int:
    """The lower, the worse."""
    return SEVERITY_ORDER.index(severity)


def margin(seen: Situation, fleet: FleetFacts) -> int:
    """How many more disks the worst of the pools it concerns is sure to survive, below 0 where data is missing.

    A pool that cannot be read, was not read lately, or is not imported, counts as one without redundancy: not knowing is not being whole.
    """
    names = {name for name in (seen.subject.get("pool", ""), *seen.subject.get("pools", "").split()) if name}
    if not names:
        return NO_POOL
    node = fleet.nodes.get(seen.node)
    pools = [pool for pool in node.pools_read if pool.name in names] if node is not None else []
    left = min((left if known(left := losses_left(pool)) else 0 for pool in pools), default=0)
    return min(left, 0) if node is None or not_current(node) else left

"""A node that needs scrub-due, for the demo, rehearsals and tests, and what somebody does on it when a step asks."""

from collections.abc import Callable, Mapping

from twin.model import Node, Scan
from twin.scenarios import tiny
from workflows.rehearsal.hand import Hand

DAY, DAYS = 86400.0, 60
SCRUB_SECONDS = 5213.0
SCRUB_TAKES = 900.0  # long enough that it can be paused


def needs_it(now: float) -> Node:
    """Its pool was read through two months ago, and not since."""
    node = tiny()
    node.knobs.resilver_seconds = SCRUB_TAKES
    pool = node.pool("ost_0")
    pool.scan = Scan("scrub", "finished", now - DAYS * DAY, SCRUB_SECONDS, pool.alloc_bytes, 0)
    return node


def paused(now: float) -> Node:
    """Somebody paused its scrub ten days ago, when a tenth of it was done."""
    node = needs_it(now)
    pool = node.pool("ost_0")
    pool.scan = Scan("scrub", "paused", now - 11 * DAY, SCRUB_TAKES, pool.alloc_bytes, 0, turned_at=now - 10 * DAY, done_before=0.1)
    return node


NODES: Mapping[str, Callable[[float], Mapping[str, Node]]] = {
    "scrub-due": lambda now: {"oss01": needs_it(now)},
    "scrub-due-paused": lambda now: {"oss01": paused(now)},
}
HANDS: Mapping[str, Hand] = {}  # step -> what is taken for done there, for each MANUAL step

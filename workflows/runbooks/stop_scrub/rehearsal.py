"""Nodes that need stop-scrub, for the demo, rehearsals and tests, and what somebody does on them when a step asks."""

from collections.abc import Callable, Mapping

from twin.model import Node, Scan
from twin.scan import pause
from twin.scenarios import tiny
from workflows.rehearsal.hand import Hand

DAY = 86400.0
SCRUB_TAKES = 10 * DAY
LISTED = ("/ost_0/data/run 7.h5",)


def paused(now: float) -> Node:
    """A scrub that was paused weeks ago; the one before listed a damaged file."""
    node = running(now)
    pause(node.pool("ost_0"), now - 38 * DAY)
    return node


def running(now: float) -> Node:
    node = tiny()
    pool = node.pool("ost_0")
    pool.scan = Scan("scrub", "running", now - 40 * DAY, SCRUB_TAKES * 8, pool.alloc_bytes, 0)
    pool.error_log = list(LISTED)
    return node


NODES: Mapping[str, Callable[[float], Mapping[str, Node]]] = {"stop-scrub": lambda now: {"oss01": paused(now)}}
HANDS: Mapping[str, Hand] = {}  # step -> what is taken for done there, for each MANUAL step

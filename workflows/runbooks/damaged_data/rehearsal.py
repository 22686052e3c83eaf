"""Nodes that need damaged-data, for the demo, rehearsals and tests, and what somebody does on them when a step asks."""

from collections.abc import Callable, Mapping

from twin.model import Node, Scan
from twin.scenarios import tiny
from workflows.rehearsal.hand import Hand

DAY = 86400.0
SCRUB_TAKES = 900.0  # seconds; long enough that it can be paused
FILES = ("/ost_0/data/run 7.h5", "ost_0/archive@monday:/run6.h5", "ost_0/archive:<0x2a>")


def restored(now: float) -> Node:
    """A scrub found three damaged entries. What they were has been restored or destroyed, and the list still has them."""
    node = tiny()
    node.knobs.resilver_seconds = SCRUB_TAKES
    pool = node.pool("ost_0")
    pool.scan = Scan("scrub", "finished", now - DAY, 5213.0, pool.alloc_bytes, 0, errors=len(FILES))
    pool.error_log = list(FILES)
    return node


def damaged(now: float) -> Node:
    """The same, and one file was not restored."""
    node = restored(now)
    node.pool("ost_0").damaged = [FILES[0]]
    return node


NODES: Mapping[str, Callable[[float], Mapping[str, Node]]] = {
    "damaged-data": lambda now: {"oss01": restored(now)},
    "damaged-data-left": lambda now: {"oss01": damaged(now)},
}
HANDS: Mapping[str, Hand] = {}  # step -> what is taken for done there, for each MANUAL step

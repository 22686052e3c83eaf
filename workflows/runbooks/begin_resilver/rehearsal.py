"""Nodes that need begin-resilver, for the demo, rehearsals and tests, and what somebody does on them when a step asks."""

from collections.abc import Callable, Mapping

from twin.model import Node, Scan
from twin.scenarios import replacement, tiny
from workflows.rehearsal.hand import Hand

RESILVER_SECONDS = 3600.0


def needs_it(now: float) -> Node:
    """A replacement whose resilver was cancelled: the old disk and the new one are both there, and nothing fills the new one."""
    node = replacement(now=now)
    node.knobs.resilver_seconds = RESILVER_SECONDS
    return node


def needs_nothing_but_its_end(now: float) -> Node:
    """The new disk is filled, and the old one was not let go: `zpool resilver` has ZFS do that, and no scan begins."""
    return replacement(filled=True, ended="finished", now=now)


def cancelled(now: float) -> Node:
    """The last resilver was cancelled, and no disk misses anything: `zpool resilver` begins none."""
    node = tiny()
    pool = node.pool("ost_0")
    pool.scan = Scan("resilver", "canceled", now - 7200.0, 3600.0, pool.alloc_bytes, 0)
    return node


NODES: Mapping[str, Callable[[float], Mapping[str, Node]]] = {"begin-resilver": lambda now: {"oss01": needs_it(now)}}
HANDS: Mapping[str, Hand] = {}  # step -> what is taken for done there, for each MANUAL step

"""A node that needs destroy-damaged-snapshot, for the demo, rehearsals and tests."""

from collections.abc import Callable, Mapping

from twin.model import Node, Scan, Snapshot
from twin.scenarios import tiny
from workflows.rehearsal.hand import Hand

DAY, MIB = 86400.0, 1024 * 1024
GONE, HELD, CLONED = "ost_0/archive@monday", "ost_0/archive@backup", "ost_0/home@base"


def needs_it(now: float) -> Node:
    """Three snapshots hold damaged blocks: nothing needs one of them, a replication holds another, the third has a clone."""
    node = tiny()
    pool = node.pool("ost_0")
    made = int(now - 20 * DAY)
    pool.snapshots = [
        Snapshot(GONE, 6_120_043_345_871_200_117, 1200, made, used=40 * MIB, referenced=900 * MIB),
        Snapshot(HELD, 6_120_043_345_871_200_118, 1300, made + 86400, holds=1, used=MIB, referenced=900 * MIB),
        Snapshot(CLONED, 6_120_043_345_871_200_119, 900, made - 86400, clones=["ost_0/clone"], used=MIB, referenced=100 * MIB),
    ]
    pool.damaged = [f"{one.name}:/data/run6.h5" for one in pool.snapshots]
    pool.error_log = list(pool.damaged)
    pool.scan = Scan("scrub", "finished", now - DAY, 5213.0, pool.alloc_bytes, 0, errors=len(pool.damaged))
    return node


NODES: Mapping[str, Callable[[float], Mapping[str, Node]]] = {"destroy-damaged-snapshot": lambda now: {"oss01": needs_it(now)}}
HANDS: Mapping[str, Hand] = {}  # step -> what is taken for done there, for each MANUAL step

"""Nodes that need remove-auxiliary, for the demo, rehearsals and tests, and what somebody does on them when a step asks."""

from collections.abc import Callable, Mapping, Sequence

from twin.build import guid_of, member, partition, top
from twin.model import Disk, Label, Node, Vdev
from twin.scenarios import add_spare, take_away, tiny
from workflows.rehearsal.hand import Hand


def with_one(role: str, lost: bool) -> Node:
    """A raidz2 with one cache device, log or spare, which serves or is away."""
    node = _node()
    disk = node.disks[6]
    if role == "log":
        leaves = add_log(node, "ost_0", [disk])
    else:
        leaves = [add_spare(node, "ost_0", disk) if role == "spare" else add_cache(node, "ost_0", disk)]
    if lost:
        lose(node, leaves, [disk])
    return node


def log_mirror(now: float) -> Node:
    """A log of two disks, both away."""
    node = _node()
    lose(node, add_log(node, "ost_0", node.disks[6:8]), node.disks[6:8])
    return node


def _node() -> Node:
    node = tiny()
    node.mounts = ["sysfs /sys sysfs rw,nosuid 0 0"]
    return node


def add_cache(node: Node, pool: str, disk: Disk) -> Vdev:
    cache = _leaf(node, pool, disk, "cache")
    node.pool(pool).caches.append(cache)
    return cache


def add_log(node: Node, pool: str, disks: Sequence[Disk]) -> list[Vdev]:
    """A log of one disk, or a mirror of more."""
    leaves = [_leaf(node, pool, disk, "log") for disk in disks]
    guid = leaves[0].guid if len(leaves) == 1 else guid_of("log mirror", pool)
    node.pool(pool).tops.append(top("disk" if len(leaves) == 1 else "mirror", guid, leaves, disks[0].size_bytes, cls="log"))
    return leaves


def _leaf(node: Node, pool: str, disk: Disk, role: str) -> Vdev:
    leaf = member(node, disk, guid_of(role, disk.wwid))
    leaf.enc_path = ""
    partition(disk)[0].label = Label(pool, leaf.guid, node.pool(pool).txg)
    return leaf


def lose(node: Node, leaves: Sequence[Vdev], disks: Sequence[Disk]) -> None:
    for leaf, disk in zip(leaves, list(disks), strict=True):
        leaf.state = "REMOVED"
        take_away(node, disk.wwid)


NODES: Mapping[str, Callable[[float], Mapping[str, Node]]] = {
    "remove-auxiliary": lambda now: {"oss01": with_one("log", True)},
    "remove-auxiliary-cache": lambda now: {"oss01": with_one("cache", True)},
    "remove-auxiliary-spare": lambda now: {"oss01": with_one("spare", True)},
}
HANDS: Mapping[str, Hand] = {}  # step -> what is taken for done there, for each MANUAL step

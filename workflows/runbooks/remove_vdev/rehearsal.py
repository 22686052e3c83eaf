"""Nodes that need remove-vdev, for the demo, rehearsals and tests, and what somebody does on them when a step asks."""

from collections.abc import Callable, Mapping

from twin.build import guid_of, member, partition, top
from twin.model import Disk, Label, Node, Vdev
from twin.scenarios import tiny
from workflows.rehearsal.hand import Hand


def added_by_mistake(cls: str = "data") -> Node:
    """Beside a mirror one disk is a vdev by itself, of data, special or dedup."""
    node = tiny()
    node.mounts = ["sysfs /sys sysfs rw,nosuid 0 0"]
    pool = node.pool("ost_0")
    for disk in node.disks[:6]:
        disk.partitions = []
    halves = [_leaf(node, disk, "half") for disk in node.disks[:2]]
    alone = _leaf(node, node.disks[2], "alone")
    size = node.disks[0].size_bytes
    pool.tops = [top("mirror", guid_of("mirror", pool.name), halves, size), top("disk", alone.guid, [alone], size)]
    pool.tops[1].cls = cls
    return node


def _leaf(node: Node, disk: Disk, what: str) -> Vdev:
    leaf = member(node, disk, guid_of(what, disk.wwid))
    leaf.enc_path = ""
    partition(disk)[0].label = Label("ost_0", leaf.guid, node.pool("ost_0").txg)
    return leaf


NODES: Mapping[str, Callable[[float], Mapping[str, Node]]] = {
    "remove-vdev": lambda now: {"oss01": added_by_mistake()},
    "remove-vdev-special": lambda now: {"oss01": added_by_mistake("special")},
}
HANDS: Mapping[str, Hand] = {}  # step -> what is taken for done there, for each MANUAL step

"""Nodes that need add-special, for the demo, rehearsals and tests, and what somebody does on them when a step asks."""

from collections.abc import Callable, Mapping

from twin.build import guid_of, member, partition, top
from twin.disk_kinds import nvme, turned
from twin.model import Disk, Label, Node, Vdev
from twin.scenarios import take_away, tiny
from workflows.guards.several import NUMBERS, key
from workflows.rehearsal.hand import Hand, scan_of

BAYS = 12
USED_PERCENT = 92
LATER = 9  # of the disks, the one that is on the shelf elsewhere: it is no blank disk here


def beside_a_raidz(parity: int, full: str = "") -> Node:
    """One raidz that survives so many losses, and blank disks in other bays; with a class that is nearly full."""
    node = _node(full, parity + 1)
    node.pool("ost_0").tops[0].nparity = parity
    return node


def beside_mirrors(width: int, full: str = "") -> Node:
    """Data on mirrors of so many disks; of 1, on single disks."""
    node = _node(full, width)
    pool, disks = node.pool("ost_0"), node.disks[:6]
    for disk in disks:
        disk.partitions = []
    pool.tops[:1] = [_top(node, disks[start : start + width]) for start in range(0, 6, width)]
    return node


def beside_a_raidz_on_nvme(parity: int) -> Node:
    """No enclosure gives the bay of any disk."""
    return turned(beside_a_raidz(parity), nvme)


def add_single(node: Node, disk: Disk) -> None:
    """Another data vdev, of one disk alone."""
    node.pool("ost_0").tops.append(_top(node, [disk]))


def _node(full: str, width: int) -> Node:
    node = tiny(blanks=BAYS - 6)
    node.mounts = ["sysfs /sys sysfs rw,nosuid 0 0"]
    if full:
        mirror = _top(node, node.disks[BAYS - width :])
        mirror.cls, mirror.used_percent = full, USED_PERCENT
        node.pool("ost_0").tops.append(mirror)
    if not node.disks[LATER].partitions:
        take_away(node, node.disks[LATER].wwid)
    return node


def _top(node: Node, disks: list[Disk]) -> Vdev:
    leaves = [_leaf(node, disk) for disk in disks]
    kind, guid = ("disk", leaves[0].guid) if len(leaves) == 1 else ("mirror", guid_of("mirror", leaves[0].guid))
    return top(kind, guid, leaves, disks[0].size_bytes)


def _leaf(node: Node, disk: Disk) -> Vdev:
    leaf = member(node, disk, guid_of("part", disk.wwid))
    leaf.enc_path = ""
    partition(disk)[0].label = Label("ost_0", leaf.guid, node.pool("ost_0").txg)
    return leaf


NODES: Mapping[str, Callable[[float], Mapping[str, Node]]] = {
    "add-special": lambda now: {"oss01": beside_a_raidz(2, "special")},
    "add-special-mirrors": lambda now: {"oss01": beside_mirrors(2, "dedup")},
}
HANDS: Mapping[str, Hand] = {key("scan", number, "-"): scan_of(key("wwid", number)) for number in NUMBERS}

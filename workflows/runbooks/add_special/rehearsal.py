"""Nodes that need add-special, for the demo, rehearsals and tests, and what somebody does on them when a step asks."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from twin.build import guid_of, member, partition, top
from twin.disk_kinds import nvme, turned
from twin.model import Disk, Label, Node, Vdev
from twin.scenarios import tiny
from workflows.guards.several import NUMBERS, key
from workflows.rehearsal.hand import Hand, scan_of

BLANKS = 5  # one more than the widest mirror needs


def beside_a_raidz(parity: int) -> Node:
    """One raidz that survives so many losses, and blank disks in other bays."""
    node = _node()
    node.pool("ost_0").tops[0].nparity = parity
    return node


def beside_mirrors(width: int) -> Node:
    """Data on mirrors of so many disks; of 1, on single disks."""
    node = _node()
    pool = node.pool("ost_0")
    for disk in node.disks[:6]:
        disk.partitions = []
    pool.tops = [_top(node, node.disks[start : start + width]) for start in range(0, 6, width)]
    return node


def beside_a_raidz_on_nvme(parity: int) -> Node:
    """No enclosure gives the bay of any disk."""
    return turned(beside_a_raidz(parity), nvme)


def add_single(node: Node, disk: Disk) -> None:
    """Another data vdev, of one disk alone."""
    node.pool("ost_0").tops.append(_top(node, [disk]))


def _node() -> Node:
    node = tiny(blanks=BLANKS)
    node.mounts = ["sysfs /sys sysfs rw,nosuid 0 0"]
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
    "add-special": lambda now: {"oss01": beside_a_raidz(2)},
    "add-special-mirrors": lambda now: {"oss01": beside_mirrors(2)},
}
HANDS: Mapping[str, Hand] = {key("scan", number, "-"): scan_of(key("wwid", number)) for number in NUMBERS}

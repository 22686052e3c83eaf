"""Nodes that need replace-boot-member, for the demo, rehearsals and tests, and what somebody does on them when a step asks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from twin import disk_names, scenarios
from twin.build import guid_of, member, top
from twin.model import Disk, Label, Node, Pool
from twin.partitioning import boot_disk, swap_and_data
from workflows.rehearsal.hand import SCAN_CHOSEN, Hand

if TYPE_CHECKING:
    from workflows.rehearsal.play import Play

FILLING_SECONDS = 3600.0
ESPS = ("1B21-C4A2", "7D3E-0F55")
PART = 3
DISK_BYTES = 4 << 30


def boot_mirror(blanks: int = 1) -> Node:
    """A mirror on the third partitions of two disks, each with an EFI partition that proxmox-boot-tool keeps filled; blank disks beside them."""
    disks = [scenarios.lab_disk(number, number, DISK_BYTES) for number in range(2 + blanks)]
    node = scenarios.lab_node("2.3.2-1", disks)
    node.hostname, node.efi, node.boot_uuids = "pve1", True, list(ESPS)
    leaves = [member(node, disk, guid_of("boot", disk.wwid), f"{disk_names.by_id(disk)}-part{PART}") for disk in disks[:2]]
    pool = Pool(
        "rpool", guid_of("boot"), [top("mirror", guid_of("boot", 0), leaves, disks[0].size_bytes // 2)], int(node.hostid, 16), node.hostname
    )
    pool.alloc_bytes = 65396736
    node.pools.append(pool)
    for disk, leaf, uuid in zip(disks, leaves, ESPS, strict=False):
        _, esp, data = boot_disk(disk)
        esp.fs_uuid, data.label = uuid, Label(pool.name, leaf.guid, pool.txg)
        leaf.devid, leaf.whole_disk = disk_names.devid(disk, PART), 0
    node.mounts = ["sysfs /sys sysfs rw,nosuid,nodev,noexec,relatime 0 0", "rpool/ROOT/pve-1 / zfs rw,relatime,xattr,posixacl 0 0"]
    node.knobs.resilver_seconds = FILLING_SECONDS
    return node


def lost_one(now: float = 0.0) -> Node:
    """The second disk of the mirror is gone."""
    node = boot_mirror()
    disk: Disk = node.disks[1]
    scenarios.lose(node, disk.wwid, f"{disk_names.by_id(disk)}-part{PART}")
    return node


def failing_one(now: float = 0.0) -> Node:
    """The second disk of the mirror says that it will fail, and still serves."""
    node = boot_mirror()
    node.disks[1].smart.passed = False
    return node


def many(now: float = 0.0) -> Node:
    """A raidz2 on the second partitions of six disks, with swap partitions that are not in use on the first; one is gone. No enclosure gives a bay."""
    disks = [scenarios.lab_disk(number, number, DISK_BYTES) for number in range(7)]
    node = scenarios.lab_node("2.3.2-1", disks)
    node.hostname, node.enclosures = "pve1", []
    leaves = [member(node, disk, guid_of("parts", disk.wwid), f"{disk_names.by_id(disk)}-part2") for disk in disks[:6]]
    vdev = top("raidz", guid_of("parts", 0), leaves, disks[0].size_bytes // 2, parity=2)
    pool = Pool("rpool", guid_of("parts"), [vdev], int(node.hostid, 16), node.hostname, alloc_bytes=65396736)
    node.pools.append(pool)
    for disk, leaf in zip(disks, leaves, strict=False):
        data = swap_and_data(disk)[1]
        data.label = Label(pool.name, leaf.guid, pool.txg)
        leaf.devid, leaf.whole_disk = disk_names.devid(disk, 2), 0
    node.mounts = ["sysfs /sys sysfs rw,nosuid,nodev,noexec,relatime 0 0"]
    node.knobs.resilver_seconds = FILLING_SECONDS
    scenarios.lose(node, disks[1].wwid, leaves[1].path)
    return node


NODES: Mapping[str, Callable[[float], Mapping[str, Node]]] = {
    "replace-boot-member": lambda now: {"pve1": lost_one(now)},
    "replace-boot-member-serving": lambda now: {"pve1": failing_one(now)},
}


def _installed(play: Play) -> str:
    return "A boot loader is installed."


def _made_blank(play: Play) -> str:
    with play.host.store.changing() as node:
        node.disk(play.params["wwid"]).partitions.clear()
    return "The new disk is made blank."


HANDS: Mapping[str, Hand] = {  # step -> what is taken for done there
    **SCAN_CHOSEN,
    "boot-by-hand": Hand("The boot loader is installed. Whether the node boots from it no rehearsal shows.", _installed),
    "make-blank": Hand("The new disk is made blank.", _made_blank),
}

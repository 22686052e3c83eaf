"""What lies between a pool and its disks, or beside it on them: names of a site's own, partitions that ZFS did not make, LUKS, a second disk alike."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace

from twin import blkid, disk_names
from twin.build import sd_name
from twin.model import SECTOR, Disk, Node, Partition, Path, Vdev
from twin.partitioning import BIOS_BOOT, SWAP
from twin.vdevs import ALIGN_SECTORS, GPT_SECTORS

SMALL_SECTORS = 32 * ALIGN_SECTORS  # of a swap or EFI partition on a disk as small as the lab's
ALIKE_NAMES, ALIKE_HOSTS = 200, 20  # how much higher the numbers of the second of two disks alike are
FIRST_CONTAINER = 40  # dm-40 and up
LUKS2_SECTORS = 16 * ALIGN_SECTORS  # of the header, as cryptsetup makes it


def by_vdev(node: Node) -> Node:
    """Every disk has a name in vdev_id.conf, and the pools know their members by it."""
    node.vdev_names = {disk.wwid: f"A{number}" for number, disk in enumerate(node.disks, 1)}
    for disk, number, leaf in _members(node):
        leaf.path = f"/dev/disk/by-vdev/{node.vdev_names[disk.wwid]}-part{number}"
    return node


def beside_boot(node: Node) -> Node:
    """Each member is the third partition of its disk, beside those that a system boots from."""
    return _partitioned(node, 3, (BIOS_BOOT, blkid.LINUX_FILESYSTEM), lambda disk, part: f"{disk_names.by_id(disk)}-part{part.number}")


def by_partuuid(node: Node) -> Node:
    """Each member is the second partition of its disk, beside swap, and known by that partition's GUID."""

    def name(disk: Disk, part: Partition) -> str:
        part.uuid = blkid.partition_uuid(disk, part)
        return f"/dev/disk/by-partuuid/{part.uuid}"

    return _partitioned(node, 2, (SWAP,), name)


def _partitioned(node: Node, number: int, before: tuple[str, ...], name: Callable[[Disk, Partition], str]) -> Node:
    """`number` is that of each member's partition, behind one for each type of `before`. A disk that was partitioned so before keeps its own."""
    for disk, old, leaf in _members(node):
        held = disk.partition(old)
        if held and not leaf.whole_disk:
            leaf.path = name(disk, held)
            continue
        start, parts = ALIGN_SECTORS, list[Partition]()
        for place, kind in enumerate(before, 1):
            parts.append(Partition(place, start, SMALL_SECTORS, kind=kind))
            start += SMALL_SECTORS
        sectors = disk.size_bytes // SECTOR - GPT_SECTORS - start
        data = Partition(number, start, sectors, held.label if held else None, kind=blkid.SOLARIS_USR_AND_APPLE_ZFS)
        disk.partitions[:] = [*parts, data]
        leaf.path, leaf.devid, leaf.whole_disk = name(disk, data), disk_names.devid(disk, number, node.sg3_rules), 0
    return node


def on_luks(node: Node) -> Node:
    """Each member is what cryptsetup opened of a LUKS container that takes its whole disk."""
    for place, (disk, number, leaf) in enumerate(_members(node)):
        held = disk.partition(number)
        holder, name = f"dm-{FIRST_CONTAINER + place}", f"luks-{disk.serial}"
        node.mapped[holder] = [f"CRYPT-LUKS2-{leaf.guid:032x}-{name}", name]
        disk.partitions[:] = [Partition(0, 0, disk.size_bytes // SECTOR, filesystem="crypto_LUKS")]
        disk.holders, disk.inside = [holder], Partition(0, 0, disk.size_bytes // SECTOR - LUKS2_SECTORS, held.label if held else None)
        leaf.path, leaf.devid, leaf.phys_path, leaf.whole_disk = f"/dev/mapper/{name}", f"dm-uuid-{node.mapped[holder][0]}", "", 0
    return node


def with_doubles(node: Node) -> Node:
    """Beside each disk a second one, blank, that reports the same model and serial number."""
    node.disks += [_double(disk) for disk in node.disks]
    return node


def _double(disk: Disk) -> Disk:
    paths = []
    for path in disk.paths:
        number = ALIKE_NAMES + path.sg
        host, _, rest = path.hctl.partition(":")
        paths.append(
            Path(sd_name(number), f"{int(host) + ALIKE_HOSTS}:{rest}", number, "", path.phys_path.replace("17.0", "18.0"), path.state)
        )
    return replace(copy.deepcopy(disk), paths=paths, partitions=[], holders=[])


def _members(node: Node) -> list[tuple[Disk, int, Vdev]]:
    """(disk, partition, member) of each member whose disk is here."""
    leaves = {leaf.guid: leaf for pool in node.pools for leaf in (*pool.leaves(), *pool.spares, *pool.caches)}
    labelled = [(disk, part.number, part.label.guid) for disk in node.disks for part in disk.partitions if part.label]
    return [(disk, number, leaves[guid]) for disk, number, guid in labelled if guid in leaves]

"""The bytes that a disk of the twin holds where labels and the partition table are, and what becomes of the disk when zeros are written there.

A label is what it says of its pool and of itself, packed as ZFS does, at the place where its name-value list begins; the partition table is a few bytes of the disk's own.
Everything else is zeros.
"""

import hashlib
import struct
from collections.abc import Iterator, Sequence

from agents.collectors.zdb_label import LABEL_BYTES, NVLIST
from agents.host.host import Region
from twin.model import SECTOR, Disk, Label, Node, Partition

Placed = tuple[int, bytes]  # offset on the disk


def held(node: Node, disk: Disk, regions: Sequence[Region]) -> bytes:
    return b"".join(_region(tuple(_everything(node, disk)), region) for region in regions)


def _region(placed: Sequence[Placed], region: Region) -> bytes:
    offset, length = region
    found = bytearray(length)
    for at, text in placed:
        if offset <= at and at + len(text) <= offset + length:
            found[at - offset : at - offset + len(text)] = text
    return bytes(found)


def _everything(node: Node, disk: Disk) -> Iterator[Placed]:
    if disk.table:
        table = "\n".join(f"{part.number} {part.start} {part.sectors}" for part in disk.table)
        yield SECTOR, hashlib.sha256(f"{disk.wwid}\n{table}".encode()).digest()
        yield disk.size_bytes - SECTOR, hashlib.sha256(f"{disk.wwid}\n{table} behind".encode()).digest()
    for part in disk.partitions:
        if part.label is not None:
            for copy in part.label.copies:
                yield _place(part, copy) + NVLIST[0], _packed(node, part.label)


def _place(part: Partition, copy: int) -> int:
    size = part.sectors * SECTOR
    whole = size - size % LABEL_BYTES
    return part.start * SECTOR + (copy * LABEL_BYTES if copy < 2 else whole - (4 - copy) * LABEL_BYTES)


def _packed(node: Node, label: Label) -> bytes:
    pool = node.pool(label.pool)
    pairs = (("state", pool.state), ("txg", label.txg), ("pool_guid", pool.guid), ("guid", label.guid))
    return b"".join(_pair(name, value) for name, value in pairs) + b"vdev_tree"


def _pair(name: str, value: int) -> bytes:
    key = name.encode()
    return struct.pack(">I", len(key)) + key + bytes(-len(key) % 4) + struct.pack(">IIQ", 8, 1, value)


def is_held(node: Node, disk: Disk) -> bool:
    """Whether the kernel lets no second one have it: a member that an imported pool has open, a mount, swap, or a driver above it."""
    guids = {leaf.guid for pool in node.imported for top in (*pool.tops, *pool.spares, *pool.caches) for leaf in top.leaves()}
    used = any(part.holders or part.swap or (part.label and part.label.guid in guids) for part in disk.partitions)
    return bool(disk.holders) or used


def erase(disk: Disk, regions: Sequence[Region]) -> None:
    """Labels go with their places, and the partitions with the table, as udev has the kernel read it anew."""
    for part in disk.partitions:
        if part.label is not None:
            part.label.copies = [copy for copy in part.label.copies if not _covered(_place(part, copy) + NVLIST[0], regions)]
    if _covered(SECTOR, regions) and _covered(disk.size_bytes - SECTOR, regions):
        disk.partitions.clear()


def _covered(at: int, regions: Sequence[Region]) -> bool:
    return any(offset <= at < offset + length for offset, length in regions)

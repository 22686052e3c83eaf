"""Where the newest root block of a pool lies, read from a disk's image: from the host, so also while the node is without power."""

import struct
from pathlib import Path
from typing import NamedTuple

PARTITION = 2048 * 512  # where the first partition begins that ZFS makes on a whole disk
RING, RING_BYTES = 128 * 1024, 128 * 1024  # of a label: its second half are uberblocks
DATA = 4 * 1024**2  # two labels and the boot block come before offset 0 of a vdev
MAGIC = 0x00BAB10C
UBERBLOCK = struct.Struct("<5Q6Q")  # magic, version, txg, guid sum, time, and of the root's pointer: size and offset of three copies
SECTOR = 512


class Extent(NamedTuple):
    """In bytes from the disk's beginning."""

    offset: int
    length: int


def newest_root(image: Path, slot_bytes: int = 4096) -> tuple[int, list[Extent]]:
    """Its txg, and every copy of it; `slot_bytes` is the pool's sector. On each side of a mirror they lie alike."""
    with image.open("rb") as disk:
        disk.seek(PARTITION + RING)
        ring = disk.read(RING_BYTES)
    found = [UBERBLOCK.unpack_from(ring, at) for at in range(0, RING_BYTES, slot_bytes)]
    _, _, txg, _, _, *copies = max((words for words in found if words[0] == MAGIC), key=lambda words: words[2])
    pairs = zip(copies[::2], copies[1::2], strict=True)
    return txg, [Extent(PARTITION + DATA + where * SECTOR, (size & 0xFFFFFF) * SECTOR) for size, where in pairs if size]

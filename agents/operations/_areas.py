"""Where ZFS and the partition table keep what says whose a disk is, and what stands there.

An area is a range of bytes of the whole disk:

    the whole disk     its first 512 KiB and what is behind its last two label places: both copies of the partition table, and labels of a
                       disk that was given to ZFS unpartitioned
    partition 1        its first and its last 512 KiB: the four labels of a disk that ZFS partitioned

Four labels of 256 KiB each, the last two at the end of the size rounded down to 256 KiB (lib/libzutil/zutil_import.c:label_offset, zfs-2.4.4).
"""

from __future__ import annotations

import base64
import hashlib
import re
import struct
import zlib
from collections.abc import Mapping, Sequence

from agents.collectors.block import SECTOR_BYTES
from agents.collectors.zdb_label import DESTROYED, LABEL_BYTES, NVLIST
from agents.host.host import ALIGNED_BYTES, Host, Region
from agents.operations._candidate import Candidate
from agents.operations.base import NONE, Unread

TWO_LABELS = 2 * LABEL_BYTES
TABLE: Region = (0, 24576)  # protective MBR, header and 128 entries, with blocks of 512 or of 4096 bytes
OF_ZFS = (1, 9)  # the partitions that ZFS makes of a whole disk on Linux (lib/libzfs/os/linux/libzfs_pool_os.c:zpool_label_disk, zfs-2.4.4)
_AREA = re.compile(r"([0-9]+)\+([0-9]+) ([0-9a-f]{64})")
_UINT64 = 8  # DATA_TYPE_UINT64, include/sys/nvpair.h


def areas(host: Host, disk: Candidate) -> tuple[Region, ...]:
    """Those of the partition first, so that while any label is left there is a partition that shows it. Raises Unread."""
    size = disk.paths[0].size_bytes
    if size is None:
        raise Unread("sysfs does not show the size of the disk")
    found = [_ends(*place) for number, place in partitions(host, disk).items() if number == 1]
    first, last = _ends(0, size)
    return tuple(_checked(size, area) for area in (*sum(found, ()), (last[0], size - last[0]), first))


def partitions(host: Host, disk: Candidate) -> Mapping[int, Region]:
    """Number -> where it is. Raises Unread."""
    name, found = disk.paths[0].name, {}
    for part in disk.paths[0].partitions:
        try:
            start = int(host.read(f"/sys/block/{name}/{part.name}/start"))
        except (OSError, ValueError) as error:
            raise Unread(f"sysfs does not show where {part.name} begins") from error
        if part.size_bytes is None:
            raise Unread(f"sysfs does not show the size of {part.name}")
        found[part.number] = (start * SECTOR_BYTES, part.size_bytes)
    return found


def _ends(start: int, size: int) -> tuple[Region, Region]:
    return (start, TWO_LABELS), (start + size - size % LABEL_BYTES - TWO_LABELS, TWO_LABELS)


def _checked(size: int, area: Region) -> Region:
    offset, length = area
    if offset % ALIGNED_BYTES or length % ALIGNED_BYTES or offset < 0 or offset + length > size:
        raise Unread(f"the area {offset}+{length} is not a whole number of {ALIGNED_BYTES} byte blocks of the disk's {size} bytes")
    return area


def read(host: Host, disk: Candidate) -> str:
    """Each area with the SHA-256 of its bytes: "1048576+524288 9f86…; …". Raises Unread."""
    regions = areas(host, disk)
    return "; ".join(f"{offset}+{length} {digest}" for (offset, length), digest in zip(regions, digests(host, disk.by_id, regions)))


def digests(host: Host, path: str, regions: Sequence[Region]) -> tuple[str, ...]:
    """Raises Unread."""
    return tuple(hashlib.sha256(_bytes(host, path, region)).hexdigest() for region in regions)


def planned(text: str) -> tuple[tuple[Region, str], ...]:
    """What `read` answered before; () where the text is none of its answers."""
    found = [_AREA.fullmatch(part) for part in text.split("; ")]
    return tuple(((int(m.group(1)), int(m.group(2))), m.group(3)) for m in found if m) if all(found) else ()


def empty(region: Region) -> str:
    """The digest of as many zeros."""
    return hashlib.sha256(bytes(region[1])).hexdigest()


def table(host: Host, disk: Candidate) -> str:
    """The first copy of the partition table, for a person who needs it back: `base64 -d | zlib-flate -uncompress`. Raises Unread."""
    return base64.b64encode(zlib.compress(_bytes(host, disk.by_id, TABLE), 9)).decode("ascii")


def _bytes(host: Host, path: str, region: Region) -> bytes:
    try:
        held = host.read_device(path, (region,))
    except OSError as error:
        raise Unread(f"{path} cannot be read at {region[0]}: {error.strerror or type(error).__name__}") from error
    if len(held) != region[1]:
        raise Unread(f"{path} ends within the area {region[0]}+{region[1]}")
    return held


def kept_partitions(host: Host, disk: Candidate) -> str:
    return ", ".join(f"{number} at {start}+{size}" for number, (start, size) in sorted(partitions(host, disk).items())) or NONE


def strangers(regions: Sequence[Region], held: bytes, pool_guid: str, vdev_guid: str, destroyed: bool = False) -> str:
    """Why these bytes are not those of that member; "" when at least one label names it and none names another.
    With `destroyed` each label must also say that its pool was destroyed."""
    at, own = 0, 0
    if len(held) != sum(length for _, length in regions):
        return "the disk ends before its areas do"
    for _, length in regions:
        for begin in range(at, at + length - LABEL_BYTES + 1, LABEL_BYTES):
            named = held[begin + NVLIST[0] : begin + sum(NVLIST)].partition(b"vdev_tree")[0]
            if b"pool_guid" not in named:
                continue
            if pair("pool_guid", int(pool_guid)) not in named or pair("guid", int(vdev_guid)) not in named:
                return "a label on it names another pool or another vdev"
            if destroyed and pair("state", DESTROYED) not in named:
                return "a label on it does not say that its pool was destroyed"
            own += 1
        at += length
    return "" if own else "no label on it names this pool and this vdev"


def pair(name: str, value: int) -> bytes:
    """As a label holds it, behind the two sizes of the pair: XDR (module/nvpair/nvpair.c:nvs_xdr_nvp_op, zfs-2.4.4)."""
    key = name.encode("ascii")
    return struct.pack(">I", len(key)) + key + bytes(-len(key) % 4) + struct.pack(">IIQ", _UINT64, 1, value)

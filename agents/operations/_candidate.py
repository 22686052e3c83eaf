"""Everything that could forbid writing to one disk, read from every path that leads to it.

A fact that cannot be read is "unknown: why". Nothing here names the disk by a kernel name that could move: those names
are found from the WWID at the moment of asking and serve only to ask.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Optional

from agents.collectors import block, mounts, multipath, smart, zdb_label
from agents.collectors.base import Capture, Unparsed, ask
from agents.collectors.block import RUNNING, BlockDisk, BlockPartition
from agents.collectors.multipath import MultipathMap
from agents.domain.disk_identity import doubt
from agents.domain.disk_uses import NOT_BLANK, mapped_as, way_on
from agents.domain.listed_disks import FREE, ILLUMOS
from agents.domain.multipath_maps import map_of, path_of, paths_up, states
from agents.domain.wwid import device_path, without_slice
from agents.host.host import Host
from agents.operations._tree import PoolTree, understood
from agents.operations.base import NONE, UNKNOWN, Unread, known

BLKID_TIMEOUT_SECONDS = 20.0
# Neither GEOM nor diskinfo lists it. GEOM opens a write-protected disk for nobody who writes (sys/geom/geom_disk.c: g_disk_access); on illumos zpool
# writes a label first, and ends where that cannot be written (lib/libzfs/common/libzfs_pool.c: zpool_label_disk).
AT_OPENING = "refused when it is opened"
NO_FILE_SYSTEM = "filesystem not recognized"  # of fstyp, with exit code 1 (usr.sbin/fstyp/fstyp.c: main)
NO_MAGIC = ("data", "empty")  # of `file`, for what no pattern of it names
_TYPE, _USAGE = re.compile(r'\bTYPE="([^"]*)"'), re.compile(r'\bUSAGE="([^"]*)"')  # PTTYPE is a partition table, which is no content
_TABLE = re.compile(
    r'\bPTTYPE="([^"]*)"'
)  # of a map it is: ZFS does not partition one (lib/libefi/rdwr_efi.c: efi_alloc_and_init, zfs-0.8.6 to 2.4.4)


@dataclass(frozen=True)
class Candidate:
    """The disk with the approved WWID: one entry of `paths` for each kernel device that leads to it, and the multipath map above them that it is
    written through."""

    wwid: str
    by_id: str
    paths: tuple[BlockDisk, ...]
    map: Optional[MultipathMap] = None

    @property
    def devices(self) -> tuple[str, ...]:
        """Kernel names of the disk and its partitions, over all paths, and of its map."""
        above = self.map.devices if self.map else ()
        return (*above, *(name for disk in self.paths for name in (disk.name, *(part.name for part in disk.partitions))))

    @property
    def read(self) -> tuple[str, ...]:
        """Those that what is on the disk is read from: behind a map the map, which takes a path that works, and what the kernel shows as a partition."""
        if self.map is None:
            return self.devices
        up = self.up
        return (*self.map.devices, *(part.name for disk in self.paths if disk.name in up for part in disk.partitions))

    @property
    def up(self) -> tuple[str, ...]:
        """The paths of the map that take I/O, by multipath and by the kernel."""
        taken = paths_up(self.map) if self.map else ()
        return tuple(disk.name for disk in self.paths if disk.name in taken and disk.state in RUNNING)


def find(host: Host, wwid: str, uuid: str = "") -> Candidate:
    """The disk that its link leads to now, if it is the disk meant; with the UUID of a map the disk behind that map. Raises Unread."""
    by_id = str(path_of(wwid, uuid))
    try:
        name = host.link(by_id).rsplit("/", 1)[1]
    except OSError as error:
        raise Unread(f"{by_id} leads nowhere on this node") from error
    disks = _with_blocks(host, understood(block.collect(host)[0], block.parse, "the block devices"), wwid)
    paths = tuple(disk for disk in disks if disk.wwid == wwid)
    if uuid:
        return Candidate(wwid, by_id, paths, _map(host, by_id, name, wwid, paths))
    there = next((disk for disk in disks if disk.name == name), None)
    if there is None and _shown(host, f"/sys/block/{name}/dm/uuid").startswith("mpath-"):
        raise Unread(
            f"{by_id} leads to {name}, a multipath map, and this is done to a disk that is behind none. {way_on(f'held by {_named(host, name)}', by_id).rstrip('.')}"
        )
    if there is None or there.wwid is None:
        raise Unread(f"{by_id} leads to {name}, and sysfs does not show which disk that is")
    if there.wwid != wwid:
        raise Unread(f"{by_id} leads to {name}, which is {there.wwid}")
    if why := doubt(wwid, paths):
        raise Unread(why)
    return Candidate(wwid, by_id, paths)


def _with_blocks(host: Host, disks: tuple[BlockDisk, ...], wwid: str) -> tuple[BlockDisk, ...]:
    """Of illumos the disk meant has its block size by smartctl: nothing else there shows that of a disk without a label."""
    return tuple(
        replace(disk, logical_block_bytes=_block_bytes(host, disk)) if disk.system == ILLUMOS and disk.wwid == wwid else disk
        for disk in disks
    )


def _block_bytes(host: Host, disk: BlockDisk) -> int | None:
    parsed = smart.parse(smart.collect_one(host, disk.name).text)
    return None if isinstance(parsed, Unparsed) or parsed.serial != disk.serial else parsed.logical_block_bytes


def _map(host: Host, by_id: str, name: str, wwid: str, paths: tuple[BlockDisk, ...]) -> MultipathMap:
    """The map that the link leads to, where it is the whole of the disk. Raises Unread."""
    maps = understood(multipath.collect(host)[0], multipath.parse, "the multipath maps")
    found, why = map_of(wwid, paths, maps)
    if found is None:
        raise Unread(why or f"no multipath map of {wwid} is on this node")
    if found.dm != name:
        raise Unread(f"{by_id} leads to {name}, and the map of {wwid} is {found.dm}")
    if why := doubt(wwid, paths):
        raise Unread(why)
    return found


def facts(host: Host, candidate: Candidate, pools: Iterable[PoolTree]) -> dict[str, str]:
    return {
        "disk.wwid": candidate.wwid,
        "disk.by_id": candidate.by_id,
        "disk.paths": str(len(candidate.paths)),
        **{f"disk.{name}": same(candidate, name) for name in ("serial", "model", "size_bytes", "logical_block_bytes", "state")},
        "disk.vendor": _vendor(candidate),
        "disk.read_only": AT_OPENING if _system(candidate) else same(candidate, "read_only"),
        **_of_the_map(candidate),
        "disk.bay": known(lambda: bay(host, candidate)),
        "disk.holders": known(lambda: holders(host, candidate)),
        "disk.mounts": known(lambda: used(host, candidate)),
        "disk.labels": known(lambda: labels(host, candidate)),
        "disk.contents": known(lambda: _contents(host, candidate)),
        "disk.member": known(lambda: membership(host, candidate, pools)),
    }


def _of_the_map(candidate: Candidate) -> dict[str, str]:
    """What is asked of the map as well where there is one: it is what is written to. Which of its paths are up changes by itself, so one is enough."""
    if candidate.map is None:
        return {}
    return {
        "disk.map": candidate.map.uuid,
        "disk.state": state(candidate),
        **{f"disk.{name}": _as_the_paths(candidate, name) for name in ("size_bytes", "read_only")},
    }


def state(candidate: Candidate) -> str:
    """As the kernel calls it, over all paths alike; of a map, one path that takes I/O is enough."""
    if candidate.map is None:
        return same(candidate, "state")
    return RUNNING[0] if candidate.up else f"without a path that takes I/O ({states(candidate.map)})"


def _as_the_paths(candidate: Candidate, field: str) -> str:
    ours, theirs = getattr(candidate.map, field), {getattr(disk, field) for disk in candidate.paths}
    return (
        same(candidate, field)
        if theirs == {ours}
        else f"{UNKNOWN}the map and its paths disagree about {field}, or sysfs does not show it of the map"
    )


def same(candidate: Candidate, field: str) -> str:
    """What all paths say of the disk alike."""
    values = {getattr(disk, field) for disk in candidate.paths}
    if len(values) != 1:
        return f"{UNKNOWN}the paths to the disk disagree: {', '.join(sorted(str(value) for value in values))}"
    value = values.pop()
    if value is None:
        return f"{UNKNOWN}sysfs does not show it"
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _vendor(candidate: Candidate) -> str:
    """An NVMe disk has no field for it in sysfs, and FreeBSD and illumos have none of any: the model begins with the maker."""
    return (
        NONE
        if _system(candidate) or all(disk.hctl is None and disk.name.startswith("nvme") for disk in candidate.paths)
        else same(candidate, "vendor")
    )


def bay(host: Host, candidate: Candidate) -> str:
    """ "<enclosure id>/<slot>", the same over every path that names one."""
    links = {disk.slot_link for disk in candidate.paths if disk.slot_link}
    places = {f"{_attribute(host, link.rsplit('/', 1)[0], 'id')}/{_attribute(host, link, 'slot')}" for link in links}
    if not places:
        raise Unread("no enclosure reports that the disk is in one of its bays")
    if len(places) > 1:
        raise Unread(f"the paths to the disk name different bays: {', '.join(sorted(places))}")
    return places.pop()


def aftermath(host: Host, wwid: str, uuid: str = "") -> tuple[Capture, ...]:
    """What the disk's labels say now, one capture for each path that is read; nothing when it cannot be found."""
    try:
        disk = find(host, wwid, uuid)
        return tuple(zdb_label.collect_one(host, path.name) for path in disk.paths if disk.map is None or path.name in disk.up)
    except Unread:
        return ()


def _attribute(host: Host, folder: str, name: str) -> str:
    try:
        return host.read(f"{folder}/{name}").decode("ascii", "replace").strip()
    except OSError as error:
        raise Unread(f"{folder}/{name} cannot be read") from error


def holders(host: Host, candidate: Candidate) -> str:
    """Each with the kind and the name it has, where device mapper shows them: "dm-0 (LUKS backup), md127"."""
    held: set[str] = set()
    parts: Iterator[Any] = (part for disk in candidate.paths for part in (disk, *disk.partitions))
    for part in parts:
        if part.holders is None:
            raise Unread(f"{_system(candidate) or 'sysfs'} does not show what holds {part.name}")
        held.update(part.holders)
    held |= {opened(disk) for disk in candidate.paths if disk.system and disk.mode not in FREE}
    if candidate.map is not None:
        held.discard(candidate.map.dm)
        held.update(_above(candidate.map))
    return ", ".join(_named(host, holder) for holder in sorted(held)) or NONE


def opened(disk: BlockDisk) -> str:
    """Of a disk that FreeBSD or illumos shows as open. By what, GEOM does not list."""
    return f"what has it open ({disk.mode})"


def _system(candidate: Candidate) -> str:
    """ "" of Linux."""
    return next((disk.system for disk in candidate.paths), "")


def _above(one: MultipathMap) -> Iterator[str]:
    """What holds a map and its partitions. A partition is a holder too: ZFS takes the map as it is, and opens it for itself alone."""
    for dm, held in ((one.dm, one.holders), *((part.dm, part.holders) for part in one.partitions)):
        if held is None:
            raise Unread(f"sysfs does not show what holds {dm}")
        yield from held


def _named(host: Host, holder: str) -> str:
    uuid, name = (_shown(host, f"/sys/block/{holder}/dm/{attribute}") for attribute in ("uuid", "name"))
    return mapped_as(holder, uuid, name)


def _shown(host: Host, path: str) -> str:
    """ "" where it cannot be read: the holder refuses all the same, without the name that it has."""
    try:
        return host.read(path).decode("utf-8", "replace").strip()
    except OSError:
        return ""


def used(host: Host, candidate: Candidate) -> str:
    parsed = understood(mounts.collect(host)[0], mounts.parse, "the mounts")
    if parsed.swaps is None:
        raise Unread("the node does not show where it swaps")
    used = [f"mounted on {point}" for device, point, _ in parsed.mounts if without_slice(_device(host, device)) in candidate.devices]
    used += ["swap" for device in parsed.swaps if without_slice(_device(host, device)) in candidate.devices]
    return ", ".join(sorted(used)) or NONE


def _device(host: Host, path: str) -> str:
    """The kernel name a device path leads to; "" for what is no device."""
    if not path.startswith("/dev/"):
        return ""
    try:
        return host.link(path).rsplit("/", 1)[1]
    except OSError:
        return path.rsplit("/", 1)[1]  # a device node that is gone can still be mounted


def labels(host: Host, candidate: Candidate) -> str:
    """Every label on the disk and its partitions, over all paths."""
    return "; ".join(sorted({_label_text(label) for label in read_labels(host, candidate)})) or NONE


def read_labels(host: Host, candidate: Candidate) -> tuple[zdb_label.Label, ...]:
    """The same as they are. Raises Unread. A partition that is too small for a member is not asked, as the 8 MiB at the end of a whole disk."""
    small = {part.name for disk in candidate.paths for part in disk.partitions if not _can_be_member(part)}
    return tuple(label for name in candidate.read if name not in small for label in _labels_on(host, name))


def _can_be_member(part: BlockPartition) -> bool:
    return part.size_bytes is None or part.size_bytes >= zdb_label.MEMBER_BYTES_MIN


def _labels_on(host: Host, name: str) -> tuple[zdb_label.Label, ...]:
    capture = ask(host, zdb_label.NAME, ("zdb", "-l", device_path(name)), zdb_label.TIMEOUT_SECONDS, data_exits=zdb_label.EXITS)
    if capture.outcome != "data":
        raise Unread(capture.reason)
    parsed = zdb_label.parse(capture.text)
    if isinstance(parsed, Unparsed):
        raise Unread(f"zdb -l /dev/{name}: {parsed.reason}: {parsed.line!r}")
    if parsed.unread:
        raise Unread(f"{len(parsed.unread)} of the four labels of {name} could not be read")
    if not parsed.labels and capture.exit_code != 2:
        raise Unread(f"zdb -l /dev/{name} shows no label and yet exits {capture.exit_code}")
    return parsed.labels


def _label_text(label: zdb_label.Label) -> str:
    if label.pool_guid is None:
        return f"spare or cache device {label.guid}"
    return f"pool {label.name} ({label.pool_guid}), vdev {label.guid}"


def _contents(host: Host, candidate: Candidate) -> str:
    """File systems and the like, as blkid finds them; empty partitions are no content, and a partition table is one on a map alone."""
    found: set[str] = set()
    if _system(candidate) == ILLUMOS:
        return _at_the_ends(host, candidate)
    if _system(candidate):
        return ", ".join(sorted({what for name in candidate.read for what in _found_on_freebsd(host, name)})) or NONE
    for name in candidate.read:
        capture = ask(host, "blkid", ("blkid", "-p", f"/dev/{name}"), BLKID_TIMEOUT_SECONDS, data_exits=(0, 2))
        if capture.outcome == "nothing":
            raise Unread("there is no blkid here to show what is on the disk; install util-linux")
        if capture.outcome != "data":
            raise Unread(capture.reason)
        found.update(_found(capture.text))
        if candidate.map is not None and name == candidate.map.dm:
            found.update(f"{kind} partition table" for kind in _TABLE.findall(capture.text))
    return ", ".join(sorted(found)) or NONE


ENDS_TIMEOUT_SECONDS = 60.0
ENDS = (
    "ends_of_disk"  # of slotlight-collect: `dd` and `od -A d -t x1` of the first 4 MiB and from 4 MiB before the last whole MiB to the end
)
_MIB = 1 << 20
_NOUGHT = ["0000000", *["00"] * 16]


def at_the_ends(name: str, size_bytes: int) -> tuple[str, ...]:
    """The question, with the MiB in front of the second part."""
    return (ENDS, name, str(max(size_bytes // _MIB - 4, 0)))


def _at_the_ends(host: Host, candidate: Candidate) -> str:
    """NONE where both ends of the disk hold nothing but zeros: tables, labels, signatures of file systems and RAID stand there. No tool of illumos
    knows the signatures of other systems, so what holds anything counts as in use."""
    (disk,) = candidate.paths
    if disk.size_bytes is None:
        raise Unread(f"the size of {disk.name} is not known")
    argv = at_the_ends(disk.name, disk.size_bytes)
    capture = ask(host, ENDS, argv, ENDS_TIMEOUT_SECONDS)
    if capture.outcome != "data":
        raise Unread(capture.reason)
    rows = [line.split() for line in capture.text.splitlines()]
    if any(byte != "00" for row in rows for byte in row[1:]):
        return NOT_BLANK
    ends = [str(4 * _MIB), str(disk.size_bytes - int(argv[2]) * _MIB)]
    if rows != [row for end in ends for row in (_NOUGHT, ["*"], [end])]:
        raise Unread(f"the ends of {disk.name} were not read whole")
    return NONE


def _found_on_freebsd(host: Host, name: str) -> Iterator[str]:
    """By both tools of its base system, as `fstyp` knows no other system's containers and partition tables, and `file` not every file system."""
    for argv in (("fstyp", "-u", f"/dev/{name}"), ("file", "-bs", f"/dev/{name}")):
        capture = ask(host, argv[0], argv, BLKID_TIMEOUT_SECONDS, data_exits=(0, 1) if argv[0] == "fstyp" else (0,))
        if capture.outcome != "data":
            raise Unread(capture.reason)
        text = capture.text.strip()
        if (capture.exit_code == 1 and NO_FILE_SYSTEM not in capture.stderr) or not text.isprintable():
            raise Unread(f"{' '.join(argv)} does not say what is on it: {(text or capture.stderr.strip())[:80]!r}")
        if capture.exit_code == 0 and not text:
            raise Unread(f"{' '.join(argv)} prints nothing")
        if text and (capture.source != "file" or text not in NO_MAGIC):
            yield text[:80].replace(",", ";")


def _found(text: str) -> list[str]:
    return _TYPE.findall(text) or _USAGE.findall(text)


def contents_in(text: str) -> str:
    """What one answer of `blkid -p` names as content, or "none"."""
    return ", ".join(_found(text)) or NONE


def membership(host: Host, candidate: Candidate, pools: Iterable[PoolTree]) -> str:
    leaves = [f"{leaf.guid} of {pool.name}" for pool in pools for leaf in pool.leaves() if leads_to(host, leaf.name, candidate)]
    return ", ".join(leaves) or NONE


def leads_to(host: Host, name: str, candidate: Candidate) -> bool:
    """Whether a leaf's name, as `zpool status -P` prints it, leads to the candidate now."""
    return name.startswith("/") and _device(host, name) in candidate.devices

"""`blkid`, also with `-o export` and `-o udev`: what is written on each partition. For a ZFS member UUID is the pool's guid and UUID_SUB the member's own."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agents.collectors.base import Unparsed
from agents.domain.wwid import strip_partition
from workflows.engine.core import Situation
from workflows.pasted.base import Reader, Where, refused, unread, whole

ZFS = "zfs_member"


@dataclass(frozen=True)
class Content:
    """One device. Guids are None where it is no ZFS member or they are not whole numbers."""

    device: str  # "/dev/sda1"
    type: str | None
    label: str | None
    pool_guid: int | None
    vdev_guid: int | None
    partuuid: str | None
    line: str


@dataclass(frozen=True)
class Contents:
    rows: tuple[Content, ...]
    unread: tuple[str, ...] = ()


_PAIR = re.compile(r"(DEVNAME|(?:ID_)?[A-Z][A-Z0-9_]{1,60})=(.{0,400})$")
_ROW = re.compile(r'(/dev/(?:block/[0-9]+:[0-9]+|[^\s:]+)): *((?:[A-Z_]+="[^"]*" *)+)$')


def parse(lines: Sequence[str]) -> Contents | Unparsed:
    found, stray = [], []
    pairs: dict[str, str] = {}
    for line in (*lines, ""):
        row, pair = _ROW.match(line.strip()), _PAIR.match(line)
        if pairs and (pair is None or pair.group(1) in pairs or pair.group(1) == "DEVNAME"):
            found.append(_of_pairs(pairs))
            pairs = {}
        if row is not None:
            values = dict(re.findall(r'(?<![A-Z_])([A-Z_]+)="([^"]*)"', row.group(2)))
            found.append(_content(row.group(1), values, line))
        elif pair is not None:
            pairs[pair.group(1)] = pair.group(2).strip()
        elif line.strip():
            stray.append(line)
    return Contents(tuple(found), tuple(stray)) if found else refused("blkid", (stray or [""])[0])


def _content(device: str, fields: Mapping[str, str], line: str) -> Content:
    guids = (whole(fields.get("UUID")), whole(fields.get("UUID_SUB"))) if fields.get("TYPE") == ZFS else (None, None)
    return Content(device, fields.get("TYPE"), fields.get("LABEL"), *guids, fields.get("PARTUUID") or fields.get("PART_ENTRY_UUID"), line)


def _of_pairs(pairs: Mapping[str, str]) -> Content:
    """One line for each value. With -o udev no device is named, but by the numbers of its disk."""
    values = {name.removeprefix("ID_FS_").removeprefix("ID_"): value for name, value in pairs.items()}
    disk = values.get("PART_ENTRY_DISK", "unnamed")
    device = values.get("DEVNAME") or f"partition {values.get('PART_ENTRY_NUMBER', '?')} of device {disk}"
    key = next((name for name in ("UUID_SUB", "UUID", "DEVNAME", "PARTUUID") if name in values), "")
    printed = next((name for name in pairs if name.endswith(key)), "") if key else ""
    return _content(device, values, f"{printed}={pairs[printed]}" if printed else next(f"{name}={value}" for name, value in pairs.items()))


def situations(value: Contents, where: Where) -> tuple[Situation, ...]:
    """One member's label on several disks: paths to one disk, or a copy that must not be imported with the original."""
    by_guid: dict[int, list[Content]] = {}
    for row in value.rows:
        if row.vdev_guid is not None and not row.device.startswith("/dev/mapper/"):
            by_guid.setdefault(row.vdev_guid, []).append(row)
    return tuple(
        found
        for guid, rows in by_guid.items()
        if len({_disk(row) for row in rows}) > 1 and (found := _twice(guid, rows, where)) is not None
    )


def _twice(guid: int, rows: Sequence[Content], where: Where) -> Situation | None:
    names = [_disk(row) for row in rows]
    if _is_one_disk(names, where):
        return None
    return Situation(
        "identity-conflict", f"identity-conflict:{where.node}:{guid}", where.node, "watch",
        f"{len(names)} disks say that they are the member {guid} of {rows[0].label or 'one pool'}",
        f"{', '.join(row.device for row in rows)} bear the label of one member (guid {guid}). They are paths to one disk, or one is a copy "
        "of the other. Compare their WWIDs (lsscsi -i). If they differ, write to none of them and do not import the pool before the copy "
        "is out.",
        where.evidence(*(row.line for row in rows)),
        subject={"node": where.node, "vdev_guid": str(guid)} | ({"pool": rows[0].label} if rows[0].label else {}),
        sure=False,
    )  # fmt: skip


def _disk(row: Content) -> str:
    return strip_partition(row.device)[0].removeprefix("/dev/")


def _is_one_disk(names: Sequence[str], where: Where) -> bool:
    """Whether another text says that they are paths to one disk."""
    disks = where.facts.disks if where.facts is not None else ()
    return any(set(names) <= set(disk.names) for disk in (disks if isinstance(disks, tuple) else ()))


def notes(value: Contents) -> tuple[str, ...]:
    pools = {row.label for row in value.rows if row.type == ZFS and row.label}
    note = (f"Labels of {', '.join(sorted(pools))} are there; whether the pool is well stands in `zpool status -P -p`.",) if pools else ()
    return (*unread(value.unread), *(note or ("blkid lists what is on the disks; it says nothing of their health.",)))


def _is_blkid(lines: Sequence[str], i: int) -> bool:
    """`udevadm info -q property` prints names like these among others."""
    return not any(re.match(r"(?:DEVPATH|DEVLINKS|SUBSYSTEM|MAJOR|ID_SERIAL|ID_MODEL)=", line) for line in lines[i : i + 40])


READER = Reader(
    name="blkid",
    first=r'/dev/(?:block/[0-9]+:[0-9]+|[^\s:]+): *[A-Z_]+="|DEVNAME=/dev/\S+$|ID_FS_(?:UUID|TYPE|LABEL)=|ID_PART_ENTRY_SCHEME=|ID_IOLIMIT_',
    confirm=_is_blkid,
    tools=("blkid",),
    strict=True,
    goes_on=r"/dev/(?:block/[0-9]+:[0-9]+|[^\s:]+): *[A-Z_]+=|[A-Z][A-Z0-9_]{1,60}=",
    parse=parse,
    situations=situations,
    notes=notes,
    again="blkid",
)

"""`lsblk` in whatever columns somebody asked for, as a tree, as pairs (-P) or as JSON (-J): kernel names with WWN, serial and model.

It lists; what it can say of trouble is a disk that the kernel has taken offline, and one that reports no capacity.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agents.collectors.base import Unparsed
from agents.domain.wwid import normalise
from workflows.engine.core import Situation
from workflows.pasted._tables import cells
from workflows.pasted.base import Reader, Sight, Where, columns, document, refused, unread

# Flush right, by `lsblk.c` of util-linux; MAJ:MIN is padded on both sides and reads as flush left.
RIGHT = frozenset(
    (
        "SIZE", "RM", "RO", "ROTA", "FSAVAIL", "FSUSE%", "FSSIZE", "FSUSED", "ALIGNMENT", "MIN-IO", "OPT-IO", "PHY-SEC", "LOG-SEC",
        "RQ-SIZE", "RA", "DISC-ALN", "DISC-GRAN", "DISC-MAX", "DISC-ZERO", "WSAME", "RAND", "HOTPLUG", "START",
    )
)  # fmt: skip
TYPES = frozenset(("disk", "part", "rom", "lvm", "crypt", "loop", "mpath", "dm", "md", "tape", "zram", "swap"))
DOWN = ("offline", "transport-offline", "quiesce", "blocked", "cancel", "del")  # states of scsi_device, scsi_sysfs.c, that serve no I/O
COLUMNS_MAX = 80  # lsblk has some seventy; each row is held against every one of them
GOOD = ("running", "live", "created", "")
# The branches of its tree; also as UTF-8 looks that was taken for Latin-1 or Windows-1252
_BRANCH = re.compile(r"^[ |`│├└─â”œ€‚\x80-\x9f-]*(?:[-─])?")
_NOT_A_DISK = re.compile(r"(?:sr|loop|zram|ram|fd|zd|nbd)[0-9]")


@dataclass(frozen=True)
class Device:
    """One row. A field is None where there is no such column or the cell is empty."""

    name: str
    type: str | None
    size: str | None  # as printed
    model: str | None
    serial: str | None
    wwn: str | None
    hctl: str | None
    vendor: str | None
    state: str | None
    removable: bool | None
    fstype: str | None
    label: str | None
    line: str

    @property
    def is_disk(self) -> bool:
        return self.type == "disk" and not _NOT_A_DISK.match(self.name)


@dataclass(frozen=True)
class Devices:
    rows: tuple[Device, ...]
    unread: tuple[str, ...] = ()


def parse(lines: Sequence[str]) -> Devices | Unparsed:
    """Every device, and the rows that no heading fits; Unparsed without any device."""
    first = next((line for line in lines if line.strip()), "")
    if first.lstrip().startswith("{"):
        return _of_json("\n".join(lines), first)
    found, stray = (_of_pairs if '="' in first else _of_table)(lines)
    return Devices(tuple(found), tuple(stray)) if found else refused("lsblk", first)


def _of_json(text: str, first: str) -> Devices | Unparsed:
    try:
        listed = document(text)["blockdevices"]
        rows = tuple(_device({str(k).upper(): v for k, v in each.items()}, _row(text, each)) for each in _walk(listed))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return Unparsed("the JSON of lsblk is not complete", first)
    return Devices(tuple(row for row in rows if row is not None))


def _row(text: str, each: Mapping[str, Any]) -> str:
    """The line of the text that names it, for the evidence."""
    name = f'"name": "{each.get("name")}"'
    return next((line.strip() for line in text.split("\n") if name in line or name.replace(": ", ":") in line), name)


def _walk(listed: Any) -> Iterator[Mapping[str, Any]]:
    todo = list(reversed(listed))
    while todo:
        each = todo.pop()
        yield each
        todo += reversed(each.get("children") or [])


def _of_pairs(lines: Sequence[str]) -> tuple[list[Device], list[str]]:
    found: list[Device] = []
    stray: list[str] = []
    for line in filter(str.strip, lines):
        device = _device(
            {name.replace("_", ":"): value for name, value in re.findall(r'(?<![A-Z0-9:%_-])([A-Z][A-Z0-9:%_-]*)="([^"]*)"', line)}, line
        )
        if device is None:
            stray.append(line)
        else:
            found.append(device)
    return found, stray


def _of_table(lines: Sequence[str]) -> tuple[list[Device], list[str]]:
    heading: tuple[tuple[str, int], ...] = ()
    found: list[Device] = []
    stray: list[str] = []
    for line in _whole_rows(list(filter(str.strip, lines))):
        line = _NUMBERED.sub(lambda name: " " * len(name.group()), line, count=1)  # "vg-root (dm-0)" of util-linux before 2.23
        if _HEADING.match(line):
            heading = columns(line)[:COLUMNS_MAX]
            continue
        device = _device(_fields_of(heading, line) if heading else _without_heading(line), line)
        if device is None:
            stray.append(line)
        else:
            found.append(device)
    return found, stray


# The columns that lsblk prints by itself, of a row that stands there without its heading
_DEFAULT = r"(?P<NAME>[\w.:!-]{1,200}) +[0-9]{1,4}:[0-9]{1,7} +(?P<RM>[01]) +(?P<SIZE>[0-9.,]{1,8}[BKMGTPE]?) +[01] +(?P<TYPE>disk|part|rom|lvm|crypt|loop|mpath|raid\w+)(?: .*)?$"


def _without_heading(line: str) -> Mapping[str, str]:
    found = re.match(_DEFAULT, _BRANCH.sub("", line))
    return found.groupdict() if found else {}


def _whole_rows(lines: Sequence[str]) -> Iterator[str]:
    """Without further mount points, which stand alone in lines of their own; and a name that was too long for its column with its row below it."""
    name = ""
    for line in lines:
        if name and _REST_OF_ROW.match(line):
            yield f"{name}{line[len(name) :]}" if not line[: len(name)].strip(" │|") else f"{name} {line.strip()}"
            name = ""
            continue
        if name:
            yield name
            name = ""
        if _NAME_ALONE.fullmatch(line):
            name = line
        elif not _MOUNT_POINT.fullmatch(line):
            yield line
    if name:
        yield name


_NAME_ALONE = re.compile(r"[ |`│├└─-]{0,40}[A-Za-z0-9][\w.:+-]{1,200} *")
_REST_OF_ROW = re.compile(r"[ |│]*\s[0-9]{1,4}:[0-9]{1,7}\s")  # begins with MAJ:MIN
_MOUNT_POINT = re.compile(r"[ |│]{20,}(?:/\S*|\[SWAP\])")


def _fields_of(heading: Sequence[tuple[str, int]], line: str) -> Mapping[str, str]:
    """By their places; where those were lost on the way, by order if no cell is empty, else by what a word looks like."""
    fields = cells(heading, line, RIGHT)
    if _plausible(fields, heading):
        return fields
    words = _BRANCH.sub("", line).split()
    if len(words) == len(heading):
        by_order = dict(zip((name for name, _ in heading), words, strict=False))
        if _plausible(by_order, heading):
            return by_order
    kind = next((word for word in words[1:] if word in TYPES or word.startswith("raid")), "")
    wwn = next((word for word in words if re.fullmatch(r"0x[0-9a-f]{16,32}|eui\.[0-9a-f]{16,32}", word)), "")
    return {"NAME": words[0] if words else "", "TYPE": kind, "WWN": wwn}


def _plausible(fields: Mapping[str, str], heading: Sequence[tuple[str, int]]) -> bool:
    """Whether the cells hold what their columns can hold."""
    names = {name for name, _ in heading}
    kind, size = fields.get("TYPE", ""), fields.get("SIZE", "")
    wwn = fields.get("WWN", "")
    return (
        ("TYPE" not in names or kind in TYPES or kind.startswith("raid"))
        and ("SIZE" not in names or bool(_SIZE.fullmatch(size)))
        and (not wwn or " " not in wwn)
        and bool(fields.get("NAME") or fields.get("KNAME") or fields.get("PATH"))
    )


_SIZE = re.compile(r"[0-9]+(?:[.,][0-9]+)?[BKMGTPE]?")


_TEXTS = ("SIZE", "MODEL", "SERIAL", "WWN", "HCTL", "VENDOR", "STATE", "FSTYPE", "LABEL")


def _device(fields: Mapping[str, Any], line: str) -> Device | None:
    values = {name: str(value).strip() for name, value in fields.items() if value is not None and not isinstance(value, (list, dict))}
    name = values.get("KNAME") or values.get("NAME") or values.get("PATH") or ""
    name = _BRANCH.sub("", name).removeprefix("/dev/")
    if not re.fullmatch(r"[A-Za-z0-9][\w.:+/-]*", name):
        return None
    size, model, serial, wwn, hctl, vendor, state, fstype, label = (values.get(column) or None for column in _TEXTS)
    kind = values.get("TYPE") or _kind(name, line)
    removable = {"0": False, "1": True, "False": False, "True": True}.get(values.get("RM", ""))
    return Device(name, kind, size, model, serial, wwn, hctl, vendor, state, removable, fstype, label, line)


def _kind(name: str, line: str) -> str | None:
    """Without a TYPE column: a whole disk by its kernel name, where no branch stands before it."""
    return (
        "disk"
        if re.fullmatch(r"(?:sd|vd|xvd|hd)[a-z]+|nvme[0-9]+n[0-9]+", name) and not line.startswith((" ", "|", "`", "├", "└"))
        else None
    )


def sights(value: Devices) -> tuple[Sight, ...]:
    return tuple(
        Sight(row.name, normalise(row.wwn) if row.wwn else None, row.serial, row.vendor, row.model, row.hctl)
        for row in value.rows
        if row.is_disk
    )


def situations(value: Devices, where: Where) -> tuple[Situation, ...]:
    return tuple(found for row in value.rows if row.is_disk for found in (_offline(row, where), _empty(row, where)) if found)


def _offline(row: Device, where: Where) -> Situation | None:
    if row.state not in DOWN:
        return None
    member = where.member(row.name, row.wwn, row.serial)
    return Situation(
        "path-lost", f"path-lost:{where.node}:{row.name}", where.node, "act",
        f"{_called(row)} is {row.state} in the kernel",
        f"The kernel's state of {_called(row)} is {row.state}: it sends this disk no I/O. {member.sentence + ' ' if member else ''}"
        "It is put there after an error recovery that failed, or by hand. Read the kernel log for the reason, and look at its cable, slot "
        "and HBA before the disk is blamed.",
        where.evidence(row.line),
        subject={"node": where.node, "disk": row.name} | _identity(row) | (member.subject if member else {}),
    )  # fmt: skip


def _empty(row: Device, where: Where) -> Situation | None:
    if row.size not in ("0", "0B") or row.removable:
        return None
    return Situation(
        "disk-failing", f"disk-failing:{where.node}:{row.name}", where.node, "watch",
        f"{_called(row)} reports no capacity",
        f"{_called(row)} is there and says that it has 0 bytes. A disk that cannot read its own firmware area, one that was locked, or "
        "one that is being formatted says so. Nothing can be written to it. Ask the disk: smartctl -x.",
        where.evidence(row.line),
        subject={"node": where.node, "disk": row.name} | _identity(row),
        sure=False,
    )  # fmt: skip


def _identity(row: Device) -> dict[str, str]:
    wwid = normalise(row.wwn) if row.wwn else None
    return ({"wwid": wwid} if wwid else {}) | ({"serial": row.serial} if row.serial else {})


def _called(row: Device) -> str:
    names = [part for part in (row.wwn, f"serial {row.serial}" if row.serial else "") if part]
    return f"{row.name} ({', '.join(names)})" if names else row.name


def notes(value: Devices) -> tuple[str, ...]:
    odd = sorted({row.state or "" for row in value.rows} - {*DOWN, *GOOD, "suspended"})
    states = (f"The state {', '.join(odd)} is not known here.",) if odd else ()
    return (*unread(value.unread), *states, "lsblk lists devices; it says nothing of their health.")


_NUMBERED = re.compile(r" \(dm-[0-9]{1,5}\)(?= )")
_HEADING = re.compile(r" *(?:NAME|KNAME|PATH)(?: |$)")
READER = Reader(
    name="lsblk",
    first=r'(?:NAME|KNAME|PATH) +(?:[A-Z][A-Z0-9:%-]* +)*(?:MAJ:MIN|TYPE|SIZE|WWN|SERIAL|MODEL|FSTYPE|MOUNTPOINTS?|HCTL|TRAN)\b|[A-Z][A-Z:_%-]{1,20}="[^"]*" +[A-Z][A-Z:_-]{1,20}="|\{'
    rf"|[ |`│├└─-]{{0,12}}{_DEFAULT.replace('?P<', '?P<_')}",
    confirm=lambda lines, i: 'NAME="' in lines[i] if '="' in lines[i] else "REFER" not in lines[i].split() if not lines[i].startswith("{") else '"blockdevices"' in "".join(lines[i : i + 3]),
    tools=("lsblk",),
    goes_on=r'[ |`│├└─]|(?:sd|nvme|vd|xvd|dm-|md|loop|sr|mmcblk|zd|mpath|zram)\w*(?: |$)|[\]}]|K?NAME[ =]|[A-Z][A-Z:_%-]{1,20}="|\s*"',
    parse=parse,
    situations=situations,
    notes=notes,
    sights=sights,
    again="lsblk -o NAME,TYPE,SIZE,VENDOR,MODEL,SERIAL,WWN,HCTL,STATE",
)  # fmt: skip

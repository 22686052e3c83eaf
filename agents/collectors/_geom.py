"""The disks of FreeBSD, as its GEOM shows them: identity, size, openers, partitions, names, and what is stacked on them.

    geom disk list                size, blocks, mode, `ident` (serial number), `lunid`   lib/geom and sbin/geom/core/geom.c: list_one_geom;
                                                                                         sys/geom/geom_disk.c: g_disk_dumpconf
    sysctl -n kern.geom.conftxt   what is made of each disk, a level below it            sys/geom/geom_dump.c: g_conftxt_geom
    camcontrol devlist -v         which disks CAM serves, and over which adapter         sbin/camcontrol/camcontrol.c: getdevtree

A disk that stops answering is taken away by CAM (sys/cam/scsi/scsi_da.c: daoninvalidate, disk_gone), so one that all three list is there. Whether it
can be written is not listed: GEOM refuses to open a write-protected disk for writing (g_disk_access, DISKFLAG_WRITE_PROTECT). Read in FreeBSD's
source, tried nowhere on FreeBSD.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from agents.collectors._lines import torn_end
from agents.collectors.base import Capture, Unparsed, ask, decode
from agents.domain.listed_disks import FREEBSD, ListedDisk, Part
from agents.domain.wwid import of_geom
from agents.host.host import Host

TIMEOUT_SECONDS = 20
DISKS, TREE, BUSES = ("geom", "disk", "list"), ("sysctl", "-n", "kern.geom.conftxt"), ("camcontrol", "devlist", "-v")
QUESTIONS = (DISKS, TREE, BUSES)
_BY_CAM = re.compile(r"(?:da|ada|nda)[0-9]{1,4}")
_NO_DISK = re.compile(r"cd[0-9]{1,4}")  # an optical drive is of the class DISK, too


def collect(host: Host, source: str) -> Capture:
    """The three answers in one text, each line behind its question."""
    lines: list[str] = []
    for argv in QUESTIONS:
        answer = ask(host, source, argv, TIMEOUT_SECONDS)
        if answer.outcome != "data":
            return answer
        lines += [f"{' '.join(argv)}:{line}" for line in answer.text.rstrip("\n").split("\n")]
    return Capture(source, "", "data", "".join(f"{line}\n" for line in lines))


def is_geom(text: str) -> bool:
    return text.startswith(f"{' '.join(DISKS)}:")


def parse(text: str) -> tuple[ListedDisk, ...] | Unparsed:
    """Every disk, or the first line that made no sense. Never raises."""
    torn = torn_end(text)
    if torn is not None:
        return torn
    answers: dict[str, list[str]] = {" ".join(argv): [] for argv in QUESTIONS}
    for line in text.rstrip("\n").split("\n"):
        question, _, answer = line.partition(":")
        if question not in answers:
            return Unparsed("a line of the disks cannot be read", line)
        answers[question].append(answer)
    listed, made, buses = (answers[" ".join(argv)] for argv in QUESTIONS)
    found, tree = _listed(listed), _tree(made)
    if isinstance(found, Unparsed):
        return found
    if isinstance(tree, Unparsed):
        return tree
    if sorted(found) != sorted(tree):
        return Unparsed("two lists of GEOM show different disks", f"{' '.join(sorted(found))} | {' '.join(sorted(tree))}")
    served = _buses(buses)
    return tuple(_joined(fields, tree[name], served.get(name, "")) for name, fields in found.items())


def _joined(fields: dict[str, str], made: _Made, bus: str) -> ListedDisk:
    parts = tuple(Part(name, number, size, tuple(made.above.get(name, ()))) for name, (number, size) in made.parts.items())
    name, size_bytes = fields["Name"], _number(fields, "Mediasize")
    unit, ident = fields.get("lunid", "").strip(), fields.get("ident", "").strip()
    return ListedDisk(
        FREEBSD, name, of_geom(unit, ident), bool(size_bytes) and bool(bus or not _BY_CAM.fullmatch(name)), size_bytes, _number(fields, "Sectorsize"),
        _number(fields, "Stripesize"), fields.get("Mode", ""), ident, fields.get("descr", "").strip(), fields.get("rotationrate", "").strip(), bus,
        tuple(sorted(parts, key=lambda part: part.number)), tuple(made.above.get(name, ())), tuple(made.labels),
    )  # fmt: skip


def _number(fields: dict[str, str], name: str) -> int | None:
    found = re.match(r"([0-9]{1,20})(?: |$)", fields.get(name, ""))
    return int(found.group(1)) if found else None


_FIELD = re.compile(r" {3}([A-Za-z]{1,20}): ?(.*)")
_NAME, _MODE, _GEOM = (
    re.compile(r"1\. Name: ([a-z]{1,12}[0-9]{1,4})"),
    re.compile(r"r[0-9]+w[0-9]+e[0-9]+"),
    re.compile(r"Geom name: (\S+)"),
)


def _listed(lines: list[str]) -> dict[str, dict[str, str]] | Unparsed:
    """The fields of each disk by its name. A field that is there twice, or a mode that is none, cannot be vouched for."""
    found: dict[str, dict[str, str]] = {}
    fields: dict[str, str] = {}
    for line in lines:
        if name := _NAME.fullmatch(line):
            fields = found.setdefault(name.group(1), {"Name": name.group(1)})
            if len(fields) > 1:
                return Unparsed("geom lists one disk twice", line)
        elif field_ := _FIELD.fullmatch(line):
            key, value = field_.groups()
            if key in fields or (key == "Mode" and not _MODE.fullmatch(value)):
                return Unparsed("a field of a disk cannot be read", line)
            fields[key] = value
        elif line not in ("", "Providers:") and not _GEOM.fullmatch(line):
            return Unparsed("this is no line of `geom disk list`", line)
    return {name: fields for name, fields in found.items() if not _NO_DISK.fullmatch(name)}


@dataclass
class _Made:
    """What GEOM makes of one disk. `above`: device -> what is stacked on it that is neither a partition nor a name."""

    parts: dict[str, tuple[int, int]] = field(default_factory=dict)
    labels: list[tuple[str, str]] = field(default_factory=list)
    above: dict[str, list[str]] = field(default_factory=dict)


_ROW = re.compile(r"([0-9]{1,3}) ([A-Za-z0-9:_-]{1,40}) (\S{1,120}) ([0-9]{1,20}) ([0-9]{1,9})(| .*)")
_INDEX = re.compile(r" i ([0-9]{1,9})(?: |$)")


def _tree(lines: list[str]) -> dict[str, _Made] | Unparsed:
    """Of each disk by its name. A level deeper than the one before lies on it."""
    found: dict[str, _Made] = {}
    made: _Made | None = None
    line_up: list[tuple[str, str]] = []  # (class, the disk or partition it is a name of) from the disk down to the last row
    for line in filter(None, lines):
        row = _ROW.fullmatch(line)
        if row is None or int(row.group(1)) > len(line_up):
            return Unparsed("this is no line of kern.geom.conftxt", line)
        level, kind, name = int(row.group(1)), row.group(2), row.group(3)
        del line_up[level:]
        if level == 0:
            made = found.setdefault(name, _Made()) if kind == "DISK" and not _NO_DISK.fullmatch(name) else None
        elif made is not None:
            name = _take(made, line_up[-1], row)
        line_up.append((kind, name if level == 0 or made is not None else ""))
    return found


def _take(made: _Made, below: tuple[str, str], row: re.Match[str]) -> str:
    """Keep one row. The disk or partition that it is, or is a name of; "" of a container that lies on one, and of all that is in it."""
    _, kind, name, size, _, more = row.groups()
    index, (over, device) = _INDEX.match(more), below
    if not device:
        return ""
    if kind == "LABEL":
        made.labels.append((name, device))
        return device
    if kind != "PART" or index is None:
        made.above.setdefault(device, []).append(f"{kind.lower()} {name}")
        return ""
    part = name
    if over == "LABEL":  # of the same table, read through a name of the disk: diskid/DISK-IDENTp2
        part = f"{device}p{index.group(1)}"
        made.labels.append((name, part))
    made.parts.setdefault(part, (int(index.group(1)), int(size)))
    return part


_BUS = re.compile(r"scbus[0-9]{1,4} on (\S{1,40}) bus [0-9]{1,4}:")
_DEVICE = re.compile(r"<[^<>]{0,120}> {1,80}at scbus[0-9]{1,4} target [0-9]{1,6} lun [0-9a-f]{1,20} \(([a-z0-9,]{1,60})\)")


def _buses(lines: list[str]) -> dict[str, str]:
    """Device -> the adapter that serves it. A line that is neither says nothing, and its disk is then not known to be there."""
    found: dict[str, str] = {}
    bus = ""
    for line in lines:
        if begun := _BUS.fullmatch(line.strip()):
            bus = begun.group(1)
        elif device := _DEVICE.fullmatch(line.strip()):
            found.update(dict.fromkeys(device.group(1).split(","), bus))
    return found


def sysctls(host: Host, argv: tuple[str, ...], timeout_seconds: float) -> list[str]:
    """`sysctl:name: value` of each that was answered."""
    ran = host.run(argv, timeout_seconds)
    return [f"sysctl:{line}" for line in decode(ran.stdout).split("\n") if line.startswith("kern.")]

"""The section `<<<smart>>>` of Checkmk's agent: one line for each attribute of a disk, behind the name and model of the disk.

/dev/sda ATA ST2000NM0033 5 Reallocated_Sector_Ct 0x0033 100 100 010 Pre-fail Always - 0
/dev/nvme0n1 NVME INTEL_SSDPE2KX010T8 Percentage Used: 4%

Form: agents/plugins/smart of Checkmk; the rows are smartctl's own (`smartctl -A`), with blanks in the model written as underscores.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agents.collectors import _attributes
from agents.collectors._attributes import COUNTED, Attribute
from agents.collectors.base import Unparsed
from workflows.engine.core import Situation
from workflows.pasted import _conditions
from workflows.pasted._conditions import Counters
from workflows.pasted.base import Reader, Where, plural, refused, unread, whole

_DISK = r"\s{0,4}(?P<device>/dev/\S{2,120}|\S{4,120}) (?P<kind>ATA|NVME|SCSI|SAS) (?P<model>\S{2,60}) {1,4}"
_ATTRIBUTE = re.compile(
    rf"{_DISK}(?P<number>[0-9]{{1,3}}) (?P<name>[A-Za-z_][\w/+%-]{{1,40}}) 0x[0-9a-f]{{2,4}} (?P<value>[0-9-]{{1,3}}) [0-9-]{{1,3}} (?P<least>[0-9-]{{1,3}}) "
    r"(?P<type>Pre-fail|Old_age) (?:Always|Offline) (?P<failed>\S{1,20}) (?P<raw>\S.{0,80})$"
)
_FIGURE = re.compile(rf"{_DISK}(?P<name>[A-Z][A-Za-z ]{{3,60}}): {{0,8}}(?P<value>\S.{{0,60}})$")
_NUMBER = re.compile(r"(0x[0-9a-fA-F]{1,4}|[0-9][0-9,.]{0,20})")


@dataclass(frozen=True)
class Section:
    disks: tuple[Counters, ...]
    stray: tuple[str, ...] = ()


def parse(lines: Sequence[str]) -> Section | Unparsed:
    disks: dict[str, Counters] = {}
    stray: list[str] = []
    for line in filter(str.strip, lines):
        row = _ATTRIBUTE.match(line[:400]) or _FIGURE.match(line[:400])
        if row is None:
            stray.append(line)
            continue
        disk = disks.setdefault(row["device"], Counters(row["device"], row["model"].replace("_", " ")))
        if row.re is _ATTRIBUTE:
            attribute = _attribute(row)
            disk.table.append(attribute)
            if attribute.now or (attribute.number in COUNTED and attribute.raw):
                disk.lines.append(line.strip())
        elif _take(row["name"], _whole(row["value"]), disk):
            disk.lines.append(line.strip())
    return Section(tuple(disks.values()), tuple(stray)) if disks else refused("<<<smart>>> of Checkmk", next(iter(lines), ""))


def _attribute(row: re.Match[str]) -> Attribute:
    value, least = whole(row["value"]), whole(row["least"])
    now = "FAILING_NOW" in row["failed"] or (value is not None and least is not None and least > 0 and value <= least)
    return Attribute(int(row["number"]), row["name"], value, _attributes.leading(row["raw"]), row["type"] == "Pre-fail", now)


def _whole(text: str) -> int | None:
    found = _NUMBER.match(text)
    if found is None:
        return None
    digits = found.group(1)
    return int(digits, 16) if digits.startswith("0x") else whole(digits.replace(",", "").replace(".", ""))


def _take(name: str, value: int | None, disk: Counters) -> bool:
    """Takes over a figure of an NVMe disk. True where it bears trouble out."""
    if name == "Critical Warning":
        disk.critical_warning = value
    elif name == "Media and Data Integrity Errors":
        disk.media_errors = value
    elif name == "Percentage Used":
        disk.percent_used = value
        return value is not None and value >= 90
    elif name == "Available Spare":
        disk.spare = value
        return value is not None and value < 100
    elif name == "Available Spare Threshold":
        disk.spare_threshold = value
        return False
    elif name == "Elements in grown defect list":
        disk.grown = value
    else:
        return False
    return bool(value)


def situations(value: Section, where: Where) -> tuple[Situation, ...]:
    return _conditions.situations(value.disks, where, "The rows of Checkmk's agent")


def notes(value: Section) -> tuple[str, ...]:
    return (
        *unread(value.stray),
        f"{plural(len(value.disks), 'disk')} {'was' if len(value.disks) == 1 else 'were'} read. The rows have neither the verdict of a disk nor its self-tests; `smartctl -x DEVICE` shows them.",
    )


_FIRST = rf"{re.sub(r'[?]P<[a-z]+>', '?:', _ATTRIBUTE.pattern)}|{re.sub(r'[?]P<[a-z]+>', '?:', _DISK)}(?:Critical Warning|Temperature|Available Spare|Percentage Used)\b"
READER = Reader(
    name="checkmk_smart",
    first=_FIRST,
    tools=("smart",),
    goes_on=re.sub(r"[?]P<[a-z]+>", "?:", _DISK),
    strict=True,
    open_ended=True,
    inside=frozenset(("smart",)),
    parse=parse,
    situations=situations,
    silent=lambda value: True,
    notes=notes,
    again="smartctl -x DEVICE",
)

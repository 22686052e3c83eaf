"""Reports of Hard Disk Sentinel: the summary of a disk as its window and its console print it, with what it makes of the counters.

Its percentage is an estimate of its own, so a high one says nothing that could be taken for good here; what it counts in words does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from agents.collectors.base import Unparsed
from workflows.engine.core import Severity, Situation
from workflows.pasted.base import Reader, Where, plural, refused, whole

HEALTH_WATCH, HEALTH_ACT = 60, 20  # percent; the program itself calls less than 60 "fair" and less than 20 "critical"
_BEGIN = re.compile(r" *(?:-- Physical Disk Information - Disk: |HDD Device +[0-9]{1,3}: )(\S.{0,80})")
_FIELD = re.compile(
    r" *(?:Hard Disk |HDD )?(Device|Model ID|Serial (?:Number|No)|Health|Est(?:imated Remaining L|\. l)ifetime)[ .]{0,120}: *(\S.{0,120})"
)
_PERCENT = re.compile(r"(?:[#\-]{5,40} )?([0-9]{1,3}) ?%")
_COUNTED = (
    (re.compile(r" *There (?:are|is) ([0-9]{1,9}) bad sectors?\b"), "sectors that it replaced"),
    (re.compile(r" *There (?:are|is) ([0-9]{1,9}) weak sectors?\b"), "sectors that it could not read and has not replaced yet"),
    (re.compile(r" *([0-9]{1,9}) uncorrectable (?:sectors|errors)\b"), "errors that it could not correct"),
)
_LINK = re.compile(r" *([0-9]{1,9}) errors? occur+ed during data transfer")
_PREDICTS = re.compile(r" *Failure Predicted\b|.{0,80}disk failure is (?:expected|imminent)", re.IGNORECASE)


@dataclass
class Disk:
    name: str
    fields: dict[str, str] = field(default_factory=dict)
    counts: list[tuple[int, str]] = field(default_factory=list)
    transfers: int = 0
    predicts: bool = False
    lines: list[str] = field(default_factory=list)

    @property
    def health(self) -> int | None:
        found = _PERCENT.match(self.fields.get("Health", ""))
        return whole(found.group(1)) if found else None

    @property
    def device(self) -> str:
        text = self.fields.get("Device", self.name)
        return text.removeprefix("/dev/") if text.startswith("/dev/") else ""

    @property
    def serial(self) -> str:
        return self.fields.get("Serial Number") or self.fields.get("Serial No") or ""

    @property
    def title(self) -> str:
        model = self.fields.get("Model ID") or self.name
        return f"{self.device or model} (serial {self.serial})" if self.serial else self.device or model


@dataclass(frozen=True)
class Report:
    disks: tuple[Disk, ...]


def parse(lines: Sequence[str]) -> Report | Unparsed:
    disks: list[Disk] = []
    for line in filter(str.strip, lines):
        if begun := _BEGIN.match(line):
            disks.append(Disk(begun.group(1).removesuffix(" --").strip()))
        elif disks:
            _take(disks[-1], line)
    return Report(tuple(disks)) if disks else refused("Hard Disk Sentinel", next(iter(lines), ""))


def _take(disk: Disk, line: str) -> None:
    if named := _FIELD.match(line):
        disk.fields.setdefault(named.group(1), named.group(2).strip())
        if named.group(1) == "Health":
            disk.lines.append(line)
    elif _PREDICTS.match(line):
        disk.predicts = True
        disk.lines.append(line)
    elif link := _LINK.match(line):
        disk.transfers = int(link.group(1))
        disk.lines.append(line)
    else:
        for form, what in _COUNTED:
            if counted := form.match(line):
                disk.counts.append((int(counted.group(1)), what))
                disk.lines.append(line)


def situations(value: Report, where: Where) -> tuple[Situation, ...]:
    return tuple(found for disk in value.disks for found in _of_disk(disk, where))


def _of_disk(disk: Disk, where: Where) -> Iterator[Situation]:
    member = where.member(disk.device or None, disk.serial or None)
    subject = {"node": where.node, "disk": disk.device, "serial": disk.serial} | (member.subject if member else {})
    reasons = ["it predicts its failure"] if disk.predicts else []
    reasons += [f"{count} {what}" for count, what in disk.counts if count]
    low = disk.health is not None and disk.health < HEALTH_WATCH
    reasons += [f"its health is {disk.health} % as Hard Disk Sentinel reckons it"] if low else []
    if reasons:
        severity: Severity = "act" if disk.predicts or (disk.health is not None and disk.health < HEALTH_ACT) else "watch"
        yield Situation(
            "disk-failing", f"disk-failing:{where.node}:{disk.serial or disk.title}", where.node, severity,
            f"{disk.title}: {reasons[0]}",
            f"Hard Disk Sentinel says of {disk.title}: {'; '.join(reasons)}. {member.sentence + ' ' if member else ''}Ask the disk itself: smartctl -x. See that its vdev "
            "has redundancy left before anything is taken out.",
            where.evidence(*disk.lines[:4]), subject={key: text for key, text in subject.items() if text},
        )  # fmt: skip
    if disk.transfers:
        yield Situation(
            "link-crc", f"link-crc:{where.node}:{disk.serial or disk.title}", where.node, "watch",
            f"{disk.title}: {plural(disk.transfers, 'transfer')} came damaged over its cable",
            f"Hard Disk Sentinel counts {plural(disk.transfers, 'error')} in transfers of {disk.title}. The count never goes back, so only its growth tells of today. Reseat or "
            "change the cable and compare; the disk need not be at fault, and none is to be replaced for it.",
            where.evidence(*disk.lines[:4]), subject={key: text for key, text in subject.items() if text}, sure=False,
        )  # fmt: skip


def notes(value: Report) -> tuple[str, ...]:
    return (
        f"{plural(len(value.disks), 'disk')} as Hard Disk Sentinel sees them; its percentage is an estimate, and smartctl -x shows the counters.",
    )


READER = Reader(
    name="hdsentinel",
    first=_BEGIN.pattern,
    goes_on=r" {1,8}\S|HDD |[A-Z][\w .]{2,40} ?: |There |No actions|The hard disk|[0-9]{1,9} errors?|It is |At this point|Power |Failure |-- ",
    open_ended=True,
    parse=parse,
    situations=situations,
    silent=lambda value: True,
    notes=notes,
    again="smartctl -x DEVICE",
)

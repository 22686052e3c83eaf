"""Disks by their counters, as another tool than smartctl prints them: gathered for each disk, and judged as the disk's own report is.

The thresholds are those of `workflows.facts.read.thresholds`, and the rows of SATA disks that count are those of `agents.collectors._attributes`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from agents.collectors import _attributes
from agents.collectors._attributes import Attribute
from workflows.engine.core import Situation
from workflows.facts import ConditionFacts
from workflows.facts.read.disk_condition import ErrorFacts, SelfTestFacts
from workflows.facts.unknown import Known, Unknown
from workflows.pasted.base import Where

_UNSAID = Unknown("The text does not say.")
_SLUGS = {"failing": "disk-failing", "worn": "disk-worn", "hot": "disk-hot", "link": "link-crc"}


@dataclass
class Counters:
    """What one text says of one disk, gathered line by line. None where it does not say."""

    name: str  # as the text names it: "/dev/sda", "nvme0"
    model: str = ""
    serial: str = ""
    passed: bool | None = None
    table: list[Attribute] = field(default_factory=list)
    temperature: int | None = None
    temperature_trip: int | None = None
    grown: int | None = None
    pending: int | None = None  # of SCSI's list
    uncorrected: dict[str, int] = field(default_factory=dict)  # by direction
    percent_used: int | None = None
    media_errors: int | None = None
    critical_warning: int | None = None
    spare: int | None = None
    spare_threshold: int | None = None
    sense: tuple[int, int] | None = None  # of SCSI, with a verdict that is bad
    self_tests: tuple[SelfTestFacts, ...] = ()  # the newest first
    lines: list[str] = field(default_factory=list)  # what bears it out

    def count(self, number: int, name: str, raw: int) -> None:
        """A row of the attribute table of which only its raw value is told."""
        self.table.append(Attribute(number, name, None, raw, False, False))

    @property
    def title(self) -> str:
        named = ", ".join(part for part in (self.model, f"serial {self.serial}" if self.serial else "") if part)
        return (self.name or "a disk that the text does not name") + (f" ({named})" if named else "")

    @property
    def condition(self) -> ConditionFacts:
        life, rows = _attributes.life(self.table), tuple(self.table)
        return ConditionFacts(
            temperature=_of(self.temperature),
            temperature_trip=_of(self.temperature_trip),
            power_on_hours=_UNSAID,
            grown_defects=_of(self.grown),
            pending_defects=_of(self.pending),
            errors=tuple(ErrorFacts(what, None, count, None) for what, count in self.uncorrected.items()),
            non_medium=_UNSAID,
            self_tests=self.self_tests or _UNSAID,
            background=_UNSAID,
            scan_findings=_UNSAID,
            links=(),
            attributes=_attributes.counts(rows),
            percent_used=_of(self.percent_used),
            passed=self.passed,
            verdict=next(iter(self.lines), ""),
            sense=self.sense,
            critical_warning=self.critical_warning,
            media_errors=self.media_errors,
            available_spare=self.spare,
            spare_threshold=self.spare_threshold,
            life_left=None if life is None else life[1],
            life_name="" if life is None else life[0],
            failing=_attributes.failing(rows),
            exhausted=_attributes.exhausted(rows),
            too_hot=_attributes.too_hot(rows),
        )


def _of(value: int | None) -> Known[int]:
    return _UNSAID if value is None else value


def situations(disks: Iterable[Counters], where: Where, tool: str) -> tuple[Situation, ...]:
    """What these counters say against each disk, one situation for each kind of trouble. `tool` begins a sentence: "The metrics"."""
    return tuple(found for disk in disks for found in _of_disk(disk, where, tool))


def _of_disk(disk: Counters, where: Where, tool: str) -> Iterator[Situation]:
    findings = disk.condition.findings
    device = disk.name.removeprefix("/dev/")
    member = where.member(device or None, f"{device}n1" if device.startswith("nvme") else None, disk.serial or None)
    for kind, slug in _SLUGS.items():
        words = [one for one in findings if one.kind == kind]
        if not words:
            continue
        title = disk.title[0].upper() + disk.title[1:] if not disk.name else disk.title
        yield Situation(
            slug, f"{slug}:{where.node}:{disk.serial or device or 'unnamed'}", where.node,
            "act" if any(one.severity == "act" for one in words) else "watch",
            f"{title}: {words[0].words}",
            f"{tool} of {disk.title}: {'; '.join(one.words for one in words)}. {member.sentence + ' ' if member else ''}"
            "The whole report of `smartctl -x`, by its path in /dev/disk/by-id, shows whether it goes on. Before anything is pulled compare the serial number on the drive.",
            where.evidence(*_bearing(disk, words[0].line)),
            subject={"node": where.node, "disk": device} | (member.subject if member else {}),
            sure=bool(disk.name),
        )  # fmt: skip


def _bearing(disk: Counters, line: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(disk.lines))[:4] or (line,)

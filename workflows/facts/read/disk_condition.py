"""How a disk feels, by all it says of itself: verdict, defects, errors it mended and not, self-tests, temperature, its own link.

smartctl says most; the log pages that sg_logs reads are exact where smartctl rounds, and come first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, TypeVar

from agents.collectors import sg_logs as sg_logs_source
from agents.collectors import smart as smart_source
from agents.collectors._error_log import Unreadable
from agents.collectors._smart_json import SmartDetails
from agents.collectors.block import BlockDisk
from agents.collectors.sg_logs import Logs
from agents.collectors.smart import Smart
from agents.domain.wwid import is_unit_of
from workflows.facts.read.disk_health import Finding, findings
from workflows.facts.unknown import Known, Unknown, known

if TYPE_CHECKING:
    from workflows.facts.read.sources import Sources

T = TypeVar("T")
TEBIBYTE = 1 << 40
NOTHING = SmartDetails(None, None, None, None, (), None, None, None, (), (), None, None, None)


@dataclass(frozen=True)
class ErrorFacts:
    """One direction of the error counter log. `bytes_are_exact` is False where smartctl rounded to the megabyte."""

    what: str  # "read", "write", "verify"
    corrected: int | None
    uncorrected: int | None
    processed_bytes: int | None
    bytes_are_exact: bool = True

    @property
    def corrected_per_tib(self) -> float | None:
        """To compare disks of one model only: what a model counts as corrected is its vendor's habit."""
        if self.corrected is None or not self.processed_bytes:
            return None
        return self.corrected * TEBIBYTE / self.processed_bytes


@dataclass(frozen=True)
class SelfTestFacts:
    """One self-test; `result` as in the SCSI log: 0 is well, 1 and 2 aborted, 3 to 7 failed, 15 running."""

    hours: int | None  # the disk's age then
    what: str
    result: int
    status: str
    lba: int | None = None  # where it failed

    @property
    def failed(self) -> bool:
        return 3 <= self.result <= 8


@dataclass(frozen=True)
class DiskLink:
    """A phy of the disk, as the disk itself reports it."""

    port: int
    phy: int
    status: str
    gbit: float | None
    counts: tuple[int | None, int | None, int | None, int | None]


@dataclass(frozen=True)
class ConditionFacts:
    """What is not said is `Unknown`; an empty tuple means that the disk has none."""

    temperature: Known[int]
    temperature_trip: Known[int]
    power_on_hours: Known[int]
    grown_defects: Known[int]
    pending_defects: Known[int | None]  # None: it keeps no list of them
    errors: tuple[ErrorFacts, ...]
    non_medium: Known[int]
    self_tests: Known[tuple[SelfTestFacts, ...]]  # the newest first
    background: Known[str]
    scan_findings: Known[int]
    links: tuple[DiskLink, ...]
    attributes: tuple[tuple[str, int], ...]  # SATA and NVMe: ("pending", 8)
    percent_used: Known[int]
    passed: bool | None = None  # its own verdict
    verdict: str = ""  # the line of it
    sense: tuple[int, int] | None = None  # of SCSI: additional sense code and qualifier that come with it
    critical_warning: int | None = None  # NVMe: bits
    media_errors: int | None = None  # NVMe
    available_spare: int | None = None  # NVMe: percent
    spare_threshold: int | None = None
    life_left: int | None = None  # SATA SSD: percent, by the attribute `life_name`
    life_name: str = ""
    failing: tuple[str, ...] = ()  # pre-fail attributes that are at their threshold now
    exhausted: tuple[str, ...] = ()  # old-age attributes that are
    too_hot: bool = False  # a temperature attribute that is
    temperature_max: int | None = None  # what it is specified for, or what NVMe calls critical
    temperature_warning: int | None = None  # NVMe
    silent: str = ""  # why it says nothing of its health
    has_no_self_test: bool = False  # NVMe
    unreadable: Unreadable | None = None  # SATA: reads that failed, by its error log

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """What its numbers say against it; empty for one that is well and for one that says nothing."""
        return findings(self)

    @property
    def uncorrected(self) -> int:
        """Errors that reached the host, by whatever counter the disk has: SCSI's logs of reads, writes and verifies, NVMe's, or ATA's."""
        by_scsi = sum(line.uncorrected or 0 for line in self.errors)
        return max(by_scsi, self.media_errors or 0, dict(self.attributes).get("reported uncorrectable", 0))

    @property
    def last_test(self) -> SelfTestFacts | None:
        """The newest self-test that came to an end by itself."""
        tests = self.self_tests if known(self.self_tests) else ()
        for test in tests:
            if test.result not in (1, 2, 15):
                return test
        return None


def read_condition(sources: Sources, devices: list[BlockDisk]) -> Known[ConditionFacts]:
    """Of one disk, by the first of its devices about which something was said. A report on another disk says nothing.

    The log pages are asked for through one path, perhaps another one than the first that smartctl got an answer through.
    """
    reports = ((device, sources.read(smart_source, device.name)) for device in devices)
    about = ((device, smart) for device, smart in reports if known(smart) and is_about(smart, device))
    first = next(about, None)
    if first is not None:
        logged = next((d.name for d, _ in chain([first], about) if sources.has(f"sg_logs/{d.name}")), first[0].name)
        return condition_of(first[1], sources.read(sg_logs_source, logged))
    reading = sources.read(smart_source, devices[0].name)
    return (
        reading
        if not known(reading)
        else Unknown(f"smartctl's report on {devices[0].name} is about {reading.wwid or 'a disk it does not name'}.")
    )


def is_about(smart: Smart, device: BlockDisk) -> bool:
    """Whether a report is on the disk behind a kernel device, by a name that both give; by the serial number only where none can be compared.

    The kernel names an NVMe namespace by one of EUI, NGUID and UUID, and smartctl does not print each of them.
    """
    if device.wwid is None:
        return False
    if device.wwid in smart.names or device.wwid == smart.wwid:
        return True
    if any(is_unit_of(name, device.wwid) for name in (*smart.names, smart.wwid or "")):
        return True
    comparable = any(_kind(name) == _kind(device.wwid) for name in (*smart.names, smart.wwid or "") if name)
    return not comparable and bool(smart.serial) and smart.serial == device.serial


def _kind(name: str) -> tuple[str, int]:
    """Two names of one kind that differ are two disks: EUIs of 16 and of 32 digits are of two kinds."""
    scheme, _, rest = name.partition(":")
    return scheme, len(rest) if scheme == "eui" else 0


def condition_of(smart: Smart, logs: Known[Logs]) -> ConditionFacts:
    """What a report and the log pages of the same disk say. `logs` is `Unknown` where there are none."""
    more, log = smart.details or NOTHING, logs if known(logs) else None
    silent = (
        Unknown("The disk does not say.") if smart.details is not None and not more.in_text else Unknown("smartctl's text does not say.")
    )

    def of(value: T | None) -> Known[T]:
        return silent if value is None else value

    background = log.background if log is not None else None
    return ConditionFacts(
        temperature=of(more.temperature),
        temperature_trip=of(more.temperature_trip),
        power_on_hours=of(more.power_on_hours),
        grown_defects=of(smart.grown_defects),
        pending_defects=_pending(smart.details, silent),
        errors=tuple(_errors(more, log)),
        non_medium=silent if log is None or log.non_medium is None else log.non_medium,
        self_tests=_tests(more, log, logs),
        background=background.status if background is not None else of(more.background),
        scan_findings=silent if background is None else background.findings,
        links=tuple(DiskLink(link.port, link.phy, link.text, link.gbit, link.counters) for link in more.links),
        attributes=tuple(_attributes(more)),
        percent_used=of(more.percent_used),
        passed=smart.passed,
        verdict=smart.line,
        sense=smart.sense,
        critical_warning=more.critical_warning,
        media_errors=more.media_errors,
        available_spare=more.available_spare,
        spare_threshold=more.spare_threshold,
        life_left=more.life_left,
        life_name=more.life_name,
        failing=more.failing,
        exhausted=more.exhausted,
        too_hot=more.too_hot,
        temperature_max=more.temperature_max,
        temperature_warning=more.temperature_warning,
        silent=smart.silent,
        has_no_self_test=more.has_no_self_test,
        unreadable=more.unreadable,
    )


def _pending(more: SmartDetails | None, silent: Unknown) -> Known[int | None]:
    """None is "it keeps no list", which the JSON shows by leaving it out; the text may have left it out."""
    if more is None or (more.in_text and more.pending_defects is None):
        return silent
    return more.pending_defects


def _errors(more: SmartDetails, log: Logs | None) -> Iterator[ErrorFacts]:
    rounded = {line.what: line for line in more.errors}
    counted = {"read": log.read, "write": log.write, "verify": log.verify} if log is not None else {}
    for what in ("read", "write", "verify"):
        exact = counted.get(what)
        if exact is not None:
            yield ErrorFacts(what, exact.corrected, exact.uncorrected, exact.processed_bytes)
        elif what in rounded:
            line = rounded[what]
            size = None if line.gigabytes is None else int(Decimal(line.gigabytes) * 10**9)
            yield ErrorFacts(what, line.corrected, line.uncorrected, size, False)


def _tests(more: SmartDetails, log: Logs | None, logs: Known[Logs]) -> Known[tuple[SelfTestFacts, ...]]:
    if log is not None and log.self_tests is not None:
        found = log.self_tests
    elif more.self_tests is not None:
        found = more.self_tests
    elif more.has_no_self_test:
        return Unknown("It has no self-test, which is optional for NVMe disks.")
    else:
        return Unknown(f"Its self-test log could not be read. {'' if known(logs) else logs.reason}".rstrip())
    return tuple(SelfTestFacts(test.hours, test.what, test.result, test.text, test.lba) for test in found)


def _attributes(more: SmartDetails) -> Iterator[tuple[str, int]]:
    yield from more.attributes
    for name, value in (("media errors", more.media_errors), ("critical warning", more.critical_warning)):
        if value is not None:
            yield name, value

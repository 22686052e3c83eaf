"""How a disk feels, by all it says of itself: verdict, defects, errors it mended and not, self-tests, temperature, its own link.

smartctl says most; the log pages that sg_logs reads are exact where smartctl rounds, and come first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

from agents.collectors._smart_json import SmartDetails
from workflows.facts.read.disk_health import Finding, findings
from workflows.facts.unknown import Known, Unknown, known

if TYPE_CHECKING:
    from workflows.facts.read.sources import Sources

TEBIBYTE = 1 << 40


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
    said: str
    lba: int | None = None  # where it failed

    @property
    def failed(self) -> bool:
        return 3 <= self.result <= 8


@dataclass(frozen=True)
class DiskLink:
    """A phy of the disk, as the disk itself reports it."""

    port: int
    phy: int
    said: str
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


def read_condition(sources: Sources, devices: list[Any]) -> Known[ConditionFacts]:
    """Of one disk, by the first of its devices about which something was said. A report on another disk says nothing.

    The log pages are asked for through one path, perhaps another one than the first that smartctl got an answer through.
    """
    reports = ((device, sources.read(f"smart/{device.name}")) for device in devices)
    about = ((device, smart) for device, smart in reports if known(smart) and is_about(smart, device))
    first = next(about, None)
    if first is not None:
        logs = next((f"sg_logs/{d.name}" for d, _ in chain([first], about) if sources.has(f"sg_logs/{d.name}")), f"sg_logs/{first[0].name}")
        return condition_of(first[1], sources.read(logs))
    reading = sources.read(f"smart/{devices[0].name}")
    return (
        reading
        if not known(reading)
        else Unknown(f"smartctl's report on {devices[0].name} is about {reading.wwid or 'a disk it does not name'}.")
    )


def is_about(smart: Any, device: Any) -> bool:
    """Whether a report is on the disk behind a kernel device, by a name that both give; by the serial number only where none can be compared.

    The kernel names an NVMe namespace by one of EUI, NGUID and UUID, and smartctl does not print each of them.
    """
    if device.wwid is None:
        return False
    if device.wwid in smart.names or device.wwid == smart.wwid:
        return True
    comparable = any(_kind(name) == _kind(device.wwid) for name in (*smart.names, smart.wwid or "") if name)
    return not comparable and bool(smart.serial) and smart.serial == device.serial


def _kind(name: str) -> tuple[str, int]:
    """Two names of one kind that differ are two disks: EUIs of 16 and of 32 digits are of two kinds."""
    scheme, _, rest = name.partition(":")
    return scheme, len(rest) if scheme == "eui" else 0


def condition_of(smart: Any, logs: Any) -> ConditionFacts:
    """What a report and the log pages of the same disk say. `logs` is `Unknown` where there are none."""
    more, log = smart.details, logs if known(logs) else None
    silent = Unknown("The disk does not say.") if more is not None and not more.in_text else Unknown("smartctl's text does not say.")

    def of(name: str) -> Known[Any]:
        value = None if more is None else getattr(more, name)
        return silent if value is None else value

    def plain(name: str) -> Any:
        return None if more is None else getattr(more, name)

    background = log.background if log is not None else None
    return ConditionFacts(
        temperature=of("temperature"),
        temperature_trip=of("temperature_trip"),
        power_on_hours=of("power_on_hours"),
        grown_defects=silent if smart.grown_defects is None else smart.grown_defects,
        pending_defects=_pending(more, silent),
        errors=tuple(_errors(more, log)),
        non_medium=silent if log is None or log.non_medium is None else log.non_medium,
        self_tests=_tests(more, log, logs),
        background=background.status if background is not None else of("background"),
        scan_findings=silent if background is None else background.findings,
        links=tuple(DiskLink(link.port, link.phy, link.text, link.gbit, link.counters) for link in more.links) if more is not None else (),
        attributes=tuple(_attributes(more)),
        percent_used=of("percent_used"),
        passed=smart.passed,
        verdict=smart.line,
        sense=smart.sense,
        critical_warning=plain("critical_warning"),
        media_errors=plain("media_errors"),
        available_spare=plain("available_spare"),
        spare_threshold=plain("spare_threshold"),
        life_left=plain("life_left"),
        life_name=plain("life_name") or "",
        failing=plain("failing") or (),
        exhausted=plain("exhausted") or (),
        too_hot=bool(plain("too_hot")),
        temperature_max=plain("temperature_max"),
        temperature_warning=plain("temperature_warning"),
        silent=smart.silent,
        has_no_self_test=more is not None and more.has_no_self_test,
    )


def _pending(more: SmartDetails | None, silent: Unknown) -> Known[int | None]:
    """None is "it keeps no list", which the JSON shows by leaving it out; the text may have left it out."""
    if more is None or (more.in_text and more.pending_defects is None):
        return silent
    return more.pending_defects


def _errors(more: Any, log: Any) -> Iterator[ErrorFacts]:
    rounded = {line.what: line for line in more.errors} if more is not None else {}
    for what in ("read", "write", "verify"):
        exact = getattr(log, what) if log is not None else None
        if exact is not None:
            yield ErrorFacts(what, exact.corrected, exact.uncorrected, exact.processed_bytes)
        elif what in rounded:
            line = rounded[what]
            size = None if line.gigabytes is None else int(Decimal(line.gigabytes) * 10**9)
            yield ErrorFacts(what, line.corrected, line.uncorrected, size, False)


def _tests(more: Any, log: Any, logs: Any) -> Known[tuple[SelfTestFacts, ...]]:
    if log is not None and log.self_tests is not None:
        found = log.self_tests
    elif more is not None and more.self_tests is not None:
        found = more.self_tests
    elif more is not None and more.has_no_self_test:
        return Unknown("It has no self-test, which is optional for NVMe disks.")
    else:
        return Unknown(f"Its self-test log could not be read. {'' if known(logs) else logs.reason}".rstrip())
    return tuple(SelfTestFacts(test.hours, test.what, test.result, test.text, test.lba) for test in found)


def _attributes(more: Any) -> Iterator[tuple[str, int]]:
    if more is None:
        return
    yield from more.attributes
    for name, value in (("media errors", more.media_errors), ("critical warning", more.critical_warning)):
        if value is not None:
            yield name, value

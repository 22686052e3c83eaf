"""What smartctl prints for people, line by line: versions 5 to 7, SCSI, ATA and NVMe, any option, and any part of it alone.

A line that says nothing known is passed over; no line hides another. Form of the lines: smartmontools' scsiprint.cpp, ataprint.cpp and
nvmeprint.cpp.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from agents.collectors import _attributes
from agents.collectors._attributes import Attribute
from agents.collectors._error_log import HEAD, WHY, unreadable
from agents.collectors._smart_json import NVME_RESULTS, TESTS_MAX, ErrorLine, SmartDetails
from agents.collectors.sg_logs import SelfTest
from agents.domain.wwid import normalise

LINE_MAX = 400  # characters; none of smartctl's own is longer
NO_VERDICT_TEXTS = ("unknown", "not available", "unavailable", "not supported", "unsupported")  # what stands there instead of a verdict
NO_ANSWER = (  # why a disk says nothing of its health: the words, and what they mean
    ("Device is in STANDBY", "it sleeps and was not woken"),
    ("Device is in SLEEP", "it sleeps and was not woken"),
    ("Device is in IDLE", "it sleeps and was not woken"),
    ("SMART support is: Unavailable", "it has no SMART"),
    ("Device does not support SMART", "it has no SMART"),
    ("SMART support is: Disabled", "its SMART is switched off; `smartctl -s on` switches it on"),
    ("Unknown USB bridge", "smartctl does not know its USB bridge; `-d sat` may reach the disk"),
    ("Please specify device type with the -d option", "smartctl needs its device type, with -d"),
    ("Smartctl open device:", "smartctl could not open it"),
    ("Read Device Identity failed", "it did not answer"),
    ("Standard Inquiry (36 bytes) failed", "it did not answer"),
    ("A mandatory SMART command failed: exiting", "it did not answer"),
)  # fmt: skip
WARNING_BITS = (  # NVMe, by the sentences of `smartctl -H`
    "available spare has fallen below threshold",
    "temperature is above or below threshold",
    "NVM subsystem reliability has been degraded",
    "media has been placed in read only mode",
    "volatile memory backup device has failed",
    "persistent memory region has become read-only or unreliable",
)


@dataclass
class Report:
    """What was found so far."""

    verdict: str = ""  # the line of it
    passed: bool | None = None
    sense: tuple[int, int] | None = None
    names: list[str] = field(default_factory=list)
    serial: str | None = None
    model: str | None = None
    silent: str = ""
    numbers: dict[str, int] = field(default_factory=dict)
    table: list[Attribute] = field(default_factory=list)
    errors: dict[str, ErrorLine] = field(default_factory=dict)
    tests: list[SelfTest] = field(default_factory=list)
    keeps_tests: bool = False
    has_no_self_test: bool = False
    test_runs: bool | None = None
    background: str | None = None
    statistics: dict[str, int] = field(default_factory=dict)
    logged: list[tuple[int, str]] = field(default_factory=list)  # errors of an ATA disk: hours of use, and why
    lines: int = 0  # that were understood
    section: str = ""

    def details(self) -> SmartDetails:
        counts = dict(_attributes.counts(self.table))
        if "uncorrectable" in self.statistics:  # the higher one: the attribute may stand at 0 while the statistics count
            counts["reported uncorrectable"] = max(self.statistics["uncorrectable"], counts.get("reported uncorrectable", 0))
        life, of = _attributes.life(self.table), self.numbers.get
        hours, heat = (next((row.raw for row in self.table if row.number == n and row.raw is not None), None) for n in (9, 194))
        airflow = next((row.raw for row in self.table if row.number == 190 and _attributes.HEAT in row.name), None)
        return SmartDetails(
            temperature=of("temperature") or heat or airflow or None,  # 0 is what a disk without a sensor says
            temperature_trip=of("temperature_trip") or None,
            power_on_hours=of("power_on_hours", hours),
            pending_defects=of("pending_defects"),
            errors=tuple(self.errors[what] for what in ("read", "write", "verify") if what in self.errors),
            self_tests=tuple(self.tests[:TESTS_MAX]) if self.tests or self.keeps_tests else None,
            has_no_self_test=self.has_no_self_test,
            test_runs=self.test_runs,
            background=self.background,
            links=(),
            attributes=tuple(counts.items()),
            percent_used=of("percent_used", self.statistics.get("used")),
            media_errors=of("media_errors"),
            critical_warning=of("critical_warning"),
            temperature_max=max(filter(None, (of("temperature_max"), self.statistics.get("hottest"), of("recommended_max"))), default=None),
            temperature_warning=of("temperature_warning") or None,
            available_spare=of("available_spare"),
            spare_threshold=of("spare_threshold"),
            life_left=None if life is None else life[1],
            life_name="" if life is None else life[0],
            failing=_attributes.failing(self.table),
            exhausted=_attributes.exhausted(self.table),
            too_hot=_attributes.too_hot(self.table),
            unreadable=unreadable(self.logged, of("power_on_hours", hours)),
            in_text=True,
        )


def read(text: str) -> Report:
    """All that is understood of `text`. Never raises."""
    report = Report()
    for raw in text.split("\n"):
        line = raw.strip()[:LINE_MAX]
        if line:
            _log_error(report, line)
            report.lines += any(take(report, line) for take in _TAKERS)
    return report


_ERROR, _WHY = re.compile(HEAD), re.compile(WHY)


def _log_error(report: Report, line: str) -> None:
    """An entry of the error log. Why it failed stands some lines below its head; the first counts."""
    if head := _ERROR.match(line):
        report.logged.append((int(head.group(1)), ""))
    elif report.logged and not report.logged[-1][1] and (why := _WHY.match(line)):
        report.logged[-1] = (report.logged[-1][0], why.group(1))


def _heading(report: Report, line: str) -> bool:
    if line.startswith(("SMART Self-test log", "SMART Extended Self-test Log", "Self-test Log (NVMe")):
        report.section, report.keeps_tests = "tests", "not supported" not in line and "failed" not in line.lower()
        return True
    if line.startswith(
        ("Background scan results log", "SMART/Health Information", "Error counter log", "SMART Attributes Data", "=== START OF")
    ):
        report.section = line.split()[0]
        return True
    if line.startswith("Self-tests not supported"):  # smartctl 7.4 and newer, of an NVMe disk whose OACS lacks bit 4
        report.has_no_self_test = True
        return True
    if line.startswith("No self-tests have been logged") or line.startswith("No Self-tests Logged"):
        report.keeps_tests = True
        return True
    return False


_VERDICT = re.compile(r"(SMART Health Status|SMART overall-health self-assessment test result|SMART Sense): (.+)")
_SENSE = re.compile(r"\[asc=([0-9a-f]{1,2}),? ?ascq=([0-9a-f]{1,2})\]", re.IGNORECASE)


def _verdict(report: Report, line: str) -> bool:
    found = _VERDICT.match(line)
    if not found:
        return False
    report.verdict, health = line, found.group(2).strip()
    sense = _SENSE.search(health)
    report.sense = (int(sense.group(1), 16), int(sense.group(2), 16)) if sense else None
    if health.rstrip("!").upper() in ("OK", "PASSED"):
        report.passed = True
    else:
        report.passed = None if any(word in health.lower() for word in NO_VERDICT_TEXTS) and sense is None else False
    return True


def _silence(report: Report, line: str) -> bool:
    joined = " ".join(line.split())
    why = next((meaning for words, meaning in NO_ANSWER if words in joined), "")
    report.silent = report.silent or why
    return bool(why)


def _number(text: str) -> int | None:
    """ "1,234 [5 GB]", "31 C", "100%", "0x04", "1 234", and 1234 of "1234.56"."""
    words = text.split()
    if not words:
        return None
    if re.fullmatch("0x[0-9a-fA-F]{1,8}", words[0]):
        return int(words[0], 16)
    grouped = re.match(r"[0-9]{1,3}(?:[,.'\u2019 ][0-9]{3}){1,6}(?![0-9.])", text)
    if grouped:
        return int(re.sub("[^0-9]", "", grouped.group()))
    found = re.match(r"([0-9]{1,18})(?:\.[0-9]{1,6})?(?![0-9])", text)
    return int(found.group(1)) if found else None


_KEYS = {
    "current drive temperature": "temperature",
    "current temperature": "temperature",
    "temperature": "temperature",
    "drive trip temperature": "temperature_trip",
    "specified max operating temperature": "temperature_max",
    "critical comp. temp. threshold": "temperature_max",
    "warning comp. temp. threshold": "temperature_warning",
    "power on hours": "power_on_hours",
    "number of hours powered up": "power_on_hours",
    "pending defect count": "pending_defects",
    "percentage used endurance indicator": "percent_used",
    "percentage used": "percent_used",
    "media and data integrity errors": "media_errors",
    "available spare": "available_spare",
    "available spare threshold": "spare_threshold",
    "elements in grown defect list": "grown_defects",
    "critical warning": "critical_warning",
}
_RECOMMENDED = re.compile(r"Min/Max recommended Temperature: +-?[0-9]{1,3}/([0-9]{1,3}) Celsius")
_HOURS_MINUTES = re.compile(r"Accumulated power on time, hours:minutes +([0-9]{1,8}):[0-9]{2}")


def _value(report: Report, line: str) -> bool:
    hours = _HOURS_MINUTES.match(line)
    if hours:
        report.numbers.setdefault("power_on_hours", int(hours.group(1)))
        return True
    recommended = _RECOMMENDED.match(line)
    if recommended:
        report.numbers.setdefault("recommended_max", int(recommended.group(1)))
        return True
    key, mark, value = line.partition(":")
    if not mark or "=" in key:
        key, mark, value = line.partition("=")
    name = _KEYS.get(" ".join(key.lower().split())) if mark else None
    if name is None:
        return False
    number = _number(value.strip())
    if number is not None and name == "critical_warning":
        report.numbers[name] = report.numbers.get(name, 0) | number
    elif number is not None:
        report.numbers.setdefault(name, number)
    return True


_IDENTITY = {
    "serial number": "serial",
    "device model": "model",
    "model number": "model",
    "product": "model",
    "lu wwn device id": "lu",
    "logical unit id": "lu",
}
_EUI = re.compile(r"Namespace [0-9]{1,4} (?:IEEE EUI-64|EUI-64): +([0-9a-f]{6}) ([0-9a-f]{10})$")
_HIDDEN = re.compile(r"[\[<*(]|^[xX-]+$|removed|redacted", re.IGNORECASE)  # what people put where the serial number was
_OLD = re.compile(r"Device: (\S.*?)(?<! )  +Version: ")


def _identity(report: Report, line: str) -> bool:
    eui = _EUI.match(line)
    if eui:
        report.names.append(f"eui:{eui.group(1)}{eui.group(2)}")
        return True
    old = _OLD.match(line)
    if old:
        report.model = report.model or " ".join(old.group(1).split())
        return True
    key, mark, value = line.partition(":")
    what, value = _IDENTITY.get(key.lower().strip()) if mark else None, value.strip()
    if what is None:
        return False
    if what == "lu":
        lu = normalise(value if value.startswith("0x") else "0x" + value.replace(" ", ""))
        report.names += [lu] if lu else []
    elif value and not _HIDDEN.search(value):
        setattr(report, what, getattr(report, what) or value)
    return True


_FLAGS = re.compile(r"0x[0-9a-f]{4}|[POSRCK+-]{6,7}")
_COLUMNS = re.compile(r"[0-9]{1,3}|---")


_NAMED = re.compile(
    r"([A-Z][A-Za-z_-]{3,40})[ :]{1,40}(?:(?:value|val|worst|thresh)[=:] ?[0-9]{1,3}[ ,;]{1,8}){0,3}raw(?:_value)?[=:] ?([0-9]{1,18})(?![0-9a-fx])"
)
_NUMBERS = {name: number for number, (_, names) in _attributes.COUNTED.items() for name in names}


def _named(line: str) -> Attribute | None:
    """A counter that somebody wrote down by its name: "Current_Pending_Sector raw=8"."""
    found = _NAMED.match(line)
    number = next((n for name, n in _NUMBERS.items() if name in found.group(1)), None) if found else None
    return Attribute(number, found.group(1), None, int(found.group(2)), False, False) if found and number is not None else None


def _attribute(report: Report, line: str) -> bool:
    """Both forms: `-A` with its words for type and update, and `-x` with letters for flags."""
    named = _named(line)
    if named is not None:
        report.table.append(named)
        return True
    words = line.split()
    if len(words) < 8 or not words[0].isdigit() or len(words[0]) > 3 or not _FLAGS.fullmatch(words[2]):
        return False
    if not all(_COLUMNS.fullmatch(word) for word in words[3:6]):
        return False
    long = words[6] in ("Pre-fail", "Old_age")
    when, raw = (words[8], words[9:]) if long and len(words) > 9 else (words[6], words[7:])
    prefail = words[6] == "Pre-fail" if long else words[2].startswith("P")
    value = int(words[3]) if words[3].isdigit() else None
    report.table.append(
        Attribute(int(words[0]), words[1], value, _attributes.leading(" ".join(raw)), prefail, when in ("FAILING_NOW", "NOW"))
    )
    return True


_COUNTERS = re.compile(r"(read|write|verify): +([0-9][0-9., ]*)$")


def _counters(report: Report, line: str) -> bool:
    """A row of the error counter log: fast, delayed, repeated, corrected in all, invocations, gigabytes, not corrected."""
    found = _COUNTERS.match(line)
    cells = found.group(2).split() if found else []
    if not found or len(cells) != 7 or not (cells[3].isdigit() and cells[6].isdigit()):
        return False
    size = cells[5].replace(",", ".")  # as some languages write it
    exact = size if re.fullmatch(r"[0-9]{1,15}\.[0-9]{3}", size) else None
    report.errors.setdefault(found.group(1), ErrorLine(found.group(1), int(cells[3]), int(cells[6]), exact))
    return True


# How a self-test ended, as it is printed -> the number of SCSI's log, as in `SelfTest`. The longer words stand first.
_ATA_RESULTS = {
    "Completed without error": 0, "Aborted by host": 1, "Interrupted (host reset)": 2, "Fatal or unknown error": 3,
    "Completed: unknown failure": 4, "Completed: electrical failure": 5, "Completed: servo/seek failure": 6, "Completed: read failure": 7,
    "Completed: handling damage??": 8, "Self-test routine in progress": 15,
}  # fmt: skip
_SCSI_RESULTS = {
    "Completed, segment failed": 4, "Aborted (by user command)": 1, "Aborted (device reset ?)": 2, "Unknown error, incomplete": 3,
    "Failed in first segment": 5, "Failed in second segment": 6, "Failed in segment": 7, "Self test in progress": 15, "Completed": 0,
}  # fmt: skip
_NVME_RESULTS = {
    "Completed without error": 0, "Aborted: Self-test command": 1, "Aborted: Controller Reset": 2, "Aborted: Namespace removed": 3,
    "Aborted: Format NVM command": 4, "Fatal or unknown test error": 5, "Completed: unknown failed segment": 6,
    "Completed: failed segments": 7, "Aborted: unknown reason": 8, "Aborted: sanitize operation": 9,
}  # fmt: skip
_ROW = re.compile(r"# ?[0-9]{1,2} +(\S.*)")
_NVME_ROW = re.compile(r"[0-9]{1,2} +((?:Short|Extended|Vendor specific) .*)")
_AFTER_ATA = re.compile(r" +[0-9]{1,3}% +([0-9]{1,8})(?: +([0-9]{1,18}|-))?")
_AFTER_SCSI = re.compile(r"(?:[ .]|-->)*(?:[0-9]{1,3}|-) +([0-9]{1,8}|NOW)(?: +(0x[0-9a-f]{1,16}|[0-9]{1,18}|-))?")
_AFTER_NVME = re.compile(r" +([0-9]{1,12})(?: +([0-9]{1,18}|-))?")


def _test(report: Report, line: str) -> bool:
    if line.startswith("#"):
        found = _ROW.match(line)
        forms: tuple[Any, ...] = ((_ATA_RESULTS, _AFTER_ATA, None), (_SCSI_RESULTS, _AFTER_SCSI, None))
    else:
        found = _NVME_ROW.match(line) if report.section == "tests" else None
        forms = ((_NVME_RESULTS, _AFTER_NVME, NVME_RESULTS),)
    outcome = found.group(1) if found else ""
    for results, after, of_scsi in forms if outcome else ():
        words = next((words for words in results if words in outcome), "")
        what, _, rest = outcome.partition(words) if words else ("", "", "")
        cells = after.match(rest) if words and what.strip() else None
        if cells:
            hours, place = cells.group(1), cells.group(2)
            result = results[words] if of_scsi is None else of_scsi[results[words]]
            lba = int(place, 0) if place and place != "-" and not (place[:1] == "0" and place.isdigit()) else None
            report.tests.append(SelfTest(int(hours) if hours.isdigit() else None, what.strip(), result, words, lba))
            report.keeps_tests = True
            return True
    return False


_OUTDATED = re.compile(r"([0-9]{1,3}) of [0-9]{1,3} failed self-tests are outdated by newer successful")
_FAILED = (4, 5, 6, 7, 8)


def _outdated(report: Report, line: str) -> bool:
    """smartctl's own word that the disk passed a test after these: the oldest of the failed ones count no more."""
    found = _OUTDATED.match(line)
    for _ in range(min(int(found.group(1)), len(report.tests)) if found else 0):
        failed = [test for test in report.tests if test.result in _FAILED]
        if failed:
            report.tests.remove(failed[-1])
    return found is not None


def _warning(report: Report, line: str) -> bool:
    """A reason below the verdict of an NVMe disk. The hexadecimal number, where it stands there, says the same."""
    bit = next((bit for bit, words in enumerate(WARNING_BITS) if line == f"- {words}"), None)
    if bit is None:
        return False
    report.numbers["critical_warning"] = report.numbers.get("critical_warning", 0) | 1 << bit
    return True


_BACKGROUND_ROW = re.compile(r"[0-9]{1,5} {1,6}[0-9]{1,8}:[0-9]{2} {1,4}[0-9a-f]{16} {1,4}\[[0-9a-f]{1,2},[0-9a-f]{1,2},[0-9a-f]{1,2}\]")
_STATISTIC = re.compile(r"0x[0-9a-f]{2}  ?0x[0-9a-f]{3}  ?[0-9] ")
_STATISTICS = (
    ("Percentage Used Endurance Indicator", "used"),
    ("Number of Reported Uncorrectable Errors", "uncorrectable"),
    ("Specified Maximum Operating Temperature", "hottest"),  # the one of the SCT status is the maker's own and may be lower
)


def _statistic(report: Report, line: str) -> bool:
    """A row of the device statistics of `-x`: page, offset, size, value, and the name at its end."""
    for name, what in _STATISTICS:
        if line.endswith(name):
            value = line.split()[3].strip("~") if len(line.split()) > 4 else ""
            if value.isdigit():
                report.statistics.setdefault(what, int(value))
            return True
    return _STATISTIC.match(line) is not None or _BACKGROUND_ROW.match(line) is not None  # rows that say nothing that is looked for here


def _running(report: Report, line: str) -> bool:
    if report.section == "Background" and line.startswith("Status: "):
        report.background = line[len("Status: ") :]
        return True
    if line.startswith("Self-test execution status:"):
        report.test_runs = "in progress" in line or "of test remaining" in line
        return True
    return False


_KNOWN = (
    "smartctl ",
    "ID# ATTRIBUTE",
    "Num  Test",
    "SMART support is",
    "General SMART Values",
    "Device Statistics (GP Log",
    "Rotation Rate",
    "Device type",
)


def _known(report: Report, line: str) -> bool:
    return line.startswith(_KNOWN)


_TAKERS: tuple[Callable[[Report, str], bool], ...] = (
    _attribute, _verdict, _heading, _silence, _test, _outdated, _counters, _statistic, _warning, _running, _value, _identity, _known,
)  # fmt: skip


def names_of(model: str | None, serial: str | None, report: Iterable[str]) -> tuple[str, ...]:
    """Every identity, the surest first; the last is by model and serial number, as udev's links spell them."""
    by_serial = [f"ser:{model.replace(' ', '_')}:{serial}"] if model and serial else []
    return tuple(dict.fromkeys((*report, *by_serial)))

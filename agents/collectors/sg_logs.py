"""What a SAS disk counted itself, by `sg_logs`: errors corrected and not while writing, reading and verifying, self-tests, background scan.

Pages 02, 03, 05, 06, 10 and 15, each asked by itself: a disk that lacks one says so and the others still come. Unlike
smartctl's table these are exact to the byte.

`--readonly`, since sg_logs opens the disk for writing otherwise (its manual page). udev reports every disk that was open for writing as one
that changed, and ZED then reopens the pool of that disk: a resilver that is to begin at that moment begins as a scrub (docs/lab.md).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from agents.collectors import _disks, _power
from agents.collectors._lines import torn_end
from agents.collectors.base import Capture, Unparsed, ask
from agents.host.host import Host

NAME = "sg_logs"
EVERY_SECONDS = 3600
TIMEOUT_SECONDS = 20
WAKES = True  # what it runs would, so it waits to hear which disks sleep
ARGV = ("sg_logs", "--readonly")
PAGES = ("0x02", "0x03", "0x05", "0x06", "0x10", "0x15")
NOT_SUPPORTED = (5, 9)  # "illegal request": the disk, or its HBA, knows no such page


@dataclass(frozen=True)
class ErrorCounters:
    """One of the pages 02, 03, 05. A field is None where the disk does not count that."""

    fast: int | None  # corrected on the fly; high numbers are normal for some models
    delayed: int | None
    retried: int | None  # corrected by reading or writing again
    corrected: int | None
    processed_bytes: int | None
    uncorrected: int | None


@dataclass(frozen=True)
class SelfTest:
    """One entry of the log, the newest first. `result` 0 is well, 1 and 2 aborted, 3 to 7 failed, 15 still running."""

    hours: int | None  # the disk's age when it ended
    what: str
    result: int
    text: str
    lba: int | None = None  # where it failed, where that is printed

    @property
    def failed(self) -> bool:
        return 3 <= self.result <= 7


@dataclass(frozen=True)
class BackgroundScan:
    status: str
    minutes: int | None  # the disk's age
    scans: int | None
    findings: int  # places it found that could not be read, as far as its log goes back


@dataclass(frozen=True)
class Logs:
    """None where the disk has no such page."""

    write: ErrorCounters | None
    read: ErrorCounters | None
    verify: ErrorCounters | None
    non_medium: int | None
    self_tests: tuple[SelfTest, ...] | None
    background: BackgroundScan | None


def keys(host: Host) -> tuple[str, ...]:
    """SAS disks; NVMe has no such pages, and for a SATA disk smartctl says more. The log is the disk's and not the path's, so
    one path to it is asked; that another one hangs is seen by who asks each of them."""
    disks = _disks.one_path_each(host, (name for name in _disks.names(host) if name.startswith("sd")))
    return tuple(disk for disk in disks if _is_sas(host, disk))


def _is_sas(host: Host, disk: str) -> bool:
    """By the HBA's driver (mpt3sas, smartpqi), or by the transport that the disk hangs on, which every SAS driver has."""
    device = f"/sys/block/{disk}/device"
    try:
        if host.read(f"{device}/vendor").strip() == b"ATA":
            return False
        return bool(host.list(f"{device}/sas_address")) or "/end_device-" in host.link(device)
    except OSError:
        return False


def collect_one(host: Host, key: str) -> Capture:
    asleep = _power.not_awake(host, NAME, key)
    if asleep:
        return asleep
    texts, seconds = [], 0.0
    for page in PAGES:
        asked = ask(host, NAME, (*ARGV, f"--page={page}", f"/dev/{key}"), TIMEOUT_SECONDS, key=key, data_exits=(0, *NOT_SUPPORTED))
        seconds += asked.seconds
        if asked.outcome != "data":
            return asked
        texts.append(f"# sg_logs --page={page}: exit {asked.exit_code}\n{asked.text.rstrip(chr(10))}\n")
    return Capture(NAME, key, "data", "".join(texts), seconds=seconds)


collect = _disks.every(collect_one, keys)


_HEADING = re.compile(r"(\S.*) page +\[0x([0-9a-f]{1,2})\]")
_COUNTS = {
    "Errors corrected without substantial delay": "fast",
    "Errors corrected with possible delays": "delayed",
    "Total rewrites or rereads": "retried",
    "Total errors corrected": "corrected",
    "Total bytes processed": "processed_bytes",
    "Total uncorrected errors": "uncorrected",
}
_COUNT = re.compile(r"  (\S.*) = ([0-9]{1,20})(?: \[[0-9]+ [A-Z]B\])?")
_ENTRY = re.compile(r"  Parameter code = [0-9]{1,5}, accumulated power-on hours = ([0-9]{1,5})", re.IGNORECASE)
_TEST = re.compile(r"    self-test code: (.*) \[[0-7]\]", re.IGNORECASE)
_RESULT = re.compile(r"    self-test result: (.*) \[([0-9]{1,2})\]", re.IGNORECASE)
_MINUTES = re.compile(r"    Accumulated power on minutes: ([0-9]{1,10}) \[h:m  [0-9:]+\]")
_STATUS = re.compile(r"    Status: (.*)")
_SCANS = re.compile(r"    Number of background scans performed: ([0-9]{1,10})")
_FINDING = re.compile(r"  Medium scan parameter # ([0-9]{1,5}) \[0x[0-9a-f]{1,4}\]")
_HOURS_FULL = 65535  # the field is 16 bits wide and stops there


def parse(text: str) -> Logs | Unparsed:
    """The pages in `text`; unsupported ones are None. A counter that is no whole number spoils the text. Never raises."""
    torn = torn_end(text)
    if torn is not None:
        return torn
    pages = _pages(text)
    if not pages and "# sg_logs --page=" not in text:
        return Unparsed("no page of sg_logs is in it", text[:80])
    counters = {code: _counters(pages[code]) for code in (2, 3, 5) if code in pages}
    tests = _self_tests(pages[16]) if 16 in pages else None
    non_medium = _non_medium(pages[6]) if 6 in pages else None
    background = _background(pages[21]) if 21 in pages else None
    read = {code: value for code, value in counters.items() if not isinstance(value, Unparsed)}
    if len(read) < len(counters) or isinstance(tests, Unparsed) or isinstance(non_medium, Unparsed) or isinstance(background, Unparsed):
        return next(value for value in (*counters.values(), tests, non_medium, background) if isinstance(value, Unparsed))
    return Logs(read.get(2), read.get(3), read.get(5), non_medium, tests, background)


def _pages(text: str) -> dict[int, list[str]]:
    """The lines below each page's heading. Lines above the first heading name the disk."""
    pages: dict[int, list[str]] = {}
    lines: list[str] = []
    for line in text.split("\n"):
        found = _HEADING.fullmatch(line)
        if found:
            lines = pages.setdefault(int(found.group(2), 16), [])
        elif line.startswith("#"):
            lines = []
        elif line:
            lines.append(line)
    return pages


def _counters(lines: list[str]) -> ErrorCounters | Unparsed:
    counts: dict[str, int] = {}
    for line in lines:
        what = _COUNTS.get(line.partition(" = ")[0].strip())
        found = _COUNT.fullmatch(line)
        if what and (found is None or what in counts):
            return Unparsed("an error counter is no whole number, or stands there twice", line)
        if what and found:
            counts[what] = int(found.group(2))
    return ErrorCounters(*(counts.get(name) for name in ("fast", "delayed", "retried", "corrected", "processed_bytes", "uncorrected")))


def _non_medium(lines: list[str]) -> int | Unparsed | None:
    for line in lines:
        if "Non-medium error count" in line:
            found = _COUNT.fullmatch(line)
            return int(found.group(2)) if found else Unparsed("the non-medium error count is no whole number", line)
    return None


def _self_tests(lines: list[str]) -> tuple[SelfTest, ...] | Unparsed:
    tests: list[SelfTest] = []
    hours, what = None, ""
    for line in lines:
        entry, test, result = _ENTRY.fullmatch(line), _TEST.fullmatch(line), _RESULT.fullmatch(line)
        if entry:
            hours, what = int(entry.group(1)), ""
        elif test:
            what = test.group(1)
        elif result:
            tests.append(SelfTest(None if hours == _HOURS_FULL else hours, what, int(result.group(2)), result.group(1)))
        elif re.match(r" +self-test (?:code|result)|  Parameter code", line, re.IGNORECASE):
            return Unparsed("an entry of the self-test log cannot be read", line)
    return tuple(tests)


def _background(lines: list[str]) -> BackgroundScan | Unparsed:
    status = next((found.group(1) for line in lines if (found := _STATUS.fullmatch(line))), None)
    if status is None:
        return Unparsed("the background scan gives no status", lines[0] if lines else "")
    minutes = next((int(found.group(1)) for line in lines if (found := _MINUTES.fullmatch(line))), None)
    scans = next((int(found.group(1)) for line in lines if (found := _SCANS.fullmatch(line))), None)
    return BackgroundScan(status, minutes, scans, sum(bool(_FINDING.fullmatch(line)) for line in lines))

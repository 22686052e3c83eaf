"""What the log pages of a SAS disk say against it, where no report of smartctl is there to say it: `sg_logs -a DEVICE`, whole or one page of it.

Forms: sg_logs.c of sg3_utils. Of the page of informational exceptions its first parameter counts (SPC-6, 7.3.6): asc 5Dh is a failure that the disk predicts,
0Bh a warning.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from agents.collectors.sg_logs import Logs
from workflows.engine.core import Situation
from workflows.facts import known
from workflows.facts.read.disk_condition import SelfTestFacts
from workflows.pasted import _conditions
from workflows.pasted._conditions import Counters
from workflows.pasted.base import Where

_EXCEPTION = re.compile(r"\s{1,8}IE asc = 0x([0-9a-f]{1,2}), ascq ?= ?0x([0-9a-f]{1,2})")
_UNCORRECTED = re.compile(r"\s{1,8}Total uncorrected errors = [1-9]")
_PENDING = re.compile(r"\s{1,8}Pending defect count: {1,4}([0-9]{1,10})\b")
_NOW, _TRIP = (
    re.compile(r"\s{1,8}Current temperature = ([0-9]{1,3}) C"),
    re.compile(r"\s{1,8}(?:Reference|Threshold) temperature = ([0-9]{1,3}) C"),
)
_VERDICTS = (0x5D, 0x0B)
NAMELESS = "unnamed"  # a text without its command line is filed under this and a number


def situations(value: Logs, lines: Sequence[str], where: Where) -> tuple[Situation, ...]:
    """Nothing of a disk whose condition is known from its report, with these pages in it, or whose report alone says enough against it."""
    device = where.source.partition("/")[2]
    if _is_judged(device, where):
        return ()
    disk = Counters("" if device.startswith(NAMELESS) else device)
    for what, counted in (("read", value.read), ("write", value.write), ("verify", value.verify)):
        if counted is not None and counted.uncorrected:
            disk.uncorrected[what] = counted.uncorrected
    disk.self_tests = tuple(SelfTestFacts(test.hours, test.what, test.result, test.text, test.lba) for test in value.self_tests or ())
    for line in lines:
        _take(line[:200], disk)
    return _conditions.situations((disk,), where, "The log pages")


def _is_judged(device: str, where: Where) -> bool:
    if where.facts is None:
        return False
    disks = where.facts.disks if known(where.facts.disks) else ()
    return any(device in disk.names and known(disk.condition) for disk in disks) or any(
        report.asked == device and report.condition.findings for report in where.facts.loose_reports
    )


def _take(line: str, disk: Counters) -> None:
    if found := _EXCEPTION.match(line):
        code, qualifier = (int(digits, 16) for digits in found.groups())
        if code in _VERDICTS:
            disk.passed, disk.sense = False, (code, qualifier)
            disk.lines.insert(0, line.strip())
    elif found := _PENDING.match(line):
        disk.pending = int(found.group(1))
        disk.lines += [line.strip()] if disk.pending else []
    elif _UNCORRECTED.match(line):
        disk.lines.append(line.strip())
    elif found := _NOW.match(line):
        disk.temperature = int(found.group(1)) or None
    elif found := _TRIP.match(line):
        disk.temperature_trip = int(found.group(1)) or None

"""`nvme self-test-log`: the results of an NVMe disk's own tests, the newest first, each as the tool prints its fields (nvme-print-stdout.c of nvme-cli).

Self Test Result[0]:
  Operation Result             : 0x7
  Self Test Code               : 2

Results by the NVMe base specification 1.4, figure 99: 0 is well, 1 to 4 and 8 and 9 ended it, 5 to 7 are failures, Fh is no entry.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agents.collectors._smart_json import NVME_RESULTS
from agents.collectors.base import Unparsed
from workflows.engine.core import Situation
from workflows.facts.read.disk_condition import SelfTestFacts
from workflows.pasted import _conditions
from workflows.pasted._conditions import Counters
from workflows.pasted.base import Reader, Where, pairs, plural, refused

_HEAD = re.compile(r"\s{0,4}Device Self Test Log for NVME device: ?(?P<device>[\w-]{2,40})")
_RESULT = re.compile(r"\s{0,4}Self Test Result\[[0-9]{1,2}\]:")
_VALUE = re.compile(r"(0x[0-9a-fA-F]{1,16}|[0-9]{1,20})\b")
_WORDS = {1: "Short", 2: "Extended"}
_NONE = 0xF


@dataclass(frozen=True)
class Tests:
    device: str
    tests: tuple[SelfTestFacts, ...]
    lines: tuple[str, ...]  # of the results that are failures


def parse(lines: Sequence[str]) -> Tests | Unparsed:
    device, bearing = "", list[str]()
    records: list[dict[str, int]] = []
    for line in lines:
        if head := _HEAD.match(line[:200]):
            device = head["device"]
        elif _RESULT.match(line[:80]):
            records.append({})
        elif records and (field := pairs(line[:200])) and (value := _VALUE.match(field[1])):
            records[-1].setdefault(field[0], int(value.group(1), 16 if value.group(1).startswith("0x") else 10))
            if field[0] == "Operation Result" and NVME_RESULTS.get(records[-1][field[0]] & 0xF, 0) in range(3, 8):
                bearing.append(line.strip())
    tests = tuple(_test(record) for record in records if record.get("Operation Result", _NONE) & 0xF != _NONE)
    return Tests(device, tests, tuple(bearing)) if device or records else refused("nvme self-test-log", next(iter(lines), ""))


def _test(record: dict[str, int]) -> SelfTestFacts:
    result = record["Operation Result"] & 0xF
    place = record.get("Failing LBA") if record.get("Valid Diagnostic Information", 0) & 2 else None
    return SelfTestFacts(
        record.get("Power on hours (POH)") or record.get("Power on hours"),
        _WORDS.get(record.get("Self Test Code", 0), "unknown"),
        NVME_RESULTS.get(result, 3),
        f"result {result:#x}",
        place,
    )


def situations(value: Tests, where: Where) -> tuple[Situation, ...]:
    disk = Counters(value.device, self_tests=value.tests, lines=list(value.lines))
    return _conditions.situations((disk,), where, "The self-tests")


def notes(value: Tests) -> tuple[str, ...]:
    return (
        f"{plural(len(value.tests), 'self-test')} of {value.device or 'an NVMe disk'} {'was' if len(value.tests) == 1 else 'were'} read; `nvme smart-log` and `smartctl -x` show how the disk is.",
    )


READER = Reader(
    name="nvme_self_tests",
    first=r"\s{0,4}Device Self Test Log for NVME device: ?[\w-]|\s{0,4}Self Test Result\[0\]:",
    tools=("nvme",),
    asks=lambda tool, rest: "self-test-log" in rest,
    goes_on=r"\s{0,4}(?:Current (?:operation|[Cc]ompletion)|Self Test Result\[)|\s{1,6}(?:Operation Result|Self Test Code|Segment Number|Valid Diagnostic|Power on hours|Vendor Specific|Namespace Identifier|Failing LBA|Status Code)",
    strict=True,
    open_ended=True,
    inside=frozenset(("nvme",)),
    parse=parse,
    situations=situations,
    silent=lambda value: True,
    notes=notes,
    again="nvme self-test-log /dev/nvme0",
)

"""`fmdump -e` of illumos and Solaris: reports of errors, one a line, before the fault manager made anything of them. They name no disk: `fmdump -eV` does.

Its rows begin with a date without a year, which `zpool events` always prints. Form: usr/src/cmd/fm/fmdump/common/error.c.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from agents.collectors.base import Unparsed
from workflows.engine.core import Severity, Situation
from workflows.pasted.base import Reader, Where, plural, refused, unread


@dataclass(frozen=True)
class Report:
    name: str  # its class
    line: str


@dataclass(frozen=True)
class Reports:
    reports: tuple[Report, ...]
    stray: tuple[str, ...] = ()


_DATE = r"[A-Z][a-z]{2} [ 0-9][0-9] [0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})? {1,4}"
_ROW = re.compile(rf"{_DATE}(?P<name>ereport\.[\w.-]{{3,160}})\s*$")
_HEAD = re.compile(r"TIME {1,30}CLASS\s*$")
_KINDS: tuple[tuple[re.Pattern[str], str, Severity, str], ...] = (  # how the class goes on, the situation, how grave, in which words
    (re.compile(r"io\.scsi\.cmd\.disk\.(?:recovered|dev\.rqs\.recovered)"), "", "info", "commands that succeeded when they were tried again"),
    (re.compile(r"io\.scsi\.cmd\.disk\.slow-io"), "slow-disk", "watch", "commands that a disk answered late"),
    (re.compile(r"io\.scsi\.cmd\.disk\.tran"), "link-crc", "watch", "commands to a disk that were lost on their way"),
    (re.compile(r"io\.scsi\.cmd\.disk\.dev\.rqs\.merr"), "disk-errors", "watch", "sectors that a disk could not read or write"),
    (re.compile(r"io\.scsi\.cmd\.disk\."), "disk-errors", "watch", "commands that a disk answered with an error"),
    (re.compile(r"fs\.zfs\."), "zfs-events", "watch", "errors of a pool"),
    (re.compile(r"io\.(?:pci|pciex|device|service|fire|n2|oberon)\b"), "hba-fault", "watch", "errors of a PCIe device or of the link to it"),
    (re.compile(r"(?:cpu|asic|mem)\."), "kernel-errors", "watch", "errors of memory, a processor or a bridge"),
)  # fmt: skip


def parse(lines: Sequence[str]) -> Reports | Unparsed:
    written = [line.rstrip() for line in lines if line.strip() and not _HEAD.match(line)]
    found = [(row, line) for line in written if (row := _ROW.match(line[:300]))]
    if not found:
        return refused("fmdump -e", next(iter(lines), ""))
    stray = tuple(line for line in written if not _ROW.match(line[:300]))
    return Reports(tuple(Report(row["name"].partition(".")[2], line) for row, line in found), stray)


def _kind(name: str) -> tuple[str, Severity, str]:
    return next((kind[1:] for kind in _KINDS if kind[0].match(name)), ("unexplained", "watch", "reports of a class that is not known here"))


def situations(value: Reports, where: Where) -> tuple[Situation, ...]:
    """One for each kind: how many there are, and of which classes."""
    by_kind: dict[tuple[str, Severity, str], list[Report]] = {}
    for report in value.reports:
        by_kind.setdefault(_kind(report.name), []).append(report)
    return tuple(_situation(*kind, reports, where) for kind, reports in by_kind.items() if kind[0])


def _situation(slug: str, severity: Severity, words: str, reports: Sequence[Report], where: Where) -> Situation:
    classes = ", ".join(f"{name} ({count})" for name, count in Counter(report.name for report in reports).most_common(6))
    return Situation(
        slug, f"{slug}:{where.node}:fmdump", where.node, severity,
        f"The fault manager has {plural(len(reports), 'report')} of {words}",
        f"They are of the class {classes}. Such a line names no disk and no device: `fmdump -eV` shows devid, device path and serial number of each, `fmadm faulty` what was diagnosed from them, and "
        "`iostat -En` and `zpool status -P -p` how the disks are now. Many of them in one moment, of several disks, have one cause: a cable, an expander, the HBA or power.",
        where.evidence(*[report.line for report in reports][:4]),
        subject={"node": where.node, "source": "fmdump_errors", "text": classes[:200]},
        sure=False,
    )  # fmt: skip


def notes(value: Reports) -> tuple[str, ...]:
    again = sum(not _kind(report.name)[0] for report in value.reports)
    return (
        *unread(value.stray),
        f"{plural(len(value.reports), 'report')} {'was' if len(value.reports) == 1 else 'were'} read, {again} of them of commands that succeeded when they were tried again. "
        "That there is none of a disk says nothing of its health.",
    )


def _is_sure(lines: Sequence[str], i: int) -> bool:
    """Whether rows without a year stand below the heading: those of `zpool events` have one."""
    return _ROW.match(lines[i][:300]) is not None or any(_ROW.match(line[:300]) for line in lines[i + 1 : i + 3])


READER = Reader(
    name="fmdump_errors",
    first=rf"TIME {{1,30}}CLASS\s*$|{_DATE}ereport\.",
    confirm=_is_sure,
    tools=("fmdump",),
    asks=lambda tool, rest: any(word.startswith("-e") and "V" not in word for word in rest),
    goes_on=rf"TIME {{1,30}}CLASS|{_DATE}ereport\.",
    open_ended=True,
    parse=parse,
    situations=situations,
    silent=lambda value: True,
    notes=notes,
    again="fmdump -eV",
)

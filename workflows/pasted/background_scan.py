"""The background scan of a SAS disk, as `smartctl -l background` and -x tell of it: the disk reads itself when nobody asks for anything."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from workflows.engine.core import Situation
from workflows.pasted.base import Where

_STATUS = re.compile(r" *Status: (scan is active|waiting until BMS interval timer expires|[a-z][^\n]{0,120})$")
_PROGRESS = re.compile(r" *Number of background scans performed: +([0-9]{1,10}),\s+scan progress: +([0-9]{1,3}\.[0-9]{1,4})%")
QUIET = ("no scans active", "waiting until BMS interval timer expires")


# What the scan found: sense key, code and qualifier, and what was done about it (scsiPrintBackgroundResults of smartmontools, scsiprint.cpp)
_ROW = re.compile(
    r" {0,8}[0-9]{1,5} {1,6}(?P<hours>[0-9]{1,8}):[0-9]{2} {1,4}(?P<lba>[0-9a-f]{16}) {1,4}\[(?P<key>[0-9a-f]{1,2}),[0-9a-f]{1,2},[0-9a-f]{1,2}\] {1,8}(?P<what>\S.{0,120})"
)
_MENDED = (
    "Recovered via rewrite in-place",
    "Reassigned by app, has valid data",
    "Reassigned by app, no valid data",
    "Successfully reassigned",
    "Reassignment by disk",
)
MEDIUM = "3"


def situations(lines: Sequence[str], where: Where) -> tuple[Situation, ...]:
    return (*_of_lines(lines, where), *_of_rows(lines, where))


def _of_rows(lines: Sequence[str], where: Where) -> Iterator[Situation]:
    """Places that the scan could not read and that nobody wrote since. What the disk mended by itself is no trouble of today."""
    rows = [(row, line) for line in lines if (row := _ROW.match(line[:300]))]
    open_ = [(row, line) for row, line in rows if row.group("key") == MEDIUM and not row.group("what").startswith(_MENDED)]
    if open_:
        first = open_[0][0]
        yield Situation(
            "disk-failing", f"disk-failing:{where.node}:background:{where.source}", where.node, "watch",
            f"The disk's own background scan could not read {len(open_)} places of it",
            f"The background scan lists {len(open_)} medium errors that were not mended, the first at {first.group('hours')} hours of its life, LBA 0x{first.group('lba')} "
            f"({first.group('what').strip()}). ZFS mends a block there when it reads or scrubs it, as long as another copy is whole. More of them with time mean a new disk; "
            "which disk it is, only the whole report of smartctl -x says.",
            where.evidence(*(line for _, line in open_[:6])),
            subject={"node": where.node},
            sure=False,
        )  # fmt: skip


def _of_lines(lines: Sequence[str], where: Where) -> Iterator[Situation]:
    inside, status, line = False, "", ""
    for each in lines:
        inside = inside or "ackground scan results" in each
        found, progress = _STATUS.match(each), _PROGRESS.match(each)
        if inside and found:
            status, line = found.group(1), each
        if inside and progress and status and status not in QUIET:
            active = status == "scan is active"
            yield Situation(
                "background-scan", f"background-scan:{where.node}:{where.source}", where.node, "info" if active else "watch",
                f"The background scan of the disk runs: {progress.group(2)} % of scan {progress.group(1)}" if active else f"The background scan of the disk: {status}",
                f"{'The disk is reading itself (background media scan)' if active else 'Of its background media scan the disk says: ' + status}, "
                f"{progress.group(2)} % of scan {progress.group(1)} is done. It gives way to I/O, and still makes a busy disk slower and a "
                "resilver longer. It can be switched off for that time: sdparm --clear=EN_BMS.",
                where.evidence(line, each),
                subject={"node": where.node},
            )  # fmt: skip

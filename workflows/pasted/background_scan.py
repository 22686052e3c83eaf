"""The background scan of a SAS disk, as `smartctl -l background` and -x tell of it: the disk reads itself when nobody asks for anything."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from workflows.engine.core import Situation
from workflows.pasted.base import Where

_STATUS = re.compile(r" *Status: (scan is active|waiting until BMS interval timer expires|[a-z][^\n]{0,120})$")
_PROGRESS = re.compile(r" *Number of background scans performed: +([0-9]{1,10}),\s+scan progress: +([0-9]{1,3}\.[0-9]{1,4})%")
QUIET = ("no scans active", "waiting until BMS interval timer expires")


def situations(lines: Sequence[str], where: Where) -> tuple[Situation, ...]:
    return tuple(_of_lines(lines, where))


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

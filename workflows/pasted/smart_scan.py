"""`smartctl --scan` and `--scan-open`: which devices smartctl finds, and how to ask each of them.

/dev/sda -d sat # /dev/sda [SAT], ATA device
# /dev/sdf -d scsi # /dev/sdf, SCSI device open failed: No such device
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agents.collectors.base import Unparsed
from workflows.pasted.base import Reader, plural, refused, unread

_FOUND = re.compile(r"/dev/\S{1,80} -d \S{1,40} # /dev/\S{1,80}.{0,60}\bdevice$")
_SHUT = re.compile(r"# /dev/\S{1,80} -d \S{1,40} # (/dev/\S{1,80}?),? .{0,80}")
_NONE = re.compile(r"# scan_smart_devices: ")


@dataclass(frozen=True)
class Scan:
    found: int
    shut: tuple[str, ...]  # what smartctl could not open
    stray: tuple[str, ...]


def parse(lines: Sequence[str]) -> Scan | Unparsed:
    stripped = [line.strip() for line in lines if line.strip()]
    found = [line for line in stripped if _FOUND.match(line)]
    shut = tuple(match.group(1) for line in stripped if (match := _SHUT.match(line)))
    if not any(_FOUND.match(line) or _SHUT.match(line) or _NONE.match(line) for line in stripped):
        return refused("smartctl --scan", stripped[0] if stripped else "")
    return Scan(len(found), shut, tuple(line for line in stripped if not (_FOUND.match(line) or _SHUT.match(line) or _NONE.match(line))))


def notes(value: Scan) -> tuple[str, ...]:
    shut = (f"smartctl could not open {', '.join(value.shut[:8])}.",) if value.shut else ()
    return (
        *unread(value.stray),
        f"It lists {plural(value.found, 'device')} and says nothing of their health; `smartctl -x DEVICE` of each does.",
        *shut,
    )


READER = Reader(
    name="smart_scan",
    first=r"(?:# )?/dev/\S{1,80} -d \S{1,40} # /dev/|# scan_smart_devices: ",
    goes_on=r"(?:# )?/dev/\S{1,80} -d \S|# scan_smart",
    strict=True,
    open_ended=True,
    inside=frozenset(("smart",)),
    parse=parse,
    silent=lambda value: True,
    notes=notes,
    again="smartctl --scan",
)

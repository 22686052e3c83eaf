"""`zpool iostat -r`: how large the requests were, for each kind of I/O, alone (ind) and after ZFS merged neighbours (agg). It says nothing of health.

Layout by OpenZFS cmd/zpool/zpool_main.c (print_iostat_histos, print_histo_header).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agents.collectors.base import Unparsed
from workflows.pasted._rounded import about
from workflows.pasted.base import Reader, plural, refused, unread

KINDS_MIN = 5  # 0.7 has five of two columns each; trim and rebuild came later


@dataclass
class Sizes:
    """Of one pool or vdev: requests as they came, and merged ones."""

    name: str
    alone: float = 0.0
    merged: float = 0.0


@dataclass(frozen=True)
class Requests:
    vdevs: tuple[Sizes, ...]
    unread: tuple[str, ...] = ()


_HEADING = re.compile(r"\s*(\S{1,255}) +sync_read +sync_write +async_read +async_write")
_COLUMNS = re.compile(r"\s*req_size +ind +agg")
_ROW = re.compile(r"\s*[0-9]{1,8}[BKMGTPE]?((?: +(?:-|[0-9]{1,20}(?:\.[0-9]{1,3})?[KMGTPE]?)){10,14})$")
_RULE = re.compile(r" *-{3}[- ]*$")


def parse(lines: Sequence[str]) -> Requests | Unparsed:
    """Every table with its rows; Unparsed without any."""
    found: list[Sizes] = []
    stray: list[str] = []
    for line in filter(str.strip, lines):
        heading, row = _HEADING.match(line), _ROW.match(line)
        if heading:
            found.append(Sizes(heading.group(1)))
        elif row and found:
            counts = [about(cell) or 0.0 for cell in row.group(1).split()]
            found[-1].alone += sum(counts[0::2])
            found[-1].merged += sum(counts[1::2])
        elif not _COLUMNS.match(line) and not _RULE.match(line):
            stray.append(line)
    return Requests(tuple(found), tuple(stray)) if found else refused("zpool iostat -r", lines[0] if lines else "")


def notes(value: Requests) -> tuple[str, ...]:
    slowest = (
        f"{one.name}: about {100 * one.merged / (one.alone + one.merged):.0f} % of its requests to disks are merged ones."
        for one in value.vdevs[:4]
        if one.alone + one.merged
    )
    more = f"It shows the sizes of requests of {plural(len(value.vdevs), 'vdev')} and nothing of health; `zpool iostat -v -l 5 2` shows how long they take."
    return (*unread(value.unread), *slowest, more)


READER = Reader(
    name="zpool_iostat_r",
    first=r"\s*\S{1,255} +sync_read +sync_write +async_read|\s*req_size +ind +agg",
    tools=("zpool",),
    asks=lambda tool, rest: tuple(rest[:1]) == ("iostat",) and any(re.fullmatch(r"-\w*r\w*", word) for word in rest),
    goes_on=r"\s*\S+ +sync_read|\s*req_size|\s*[0-9]+[BKMGTPE]? +(?:-|[0-9])|\s*-{3,}",
    parse=parse,
    silent=lambda value: True,
    notes=notes,
    again="zpool iostat -v -l 5 2",
)

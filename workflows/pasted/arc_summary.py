"""`arc_summary`, whole or one of its parts: how the cache in memory is used. It names no disk and no pool."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agents.collectors.base import Unparsed
from workflows.pasted.base import Reader, refused

_BEGINS = r"\s{0,8}(?:ZFS Subsystem Report|ARC (?:status|Summary|size \(current\)|Size Breakdown|Misc|Total accesses|Efficiency)|L2ARC (?:status|size|summary|Summary)):?\s"
_ROW = re.compile(
    r"\s{0,80}(?P<name>[A-Z(][^\t:]{1,80}?):?\s{1,80}(?P<figure>[0-9][0-9.,:]{0,15} ?%?.{0,60}|HEALTHY|THROTTLED|Yes|No|.{1,30})$"
)
_SIZE = re.compile(
    r"(?i)(?:ARC size \(current\)|(?:Current|ARC) Size|Max size \(high water\)|Max Size \(High Water\)|Target size \(adaptive\))"
)


@dataclass(frozen=True)
class Summary:
    sizes: tuple[str, ...]  # the rows that say how large the cache is, as printed


def parse(lines: Sequence[str]) -> Summary | Unparsed:
    rows = [found for line in lines if (found := _ROW.match(line.rstrip()[:300]))]
    if not rows:
        return refused("arc_summary", next(iter(lines), ""))
    return Summary(
        tuple(f"{row.group('name')}: {' '.join(row.group('figure').split())}" for row in rows if _SIZE.search(row.group("name")))
    )


def notes(value: Summary) -> tuple[str, ...]:
    return (
        *((f"It says: {'; '.join(value.sizes)}.",) if value.sizes else ()),
        "It tells of memory and of no disk; `zpool status -P -p` shows how the pools are.",
    )


READER = Reader(
    name="arc_summary",
    first=f"{_BEGINS}|\\s{{0,8}}ARC (?:Summary|Misc|Size Breakdown):",
    tools=("arc_summary", "arc_summary.py", "arc_summary3"),
    goes_on=r"\s|-{5,}|(?:ARC|L2ARC|DMU|ZFS|VDEV|Spl|Solaris|File-Level|ZIL|Cache|Dataset|Tunables|Anonymous|Demand|Prefetch|DBUF|dbuf)\b",
    open_ended=True,
    parse=parse,
    silent=lambda value: True,
    notes=notes,
    again="arc_summary",
)

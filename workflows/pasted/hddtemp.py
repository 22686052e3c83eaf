"""`hddtemp`: the temperature of each disk, one a line, or the one line that its daemon answers with on port 7634.

/dev/sda: WDC WD40EFRX-68WT0N0: 38°C
|/dev/sda|WDC WD40EFRX-68WT0N0|38|C||/dev/sdb|WDC WD40EFRX-68WT0N0|SLP|*|

It knows no limit of a disk; the one of `workflows.facts.read.thresholds` counts. That a disk is cool says nothing of its health.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agents.collectors.base import Unparsed
from workflows.engine.core import Situation
from workflows.pasted import _conditions
from workflows.pasted._conditions import Counters
from workflows.pasted.base import Reader, Where, plural, refused

_LINE = re.compile(
    r"\s{0,4}(?P<device>/dev/[\w/.-]{2,80}): {1,4}(?P<model>\S.{1,60}?): {1,4}(?:(?P<degrees>-?[0-9]{1,3}) ?°? ?(?P<unit>[CF])\b|drive is sleeping|no sensor|drive supported, but it doesn't have a temperature sensor)"
)
_DAEMON = re.compile(
    r"\|(?P<device>/dev/[\w/.-]{2,80})\|(?P<model>[^|]{1,60})\|(?P<degrees>-?[0-9]{1,3}|SLP|NA|UNK|NOS|ERR)\|(?P<unit>[CF*])\|"
)


@dataclass(frozen=True)
class Heat:
    disks: tuple[Counters, ...]


def parse(lines: Sequence[str]) -> Heat | Unparsed:
    found = tuple(_disk(row) for line in lines for row in (*_DAEMON.finditer(line[:8000]), *filter(None, (_LINE.match(line[:300]),))))
    return Heat(found) if found else refused("hddtemp", next(iter(lines), ""))


def _disk(row: re.Match[str]) -> Counters:
    disk, degrees = Counters(row["device"], row["model"].strip()), row["degrees"] or ""
    if degrees.lstrip("-").isdecimal():
        disk.temperature = int(degrees) if row["unit"] == "C" else round((int(degrees) - 32) * 5 / 9)
        disk.lines.append(row.group().strip())
    return disk


def situations(value: Heat, where: Where) -> tuple[Situation, ...]:
    return _conditions.situations(value.disks, where, "hddtemp's line")


READER = Reader(
    name="hddtemp",
    first=rf"{re.sub(r'[?]P<[a-z]+>', '?:', _LINE.pattern)}|{re.sub(r'[?]P<[a-z]+>', '?:', _DAEMON.pattern)}",
    tools=("hddtemp",),
    goes_on=r"\s{0,4}/dev/[\w/.-]{2,80}: |\|/dev/|WARNING: Drive ",
    strict=True,
    open_ended=True,
    parse=parse,
    situations=situations,
    silent=lambda value: True,
    notes=lambda value: (
        f"The temperature of {plural(len(value.disks), 'disk')} was asked, and nothing else of them; `smartctl -x DEVICE` shows how a disk is.",
    ),
    again="smartctl -x DEVICE",
)

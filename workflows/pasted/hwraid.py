"""`megaclisas-status`, `megaraidsas-status`, `sas2ircu-status` and the others of their kind: what a RAID controller tells, as rows with bars.

    -- ID   | Type | Size | Status
    c0u0    | RAID-1 | 931G | Optimal

A heading begins with two dashes and names the columns of the rows below it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from agents.collectors.base import Unparsed
from workflows.engine.core import Situation
from workflows.pasted import _drives, _volumes, megacli, sas_ircu
from workflows.pasted._drives import Drive, State
from workflows.pasted._volumes import Listed, Part, Volume
from workflows.pasted.base import Reader, Where, refused, whole

STATES: Mapping[str, State] = {**megacli.STATES, **sas_ircu.STATES, "ready": _drives.GOOD, "rebuilding": megacli.STATES["rebuild"]}
BATTERY_WELL = frozenset(("good", "n/a", "absent", "optimal", "ok"))
_TITLE = re.compile(r"-- (?:Controller|Array|Disk)s? info(?:rmation)?s?(?: *--)?$")
_HEADING = re.compile(r"-- ID +\|.*")
_ROW = re.compile(r"[ac]([0-9]{1,3})(?:(?:e[0-9]{1,4}s|u[0-9]{1,4}(?:s[0-9]{1,3})?p|d|u|p)[0-9?]{1,4}){0,2} *\|.*")
_MEDIA = re.compile(r"\bmedia: ?([0-9]{1,9})")
_EXPLAINED = re.compile(r"(.{1,80}?) ?\(([A-Z]{2,5})\)$")  # sas2ircu says a state in words and letters

_DONE = re.compile(r"([A-Za-z ]{1,40}?) ?\([0-9.]{1,6} ?%\)")


def parse(lines: Sequence[str]) -> Listed | Unparsed:
    names: list[str] = []
    drives: list[Drive] = []
    volumes: list[Volume] = []
    parts: list[Part] = []
    stray: list[str] = []
    for line in filter(None, map(str.strip, lines)):
        if _TITLE.match(line):
            names = []
        elif _HEADING.match(line):
            names = _cells(line.removeprefix("--").lower())
        elif names and _ROW.match(line) and len(cells := _cells(line)) <= len(names) + 1:
            row = dict(zip(names, cells, strict=False))
            if "model" in row or "drive model" in row:
                drives.append(_drive(row, line))
            elif "status" in row:
                volumes.append(Volume(row["id"], _volumes.state(row["status"]), line))
            elif "bbu" in row:
                parts.append(_battery(row, line))
        else:
            stray.append(line)
    if not names and not (drives or volumes or parts):
        return refused("megaclisas-status", lines[0] if lines else "")
    return Listed(tuple(drives), tuple(volumes), tuple(parts), tuple(stray))


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.split("|")]


def _drive(row: Mapping[str, str], line: str) -> Drive:
    place, warned = row.get("slot id", "").strip("[]") or row["id"], row.get("warnings", "")
    enclosure, _, slot = place.partition(":")
    media = _MEDIA.search(warned)
    return Drive(
        place, enclosure if enclosure.isdigit() else None, whole(slot), _state(row.get("status")), row.get("drive model") or row.get("model"),
        media_errors=whole(media.group(1)) if media else None, predicted=1 if "predict" in warned else None, lines=(line,),
    )  # fmt: skip


def _state(printed: str | None) -> str | None:
    """The state in words: "Optimal (OPT)" is Optimal, "Online, Spun Up" is Online, and "Rebuilding (67%)" is Rebuilding."""
    found = _EXPLAINED.fullmatch(printed or "") or _DONE.fullmatch(printed or "")
    return (found.group(1) if found else printed or "").partition(",")[0] or None


def _battery(row: Mapping[str, str], line: str) -> Part:
    well = row["bbu"].lower() in BATTERY_WELL
    return Part("battery", () if well else (f"it says {row['bbu'] or 'nothing'}",), (line,))


def situations(value: Listed, where: Where) -> tuple[Situation, ...]:
    return _volumes.judged(value, STATES, where, "The RAID controller")


READER = Reader(
    name="hwraid",
    first=_TITLE.pattern + "|" + r"-- ID +\| +(?:Type|Model|H/W Model)\b.*",
    tools=("megaclisas-status", "megaraidsas-status", "sas2ircu-status", "aacraid-status"),
    goes_on=r"-- |" + _ROW.pattern,
    strict=True,
    open_ended=True,
    parse=parse,
    situations=situations,
    silent=_volumes.is_silent,
    doubt=lambda value: _drives.doubt(value.drives, "smartctl -x -d megaraid,N"),
    notes=_volumes.notes_of,
    again="megaclisas-status",
)

"""`tw_cli`: units, ports, battery and log of a 3ware controller, as tables and in detail."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from agents.collectors.base import Unparsed
from workflows.engine.core import Situation
from workflows.pasted import _drives, _volumes
from workflows.pasted._drives import GOOD, Drive, State, busy, lost
from workflows.pasted._volumes import Part, Volume
from workflows.pasted.base import Reader, Where, refused, unread, whole

EMPTY = "not-present"  # a port without a drive
STATES = {  # the last words of a port: each is that the controller gives up on the drive, or doubts it
    "ok": GOOD,
    "verifying": GOOD,
    "verify-paused": GOOD,
    "initializing": busy("it is being initialised by the controller"),
    "init-paused": busy("it is being initialised by the controller, which has paused"),
    "rebuilding": busy("it is being rebuilt by the controller"),
    "rebuild-paused": busy("it is being rebuilt by the controller, which has paused"),
    "migrating": busy("its unit is being migrated by the controller"),
    "migrate-paused": busy("its unit is being migrated by the controller, which has paused"),
    "degraded": lost("the controller has taken it out of its unit"),
    "drive-removed": lost("it was removed"),
    "device-error": lost("it answers with errors"),
    "not-supported": lost("the controller does not support it"),
    "offline-jbod": lost("it is offline"),
    "smart-failure": State("ill", "it predicts its failure"),
    "smart-error": State("ill", "it predicts its failure"),
    "ecc-error": State("ill", "it has sectors that could not be read during a rebuild"),
}
UNIT_WORKS: Mapping[str, str] = {"verifying": "ok", "verify-paused": "ok", "init-paused": "initializing", "rebuild-paused": "rebuilding", "migrate-paused": "migrating", "recovery": "rebuilding", "inoperable": "dead"}  # in the words of `_volumes`  # fmt: skip
BATTERY_WELL = frozenset(("ok", "-", "charging", "testing", "learning"))
_UNIT = re.compile(r"(u[0-9]{1,3}(?:-[0-9]{1,3}){0,2}) +(RAID-[0-9]{1,2}|JBOD|SINGLE|Single|SPARE|Spare|DISK|CBOD) +(\S{1,40})(?: |$)")
_PORT = re.compile(r"p([0-9]{1,3}) +([A-Z][A-Z-]{1,30}) +(u[0-9]{1,3}|-) +(?:([0-9.]{1,10} [KMGTP]B)|-) +(\S.{0,160})$")
_DETAIL = re.compile(
    r"/c([0-9]{1,2})/p([0-9]{1,3}) (Status|Model|Serial|Reallocated Sectors|Drive Smart Health|Temperature) = (\S.{0,120})$"
)
_BATTERY = re.compile(r"bbu[0-9]? +(\S{1,20}) +(\S{1,20}) +(\S{1,20}) +(\S{1,20}) +(\S{1,20}) ")
_ROW = re.compile(r"c[0-9]{1,2} +\S{1,40} +[0-9]{1,4} +[0-9]{1,4} +[0-9]{1,4} +([0-9]{1,4}) +[0-9-]{1,4} +[0-9-]{1,4}(?: +(\S{1,20}))?$")
_ALARM = re.compile(r"c[0-9]{1,2} +\[[^\]]{10,40}\] +(ERROR|WARNING) +(\S.{0,200})$")
_KNOWN = re.compile(
    r"Unit +UnitType|V?Port +Status|Ctl +(?:Model|Date)|Name +OnlineState|-{5,}$|/c[0-9]|Encl|c[0-9]{1,2} +\[[^\]]{10,40}\] +INFO|/?(?:[a-z]+[0-9]{1,3}|bbu)(?: |$)|//\S+> ?"
)
SHOWN_MAX = 4


@dataclass(frozen=True)
class Controller:
    drives: tuple[Drive, ...]
    volumes: tuple[Volume, ...] = ()
    parts: tuple[Part, ...] = ()
    alarms: tuple[tuple[str, str], ...] = ()  # (severity and text, line)
    not_optimal: tuple[str, ...] = ()  # the row of each controller that counts such units
    unread: tuple[str, ...] = ()


def parse(lines: Sequence[str]) -> Controller | Unparsed:
    stripped = [line.strip() for line in lines if line.strip()]
    drives = {drive.place: drive for line in stripped if (drive := _drive(line)) is not None}
    drives |= {drive.place: drive for drive in _detailed(stripped)}
    volumes = tuple(
        _volume(found[1], found[2], found[3], line) for line in stripped if (found := _UNIT.match(line)) and found.group(2) != "DISK"
    )
    parts = tuple(part for line in stripped if (part := _part(line)) is not None)
    alarms = tuple((f"{found.group(1)}: {found.group(2)}", line) for line in stripped if (found := _ALARM.match(line)))
    rows = [(found, line) for line in stripped if (found := _ROW.match(line))]
    if not (drives or volumes or parts or alarms or rows):
        return refused("tw_cli", stripped[0] if stripped else "")
    stray = tuple(line for line in stripped if not (_KNOWN.match(line) or _PORT.match(line) or _UNIT.match(line)))
    present = tuple(drive for drive in drives.values() if (drive.state or "").lower() != EMPTY)
    return Controller(present, volumes, parts, alarms, tuple(line for found, line in rows if found.group(1) != "0"), stray)


def _drive(line: str) -> Drive | None:
    """A row of the ports. What stands behind the size is the serial number in one form of the table and the model in the other."""
    found = _PORT.match(line)
    if found is None:
        return None
    number, state, _, _, rest = found.groups()
    words = rest.split()
    by_model = words[0] in ("SAS", "SATA")
    model = " ".join(words[3:]) if by_model else None
    serial = words[-1] if not by_model and len(words) == 2 else None
    return Drive(f"port {number}", None, None, state, model or None, serial, lines=(line,))


def _detailed(lines: Sequence[str]) -> Iterator[Drive]:
    """`tw_cli /c0/p1 show all`: one value a line."""
    each: dict[str, dict[str, str]] = {}
    kept: dict[str, list[str]] = {}
    for line in lines:
        found = _DETAIL.match(line)
        if found:
            _, port, name, value = found.groups()
            each.setdefault(port, {})[name] = value
            kept.setdefault(port, []).append(line)
    for port, answer in each.items():
        alert = answer.get("Drive Smart Health", "").upper() not in ("", "OK")
        moved = whole(answer.get("Reallocated Sectors"))
        yield Drive(
            f"port {port}", None, None, answer.get("Status"), answer.get("Model"), answer.get("Serial"),
            media_errors=moved, smart_alert=alert, lines=tuple(kept[port]),
        )  # fmt: skip


def _volume(unit: str, kind: str, state: str, line: str) -> Volume:
    return Volume(f"{unit} ({kind})", UNIT_WORKS.get(state.lower(), state), line)


def _part(line: str) -> Part | None:
    found = _BATTERY.match(f"{line} ")
    if found is None:
        return None
    online, ready, *more = found.groups()
    reasons = [f"it says {word}" for word in more if word.lower() not in BATTERY_WELL]
    reasons += [f"it is not {name}" for name, word in (("switched on", online), ("ready", ready)) if word.lower() in ("no", "off")]
    return Part("battery", tuple(reasons), (line,))


def situations(value: Controller, where: Where) -> tuple[Situation, ...]:
    found = (*_drives.judged(value.drives, STATES, where, "The 3ware controller"), *_volumes.situations(value.volumes, value.parts, where))
    return (*found, *_counted(value, where), *_alarms(value, where))


def _counted(value: Controller, where: Where) -> Iterator[Situation]:
    """What the list of controllers counts, where the units themselves were not pasted."""
    if value.not_optimal and not value.volumes:
        yield Situation(
            "hba-fault", f"hba-fault:{where.node}:tw_cli", where.node, "act", "The 3ware controller counts units that are not well",
            "In its list of controllers the number below NotOpt is not 0. Which unit it is, and which drive of it, stands in `tw_cli /c0 show`.",
            where.evidence(*value.not_optimal), subject={"node": where.node},
        )  # fmt: skip


def _alarms(value: Controller, where: Where) -> Iterator[Situation]:
    if value.alarms:
        words = "; ".join(text for text, _ in value.alarms[-SHOWN_MAX:])
        yield Situation(
            "hba-fault", f"hba-fault:{where.node}:tw_cli:alarms", where.node, "watch", f"The 3ware controller has logged: {value.alarms[-1][0]}",
            f"Its log holds {len(value.alarms)} errors and warnings, the last ones: {words}. A port that is named again and again is a drive, its cable or its slot.",
            where.evidence(*(line for _, line in value.alarms[-SHOWN_MAX:])), subject={"node": where.node}, sure=False,
        )  # fmt: skip


def notes(value: Controller) -> tuple[str, ...]:
    of_drives = _drives.notes(value.drives) if value.drives else ("It shows no drive; `tw_cli /c0 show` does.",)
    return (*unread(value.unread), *of_drives, *_volumes.notes(value.volumes, value.parts))


READER = Reader(
    name="tw_cli",
    first=r" *(?:Unit +UnitType +Status|V?Port +Status +Unit|Ctl +Model +\(V\)Ports|Ctl +Date +Severity|Name +OnlineState +BBUReady|/c[0-9]{1,2}(?:/p[0-9]{1,3})? [A-Z][\w ()]{2,40} = )",
    tools=("tw_cli", "tw_cli64", "tw-cli"),
    goes_on=r" *(?:Unit +UnitType|V?Port +Status|Ctl +|Name +OnlineState|[upc][0-9]|bbu|-{5,}|/c[0-9])",
    open_ended=True,
    parse=parse,
    situations=situations,
    silent=lambda value: not (value.drives or value.volumes),
    notes=notes,
    again="tw_cli /c0 show",
)

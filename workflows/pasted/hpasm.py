"""HP's `hpasmcli -s "show powersupply; show fans; show temp"` and `hplog -p -f -t`: power supplies, fans and temperatures of a ProLiant.

Power supply #1
        Present  : Yes
        Redundant: No
        Condition: FAILED

A part that is Ok is never good for a disk: the tool knows of no disk. A place that is empty is no trouble; that redundancy is lost says a supply that is there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from agents.collectors.base import Unparsed
from workflows.engine.core import Severity, Situation
from workflows.pasted.base import Reader, Where, pairs, plural, refused

_SUPPLY = re.compile(r"\s{0,8}Power supply #(?P<number>[0-9]{1,2})\s*$")
_FIELD = re.compile(r"\s{1,16}(?:Present|Redundant|Condition|Hotplug|Power|Power Supply not present)\b")
_FAN = re.compile(
    r"\s{0,8}#(?P<number>[0-9]{1,2}) {1,8}(?P<place>[\w#/-]{1,30}?) {0,12}(?P<there>Yes|No|N/A|FAILED) {1,8}(?P<speed>[A-Z/-]{1,8}) {1,8}(?P<share>FAILED|N/A|-|[0-9]{1,3}%) "
)
_HEAT = re.compile(
    r"\s{0,8}#(?P<number>[0-9]{1,2}) {1,12}(?P<place>[\w#/-]{1,30}) {1,20}(?P<now>-?[0-9]{1,3})C/ ?-?[0-9]{1,3}F {1,8}(?P<most>[0-9]{1,3})C/ ?[0-9]{1,3}F"
)
_LOGGED = re.compile(
    r"\s{0,8}(?P<number>[0-9]{1,2}) {2,8}(?P<kind>[A-Z][A-Za-z. ]{2,18}?) {2,12}(?P<place>\S.{2,24}?) {1,12}(?P<state>Normal|Failed|Degraded|Absent|Nominal|Caution|Critical|Offline|Other|Unknown)\b"
)
_HEADING = r"\s{0,8}(?:ID {2,8}TYPE {2,12}LOCATION|Fan {1,8}Location|Sensor {1,8}Location)"
_RULE = r"\s{0,8}-{2,6} {1,8}-{4}"  # below a heading; other tables have the like
_STATES: dict[str, Severity] = {"failed": "act", "degraded": "act", "critical": "act", "offline": "act", "caution": "watch"}
_FINE = frozenset(("ok", "normal", "nominal", "absent", ""))


@dataclass
class Part:
    """A power supply, a fan, or a sensor of temperature. `state` is as printed."""

    name: str
    state: str
    lines: list[str] = field(default_factory=list)
    there: bool = True
    redundant: bool = True


@dataclass(frozen=True)
class Parts:
    parts: tuple[Part, ...]


def parse(lines: Sequence[str]) -> Parts | Unparsed:
    parts: list[Part] = []
    for line in lines:
        supply = _SUPPLY.match(line[:80])
        if supply:
            parts.append(Part(f"Power supply {supply['number']}", "", [line.strip()]))
        elif parts and parts[-1].name.startswith("Power supply") and _FIELD.match(line[:120]):
            _take(parts[-1], line)
        elif (row := _row(line[:200])) is not None:
            parts.append(row)
    return Parts(tuple(parts)) if parts else refused("hpasmcli", next(iter(lines), ""))


def _take(part: Part, line: str) -> None:
    name, value = pairs(line) or (line.strip(), "")
    if name == "Condition":
        part.state = value
        part.lines.append(line.strip())
    elif name == "Present":
        part.there = value.lower() != "no"
    elif name == "Redundant":
        part.redundant = value.lower() != "no"
    elif name == "Power Supply not present":
        part.there = False


def _row(line: str) -> Part | None:
    if fan := _FAN.match(line):
        failed = "FAILED" in (fan["there"], fan["speed"], fan["share"])
        return Part(f"Fan {fan['number']} ({fan['place']})", "FAILED" if failed else "Ok", [line.strip()], there=fan["there"] != "No")
    if heat := _HEAT.match(line):
        hot = int(heat["now"]) >= int(heat["most"]) > 0
        state = f"{heat['now']} °C, and its threshold is {heat['most']} °C" if hot else "Ok"
        return Part(f"Temperature sensor {heat['number']} ({heat['place']})", state, [line.strip()])
    if logged := _LOGGED.match(line):
        return Part(f"{logged['kind'].strip()} {logged['number']} ({logged['place'].strip()})", logged["state"], [line.strip()])
    return None


def situations(value: Parts, where: Where) -> tuple[Situation, ...]:
    return tuple(found for part in value.parts for found in _of(part, where))


def _of(part: Part, where: Where) -> Iterator[Situation]:
    state = part.state.lower()
    if not part.there or state in _FINE:
        return
    severity: Severity = "act" if "°C" in part.state else _STATES.get(state, "watch")
    alone = (
        " The tool says that the power supplies are not redundant: what is left carries the machine alone." if not part.redundant else ""
    )
    yield Situation(
        "enclosure-fault", f"enclosure-fault:{where.node}:hpasm:{part.name}", where.node, severity,
        f"{part.name}: {part.state}",
        f"The machine's own management says of {part.name}: {part.state}.{alone} Look at the part and its cable at the machine, and at `hplog -v` or `ipmitool sel elist` for when it "
        "began. No disk is at fault for it.",
        where.evidence(*part.lines),
        subject={"node": where.node, "sensor": part.name, "text": part.state}, sure=False,
    )  # fmt: skip


def notes(value: Parts) -> tuple[str, ...]:
    away = [part.name for part in value.parts if not part.there]
    empty = (f"{', '.join(away[:6])}: the place is empty; whether a part was taken out of it, the tool does not say.",) if away else ()
    return (f"{plural(len(value.parts), 'part')} of the machine {'was' if len(value.parts) == 1 else 'were'} read, and no disk.", *empty)


def _plain(form: re.Pattern[str]) -> str:
    return re.sub(r"[?]P<[a-z]+>", "?:", form.pattern)


READER = Reader(
    name="hpasm",
    first=rf"{_plain(_SUPPLY)}|{_HEADING}|{_plain(_HEAT)}|{_plain(_FAN)}",
    tools=("hpasmcli", "hplog"),
    asks=lambda tool, rest: "-v" not in rest,
    goes_on=rf"{_plain(_SUPPLY)}|{_FIELD.pattern}|{_HEADING}|{_RULE}|{_plain(_HEAT)}|{_plain(_FAN)}|{_plain(_LOGGED)}|hpasmcli>",
    strict=True,
    open_ended=True,
    parse=parse,
    situations=situations,
    silent=lambda value: True,
    notes=notes,
    again='hpasmcli -s "show powersupply; show fans; show temp"',
)

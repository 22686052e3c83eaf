"""What shows that a machine has no power and gets none by itself: texts of a management controller or of a power strip, or a scan at the rack.

A person pastes them. The portal holds no password of a management controller and asks none for anything.

    ipmitool chassis status, mc watchdog get, fru print     power, what switches it on by itself, serial numbers
    redfish ComputerSystem, as JSON                         the same
    APC olStatus, Raritan show outlets, snmpget             outlets; how many feeds the machine has, and which it is, a person adds
    a scan at the rack                                      chassis: SERIAL and the word unplugged
    date -u                                                 when a text was taken

Formats: ipmitool lib/ipmi_chassis.c (ipmi_chassis_power_status, ipmi_chassis_status), lib/ipmi_mc.c (ipmi_mc_get_watchdog), lib/ipmi_fru.c; DMTF
DSP0268 ComputerSystem; APC PowerNet-MIB sPDUOutletCtl, rPDUOutletStatusOutletState, rPDU2OutletSwitchedStatusState. A line that is not known
says nothing. Lines that contradict each other make what they are about not known. Of a text only the lines that were understood are kept.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from workflows.facts.unknown import Known, Unknown

NEVER_BY_ITSELF, ANY = "always-off", "any"
SERIAL_KINDS = ("chassis", "product", "board", ANY)
CONTROLLER, OUTLETS, SCAN = "a management controller", "outlets of a power strip", "a scan at the rack"
_SECRET = re.compile(r"(?:^|\s)(?:-[PcAX]\s*\S|-u\s*\S{1,200}:\S)|IPMI_PASSWORD=\S|[Aa]uthorization:", re.MULTILINE)
_STATED = (
    ("power", re.compile(r"(?:Chassis Power is|System Power *:) *(\S{1,20})")),
    ("policy", re.compile(r"Power Restore Policy *: *(\S{1,40})")),
    ("watchdog", re.compile(r"Watchdog Timer Is: *(\S.{0,40})")),
    ("scanned", re.compile(r"(?:[Cc]hassis|CHASSIS) *: *(\S.{0,63})")),
    ("feeds", re.compile(r"(?:[Ff]eeds|FEEDS) *: *([0-9]{1,2})")),
    ("unplugged", re.compile(r"(?:all power cords )?([Uu]nplugged|UNPLUGGED)")),
    ("outlet", re.compile(r"(?:Outlet )?[0-9]{1,2}: (?:.{0,60}: )?(On|Off)\*?")),
)
_FRU = re.compile(r"FRU Device Description *: .{0,80}\(ID ([0-9]{1,3})\)")
_SERIAL = re.compile(r"(Chassis|Product|Board) Serial *: *(\S.{0,63})")
_RARITAN, _STATE = re.compile(r"Outlet [0-9]{1,2}(?: - .{1,80})?:"), re.compile(r"Power state: *(\S{1,20})")
_SNMP = re.compile(r"(\S{3,80})\.[0-9]{1,3} = INTEGER: (?:[A-Za-z]{1,40}\()?([0-9]{1,9})\)?")
_OUTLETS = (  # the object, by name or by its number, and the value that means off
    (("sPDUOutletCtl", "318.1.1.4.4.2.1.3"), "2"),
    (("rPDUOutletStatusOutletState", "318.1.1.12.3.5.1.1.4"), "2"),
    (("rPDU2OutletSwitchedStatusState", "318.1.1.26.9.2.3.1.5"), "1"),
)
_STAMPS = (
    "%Y-%m-%dT%H:%M:%SZ",
    "%a %b %d %H:%M:%S UTC %Y",
    "%a %b %d %I:%M:%S %p UTC %Y",
    "%a %d %b %Y %H:%M:%S UTC",
    "%a %d %b %Y %I:%M:%S %p UTC",
    "Date: %a, %d %b %Y %H:%M:%S GMT",
    "date: %a, %d %b %Y %H:%M:%S GMT",
)
_STAMP_CHARS_MAX = 40


@dataclass(frozen=True)
class Fencing:
    """What the texts state of one machine."""

    off: Known[bool]
    stays_off: Known[bool]  # whether nothing that is known of here switches it on by itself
    serials: Mapping[str, frozenset[str]]  # "chassis", "product", "board", as printed; ANY where it is not stated which it is
    taken_at: Known[float]  # Unix seconds, of the oldest stamp in it
    by: str = ""  # CONTROLLER, OUTLETS or SCAN
    lines: tuple[str, ...] = ()  # those that were understood


@dataclass(frozen=True)
class _Line:
    """One thing that a text states, and the line it was read from."""

    what: str
    value: str
    line: str


class _Lines(dict[str, tuple[_Line, ...]]):
    """By what they state."""

    def __missing__(self, what: str) -> tuple[_Line, ...]:
        return ()

    def values_of(self, what: str) -> set[str]:
        return {one.value for one in self[what]}


def holds_a_secret(text: str) -> bool:
    """Whether a command line with a password or a community name seems to be pasted along."""
    return _SECRET.search(text) is not None


def read(text: str, now: float) -> Fencing:
    """What a person pasted or scanned at `now`, which counts for a scan alone: a text must carry its own time."""
    found = (*_json(text), *_lines(text.splitlines()))
    by = _Lines({what: tuple(one for one in found if one.what == what) for what in {one.what for one in found}})
    means, off = _off(by)
    serials = {kind: frozenset(by.values_of(kind)) for kind in SERIAL_KINDS if by.values_of(kind)}
    lines = tuple(dict.fromkeys(one.line for one in found))
    return Fencing(off, _stays_off(by, means), serials, _taken(by, means, now), means, lines)


def _off(by: _Lines) -> tuple[str, Known[bool]]:
    """By what it is known, and whether the machine has no power."""
    states = {value.lower() for value in by.values_of("power") | by.values_of("outlet")}
    if len(states) > 1 or (states and by["unplugged"] and states != {"off"}):
        return "", Unknown(
            f"It states of its power: {', '.join(sorted(states))}. Paste what is about this machine alone, once all of it is off."
        )
    if by["unplugged"] and by[ANY]:
        return SCAN, True
    if by["power"]:
        return CONTROLLER, states == {"off"} if states <= {"on", "off"} else Unknown(f"It states of its power: {', '.join(states)}.")
    if by["outlet"]:
        return OUTLETS, _of_outlets(by, states == {"off"})
    return "", Unknown(
        "It does not state that the machine has no power. Paste `ipmitool chassis status`, the ComputerSystem of redfish, or the outlets; or scan the "
        "serial number at the rack, as `chassis: SERIAL`, and write `unplugged` below it once no power cord is plugged in."
    )


def _of_outlets(by: _Lines, off: bool) -> Known[bool]:
    feeds = by.values_of("feeds")
    if len(feeds) != 1:
        return Unknown("Add how many power cords the machine has, as `feeds: 2`: each of them hangs on an outlet.")
    shown = len({one.line for one in by["outlet"]})
    if shown < int(*feeds) or feeds == {"0"}:
        return Unknown(
            f"The machine has {int(*feeds)} power cords, and {shown} different outlets are shown. Paste all that it hangs on; where two strips print the same "
            "number and name, unplug the machine and scan it instead."
        )
    return off


def _stays_off(by: _Lines, means: str) -> Known[bool]:
    """Without power at its cords nothing switches it on. A controller has to be set never to, and its watchdog must not run."""
    if means != CONTROLLER:
        return True
    policies, watchdogs = by.values_of("policy"), by.values_of("watchdog")
    if not policies:
        return Unknown(
            "What it does when power returns is not stated. Paste `ipmitool chassis status`, which has the Power Restore Policy."
        )
    if policies != {NEVER_BY_ITSELF}:
        return False
    if not watchdogs:
        return Unknown("Whether its watchdog runs, which may power-cycle it, is not stated. Paste `ipmitool mc watchdog get` too.")
    return watchdogs == {"Stopped"}


def _taken(by: _Lines, means: str, now: float) -> Known[float]:
    stamps = [float(value) for value in by.values_of("at")]
    if stamps:
        return min(stamps)
    return now if means == SCAN else Unknown("It does not state when it was taken. Run `date -u` with the command, and paste both.")


def _lines(lines: Sequence[str]) -> Iterator[_Line]:
    outlet, device = "", "0"
    for line in map(str.strip, lines):
        stated = next(((what, found[1].strip()) for what, pattern in _STATED if (found := pattern.fullmatch(line))), None)
        if found := _FRU.fullmatch(line):
            device = found[1]
        elif (found := _SERIAL.fullmatch(line)) and device == "0":  # the others are of power supplies, disks and cards
            yield _Line(found[1].lower(), found[2].strip(), line)
        elif stated:
            what, value = stated
            yield _Line(ANY if what == "scanned" else what, value, line)
        elif _RARITAN.fullmatch(line):
            outlet = line
        elif outlet and (found := _STATE.fullmatch(line)):
            yield _Line("outlet", found[1], f"{outlet} {line}")
            outlet = ""
        elif found := _SNMP.fullmatch(line):
            yield from _of_snmp(found[1], found[2], line)
        elif (at := _stamp(line)) is not None:
            yield _Line("at", str(at), line)


def _of_snmp(name: str, value: str, line: str) -> Iterator[_Line]:
    for names, off in _OUTLETS:
        if name.endswith(names):
            yield _Line("outlet", "off" if value == off else "on", line)


def _stamp(line: str) -> float | None:
    text = " ".join(line.split()) if len(line) <= _STAMP_CHARS_MAX else ""
    for form in _STAMPS:
        try:
            return datetime.strptime(text, form).replace(tzinfo=UTC).timestamp()
        except ValueError:
            continue  # not in this form; the next one is tried, and a line in none of them is no time
    return None


def _json(text: str) -> Iterator[_Line]:
    """Of every JSON object in the text that a redfish service may have printed."""
    decoder, place = json.JSONDecoder(), text.find("{")
    while place >= 0:
        try:
            value, end = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            return  # what is cut off or no JSON states nothing
        yield from _of_redfish(value)
        place = text.find("{", end)


def _of_redfish(value: Any) -> Iterator[_Line]:
    fields = value if isinstance(value, dict) else {}
    kind = "chassis" if str(fields.get("@odata.type", "")).startswith("#Chassis.") else ANY
    policies = {"AlwaysOff": NEVER_BY_ITSELF, "AlwaysOn": "always-on", "LastState": "previous"}
    for name, what in (("PowerState", "power"), ("SerialNumber", kind), ("PowerRestorePolicy", "policy")):
        text = fields.get(name)
        if isinstance(text, str) and text.strip():
            yield _Line(what, policies.get(text, text) if what == "policy" else text.strip(), f'"{name}": "{text.strip()}"')
    if "PowerState" in fields:
        timer = fields.get("HostWatchdogTimer")
        enabled = timer.get("FunctionEnabled") if isinstance(timer, dict) else False  # the schema leaves it out where there is none
        yield _Line(
            "watchdog", "Stopped" if enabled is False else "Started", f'"HostWatchdogTimer": "FunctionEnabled": {json.dumps(enabled)}'
        )

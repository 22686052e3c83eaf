"""`ipmitool sdr get NAME`, `sensor get NAME` and `sdr -v`: each sensor of a BMC as a record of several lines.

Sensor ID              : PS2 Status (0x51)
 Sensor Type (Discrete): Power Supply (0x08)
 States Asserted       : Power Supply
                         [Presence detected]
                         [Power Supply AC lost]
 Assertions Enabled    : Power Supply
                         [Failure detected]

What is asserted counts, and never what can be (`Assertions Enabled`): ipmitool lib/ipmi_sensor.c and ipmi_sdr.c. Judged as the rows of `ipmitool sdr` are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from agents.collectors.base import Unparsed
from workflows.pasted import ipmi_sensors
from workflows.pasted.base import Reader, pairs, refused
from workflows.pasted.ipmi_sensors import Sensor, Sensors

_ID = re.compile(r"\s{0,4}Sensor ID {1,20}: (?P<name>\S.{0,60}?) \(0x[0-9a-fA-F]{1,2}\)\s*$")
_STATE = re.compile(r"\s{0,60}\[(?P<words>[^\[\]]{2,80})\]\s*$")
_NOW = ("States Asserted", "Assertion Events")
_STATES = (("non-recoverable", "nr"), ("non-critical", "nc"), ("critical", "cr"))


def parse(lines: Sequence[str]) -> Sensors | Unparsed:
    found = tuple(_sensors(lines))
    return Sensors(found) if found else refused("ipmitool sensor get", next(iter(lines), ""))


def _sensors(lines: Sequence[str]) -> Iterator[Sensor]:
    record: list[str] = []
    for line in (*lines, "Sensor ID : end (0x0)"):
        if _ID.match(line[:120]) and record:
            yield _sensor(record)
            record = []
        if record or _ID.match(line[:120]):
            record.append(line[:200])


def _sensor(record: Sequence[str]) -> Sensor:
    named = _ID.match(record[0])
    kind, state, name, asserted, bearing = "", "", "", [], ""
    for line in record[1:]:
        if now := _STATE.match(line):
            if name in _NOW:
                asserted.append(now["words"])
                bearing = line.strip()
            continue
        name, value = pairs(line) or ("", "")
        if name.startswith("Sensor Type"):
            kind = re.sub(r" \(0x[0-9a-fA-F]{1,2}\)$", "", value)
        elif name == "Status":
            state = _state(value)
            bearing = line.strip() if state not in ("", "ok") else bearing
        elif name == "Sensor Reading" and "(+/-" in value:
            asserted.insert(0, value)
    return Sensor(named["name"] if named else "", kind, state, ", ".join(dict.fromkeys(asserted)), f"{record[0].strip()} {bearing}".strip())


def _state(value: str) -> str:
    """The short word for a state that ipmitool writes out: "Lower Non-Critical" is nc."""
    return next((short for word, short in _STATES if word in value.lower()), value.strip().lower())


READER = Reader(
    name="ipmi_records",
    first=rf"Locating sensor record|{re.sub(r'[?]P<[a-z]+>', '?:', _ID.pattern)}",
    tools=("ipmitool",),
    asks=lambda tool, rest: ("sdr" in rest or "sensor" in rest) and ("get" in rest or "-v" in rest),
    goes_on=rf"Locating sensor record|{re.sub(r'[?]P<[a-z]+>', '?:', _ID.pattern)}|\s{{1,4}}[A-Z][\w ()/#-]{{1,30}}: |{_STATE.pattern.replace('?P<words>', '?:')}|\s{{1,4}}[A-Z][\w ()/-]{{2,30}}:$",
    open_ended=True,
    inside=frozenset(("machine_events", "notices", "statements")),
    parse=parse,
    situations=ipmi_sensors.situations,
    silent=lambda value: True,
    notes=ipmi_sensors.notes,
    again="ipmitool sdr elist",
)

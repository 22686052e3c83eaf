"""Rows of `ipmitool sdr`, `sdr elist`, `sensor` and of FreeIPMI's `ipmi-sensors`: each sensor of a machine, as its BMC sees it now.

A threshold sensor has a state of its own (ok, nc, cr, nr: ipmitool lib/ipmi_sdr.c); a discrete one says in words what is asserted (IPMI 2.0, tables 42-2 and 42-3).
A state that is ok is never good: a BMC knows of few disks, and of none what it counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agents.collectors.base import Unparsed
from workflows.engine.core import Severity, Situation
from workflows.pasted.base import Reader, Where, plural, refused

_STATES = r"(?:ok|ns|nc|cr|nr|us|lnr|lcr|lnc|unr|ucr|unc)"
_NAME = r"\s{0,8}(?P<name>[^|\s][^|]{0,39})\|"
_ELIST = re.compile(rf"{_NAME} {{0,2}}[0-9A-Fa-f]{{2}}h {{0,2}}\| {{0,2}}(?P<state>{_STATES}) {{0,4}}\| {{0,3}}[0-9]{{1,3}}\.[0-9]{{1,3}} {{0,3}}\|(?P<words>[^|]{{0,200}})$")  # fmt: skip
_SDR = re.compile(rf"{_NAME} {{0,2}}(?P<words>[^|]{{1,60}})\| {{0,2}}(?P<state>{_STATES}) {{0,4}}$")
_SENSOR = re.compile(
    rf"{_NAME} {{0,2}}(?P<words>[^|]{{1,20}})\|[^|]{{1,24}}\| {{0,2}}(?P<state>{_STATES}|na|0x[0-9a-f]{{4}}) {{0,8}}\|(?:[^|]{{1,16}}\|){{4,5}}[^|]{{0,16}}$"
)
_FREE = re.compile(
    r"\s{0,8}[0-9]{1,5} {0,4}\| {0,2}(?P<name>[^|]{1,60}?) {0,40}\| {0,2}(?P<type>[A-Z][^|]{1,40}?) {0,30}\|(?: {0,2}(?P<state>Nominal|Warning|Critical|N/A) {0,8}\|)?"
    r"[^|]{1,20}\|[^|]{1,20}\| {0,2}(?P<words>(?:'|N/A)[^|]{0,200})$"
)
_OLD_FREE = re.compile(
    r"\s{0,8}[0-9]{1,5}: (?P<name>[^(:|]{1,60}) \((?P<type>[A-Z][^()]{1,40})\): [^\[\]]{0,60}(?P<words>(?:\[[^\[\]]{1,60}\]){1,8})$"
)
_COMMAS = re.compile(
    rf"(?P<name>[^,|:;]{{1,40}}),(?:[0-9A-Fa-f]{{2}}h,(?P<state>{_STATES}),[0-9]{{1,3}}\.[0-9]{{1,3}},(?P<words>[^|;]{{0,200}})"
    rf"|(?P<figure>-?[0-9]{{1,9}}(?:\.[0-9]{{1,6}})?,(?:degrees [CF]|RPM|Volts|Watts|Amps|percent|unspecified|CFM)),(?P<grade>{_STATES}))$"
)  # ipmitool -c
_FORMS = (_ELIST, _SENSOR, _SDR, _FREE, _OLD_FREE, _COMMAS)
_NOISE = re.compile(
    r"(?:Unable to send command|Error (?:reading sensor|sending)|Get (?:SDR|Device)|Unable to renew SDR|Sensor data repository|ID +\| Name|Password:|Caching SDR|Cannot (?:read|retrieve) )"
)


@dataclass(frozen=True)
class Sensor:
    """One row. `state` is as its tool writes it, "" where it has none; `words` is its reading, or what it says in words."""

    name: str
    kind: str
    state: str
    words: str
    line: str


@dataclass(frozen=True)
class Sensors:
    sensors: tuple[Sensor, ...]


def parse(lines: Sequence[str]) -> Sensors | Unparsed:
    """Every row that is one; a line that a tool complains in hides none. Unparsed where no line is a row."""
    found = tuple(sensor for line in lines if (sensor := _sensor(line[:400])) is not None)
    return Sensors(found) if found else refused("ipmitool sdr", next(iter(lines), ""))


def _sensor(line: str) -> Sensor | None:
    row = next((match for form in _FORMS if (match := form.match(line.rstrip()))), None)
    if row is None:
        return None
    parts = row.groupdict()
    return Sensor(
        row["name"].strip(),
        (parts.get("type") or "").strip(),
        (parts.get("state") or parts.get("grade") or "").strip(),
        _words(row["name"], (row["words"] or parts.get("figure") or "").strip(), (parts.get("state") or "").strip()),
        line.strip(),
    )


# What the bits of a discrete sensor mean (IPMI 2.0, table 42-3), where its name says of which kind it is: `ipmitool sensor` prints them as 0x0980,
# the lower byte first. Only with the bit of presence: a sensor that knows only "absent" and "present" has its second bit for that.
_BITS: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...] = (
    (re.compile(r"(?i)^(?:PSU?|PWS|Power ?Supply) ?#?[0-9AB]?[ _]?(?:Status)?$"),
     ("Presence detected", "Failure detected", "Predictive failure", "Power Supply AC lost", "AC lost or out-of-range", "AC out-of-range, but present", "Configuration error")),
    (re.compile(r"(?i)^(?:HDD|Drive|Disk|SSD|Bay) ?#?[0-9]{1,3}[ _]?(?:Status)?$"),
     ("Drive Present", "Drive Fault", "Predictive Failure", "Hot Spare", "Parity Check In Progress", "In Critical Array", "In Failed Array", "Rebuild In Progress")),
)  # fmt: skip
_RAW = re.compile(r"0x([0-9a-f]{2})[0-9a-f]{2}$")


def _words(name: str, words: str, state: str) -> str:
    """The words of a sensor; where `ipmitool sensor` prints its bits alone, what they mean."""
    raw = _RAW.match(state)
    names = next((bits for form, bits in _BITS if form.match(name.strip())), ()) if raw else ()
    asserted = int(raw.group(1), 16) if raw else 0
    return ", ".join(text for bit, text in enumerate(names) if asserted >> bit & 1) if names and asserted & 1 else words


_BAD_STATES: dict[str, Severity] = {
    "nc": "watch", "lnc": "watch", "unc": "watch", "Warning": "watch",
    "cr": "act", "nr": "act", "lcr": "act", "lnr": "act", "ucr": "act", "unr": "act", "Critical": "act",
}  # fmt: skip
_BAD_WORDS: tuple[tuple[re.Pattern[str], Severity], ...] = (  # of discrete sensors; the graver first
    (re.compile(r"(?i)drive fault|faulty|failure detected|in failed array|in critical array|rebuild(?:/remap)? aborted|uncorrectable|AC lost|input lost|predictive failure|failed|transition to (?:critical|non-recoverable)|redundancy lost|over-?temperature"), "act"),
    (re.compile(r"(?i)redundancy degraded|non-redundant|insufficient resources|out-of-range|configuration error|transition to non-critical|rebuild(?:/remap)? in progress|correctable ECC|device (?:removed|absent)|limit exceeded|performance lags"), "watch"),
)  # fmt: skip
_DRIVE = re.compile(r"(?i)\b(?:drive|disk|HDD|SSD|NVMe|bay|slot) ?#?[0-9]{0,3}\b|HDD[0-9]|drive slot|backplane")
_HEAT = re.compile(r"(?i)temp")


def situations(value: Sensors, where: Where) -> tuple[Situation, ...]:
    found: dict[str, Situation] = {}
    for situation in (one for sensor in value.sensors for one in _of(sensor, where)):
        found.setdefault(situation.key, situation)
    return tuple(found.values())


def _severity(sensor: Sensor) -> Severity | None:
    by_words = next((severity for form, severity in _BAD_WORDS if form.search(sensor.words)), None)
    return by_words or _BAD_STATES.get(sensor.state)


def _of(sensor: Sensor, where: Where) -> Iterator[Situation]:
    severity = _severity(sensor)
    if severity is None:
        return
    drive = _DRIVE.search(sensor.name) is not None or sensor.kind == "Drive Slot"
    slug = ("disk-hot" if _HEAT.search(sensor.name) else "disk-failing") if drive else "enclosure-fault"
    shown = sensor.state and sensor.state != "ok" and not _RAW.match(sensor.state)
    words = f"{sensor.words}{f' ({sensor.state})' if shown else ''}"
    yield Situation(
        slug, f"{slug}:{where.node}:ipmi:{sensor.name}", where.node, severity,
        f"{sensor.name}: {words}",
        f"The machine's BMC reports of its sensor {sensor.name}: {words}. "
        + ("Which disk sits there the sensor does not say: find it by its serial number, and ask it (smartctl -x) and the pool (`zpool status -P -p`) before anything is taken out."
           if drive else "Look at the part at the machine, and at `ipmitool sel elist` for when it began. No disk is at fault for it."),
        where.evidence(sensor.line),
        subject={"node": where.node, "sensor": sensor.name, "text": words}, sure=False,
    )  # fmt: skip


def notes(value: Sensors) -> tuple[str, ...]:
    raw = sum(_RAW.match(sensor.state) is not None and sensor.words.startswith("0x") for sensor in value.sensors)
    bits = (
        (
            f"{plural(raw, 'sensor')} of them {'shows' if raw == 1 else 'show'} bits alone, which were not judged; `ipmitool sdr elist` says them in words.",
        )
        if raw
        else ()
    )
    return (
        *bits,
        f"{plural(len(value.sensors), 'sensor')} of the machine {'was' if len(value.sensors) == 1 else 'were'} read. A sensor that is ok says nothing of how a disk is: smartctl -x and `zpool status -P -p` do.",
    )


_HEADING = r"ID {1,6}\| Name {1,60}\| Type"
_FIRST = f"{_HEADING}|" + "|".join(f"(?:{re.sub(r'[?]P<[a-z]+>', '?:', form.pattern)})" for form in _FORMS)
READER = Reader(
    name="ipmi_sensors",
    first=_FIRST,
    tools=("ipmitool", "ipmi-sensors"),
    asks=lambda tool, rest: tool == "ipmi-sensors" or "sdr" in rest or "sensor" in rest,
    goes_on=rf"{_FIRST}|{_NOISE.pattern}",
    strict=True,
    open_ended=True,
    inside=frozenset(("machine_events", "notices", "multipath_ll", "nvme", "checks")),
    parse=parse,
    situations=situations,
    silent=lambda value: True,
    notes=notes,
    again="ipmitool sdr elist",
)

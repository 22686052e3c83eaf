"""`storcli` and `perccli`: drives behind a MegaRAID or PERC controller, as tables, in detail, or as JSON (J).

States by the legend that storcli prints below its tables.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from agents.collectors.base import Unparsed
from workflows.engine.core import Situation
from workflows.pasted import _drives, _volumes
from workflows.pasted._drives import GOOD, Drive, busy, lost
from workflows.pasted._volumes import Part
from workflows.pasted.base import NOT_PROSE, Reader, Where, document, refused, whole

STATES = {
    "onln": GOOD,
    "jbod": GOOD,
    "ugood": GOOD,
    "ugunsp": GOOD,
    "ghs": GOOD,
    "dhs": GOOD,
    "conf": GOOD,
    "unconf": GOOD,
    "online": GOOD,  # this and the next ones: the column Status of storcli2
    "good": GOOD,
    "bad": lost("its status is Bad"),
    "offline": lost("its status is Offline"),
    "rebuild": busy("it is being rebuilt by the controller"),
    "degraded": lost("its status is Degraded"),
    "sntze": busy("it is being sanitised"),
    "offln": lost("its state is Offline"),
    "ubad": lost("its state is Unconfigured Bad"),
    "ubunsp": lost("its state is Unconfigured Bad, and it is not supported"),
    "failed": lost("its state is Failed"),
    "f": lost("it holds a foreign configuration: the controller does not use it"),
    "frgn": lost("it holds a foreign configuration: the controller does not use it"),
    "msng": lost("its state is Missing: the controller does not see it"),
    "missing": lost("its state is Missing: the controller does not see it"),
    "rbld": busy("it is being rebuilt by the controller"),
    "cpybck": busy("its content is being copied back"),
    "cbshld": busy("it is shielded for diagnosis during a copyback"),
    "shld": busy("it is shielded for diagnosis"),
    "unsp": lost("it is not supported by the controller"),
    "lkd": lost("it is locked"),
}
VOLUMES = {"optl": "", "pdgd": "partially degraded", "dgrd": "degraded", "ofln": "offline", "rec": "in recovery", "cons": "not consistent"}
CONTROLLER = {"optimal": "", "ok": "", "needs attention": "needs attention", "failed": "has failed", "critical": "is in a critical state"}
_ROW = re.compile(r"([0-9]+|-)?:([0-9]+)\s+([0-9]+)\s+(\S+)\s+(\S+)\s")
_VOLUME = re.compile(r"([0-9]+/[0-9]+)\s+(RAID[0-9]+|Cac\S+)\s+(\S+)\s")
_PART = re.compile(r"((?:CVPM|CVFM|iBBU|BBU|CVCAP|CVM)[0-9A-Za-z-]{0,12}) +([A-Za-z]{2,20}(?: [A-Z][a-z]+)?) (?! *=)")
PART_WELL = frozenset(("optimal", "optl", "learning", "charging", "ready", "ok"))
_PHY = re.compile(r"([0-9]{1,3}) +([0-9]{1,10}) +([0-9]{1,10}) +([0-9]{1,10}) +([0-9]{1,10})")  # of `/cN/pall show phyerrorcounters`
_COUNTED = ("invalid dwords", "running disparity errors", "losses of synchronisation", "phy resets that failed")
_DRIVE = re.compile(r"Drive /c([0-9]+)(?:/e([0-9]+))?/s([0-9]+)\b")
# storcli's name of a figure -> ours
_FIGURES = {
    "Media Error Count": "media_errors",
    "Other Error Count": "other_errors",
    "Predictive Failure Count": "predicted",
    "S.M.A.R.T alert flagged by drive": "smart_alert",
    "Drive Temperature": "temperature",
    "SN": "serial",
    "Serial Number": "serial",
    "Model Number": "model",
    "WWN": "wwid",
    "OS Drive Name": "device",
    "State": "state",
}


@dataclass(frozen=True)
class Controller:
    drives: tuple[Drive, ...]
    volumes: tuple[tuple[str, str, str], ...] = ()  # (place, state, line)
    status: tuple[str, str] | None = None  # (as printed, line)
    failed: str = ""  # why storcli says that the command failed
    parts: tuple[Part, ...] = ()  # battery or CacheVault
    links: tuple[tuple[str, str, str], ...] = ()  # (phy, what it counts in words, line) of each phy of the controller that counts errors


@dataclass
class _Found:
    """What is put together line by line."""

    drives: dict[str, Drive] = field(default_factory=dict)
    volumes: list[tuple[str, str, str]] = field(default_factory=list)
    groups: list[tuple[str, str, str]] = field(default_factory=list)  # of the topology: (drive group, state, line)
    status: tuple[str, str] | None = None
    failed: str = ""
    answered: bool = False  # it ran, whatever it was asked for
    links: list[tuple[str, str, str]] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)
    now: str = ""  # the drive in detail
    has_status: bool = False  # storcli2 prints a column Status behind State, which is what tells

    def drive(self, enclosure: str | None, slot: str) -> Drive:
        place = f"{enclosure or ''}:{slot}"
        return self.drives.setdefault(place, Drive(place, enclosure, whole(slot)))

    def keep(self, drive: Drive, line: str = "", **values: Any) -> None:
        lines = (*drive.lines, line) if line else drive.lines
        self.drives[drive.place] = replace(drive, lines=lines, **{name: value for name, value in values.items() if value is not None})


def parse(lines: Sequence[str]) -> Controller | Unparsed:
    """Every drive; Unparsed where neither a drive, a volume nor a status is told."""
    found = _Found()
    first = next((line for line in lines if line.strip()), "")
    if first.lstrip().startswith("{"):
        try:
            _of_json(document("\n".join(lines)), found, lines)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return Unparsed("the JSON of storcli is not complete", first)
    else:
        for line in lines:
            _take(line.strip(), found)
        found.volumes = found.volumes or found.groups
    if not (found.drives or found.volumes or found.status or found.failed or found.parts or found.answered):
        return refused("storcli", first)
    return Controller(
        tuple(found.drives.values()), tuple(found.volumes), found.status, found.failed, tuple(found.parts), tuple(found.links)
    )


def _take(line: str, found: _Found) -> None:
    row, volume, heading = _ROW.match(f"{line} "), _VOLUME.match(f"{line} "), _DRIVE.match(line)
    name, equals, value = (part.strip() for part in line.partition("="))
    if line.startswith("EID:Slt"):
        found.has_status = line.split()[2:4] == ["State", "Status"]
    elif heading:
        found.now = found.drive(heading.group(2), heading.group(3)).place
    elif row:
        enclosure, slot, _, state, status = row.groups()
        state = status if found.has_status else state
        found.keep(found.drive(None if enclosure in (None, "-") else enclosure, slot), line, state=state, model=_model(line))
    elif member := _TOPOLOGY.match(f"{line} "):
        _of_topology(member, line, found)
    elif volume:
        found.volumes.append((volume.group(1), volume.group(3), line))
    elif part := _PART.match(line):
        found.parts.append(_part(part.group(1), part.group(2), line))
    elif equals and name in _FIGURES and found.now:
        _figure(found, found.drives[found.now], name, value, line)
    elif equals and name == "Controller Status":
        found.status = (value, line)
    elif phy := _PHY.fullmatch(line):
        counts = [f"{count} {words}" for count, words in zip(phy.groups()[1:], _COUNTED, strict=True) if int(count)]
        found.links += [(phy.group(1), ", ".join(counts), line)] if counts else []
    elif equals and name == "Status" and value.lower() == "success":
        found.answered = True
    elif equals and name == "Status" and value.lower().startswith("fail"):
        found.failed = line
    elif equals and name == "Description" and found.failed:
        found.failed = value


# of `/c0 show`: drive group, array, row, enclosure and slot, id, what it is and how it is
_TOPOLOGY = re.compile(
    r" *([0-9]{1,3}) +([0-9]{1,3}|-) +([0-9]{1,3}|-) +(?:([0-9]{0,4}):([0-9]{1,3})|-) +(?:[0-9]{1,5}|-) +(RAID[0-9]{1,2}|DRIVE) +([A-Za-z]{2,6}) "
)


def _of_topology(member: re.Match[str], line: str, found: _Found) -> None:
    """A drive that is not there has no place but its row; a group stands for its volume where the volumes were not pasted."""
    group, array, row, enclosure, slot, what, state = member.groups()
    if what != "DRIVE":
        found.groups += [(group, state, line)] if array == "-" else []
        return
    missing = f"row {row} of drive group {group}"
    drive = found.drive(enclosure or None, slot) if slot else found.drives.setdefault(missing, Drive(missing))
    if drive.state is None:
        found.keep(drive, line, state=state)


def _part(model: str, state: str, line: str) -> Part:
    return Part(f"battery or CacheVault {model}", () if state.lower() in PART_WELL else (f"its state is {state}",), (line,))


def _figure(found: _Found, drive: Drive, name: str, value: str, line: str) -> None:
    field_ = _FIGURES[name]
    if field_ in ("media_errors", "other_errors", "predicted"):
        count = whole(value)
        found.keep(drive, line if count else "", **{field_: count})
    elif field_ == "smart_alert":
        alert = {"yes": True, "no": False}.get(value.lower())
        found.keep(drive, line if alert else "", smart_alert=alert)
    elif field_ == "temperature":
        degrees = re.match(r" *([0-9]{1,3}) ?C", value)
        found.keep(drive, temperature=int(degrees.group(1)) if degrees else None)
    elif field_ == "wwid":
        found.keep(drive, wwid=_drives.wwid(value))
    elif field_ == "device":
        found.keep(drive, device=value.removeprefix("/dev/") if value.startswith("/dev/") else None)
    elif value and value != "N/A":
        found.keep(drive, **{field_: value})


def _model(line: str) -> str | None:
    """Between the sector size and the spun-state letter, where that much of the row is there."""
    found = re.search(r" (?:512B|4 KB|4K[nB]|520B|528B|4096B|512e)\s+(\S(?:.{0,60}\S)?)\s+[UD](?:\s|$)", line)
    return found.group(1) if found else None


def _of_json(fields: Mapping[str, Any], found: _Found, lines: Sequence[str]) -> None:
    for controller in fields["Controllers"]:
        status = controller.get("Command Status", {})
        if str(status.get("Status", "")).lower().startswith("fail"):
            found.failed = str(status.get("Description", "")) or "Failure"
        for name, value in _entries(controller.get("Response Data", {}), 0):
            heading = _DRIVE.match(name)
            if heading:
                found.now = found.drive(heading.group(2), heading.group(3)).place
            if isinstance(value, Mapping) and "EID:Slt" in value:
                enclosure, _, slot = str(value["EID:Slt"]).partition(":")
                where = _line(lines, f'"{value["EID:Slt"]}"')
                drive = found.drive(None if enclosure.strip() in ("", "-") else enclosure.strip(), slot.strip())
                found.keep(drive, where, state=str(value.get("State", "")) or None, model=str(value.get("Model", "")).strip() or None)
            elif isinstance(value, Mapping) and "DG/VD" in value:
                found.volumes.append((str(value["DG/VD"]), str(value.get("State")), _line(lines, f'"{value["DG/VD"]}"')))
            elif isinstance(value, Mapping) and _PART.match(f"{value.get('Model', '')} {value.get('State', '')} "):
                found.parts.append(_part(str(value["Model"]), str(value["State"]), _line(lines, f'"{value["Model"]}"')))
            elif name == "Controller Status":
                found.status = (str(value), _line(lines, '"Controller Status"'))
            elif name in _FIGURES and found.now and not isinstance(value, (Mapping, list)):
                line = next((each.strip() for each in lines if f'"{name}" : {value}' in each or f'"{name}": {value}' in each), "")
                _figure(found, found.drives[found.now], name, str(value).strip(), line)


DEEP = 12


def _entries(value: Any, depth: int) -> Iterator[tuple[str, Any]]:
    """Every key with its value, and every row of a list, in the order of the text."""
    if depth > DEEP:
        return
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield str(name), inner
            yield from _entries(inner, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            yield "", inner
            yield from _entries(inner, depth + 1) if not (isinstance(inner, Mapping) and ("EID:Slt" in inner or "DG/VD" in inner)) else ()


def _line(lines: Sequence[str], words: str) -> str:
    return next((line.strip() for line in lines if words in line), "")


def situations(value: Controller, where: Where) -> tuple[Situation, ...]:
    return (
        *_drives.judged(value.drives, STATES, where, "The RAID controller"),
        *_of_volumes(value, where),
        *_of_controller(value, where),
        *_of_links(value, where),
        *_volumes.situations((), value.parts, where),
    )


def _of_volumes(value: Controller, where: Where) -> Iterator[Situation]:
    for place, state, line in value.volumes:
        means = VOLUMES.get(state.lower())
        if means != "":
            yield Situation(
                "hba-fault" if means else "unexplained", f"hba-volume:{where.node}:{place}", where.node, "act" if means else "watch",
                f"RAID volume {place} of the controller is {means or state}",
                f"The controller says that its volume {place} is {means or state + ', which is not known here'}. ZFS sees it as one disk and cannot "
                "tell which drive behind it is ill. Replace that drive by the controller's tool.",
                where.evidence(line),
                subject={"node": where.node, "volume": place},
            )  # fmt: skip


def _of_links(value: Controller, where: Where) -> Iterator[Situation]:
    for phy, counts, line in value.links:
        yield Situation(
            "phy-errors", f"phy-errors:{where.node}:{where.source}:{phy}", where.node, "watch",
            f"Phy {phy} of the controller counts {counts}",
            f"The controller's own end of that link counts {counts} since it was started. The same small count on every phy of one cable is one event of the past; "
            "a count that grows is a cable, a connector or an expander. Read the counters again after an hour before anything is changed.",
            where.evidence(line), subject={"node": where.node, "phy": phy},
        )  # fmt: skip


def _of_controller(value: Controller, where: Where) -> Iterator[Situation]:
    if value.status is None or CONTROLLER.get(value.status[0].lower()) == "":
        return
    text, line = value.status
    yield Situation(
        "hba-fault", f"hba-fault:{where.node}:controller", where.node, "watch",
        f"The RAID controller says of itself: {text}",
        f"Controller Status is {text}. Read its events (storcli /c0 show events), its battery or CacheVault, and its drives. Every disk behind "
        "it is suspect before one of them is replaced.",
        where.evidence(line),
        subject={"node": where.node},
    )  # fmt: skip


def notes(value: Controller) -> tuple[str, ...]:
    failed = (f"storcli says that the command failed: {value.failed[:120]}",) if value.failed else ()
    return (*failed, *(_drives.notes(value.drives) if value.drives else ("It shows no drive; `storcli /c0/eall/sall show all` does.",)))


def _sure(lines: Sequence[str], i: int) -> bool:
    if lines[i].startswith("{"):
        return '"Controllers"' in "".join(lines[i : i + 4])
    return not lines[i].startswith(("Controller =", "Status =")) or any("Description = " in line for line in lines[i : i + 4])


READER = Reader(
    name="storcli",
    first=r"CLI Version = |Drive Groups = [0-9]|TOPOLOGY :|DG/VD +TYPE +State|VD LIST :|(?:Cachevault|BBU)_Info :|Drive /c[0-9]+(?:/e[0-9]+)?/s[0-9]+ ?(?:-|:|$)|EID:Slt +[DP]ID +State|(?:Controller = [0-9]|Status = (?:Success|Failure))|\{",
    confirm=_sure,
    tools=("storcli", "storcli64", "storcli2", "perccli", "perccli64", "perccli2"),
    asks=lambda tool, rest: any(word.startswith(("/c", "show")) for word in rest),
    open_ended=True,
    goes_on=NOT_PROSE,
    parse=parse,
    situations=situations,
    silent=lambda value: not value.drives or any(drive.state is None or drive.other_errors for drive in value.drives),
    doubt=lambda value: _drives.doubt(value.drives, "storcli /cALL/eALL/sALL show all"),
    notes=notes,
    again="storcli64 /c0/eall/sall show all",
)  # fmt: skip

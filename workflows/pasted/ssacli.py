"""`ssacli`, `hpssacli` and `hpacucli`: drives behind an HPE Smart Array, as a list, with `show status` or `show detail`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agents.collectors.base import Unparsed
from workflows.engine.core import Severity, Situation
from workflows.pasted import _drives
from workflows.pasted._drives import GOOD, Drive, State, busy, lost
from workflows.pasted._sections import Section, sections
from workflows.pasted.base import Reader, Where, refused, whole

STATES = {
    "ok": GOOD,
    "predictive failure": State("ill", "it predicts its failure"),
    "failed": lost("its state is Failed"),
    "offline": lost("its state is Offline"),
    "missing": lost("its state is Missing: the controller does not see it"),
    "not available": lost("its state is Not available"),
    "rebuilding": busy("it is being rebuilt by the controller"),
    "erasing": busy("it is being erased"),
    "erase complete. reenable before using": busy("it was erased and is not enabled"),
}
ILL = {  # fields of a drive whose Status may say OK all the same -> when they tell of trouble
    "SSD Smart Trip Wearout": r"True|Yes",
    "Usage remaining": r"[0-4](?:\.[0-9]{1,3})?%",
    "Last Failure Reason": r"(?!None|N/A|Not )[A-Z]",
    "Predictive Failure": r"True|Yes",
}
_OF_FIELDS = re.compile(rf"OK, (?:{'|'.join(ILL)}): (.{{1,100}})$")
GOOD_VOLUME = "OK"
MEDIA = ("SAS", "SATA", "Solid State SAS", "Solid State SATA", "NVMe", "Parallel SCSI", "OK")  # stand in parentheses behind an array too
_LISTED = re.compile(r"physicaldrive (\S+) \(port [^:]+:box ([^:]+):bay ([0-9]+),([^)]*)\)(?:: (.+))?$")
_VOLUME = re.compile(r"logicaldrive ([0-9]+) \(([^)]*)\)(?:: (.+))?$")
_ARRAY = re.compile(
    r"[Aa]rray ([A-Z]{1,2}) \(([A-Z][A-Za-z ]{2,40})\)$"
)  # how it is stands there only where it is not well, or its kind: "SAS, Unused Space: 0 MB"
_STATUS = re.compile(r"(Controller Status|Cache Status|Battery/Capacitor Status): (.+)$")


_WARNING = re.compile(
    r"(?:WARNING|Warning|ALERT|Alert)(?: - |: )\S|.{0,80}\b(?:predicting failure|predictive failure threshold|has failed|battery failure)\b"
)


_BOX = re.compile(r"\S.{0,80}? at Port \w{1,4}, Box [0-9]{1,3}, ([A-Z][A-Za-z ]{1,40})$")  # an enclosure, as `show config` lists it


@dataclass(frozen=True)
class Controller:
    drives: tuple[Drive, ...]
    volumes: tuple[tuple[str, str, str], ...]  # (number, state, line)
    parts: tuple[tuple[str, str, str], ...]  # ("Cache Status", "OK", line)
    arrays: tuple[tuple[str, str, str], ...] = ()  # those that are not well: ("A", "Failed", line)
    warnings: tuple[str, ...] = ()


def parse(lines: Sequence[str]) -> Controller | Unparsed:
    drives = {drive.place: drive for line in lines if (drive := _listed(line.strip())) is not None}
    for section in sections(lines, r"physicaldrive \S+$"):
        drive = _detailed(section)
        if drive is not None:
            drives[drive.place] = drive
    arrays = tuple((found.group(1), found.group(2), line.strip()) for line in lines if (found := _ARRAY.match(line.strip())))
    volumes = tuple(volume for line in lines if (volume := _volume(line.strip())) is not None)
    parts = tuple((found.group(1), found.group(2), line.strip()) for line in lines if (found := _STATUS.match(line.strip())))
    warnings = tuple(text for text in map(str.strip, lines) if _WARNING.match(text) or ((box := _BOX.match(text)) and box.group(1) != "OK"))
    listed = sum(_ADAPTER.match(line.strip()) is not None for line in lines)
    if not (drives or volumes or parts or arrays or warnings or listed):
        return refused("ssacli", lines[0] if lines else "")
    return Controller(tuple(drives.values()), volumes, parts, tuple(array for array in arrays if array[1] not in MEDIA), warnings)


_ADAPTER = re.compile(r"(?:HPE? |Dynamic )?Smart (?:Array|HBA|RAID) \S.{0,60} in Slot [0-9]{1,2}\b")


def _listed(line: str) -> Drive | None:
    """In the list the state is the last word in the parentheses, but for what says that it is a spare."""
    found = _LISTED.match(line)
    if found is None:
        return None
    place, box, bay, rest, after = found.groups()
    words = [word.strip() for word in rest.split(",")]
    state = after or next((word for word in reversed(words) if word.lower() not in ("spare", "active spare")), None)
    return Drive(place, f"box {box} of port {place.partition(':')[0]}", whole(bay), state, lines=(line,))


def _detailed(section: Section) -> Drive | None:
    place = section.title.rpartition(" ")[2]
    if "Status" not in section.values:
        return None
    device = section.first("Disk Name")
    telling = [name for name in ILL if re.match(ILL[name], section.values.get(name, "-"), re.IGNORECASE)]
    failed = (
        f"{section.first('Status')}, {telling[0]}: {section.values[telling[0]]}"
        if telling and section.first("Status") == "OK"
        else section.first("Status")
    )
    return Drive(
        place, _enclosure(section), whole(section.first("Bay")), failed,
        " ".join((section.first("Model") or "").split()) or None, section.first("Serial Number"), _drives.wwid(section.first("WWID")),
        device.removeprefix("/dev/") if device and device.startswith("/dev/") else None, whole(section.first("Media Error Count", "Media Errors")),
        lines=tuple(section.lines[name] for name in ("Status", *telling, "Media Error Count", "Serial Number") if name in section.lines),
    )  # fmt: skip


def _enclosure(section: Section) -> str:
    """Of a drive that was pulled the port is not printed."""
    port = section.first("Port")
    return f"box {section.first('Box')}" + (f" of port {port}" if port else "")


def _volume(line: str) -> tuple[str, str, str] | None:
    found = _VOLUME.match(line)
    if found is None:
        return None
    state = found.group(3) or found.group(2).rpartition(",")[2].strip()
    return found.group(1), state, line


def situations(value: Controller, where: Where) -> tuple[Situation, ...]:
    states = STATES | {
        drive.state.lower(): State("ill", f"its status is {drive.state}")
        for drive in value.drives
        if drive.state and _OF_FIELDS.match(drive.state)
    }
    return (*_drives.judged(value.drives, states, where, "The RAID controller"), *_others(value, where))


def _others(value: Controller, where: Where) -> Iterator[Situation]:
    for number, state, line in value.volumes:
        if state != GOOD_VOLUME:
            yield _fault(
                f"volume{number}",
                f"RAID volume {number} of the controller: {state}",
                "ZFS sees the volume as one disk.",
                line,
                "act",
                where,
            )
    for name, state, line in value.arrays:
        text = "Its volumes may say that they are well and have lost drives all the same. ZFS sees each volume as one disk."
        yield _fault(f"array{name}", f"RAID array {name} of the controller: {state}", text, line, "act", where)
    for line in value.warnings:
        yield _fault(
            f"warning:{line[:60]}",
            f"The RAID controller warns: {line[:100]}",
            "Of itself it may say OK all the same.",
            line,
            "watch",
            where,
        )
    for name, state, line in value.parts:
        if state not in (GOOD_VOLUME, "Not Configured", "Not Present"):
            text = "Without its cache the controller writes slower; without its battery a power loss may lose what it has acknowledged."
            yield _fault(name, f"{name} of the RAID controller: {state}", text, line, "watch", where)


def _fault(what: str, title: str, text: str, line: str, severity: Severity, where: Where) -> Situation:
    return Situation(
        "hba-fault", f"hba-fault:{where.node}:{what}", where.node, severity, title,
        f"{title}. {text} See `ssacli ctrl all show config detail`.",
        where.evidence(line), subject={"node": where.node},
    )  # fmt: skip


def notes(value: Controller) -> tuple[str, ...]:
    return _drives.notes(value.drives) if value.drives else ("It shows no drive; `ssacli ctrl all show config detail` does.",)


READER = Reader(
    name="ssacli",
    first=r"FIRMWARE UPGRADE REQUIRED: |(?:HPE? |Dynamic )?Smart (?:Array|HBA|RAID) .{0,60} in |MSA[0-9]{3,4} .{0,40} in \S| *physicaldrive \S+(?: \(|$)|(?:HPE|HP) .{0,60} in Slot [0-9]",
    tools=("ssacli", "hpssacli", "hpacucli"),
    asks=lambda tool, rest: "show" in rest,
    goes_on=r" |\S.{0,80}? at Port \w{1,4}, Box [0-9]|[Aa]rray |HBA Drives|logicaldrive |physicaldrive |[Uu]nassigned|Internal |External |Port |SEP |Enclosure |Expander |Smart |HPE? |[A-Z][\w/ ().?-]{2,50}: ",
    open_ended=True,
    parse=parse,
    situations=situations,
    silent=lambda value: not value.drives,
    notes=notes,
    again="ssacli ctrl all show config detail",
)

"""FreeBSD's `mfiutil` and `mrsasutil`: drives, volumes and battery of a MegaRAID controller. States as usr.sbin/mfiutil prints them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agents.collectors.base import Unparsed
from workflows.engine.core import Situation
from workflows.pasted import _drives, _volumes
from workflows.pasted._drives import GOOD, Drive, busy, lost
from workflows.pasted._volumes import Part, Volume
from workflows.pasted.base import Reader, Where, refused, unread, whole

FOREIGN = "(FOREIGN)"
STATES = {
    "online": GOOD,
    "system": GOOD,
    "hot spare": GOOD,
    "unconfigured good": GOOD,
    "unconfigured bad": lost("its state is Unconfigured Bad"),
    "offline": lost("its state is Offline"),
    "failed": lost("its state is Failed"),
    "foreign": lost("it holds a foreign configuration: the controller does not use it"),
    "rebuild": busy("it is being rebuilt by the controller"),
    "copyback": busy("its content is being copied back"),
}
BATTERY_WELL = frozenset(("normal", "CHARGING", "DISCHARGING", "LEARN_CYCLE_ACTIVE"))
_HEADING = re.compile(r"(?:mfi|mrsas)[0-9]{1,2}(?: Physical Drives:| Volumes:| Configuration: |: Battery State:| Adapter:)")
_DRIVE = re.compile(
    r"(?:drive |(?:global|dedicated) spare )?([0-9]{1,4}|E[0-9]{1,4}:S[0-9]{1,3}) \( {0,6}([0-9.]{1,6}[KMGTPE]?)\) ([A-Z][A-Z 0-9x]{2,30}?)( \(FOREIGN\))? {0,30}"
    r"(?:<([^>]{1,80})> (?:SAS|SATA|SCSI|FC|UNKNOWN \S+))?(?: (?:E([0-9]{1,4}):)?S([0-9]{1,3}))?(?: backs:)?$"
)
_MISSING = re.compile(r"drive (?:MISSING|[0-9]{1,5}) {0,4}(MISSING)?$")
_VOLUME = re.compile(
    r"(?:volume )?((?:mfid|mrsasd)?[0-9]{1,3}) \( {0,6}[0-9.]{1,6}[KMGTPE]?\) +(\S{1,12}) +(?:\S{1,6} )?([A-Z]{6,9}(?: [A-Z]{8})?)(?: |$)"
)
_STATUS = re.compile(r"Status: {1,4}([A-Za-z_2][A-Za-z_2, ]{2,120})$")
_HEALTH = re.compile(r"State of Health: (good|bad)$")
_KNOWN = re.compile(r"Id +Size +Level|array [0-9]|volume |drive |[A-Z][\w -]{2,24}: |No activity|Product Name|dedicated |global ")


@dataclass(frozen=True)
class Controller:
    drives: tuple[Drive, ...]
    volumes: tuple[Volume, ...] = ()
    parts: tuple[Part, ...] = ()
    unread: tuple[str, ...] = ()


def parse(lines: Sequence[str]) -> Controller | Unparsed:
    stripped = [line.strip() for line in lines if line.strip()]
    drives = tuple({drive.place: drive for line in stripped if (drive := _drive(line)) is not None}.values())
    volumes = tuple(Volume(found.group(1), found.group(3), line) for line in stripped if (found := _VOLUME.match(line)))
    parts = tuple(part for line in stripped if (part := _part(line)) is not None)
    if not (drives or volumes or parts) and not any(map(_HEADING.match, stripped)):
        return refused("mfiutil", stripped[0] if stripped else "")
    stray = tuple(line for line in stripped if not any(form.match(line) for form in (_HEADING, _DRIVE, _VOLUME, _KNOWN)))
    return Controller(drives, volumes, parts, stray)


def _drive(line: str) -> Drive | None:
    if _MISSING.match(line):
        return Drive("a drive that is not there", state="FAILED", lines=(line,))
    found = _DRIVE.match(line)
    if found is None:
        return None
    number, _, state, foreign, inquiry, enclosure, slot = found.groups()
    words = (inquiry or "").split()
    serial = next((word.removeprefix("serial=") for word in words if word.startswith("serial=")), None)
    model = " ".join(word for word in words if not word.startswith("serial="))
    return Drive(
        f"drive {number}", enclosure, whole(slot), "FOREIGN" if foreign else state.strip(), model or None, serial or None, lines=(line,)
    )


def _part(line: str) -> Part | None:
    """The battery: the words of its status, and its state of health."""
    status, health = _STATUS.match(line), _HEALTH.match(line)
    if status:
        words = [word.strip() for word in status.group(1).split(",")]
        return Part("battery", tuple(f"it says {word}" for word in words if word not in BATTERY_WELL), (line,))
    return Part("battery", ("its state of health is bad",) if health.group(1) == "bad" else (), (line,)) if health else None


def situations(value: Controller, where: Where) -> tuple[Situation, ...]:
    return (*_drives.judged(value.drives, STATES, where, "The RAID controller"), *_volumes.situations(value.volumes, value.parts, where))


def notes(value: Controller) -> tuple[str, ...]:
    of_drives = _drives.notes(value.drives) if value.drives else ("It shows no drive; `mfiutil show drives` does.",)
    return (*unread(value.unread), *of_drives, *_volumes.notes(value.volumes, value.parts))


READER = Reader(
    name="mfiutil",
    first=r"(?:mfi|mrsas)[0-9]{1,2}(?: Physical Drives:| Volumes:| Configuration: [0-9]|: Battery State:)",
    tools=("mfiutil", "mrsasutil"),
    asks=lambda tool, rest: any(word in ("drives", "volumes", "config", "battery") for word in rest),
    goes_on=r" |(?:mfi|mrsas)[0-9]|[0-9]{1,3} \(",
    open_ended=True,
    parse=parse,
    situations=situations,
    silent=lambda value: not (value.drives or value.volumes),
    doubt=lambda value: _drives.doubt(value.drives, "smartctl -x"),
    notes=notes,
    again="mfiutil show drives",
)

"""`megasasctl` and `megactl`: drives, volumes and battery of a MegaRAID controller, in a line each."""

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

STATES = {
    "online": GOOD,
    "ready": GOOD,
    "hotspare": GOOD,
    "unconfigured": GOOD,
    "unconfigured/good": GOOD,
    "unconfigured/bad": lost("its state is Unconfigured(bad)"),
    "failed": lost("its state is Failed"),
    "offline": lost("its state is Offline"),
    "missing": lost("its state is Missing: the controller does not see it"),
    "rebuild": busy("it is being rebuilt by the controller"),
    "copyback": busy("its content is being copied back"),
}
_ADAPTER = re.compile(r"a([0-9]{1,2}) +\S.{0,80}? encl:[0-9]+ +ldrv:[0-9]+(?: +rbld:\S+)?(?: +batt:(\S.{0,60}))?$")
_VOLUME = re.compile(r"(a[0-9]{1,2}d[0-9]{1,3}) +[0-9.]+[KMGTP]iB +RAID +\S+ +[0-9]+x[0-9]+ +([A-Za-z][A-Za-z -]{2,30})$")
_DRIVE = re.compile(
    r"\*?(a[0-9]{1,2}(?:e([0-9]{1,4}|\*))?s([0-9]{1,3}))(?: {1,20}([A-Z][\w.-]{2,20}(?: {1,9}[\w.-]{1,20}){0,3}))? {1,20}[0-9.]{1,8}[KMGTP]iB"
    r"(?: {1,9}(a[0-9]{1,2}d[0-9]{1,3}|[a-z-]{3,12})\+?)?(?: {1,9}([a-z/]{4,20}))?(?: {1,9}errs: {1,9}(.{3,60}))?$"
)
_ERRORS = re.compile(r"(media|other|predict): *([0-9]{1,9})")
_KNOWN = re.compile(r"unconfigured: |hot spares? ?: |row +[0-9]+: |a[0-9]{1,2}(?:e[0-9]+)?s[0-9]+(?: |$)")


@dataclass(frozen=True)
class Controller:
    drives: tuple[Drive, ...]
    volumes: tuple[Volume, ...] = ()
    parts: tuple[Part, ...] = ()
    unread: tuple[str, ...] = ()


def parse(lines: Sequence[str]) -> Controller | Unparsed:
    stripped = [line.strip() for line in lines if line.strip()]
    drives = tuple(drive for line in stripped if (drive := _drive(line)) is not None)
    volumes = tuple(Volume(found.group(1), found.group(2).strip(), line) for line in stripped if (found := _VOLUME.match(line)))
    parts = tuple(_battery(found.group(2), line) for line in stripped if (found := _ADAPTER.match(line)) and found.group(2))
    if not (drives or volumes or parts):
        return refused("megasasctl", stripped[0] if stripped else "")
    stray = tuple(line for line in stripped if not any(form.match(line) for form in (_ADAPTER, _VOLUME, _DRIVE, _KNOWN)))
    return Controller(drives, volumes, parts, stray)


def _battery(text: str, line: str) -> Part:
    """ "good/3935mV/22C", or "FAULT, low voltage/...", in short "batt:good"."""
    word = text.partition("/")[0].strip()
    return Part("battery", () if word in ("good", "none", "charging") else (f"it says {word}",), (line,))


def _drive(line: str) -> Drive | None:
    found = _DRIVE.match(line)
    if found is None:
        return None
    place, enclosure, slot, model, where, state, errors = found.groups()
    counts = {name: int(count) for name, count in _ERRORS.findall(errors or "")}
    shown = state or (where if where and not re.match(r"a[0-9]", where) else None)
    return Drive(
        place, enclosure if enclosure and enclosure.isdigit() else None, whole(slot), shown or "no state", model,
        media_errors=counts.get("media"), predicted=counts.get("predict"), other_errors=counts.get("other"), lines=(line,),
    )  # fmt: skip


def situations(value: Controller, where: Where) -> tuple[Situation, ...]:
    return (*_drives.judged(value.drives, STATES, where, "The RAID controller"), *_volumes.situations(value.volumes, value.parts, where))


def notes(value: Controller) -> tuple[str, ...]:
    of_drives = _drives.notes(value.drives) if value.drives else ("It shows no drive.",)
    return (*unread(value.unread), *of_drives, *_volumes.notes(value.volumes, value.parts))


READER = Reader(
    name="megasasctl",
    first=r"a[0-9]{1,2} +\S.{0,80} encl:[0-9]+ +ldrv:[0-9]+",
    tools=("megasasctl", "megactl", "megasas"),
    goes_on=r"\*?a[0-9]{1,2}|unconfigured: |hot spare|row ",
    open_ended=True,
    parse=parse,
    situations=situations,
    silent=lambda value: not (value.drives or value.volumes),
    doubt=lambda value: _drives.doubt(value.drives, "smartctl -x -d megaraid,N"),
    notes=notes,
    again="megasasctl",
)

"""Areca's `cli64` and `cli32`: drives, RAID sets and volume sets, as tables and in detail."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agents.collectors.base import Unparsed
from workflows.engine.core import Situation
from workflows.pasted import _drives, _volumes
from workflows.pasted._drives import GOOD, Drive, State, lost
from workflows.pasted._sections import sections
from workflows.pasted._volumes import Volume
from workflows.pasted.base import Reader, Where, refused, unread, whole

STATES = {  # of a drive in detail, and what the list prints as its use where it has none; a RAID set's name says only where it belongs
    "normal": GOOD,
    "hotspare": GOOD,
    "free": GOOD,
    "pass through": GOOD,
    "jbod": GOOD,
    "failed": lost("its state is Failed"),
    "offline": lost("its state is Offline"),
    "removed": lost("it was removed"),
    "incomplete": lost("its RAID set is incomplete"),
    "unsupported": lost("the controller does not support it"),
    "smart warning": State("ill", "it predicts its failure"),
}
LISTED = ("failed", "offline", "removed", "unsupported")  # what the list says of a drive instead of where it belongs
VOLUMES = {"normal": "ok", "checking": "verifying", "incompleted": "missing", "incomplete": "missing", "need rebuild": "degraded", "need_init": "initializing"}  # in the words of `_volumes`  # fmt: skip
_SLOT = re.compile(r"([0-9]{1,3}) +([0-9]{1,3}) +(?:Slot[ #] ?([0-9]{1,3}) +)?(\S.{0,60}?) +([0-9.]{1,10}[KMGTP]B) +(\S.{0,40})$")
_SET = re.compile(r"([0-9]{1,3}) +(\S.{0,40}?) +([0-9]{1,3}) +[0-9.]{1,10}[KMGTP]B +[0-9.]{1,10}[KMGTP]B +\S{1,40} +([A-Z]\S.{0,30})$")
_VOLUME = re.compile(
    r"([0-9]{1,3}) +(\S.{0,60}?) +(?:Raid\S{1,10}|JBOD|Pass\S{0,20}) +[0-9.]{1,10}[KMGTP]B +[0-9]{1,2}/[0-9]{1,2}/[0-9]{1,2} +([A-Z]\S.{0,30})$"
)
_KNOWN = re.compile(r"#|={5,}|GuiErrMsg<0x00>|(?:Drive|Raid ?Set|Volume ?Set) Information")
_MEMBER = "member"


@dataclass(frozen=True)
class Controller:
    drives: tuple[Drive, ...]
    volumes: tuple[Volume, ...] = ()
    unread: tuple[str, ...] = ()
    listed: bool = False  # the list of drives names where each belongs, and not how it is


def parse(lines: Sequence[str]) -> Controller | Unparsed:
    stripped = [line.strip() for line in lines if line.strip()]
    detailed = tuple(_detailed(stripped))
    if detailed:
        return Controller(detailed)
    volumes = tuple(
        _volume(found.group(2), found.groups()[-1], line) for line in stripped if (found := _SET.match(line) or _VOLUME.match(line))
    )
    drives = tuple(drive for line in stripped if (drive := _drive(line)) is not None)
    stray = tuple(line for line in stripped if not (_KNOWN.match(line) or _SLOT.match(line) or _SET.match(line) or _VOLUME.match(line)))
    if not (volumes or drives or any(map(_SLOT.match, stripped))):
        return refused("cli64", stripped[0] if stripped else "")
    return Controller(drives, volumes, stray, bool(drives))


def _drive(line: str) -> Drive | None:
    """A slot with a drive in it."""
    found = _SLOT.match(line)
    if found is None or found.group(4) == "N.A." or _SET.match(line):
        return None
    _, place, slot, model, _, use = found.groups()
    state = use.strip() if use.strip().lower() in LISTED else None
    return Drive(
        f"{place}:{slot}" if slot else f"channel {place}", place if slot else None, whole(slot or place), state, model, lines=(line,)
    )


def _detailed(lines: Sequence[str]) -> list[Drive]:
    """`cli64 disk info drv=N`."""
    found = []
    for section in sections(lines, r"Drive Information"):
        if "Device State" not in section.values:
            continue
        place = section.first("Device Location", "IDE Channel", "SCSI Channel") or "?"
        slot = re.search(r"Slot[ #]?([0-9]{1,3})", place)
        media = whole(section.first("Media Error Count"))
        counted = ("Media Error Count", "Timeout Count")
        found.append(
            Drive(
                place, None, whole(slot.group(1)) if slot else whole(place), section.first("Device State"), section.first("Model Name"),
                section.first("Serial Number"), media_errors=media, other_errors=whole(section.first("Timeout Count")),
                lines=tuple(section.lines[name] for name in ("Device State", *counted) if name in section.lines),
            )
        )  # fmt: skip
    return found


def _volume(name: str, state: str, line: str) -> Volume:
    word = _volumes.state(state) or ""
    return Volume(name, VOLUMES.get(word.lower(), word), line)


def situations(value: Controller, where: Where) -> tuple[Situation, ...]:
    return (*_drives.judged(value.drives, STATES, where, "The Areca controller"), *_volumes.situations(value.volumes, (), where))


def notes(value: Controller) -> tuple[str, ...]:
    listed = (
        ("The list says where each drive belongs, and not how it is; `cli64 disk info drv=N` and `cli64 rsf info` do.",)
        if value.listed
        else ()
    )
    of_drives = _drives.notes(value.drives) if value.drives else ()
    return (*unread(value.unread), *of_drives, *listed, *_volumes.notes(value.volumes, ()))


READER = Reader(
    name="areca",
    first=r" *# +(?:Enc# +Slot# +|Ch# +)?(?:ModelName|Name) .*(?:Usage|State) *$|Drive Information *$",
    confirm=lambda lines, i: any(line.startswith("=====") for line in lines[i + 1 : i + 3]),
    tools=("cli64", "cli32", "areca-cli"),
    asks=lambda tool, rest: "info" in rest,
    goes_on=r" *#| *[0-9]{1,3} |={5,}|GuiErrMsg|[A-Z][\w .]{2,40} +: ",
    open_ended=True,
    parse=parse,
    situations=situations,
    silent=lambda value: value.listed or not (value.drives or value.volumes),
    notes=notes,
    again="cli64 disk info",
)

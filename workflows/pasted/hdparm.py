"""`hdparm -I` and `-i`: model, serial number, WWN and security state of an ATA disk."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from agents.collectors.base import Unparsed
from workflows.engine.core import Situation
from workflows.pasted import _drives
from workflows.pasted.base import Reader, Sight, Where, refused


@dataclass
class Disk:
    """One disk. `locked` is None where its security section is not there."""

    name: str
    model: str | None = None
    serial: str | None = None
    wwid: str | None = None
    locked: bool | None = None
    lines: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Disks:
    disks: tuple[Disk, ...]


def parse(lines: Sequence[str]) -> Disks | Unparsed:
    found: list[Disk] = []
    for line in lines:
        text = line.strip()
        name = re.match(r"/dev/([a-z0-9]+):$", text)
        if name:
            found.append(Disk(name.group(1)))
        elif found:
            _take(found[-1], text)
    known = tuple(disk for disk in found if disk.model or disk.serial)
    return Disks(known) if known else refused("hdparm -I", lines[0] if lines else "")


def _take(disk: Disk, text: str) -> None:
    name, _, value = (part.strip() for part in text.partition(":"))
    short = re.match(r"Model=([^,]+), FwRev=[^,]*, SerialNo=(\S+)", text)
    if short:
        disk.model, disk.serial = short.group(1).strip(), short.group(2)
    elif name == "Model Number":
        disk.model = value
    elif name == "Serial Number":
        disk.serial = value
    elif name == "Logical Unit WWN Device Identifier":
        disk.wwid = _drives.wwid(value)
    elif re.fullmatch(r"(?:not\s+)?locked", text):
        disk.locked = text == "locked"
        disk.lines.append(text)


def situations(value: Disks, where: Where) -> tuple[Situation, ...]:
    return tuple(_locked(disk, where) for disk in value.disks if disk.locked)


def _locked(disk: Disk, where: Where) -> Situation:
    return Situation(
        "disk-failing", f"disk-locked:{where.node}:{disk.serial or disk.name}", where.node, "act",
        f"{disk.name} is locked by an ATA password",
        f"{disk.name} ({disk.model}, serial {disk.serial}) is locked: it answers and refuses every read and write. It is not broken. It needs its "
        "password (hdparm --security-unlock), or is erased with it.",
        where.evidence(*disk.lines[:1]),
        subject={"node": where.node, "disk": disk.name} | ({"wwid": disk.wwid} if disk.wwid else {}) | ({"serial": disk.serial} if disk.serial else {}),
    )  # fmt: skip


READER = Reader(
    name="hdparm",
    first=r"/dev/[a-z0-9]+:$",
    confirm=lambda lines, i: any(re.match(r"\s*(?:ATA device, with|Model=)", line) for line in lines[i + 1 : i + 4]),
    tools=("hdparm",),
    asks=lambda tool, rest: any(word in ("-I", "-i") for word in rest),
    parse=parse,
    situations=situations,
    notes=lambda value: ("hdparm says which disk it is, and nothing of its health (`smartctl -x` does).",),
    sights=lambda value: tuple(Sight(disk.name, disk.wwid, disk.serial, None, disk.model) for disk in value.disks),
    again="smartctl -x /dev/sdX",
)

"""`camcontrol devlist` and `camcontrol identify` of FreeBSD: which disk is which, with model, serial number and WWN."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from agents.collectors.base import Unparsed
from workflows.pasted import _drives
from workflows.pasted.base import NOT_PROSE, Reader, Sight, refused, unread

_DEVICE = re.compile(r"<([^>]{1,80})> +at (scbus[0-9]+) target ([0-9]+) lun ([0-9a-f]+) \(([a-z0-9,]*)\)")
_IDENTIFY = re.compile(r"(pass[0-9]+|ada[0-9]+|da[0-9]+): <([^>]{1,80})> ")
_FIELD = re.compile(r"(device model|serial number|WWN|firmware revision) {2,}(\S.*)")


@dataclass(frozen=True)
class Device:
    """One device. `disk` is None where only a pass-through device is attached."""

    disk: str | None
    passthrough: str | None
    address: str | None  # "scbus0 target 8 lun 0"
    model: str | None
    serial: str | None
    wwid: str | None
    line: str


@dataclass(frozen=True)
class Devices:
    devices: tuple[Device, ...]
    unread: tuple[str, ...] = ()


def parse(lines: Sequence[str]) -> Devices | Unparsed:
    found: list[Device] = []
    stray: list[str] = []
    for line in filter(str.strip, lines):
        listed, identified, field = _DEVICE.match(line.strip()), _IDENTIFY.match(line), _FIELD.match(line)
        if listed:
            names = listed.group(5).split(",")
            address = f"{listed.group(2)} target {listed.group(3)} lun {listed.group(4)}"
            found.append(
                Device(
                    _first(names, r"a?da[0-9]+|nda[0-9]+"), _first(names, "pass[0-9]+"), address, listed.group(1).strip(), None, None, line
                )
            )
        elif identified:
            found = _identified(found, identified.group(1), identified.group(2), line)
        elif field and found:
            found[-1] = _with(found[-1], field.group(1), field.group(2))
        elif _is_stray(line):
            stray.append(line)
    return Devices(tuple(found), tuple(stray)) if found else refused("camcontrol", lines[0] if lines else "")


def _first(names: Sequence[str], form: str) -> str | None:
    return next((name for name in names if re.fullmatch(form, name)), None)


def _identified(found: list[Device], name: str, model: str, line: str) -> list[Device]:
    """Two lines begin with the device's name; the second tells of its speed."""
    if found and name in (found[-1].passthrough, found[-1].disk) and found[-1].address is None:
        return found
    return [
        *found,
        Device(None if name.startswith("pass") else name, name if name.startswith("pass") else None, None, model, None, None, line),
    ]


def _with(device: Device, name: str, value: str) -> Device:
    if name == "serial number":
        return replace(device, serial=value.strip())
    if name == "WWN":
        return replace(device, wwid=_drives.wwid(value.strip()))
    return replace(device, model=value.strip()) if name == "device model" else device


def _is_stray(line: str) -> bool:
    """Of a device list every line is a device or a bus; of identify there are dozens of lines that are not needed."""
    return line.startswith("<") or (" at scbus" in line and not line.startswith("scbus"))


def sights(value: Devices) -> tuple[Sight, ...]:
    return tuple(Sight(each.disk, each.wwid, each.serial, None, each.model) for each in value.devices if each.disk)


def notes(value: Devices) -> tuple[str, ...]:
    without = [
        each
        for each in value.devices
        if each.address and each.disk is None and not re.search(r"SES|ses|Enclosure|AHCI|Virtual|DVD|CD", each.model or "")
    ]
    alone = (
        (
            f"{', '.join(each.passthrough or '?' for each in without[:8])} have no disk device: enclosures, or disks that the kernel could not attach.",
        )
        if without
        else ()
    )
    return (*unread(value.unread), *alone, "camcontrol lists devices; it says nothing of their health.")


READER = Reader(
    name="camcontrol",
    first=r"<[^>]{1,80}> +at scbus[0-9]+ target|scbus[0-9]+ on \S+ bus [0-9]+:$|(?:pass|a?da)[0-9]+: <[^>]{1,80}> (?!.{0,80}detached)",
    tools=("camcontrol",),
    asks=lambda tool, rest: rest[:1] in (["devlist"], ["identify"], ("devlist",), ("identify",)),
    open_ended=True,
    goes_on=NOT_PROSE,
    parse=parse,
    notes=notes,
    sights=sights,
    again="camcontrol devlist",
)

"""`udevadm info` of disks: the names, serial number and WWID that udev keeps of each. It names disks and says nothing of their health."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from agents.collectors.base import Unparsed
from agents.domain.wwid import normalise
from workflows.pasted.base import Reader, Sight, refused


@dataclass
class Device:
    properties: dict[str, str] = field(default_factory=dict)
    links: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.properties.get("DEVNAME", "").removeprefix("/dev/")

    @property
    def is_named(self) -> bool:
        """Whether the kernel's name stands there, or what tells one disk from another: somebody kept only these lines."""
        return bool(self.name) or any(self.properties.get(key) for key in ("ID_SERIAL", "ID_WWN", "ID_SERIAL_SHORT"))

    @property
    def is_disk(self) -> bool:
        return self.properties.get("DEVTYPE") == "disk" and self.properties.get("SUBSYSTEM", "block") == "block" and bool(self.name)


@dataclass(frozen=True)
class Devices:
    devices: tuple[Device, ...]


_PROPERTY = re.compile(r"(?:E: )?([A-Z][A-Z0-9_]{1,60})=(.{0,2000})$")


def parse(lines: Sequence[str]) -> Devices | Unparsed:
    found: list[Device] = []
    fresh = True
    for line in lines:
        pair = _PROPERTY.match(line.strip())
        if not line.strip() or line.startswith("P: "):
            fresh = True
        if pair and fresh:
            found.append(Device())
            fresh = False
        elif line.startswith("N: "):
            found.append(Device({"DEVNAME": f"/dev/{line[3:].strip()}"}))
            fresh = False
        if pair:
            found[-1].properties.setdefault(pair.group(1), pair.group(2))
    for device in found:
        device.links = [link for link in device.properties.get("DEVLINKS", "").split() if link.startswith("/dev/disk/by-id/")]
    return (
        Devices(tuple(found))
        if any(device.is_named or "ID_FS_TYPE" in device.properties for device in found)
        else refused("udevadm info", next(iter(lines), ""))
    )


def sights(value: Devices) -> Iterator[Sight]:
    for device in value.devices:
        if device.is_disk:
            properties = device.properties
            wwid = next(
                (name for key in ("ID_WWN_WITH_EXTENSION", "ID_WWN", "ID_SERIAL") if (name := normalise(properties.get(key, "")))), None
            )
            serial = properties.get("ID_SCSI_SERIAL") or properties.get("SCSI_IDENT_SERIAL") or properties.get("ID_SERIAL_SHORT")
            yield Sight(device.name, wwid, serial, properties.get("ID_VENDOR"), properties.get("ID_MODEL"))


def notes(value: Devices) -> tuple[str, ...]:
    members = [
        f"{device.name} bears a label of {device.properties['ID_FS_LABEL']}"
        for device in value.devices
        if device.properties.get("ID_FS_TYPE") == "zfs_member" and "ID_FS_LABEL" in device.properties
    ]
    nameless = [
        device.properties.get("ID_SERIAL") or device.properties.get("ID_WWN", "")
        for device in value.devices
        if not device.name and device.is_named
    ]
    without = (f"The kernel's name of {', '.join(nameless[:8])} is not in it, so it is joined with nothing.",) if nameless else ()
    return (*members[:8], *without, "udev names devices; it says nothing of their health.")


READER = Reader(
    name="udevadm",
    first=r"P: /devices/|DEVPATH=/devices/|DEVLINKS=/dev/|E: [A-Z][A-Z0-9_]{1,60}=|(?:ID_SERIAL(?:_SHORT)?|ID_WWN|ID_MODEL|ID_ATA|ID_SCSI(?:_SERIAL)?|ID_VENDOR)=",
    tools=("udevadm",),
    asks=lambda tool, rest: "info" in rest,
    goes_on=r"[PNLSEMRUTDI]: |[A-Z][A-Z0-9_]{1,60}=",
    strict=True,
    parse=parse,
    notes=notes,
    sights=lambda value: tuple(sights(value)),
    links=lambda value: tuple((link, device.name) for device in value.devices for link in device.links),
    again="udevadm info --query=property --name=/dev/sdX",
)  # fmt: skip

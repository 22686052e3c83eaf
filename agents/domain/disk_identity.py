"""How far the identity of a disk can be trusted, and why a write to it is refused where it cannot.

An identity is a form of `wwid` and its scheme says who promises that no other disk has it. What a standard makes unique can still be
given twice by a maker's mistake, so two devices that report one identity are one disk only where the bus has such a thing as a second path.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from agents.domain.wwid import by_id_path, nvme_serial, scheme

STANDARD, SERIAL, NOT = "unique by standard", "by maker and serial number", "not to be trusted"


@dataclass(frozen=True)
class Kind:
    """What one scheme is, in words, and how far it goes."""

    words: str
    trust: str


KINDS = {
    "naa": Kind("WWN (NAA)", STANDARD),
    "eui": Kind("NVMe EUI-64 or NGUID", STANDARD),
    "uuid": Kind("NVMe namespace UUID", STANDARD),
    "nvme": Kind("NVMe model, serial number and namespace", SERIAL),
    "ata": Kind("ATA model and serial number", SERIAL),
    "geom": Kind("serial number, with the name of the logical unit (FreeBSD)", SERIAL),
    "dsk": Kind("WWN, in the name that illumos gives the disk", STANDARD),
    "t10": Kind("T10 vendor identification", NOT),
    "ser": Kind("model and serial number, bus not known", NOT),
}
NAMED_BY = ("naa", "eui", "uuid", "nvme", "ata", "geom", "dsk")  # what a write may name a disk by

_USB = re.compile(r"/(?:usb|umass-sim)[0-9]+/")
# What a hypervisor or a bridge gives where nobody set a serial number, and what makers left in by mistake.
_NO_SERIAL = re.compile(r"QM0000[0-9]|0{0,8}1?23456789(?:0|ABCDEF)?|AA000000[0-9]{1,40}|.{1,3}", re.IGNORECASE)


class Device(Protocol):
    """One kernel device that leads to the disk, as sysfs shows it."""

    @property
    def name(self) -> str: ...
    @property
    def serial(self) -> str | None: ...
    @property
    def folder(self) -> str | None: ...


def kind_of(wwid: str) -> Kind:
    return KINDS.get(scheme(wwid), Kind("no identity", NOT))


def doubt(wwid: str, devices: Sequence[Device]) -> str:
    """Why no write may name this disk, and what to do; "" where one may. `devices` are all that report this identity."""
    names = " and ".join(device.name for device in devices)
    if by_id_path(wwid) is None:
        return f"{names} is known as {wwid} only, which no link names for certain. Choose a disk with a WWN, an EUI or an ATA serial number"
    if any(_USB.search(device.folder or "") for device in devices):
        return (
            f"{names} is behind a USB bridge, which may report the same serial number for every disk. Attach the disk to a SATA, SAS or "
            "NVMe port and have the node look again"
        )
    if scheme(wwid) in ("naa", "dsk"):
        return ""
    if len(devices) > 1 and scheme(wwid) == "geom":
        return (
            f"{names} report one identity, {wwid}: two paths to one disk, which gmultipath would join, or two disks with one serial number. /dev/diskid names one of "
            "them alone, so a command could reach either. Take out one of them, or give the command as your site does, and have the node look again"
        )
    if len(devices) > 1:
        return (
            f"{names} report one identity, {wwid}, so a command could reach either. Take out the one that is not meant, or turn on the "
            "kernel's NVMe multipath if they are two paths to one disk, and have the node look again"
        )
    return "" if kind_of(wwid).trust == STANDARD else _doubt_by_serial(wwid, devices)


def _doubt_by_serial(wwid: str, devices: Sequence[Device]) -> str:
    """The name holds a serial number, so it must be a real one, and the kernel must give the same in a second place."""
    serial = _plain(nvme_serial(wwid) or "" if scheme(wwid) == "nvme" else wwid.rpartition(":")[2])
    for device in devices:
        if _NO_SERIAL.fullmatch(serial) or len(set(serial)) < 2:
            return f"The serial number of {device.name} is {serial!r}, which many disks report. Give the disk a serial number of its own, or choose another one"
        if scheme(wwid) == "geom":
            continue  # GEOM gives the serial number in one place, which is what the name is made of
        if not device.serial:
            return f"sysfs shows no serial number of {device.name} to compare with {wwid}. Rescan the device and have the node look again"
        if not _plain(device.serial).endswith(serial):
            return f"{device.name} reports the serial number {device.serial}, and its name is {wwid}. Rescan the device and have the node look again"
    return ""


def _plain(serial: str) -> str:
    return "_".join(serial.split())

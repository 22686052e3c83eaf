"""A disk of a system without /sys, as its own tools list it: FreeBSD by GEOM (`_geom`), illumos by `diskinfo` and /dev/rdsk (`_illumos`)."""

from __future__ import annotations

from dataclasses import dataclass

FREEBSD, ILLUMOS = "FreeBSD", "illumos"
FREE = ("r0w0e0", "nobody")  # who has it open, as FreeBSD writes it and as `_illumos` does


@dataclass(frozen=True)
class Part:
    """A partition: "da3p2", number 2; a slice: "c0t5000C500A65B207Bd0s0", number 0. `holders`: what is made of it, "eli da3p2.eli"."""

    name: str
    number: int
    size_bytes: int | None
    holders: tuple[str, ...]


@dataclass(frozen=True)
class ListedDisk:
    """One device. "" and None: it was not listed. `labels`: (name below /dev, what it is a name of)."""

    system: str
    name: str
    wwid: str | None = None
    is_there: bool = False  # listed in a way that a disk which was taken away is not
    size_bytes: int | None = None
    sector_bytes: int | None = None
    stripe_bytes: int | None = None
    mode: str = ""  # who has it open: "r1w1e2", "zfs"; one of FREE; "" where that is not known
    ident: str = ""
    descr: str = ""
    rotation: str = ""
    bus: str = ""  # "mpr0", "umass-sim0", "scsi_vhci"; "" of a FreeBSD disk that CAM does not serve
    parts: tuple[Part, ...] = ()
    holders: tuple[str, ...] = ()
    labels: tuple[tuple[str, str], ...] = ()


def device_of(disks: tuple[ListedDisk, ...], path: str) -> str:
    """The disk or partition that a path below /dev names now: "da3p2" of /dev/gpt/tank3; "" where it is neither."""
    name = path[len("/dev/") :] if path.startswith("/dev/") else ""
    for disk in disks:
        if name == disk.name or any(name == part.name for part in disk.parts):
            return name
        if below := next((below for label, below in disk.labels if label == name), ""):
            return below
    return ""

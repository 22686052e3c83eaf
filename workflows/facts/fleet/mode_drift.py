"""Which disks have another mode than most of their like: same vendor, model and firmware. What is right is the site's policy, so the
majority decides, and only where there is one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from workflows.facts.model import DiskFacts, FleetFacts, NodeFacts
from workflows.facts.read.disk_modes import Switch
from workflows.facts.unknown import Known, derived, known, need

LIKE_MIN = 3  # of two that differ, which is right is not known
Kind = tuple[str, str, str]  # vendor, model, firmware
MODES = {"WCE": "write cache", "EN_BMS": "background scan"}


@dataclass(frozen=True)
class Usual:
    """What the disks of one kind have."""

    on: int
    off: int

    @property
    def value(self) -> bool | None:
        """None where no value has more than half, or too few disks have one."""
        if self.on + self.off < LIKE_MIN or self.on == self.off:
            return None
        return self.on > self.off

    @property
    def words(self) -> str:
        most = max(self.on, self.off)
        return f"{most} of {self.on + self.off} disks of its model and firmware have it {'on' if self.on > self.off else 'off'}"


@dataclass(frozen=True)
class Deviation:
    node: NodeFacts
    disk: DiskFacts
    mode: str  # "WCE", "EN_BMS"
    switch: Switch
    usual: Usual

    @property
    def differs(self) -> bool:
        return self.usual.value is not None and self.switch.on != self.usual.value

    @property
    def unsaved(self) -> bool:
        """It becomes another value at the next power cut."""
        return self.switch.saved is not None and self.switch.saved != self.switch.on


@derived
def switch_of(disk: DiskFacts, mode: str) -> Known[Switch]:
    modes = need(disk.modes)
    return modes.write_cache if mode == "WCE" else modes.background_scan


def kind(disk: DiskFacts) -> Kind:
    return disk.vendor, disk.model, disk.firmware


def usual(node: NodeFacts, mode: str) -> dict[Kind, Usual]:
    """What each kind of disk on this node has, as far as its disks report it."""
    by_kind: dict[Kind, list[bool]] = {}
    for disk in node.disks if known(node.disks) else ():
        if known(switch := switch_of(disk, mode)):
            by_kind.setdefault(kind(disk), []).append(switch.on)
    return {alike: Usual(sum(on), len(on) - sum(on)) for alike, on in by_kind.items()}


@derived
def deviation(node: NodeFacts, disk: DiskFacts, mode: str) -> Known[Deviation]:
    switch = need(switch_of(disk, mode), f"The {MODES[mode]} of {' '.join(disk.names)} is not known")
    return Deviation(node, disk, mode, switch, usual(node, mode)[kind(disk)])


def deviations(fleet: FleetFacts) -> Iterator[Deviation]:
    """Every disk that differs from its like, or will after a power cut."""
    for node in fleet.nodes.values():
        most = {mode: usual(node, mode) for mode in MODES}
        values = {mode: {alike: one.value for alike, one in most[mode].items()} for mode in MODES}
        for disk in node.disks if known(node.disks) else ():
            alike = kind(disk)
            for mode in MODES:
                if not known(switch := switch_of(disk, mode)):
                    continue
                if switch.on != values[mode][alike] or (switch.saved is not None and switch.saved != switch.on):
                    found = Deviation(node, disk, mode, switch, most[mode][alike])
                    if found.differs or found.unsaved:
                        yield found

"""How each disk is reached: HBA, expander, port, and what the phys of that way counted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agents.collectors import sas_phys as sas_phys_source
from agents.collectors import sas_topology as sas_topology_source
from agents.collectors.sas_phys import SasPhy
from agents.collectors.sas_topology import SasPort, pci_of, way
from workflows.facts.unknown import Known, Unknown, derived, known, need

if TYPE_CHECKING:
    from workflows.facts.model import DiskFacts
    from workflows.facts.read.sources import Sources

COUNTERS = ("invalid dwords", "disparity errors", "losses of sync", "reset problems")


@dataclass(frozen=True)
class LinkFacts:
    """The way from an HBA to one device of a disk."""

    host: str  # "host6"
    pci: str | None  # "0000:b3:00.0"
    expanders: tuple[str, ...]  # ("expander-6:0",), the nearest to the HBA first
    end: str | None  # "end_device-6:0:12"; None for what is no SAS device

    @property
    def words(self) -> str:
        return " → ".join((f"{self.host} ({self.pci})" if self.pci else self.host, *self.expanders))


@dataclass(frozen=True)
class Growth:
    """How much each counter rose, in the order of COUNTERS, and in how many seconds."""

    counts: tuple[int, int, int, int]
    seconds: float

    @property
    def any(self) -> bool:
        return any(self.counts)

    @property
    def words(self) -> str:
        risen = ", ".join(f"{count} {name}" for count, name in zip(self.counts, COUNTERS, strict=True) if count)
        return f"{risen or 'nothing'} in {self.seconds / 60:.0f} minutes"


@dataclass(frozen=True)
class PhyFacts:
    """One phy on our side of a link, and who is at the other end. Counters count since the phy's last reset."""

    name: str  # "phy-6:0:12"
    owner: str  # "host6" or "expander-6:0"
    port: str | None  # "port-6:0:12"
    lanes: int  # phys of the port; 0 when the port is not known
    far: str | None  # "expander-6:0", "end_device-6:0:12"
    wwid: str | None  # the disk at the other end
    place: str  # "bay 68 of 0x50050cc11ac016e2" when the disk's bay is known, else ""
    counts: Known[tuple[int, int, int, int]]
    rate: str | None  # as printed
    gbit: float | None
    growth: Known[Growth]


@dataclass(frozen=True)
class FabricFacts:
    """The SAS side of a node. `models` names HBAs and expanders: "expander-6:0" -> "SEAGATE EXOS-E 5U84 6020"."""

    phys: tuple[PhyFacts, ...]
    models: Mapping[str, str]
    enclosures: Mapping[str, str]  # expander or end device -> enclosure logical id, as the HBA says


def link_of(folder: str | None) -> Known[LinkFacts]:
    """The path that a device's real path in sysfs shows."""
    steps = way(folder or "")
    if not steps or not steps[0].startswith("host"):
        return Unknown("The kernel does not say which HBA leads to it.")
    end = next((step for step in steps if step.startswith("end_device-")), None)
    return LinkFacts(steps[0], pci_of(folder or ""), tuple(step for step in steps if step.startswith("expander-")), end)


def growth(now: tuple[SasPhy, ...], before: Known[tuple[tuple[SasPhy, ...], float]]) -> dict[str, Known[Growth]]:
    """By phy, how much its counters rose. A counter that fell was reset, and what it counted since is all that is sure."""
    if not known(before):
        return {phy.name: before for phy in now}
    earlier, seconds = {phy.name: phy for phy in before[0]}, before[1]
    return {phy.name: _growth(phy, earlier.get(phy.name), seconds) for phy in now}


def _growth(phy: SasPhy, before: SasPhy | None, seconds: float) -> Known[Growth]:
    if before is None:
        return Unknown(f"{phy.name} was not there before.")
    now, then = _counts(phy), _counts(before)
    if not known(now) or not known(then):
        return Unknown(f"{phy.name} does not give all its counters.")
    a, b, c, d = (count - was if count >= was else count for count, was in zip(now, then, strict=True))
    return Growth((a, b, c, d), seconds)


def _counts(phy: SasPhy) -> Known[tuple[int, int, int, int]]:
    a, b, c, d = phy.counters
    if a is None or b is None or c is None or d is None:
        return Unknown(f"{phy.name} does not give all its counters.")
    return a, b, c, d


@derived
def read_fabric(
    sources: Sources, disks: Known[tuple[DiskFacts, ...]], before: Known[tuple[tuple[SasPhy, ...], float]]
) -> Known[FabricFacts]:
    """The phys with both ends. `before` is the value of `sas_phys` some time ago and how many seconds ago that was."""
    phys, topology = need(sources.read(sas_phys_source)), need(sources.read(sas_topology_source))
    rises, ports = growth(phys, before), {phy: port for port in topology.ports for phy in port.phys}
    at = _by_end(disks if known(disks) else ())
    return FabricFacts(
        tuple(_phy(phy, ports.get(phy.name), at, rises[phy.name]) for phy in phys),
        {f"host{h.number}": h.driver for h in topology.hosts if h.driver} | {d.name: d.model for d in topology.devices if d.model},
        {device.name: device.enclosure_id for device in topology.devices if device.enclosure_id},
    )


def _by_end(disks: Iterable[DiskFacts]) -> dict[str, DiskFacts]:
    return {path.link.end: disk for disk in disks for path in disk.paths if known(path.link) and path.link.end}


def _phy(phy: SasPhy, port: SasPort | None, at: Mapping[str, DiskFacts], rise: Known[Growth]) -> PhyFacts:
    far = port.device if port is not None else None
    disk = at.get(far or "")
    return PhyFacts(
        name=phy.name,
        owner=port.owner if port is not None else owner_of(phy.name),
        port=None if port is None else port.name,
        lanes=0 if port is None else len(port.phys),
        far=far,
        wwid=disk.wwid if disk is not None and known(disk.wwid) else None,
        place=f"bay {disk.bay.slot} of {disk.bay.enclosure_id}" if disk is not None and known(disk.bay) else "",
        counts=_counts(phy),
        rate=phy.rate,
        gbit=phy.gbit,
        growth=rise,
    )


def owner_of(phy: str) -> str:
    """Whose phy it is, by its name: "phy-6:3" is of host6, "phy-6:0:12" of expander-6:0."""
    numbers = phy.removeprefix("phy-").split(":")
    return f"host{numbers[0]}" if len(numbers) == 2 else f"expander-{numbers[0]}:{numbers[1]}"

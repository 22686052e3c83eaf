"""Which bay a disk sits in, by every witness there is, the best first. A bay is where to look, so a contradiction is said aloud.

    1 kernel link   2 the HBA's map   3 the enclosure's own page   4 the driver's log   6 an older look   7 the only bay left

Level 5, a name from vdev_id.conf, names no enclosure and cannot be compared; it is not used.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from agents.collectors import kernel_log as kernel_log_source
from agents.collectors import sas_topology as sas_topology_source
from agents.collectors import ses as ses_source
from agents.collectors.block import BlockDisk
from workflows.facts.model import BayFacts
from workflows.facts.unknown import Known, Unknown, known

if TYPE_CHECKING:
    from workflows.facts.model import DiskFacts
    from workflows.facts.read.sources import Sources

LEVELS = {
    1: "the kernel's link",
    2: "the HBA's own map",
    3: "the enclosure's own page",
    4: "the driver's log",
    6: "an older look",
    7: "the only bay left",
}
LEVEL_LOG, LEVEL_OLD, LEVEL_LEFT = 4, 6, 7

Place = tuple[str, int]  # enclosure logical id, slot


@dataclass(frozen=True)
class BayWitness:
    """One source's word on where a disk sits."""

    level: int
    enclosure_id: str
    slot: int

    @property
    def words(self) -> str:
        return f"{LEVELS[self.level]} says bay {self.slot} of {self.enclosure_id}"


@dataclass(frozen=True)
class Map:
    """SAS port address -> place, for each level that goes by the address."""

    by_address: Mapping[int, Mapping[str, Place]]

    def witnesses(self, addresses: Iterable[str]) -> Iterator[BayWitness]:
        for level, places in sorted(self.by_address.items()):
            found = dict.fromkeys(places[address] for address in addresses if address in places)
            yield from (BayWitness(level, *place) for place in found)


def read_map(sources: Sources) -> Map:
    """What the sources that go by SAS address say. A source that is not there says nothing."""
    return Map({2: _hba(sources), 3: _ses(sources), 4: _log(sources)})


def _hba(sources: Sources) -> dict[str, Place]:
    """The HBA's map. One that gives the same bay to several disks is no map; some drivers say bay 0 for all."""
    topology = sources.read(sas_topology_source)
    devices = topology.devices if known(topology) else ()
    ends: dict[str, Place] = {}
    for d in devices:
        if d.name.startswith("end_device-") and d.address and d.enclosure_id and d.bay is not None:
            ends[d.address] = (d.enclosure_id, d.bay)
    garbage = {enclosure for (enclosure, _), times in Counter(ends.values()).items() if times > 1}
    return {address: place for address, place in ends.items() if place[0] not in garbage}


def _ses(sources: Sources) -> dict[str, Place]:
    shelves = [sources.read(ses_source, key) for key in sources.keys("ses")]
    return {a: (shelf.id, slot.number) for shelf in shelves if known(shelf) for slot in shelf.slots for a in slot.addresses}


def _log(sources: Sources) -> dict[str, Place]:
    """mpt3sas names address and place in two lines, one after the other; the later word counts."""
    log = sources.read(kernel_log_source)
    places: dict[str, Place] = {}
    address = None
    for event in log.events if known(log) else ():
        enclosure, slot = event.field("enclosure"), event.field("slot")
        if event.kind == "place" and address and enclosure and slot:
            places[address] = (enclosure, int(slot))
        address = event.field("sas_address") if event.kind == "target" else None
    return places


def addresses_of(devices: Iterable[BlockDisk]) -> tuple[str, ...]:
    """Every SAS address of a disk's ports that the kernel or the disk itself names."""
    found = [device.sas_address for device in devices if device.sas_address]
    for device in devices:
        found += [f"0x{d.value}" for d in device.designators or () if (d.about, d.kind) == ("port", "naa")]
    return tuple(dict.fromkeys(found))


def witnesses_of(linked: Known[BayFacts], places: Map, addresses: Iterable[str]) -> tuple[BayWitness, ...]:
    """All that is said of one disk, the best first."""
    first = (BayWitness(1, linked.enclosure_id, linked.slot),) if known(linked) else ()
    return (*first, *places.witnesses(addresses))


def settled(linked: Known[BayFacts], witnesses: tuple[BayWitness, ...], bays: Known[tuple[BayFacts, ...]]) -> Known[BayFacts]:
    """The bay by the best witness, and what contradicts it. Two places at the best level are no place."""
    if not witnesses:
        return linked
    best = [witness for witness in witnesses if witness.level == witnesses[0].level]
    if len(best) > 1:
        return Unknown(f"Its bay is not known: {' and '.join(witness.words for witness in best)}.")
    place = (best[0].enclosure_id, best[0].slot)
    others = [witness.words for witness in witnesses if (witness.enclosure_id, witness.slot) != place]
    bay = linked if known(linked) else _bay(best[0], bays)
    return replace(bay, evidence=best[0].level, conflict=", ".join(others))


def _bay(witness: BayWitness, bays: Known[tuple[BayFacts, ...]]) -> BayFacts:
    """The bay as the enclosure driver shows it; without the driver its lights and status are not known."""
    for bay in bays if known(bays) else ():
        if (bay.enclosure_id, bay.slot) == (witness.enclosure_id, witness.slot):
            return bay
    unseen = Unknown("The kernel's enclosure driver does not show this bay.")
    return BayFacts(witness.enclosure_id, "", witness.slot, str(witness.slot), unseen, unseen, unseen, None, witness.level)


def with_only_one_left(disks: tuple[DiskFacts, ...], bays: Known[tuple[BayFacts, ...]]) -> tuple[DiskFacts, ...]:
    """If one SAS disk has no bay, and one occupied bay has no disk, they may belong together. It is a suggestion only."""
    taken = {(d.bay.enclosure_id, d.bay.slot) for d in disks if known(d.bay)}
    occupied = [b for b in bays if known(b.status) and b.status == "OK"] if known(bays) else []
    free = [b for b in occupied if b.device is None and (b.enclosure_id, b.slot) not in taken]
    lost = [d for d in disks if not known(d.bay) and not d.bay_witnesses and any(path.sas_address for path in d.paths)]
    if len(free) != 1 or len(lost) != 1:
        return disks
    witness = BayWitness(LEVEL_LEFT, free[0].enclosure_id, free[0].slot)
    found = replace(lost[0], bay=replace(free[0], evidence=LEVEL_LEFT), bay_witnesses=(witness,))
    return tuple(found if disk is lost[0] else disk for disk in disks)

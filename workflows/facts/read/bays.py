"""Bays: the slots that the kernel's enclosure driver shows, and which device it links to each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from agents.collectors import enclosure as enclosure_source
from agents.collectors import lsscsi as lsscsi_source
from agents.collectors.enclosure import Enclosure, Slot
from agents.collectors.lsscsi import ScsiDevice
from workflows.facts.model import BayFacts
from workflows.facts.read.sources import Sources
from workflows.facts.unknown import Known, Unknown, derived, known, need

KERNEL_LINK = 1  # evidence level; the best there is

T = TypeVar("T")


def read_bays(sources: Sources) -> Known[tuple[BayFacts, ...]]:
    """Every numbered slot once, also when two paths show its enclosure under two names."""
    return sources.once("bays", lambda: _read(sources))


@derived
def _read(sources: Sources) -> Known[tuple[BayFacts, ...]]:
    enclosures = need(sources.read(enclosure_source, if_nothing=()))
    models = _models(sources)
    bays: dict[tuple[str, int], BayFacts] = {}
    for bay in (b for e in enclosures if e.id for b in _bays(e, models.get(e.name, ""))):
        before = bays.get((bay.enclosure_id, bay.slot))
        if before is None or before.device is None:
            bays[bay.enclosure_id, bay.slot] = bay
    return tuple(bays.values())


def _models(sources: Sources) -> dict[str, str]:
    """What each enclosure calls itself, by its H:C:T:L, which is the kernel's name of it."""
    devices = sources.read(lsscsi_source)
    return {
        d.hctl: f"{d.vendor} {d.model} {d.rev}".strip()
        for d in (devices if known(devices) else ())
        if isinstance(d, ScsiDevice) and d.hctl and d.type == "enclosu"
    }


def _bays(enclosure: Enclosure, model: str) -> Iterable[BayFacts]:
    """None of an enclosure that does not say its id: no order could name it."""
    for slot in enclosure.slots:
        if slot.number is not None and enclosure.id:
            yield BayFacts(
                enclosure_id=enclosure.id,
                enclosure=enclosure.name,
                slot=slot.number,
                name=slot.name,
                status=_bit_or_unknown(slot.status, "status", slot),
                locate=_bit_or_unknown(slot.locate, "locate light", slot),
                fault=_bit_or_unknown(slot.fault, "fault light", slot),
                fault_asked=_bit_or_unknown(slot.fault_asked, "fault light", slot),
                device=slot.device,
                evidence=KERNEL_LINK,
                model=model,
            )


def bay_of(bays: Known[tuple[BayFacts, ...]], names: Iterable[str], links: Iterable[str]) -> Known[BayFacts]:
    """The bay of a disk, by the slot that links to one of its devices or by the device's own link to a slot."""
    if not known(bays):
        return bays
    slots, devices = {tuple(link.split("/")[-2:]) for link in links}, set(names)
    found = [bay for bay in bays if bay.device in devices or (bay.enclosure, bay.name) in slots]
    if len(found) == 1:
        return found[0]
    if found:
        return Unknown(f"It is linked to {len(found)} bays: {', '.join(f'{b.enclosure_id}/{b.slot}' for b in found)}.")
    return Unknown("No enclosure names this disk.")


def _bit_or_unknown(value: T | None, what: str, slot: Slot) -> Known[T]:
    return Unknown(f"The {what} of {slot.name} could not be read.") if value is None else value

"""Who says what about a disk on one node: the kernel, udev, the disk itself, its labels and its enclosure, each in the same words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from agents.collectors import enclosure as enclosure_source
from agents.collectors import lsscsi as lsscsi_source
from agents.collectors import smart as smart_source
from agents.collectors.block import BlockDisk
from agents.collectors.lsscsi import ScsiDevice
from agents.collectors.smart import Smart
from agents.collectors.zdb_label import ACTIVE, DESTROYED, EXPORTED
from agents.domain.wwid import is_unit_of, normalise, scheme
from workflows.facts.fleet.identity import Identity, Statement, plain, weigh
from workflows.facts.model import LabelFacts
from workflows.facts.read.labels import Read
from workflows.facts.read.sources import Sources
from workflows.facts.unknown import Known, known

BY_SERIAL = ("ser", "ata", "nvme")  # a disk may have such a name beside a WWN


@dataclass(frozen=True)
class Lists:
    """What the sources that list many disks at once say, by kernel name."""

    links: Mapping[str, tuple[str, ...]]
    lsscsi: Mapping[str, str]
    slots: Mapping[tuple[str, str], str]  # (enclosure's kernel name, slot's folder) -> "<enclosure id>/<slot>"
    linked: Mapping[str, tuple[str, ...]]  # kernel name of a disk -> the bays that link to it


def lists(sources: Sources, links: Mapping[str, tuple[str, ...]]) -> Lists:
    reading, enclosures = sources.read(lsscsi_source), sources.read(enclosure_source, if_nothing=())
    slots: dict[tuple[str, str], str] = {}
    linked: dict[str, tuple[str, ...]] = {}
    for enclosure in enclosures if known(enclosures) else ():
        for slot in enclosure.slots:
            if enclosure.id and slot.number is not None:
                slots[enclosure.name, slot.name] = f"{enclosure.id}/{slot.number}"
                if slot.device:
                    linked[slot.device] = (*linked.get(slot.device, ()), f"{enclosure.id}/{slot.number}")
    devices = [d for d in (reading if known(reading) else ()) if isinstance(d, ScsiDevice)]
    named = {d.node.rsplit("/", 1)[-1]: d.scsi_id for d in devices if d.node and d.scsi_id}
    return Lists(links, named, slots, linked)


def identity(sources: Sources, listing: Lists, devices: list[BlockDisk], labels: Iterable[Read]) -> Identity:
    """The quorum of everything this node says about one disk, whose kernel devices are `devices`."""
    wwid = next((d.wwid for d in devices if d.wwid), "")
    statements: list[Statement] = []
    for device in devices:
        smart = sources.read(smart_source, device.name)
        statements += (*_wwids(listing, device, smart, wwid), *_serials(listing, device, smart), *_places(listing, device))
    return weigh((*statements, *_labels(listing, labels, {s.value for s in statements if s.kind == "bay"})))


def _wwids(reported: Lists, device: BlockDisk, smart: Known[Smart], wwid: str) -> Iterator[Statement]:
    name = device.name
    if device.wwid:
        yield Statement("wwid", device.wwid, "block", f"the kernel ({name})", "kernel")
    for value in _page83(device, wwid):
        yield Statement("wwid", value, "block", f"VPD page 0x83 ({name})", "kernel")
    for source, by, raw in (("lsscsi", f"lsscsi ({name})", reported.lsscsi.get(name, "")), *_links_of(reported, name)):
        named = normalise(raw)
        if named and _comparable(named, wwid):
            yield Statement("wwid", named, source, by, "udev")
    if known(smart) and smart.wwid and _comparable(smart.wwid, wwid):
        yield Statement("wwid", smart.wwid, f"smart/{name}", f"smartctl ({name})", "disk")


def _page83(device: BlockDisk, wwid: str) -> tuple[str, ...]:
    """Names of the unit on its VPD page, where the page was collected. It may give several; one that is the WWID is enough."""
    names = [
        f"{d.kind}.{d.value}" for d in getattr(device, "designators", None) or () if d.about == "unit" and d.kind in ("naa", "eui", "uuid")
    ]
    values = tuple(dict.fromkeys(value for name in names if (value := normalise(name)) and _comparable(value, wwid)))
    return (wwid,) if wwid in values else values


def _links_of(reported: Lists, name: str) -> Iterator[tuple[str, str, str]]:
    return (("disk_links", f"the link {link.rsplit('/', 1)[-1]}", link) for link in reported.links.get(name, ()))


def _comparable(value: str, wwid: str) -> bool:
    """A disk may have names in several schemes, all true; only names of one scheme and length contradict each other."""
    if scheme(value) in BY_SERIAL and scheme(value) != scheme(wwid):
        return False
    return scheme(value) != "ser" and (not wwid or (scheme(value) == scheme(wwid) and (scheme(value) != "naa" or len(value) == len(wwid))))


def _serials(reported: Lists, device: BlockDisk, smart: Known[Smart]) -> Iterator[Statement]:
    if device.serial:
        yield Statement("serial", plain(device.serial), "block", f"the kernel ({device.name})", "kernel")
    for source, by, link in _links_of(reported, device.name):
        value = normalise(link) or ""
        if scheme(value) in ("ser", "ata"):
            yield Statement("serial", plain(value.rsplit(":", 1)[-1]), source, by, "udev")
    about_it = known(smart) and (smart.wwid in (None, device.wwid) or is_unit_of(smart.wwid, device.wwid or ""))
    if known(smart) and smart.serial and about_it:  # a report about another disk was heard above
        yield Statement("serial", plain(smart.serial), f"smart/{device.name}", f"smartctl ({device.name})", "disk")


def _places(reported: Lists, device: BlockDisk) -> Iterator[Statement]:
    shelf, _, folder = (device.slot_link or "").rpartition("/")
    slot = reported.slots.get((shelf.rpartition("/")[2], folder))
    if slot:
        yield Statement("bay", slot, "block", f"the kernel's link from {device.name} to its slot", "kernel")
    for bay in reported.linked.get(device.name, ()):
        yield Statement("bay", bay, "enclosure", f"the slot that links to {device.name}", "kernel")
    if port := _port(device.sas_address or ""):
        yield Statement("port", port, "block", f"the kernel ({device.name})", "kernel", hint=True)


def _port(address: str) -> str:
    """A SAS address without its last digit: the two ports of one disk differ there and nowhere else."""
    found = re.search(r"0x([0-9a-f]{15})[0-9a-f](?![0-9a-f])", address.lower())
    return f"0x{found.group(1)}…" if found else ""


def _labels(reported: Lists, reads: Iterable[Read], bays: set[str]) -> Iterator[Statement]:
    labels = [label for read in reads if known(read.labels) for label, _ in read.labels]
    newest = max(((label.state == ACTIVE, label.txg or 0) for label in labels), default=None)
    for label in labels:
        source, by = f"zdb_label/{label.partition}", f"the label on {label.partition}"
        old = label.state in (EXPORTED, DESTROYED) and (label.state == ACTIVE, label.txg or 0) != newest
        yield Statement("label", str(label.guid), source, by, "label", hint=old)
        if not old:
            yield from _strings(reported, label, source, by, bays)


def _strings(reported: Lists, label: LabelFacts, source: str, by: str, bays: set[str]) -> Iterator[Statement]:
    """What a label says of its own disk. All of it is as old as the last import that found the disk."""
    stored = normalise(label.devid) if label.devid else None
    if stored and scheme(stored) not in BY_SERIAL:
        yield Statement("wwid", stored, source, f"the device id in {by}", "label", hint=True)
    if port := _port(label.phys_path or ""):
        yield Statement("port", port, source, f"the path in {by}", "label", hint=True)
    if label.enc_path:
        yield Statement("bay", _bay_of(reported, label.enc_path, bays), source, f"the slot in {by}", "label", hint=True)


def _bay_of(reported: Lists, path: str, bays: set[str]) -> str:
    """The bay that a stored slot path means. Enclosures are renumbered, so an unknown one is known by its slot alone."""
    enclosure, slot = path.rstrip("/").split("/")[-2:] if path.count("/") > 1 else ("", path)
    if (enclosure, slot) in reported.slots:
        return reported.slots[enclosure, slot]
    same = sorted(bay for bay in bays if any(value == bay and name == slot for (_, name), value in reported.slots.items()))
    return same[0] if same else f"slot {slot} of an enclosure that is not here"

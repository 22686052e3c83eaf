"""Disks as the kernel shows them: one per WWID however many paths lead there, who uses them and how they feel."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from agents.collectors import block as block_source
from agents.collectors import disk_links as disk_links_source
from agents.collectors import lsscsi as lsscsi_source
from agents.collectors import mounts as mounts_source
from agents.collectors import smart as smart_source
from agents.collectors.block import BlockDisk
from agents.collectors.lsscsi import ScsiDevice
from agents.collectors.multipath import MultipathMap
from agents.collectors.zdb_label import MEMBER_BYTES_MIN
from agents.domain.disk_identity import doubt
from agents.domain.disk_uses import mapped_as
from agents.domain.listed_disks import FREE, FREEBSD, ILLUMOS
from agents.domain.wwid import DISKID, DSK, without_slice
from agents.operations._candidate import opened
from workflows.facts.model import BayFacts, DiskFacts, HealthFacts, LabelFacts, PathFacts
from workflows.facts.read.bays import bay_of, read_bays
from workflows.facts.read.disk_condition import is_about, read_condition
from workflows.facts.read.disk_maps import facts_of, holders_above, links_of, map_above, read_through, whole_links
from workflows.facts.read.disk_modes import read_modes
from workflows.facts.read.fabric import link_of
from workflows.facts.read.labels import Copies, Labels, Read
from workflows.facts.read.lights import Lights, light_of, lights_by_disk
from workflows.facts.read.slots import Map, addresses_of, read_map, settled, with_only_one_left, witnesses_of
from workflows.facts.read.sources import Sources
from workflows.facts.read.witnesses import Lists, identity, lists
from workflows.facts.unknown import Known, Unknown, derived, known, need

T = TypeVar("T")
BY_ID = "/dev/disk/by-id/"
WHOLE = (BY_ID, DISKID, DSK)
NO_NAME = {
    "": "The device gives no WWID.",
    FREEBSD: "GEOM gives it no serial number by which /dev/diskid could name it: one of 4 to 40 letters, digits, dots and dashes. Behind a RAID controller, have it pass the disk through.",
    ILLUMOS: "illumos' name of it is not made of the name of the logical unit, so no command could name it for certain. Behind scsi_vhci it is: put the disk on an HBA whose "
    'driver has MPxIO on (`mpxio-disable="no"` in its .conf below /kernel/drv; `stmsboot -L` lists both names).',
}
BY_UUID, MAPPER = f"{BY_ID}dm-uuid-", "/dev/mapper/"


@dataclass(frozen=True)
class Around:
    """What is known beside the disks themselves, ready to be looked up by kernel name."""

    links: Mapping[str, tuple[str, ...]]  # kernel name -> /dev/disk/by-id/… links
    sg: Mapping[str, str]
    use: Known[Mapping[str, tuple[str, ...]]]  # kernel name -> "mounted on /", "swap"
    bays: Known[tuple[BayFacts, ...]]
    places: Map
    lists: Lists
    lights: Lights
    mapped: Mapping[str, str]  # "dm-0" -> the key of the one disk below it


def read_disks(sources: Sources) -> Known[tuple[DiskFacts, ...]]:
    return sources.once("disks", lambda: _read(sources))


@derived
def _read(sources: Sources) -> Known[tuple[DiskFacts, ...]]:
    need(sources.read(block_source))
    disks = tuple(sources.once(f"disk {key}", partial(_disk, sources, key)) for key in _groups(sources))
    return with_only_one_left(disks, read_bays(sources))


def _around(sources: Sources) -> Around:
    return sources.once("around", lambda: _read_around(sources))


def _read_around(sources: Sources) -> Around:
    links, block = read_links(sources), sources.read(block_source)
    return Around(
        links,
        _sg(sources),
        _use(sources),
        read_bays(sources),
        read_map(sources),
        lists(sources, links),
        lights_by_disk(sources, _groups(sources) if known(block) else {}),
        mapped(block if known(block) else ()),
    )


def _groups(sources: Sources) -> dict[str, list[BlockDisk]]:
    return sources.once("groups", lambda: by_disk(block if known(block := sources.read(block_source)) else ()))


def by_disk(devices: Iterable[BlockDisk]) -> dict[str, list[BlockDisk]]:
    """Devices by what they are: the WWID, or the kernel name of one that says none."""
    groups: dict[str, list[BlockDisk]] = {}
    for device in devices:
        groups.setdefault(device.wwid or device.name, []).append(device)
    return groups


def label_names(device: BlockDisk, labels: Mapping[str, Read]) -> tuple[str, ...]:
    """Where labels of a device are read: its first partition when it has one, and wherever else it was looked for, LUKS containers on it too.

    FreeBSD's ZFS makes no partition of its own, so there it is the disk, and each partition that can be a member. illumos' makes slice 0.
    """
    first = next((p.name for p in device.partitions if p.number == (0 if device.system == ILLUMOS else 1)), device.name)
    if device.system == FREEBSD:
        large = (p.name for p in device.partitions if (p.size_bytes or 0) >= MEMBER_BYTES_MIN)
        return tuple(dict.fromkeys((device.name, *large, *(p.name for p in device.partitions if p.name in labels))))
    others = (
        device.name,
        *(p.name for p in device.partitions),
        *(name for holders in _each_holder(device) for name in holders or ()),
    )
    return tuple(dict.fromkeys((first, *(name for name in others if name in labels))))


def _disk(sources: Sources, key: str) -> DiskFacts:
    about, devices = _around(sources), _groups(sources)[key]
    one, above = devices[0], map_above(sources, devices)
    map_facts = facts_of(above, devices)
    places = _label_places(sources, read_through(map_facts, devices))
    linked = bay_of(about.bays, (d.name for d in devices), (d.slot_link for d in devices if d.slot_link))
    witnesses = witnesses_of(linked, about.places, addresses_of(devices))
    return DiskFacts(
        wwid=one.wwid or Unknown(NO_NAME[one.system]),
        serial=_same(devices, lambda device: device.serial, "serial number"),
        vendor=one.vendor or "",
        model=one.model or "",
        firmware=one.rev or "",
        size_bytes=_same(devices, lambda device: device.size_bytes, "size"),
        logical_block_bytes=_block_bytes(sources, devices),
        physical_block_bytes=_same(devices, lambda device: device.physical_block_bytes, "physical block size"),
        paths=tuple(_path(about, device, above) for device in devices),
        labels=_labels(places),
        in_use=_in_use(about, devices, above, _labels(places)),
        bay=settled(linked, witnesses, about.bays),
        bay_witnesses=witnesses,
        health=_health(sources, devices),
        condition=read_condition(sources, devices),
        modes=read_modes(sources, devices),
        protection_type=_same(devices, lambda device: device.protection_type, "protection type"),
        copies=_copies(places),
        light=light_of(about.lights, key),
        doubt=doubt(one.wwid, devices) if one.wwid else "",
        map=map_facts,
        identity=identity(sources, about.lists, devices, [read for read in places.values() if read is not None]),
    )


def _path(about: Around, device: BlockDisk, above: Known[MultipathMap | None]) -> PathFacts:
    return PathFacts(
        name=device.name,
        hctl=device.hctl,
        state=device.state or Unknown(f"The kernel gives no state for {device.name}."),
        sas_address=device.sas_address,
        holders=_holders(device),
        partitions=tuple(p.name for p in device.partitions),
        by_id=tuple(link for link in (*whole_links(above, about.links), *about.links.get(device.name, ())) if link.startswith(WHOLE)),
        other_names=tuple(dict.fromkeys((*_other_names(about, device), *links_of(above, about.links)))),
        sg=about.sg.get(device.name),
        link=link_of(device.folder),
    )


def _other_names(about: Around, device: BlockDisk) -> tuple[str, ...]:
    """Links that do not name the whole disk in /dev/disk/by-id. What is mapped onto several disks names none of them."""
    inside = (*(p.name for p in device.partitions), *(dm for dm, key in about.mapped.items() if key == (device.wwid or device.name)))
    whole = tuple(link for link in about.links.get(device.name, ()) if not link.startswith(WHOLE))
    return (*whole, *(link for name in inside for link in about.links.get(name, ()) if not _of_partition(link)))


def _of_partition(link: str) -> bool:
    """A by-id link of a partition is known by that of its disk."""
    return link.startswith(BY_ID) and "/dm-" not in link


def mapped(devices: Iterable[BlockDisk]) -> dict[str, str]:
    """Mapped device -> the one disk below it: a LUKS container, a multipath map. One that lies on several disks is left out."""
    found: dict[str, set[str]] = {}
    for device in devices:
        for holders in _each_holder(device):
            for holder in holders or ():
                found.setdefault(holder, set()).add(device.wwid or device.name)
    return {holder: keys.pop() for holder, keys in found.items() if len(keys) == 1}


def _label_places(sources: Sources, devices: list[BlockDisk]) -> dict[str, Read | None]:
    """Where labels of the disk belong, and what was read there; None where nothing was collected."""
    labels = Labels(sources)
    return {name: labels.get(name) for device in devices for name in label_names(device, labels)}


def _copies(places: Mapping[str, Read | None]) -> Known[tuple[Copies, ...]]:
    """What became of the four copies, place by place. A place that was not read leaves the whole disk unknown."""
    readings = [Unknown("A label of it was not read.") if read is None else read.copies for read in places.values()]
    unread = next((each for each in readings if not known(each)), None)
    return tuple(each for each in readings if known(each)) if unread is None else unread


def _labels(places: Mapping[str, Read | None]) -> Known[tuple[LabelFacts, ...]]:
    """Every label on any partition, by any path. One place that could not be read leaves the whole disk unknown."""
    found: list[LabelFacts] = []
    for name, read in places.items():
        if read is None:
            return Unknown(f"The label of {name} was not read.")
        if not known(read.labels):
            return read.labels
        found += [label for label, _ in read.labels]
    return tuple(found)


@derived
def _in_use(
    about: Around, devices: list[BlockDisk], above: Known[MultipathMap | None], places: Known[tuple[LabelFacts, ...]]
) -> Known[tuple[str, ...]]:
    """What FreeBSD or illumos shows as open says nothing more of a disk that carries a label: a pool may have it."""
    if not known(about.use):
        return about.use
    found: list[str] = []
    for device in devices:
        holders = need(holders_above(above, need(_holders(device))))
        if device.system and device.mode not in FREE and places == ():
            holders = (*holders, opened(device))
        found += [f"held by {_named(about, holder)}" for holder in holders]
        found += [use for name in (device.name, *(p.name for p in device.partitions)) for use in about.use.get(name, ())]
    found += [use for name in (above.devices if known(above) and above is not None else ()) for use in about.use.get(name, ())]
    return tuple(dict.fromkeys(found))


def _named(about: Around, holder: str) -> str:
    """By the links that udev makes for a device mapper device."""
    links = about.links.get(holder, ())
    uuid, name = (next((link[len(start) :] for link in links if link.startswith(start)), "") for start in (BY_UUID, MAPPER))
    return mapped_as(holder, uuid, name)


def _holders(device: BlockDisk) -> Known[tuple[str, ...]]:
    each = _each_holder(device)
    if None in each:
        return Unknown(f"What holds {device.name} could not be read.")
    return tuple(dict.fromkeys(holder for holders in each for holder in holders or ()))


def _each_holder(device: BlockDisk) -> list[tuple[str, ...] | None]:
    """What holds the disk, and each of its partitions; None where sysfs did not say."""
    return [device.holders, *(part.holders for part in device.partitions)]


def _health(sources: Sources, devices: list[BlockDisk]) -> Known[HealthFacts]:
    verdicts = [_verdict(sources, device) for device in devices]
    known_verdicts = [health for health in verdicts if known(health)]
    return min(known_verdicts, key=lambda health: health.passed) if known_verdicts else verdicts[0]


@derived
def _verdict(sources: Sources, device: BlockDisk) -> Known[HealthFacts]:
    """What one path's report says, if it is about this disk: it may be an hour old, and the name may have moved."""
    smart = need(sources.read(smart_source, device.name))
    if not is_about(smart, device):
        return Unknown(
            f"smartctl's report on {device.name} is about {smart.wwid or smart.serial or 'a disk it does not name'}. Have the node look again."
        )
    if smart.passed is None:
        return Unknown(f"smartctl does not say whether {device.name} is healthy.")
    return HealthFacts(smart.passed, smart.line, smart.grown_defects)


def _same(devices: list[BlockDisk], of: Callable[[BlockDisk], T | None], what: str) -> Known[T]:
    """What every path says; paths that contradict each other say nothing."""
    values = {value for device in devices if (value := of(device)) is not None}
    if len(values) == 1:
        return values.pop()
    return Unknown(f"The paths of {devices[0].name} disagree about its {what}." if values else f"{devices[0].name} gives no {what}.")


def _block_bytes(sources: Sources, devices: list[BlockDisk]) -> Known[int]:
    """On illumos by smartctl, where its report is about this disk."""
    found = _same(devices, lambda device: device.logical_block_bytes, "logical block size")
    if devices[0].system != ILLUMOS:
        return found
    smart = sources.read(smart_source, devices[0].name)
    return (smart.logical_block_bytes or found) if known(smart) and is_about(smart, devices[0]) else found


def read_links(sources: Sources) -> dict[str, tuple[str, ...]]:
    """Links by kernel name; without the source no disk has a stable name, and a guard says so."""
    reading = sources.read(disk_links_source)
    links: dict[str, tuple[str, ...]] = {}
    for path, name in reading if known(reading) else ():
        links[name] = (*links.get(name, ()), path)
    return links


def _sg(sources: Sources) -> dict[str, str]:
    reading = sources.read(lsscsi_source)
    return {d.node.rsplit("/", 1)[-1]: d.sg for d in (reading if known(reading) else ()) if isinstance(d, ScsiDevice) and d.node and d.sg}


@derived
def _use(sources: Sources) -> Known[dict[str, tuple[str, ...]]]:
    parsed, links = need(sources.read(mounts_source)), sources.read(disk_links_source)
    if parsed.swaps is None:
        return Unknown("mounts: the node does not say what it swaps to.")
    names = {path: name for path, name in links} if known(links) else {}
    use: dict[str, tuple[str, ...]] = {}
    uses = [(device, f"mounted on {place}") for device, place, _ in parsed.mounts] + [(device, "swap") for device in parsed.swaps]
    for device, what in uses:
        name = without_slice(names.get(device, device.rsplit("/", 1)[-1]))
        if device.startswith("/dev/"):
            use[name] = (*use.get(name, ()), f"{what} ({name})")
    return use

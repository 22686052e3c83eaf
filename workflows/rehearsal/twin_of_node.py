"""A twin of a node, made from what it reported last; and what of the node could not be made again.

Everything comes from the report. Where it does not say enough, the twin has something that refuses (a disk that answers nothing),
never something comfortable (a blank disk), and `gaps` says so.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from agents.collectors import block as block_source
from agents.collectors import boot_tool as boot_tool_source
from agents.collectors import enclosure as enclosure_source
from agents.collectors import lsscsi as lsscsi_source
from agents.collectors import mounts as mounts_source
from agents.collectors import node as node_source
from agents.collectors import parameters as parameters_source
from agents.collectors import sas_phys as sas_phys_source
from agents.collectors import sas_topology as sas_topology_source
from agents.collectors.block import BlockDisk
from agents.collectors.enclosure import PORTS, port_above
from agents.collectors.lsscsi import ScsiDevice
from agents.collectors.node import NodeInfo
from agents.domain.wwid import OF_OTHER_SYSTEMS, by_id_path, scheme
from twin import build, model
from twin.drive_logs import READ_BYTES
from twin.partitioning import ESP
from workflows.facts import DiskFacts, Known, NodeFacts, known
from workflows.facts.read.sources import Sources
from workflows.rehearsal import pools

T = TypeVar("T")
Body = Mapping[str, Any]
TIB = 1 << 40
_HOST = re.compile(r"/([0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f])/(?:[^/]+/)*?host([0-9]+)/")
_NVME = re.compile(r"/([0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f])/nvme/nvme[0-9]+$")


class CannotRebuild(Exception):
    """The report does not hold what a twin is made of. The message says what is missing."""


@dataclass
class Rebuilt:
    node: model.Node
    gaps: list[str] = field(default_factory=list)
    damaged: dict[str, tuple[str, ...]] = field(default_factory=dict)  # pool that no import reads -> WWIDs of disks that stand out


def rebuild(facts: NodeFacts, captured: Mapping[str, Body], earlier: Mapping[str, tuple[Body, float]], at: float) -> Rebuilt:
    """`said` are the bodies of the last report by "source" or "source/key"; `earlier` is what some said before, with how many seconds
    before. `at` is when the rehearsal begins. Raises CannotRebuild."""
    sources = Sources(captured, earlier)
    for where in ("zpool_status", "zpool_status_guid"):
        _needed(facts, sources.pools(where))
    block, info = _needed(facts, sources.read(block_source)), _needed(facts, sources.read(node_source))
    made = Rebuilt(_node(facts, sources, info, block, at))
    _disks(made, facts, sources, block)
    _enclosures(made, facts, sources)
    _light_tools(made, facts)
    made.damaged = pools.add(made.node, facts, sources, made.gaps, at)
    return made


def _needed(facts: NodeFacts, value: Known[T]) -> T:
    if not known(value):
        raise CannotRebuild(f"The last report of {facts.node} does not hold enough to rehearse on: {value.reason}")
    return value


def _node(facts: NodeFacts, sources: Sources, info: NodeInfo, devices: tuple[BlockDisk, ...], at: float) -> model.Node:
    if not info.hostid or not info.zfs_userland or not info.zfs_module:
        raise CannotRebuild(f"The last report of {facts.node} does not say its hostid or its version of ZFS.")
    return model.Node(
        hostname=info.hostname or facts.node,
        hostid=info.hostid,
        boot_id=info.boot_id or "",
        kernel=info.kernel or "",
        kernel_build="",
        zfs_userland=info.zfs_userland,
        zfs_module=info.zfs_module,
        hosts=_hosts(sources, devices),
        mounts=[f"{device} {point} {kind} rw 0 0" for device, point, kind in _mounts(sources)],
        booted_at=float(info.booted_at or at),
        parameters=_parameters(sources),
        phys_at=at,
        **_boot(sources),
        **_links(sources),
    )


def _boot(sources: Sources) -> dict[str, Any]:
    reading = sources.read(boot_tool_source)
    return {"boot_uuids": list(reading.listed), "efi": reading.efi} if known(reading) else {}


def _fats(sources: Sources) -> dict[str, str]:
    """Kernel name of each partition with a FAT file system that proxmox-boot-tool may list -> its UUID."""
    reading = sources.read(boot_tool_source)
    return {device: uuid for uuid, device in reading.devices} if known(reading) else {}


def _hosts(sources: Sources, block: tuple[BlockDisk, ...]) -> dict[str, str]:
    """Every SCSI host that a disk or the SAS fabric names, with its PCI address."""
    fabric = sources.read(sas_topology_source)
    found = (_HOST.search(f"{device.folder or ''}/") for device in block)
    hbas = {str(host.number): host.pci for host in fabric.hosts if host.pci} if known(fabric) else {}
    return {match.group(2): match.group(1) for match in found if match} | hbas


def _mounts(sources: Sources) -> tuple[tuple[str, str, str], ...]:
    reading = sources.read(mounts_source)
    return reading.mounts if known(reading) else ()


def _parameters(sources: Sources) -> dict[str, str]:
    reading = sources.read(parameters_source)
    return dict(reading.values) if known(reading) else {}


def _links(sources: Sources) -> dict[str, Any]:
    """The error counters of each phy; those that grew lately go on growing as they did."""
    reading, before = sources.read(sas_phys_source), sources.earlier(sas_phys_source)
    if not known(reading):
        return {}
    now = {phy.name: [count or 0 for count in phy.counters] for phy in reading}
    rates = {}
    if known(before):
        then = {phy.name: [count or 0 for count in phy.counters] for phy in before[0]}
        grown = {name: [max(0, a - b) for a, b in zip(counts, then[name], strict=True)] for name, counts in now.items() if name in then}
        rates = {name: [count * 3600 / before[1] for count in counts] for name, counts in grown.items() if any(counts)}
    return {"phys": {name: counts for name, counts in now.items() if any(counts)}, "phy_rates": rates}


# --- disks


def _disks(made: Rebuilt, facts: NodeFacts, sources: Sources, block: tuple[BlockDisk, ...]) -> None:
    devices = {device.name: device for device in block}
    swaps, fats = _swaps(sources), _fats(sources)
    for disk in facts.disks if known(facts.disks) else ():
        if not known(disk.wwid) or by_id_path(disk.wwid) is None or scheme(disk.wwid) in OF_OTHER_SYSTEMS:  # a twin has Linux's names
            made.gaps.append(_left_out(disk))
            continue
        twin = _disk(disk, [devices[name] for name in disk.names], swaps, fats)
        made.node.disks.append(twin)
        if not known(disk.labels) and any(path.runs for path in twin.paths):
            made.node.faults.hangs.append(twin.wwid)
            made.gaps.append(f"{disk.names[0]} answers nothing in the rehearsal, because its label is not known: {disk.labels.reason}")


def _left_out(disk: DiskFacts) -> str:
    """A twin's disk has the one link that is made of its identity: every text that the twin prints of it has that name in it."""
    names = " and ".join(disk.names)
    if not known(disk.wwid):
        return f"{names} is left out: it gives no WWID, and a twin's disk has one. {disk.wwid.reason}"
    return f"{names} is left out: its WWID is {disk.wwid}, of which udev makes no link of its own, and a twin's disk has one."


def _swaps(sources: Sources) -> frozenset[str]:
    reading = sources.read(mounts_source)
    return frozenset(name.removeprefix("/dev/") for name in reading.swaps or ()) if known(reading) else frozenset()


def _disk(disk: DiskFacts, devices: list[Any], swaps: frozenset[str], fats: Mapping[str, str]) -> model.Disk:
    one, above = devices[0], _map(disk)
    return model.Disk(
        wwid=str(disk.wwid),
        serial=one.serial or "",
        vendor=disk.vendor,
        model=_model(disk),
        rev=disk.firmware,
        size_bytes=one.size_bytes or 0,
        paths=[_path(disk, device, index) for index, device in enumerate(devices)],
        logical_block_bytes=one.logical_block_bytes or 512,
        physical_block_bytes=one.physical_block_bytes or 512,
        rotational=one.rotational is not False,
        partitions=list(_partitions(one, swaps, fats)),
        holders=[holder for holder in one.holders or () if above is None or holder != above.dm],
        map=above,
        smart=_smart(disk),
        protection_type=one.protection_type or 0,
        **_modes(disk),
    )


def _map(disk: DiskFacts) -> model.MultipathMap | None:
    """Of a disk that is in use through its map without partitions, as ZFS takes one. Any other is held by its map in the rehearsal, and refuses."""
    if not known(disk.map) or disk.map is None or disk.map.partitions or any(path.partitions for path in disk.paths) or disk.in_use != ():
        return None
    return model.MultipathMap(disk.map.dm, disk.map.name)


def _model(disk: DiskFacts) -> str:
    """SCSI cuts a SATA disk's model short; the identity of one without a WWN holds the whole of it."""
    return str(disk.wwid).split(":")[1].replace("_", " ") if scheme(str(disk.wwid)) == "ata" else disk.model


def _path(disk: DiskFacts, device: Any, index: int) -> model.Path:
    path = disk.paths[index]
    number = re.search(r"(?<![0-9])[0-9]+$", path.sg or "")
    nvme = _NVME.search(device.folder or "")
    by_path = [link for link in path.by_id if "/by-path/" in link]
    return model.Path(
        name=device.name,
        hctl=device.hctl or ("" if nvme else "0:0:0:0"),
        sg=int(number.group()) if number else 0,
        sas_address=device.sas_address or "",
        phys_path=by_path[0].rpartition("/")[2] if by_path else f"pci-{nvme.group(1)}-nvme-1" if nvme else "",
        state=device.state or ("running" if known(disk.labels) else ""),  # whose label was read just now, runs
    )


def _partitions(device: Any, swaps: frozenset[str], fats: Mapping[str, str]) -> Iterator[model.Partition]:
    """Where each begins is not reported; how large it is counts."""
    start = 2048
    for part in sorted(device.partitions, key=lambda part: part.number):
        sectors = (part.size_bytes or 0) // model.SECTOR
        uuid = fats.get(part.name, "")
        yield model.Partition(
            part.number, start, sectors, swap=part.name in swaps, holders=list(part.holders or ()), fs_uuid=uuid, kind=ESP if uuid else ""
        )
        start += sectors


def _smart(disk: DiskFacts) -> model.Smart:
    health = disk.health if known(disk.health) else None
    errors = disk.condition.errors if known(disk.condition) else ()
    reads = next((each for each in errors if each.what == "read"), None)
    return model.Smart(
        passed=health.passed if health else None,
        grown_defects=(health.grown_defects or 0) if health else 0,
        uncorrected=(reads.uncorrected or 0) if reads else 0,
        corrected=int(reads.corrected_per_tib * READ_BYTES / TIB) if reads and reads.corrected_per_tib else 0,
    )


def _modes(disk: DiskFacts) -> dict[str, Any]:
    if not known(disk.modes):
        return {}
    named = {"WCE": disk.modes.write_cache, "EN_BMS": disk.modes.background_scan}
    known_modes = {name: switch for name, switch in named.items() if known(switch)}
    saved = {name: switch.saved for name, switch in known_modes.items() if switch.saved is not None and switch.saved != switch.on}
    caches = disk.modes.kernel_believes
    return {**{name.lower(): switch.on for name, switch in known_modes.items()}, "saved": saved} | (
        {"believed": caches == "write back"} if known(caches) else {}
    )


# --- enclosures


def _enclosures(made: Rebuilt, facts: NodeFacts, sources: Sources) -> None:
    reading = sources.read(enclosure_source, if_nothing=())
    if not known(reading):
        made.gaps.append(f"The rehearsal has no bays: {reading.reason}")
        return
    listed = sources.read(lsscsi_source)
    scsi = {device.hctl: device for device in (listed if known(listed) else ()) if isinstance(device, ScsiDevice)}
    carried = {path.name: disk.wwid for disk in made.node.disks for path in disk.paths}
    for one in reading:
        if one.id == PORTS:
            made.node.ports = [_port(slot, sources) for slot in one.slots]
            continue
        about = scsi.get(one.name)
        sg = re.search(r"(?<![0-9])[0-9]+$", about.sg or "") if about else None
        bays = [_bay(slot, carried) for slot in one.slots if slot.number is not None]
        if first := next((other for other in made.node.enclosures if one.id and other.id == one.id and not other.second), None):
            _seen_again(first, one.name, int(sg.group()) if sg else 0, bays)
            continue
        words = (about.vendor or "", about.model or "", about.rev or "") if about else ("", "", "")
        made.node.enclosures.append(model.Enclosure(one.name, one.id or "", *words, int(sg.group()) if sg else 0, bays))


def _light_tools(made: Rebuilt, facts: NodeFacts) -> None:
    """Each tool with the places of the disks to which it leads; a light that it does not read back is taken for dark."""
    tools: dict[str, model.LightTool] = {}
    for disk in facts.disks if known(facts.disks) else ():
        light = disk.light
        if known(light) and light.by != PORTS and known(disk.wwid):
            tool = tools.setdefault(light.by, model.LightTool(light.by, {}))
            tool.places[light.place] = disk.wwid
            tool.lit += [light.place] if known(light.lit) and light.lit else []
    made.node.light_tools = list(tools.values())


def _seen_again(first: model.Enclosure, name: str, sg: int, bays: list[model.Bay]) -> None:
    """One shelf by a second HBA: its bays are those of the first, and so are their lights. Either may lack the link to a disk."""
    first.second, first.second_sg = name, sg
    there = {bay.number: bay.wwid for bay in bays}
    for bay in first.bays:
        bay.wwid = bay.wwid or there.get(bay.number)


def _port(slot: Any, sources: Sources) -> model.Port:
    """What is plugged into it is not known of one that is empty."""
    disks = sources.read(block_source)
    below = (_NVME.search(one.folder or "") for one in (disks if known(disks) else ()) if port_above(one.folder) == slot.name)
    return model.Port(slot.name, next((found.group(1) for found in below if found), ""), int(bool(slot.locate)))


def _bay(slot: Any, carried: Mapping[str, str]) -> model.Bay:
    return model.Bay(
        name=slot.name,
        number=slot.number,
        wwid=carried.get(slot.device or ""),
        status=slot.status or "unknown",
        locate=int(bool(slot.locate)),
        fault=model.FAULT_ASKED if slot.fault_asked else model.FAULT_SENSED if slot.fault else 0,
        active=int(bool(slot.active)),
        power=slot.power or "on",
    )


def spare_name(node: model.Node, *coming: model.Disk) -> str:
    """The first kernel name that is free, for a disk that is put in."""
    taken = {path.name for disk in (*node.disks, *coming) for path in disk.paths}
    return next(name for name in map(build.sd_name, range(len(taken) + 1)) if name not in taken)

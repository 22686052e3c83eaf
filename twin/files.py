"""What a node shows as files: sysfs block, SCSI and enclosure devices, /dev/disk links, and the few files of /proc and /etc.

Paths, names and contents are those of Linux: the class folders hold links into /sys/devices, a disk's bay is the link
`enclosure_device:NAME`, a bay's disk is its link `device`.
"""

from collections.abc import Iterator
from typing import Any

from agents.collectors.boot_tool import BY_UUID, EFI, UUIDS
from agents.collectors.enclosure import light_of
from agents.domain.wwid import scheme
from twin import disk_names, kernel, sas
from twin.model import SECTOR, Bay, Disk, Enclosure, MultipathMap, Node, Partition, Path, Port
from twin.tree import Tree

SCSI_TIMEOUT_SECONDS = 30
USB_HOST = "/sys/devices/pci0000:00/0000:00:14.0"
BY_PARTUUID = "/dev/disk/by-partuuid"
BAY_ATTRIBUTES = ("locate", "fault")  # those the twin lets anybody write


def build(node: Node) -> Tree:
    tree = Tree()
    for disk in node.disks:
        for path in disk.paths:
            (_nvme if disk_names.is_nvme(path) else _virtio if disk_names.is_virtio(path) else _disk)(tree, node, disk, path)
    for enclosure in node.seen_enclosures:
        _enclosure(tree, node, enclosure)
    for port in node.ports:
        tree.link(light_of(port.address), light_folder(port))
        tree.file(f"{light_folder(port)}/brightness", f"{port.locate}\n")
        tree.file(f"{light_folder(port)}/max_brightness", "1\n")
    for link, name in dev_links(node).items():
        tree.link(link, f"/dev/{name}")
    for holder, (uuid, name) in node.mapped.items():
        tree.link(f"/sys/block/{holder}", f"/sys/devices/virtual/block/{holder}")
        tree.file(f"/sys/devices/virtual/block/{holder}/dm/uuid", f"{uuid}\n")
        tree.file(f"/sys/devices/virtual/block/{holder}/dm/name", f"{name}\n")
        tree.directory(f"/sys/devices/virtual/block/{holder}/slaves")
        for below in (disk for disk in node.disks if holder in disk.holders and disk.map is None):
            for path in below.paths:
                tree.link(f"/sys/devices/virtual/block/{holder}/slaves/{path.name}", f"/sys/block/{path.name}")
        tree.file(f"/dev/{holder}", b"")
    for disk in node.disks:
        if disk.map is not None:
            _map(tree, disk, disk.map)
    sas.build(tree, node)
    _boot(tree, node)
    _system(tree, node)
    return tree


def _boot(tree: Tree, node: Node) -> None:
    if node.boot_uuids is not None:
        tree.file(UUIDS, "".join(f"{uuid}\n" for uuid in node.boot_uuids))
    if node.efi:
        tree.directory(EFI)


def dev_links(node: Node) -> dict[str, str]:
    """Every link under /dev/disk and /dev/mapper -> the kernel name it leads to. Of two paths to one disk, udev keeps the last."""
    links = {}
    for disk in node.disks:
        for path in disk.paths:
            for base in _link_names(disk, path, node.sg3_rules):
                links[base] = path.name
                for partition in disk.table:
                    if partition.uuid:
                        links[f"{BY_PARTUUID}/{partition.uuid}"] = disk_names.part_name(path.name, partition.number)
                    if partition.fs_uuid:
                        links[f"{BY_UUID}/{partition.fs_uuid}"] = disk_names.part_name(path.name, partition.number)
                    links[f"{base}-part{partition.number}"] = disk_names.part_name(path.name, partition.number)
        if disk.map is not None:
            links |= dict.fromkeys(disk_names.map_links(disk), disk.map.dm)
        for alias in filter(None, (node.vdev_names.get(disk.wwid),)):
            links |= _by_vdev(disk, alias)
    for holder, (uuid, name) in node.mapped.items():
        links |= dict.fromkeys((f"/dev/disk/by-id/dm-uuid-{uuid}", f"/dev/disk/by-id/dm-name-{name}", f"/dev/mapper/{name}"), holder)
    return links


def _by_vdev(disk: Disk, alias: str) -> dict[str, str]:
    """As vdev_id makes them of vdev_id.conf: of the disk, and of each of its partitions."""
    name, link = disk.paths[-1].name, f"/dev/disk/by-vdev/{alias}"
    return {link: name} | {f"{link}-part{part.number}": disk_names.part_name(name, part.number) for part in disk.table}


def _link_names(disk: Disk, path: Path, sg3_rules: bool) -> Iterator[str]:
    yield from disk_names.links(disk, path, sg3_rules)
    if path.phys_path:
        yield f"/dev/disk/by-path/{path.phys_path}"


def _map(tree: Tree, disk: Disk, one: MultipathMap) -> None:
    block = f"/sys/devices/virtual/block/{one.dm}"
    tree.link(f"/sys/block/{one.dm}", block)
    tree.link(f"/sys/class/block/{one.dm}", block)
    tree.file(f"/dev/{one.dm}", b"")
    for name, value in (("dm/uuid", disk_names.map_uuid(disk)), ("dm/name", one.name), ("size", disk.size_bytes // SECTOR), ("ro", 0)):
        tree.file(f"{block}/{name}", f"{value}\n")
    _holders(tree, block, disk.holders)
    tree.directory(f"{block}/slaves")
    for path in disk.paths:
        tree.link(f"{block}/slaves/{path.name}", f"/sys/block/{path.name}")


def scsi_folder(node: Node, hctl: str) -> str:
    """Where sysfs keeps the SCSI device of an H:C:T:L."""
    host, channel, target, _ = hctl.split(":")
    if any(path.hctl == hctl and disk_names.is_usb(path) for disk in node.disks for path in disk.paths):
        port = int(target) + 1
        return f"{USB_HOST}/usb2/2-{port}/2-{port}:1.0/host{host}/target{host}:{channel}:{target}/{hctl}"
    return f"{sas.end_folder(node, hctl)}/target{host}:{channel}:{target}/{hctl}"


def device_folder(node: Node, path: Path) -> str:
    """Where sysfs keeps the device that a path leads through: the SCSI device, the NVMe controller, or the virtio device."""
    if disk_names.is_virtio(path):
        return f"/sys/devices/pci0000:00/{path.phys_path.removeprefix('pci-')}/virtio{path.sg}"
    if not disk_names.is_nvme(path):
        return scsi_folder(node, path.hctl)
    port = next((port.address for port in node.ports if port.below == disk_names.pci_address(path)), "")
    return disk_names.nvme_folder(path, port)


def light_folder(port: Port) -> str:
    return f"/sys/devices/pci0000:00/{port.address}/leds/{port.address}:enclosure:locate"


def bay_folder(node: Node, enclosure: Enclosure, bay: Bay) -> str:
    return f"{scsi_folder(node, enclosure.name)}/enclosure/{enclosure.name}/{bay.name}"


def _disk(tree: Tree, node: Node, disk: Disk, path: Path) -> None:
    scsi = scsi_folder(node, path.hctl)
    _scsi_device(tree, scsi, disk.vendor, disk.model, disk.rev, path.sg)
    for name, value in _scsi_attributes(disk, path):
        tree.file(f"{scsi}/{name}", value)
    tree.file(f"{scsi}/delete", "")
    found = node.bay_by(disk.wwid, path)
    if found:
        tree.link(f"{scsi}/enclosure_device:{found[1].name}", bay_folder(node, *found))
    tree.file(f"{scsi}/scsi_disk/{path.hctl}/cache_type", "write back\n" if _cached(disk) else "write through\n")
    tree.file(f"{scsi}/scsi_disk/{path.hctl}/protection_type", f"{disk.protection_type}\n")
    _block_device(tree, f"{scsi}/block/{path.name}", scsi, disk, path)


def _nvme(tree: Tree, node: Node, disk: Disk, path: Path) -> None:
    controller = device_folder(node, path)
    for name, value in (("model", disk.model), ("serial", disk.serial), ("firmware_rev", disk.rev), ("state", path.state)):
        tree.file(f"{controller}/{name}", f"{value}\n")
    block = f"{controller}/{path.name}"
    tree.file(f"{block}/wwid", f"{disk_names.kernel_wwid(disk)}\n")
    _block_device(tree, block, controller, disk, path)


def _virtio(tree: Tree, node: Node, disk: Disk, path: Path) -> None:
    """virtio_blk gives a block device neither a `wwid` nor a state, and its serial number, if any, in `serial` of the block device."""
    device = device_folder(node, path)
    tree.file(f"{device}/vendor", "0x1af4\n")
    block = f"{device}/block/{path.name}"
    tree.file(f"{block}/serial", f"{disk.serial}\n")
    _block_device(tree, block, device, disk, path)


def _scsi_device(tree: Tree, scsi: str, vendor: str, model: str, rev: str, sg: int) -> None:
    tree.file(f"{scsi}/vendor", f"{vendor:<8}\n")
    tree.file(f"{scsi}/model", f"{model[: disk_names.SCSI_MODEL]:<{disk_names.SCSI_MODEL}}\n")
    tree.file(f"{scsi}/rev", f"{rev:<4}\n")
    tree.link(f"{scsi}/scsi_generic/sg{sg}/device", scsi)
    tree.link(f"/sys/class/scsi_generic/sg{sg}", f"{scsi}/scsi_generic/sg{sg}")
    hctl = scsi.rpartition("/")[2]
    tree.link(f"/sys/bus/scsi/devices/{hctl}", scsi)
    tree.directory(f"{scsi}/scsi_device/{hctl}")
    tree.link(f"{scsi}/scsi_device/{hctl}/device", scsi)
    tree.link(f"/sys/class/scsi_device/{hctl}", f"{scsi}/scsi_device/{hctl}")


def _scsi_attributes(disk: Disk, path: Path) -> Iterator[tuple[str, bytes]]:
    texts = {
        "type": "0",
        "state": path.state,
        "timeout": str(SCSI_TIMEOUT_SECONDS),
        "eh_timeout": "10",
        "device_blocked": "0",
        "queue_depth": "254" if path.sas_address else "32",
        "iorequest_cnt": "0x1a2b3c",
        "iodone_cnt": "0x1a2b3c",
        "ioerr_cnt": "0x0",
        "iotmo_cnt": "0x0",
        "wwid": disk_names.kernel_wwid(disk),
    }
    if path.sas_address:
        texts["sas_address"] = path.sas_address
    for name, text in texts.items():
        yield name, f"{text}\n".encode("ascii")
    yield "vpd_pg80", _vpd_page(0x80, disk.serial.encode("ascii"))
    yield "vpd_pg83", _vpd_page(0x83, _designators(disk, path))


def _vpd_page(page: int, body: bytes) -> bytes:
    return bytes((0x00, page)) + len(body).to_bytes(2, "big") + body


def _designators(disk: Disk, path: Path) -> bytes:
    """Page 0x83: the logical unit's NAA name, then (SAS) the NAA name of the target port."""
    if scheme(disk.wwid) == "ata":
        name = disk_names.t10(disk).encode("ascii")
        return bytes((0x02, 0x01, 0x00, len(name))) + name
    unit = bytes((0x01, 0x03, 0x00, 0x08)) + bytes.fromhex(disk.hex)
    if not path.sas_address:
        return unit
    return unit + bytes((0x61, 0x93, 0x00, 0x08)) + bytes.fromhex(path.sas_address[2:])


def _cached(disk: Disk) -> bool:
    """What the kernel assumes; a mode that is set past it changes nothing there."""
    return disk.wce if disk.believed is None else disk.believed


def _block_device(tree: Tree, block: str, scsi: str, disk: Disk, path: Path) -> None:
    tree.link(f"/sys/block/{path.name}", block)
    tree.link(f"/sys/class/block/{path.name}", block)
    tree.file(f"/dev/{path.name}", b"")
    tree.link(f"{block}/device", scsi)
    for name, value in _block_attributes(disk):
        tree.file(f"{block}/{name}", f"{value}\n")
    tree.directory(f"{block}/slaves")
    _holders(tree, block, [disk.map.dm] if disk.map else disk.holders)
    for partition in disk.table:
        _partition(tree, block, path.name, partition)


def _block_attributes(disk: Disk) -> Iterator[tuple[str, object]]:
    yield "size", disk.size_bytes // SECTOR
    yield "ro", 0
    yield "removable", 0
    yield "queue/logical_block_size", disk.logical_block_bytes
    yield "queue/physical_block_size", disk.physical_block_bytes
    yield "queue/rotational", int(disk.rotational)
    yield "queue/write_cache", "write back" if _cached(disk) else "write through"


def _partition(tree: Tree, block: str, name: str, partition: Partition) -> None:
    here = disk_names.part_name(name, partition.number)
    folder = f"{block}/{here}"
    for attribute, value in (("partition", partition.number), ("start", partition.start), ("size", partition.sectors), ("ro", 0)):
        tree.file(f"{folder}/{attribute}", f"{value}\n")
    _holders(tree, folder, partition.holders)
    tree.link(f"/sys/class/block/{here}", folder)
    tree.file(f"/dev/{here}", b"")


def _holders(tree: Tree, folder: str, holders: list[Any]) -> None:
    tree.directory(f"{folder}/holders")
    for holder in holders:
        tree.directory(f"/sys/devices/virtual/block/{holder}")
        tree.link(f"{folder}/holders/{holder}", f"/sys/devices/virtual/block/{holder}")


def _enclosure(tree: Tree, node: Node, enclosure: Enclosure) -> None:
    scsi = scsi_folder(node, enclosure.name)
    _scsi_device(tree, scsi, enclosure.vendor, enclosure.model, enclosure.rev, enclosure.sg)
    tree.file(f"{scsi}/type", "13\n")
    folder = f"{scsi}/enclosure/{enclosure.name}"
    tree.link(f"/sys/class/enclosure/{enclosure.name}", folder)
    tree.link(f"{folder}/device", scsi)
    tree.file(f"{folder}/id", f"{enclosure.id}\n")
    tree.file(f"{folder}/components", f"{len(enclosure.bays)}\n")
    for bay in enclosure.bays:
        _bay(tree, node, enclosure, bay)


def _bay(tree: Tree, node: Node, enclosure: Enclosure, bay: Bay) -> None:
    folder = bay_folder(node, enclosure, bay)
    values = {
        "slot": bay.number,
        "type": "array device",
        "status": bay.status,
        "fault": bay.fault,
        "locate": bay.locate,
        "active": bay.active,
        "power_status": bay.power,
    }
    for name, value in values.items():
        tree.file(f"{folder}/{name}", f"{value}\n")
    disk = next((d for d in node.disks if d.wwid == bay.wwid), None)
    if disk and disk.paths:
        host = enclosure.name.split(":")[0]
        seen = next((path for path in disk.paths if path.hctl.split(":")[0] == host), disk.paths[0])
        tree.link(f"{folder}/device", scsi_folder(node, seen.hctl))


def _system(tree: Tree, node: Node) -> None:
    tree.file("/etc/hostid", int(node.hostid, 16).to_bytes(4, "little"))
    tree.file("/etc/hostname", f"{node.hostname}\n")
    tree.file("/proc/sys/kernel/hostname", f"{node.hostname}\n")
    tree.file("/proc/sys/kernel/osrelease", f"{node.kernel}\n")
    tree.file("/proc/sys/kernel/random/boot_id", f"{node.boot_id}\n")
    tree.file("/sys/module/zfs/version", f"{node.zfs_module}\n")
    tree.file("/sys/module/spl/parameters/spl_hostid", "0\n")
    for name, value in node.dmi.items():
        tree.file(f"/sys/class/dmi/id/{name}", f"{value}\n")
    mounts = "".join(f"{line}\n" for line in _mounts(node))
    tree.file("/proc/1/mounts", mounts)
    tree.file("/proc/mounts", mounts)
    tree.file("/proc/swaps", "".join(_swaps(node)))
    kernel.build(tree, node)


def _mounts(node: Node) -> Iterator[str]:
    for name, partition in _partitions(node):
        if partition.mountpoint:
            yield f"/dev/{name} {partition.mountpoint} {partition.filesystem} rw,relatime 0 0"
    yield from node.mounts


def _swaps(node: Node) -> Iterator[str]:
    yield "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"
    for name, partition in _partitions(node):
        if partition.swap:
            device = f"/dev/{name}"
            yield f"{device:<40}partition\t{partition.sectors // 2}\t\t0\t\t-2\n"


def _partitions(node: Node) -> Iterator[tuple[str, Partition]]:
    for disk in node.disks:
        for path in disk.paths[:1]:
            for partition in disk.partitions:
                yield disk_names.part_name(path.name, partition.number), partition

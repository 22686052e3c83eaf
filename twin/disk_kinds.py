"""The disks of a node turned into those of another kind: what a home server or a Proxmox host has, where the lab's nodes have SAS."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from agents.domain.wwid import normalise, scheme, strip_partition
from twin import disk_names
from twin.build import sd_name
from twin.model import SECTOR, Disk, MultipathMap, Node, Partition, Path, Port, Vdev

Change = Callable[[Disk], Disk]
SECOND_HOSTS, SECOND_NAMES = 10, 100  # how much higher the numbers of a second HBA and of the disks behind it are
SATA_MODEL, NVME_MODEL = "WDC WD40EFRX-68N32N0", "Samsung SSD 980 PRO 1TB"


def _number(disk: Disk) -> int:
    """Of a lab disk: its WWNs are 0x10 apart."""
    return (int(disk.hex, 16) >> 4) & 0xFF


def sata_without_wwn(disk: Disk) -> Disk:
    """On an AHCI port or behind an HBA: no WWN, so it is known by its model and serial number."""
    serial = f"WD-WCC7K{_number(disk):05d}X"
    paths = [Path(p.name, p.hctl, p.sg, "", f"pci-0000:00:17.0-ata-{int(p.hctl.split(':')[2]) + 1}", p.state) for p in disk.paths]
    wwid = f"ata:{SATA_MODEL.replace(' ', '_')}:{serial}"
    return replace(disk, wwid=wwid, serial=serial, vendor="ATA", model=SATA_MODEL, rev="82.00A82", paths=paths, physical_block_bytes=4096)


def sata(disk: Disk) -> Disk:
    """The same with the WWN that most have."""
    return replace(sata_without_wwn(disk), wwid=disk.wwid)


def usb(disk: Disk) -> Disk:
    """In a USB case whose bridge hands the disk's own WWN and serial number on."""
    paths = [
        replace(p, sas_address="", phys_path=f"pci-0000:00:14.0-usb-0:{int(p.hctl.split(':')[2]) + 1}:1.0-scsi-0:0:0:0") for p in disk.paths
    ]
    return replace(sata(disk), paths=paths)


def virtio(disk: Disk) -> Disk:
    """Of a virtual machine whose owner gave its disks no serial numbers, so none has an identity."""
    number = _number(disk)
    paths = [Path(f"vd{p.name.removeprefix('sd')}", "", number, "", f"pci-0000:00:{number & 0x1F:02x}.0") for p in disk.paths]
    return replace(disk, wwid=f"virtio:{number}", serial="", vendor="", model="", rev="", paths=paths, rotational=False)


def nvme(disk: Disk) -> Disk:
    """A namespace with an EUI-64 of its own, in no enclosure that the kernel knows of."""
    number = _number(disk)
    place = f"pci-0000:{number & 0xFF:02x}:00.0-nvme-1"
    paths = [Path(f"nvme{number}n1", "", -1, "", place, "live" if p.state == "running" else p.state) for p in disk.paths]
    return replace(
        disk,
        wwid=f"eui:0025385b71b{number:05x}",
        serial=f"S5GXNX0R{number:06d}",
        vendor="",
        model=NVME_MODEL,
        rev="5B2QGXA7",
        paths=paths,
        rotational=False,
    )


def nvme_nguid(disk: Disk) -> Disk:
    """A namespace that has an NGUID too, which the kernel then names it by."""
    return replace(nvme(disk), wwid=f"eui:0025385b71b00000{_number(disk):016x}")


def nvme_by_serial(disk: Disk) -> Disk:
    """A namespace without EUI-64, NGUID and UUID. The kernel names it by vendor, serial number, model and namespace, the two texts in hex (nvme_ns_wwid)."""
    one = nvme(disk)
    return replace(one, wwid=f"nvme:144d-{one.serial.encode().hex()}-{one.model.encode().hex()}-00000001")


def multipath(disk: Disk) -> Disk:
    """Reached over a second HBA too, and all its paths behind one map. What ZFS wrote stands on the map itself."""
    number = _number(disk)
    (first,) = disk.paths
    host, *rest = first.hctl.split(":")
    address = f"0x{int(disk.hex, 16) + 1:016x}"
    second = Path(
        sd_name(SECOND_NAMES + number), ":".join((str(int(host) + SECOND_HOSTS), *rest)), SECOND_NAMES + number, address,
        first.phys_path.replace("pci-0000:", "pci-0001:"), first.state,
    )  # fmt: skip
    label = next((part.label for part in disk.partitions if part.label), None)
    whole = [Partition(0, 0, disk.size_bytes // SECTOR, label)] if label else []
    return replace(disk, paths=[first, second], partitions=whole, map=MultipathMap(f"dm-{number}", f"mpath{sd_name(number)[2:]}"))


def at_ports(node: Node) -> Node:
    """Every NVMe disk below a PCIe port of its own that has a locate light."""
    below = [disk_names.pci_address(path) for disk in node.disks for path in disk.paths if disk_names.is_nvme(path)]
    node.ports = [Port(f"0000:00:{index + 1:02x}.0", address) for index, address in enumerate(below)]
    return node


def turned(node: Node, change: Change) -> Node:
    """Every disk of another kind, with the names under which the pools know it. An NVMe disk leaves its bay, and the node its enclosure."""
    pattern, names = node.disks[0], dict[str, Disk]()
    for disks in (node.disks, node.deleted):
        for index, disk in enumerate(disks):
            disks[index] = names[disk.wwid] = change(disk)
    _rename_leaves(node, names, lambda wwid: change(replace(pattern, wwid=wwid)))
    if not names[next(iter(names))].vendor:
        without_shelf(node)
    if change is multipath:
        node.hosts |= {str(int(host) + SECOND_HOSTS): address.replace("0000:", "0001:") for host, address in node.hosts.items()}
        for one in node.enclosures:
            host, _, rest = one.name.partition(":")
            one.second, one.second_sg = f"{int(host) + SECOND_HOSTS}:{rest}", SECOND_NAMES + one.sg
    for bay in (bay for enclosure in node.enclosures for bay in enclosure.bays):
        if bay.wwid:
            bay.wwid = names[bay.wwid].wwid
    return node


def without_shelf(node: Node) -> Node:
    """No enclosure says where a disk sits."""
    node.enclosures = []
    for leaf in _members(node):
        leaf.enc_path = ""
    return node


def _members(node: Node) -> list[Vdev]:
    return [leaf for pool in node.pools for leaf in (*pool.leaves(), *pool.spares, *pool.caches)]


def _labelled(disks: Iterable[Disk]) -> dict[int, tuple[Disk, int]]:
    """guid of a member -> its disk, and the number of the partition it is on."""
    return {part.label.guid: (disk, part.number) for disk in disks for part in disk.partitions if part.label}


def _rename_leaves(node: Node, names: dict[str, Disk], like: Callable[[str], Disk]) -> None:
    """By the label, which says whose a disk is, or by its name where its disk is away. One that goes by a kernel name goes on to."""
    owners = _labelled(names.values())
    for leaf in _members(node):
        away, number = _away(leaf, like), strip_partition(leaf.path)[1] or 1
        disk, number = owners.get(leaf.guid) or (away, number)
        if disk is not None:
            by_kernel = leaf.path.startswith("/dev/sd") and not disk.map
            leaf.path = f"/dev/{disk_names.part_name(disk.paths[0].name, number)}" if by_kernel else disk_names.member(disk, number)
            leaf.devid = disk_names.devid(disk, number, node.sg3_rules)
            leaf.whole_disk = 0 if disk.map else leaf.whole_disk
            leaf.phys_path = disk_names.phys_path(disk)
            leaf.enc_path = leaf.enc_path if node.bay_of(disk.wwid) or disk.vendor == "ATA" else ""


def _away(leaf: Vdev, like: Callable[[str], Disk]) -> Disk | None:
    """What the disk of a lost member would be: one like the others, by the WWN in its name."""
    wwid = normalise(leaf.path)
    return like(wwid) if wwid and scheme(wwid) == "naa" else None

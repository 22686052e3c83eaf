"""The disks of a node turned into those of another kind: what a home server or a Proxmox host has, where the lab's nodes have SAS."""

from collections.abc import Callable
from dataclasses import replace

from agents.domain.wwid import normalise, scheme
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
    if change is nvme:
        node.enclosures = []
    if change is multipath:
        node.hosts |= {str(int(host) + SECOND_HOSTS): address.replace("0000:", "0001:") for host, address in node.hosts.items()}
        for one in node.enclosures:
            host, _, rest = one.name.partition(":")
            one.second, one.second_sg = f"{int(host) + SECOND_HOSTS}:{rest}", SECOND_NAMES + one.sg
    for bay in (bay for enclosure in node.enclosures for bay in enclosure.bays):
        if bay.wwid:
            bay.wwid = names[bay.wwid].wwid
    return node


def _rename_leaves(node: Node, names: dict[str, Disk], like: Callable[[str], Disk]) -> None:
    """By the label, which says whose a disk is, or by its name where its disk is away."""
    owners = {part.label.guid: disk for disk in names.values() for part in disk.partitions if part.label}
    for pool in node.pools:
        for leaf in [*pool.leaves(), *pool.spares, *pool.caches]:
            if disk := owners.get(leaf.guid) or _away(leaf, like):
                leaf.path, leaf.devid = disk_names.member(disk), disk_names.devid(disk)
                leaf.whole_disk = 0 if disk.map else leaf.whole_disk
                leaf.phys_path = disk_names.phys_path(disk)
                leaf.enc_path = leaf.enc_path if node.bay_of(disk.wwid) or disk.vendor == "ATA" else ""


def _away(leaf: Vdev, like: Callable[[str], Disk]) -> Disk | None:
    """What the disk of a lost member would be: one like the others, by the WWN in its name."""
    wwid = normalise(leaf.path)
    return like(wwid) if wwid and scheme(wwid) == "naa" else None

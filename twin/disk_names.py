"""The names that a disk has on a node, by its kind: a WWN, a SATA disk without one, an NVMe namespace, a virtio disk.

`Disk.wwid` is the canonical identity and decides the kind: "naa:…", "ata:MODEL:SERIAL", or "eui:…", "uuid:…" and "nvme:…". An NVMe disk has no H:C:T:L; its place is
`Path.phys_path`, as udev writes it: "pci-0000:01:00.0-nvme-1". A virtio disk without a serial number has no identity at all: "virtio:N" is the
twin's own name for it, which nothing prints, and udev makes it the link of its place alone.
"""

import re
from collections.abc import Iterator

from agents.domain.wwid import by_id_path, scheme
from twin.model import Disk, Path

ATA_MODEL, ATA_SERIAL, SCSI_MODEL = 40, 20, 16  # characters of IDENTIFY, and of INQUIRY


def is_nvme(path: Path) -> bool:
    return path.name.startswith("nvme")


def is_virtio(path: Path) -> bool:
    return path.name.startswith("vd")


def is_usb(path: Path) -> bool:
    return "-usb-" in path.phys_path


def is_scsi(disk: Disk) -> bool:
    return not any(is_nvme(path) or is_virtio(path) for path in disk.paths)


def part_name(name: str, number: int) -> str:
    """sda1, nvme0n1p1."""
    return f"{name}p{number}" if name[-1].isdigit() else f"{name}{number}"


def by_id(disk: Disk) -> str:
    """The link that names this disk and no other; that of its place where it has no identity."""
    link = f"/dev/disk/by-path/{disk.paths[0].phys_path}" if scheme(disk.wwid) == "virtio" else by_id_path(disk.wwid)
    assert link is not None, f"{disk.wwid} is no identity that the twin can play"
    return link


def map_uuid(disk: Disk) -> str:
    return f"mpath-3{disk.hex}"


def whole(disk: Disk) -> str:
    """What a pool knows it by: its map, or the link of its identity."""
    return f"/dev/disk/by-id/dm-uuid-{map_uuid(disk)}" if disk.map else by_id(disk)


def member(disk: Disk, number: int = 1) -> str:
    """The same of a partition, by default of the one that ZFS makes, where it makes one."""
    return whole(disk) if disk.map else f"{by_id(disk)}-part{number}"


def map_links(disk: Disk) -> Iterator[str]:
    """Those that lead to the map. udev gives it precedence over its paths (link_priority in 11-dm-mpath.rules of multipath-tools)."""
    assert disk.map is not None
    yield from (whole(disk), f"/dev/disk/by-id/dm-name-{disk.map.name}", f"/dev/mapper/{disk.map.name}")
    yield from (by_id(disk), f"/dev/disk/by-id/scsi-3{disk.hex}")


def links(disk: Disk, path: Path, sg3_rules: bool = False) -> Iterator[str]:
    """All of them in /dev/disk/by-id. udev makes the two `nvme-MODEL_SERIAL` links beside the one of the namespace's own identifier."""
    if not is_virtio(path):
        yield by_id(disk)
    model = f"{disk.model.replace(' ', '_')}_{disk.serial}"
    if scheme(disk.wwid) == "naa":
        yield from (f"/dev/disk/by-id/{link}" for link in (_of_scsi(disk, sg3_rules) if path.sas_address else (f"ata-{model}",)))
    elif is_nvme(path):
        yield f"/dev/disk/by-id/nvme-{model}"
        yield f"/dev/disk/by-id/nvme-{model}_1"


def _of_scsi(disk: Disk, sg3_rules: bool) -> tuple[str, ...]:
    """The rules of sg3-utils (58-scsi-sg3_symlink.rules, 1.45 and 1.46) make a link of each designator of page 0x83 and one of the serial number.
    QEMU's disks have a vendor specific designator, type 0, which is their serial number."""
    model = f"{disk.vendor}_{disk.model.replace(' ', '_')}_{disk.serial}"
    return (f"scsi-3{disk.hex}", *((f"scsi-0{model}", f"scsi-S{model}") if sg3_rules else ()))


def t10(disk: Disk) -> str:
    """What libata makes of IDENTIFY."""
    return f"ATA     {disk.model:<{ATA_MODEL}}{disk.serial:>{ATA_SERIAL}}"


def kernel_wwid(disk: Disk) -> str:
    return f"t10.{t10(disk)}" if scheme(disk.wwid) == "ata" else disk.wwid.replace(":", ".", 1)


def devid(disk: Disk, number: int = 1, sg3_rules: bool = False) -> str:
    """What ZFS stores: the first link of the disk's bus (zfs_device_get_devid in lib/libzutil/os/linux/zutil_import_os.c), as libudev sorts them."""
    if scheme(disk.wwid) == "virtio":
        return ""
    if disk.map:
        return whole(disk).rpartition("/")[2]
    link = min(_of_scsi(disk, sg3_rules)) if scheme(disk.wwid) == "naa" else by_id(disk).rpartition("/")[2]
    return f"{link}-part{number}"


def phys_path(disk: Disk) -> str:
    """What ZFS stores of the way to it: udev gives a map none."""
    return "" if disk.map or not disk.paths else disk.paths[0].phys_path


def pci_address(path: Path) -> str:
    """Of an NVMe controller."""
    return path.phys_path.partition("pci-")[2].partition("-nvme")[0]


def nvme_folder(path: Path, port: str = "") -> str:
    """Where sysfs keeps the controller, below the port it is plugged into."""
    controller = re.sub("n[0-9]+$", "", path.name)
    return f"/sys/devices/pci0000:00/{f'{port}/' if port else ''}{pci_address(path)}/nvme/{controller}"

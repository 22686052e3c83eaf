"""Partition tables: `sfdisk --json` prints one, `sgdisk` copies one and gives it GUIDs of its own, `proxmox-boot-tool` makes an EFI partition.

The texts are those of util-linux 2.38.1 and gdisk 1.0.9 (agents/tests/captures/sfdisk), and of the script src/bin/proxmox-boot-tool.
"""

import json
import uuid
import zlib
from collections.abc import Sequence

from twin import blkid
from twin.answer import Answer
from twin.model import SECTOR, Disk, Node, Partition
from twin.vdevs import ALIGN_SECTORS, GPT_SECTORS
from twin.view import Device, View

EXIT_REFUSED, EXIT_CANNOT_OPEN = 1, 8
DONE = "The operation has completed successfully.\n"
BIOS_BOOT = "21686148-6449-6e6f-744e-656564454649"
SWAP = "0657fd6d-a4ab-43c4-84e5-0933c84b4f4f"
ESP = "c12a7328-f81f-11d2-ba4b-00a0c93ec93b"
BOOT_SECTORS, ESP_SECTORS, ESP_BYTES_MIN = 2048 - GPT_SECTORS, 512 * ALIGN_SECTORS, 256 << 20


def boot_disk(disk: Disk) -> list[Partition]:
    """As the installer of Proxmox VE does: BIOS boot, EFI partition, and the pool on the third."""
    start = ALIGN_SECTORS + ESP_SECTORS
    last = disk.size_bytes // SECTOR - GPT_SECTORS
    disk.partitions[:] = [
        Partition(1, GPT_SECTORS, BOOT_SECTORS, kind=BIOS_BOOT),
        Partition(2, ALIGN_SECTORS, ESP_SECTORS, kind=ESP),
        Partition(3, start, last - start, kind=blkid.SOLARIS_USR_AND_APPLE_ZFS),
    ]
    return disk.partitions


def swap_and_data(disk: Disk) -> list[Partition]:
    """Swap that is not in use, and the pool on the second."""
    start = ALIGN_SECTORS + ESP_SECTORS
    last = disk.size_bytes // SECTOR - GPT_SECTORS
    disk.partitions[:] = [
        Partition(1, ALIGN_SECTORS, ESP_SECTORS, kind=SWAP),
        Partition(2, start, last - start, kind=blkid.SOLARIS_USR_AND_APPLE_ZFS),
    ]
    return disk.partitions


def sfdisk(view: View, args: Sequence[str], now: float) -> Answer:
    device = view.device(args[1]) if len(args) == 2 and args[0] == "--json" else None
    if device is None or not device.is_whole:
        return Answer(EXIT_REFUSED, "", f"sfdisk: cannot open {args[-1] if args else ''}: No such file or directory\n")
    if not device.disk.table:
        return Answer(EXIT_REFUSED, "", f"sfdisk: {args[1]}: does not contain a recognized partition table\n")
    return Answer(0, _table(device.disk, args[1]), "")


def _table(disk: Disk, name: str) -> str:
    sectors = disk.size_bytes // SECTOR
    mark = "-part" if name.startswith("/dev/disk/") else "p" if name[-1].isdigit() else ""
    rows = [
        {
            "node": f"{name}{mark}{part.number}",
            "start": part.start,
            "size": part.sectors,
            "type": blkid.kind_of(part).upper(),
            "uuid": blkid.partition_uuid(disk, part).upper(),
        }
        for part in disk.partitions
    ]
    head: dict[str, object] = {"label": "gpt", "id": blkid.table_uuid(disk).upper(), "device": name, "unit": "sectors"}
    head |= {"firstlba": GPT_SECTORS, "lastlba": sectors - GPT_SECTORS, "sectorsize": disk.logical_block_bytes}
    return json.dumps({"partitiontable": {**head, "partitions": rows}}, indent=3) + "\n"


def version(view: View, args: Sequence[str], now: float) -> Answer:
    return Answer(0, "GPT fdisk (sgdisk) version 1.0.9\n\n")


def sgdisk(node: Node, args: Sequence[str]) -> Answer | None:
    """Of the two forms that are given. None for any other."""
    view = View(node)
    device = view.device(args[-1]) if len(args) == 2 else None
    if device is None or not device.is_whole:
        return None
    if args[0].startswith("--replicate="):
        other = view.device(args[0].partition("=")[2])
        return _replicate(device, other) if other is not None and other.partition is None else None
    if args[0] == "--randomize-guids":
        device.disk.table_uuid = ""
        for part in device.disk.partitions:
            part.uuid = ""
        return Answer(0, DONE)
    return None


def _replicate(source: Device, other: Device) -> Answer:
    """It writes to `other`, and reads `source`. Content is not copied; what was on the disk is not erased either, and not there any more for the kernel."""
    if not other.path.runs or not source.path.runs:
        return Answer(EXIT_CANNOT_OPEN, "", "Problem opening the device for reading! Error is 6.\n")
    other.disk.table_uuid = blkid.table_uuid(source.disk)
    other.disk.partitions[:] = [
        Partition(p.number, p.start, p.sectors, kind=blkid.kind_of(p), uuid=blkid.partition_uuid(source.disk, p))
        for p in source.disk.partitions
    ]
    return Answer(0, DONE)


def proxmox_boot_tool(node: Node, args: Sequence[str]) -> Answer | None:
    """`format` and `init` of one partition. None for anything else."""
    device = View(node).device(args[1]) if len(args) in (2, 3) else None
    if node.boot_uuids is None or device is None or device.partition is None or tuple(args[2:]) not in ((), ("grub",)):
        return None
    part, name = device.partition, args[1]
    if part.sectors * SECTOR < ESP_BYTES_MIN:
        return Answer(EXIT_REFUSED, "", f"E: '{name}' is too small (<256M).\n")
    if args[0] == "format" and len(args) == 2:
        if part.fs_uuid or part.filesystem:
            return Answer(EXIT_REFUSED, "", f"E: '{name}' contains a filesystem ('vfat') - exiting (use --force to override)\n")
        part.fs_uuid = _fat_uuid(device)
        return Answer(0, f"Formatting '{name}' as vfat..\nDone.\n")
    if args[0] != "init":
        return None
    if not part.fs_uuid:
        return Answer(EXIT_REFUSED, "", f"E: '{name}' has wrong filesystem (!= vfat).\n")
    node.boot_uuids = sorted({*node.boot_uuids, part.fs_uuid})
    loader = "Installing grub x86_64 target.." if "grub" in args else "Installing systemd-boot..\nConfiguring systemd-boot.."
    return Answer(0, f"{loader}\nUnmounting '{name}'.\nAdding '{name}' to list of synced ESPs..\n")


def _fat_uuid(device: Device) -> str:
    """A volume id that is not chosen, yet the same for the same disk."""
    number = f"{zlib.crc32(uuid.uuid5(uuid.NAMESPACE_OID, device.disk.wwid).bytes):08X}"
    return f"{number[:4]}-{number[4:]}"

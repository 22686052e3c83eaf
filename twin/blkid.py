"""`blkid -p DEV`: what low-level probing finds on one device; nothing and exit 2 on an empty one, or one that cannot be read."""

import uuid

from twin.model import SECTOR, Disk, Node, Partition
from twin.view import Device

EXIT_NOTHING = 2
WITH_UTIL_LINUX_2_41 = (2, 4)  # the lab has 2.4 on Debian trixie, and what is before it on bookworm, with 2.38
EXT4_BLOCK, PAGE = 1024, 4096
DISKS_OF_A_MAJOR, MINORS_OF_A_DISK = 16, 16
FIRST_MAJORS = (8, *range(65, 72), *range(128, 136))  # of SCSI disks, sixteen to each (Linux, devices.txt)
SOLARIS_USR_AND_APPLE_ZFS = "6a898cc3-1dd2-11b2-99a6-080020736631"
SOLARIS_RESERVED = "6a945a3b-1dd2-11b2-99a6-080020736631"
LINUX_FILESYSTEM = "0fc63daf-8483-4772-8e79-3d69d8477de4"


def probe(node: Node, device: Device, path: str) -> tuple[int, str]:
    """(exit code, text). `path` is the device as it was asked for."""
    if not device.path.runs:
        return EXIT_NOTHING, ""
    tags = _tags(node, device)
    if not tags:
        return EXIT_NOTHING, ""
    return 0, f"{path}: " + " ".join(f'{key}="{value}"' for key, value in tags.items()) + "\n"


def _tags(node: Node, device: Device) -> dict[str, object]:
    if device.partition is None:
        return {"PTUUID": table_uuid(device.disk), "PTTYPE": "gpt"} if device.disk.table else {}
    return {**_content(node, device.partition), **({} if device.is_whole else _entry(device, device.partition))}


def table_uuid(disk: Disk) -> str:
    return disk.table_uuid or _uuid(disk.wwid)


def partition_uuid(disk: Disk, partition: Partition) -> str:
    return partition.uuid or _uuid(f"{disk.wwid}/{partition.number}")


def _content(node: Node, partition: Partition) -> dict[str, object]:
    """Up to 2.1 nothing is found on a hot spare, which has labels and no uberblock there. The blkid that came with 2.4, of util-linux 2.41, prints more,
    and finds nothing where a member was replaced while it served: its label's txg is 0."""
    label, newer = partition.label, node.release >= WITH_UTIL_LINUX_2_41
    if label and label.copies:
        pool = node.pool(label.pool)
        order = {"ENDIANNESS": "LITTLE"} if newer else {}
        if any(spare.guid == label.guid for spare in pool.spares):
            fields = {"VERSION": 5000, "UUID_SUB": label.guid, **order, "TYPE": "zfs_member", "USAGE": "filesystem"}
            return fields if node.release >= (2, 2) else {}
        if newer and not label.txg:
            return {}
        names = {"VERSION": 5000, "LABEL": pool.name, "UUID": pool.guid, "UUID_SUB": label.guid, **({"FSBLOCKSIZE": 4096} if newer else {})}
        return {**names, "BLOCK_SIZE": 4096, **order, "TYPE": "zfs_member", "USAGE": "filesystem"}
    own = {"UUID": _uuid(f"{partition.filesystem} {partition.start}")}
    if partition.swap or partition.filesystem == "swap":
        return {**(_size_of_swap(partition) if newer else {}), **own, "VERSION": 1, "TYPE": "swap", "USAGE": "other"}
    if partition.fs_uuid:
        return {"VERSION": "FAT32", "UUID": partition.fs_uuid, "BLOCK_SIZE": 512, "TYPE": "vfat", "USAGE": "filesystem"}
    if partition.filesystem == "ext4":
        blocks = partition.sectors * SECTOR // EXT4_BLOCK
        block, size = ({"FSBLOCKSIZE": EXT4_BLOCK}, {"FSLASTBLOCK": blocks, "FSSIZE": blocks * EXT4_BLOCK}) if newer else ({}, {})
        return {**own, "VERSION": "1.0", **block, "BLOCK_SIZE": EXT4_BLOCK, **size, "TYPE": "ext4", "USAGE": "filesystem"}
    return {**own, "TYPE": partition.filesystem, "USAGE": "filesystem"} if partition.filesystem else {}


def _size_of_swap(partition: Partition) -> dict[str, object]:
    """Its first page holds the header."""
    pages = partition.sectors * SECTOR // PAGE
    return {"ENDIANNESS": "LITTLE", "FSBLOCKSIZE": PAGE, "FSSIZE": (pages - 1) * PAGE, "FSLASTBLOCK": pages}


def kind_of(partition: Partition) -> str:
    """Its type, as the partition table has it."""
    if partition.kind or partition.filesystem:
        return partition.kind or LINUX_FILESYSTEM
    return {1: SOLARIS_USR_AND_APPLE_ZFS, 9: SOLARIS_RESERVED}.get(partition.number, LINUX_FILESYSTEM)


def _entry(device: Device, partition: Partition) -> dict[str, object]:
    of_zfs = {1: ("zfs-" + _uuid(device.disk.wwid)[:8] * 2, SOLARIS_USR_AND_APPLE_ZFS), 9: ("", SOLARIS_RESERVED)}
    name, kind = ("", LINUX_FILESYSTEM) if partition.filesystem else of_zfs.get(partition.number, ("", LINUX_FILESYSTEM))
    name, kind = ("", partition.kind) if partition.kind else (name, kind)
    return {
        "PART_ENTRY_SCHEME": "gpt",
        **({"PART_ENTRY_NAME": name} if name else {}),
        "PART_ENTRY_UUID": partition_uuid(device.disk, partition),
        "PART_ENTRY_TYPE": kind,
        "PART_ENTRY_NUMBER": partition.number,
        "PART_ENTRY_OFFSET": partition.start,
        "PART_ENTRY_SIZE": partition.sectors,
        "PART_ENTRY_DISK": device_number(device.path.name),
    }


def device_number(name: str) -> str:
    """Of a whole disk: sda is 8:0, sdb 8:16, sdq 65:0, nvme0n1 259:0."""
    if name.startswith("nvme"):
        return f"259:{int(name[len('nvme') :].partition('n')[0])}"
    index = 0
    for letter in name[len("sd") :]:
        index = 26 * index + ord(letter) - ord("a") + 1
    major, place = divmod((index - 1) % (DISKS_OF_A_MAJOR * len(FIRST_MAJORS)), DISKS_OF_A_MAJOR)
    return f"{FIRST_MAJORS[major]}:{MINORS_OF_A_DISK * place}"


def _uuid(of: str) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_URL, of))

"""`blkid -p DEV`: what low-level probing finds on one device; nothing and exit 2 on an empty one."""

from __future__ import annotations

import uuid
from typing import Tuple

from agents.twin.model import Disk, Node, Partition
from agents.twin.view import Device

EXIT_NOTHING = 2


def probe(node: Node, device: Device) -> Tuple[int, str]:
    """(exit code, text)."""
    tags = _disk(device.disk) if device.partition is None else {**_content(node, device.partition), **_entry(device)}
    if not tags:
        return EXIT_NOTHING, ""
    return 0, f"/dev/{device.name}: " + " ".join(f'{key}="{value}"' for key, value in tags.items()) + "\n"


def _disk(disk: Disk) -> dict:
    if not disk.partitions:
        return {}
    return {"PTUUID": uuid.uuid5(uuid.NAMESPACE_URL, disk.wwid), "PTTYPE": "gpt"}


def _content(node: Node, partition: Partition) -> dict:
    if partition.label and partition.label.copies:
        pool = node.pool(partition.label.pool)
        names = {"VERSION": 5000, "LABEL": pool.name, "UUID": pool.guid, "UUID_SUB": partition.label.guid}
        return {**names, "BLOCK_SIZE": 4096, "TYPE": "zfs_member", "USAGE": "filesystem"}
    if partition.swap:
        return {"VERSION": 1, "TYPE": "swap", "USAGE": "other"}
    return {"TYPE": partition.filesystem, "USAGE": "filesystem"} if partition.filesystem else {}


def _entry(device: Device) -> dict:
    partition = device.partition
    assert partition is not None
    return {
        "PART_ENTRY_SCHEME": "gpt",
        "PART_ENTRY_UUID": uuid.uuid5(uuid.NAMESPACE_URL, f"{device.disk.wwid}/{partition.number}"),
        "PART_ENTRY_NUMBER": partition.number,
        "PART_ENTRY_OFFSET": partition.start,
        "PART_ENTRY_SIZE": partition.sectors,
    }

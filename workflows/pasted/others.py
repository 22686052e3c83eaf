"""Outputs that are recognised and not read: each is named with what to run instead, so that nobody takes silence for an answer."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

INSTEAD: tuple[tuple[str, str, str], ...] = (  # how it begins, what it is, what is read instead
    (
        r"NAME +USED +AVAIL +REFER +MOUNTPOINT",
        "`zfs list`",
        "It tells of file systems and of no disk; `zpool list -v` and `zpool status -P -p` are read.",
    ),
    (r"Filesystem +(?:1K-blocks|Size|512-blocks|Type) ", "`df`", "It tells of file systems and of no disk; `zpool list -v` is read."),
    (
        r"ZFS Subsystem Report|ARC (?:status|Summary|size \(current\)):",
        "`arc_summary`",
        "It tells of memory and of no disk; `zpool status -P -p` is read.",
    ),
    (r" *time +read +(?:ddread +)?(?:miss|dread)", "`arcstat`", "It tells of the cache and of no disk; `zpool iostat -v -l 5 2` is read."),
    (r"Personalities :", "/proc/mdstat", "md arrays are not ZFS and are not judged; `zpool status -P -p` is read."),
    (r"=> +[0-9]+ +[0-9]+ +\S+ +(?:GPT|MBR)", "`gpart show`", "It tells of partitions; `geom disk list` and `zdb -l DEVICE` are read."),
    (r"Disk /dev/\S+: [0-9.,]+ [KMGT]iB", "`fdisk -l`", "It tells of partitions; `lsblk -o NAME,TYPE,SIZE,MODEL,SERIAL,WWN` is read."),
    (r"Number +Start .*End .*Size", "`parted` or `sgdisk`", "It tells of partitions; `lsblk -o NAME,TYPE,SIZE,MODEL,SERIAL,WWN` is read."),
    (
        r"top - [0-9:]{8} up|procs -+memory",
        "`top` or `vmstat`",
        "It tells of processes; `zpool iostat -v -l 5 2` tells of disks and is read.",
    ),
    (r"/dev/\S+ -d \S+ # ", "`smartctl --scan`", "It lists disks; `smartctl -x DEVICE` of each is read."),
    (r"AVAILABLE DISK SELECTIONS:", "`format`", "It lists disks; `iostat -En` and `zpool status -P -p` tell of their health."),
    (
        r"--------------- ------------------------------------ +-------------- ---------|TIME +EVENT-ID +MSG-ID +SEVERITY",
        "`fmadm faulty`",
        "It is not read; `zpool status -P -p` and `iostat -En` are.",
    ),
)
_ALL = tuple((re.compile(first), what, instead) for first, what, instead in INSTEAD)

TOOLS: Mapping[str, str] = {
    "zfs": "It tells of file systems and of no disk; `zpool list -v` and `zpool status -P -p` are read.",
    "df": "It tells of file systems and of no disk; `zpool list -v` is read.",
    "arc_summary": "It tells of memory and of no disk; `zpool status -P -p` is read.",
    "arcstat": "It tells of the cache and of no disk; `zpool iostat -v -l 5 2` is read.",
    "gpart": "It tells of partitions; `geom disk list` and `zdb -l DEVICE` are read.",
    "fdisk": "It tells of partitions; `lsblk -o NAME,TYPE,SIZE,MODEL,SERIAL,WWN` is read.",
    "sfdisk": "It tells of partitions; `lsblk -o NAME,TYPE,SIZE,MODEL,SERIAL,WWN` is read.",
    "sgdisk": "It tells of partitions; `lsblk -o NAME,TYPE,SIZE,MODEL,SERIAL,WWN` is read.",
    "parted": "It tells of partitions; `lsblk -o NAME,TYPE,SIZE,MODEL,SERIAL,WWN` is read.",
    "mount": "It tells of file systems and of no disk; `zpool status -P -p` is read.",
    "lspci": "It tells which HBA is there; `dmesg` and `lsscsi -i -g -s` are read.",
    "iotop": "It tells of processes; `zpool iostat -v -l 5 2` is read.",
    "mpsutil": "It is not read; `sas3ircu 0 display`, `camcontrol devlist` and `sesutil map` are.",
    "mprutil": "It is not read; `sas3ircu 0 display`, `camcontrol devlist` and `sesutil map` are.",
    "diskinfo": "It tells of one disk; `geom disk list` tells of all and is read.",
    "format": "It lists disks; `iostat -En` and `zpool status -P -p` tell of their health.",
    "fmadm": "It is not read; `zpool status -P -p` and `iostat -En` are.",
}


def meaning(lines: Sequence[str]) -> str:
    """What an output that nobody reads is, and what to run instead; "" when it is not known either."""
    for line in lines[:40]:
        for form, what, instead in _ALL:
            if form.match(line):
                return f"This is {what}. {instead}"
    return ""

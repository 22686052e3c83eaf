"""A node of a hundred disks for measurements: ten raidz2 of ten on one shelf, no disk of which another such node sees."""

from __future__ import annotations

from pathlib import Path

from agents.collectors import COLLECTORS
from agents.collectors.base import Capture
from twin.build import add_pool, guid_of, member, sd_name, top
from twin.model import Bay, Disk, Enclosure, Knobs, Node, Pool
from twin.model import Path as Port
from twin.scenarios import Clock, host

DISKS, WIDTH = 100, 10
TEN_TB = 9796820402176


def captures(folder: Path, number: int) -> list[Capture]:
    """What every collector says of the `number`-th node; the real collectors ask a twin."""
    folder.mkdir(parents=True)
    asked = host(folder, hundred(number), Clock())
    return [capture for module in COLLECTORS.values() for capture in module.collect(asked)]


def name_of(number: int) -> str:
    return f"bench{number:03d}"


def hundred(number: int) -> Node:
    name = name_of(number)
    disks = [_disk(number, place) for place in range(DISKS)]
    bays = [Bay(str(place), place, status="OK", wwid=disk.wwid) for place, disk in enumerate(disks)]
    node = Node(
        hostname=name,
        hostid=f"5b2f{number:04x}",
        boot_id=f"6d1fb0f0-6a2c-4b7e-9d57-0e3f6c2f{number:04x}",
        kernel="5.14.0-427.31.1_lustre.el9.x86_64",
        kernel_build="#1 SMP PREEMPT_DYNAMIC Thu Aug 22 01:38:37 UTC 2024",
        zfs_userland="2.1.15-1",
        zfs_module="2.1.15-1",
        disks=disks,
        enclosures=[Enclosure("6:0:101:0", f"0x50050cc11ac1{number:04x}", "SEAGATE", "EXOS-E 5U84", "6020", 101, bays)],
        hosts={"6": "0000:b3:00.0"},
        mounts=["sysfs /sys sysfs rw,nosuid,nodev,noexec,relatime 0 0", "/dev/vda / ext4 rw,relatime 0 0"],
        knobs=Knobs(0.0, 0.0),
    )
    leaves = [member(node, disk, guid_of(name, disk.wwid)) for disk in disks]
    tops = [top("raidz", guid_of(name, i), leaves[i : i + WIDTH], TEN_TB, parity=2) for i in range(0, DISKS, WIDTH)]
    add_pool(node, Pool(name, guid_of("pool", name), tops, int(node.hostid, 16), name, alloc_bytes=1 << 47), disks, leaves)
    return node


def _disk(number: int, place: int) -> Disk:
    wwn = 0x5000C50000000003 + (number << 16) + (place << 4)
    port = Port(sd_name(place), f"6:0:{place}:0", place, f"0x{wwn - 2:016x}", f"pci-0000:b3:00.0-sas-0x{wwn - 2:016x}-lun-0")
    return Disk(f"naa:{wwn:016x}", f"ZA2{number:03d}{place:03d}", "SEAGATE", "ST10000NM0256", "TT54", TEN_TB, [port])

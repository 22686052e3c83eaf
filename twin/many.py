"""A fleet of as many nodes as are asked for, with troubles in the proportions of a real one: what a portal is tried with at scale.

Of two hundred nodes, four miss a disk, four have a faulted one, five resilver, two have lost a dozen disks at once, and twenty are
pairs that see each other's shelf. One node of each kind is a twin that the collectors ask; the others are that one under names of their own.
"""

import re
from collections.abc import Iterator

from twin.build import add_pool, member, sd_name, top
from twin.model import Bay, Disk, Enclosure, Knobs, Node, Path, Pool, Scan
from twin.scenarios import leaf_on, pull

WIDTH = 10  # of each raidz2
HEX_GUID = re.compile(r"0x([0-9a-f]{14,16})\b")
TEN_TB = 9796820402176
PREFIX = "load"
LOST_AT_ONCE = 12
NODES_MAX = 9000
PATTERN, PARTNER = 9901, 9902  # the numbers of a kind's own node, and of the one it shares shelves with


def name_of(number: int) -> str:
    return f"{PREFIX}{number:04d}"


def kind_of(number: int) -> str:
    """What is the matter with the `number`-th node; "" is nothing."""
    if number % 20 in (14, 15):
        return "paired"
    if number % 100 == 33:
        return "outage"
    return {7: "missing", 19: "faulted"}.get(number % 50, "resilvering" if number % 40 == 11 else "")


def pattern(kind: str, disks: int, now: float) -> Node:
    """The node that all of this kind are copies of. It owns so many disks: tens in vdevs, the rest blank."""
    node = _bare(PATTERN)
    own = _shelf(node, PATTERN, disks, 0)
    pool = _pool(node, PATTERN, own)
    if kind == "paired":
        _pool(node, PARTNER, _shelf(node, PARTNER, disks, disks), imported=False)
    _trouble(node, pool, kind, own, now)
    return node


def renamed(text: str, number: int) -> str:
    """What the pattern's node says, as the `number`-th node says it: every name, guid, address and serial number is its own."""
    partner = number + 1 if number % 20 == 14 else number - 1
    for mine, theirs in ((PATTERN, number), (PARTNER, partner)):
        for old, new in zip(_names(mine), _names(theirs), strict=False):
            text = text.replace(old, new)
        text = _with_guids(text, mine, theirs)
    return text


def _with_guids(text: str, mine: int, theirs: int) -> str:
    """The guids that `zpool events` prints in hexadecimal are its own too: nothing of their decimal digits stands there."""

    def anew(found: re.Match[str]) -> str:
        guid = str(int(found.group(1), 16))
        return f"0x{int(_guids(theirs) + guid[len(_guids(mine)) :]):x}" if guid.startswith(_guids(mine)) else found.group()

    return HEX_GUID.sub(anew, text)


def _names(number: int) -> Iterator[str]:
    """Everything by which a text names the `number`-th node, its disks or its pool: how they all begin."""
    yield name_of(number)
    yield f"ost_{number}"
    yield f"{_hostid(number):08x}"
    yield str(_hostid(number))
    yield f"30000{number:04x}"  # of its boot
    yield f"5000c50{number:05x}"
    yield f"5000C50{number:05X}"
    yield f"50050cc12bc{number:05x}"
    yield f"ZL{number:04d}"
    yield f"ZL{number:04d}".encode().hex()  # as the kernel has it from the disk
    yield _guids(number)


def _guids(number: int) -> str:
    """How its guids begin, in decimal."""
    return f"1{number:04d}77"


def _hostid(number: int) -> int:
    return 0x5B300000 + number


def _guid(owner: int, what: int) -> int:
    return int(f"1{owner:04d}77{what:012d}")


def _bare(number: int) -> Node:
    return Node(
        hostname=name_of(number),
        hostid=f"{_hostid(number):08x}",
        boot_id=f"6d1fb0f0-6a2c-4b7e-9d57-0e30000{number:04x}0",
        kernel="5.14.0-427.31.1_lustre.el9.x86_64",
        kernel_build="#1 SMP PREEMPT_DYNAMIC Thu Aug 22 01:38:37 UTC 2024",
        zfs_userland="2.1.15-1",
        zfs_module="2.1.15-1",
        hosts={"6": "0000:b3:00.0"},
        mounts=["sysfs /sys sysfs rw,nosuid,nodev,noexec,relatime 0 0", "/dev/vda / ext4 rw,relatime 0 0"],
        knobs=Knobs(0.0, 0.0),
    )


def _shelf(node: Node, owner: int, count: int, first: int) -> list[Disk]:
    """The shelf of `owner` with its disks, found by this node after `first` others."""
    disks = [_disk(owner, place, first + place) for place in range(count)]
    bays = [Bay(str(place), place, status="OK", wwid=disk.wwid) for place, disk in enumerate(disks)]
    at = 1000 + first + count
    node.enclosures.append(Enclosure(f"6:0:{at}:0", f"0x50050cc12bc{owner:05x}", "SEAGATE", "EXOS-E 5U84", "6020", at, bays))
    node.disks += disks
    return disks


def _disk(owner: int, place: int, index: int) -> Disk:
    wwn = int(f"5000c50{owner:05x}0000", 16) + (place << 4) + 3
    path = Path(sd_name(index), f"6:0:{index}:0", index, f"0x{wwn - 2:016x}", f"pci-0000:b3:00.0-sas-0x{wwn - 2:016x}-lun-0")
    return Disk(f"naa:{wwn:016x}", f"ZL{owner:04d}{place:03d}", "SEAGATE", "ST10000NM0256", "TT54", TEN_TB, [path])


def _pool(node: Node, owner: int, disks: list[Disk], imported: bool = True) -> Pool:
    name, hostname = f"ost_{owner}", name_of(owner)
    members = disks[: len(disks) // WIDTH * WIDTH]
    leaves = [member(node, disk, _guid(owner, 100 + place)) for place, disk in enumerate(members)]
    tops = [top("raidz", _guid(owner, 10 + i // WIDTH), leaves[i : i + WIDTH], TEN_TB, parity=2) for i in range(0, len(members), WIDTH)]
    pool = Pool(
        name, _guid(owner, 1), tops, _hostid(owner), hostname, imported=imported, alloc_bytes=min(1 << 47, len(tops) * (TEN_TB // 2))
    )  # no small pool holds more than it has room for
    return add_pool(node, pool, members, leaves)


def _trouble(node: Node, pool: Pool, kind: str, own: list[Disk], now: float) -> None:
    members: tuple[Disk, ...] = tuple(own[: len(own) // WIDTH * WIDTH])
    if kind == "missing":
        pull(node, members[3].wwid)
    if kind == "faulted":
        leaf = leaf_on(node, members[5].wwid)
        leaf.state, leaf.aux, leaf.errors = "FAULTED", "err_exceeded", [14, 3, 0]
    if kind == "resilvering":
        _resilver(pool, own, now)
    if kind == "outage":
        for disk in members[:: max(1, len(members) // LOST_AT_ONCE)][:LOST_AT_ONCE]:
            pull(node, disk.wwid)


def _resilver(pool: Pool, own: list[Disk], now: float) -> None:
    """The last member of the first vdev is being rebuilt since two hours."""
    leaf = pool.tops[0].children[-1]
    leaf.resilver_txg, leaf.dtl = max(1, pool.txg - 1440), 96
    share = pool.alloc_bytes // max(1, len(own))
    pool.scan = Scan("resilver", "running", now - 7200, 21600.0, pool.alloc_bytes, share, pool.alloc_bytes * 2 // 3)

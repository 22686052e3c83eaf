"""The demo fleet: one incident in full, one healthy node, one resilvering, one with a pulled disk.

oss01 is the story. Its shelf was seen as H 17 when `ost_0` was made; after a power cut every disk came back under H 6,
with targets from 90 up and names from sdcg up, because the old names were still held. One member of raidz2-3 did not
come back. Its label strings were taken from whatever its name led to at the last import, so they name the disk
beside it; and the name it had, sdfl, was given to a healthy member of the same pool.
"""

import json
import os
import random
import time
from collections.abc import Sequence
from pathlib import Path as FilePath

from agents.operations import OPERATIONS
from twin.build import add_pool, guid_of, member, partition, sd_name, top
from twin.model import Bay, Disk, Enclosure, Knobs, Label, Node, Partition, Path, Pool, Scan, Smart, Vdev
from twin.scenarios import add_foreign_pool, add_spare, pull
from twin.store import Store

RESILVER_SECONDS_VARIABLE = "SLOTLIGHT_TWIN_RESILVER_SECONDS"
RESILVER_SECONDS = 90.0
REPLACE_SECONDS = 3.0  # partitioning and attaching a real disk takes a few

UPTIME_SECONDS = 41 * 86400

TEN_TB = 9796820402176  # 19134414848 sectors: what both 10 TB models report here, "9.79TB" to lsscsi
EIGHT_TB = 8001563222016
TEBI = 1 << 40

WRITING = tuple(name for name, operation in OPERATIONS.items() if operation.EFFECT != "pure")
OPERATED = ("oss01", "oss02", "oss03")  # mds01 has no policy file: it lets itself be observed only

LOST_GUID = 14718944552882581455
SDCW_GUID = 7602460441426092393
SDCW_WWN = "5000cca273a7d9e8"
SDFL_WWN = "5000c500a6754abb"
BLANK_WWN = "5000c500a670c5fb"

# model -> vendor, rev, first WWN, step between WWNs, port address minus WWN, serial pattern, size, rotational
MODELS: dict[str, tuple[str, str, int, int, int, str, int, bool]] = {
    "ST10000NM0256": ("SEAGATE", "TT54", 0x5000C500A6510003, 4, -2, "ZA2%s", TEN_TB, True),
    "HUH721010AL5200": ("HGST", "LS15", 0x5000CCA273A50000, 4, 1, "7JG%sG", TEN_TB, True),
    "HUH728080AL5200": ("HGST", "A7J0", 0x5000CCA23B0A0000, 4, 1, "VJG%sX", EIGHT_TB, True),
    "ST2400MM0129": ("SEAGATE", "C004", 0x5000C500B3A10003, 4, -2, "WBM%s", 2400476553216, True),
    "KPM61VUG800G": ("KIOXIA", "0104", 0x58CE38EE20F00001, 4, 1, "X0V0A%s", 800166076416, False),
}
SERIAL_ALPHABET = "0123456789ABCDEFGHJKLMNPQRSTVWXYZ"


def node_names() -> tuple[str, ...]:
    return tuple(NODES)


def make(folder: os.PathLike[str], now: float | None = None) -> tuple[FilePath, ...]:
    """Write the state of every node: `folder`/NODE/state.json, and the policy beside it. What was there is replaced."""
    at = time.time() if now is None else now
    seconds = float(os.environ.get(RESILVER_SECONDS_VARIABLE, RESILVER_SECONDS))
    paths = []
    for name in NODES:
        paths.append(make_one(folder, name, at, Knobs(REPLACE_SECONDS, seconds)))
        if name in OPERATED:
            allow(policy_path(folder, name))
    return tuple(paths)


def make_one(folder: os.PathLike[str], name: str, at: float, knobs: Knobs) -> FilePath:
    """Write the state of this node alone."""
    node = NODES[name](at)
    node.knobs, node.booted_at = knobs, at - UPTIME_SECONDS
    path = state_path(folder, name)
    Store(path).create(node)
    return path


def state_path(folder: os.PathLike[str], node: str) -> FilePath:
    return FilePath(folder) / node / "state.json"


def policy_path(folder: os.PathLike[str], node: str) -> FilePath:
    return state_path(folder, node).with_name("policy.json")


def allow(path: FilePath) -> None:
    path.write_text(json.dumps({"mode": "operate", "operations": list(WRITING), "pools": ["*"]}) + "\n", encoding="ascii")
    path.chmod(0o644)  # an agent does not trust a policy that others can write


def oss01(now: float) -> Node:
    node = _node("oss01", "5b2f9c01", "2.1.15-1", {"0": "0000:00:17.0", "6": "0000:b3:00.0"})
    shelf = Enclosure("6:0:89:0", "0x50050cc11ac016e2", "SEAGATE", "EXOS-E 5U84", "6020", 89, _bays(84))
    node.enclosures.append(shelf)
    seats = {seat: _seated(node, shelf, seat) for seat in range(84) if seat not in OSS01_EMPTY}
    lost = _oss01_lost(seats[SEAT_SDCW])
    data = [seats[seat] for seat in sorted(seats) if seat not in OSS01_NOT_IN_POOL and seat != SEAT_SDCW]
    disks: list[Disk | None] = [*data[:30], None, seats[SEAT_SDCW], *data[30:]]
    leaves = [lost if disk is None else _oss01_leaf(node, disk) for disk in disks]
    tops = [_raidz2("ost_0", i, leaves[10 * i : 10 * i + 10]) for i in range(6)]
    pool = Pool("ost_0", guid_of("pool ost_0"), tops, int(node.hostid, 16), node.hostname, txg=2981744, alloc_bytes=int(1.12 * TEBI))
    node.pools.append(pool)
    for disk, leaf in zip(disks, leaves, strict=False):
        if disk is not None:
            partition(disk)[0].label = Label(pool.name, leaf.guid, pool.txg)
    add_foreign_pool(node, seats[SEAT_FOREIGN], "scratch9", "oss77", 0x5B2F9C77)
    node.mounts.append("ost_0/ost0 /mnt/ost0 lustre ro,svname=demo-OST0000,mgsnode=10.21.0.1@o2ib,osd=osd-zfs 0 0")
    return node


# The order in which the shelf reported its disks: seat 0 is target 90 and name sdcg. Three targets after seat 59 went
# to a disk that could not make up its mind and is gone.
SEAT_SDCW, SEAT_BLANK, SEAT_FOREIGN, SEAT_SMALL, SEAT_FAILING, SEAT_SDFL = 16, 17, 18, 19, 20, 83
OSS01_EMPTY = frozenset((3, 9, 14, 22, 27, 33, 38, 41, 45, 46, 47, 52, 58, 61, 64, 69, 70, 74, 77, 79, 81))
OSS01_NOT_IN_POOL = frozenset((SEAT_BLANK, SEAT_FOREIGN, SEAT_SMALL, SEAT_FAILING))
OSS01_WWNS = {SEAT_SDCW: SDCW_WWN, SEAT_SDFL: SDFL_WWN, SEAT_BLANK: BLANK_WWN}
OSS01_MODELS = {
    SEAT_SDCW: "HUH721010AL5200",
    SEAT_SDFL: "ST10000NM0256",
    SEAT_BLANK: "ST10000NM0256",
    SEAT_SMALL: "HUH728080AL5200",
}


def _seated(node: Node, shelf: Enclosure, seat: int) -> Disk:
    """The disk that reported itself as the `seat`-th. The shelf reports in the order of its wiring, not of its bays."""
    model = OSS01_MODELS.get(seat, "HUH721010AL5200" if seat % 5 in (1, 3) else "ST10000NM0256")
    target = 90 + seat + (3 if seat >= 60 else 0)
    disk = _sas_disk(node, model, seat, 84 + seat, f"6:0:{target}:0", OSS01_WWNS.get(seat, ""))
    _put_in(shelf.bays[(37 * seat + 64) % 84], disk)
    if seat == SEAT_FAILING:
        disk.smart = Smart(passed=False, grown_defects=1874)
    return disk


def _oss01_leaf(node: Node, disk: Disk) -> Vdev:
    if disk.hex == SDCW_WWN:
        leaf = member(node, disk, SDCW_GUID, "/dev/sdcw1")
        leaf.dtl = 403
        return leaf
    return member(node, disk, guid_of("ost_0", disk.wwid))


def _oss01_lost(sdcw: Disk) -> Vdev:
    """What the others' labels still say of the lost member. Nothing here but the guid is its own."""
    return Vdev(
        type="disk",
        guid=LOST_GUID,
        path="/dev/sdfl1",
        devid=f"scsi-3{SDCW_WWN}-part1",
        phys_path=sdcw.paths[0].phys_path,
        enc_path="/sys/class/enclosure/17:0:88:0/68",
        not_present=True,
        dtl=217,
        state="FAULTED",
        aux="corrupt_data",
    )


def mds01(now: float) -> Node:
    """Healthy: mirrors, a special mirror, a log, a spare; OpenZFS 2.3."""
    node = _node("mds01", "5b2f9c11", "2.3.2-1", {"0": "0000:00:17.0", "1": "0000:3b:00.0"})
    shelf = Enclosure("1:0:0:0", "0x50050cc10f2a4dff", "DELL", "MD1420", "1.09", 1, _bays(24))
    node.enclosures.append(shelf)
    models = ["ST2400MM0129"] * 8 + ["KPM61VUG800G"] * 3 + ["ST2400MM0129"]
    disks = [_sas_disk(node, model, i, 1 + i, f"1:0:{1 + i}:0") for i, model in enumerate(models)]
    for bay, disk in zip(shelf.bays, disks, strict=False):
        _put_in(bay, disk)
    leaves = [member(node, disk, guid_of("mdt_0", disk.wwid)) for disk in disks[:11]]
    tops = [_mirror("mdt_0", i, leaves[2 * i : 2 * i + 2], disks[2 * i].size_bytes) for i in range(4)]
    tops.append(_mirror("mdt_0", 4, leaves[8:10], disks[8].size_bytes, "special"))
    tops.append(top("disk", leaves[10].guid, leaves[10:11], disks[10].size_bytes, cls="log"))
    pool = Pool("mdt_0", guid_of("pool mdt_0"), tops, int(node.hostid, 16), node.hostname, txg=8812034, alloc_bytes=int(0.84 * TEBI))
    pool.scan = Scan("scrub", "finished", now - 3 * 86400, 5213.0, pool.alloc_bytes, 0)
    add_pool(node, pool, disks, leaves)
    add_spare(node, pool.name, disks[11])
    node.mounts.append("mdt_0/mdt0 /mnt/mdt0 lustre ro,svname=demo-MDT0000,mgsnode=10.21.0.1@o2ib,osd=osd-zfs 0 0")
    return node


def oss02(now: float) -> Node:
    """Resilvering since two hours, with four to go; OpenZFS 2.3."""
    node = _node("oss02", "5b2f9c02", "2.3.2-1", {"0": "0000:00:17.0", "7": "0000:5e:00.0"})
    disks = _plain_shelf(node, "7", "0x50050cc11ac01f4a", 31)
    pool = _plain_pool(node, "ost_2", disks[:30], alloc=int(187.4 * TEBI), txg=6120377)
    pull(node, disks[13].wwid)
    _replacing(node, pool, place=13, new=disks[30])
    share = pool.alloc_bytes // 30
    pool.scan = Scan("resilver", "running", now - 7200, 21600.0, pool.alloc_bytes, share, pool.alloc_bytes * 2 // 3)
    return node


def oss03(now: float) -> Node:
    """A member was pulled and none put in; one blank disk is on the shelf. OpenZFS 2.1."""
    node = _node("oss03", "5b2f9c03", "2.1.15-1", {"0": "0000:00:17.0", "7": "0000:5e:00.0"})
    disks = _plain_shelf(node, "7", "0x50050cc11ac02b06", 21)
    pool = _plain_pool(node, "ost_3", disks[:20], alloc=int(96.3 * TEBI), txg=4402915)
    pull(node, disks[6].wwid)
    pool.scan = Scan("scrub", "finished", now - 9 * 86400, 61213.0, pool.alloc_bytes, 0)
    return node


NODES = {"oss01": oss01, "mds01": mds01, "oss02": oss02, "oss03": oss03}


def _plain_shelf(node: Node, host: str, enclosure_id: str, count: int) -> list[Disk]:
    """A shelf of 60 bays whose disks were found in the order of their bays, the enclosure last."""
    shelf = Enclosure(f"{host}:0:{count}:0", enclosure_id, "HGST", "H4060-J", "2033", count + 1, _bays(60))
    node.enclosures.append(shelf)
    disks = []
    for i in range(count):
        model = "ST10000NM0256" if i % 3 else "HUH721010AL5200"
        disks.append(_sas_disk(node, model, i, 1 + i, f"{host}:0:{i}:0"))
        _put_in(shelf.bays[i], disks[-1])
    return disks


def _plain_pool(node: Node, name: str, disks: Sequence[Disk], alloc: int, txg: int) -> Pool:
    leaves = [member(node, disk, guid_of(name, disk.wwid)) for disk in disks]
    tops = [_raidz2(name, i, leaves[10 * i : 10 * i + 10]) for i in range(len(leaves) // 10)]
    pool = Pool(name, guid_of("pool", name), tops, int(node.hostid, 16), node.hostname, txg=txg, alloc_bytes=alloc)
    node.mounts.append(f"{name}/ost /mnt/{name} lustre ro,svname=demo-{name},mgsnode=10.21.0.1@o2ib,osd=osd-zfs 0 0")
    return add_pool(node, pool, disks, leaves)


def _replacing(node: Node, pool: Pool, place: int, new: Disk) -> None:
    """`new` is on its way to take the place of the `place`-th leaf."""
    parent = pool.tops[place // 10]
    old = parent.children[place % 10]
    leaf = member(node, new, guid_of(pool.name, new.wwid))
    leaf.resilver_txg, leaf.dtl = pool.txg - 1440, 96
    partition(new)[0].label = Label(pool.name, leaf.guid, pool.txg)
    parent.children[place % 10] = Vdev(type="replacing", guid=guid_of(pool.name, "replacing", place), children=[old, leaf])


def _raidz2(pool: str, index: int, leaves: Sequence[Vdev]) -> Vdev:
    return top("raidz", guid_of(pool, "raidz2", index), leaves, TEN_TB, parity=2)


def _mirror(pool: str, index: int, leaves: Sequence[Vdev], disk_bytes: int, cls: str = "data") -> Vdev:
    return top("mirror", guid_of(pool, "mirror", index), leaves, disk_bytes, cls=cls)


def _node(hostname: str, hostid: str, release: str, hosts: dict[str, str]) -> Node:
    rng = random.Random(f"boot {hostname}")
    raw = f"{rng.getrandbits(128):032x}"
    node = Node(
        hostname=hostname,
        hostid=hostid,
        boot_id=f"{raw[:8]}-{raw[8:12]}-4{raw[13:16]}-a{raw[17:20]}-{raw[20:]}",
        kernel="5.14.0-427.31.1_lustre.el9.x86_64",
        kernel_build="#1 SMP PREEMPT_DYNAMIC Thu Aug 22 01:38:37 UTC 2024",
        zfs_userland=release,
        zfs_module=release,
        hosts=hosts,
        mounts=["sysfs /sys sysfs rw,nosuid,nodev,noexec,relatime 0 0", "proc /proc proc rw,nosuid,nodev,noexec,relatime 0 0"],
    )
    node.disks.append(_system_disk(hostname))
    return node


def _system_disk(hostname: str) -> Disk:
    """What the node boots from: no member, mounted, and far too small."""
    rng = random.Random(f"boot disk {hostname}")
    wwn = f"55cd2e41{rng.getrandbits(32):08x}"
    serial = f"PHYF{rng.randrange(10**8):08d}240AGN"
    path = Path("sda", "0:0:0:0", 0, "", "pci-0000:00:17.0-ata-1.0")
    partitions = [
        Partition(1, 2048, 1228800, filesystem="vfat", mountpoint="/boot/efi"),
        Partition(2, 1230848, 2097152, filesystem="xfs", mountpoint="/boot"),
        Partition(3, 3328000, 16777216, swap=True),
        Partition(4, 20105216, 448755712, filesystem="xfs", mountpoint="/"),
    ]
    return Disk(f"naa:{wwn}", serial, "ATA", "INTEL SSDSC2KB24", "0132", 240057409536, [path], 512, 4096, False, partitions)


def _sas_disk(node: Node, model: str, number: int, index: int, hctl: str, wwn: str = "") -> Disk:
    """The `number`-th disk of its model on a node, under the `index`-th kernel name."""
    vendor, rev, first, step, port, pattern, size, rotational = MODELS[model]
    rng = random.Random(f"{node.hostname} {model} {number}")
    value = int(wwn, 16) if wwn else first + step * rng.randrange(0x8000)
    serial = pattern % "".join(rng.choice(SERIAL_ALPHABET) for _ in range(5 if "X0V" not in pattern else 4))
    host, _, target, _ = hctl.split(":")
    sas_address = f"0x{value + port:016x}"
    phys_path = f"pci-{node.hosts[host]}-sas-{sas_address}-lun-0"
    path = Path(sd_name(index), hctl, int(target) + (0 if host == "6" else 1), sas_address, phys_path)
    disk = Disk(f"naa:{value:016x}", serial, vendor, model, rev, size, [path], rotational=rotational)
    node.disks.append(disk)
    return disk


def _bays(count: int) -> list[Bay]:
    return [Bay(str(n), n, status="not installed") for n in range(count)]


def _put_in(bay: Bay, disk: Disk) -> None:
    bay.wwid, bay.status = disk.wwid, "OK"

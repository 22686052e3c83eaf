"""Tiny nodes for tests: one raidz2 of six lab disks and blank ones beside it, and the ways such a node goes wrong.

The disks are those of the lab that took the genuine captures: WWN 0x5000c500a65b200b and up by 0x10, 512 MiB each.
"""

import copy
from collections.abc import Callable, Sequence
from pathlib import Path as FilePath

from agents.collectors.zdb_label import DESTROYED
from twin.build import add_pool, guid_of, member, partition, sd_name, top
from twin.host import TwinHost
from twin.lab_image import image_of
from twin.model import FAULT_ASKED, Bay, Disk, Enclosure, Knobs, Label, Node, Path, Pool, Scan, Vdev
from twin.scan import catch_up
from twin.store import Store
from twin.vdevs import has_replicas, notes_removal

LAB_DISK_BYTES = 536870912
LAB_FIRST_WWN = 0x5000C500A65B200B
HBA_PHYS = 8  # the lab's HBAs take eight disks each
LAB_HBAS = {2: "0000:00:05.0", 3: "0000:00:06.0"}


def lab_disk(number: int, position: int, size_bytes: int = LAB_DISK_BYTES) -> Disk:
    """Lab disk `number` at the `position`-th phy: position 0 is sda, [2:0:0:0], sg0."""
    wwn = f"{LAB_FIRST_WWN + number * 0x10:016x}"
    host, phy = 2 + position // HBA_PHYS, position % HBA_PHYS
    path = Path(sd_name(position), f"{host}:0:{phy}:0", position, f"0x{wwn}", f"pci-{LAB_HBAS[host]}-sas-phy{phy}-lun-0")
    serial = f"ZA2{number:04d}X"
    return Disk(f"naa:{wwn}", serial, "SEAGATE", "ST10000NM0256", "TT54", size_bytes, [path], physical_block_bytes=512)


def lab_node(release: str = "2.1.11-1", disks: Sequence[Disk] = ()) -> Node:
    """A node named oss01 with `disks` in bays 1 and up of one enclosure of twelve."""
    bays, image = [Bay(f"Slot{n:02d}", n, status="not installed") for n in range(1, 13)], image_of(release)
    for bay, disk in zip(bays, disks, strict=False):
        bay.wwid, bay.status = disk.wwid, "OK"
    return Node(
        hostname="oss01",
        hostid="5b2f9c01",
        boot_id="6d1fb0f0-6a2c-4b7e-9d57-0e3f6c2f5a11",
        kernel=image.kernel,
        kernel_build=image.kernel_build,
        sg3_rules=image.sg3_rules,
        zfs_userland=release,
        zfs_module=release,
        disks=list(disks),
        enclosures=[Enclosure("2:0:24:0", "0x500605b0000272bf", "LSI", "SAS2X28", "0e12", 24, bays)],
        hosts={str(host): address for host, address in LAB_HBAS.items()},
        mounts=["sysfs /sys sysfs rw,nosuid,nodev,noexec,relatime 0 0", "/dev/vda / ext4 rw,relatime 0 0"],
        knobs=Knobs(replace_seconds=0.0, resilver_seconds=4.0),
    )


def tiny(
    release: str = "2.1.11-1",
    blanks: int = 2,
    guids: Sequence[int] | None = None,
    pool: str = "ost_0",
    size_bytes: int = LAB_DISK_BYTES,
) -> Node:
    """Pool `pool`: one raidz2 of lab disks 0 to 5 by their by-id names; `blanks` more disks that are in no pool.

    `guids` are those of the pool, its raidz2 and the six leaves, in that order.
    """
    ids = list(guids) if guids else [guid_of("tiny", pool, i) for i in range(8)]
    disks = [lab_disk(n, n, size_bytes) for n in range(6 + blanks)]
    node = lab_node(release, disks)
    leaves = [member(node, disk, guid) for disk, guid in zip(disks, ids[2:], strict=False)]
    for leaf in leaves:
        leaf.enc_path = ""  # the lab's HBA has no enclosure behind it
    raidz = top("raidz", ids[1], leaves, size_bytes, parity=2)
    made = Pool(pool, ids[0], [raidz], int(node.hostid, 16), node.hostname, alloc_bytes=392404992)
    add_pool(node, made, disks, leaves)
    return node


def draid() -> Node:
    """Eight disks in a draid2 of groups of four and two, with room for one spare spread over all of them; two blank disks beside it."""
    disks = [lab_disk(n, n) for n in range(10)]
    node = lab_node(disks=disks)
    leaves = [member(node, disk, guid_of("draid", disk.wwid)) for disk in disks[:8]]
    vdev = top("draid", guid_of("draid", 0), leaves, LAB_DISK_BYTES, parity=2, spares=1)
    vdev.ndata, vdev.nspares = 4, 1
    spare = Vdev(type="dspare", guid=guid_of("draid", "spare"), path="draid2-0-0", state="AVAIL")
    pool = Pool("dpool", guid_of("dpool"), [vdev], int(node.hostid, 16), node.hostname, spares=[spare], alloc_bytes=65396736)
    add_pool(node, pool, disks, leaves)
    return node


# release -> (lab disks in the order of the leaves, their names after the boot, the name the lost one had)
DRIFT = {
    "2.1": ((0, 1, 2, 3, 4, 5), {0: "sdb", 1: "sda", 3: "sdd", 4: "sdc", 5: "sdf", 8: "sde"}, "/dev/sdc1"),
    "2.3": ((0, 2, 1, 4, 3, 5), {0: "sdb", 1: "sda", 3: "sdd", 4: "sdc", 5: "sde", 8: "sdf"}, "/dev/sdb1"),
}
DRIFT_LOST = 2


def drifted(release: str = "2.1.11-1", guids: Sequence[int] | None = None) -> Node:
    """The lab's small WWID mismatch. Pool ost_1 was made under sdX names; after a boot in another order disk 2 is away.

    What it "was" is the name of a healthy member today; disk 8 is new, blank and the only right answer.
    """
    order, names, was = DRIFT[release[:3]]
    node = tiny(release, blanks=0, guids=guids, pool="ost_1")
    by_number = dict(enumerate(node.disks[:6]))
    by_number[8] = lab_disk(8, 8)
    node.disks.append(by_number[8])
    node.enclosures[0].bays[6].wwid, node.enclosures[0].bays[6].status = by_number[8].wwid, "OK"
    for number, name in names.items():
        by_number[number].paths[0].name = name
    for leaf, number in zip(node.pool("ost_1").leaves(), order, strict=False):
        disk = by_number[number]
        partition(disk)[0].label = Label("ost_1", leaf.guid, 4)
        leaf.path, leaf.devid, leaf.phys_path = f"/dev/{disk.paths[0].name}1", f"scsi-3{disk.hex}-part1", disk.paths[0].phys_path
    lose(node, by_number[DRIFT_LOST].wwid, was)
    return node


def member_back(release: str = "2.3.2-1") -> Node:
    """The same boot in another order, and nothing is missing: the lost member's own disk is there under another name."""
    node = drifted(release)
    pool = node.pool("ost_1")
    leaf = next(leaf for leaf in pool.leaves() if leaf.not_present)
    disk = lab_disk(DRIFT_LOST, 9)
    partition(disk)[0].label = Label("ost_1", leaf.guid, 4)
    node.disks.append(disk)
    bay = node.enclosures[0].bays[DRIFT_LOST]
    bay.wwid, bay.status = disk.wwid, "OK"
    return node


def shelf_disk() -> Disk:
    """A new disk outside the rack: blank, and under the first name that is free."""
    return lab_disk(9, 9)


def sick_disk(faulted: bool = False) -> Node:
    """The third disk of a raidz2 has had checksum errors, and ZED has marked it; or ZFS has given it up. It still sits in its bay."""
    node = tiny()
    leaf = node.pool("ost_0").leaves()[2]
    leaf.state, leaf.aux, leaf.errors = ("FAULTED", "err_exceeded", [14, 3, 0]) if faulted else ("DEGRADED", "err_exceeded", [0, 0, 29])
    node.enclosures[0].bays[2].fault = FAULT_ASKED
    node.mounts = ["sysfs /sys sysfs rw,nosuid 0 0"]
    return node


def pull(node: Node, wwid: str) -> Vdev:
    """Take a member's disk out of its bay: the leaf is REMOVED and the node does not see the disk any more."""
    leaf = leaf_on(node, wwid)
    leaf.state = "REMOVED"
    take_away(node, wwid)
    return leaf


def lose(node: Node, wwid: str, was: str) -> Vdev:
    """As after a boot without the disk: the leaf is FAULTED, known by its guid, "was" under a name of the past."""
    leaf = leaf_on(node, wwid)
    leaf.state, leaf.aux, leaf.not_present, leaf.path = "FAULTED", "corrupt_data", True, was
    take_away(node, wwid)
    return leaf


def take_away(node: Node, wwid: str) -> None:
    node.disks.remove(node.disk(wwid))
    _empty_bay(node, wwid)


def _empty_bay(node: Node, wwid: str) -> None:
    found = node.bay_of(wwid)
    if found:
        found[1].wwid, found[1].status = None, "not installed"


def unplug(node: Node, wwid: str) -> Disk:
    """Pull a disk out of its bay. A member that serves is REMOVED by it where ZFS notes that; one that was taken out of service stays OFFLINE."""
    deleted = next((disk for disk in node.deleted if disk.wwid == wwid), None)
    if deleted is not None:
        node.deleted.remove(deleted)
        _empty_bay(node, wwid)
        return deleted
    disk = node.disk(wwid)
    pool, leaf = _membership(node, disk) if notes_removal(node.release) else (None, None)
    if pool and leaf and leaf.state == "ONLINE" and has_replicas(pool, leaf):
        leaf.state = "REMOVED"
    elif pool and leaf and leaf.state == "ONLINE":
        suspend(pool, [leaf])
    take_away(node, wwid)
    return disk


def suspend(pool: Pool, lost: Sequence[Vdev]) -> None:
    """One member too many is gone: what is written next suspends the pool, and its tree stands still. The counts are those of a real node."""
    pool.suspended, pool.data_errors = "io", 4
    for leaf in lost:
        leaf.errors = [0, 12, 0]
    for top_vdev in pool.tops:
        if top_vdev.children and any(leaf in top_vdev.leaves() for leaf in lost):
            top_vdev.errors = [0, 12, 0]


def plug(node: Node, disk: Disk, bay: Bay | None, now: float | None = None) -> None:
    """Put a disk into an empty bay, or, where the node has none, onto a port. ZED brings a member back that is REMOVED or UNAVAIL, and it catches up; `zpool status` shows that when `now` is given."""
    if bay is not None:
        bay.wwid, bay.status = disk.wwid, "OK"
    node.disks.append(disk)
    pool, leaf = _membership(node, disk)
    if (
        pool and leaf and leaf.state in ("REMOVED", "UNAVAIL")
    ):  # zfs_process_add in cmd/zed/agents/zfs_mod.c leaves only an OFFLINE one alone
        leaf.state, leaf.aux = "ONLINE", ""
        if now is not None:
            catch_up(pool, now)


def _membership(node: Node, disk: Disk) -> tuple[Pool | None, Vdev | None]:
    """The imported pool that a disk is a member of, and as which."""
    labels = [p.label for p in disk.partitions if p.label and p.label.top is None]
    pool = next((pool for pool in node.imported if labels and pool.name == labels[0].pool), None)
    leaf = next((leaf for leaf in pool.leaves() if leaf.guid == labels[0].guid), None) if pool else None
    return pool, leaf


def bring_back(node: Node, disk: Disk, name: str) -> None:
    """Plug a disk in again, with what it carries. The kernel finds it under another name."""
    disk.paths[0].name = name
    node.disks.append(disk)


def add_former_member(node: Node, pool: str, disk: Disk, place: int) -> int:
    """A disk that once was the `place`-th leaf of the first raidz2: its label is of a pool that has moved on."""
    top_then = copy.deepcopy(node.pool(pool).tops[0])
    guid = guid_of("former", disk.wwid)
    top_then.children[place] = member(node, disk, guid)
    partition(disk)[0].label = Label(pool, guid, 3, top=top_then)
    return guid


def leaf_on(node: Node, wwid: str) -> Vdev:
    label = next(p.label for p in node.disk(wwid).partitions if p.label)
    return next(leaf for leaf in node.pool(label.pool).leaves() if leaf.guid == label.guid)


def add_foreign_pool(node: Node, disk: Disk, name: str, hostname: str, hostid: int, exported: bool = True) -> Pool:
    """A one-disk pool of another host on `disk`."""
    leaf = member(node, disk, guid_of(name, disk.wwid))
    leaf.enc_path = ""
    only = top("disk", leaf.guid, [leaf], disk.size_bytes)
    pool = Pool(name, guid_of(name), [only], hostid, hostname, imported=False, state=1 if exported else 0, txg=4711)
    return add_pool(node, pool, [disk], [leaf])


def add_spare(node: Node, pool: str, disk: Disk) -> Vdev:
    spare = member(node, disk, guid_of("spare", disk.wwid))
    spare.state = "AVAIL"
    partition(disk)[0].label = Label(pool, spare.guid, node.pool(pool).txg)
    node.pool(pool).spares.append(spare)
    return spare


def use_spare(node: Node, pool: str, disk: Disk, place: int, now: float, errors: int = 0) -> Vdev:
    """The hot spare on `disk` has taken over for the `place`-th leaf, and is filled. Returns the `spare` vdev."""
    found = node.pool(pool)
    listed = next(s for s in found.spares if any(p.label and p.label.guid == s.guid for p in disk.partitions))
    listed.state = "INUSE"
    raidz = found.tops[0]
    leaf = member(node, disk, listed.guid)
    pair = Vdev("spare", guid_of("spare", pool, place), [raidz.children[place], leaf], create_txg=4)
    raidz.children[place] = pair
    found.scan = Scan("resilver", "finished", now - 7200.0, 3600.0, found.alloc_bytes, found.alloc_bytes // 6, errors=errors)
    return pair


def spare_in_use(healed: bool = True, now: float = 1795248315.0) -> Node:
    """A spare stands in for the third disk of a raidz2, which is well again (or still away)."""
    node = tiny()
    add_spare(node, "ost_0", node.disks[6])
    pair = use_spare(node, "ost_0", node.disks[6], 2, now)
    if not healed:
        pair.children[0].state = "REMOVED"
        take_away(node, node.disks[2].wwid)
    node.mounts = ["sysfs /sys sysfs rw,nosuid 0 0"]
    return node


def replacement(old: str = "ONLINE", new: str = "ONLINE", filled: bool = False, ended: str = "canceled", now: float = 1795248315.0) -> Node:
    """The third disk of a raidz2 is being replaced by a disk in another bay, and nothing ends that: no scan runs.

    `old` and `new` are the states of the two halves; the disk of a REMOVED one is away. `filled`: whether the new half holds everything.
    """
    node = tiny()
    node.mounts = ["sysfs /sys sysfs rw,nosuid 0 0"]
    pool, disks = node.pool("ost_0"), (node.disks[2], node.disks[6])
    half = member(node, disks[1], guid_of("new half", disks[1].wwid))
    half.enc_path, half.resilver_txg = "", 0 if filled else pool.txg
    partition(disks[1])[0].label = Label(pool.name, half.guid, pool.txg)
    halves = [pool.tops[0].children[2], half]
    pool.tops[0].children[2] = Vdev("replacing", guid_of("replacing", pool.name), halves, create_txg=4)
    pool.scan = Scan("resilver", ended, now - 7200.0, 3600.0, pool.alloc_bytes, pool.alloc_bytes // 6)
    for leaf, state, disk in zip(halves, (old, new), disks, strict=True):
        leaf.state, leaf.aux = state, "err_exceeded" if state in ("FAULTED", "DEGRADED") else ""
        if state == "REMOVED":
            take_away(node, disk.wwid)
    return node


def superseded(release: str = "2.1.11-1") -> Node:
    """Disk 6 was a member of ost_0 until another disk was put in its place: its label is older than the pool, and its guid is no member's."""
    node = tiny(release)
    pool, disk = node.pool("ost_0"), node.disks[6]
    old = member(node, disk, guid_of("superseded", disk.wwid))
    old.enc_path = ""
    node.mounts = ["sysfs /sys sysfs rw,nosuid 0 0"]
    then = copy.deepcopy(pool.tops[0])
    then.children[2] = old
    pool.txg = 4000
    for label in filter(None, (serving.partitions[0].label for serving in node.disks[:6])):
        label.txg = 4000
    partition(disk)[0].label = Label(pool.name, old.guid, 2950, top=then)
    return node


def destroyed(release: str = "2.1.11-1") -> Node:
    """Disks 6 and 7 were the mirror of the pool scratch, which was destroyed on this node: their labels say so. ost_0 serves beside it."""
    node = tiny(release)
    disks = node.disks[6:]
    leaves = [member(node, disk, guid_of("scratch", disk.wwid)) for disk in disks]
    for leaf in leaves:
        leaf.enc_path = ""
    mirror = top("mirror", guid_of("scratch", "mirror"), leaves, disks[0].size_bytes)
    gone = Pool("scratch", guid_of("scratch"), [mirror], int(node.hostid, 16), node.hostname, imported=False, state=DESTROYED, txg=812)
    add_pool(node, gone, disks, leaves)
    node.mounts = ["sysfs /sys sysfs rw,nosuid 0 0"]
    return node


def not_imported(pool: str = "ost_0", blanks: int = 1) -> Node:
    """All disks of a pool are here and no host has it: the node lost power and came back without importing it."""
    node = tiny(blanks=blanks)
    node.pool("ost_0").imported = False
    node.mounts = ["sysfs /sys sysfs rw,nosuid 0 0"]
    return node


def _label_of(disk: Disk) -> Label:
    label = disk.partitions[0].label
    assert label is not None
    return label


def lost_last_txgs(seconds: int = 5) -> Node:
    """What the labels lead to is not there, on any disk alike: only a pool some seconds older can be read."""
    node = not_imported()
    node.pool("ost_0").rewind_seconds, node.pool("ost_0").txg = seconds, 4000  # an old pool: its rings hold what came before
    for disk in node.disks[:6]:
        _label_of(disk).txg = 4000
    return node


def lost_txgs(count: int = 9) -> Node:
    """Its last transaction groups cannot be loaded: every import fails. Each was five seconds."""
    return lost_last_txgs(5 * count)


def diverged_disk(number: int = 3) -> Node:
    """One disk of six was written to by another host, as a copy of the pool: it is far ahead, and every import follows it and fails."""
    node = not_imported()
    node.pool("ost_0").txg = 4000
    for disk in node.disks[:6]:
        _label_of(disk).txg = 4000
    disk = node.disks[number]
    _label_of(disk).txg, _label_of(disk).writer = 4400, "oss07 5b2f9c07"
    node.pool("ost_0").blocked_by = [disk.wwid]
    return node


class Clock:
    """A clock for tests: a sleep makes time pass."""

    def __init__(self, at: float = 1795248315.0) -> None:
        self.at = at

    def __call__(self) -> float:
        return self.at

    def sleep(self, seconds: float) -> None:
        self.at += seconds


def host(folder: FilePath, node: Node, clock: Clock | None = None) -> TwinHost:
    """A TwinHost on a fresh state in `folder`. With a `Clock` nothing ever really sleeps."""
    path = FilePath(folder) / "state.json"
    Store(path).create(node)
    if clock is None:
        return TwinHost(path)
    return TwinHost(path, clock, clock.sleep)


# Played by `./run demo --scenario NAME` beside the demo fleet, with those of `stories`: the node that needs the runbook of that name.
SCENARIOS: dict[str, Callable[[], Node]] = {
    "blink-and-replace": sick_disk,
    "spare-return": spare_in_use,
    "read-only-import": lost_last_txgs,
    "device-delete-reimport": diverged_disk,
    "rewind-import": lost_txgs,
    "rewind-import-for-good": lambda: lost_txgs(1),
    "wwid-mismatch-replace": drifted,
    "wwid-mismatch-replace-member-back": member_back,
}

"""Small nodes on which one thing is wrong, one at least for each runbook. `names` lists them, with those of `scenarios`."""

import copy
from collections.abc import Callable, Iterable

from twin.model import Node, Scan, Slow
from twin.scenarios import SCENARIOS, add_spare, tiny

TEN_TB = 9796820402176
GIB = 1 << 30
RESILVER_BYTES = 400 * GIB
RESILVER_SECONDS = 10 * 86400.0  # about half a MiB a second


def crawling(now: float, release: str = "2.3.2-1") -> Node:
    """A resilver that takes ten days, on disks that are all alike: no disk is at fault, the resilver just gets too little."""
    node = tiny(release, size_bytes=TEN_TB)
    pool = node.pool("ost_0")
    filled = pool.leaves()[2]
    filled.resilver_txg = pool.txg
    pool.alloc_bytes = RESILVER_BYTES
    pool.scan = Scan("resilver", "running", now - 86400, RESILVER_SECONDS, RESILVER_BYTES, RESILVER_BYTES // 6)
    return node


def odd_modes(now: float, release: str = "2.1.11-1") -> Node:
    """One member has its background scan off, another its write cache on behind the kernel's back; a hot spare differs, too."""
    node = tiny(release, blanks=2)
    spare = node.disks[6]
    add_spare(node, "ost_0", spare)
    node.disks[1].en_bms = False
    node.disks[4].wce, node.disks[4].believed = True, False
    spare.en_bms = False
    return node


def slow_member(now: float, release: str = "2.1.11-1") -> Node:
    """The fifth member waits 900 ms where its peers wait 6, counts slow I/Os, and corrects far more than its like; its link is quiet."""
    node = tiny(release)
    leaf, disk = node.pool("ost_0").leaves()[4], node.disks[4]
    leaf.wait_ms, leaf.slow = 900.0, 412
    disk.smart.corrected = 9_000_000_000
    return node


def unclear(now: float, release: str = "2.1.11-1") -> Node:
    """A slow member, on a node that does not say all: a line of the kernel that no rule explains, and events that never come in time."""
    node = slow_member(now, release)
    node.kernel_lines = ["ZFS: pool ost_0: allocation window moved for a reason of a release not yet written"]
    node.faults.slow.append(Slow(["zpool", "events"], 3600.0))
    return node


def weak_disk_link(now: float, release: str = "2.1.11-1") -> Node:
    """The link of the second disk counts errors; two lanes of the cable to the shelf have counted the same for years."""
    node = tiny(release)
    node.phys = {f"phy-2:{lane}": [4, 4, 4, 0] for lane in range(4)}
    node.phy_rates = {"phy-2:0:1": [5200.0, 380.0, 12.0, 1.0]}
    return node


def weak_cable(now: float, release: str = "2.1.11-1") -> Node:
    """One lane of the four that lead to the shelf counts errors."""
    node = tiny(release)
    node.phy_rates = {"phy-2:2": [9000.0, 700.0, 6.0, 0.0]}
    return node


def shelf_lost(now: float, release: str = "2.1.11-1") -> Node:
    """The only way to the shelf is gone: all six disks are offline at once, the pool is suspended. Nothing is wrong with any disk.

    A suspended pool's tree stands still, so every member is called ONLINE; the counts are those of a real node.
    """
    node = tiny(release, blanks=0)
    offline(node, range(6))
    pool = node.pool("ost_0")
    pool.suspended, pool.data_errors, pool.tops[0].errors = "io", 24, [0, 6, 0]
    for leaf in pool.leaves():
        leaf.errors = [3, 6, 0]
    return node


def backplane_lost(now: float, release: str = "2.3.2-1") -> Node:
    """Three members in bays side by side are gone. It is a raidz3, so the pool still serves."""
    node = tiny(release, blanks=2)
    node.pool("ost_0").tops[0].nparity = 3
    cut_off(node, (0, 1, 2))
    return node


def cut_off(node: Node, numbers: Iterable[int]) -> None:
    """The kernel has lost these disks, and the pool, which serves on, its members. A real node says no more of them than the state."""
    offline(node, numbers)
    for number in numbers:
        leaf = node.pool("ost_0").leaves()[number]
        leaf.state, leaf.aux, leaf.errors = "UNAVAIL", "", [3, 115, 0]


def offline(node: Node, numbers: Iterable[int]) -> None:
    for number in numbers:
        node.disks[number].paths[0].state = "offline"


def reconnected(node: Node) -> None:
    """The plug was pushed in: every disk is there again, under its name; the members are not opened by that."""
    for disk in node.disks:
        disk.paths[0].state = "running"


SICK = 4


def multihost(now: float, release: str = "2.3.2-1") -> Node:
    """One disk stalls, the whole HBA with it: no multihost write got through for ten seconds, and the pool is suspended."""
    node = tiny(release)
    disk, pool = node.disks[SICK], node.pool("ost_0")
    pool.suspended = "mmp"
    shelf, bay = node.bay_of(disk.wwid) or (node.enclosures[0], node.enclosures[0].bays[0])
    path = disk.paths[0]
    node.kernel_lines = [
        f"sd {path.hctl}: attempting task abort! scmd(00000000a2a34a0b)",
        f"scsi target{path.hctl.rpartition(':')[0]}: _scsih_tm_display_info: handle(0x00b3), sas_address({path.sas_address}), phy({SICK})",
        f"scsi target{path.hctl.rpartition(':')[0]}: enclosure logical id({shelf.id}), slot({bay.number})",
        f"sd {path.hctl}: task abort: SUCCESS scmd(00000000a2a34a0b)",
    ]
    return node


def partner(node: Node, hostname: str = "oss02") -> Node:
    """The other host that sees the same disks, and has not imported the pool."""
    other = copy.deepcopy(node)
    other.hostname, other.hostid, other.boot_id = hostname, "5b2f9c02", "6d1fb0f0-6a2c-4b7e-9d57-0e3f6c2f5a22"
    other.kernel_lines = []
    other.pool("ost_0").imported, other.pool("ost_0").suspended = False, ""
    return other


def rebooted(node: Node) -> None:
    """The node comes up again, and imports nothing by itself."""
    node.boot_id = "6d1fb0f0-6a2c-4b7e-9d57-0e3f6c2f5a99"
    node.booted_at += 9000.0
    node.kernel_lines, node.parameters = [], {}
    for pool in node.pools:
        pool.imported, pool.suspended = False, ""


STORIES: dict[str, Callable[[float], Node]] = {
    "resilver-tuning": crawling,
    "drive-mode-audit": odd_modes,
    "slow-disk-triage": slow_member,
    "slow-disk-triage-unclear": unclear,
    "sas-link-triage": weak_disk_link,
    "sas-link-triage-cable": weak_cable,
    "suspended-pool": multihost,
    "many-disks-offline": shelf_lost,
    "many-disks-offline-serving": backplane_lost,
}


def nodes(name: str, now: float) -> dict[str, Node]:
    """What `./run demo --scenario NAME` plays beside the demo fleet, by hostname. Raises KeyError for a name that is none."""
    if name not in STORIES:
        return {"oss01": SCENARIOS[name]()}
    node = STORIES[name](now)
    return {"oss01": node, "oss02": partner(node)} if name == "suspended-pool" else {"oss01": node}


def names() -> tuple[str, ...]:
    return (*SCENARIOS, *STORIES)

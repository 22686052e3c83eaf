"""The shape of facts. A field is a value, or an `Unknown` that says why it is not known.

`None` and empty tuples are answers ("it has none"); only `Unknown` means that it is not known. Guards must treat
`Unknown` as a refusal, so nothing here defaults to a comfortable value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from agents.collectors.base import Unparsed, UnreadLine
from agents.collectors.boot_tool import BootTool
from agents.collectors.zpool_import import MISSING
from workflows.facts.read.fragments import Fragments
from workflows.facts.source_names import not_read
from workflows.facts.unknown import Known, Unknown, known

if TYPE_CHECKING:  # each topic has a file of its own, which needs this one
    from agents.collectors.kernel_log import KernelLog
    from agents.collectors.zdb_config import CachedPool
    from agents.collectors.zfs_get import Datasets
    from agents.collectors.zfs_snapshots import Snapshot
    from agents.collectors.zpool_events import Event
    from agents.collectors.zpool_history import History
    from agents.collectors.zpool_list import PoolSpace
    from agents.collectors.zpool_status_errors import ErrorList
    from agents.orders.policy import Policy
    from workflows.analysis.zfs_refusals import Refusal
    from workflows.facts.fleet.identity import Identity, Remembered
    from workflows.facts.read.disk_condition import ConditionFacts
    from workflows.facts.read.disk_modes import ModeFacts
    from workflows.facts.read.disk_service import ServiceFacts
    from workflows.facts.read.enclosures import EnclosureFacts
    from workflows.facts.read.fabric import FabricFacts, LinkFacts
    from workflows.facts.read.firmware import FirmwareFacts
    from workflows.facts.read.hostids import HostidFacts
    from workflows.facts.read.inquiries import Inquiry
    from workflows.facts.read.kstats import KstatFacts
    from workflows.facts.read.labels import Copies, Expected
    from workflows.facts.read.latency import PoolLatency
    from workflows.facts.read.pool_loads import FailedLoad
    from workflows.facts.read.scan_progress import ScanProgress
    from workflows.facts.read.slots import BayWitness
    from workflows.facts.read.smart_reports import ReportFacts
    from workflows.facts.read.tunables import TunablesFacts
    from workflows.facts.read.uberblocks import PoolTimeline

REPAIRS = ("resilver", "rebuild")  # the scans that fill a disk; a scrub only looks


@dataclass(frozen=True)
class ScanFacts:
    """One `scan:` entry of `zpool status`. Bytes are not here: the text prints them rounded."""

    function: str  # "none", "scrub", "resilver", "rebuild"
    state: str  # "none", "running", "paused", "finished", "canceled"
    text: str  # as printed, lines joined by newline
    percent: str | None = None  # "32.28", as printed; may exceed 100
    errors: int | None = None  # "with N errors", finished scans only
    eta: str | None = None  # as printed: "0h12m", "no estimated completion time"
    seconds_left: int | None = None  # of a scan that runs; None where none are printed
    began: str | None = None  # "2024-01-14T03:35:24" by the node's own clock and zone (the JSON in seconds: UTC); None where not printed
    ended: str | None = None  # likewise, when it finished or was cancelled
    repaired: str | None = None  # by a scrub, rounded as it is printed: "0B", "1.2M"


@dataclass(frozen=True)
class VdevFacts:
    """One vdev of an imported pool, joined from `zpool status` by name and by guid, and from the labels.

    `kind` is "root", "disk", "file", "mirror", "raidz", "draid", "replacing", "spare", "indirect" or "other";
    `parity` is 1..3 on raidz and draid, else 0. `wwid` is the disk whose label carries this guid, found by
    label and never by name.
    """

    guid: Known[int]
    name: str  # as `zpool status -P` prints it: "/dev/disk/by-id/…-part1", "raidz2-0", or the guid of an absent leaf
    kind: str
    parity: int
    state: str  # ONLINE, DEGRADED, FAULTED, OFFLINE, REMOVED, UNAVAIL, SPLIT, AVAIL, INUSE, or what is printed instead; "" was not read
    errors: Known[tuple[int, int, int]]  # read, write, checksum; unknown where they are rounded
    note: str
    children: tuple[VdevFacts, ...] = ()
    was: str | None = None  # stored path of an absent leaf; a string of the past, not a lookup
    resilvering: bool = False
    awaiting_resilver: bool = False
    wwid: Known[str] = Unknown("no label was joined")
    devid: str | None = None  # from the labels' vdev_tree; a hint only
    ashift: Known[int] = Unknown("no label was joined")  # top-level vdevs
    rebuilding_since_txg: int | None = None  # label's resilver_txg or rebuild_txg
    phys_path: str | None = None  # like devid: as old as the last import that found the disk
    enc_path: str | None = None
    rounded: tuple[str, ...] = ()  # the counters as printed where they are no whole numbers: "0", "0", "1.21K"
    slow: int | None = None  # slow I/Os, where the text counts them
    columns: tuple[tuple[str, str], ...] = ()  # name and value of what -c adds, and of what POWER, DIO and a rounded SLOW say of trouble
    gone: Known[bool] = False  # called in service while the kernel has no running disk for it: suspended, or not noticed by ZFS

    @cached_property
    def _all(self) -> tuple[VdevFacts, ...]:
        """Kept, because a tree is walked by every detector."""
        return (self, *(vdev for child in self.children for vdev in child._all))

    @cached_property
    def _leaves(self) -> tuple[VdevFacts, ...]:
        return tuple(vdev for vdev in self._all if not vdev.children)

    def walk(self) -> Iterator[VdevFacts]:
        """This vdev and all below it, each before those below it."""
        return iter(self._all)

    def leaves(self) -> tuple[VdevFacts, ...]:
        return self._leaves

    @property
    def figures(self) -> tuple[str, ...]:
        """Read, write and checksum errors as printed, exact or rounded; empty where none were read."""
        return tuple(map(str, self.errors)) if known(self.errors) else self.rounded

    @property
    def slow_printed(self) -> str:
        """Its slow I/Os as printed, exact or rounded; "" where there are none, or they were not counted."""
        return str(self.slow) if self.slow else dict(self.columns).get("SLOW", "")

    @property
    def short(self) -> str:
        """The last part of its name; of the old half of a replacement in place ("slot6/old") the last two."""
        return "/".join(self.name.rsplit("/", 2)[-2:]) if self.name.endswith("/old") else self.name.rsplit("/", 1)[-1]

    @property
    def counted(self) -> bool:
        """Whether it shows errors, exact or rounded."""
        return any(self.errors) if known(self.errors) else any(figure != "0" for figure in self.rounded)


@dataclass(frozen=True)
class PoolFacts:
    """One imported pool. `tops` pairs each top-level vdev with its class: "data", "special", "dedup", "log".

    `tops` and `scans` are what guards read: unknown as soon as one line of the pool was not understood (`unread`), or the text was
    rebuilt. `tops_read` is for showing and for situations: every row that was understood, whatever stands around it.
    """

    name: str
    guid: Known[int]
    state: str  # as printed: ONLINE, DEGRADED, SUSPENDED, ...
    suspended: Known[bool]
    scans: Known[tuple[ScanFacts, ...]]
    tops: Known[tuple[tuple[str, VdevFacts], ...]]
    spares: tuple[VdevFacts, ...] = ()
    caches: tuple[VdevFacts, ...] = ()
    removal_line: str = ""  # the `remove:` entry as printed, for situations; "" when there is none
    expansion_line: str = ""  # the same of `expand:`
    checkpoint_line: str = ""  # the same of `checkpoint:`
    status: str = ""
    action: str = ""
    see: str = ""
    errors: str = ""  # the `errors:` line with the files below it; "" where none was read, see `errors_reported`
    snapshots: Known[tuple[Snapshot, ...]] = Unknown(not_read("zfs_snapshots"))  # those in which data is damaged
    error_list: Known[ErrorList] = Unknown("Its list of damaged data was not read.")  # of a node with an agent; a paste has it in `errors`
    datasets: Known[Datasets] = Unknown("Its datasets were not read.")  # what they need before they serve
    removing: Known[bool] = Unknown("not read")  # a `remove:` entry in progress
    expanding: Known[bool] = Unknown("not read")  # raidz expansion in progress
    checkpoint: Known[bool] = Unknown("not read")
    space: Known[PoolSpace] = Unknown(not_read("zpool_list"))
    properties: Known[Mapping[str, str]] = Unknown(not_read("zpool_get"))
    latency: Known[PoolLatency] = Unknown(not_read("zpool_iostat"))
    disputed: tuple[tuple[str, int], ...] = ()  # (who, pool guid), where the sources of its guid do not agree
    progress: Known[tuple[ScanProgress, ...]] = Unknown("How far its scans are was not read.")  # of the scans that run
    idle: Known[Mapping[tuple[str, ...], float]] = Unknown("It was not looked at before.")  # see `workflows.facts.read.idle_replacements`
    partial_tops: tuple[tuple[str, VdevFacts], ...] = ()  # what was understood of a tree that is unknown to guards
    partial_scans: tuple[ScanFacts, ...] = ()  # the same of its scans
    partial_progress: tuple[ScanProgress, ...] = ()  # how far those are that run
    never_scanned: Known[bool] = Unknown("Its scan: line was not read.")  # no scrub or resilver since the pool was made
    unread: tuple[UnreadLine, ...] = ()
    row_state: str = ""  # of the pool's own row in the tree, which may differ from `state`; "" when it was not read
    row_note: str = ""  # behind that row: "bad intent log", "corrupted data"
    used_twice: frozenset[str] = frozenset()  # names of devices that two rows of this node's pools call in service

    @property
    def shown(self) -> PoolFacts:
        """The same pool for showing: where nothing is amiss but that numbers are rounded, its tree and scans count as read. Never for a guard."""
        if known(self.tops) or not self.unread or not all(line.rounded for line in self.unread):
            return self
        return replace(self, tops=self.partial_tops, scans=self.scans_read)

    @property
    def errors_reported(self) -> Known[str]:
        """The `errors:` line. ZFS leaves it out for a pool that it could not open, and a text that stops before it has none."""
        return self.errors or Unknown(f"zpool status printed no errors: line for {self.name}.")

    @property
    def scans_read(self) -> tuple[ScanFacts, ...]:
        """Every scan that was understood. Never for a guard."""
        return self.scans if known(self.scans) else self.partial_scans

    @property
    def progress_read(self) -> tuple[ScanProgress, ...]:
        """Every scan that runs, as far as it was understood. Never for a guard."""
        return self.progress if known(self.progress) else self.partial_progress

    @property
    def tops_read(self) -> tuple[tuple[str, VdevFacts], ...]:
        """Every top-level vdev that was understood. Never for a guard: a row may be missing."""
        return self.tops if known(self.tops) else self.partial_tops


@dataclass(frozen=True)
class LabelFacts:
    """One distinct label on one partition of one disk, as `zdb -l` reads it.

    `state` is the label's own number: 0 active, 1 exported, 2 destroyed, 3 spare, 4 l2cache.
    """

    partition: str  # kernel name at the time, e.g. "sda1"
    copies: tuple[int, ...]  # of 0..3
    pool_name: str | None
    pool_guid: int | None
    guid: int
    top_guid: int | None
    state: int
    txg: int | None
    hostid: int | None = None
    hostname: str | None = None
    ashift: int | None = None
    top: str = ""  # a fingerprint of the top-level vdev it describes: guids, kinds and their order; "" when it describes none
    devid: str | None = None  # what it says of its own disk; strings are as old as the last import that found the disk
    phys_path: str | None = None
    enc_path: str | None = None
    tops: int | None = None  # how many top-level vdevs its pool had, with holes where some were removed


@dataclass(frozen=True)
class PathFacts:
    """One kernel device for a disk. Two paths to one disk are one disk."""

    name: str  # "sdfl"
    hctl: str | None
    state: Known[str]  # "running", "offline", "transport-offline", ...
    sas_address: str | None
    holders: Known[tuple[str, ...]]  # of the disk and its partitions: "dm-3", "md0"
    partitions: tuple[str, ...]
    by_id: tuple[str, ...]  # "/dev/disk/by-id/wwn-0x5000…"
    sg: str | None = None
    link: Known[LinkFacts] = Unknown("The kernel's way to it was not read.")
    other_names: tuple[
        str, ...
    ] = ()  # of it, its partitions and what is mapped onto it alone: "/dev/disk/by-vdev/A3", "/dev/mapper/luks-…"


@dataclass(frozen=True)
class MapFacts:
    """The multipath map that is the disk: its UUID is the disk's, and its slaves are exactly the disk's paths."""

    dm: str  # "dm-3"
    name: str  # "mpatha"; it may move to another disk
    uuid: str  # "mpath-35000c500a65b207b"
    up: tuple[str, ...]  # paths that take I/O, by multipath and by the kernel
    down: tuple[str, ...]  # those that are reported to take none; one in standby is neither
    partitions: tuple[str, ...]  # "dm-4"


@dataclass(frozen=True)
class BayFacts:
    """One slot of one enclosure. A place, never an identity. `evidence` is domain.md 3.4's level, 1 the best."""

    enclosure_id: str  # logical id, "0x50050cc11ac016e2"
    enclosure: str  # kernel name, "6:0:89:0"; not stable
    slot: int
    name: str  # the slot's directory name: "68", "SLOT 4"
    status: Known[str]  # "OK", "not installed", ...
    locate: Known[bool]
    fault: Known[bool]
    device: str | None  # kernel name of the disk in it, when linked
    evidence: int = 1
    conflict: str = ""  # what says otherwise
    fault_asked: Known[bool] = Unknown(
        "Which program requests its fault light was not reported."
    )  # the node; else the enclosure senses a fault by itself
    model: str = ""  # of the enclosure, as it calls itself: "SEAGATE EXOS-E 5U84 6020"; "" when it was not asked


@dataclass(frozen=True)
class LightFacts:
    """A light whose place has no number on the chassis: of a PCIe port, or as a tool of the node names it."""

    by: str  # PORTS: the kernel; else the tool, a key of light_tools.PROGRAMS
    place: str  # "0000:00:03.1", the address of the port; else as the tool names it
    lit: Known[bool]


@dataclass(frozen=True)
class HealthFacts:
    passed: bool
    text: str  # the line that says so
    grown_defects: int | None = None


@dataclass(frozen=True)
class DiskFacts:
    """One physical disk as one node sees it. Key: LU WWID, `naa:5000c500a65b207b`."""

    wwid: Known[str]
    serial: Known[str]
    vendor: str
    model: str
    firmware: str
    size_bytes: Known[int]
    logical_block_bytes: Known[int]
    physical_block_bytes: Known[int]
    paths: tuple[PathFacts, ...]
    labels: Known[tuple[LabelFacts, ...]]  # empty: read, and there is none
    in_use: Known[tuple[str, ...]]  # mounts, swap, holders: "mounted on /", "held by dm-3"
    bay: Known[BayFacts] = Unknown("no enclosure names this disk")
    health: Known[HealthFacts] = Unknown("no health report")
    bay_witnesses: tuple[BayWitness, ...] = ()  # who says where it sits, the best first
    condition: Known[ConditionFacts] = Unknown("Its health was not read.")
    modes: Known[ModeFacts] = Unknown("Its mode pages were not read.")
    protection_type: Known[int] = Unknown("What protection information it is formatted with was not read.")  # 0 is none
    copies: Known[tuple[Copies, ...]] = Unknown("No label was collected.")  # the four copies of each label, one entry a partition
    identity: Known[Identity] = Unknown("The sources that name it were not compared.")  # as this node alone reports it
    light: Known[LightFacts] = Unknown(
        "No PCIe port above it has a locate light, and no tool of the node shows a place for it."
    )  # it leads to no other disk
    doubt: str = ""  # why no write may name it by its identity, and what to do; "" where one may
    map: Known[MapFacts | None] = None  # None: no multipath map is above it

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(path.name for path in self.paths)

    @property
    def is_nvme(self) -> bool:
        return bool(self.paths) and all(path.name.startswith("nvme") for path in self.paths)


@dataclass(frozen=True)
class ImportableFacts:
    """One pool that `zpool import` lists."""

    name: str
    guid: int  # of one of `partial_importable` it may be 0: then the listing has no id for it
    state: str
    status: str
    action: str
    tops: tuple[tuple[str, VdevFacts], ...]  # as listed: of each vdev its name, state and note
    destroyed: bool = False  # on purpose; only `zpool import -D` lists it
    note: str = ""  # of the row of the pool itself: "corrupted data", "missing device"
    see: str = ""  # as printed: a URL that ends in the id of the message
    comment: str = ""
    more_devices: bool = False  # as printed; see `hides_devices`
    features: tuple[tuple[str, str], ...] = ()  # not supported on this node: name, and what it does ("" where not printed)
    readonly_possible: bool = False  # the listing itself offers a read-only import
    hostname: str = ""  # of the host that has it or had it last, where the listing says so
    hostid: int | None = None
    caches: tuple[str, ...] = ()  # names; the listing prints no state of them
    spares: tuple[str, ...] = ()
    unread: tuple[UnreadLine, ...] = ()

    @property
    def lacks_a_log(self) -> bool:
        """Whether it is called UNAVAIL because a log is not there, as before 2.1.12; see `lacks_a_log` in agents/collectors/zpool_import.py."""
        return self.note == MISSING and any(role == "log" and top.state == "UNAVAIL" for role, top in self.tops)

    @property
    def hides_devices(self) -> bool:
        """Whether whole top-level vdevs are missing that the listing cannot show."""
        return self.more_devices and not self.lacks_a_log


@dataclass(frozen=True)
class LeafChange:
    """A leaf that the portal saw leave ONLINE, kept by the portal across reports."""

    pool_guid: int
    vdev_guid: int
    before: str
    after: str
    age_seconds: float


NO_AGES = Unknown("When its sources were asked is not known.")


@dataclass(frozen=True)
class NodeFacts:
    """Everything one node said last. `digests` names the capture behind each source: "zdb_label/sda1" -> sha256.

    `age_seconds` is the age of its last report, `ages` when each source was last read: most are asked less often than it reports.
    """

    node: str
    age_seconds: float
    hostname: Known[str]
    hostid: Known[str]
    boot_id: Known[str]
    zfs_userland: Known[str]
    zfs_module: Known[str]
    pools: Known[tuple[PoolFacts, ...]]
    disks: Known[tuple[DiskFacts, ...]]
    bays: Known[tuple[BayFacts, ...]]
    importable: Known[tuple[ImportableFacts, ...]]
    leaf_changes: Known[tuple[LeafChange, ...]]
    digests: Mapping[str, str]
    failures: Mapping[str, str]  # source/key -> why it failed, or why its text was not understood
    system: Known[str] = Unknown("Its system was not asked.")  # "FreeBSD"; not known of Linux
    prepares: Known[str] = Unknown("No script for new disks was seen.")  # zfs_prepare_disk, run as root by `zpool replace`
    powers: Known[str] = Unknown("No file was seen that has slots switched on.")  # sets ZPOOL_AUTO_POWER_ON_SLOT for people's shells
    fabric: Known[FabricFacts] = Unknown("The SAS fabric was not read.")
    ages: Known[Mapping[str, float]] = NO_AGES  # source -> seconds since it was asked for what is known of it
    timelines: Known[tuple[PoolTimeline, ...]] = Unknown(not_read("zdb_uberblocks"))  # of pools that are not imported
    cached: Known[tuple[CachedPool, ...]] = Unknown(not_read("zdb_config"))  # what this node imports at boot
    boot: Known[BootTool] = Unknown(not_read("boot_tool"))  # what proxmox-boot-tool keeps filled
    kstats: Known[KstatFacts] = Unknown("The kernel's statistics were not read.")
    tunables: Known[TunablesFacts] = Unknown("The module parameters were not read.")
    policy: Known[Policy] = Unknown("Its policy was not reported.")  # what its owner lets the portal do there
    absent: Mapping[str, str] = field(default_factory=dict)  # source/key -> why there is no such thing here: no tool, no hardware
    not_understood: Mapping[str, Unparsed] = field(default_factory=dict)  # source/key -> what its parser says of a text that it refused
    left_asleep: frozenset[str] = frozenset()  # sources that were not asked so that no disk wakes: no answer, and no failure
    firmware: Known[FirmwareFacts] = Unknown("What its firmware calls the machine was not read.")
    hostids: Known[HostidFacts] = Unknown("The hostid was not read.")
    kernel_log: Known[KernelLog] = Unknown("The kernel log was not read.")
    loads: Known[Mapping[str, int]] = Unknown("ZFS's own log was not read.")  # pool name -> the txg from which its import took it
    failed_loads: Known[tuple[FailedLoad, ...]] = Unknown("ZFS's own log was not read.")
    events: Known[tuple[Event, ...]] = Unknown("The events of ZFS were not read.")
    histories: Mapping[str, Known[History]] = field(default_factory=dict)  # by pool name; one that is absent was not collected
    unplaced: tuple[Copies, ...] = ()  # labels that were read while no list has the disks they are on
    expected: Known[tuple[Expected, ...]] = Unknown("No label was collected.")  # the leaves that the labels it read name
    service: Known[ServiceFacts] = Unknown("How its disks serve was not read.")
    loose_reports: tuple[ReportFacts, ...] = ()  # of health, on disks that `disks` does not have
    enclosures: tuple[EnclosureFacts, ...] = ()  # what the enclosures say of their fans, power supplies and sensors, where that was asked
    fragments: Fragments = field(default_factory=Fragments)  # pieces of a tree, as only a paste shows them
    inquiries: tuple[Inquiry, ...] = ()  # how disks answered INQUIRY; only a paste has it
    refusals: tuple[Refusal, ...] = ()  # commands that did not take place; only a paste has them
    partial_pools: tuple[PoolFacts, ...] = ()  # what was understood of a list of pools that is unknown to guards

    unread: tuple[UnreadLine, ...] = ()  # lines of `zpool status` that belong to no pool
    partial_importable: tuple[ImportableFacts, ...] = ()  # what was understood of a listing that is unknown to guards
    lights: Known[tuple[LightFacts, ...]] = ()  # of PCIe ports and of tools
    light_tools: Known[Mapping[str, str]] = Unknown(
        "Which tools it has that switch lights was not asked."
    )  # tool -> why it did not answer, or ""
    brought: bool = False  # it has no agent: a person brought what was collected there once, and what is so since is not reported

    @cached_property
    def places_by_name(self) -> tuple[Mapping[str, int], Mapping[str, int], Mapping[str, int]]:
        """The first place in `disks` by kernel name, by link in /dev/disk and by any other name of it or of what is on it alone."""
        names: tuple[dict[str, int], dict[str, int], dict[str, int]] = ({}, {}, {})
        for place, disk in enumerate(self.disks if known(self.disks) else ()):
            for path in disk.paths:
                for by_name, found in zip(names, ((path.name,), path.by_id, path.other_names), strict=True):
                    for name in found:
                        by_name.setdefault(name, place)
        return names

    @property
    def importable_read(self) -> tuple[ImportableFacts, ...]:
        """Every pool that was understood of `zpool import`. Never for a guard."""
        return self.importable if known(self.importable) else self.partial_importable

    @property
    def pools_read(self) -> tuple[PoolFacts, ...]:
        """Every pool that was understood. Never for a guard: a pool may be missing."""
        return self.pools if known(self.pools) else self.partial_pools


@dataclass(frozen=True)
class Gone:
    """A disk that a node saw until lately and sees no more: by what a person at the rack recognises it, and where it was."""

    serial: str  # "" when it never reported one
    enclosure_id: str  # "" when its bay was not known
    slot: int | None


@dataclass(frozen=True)
class Ever:
    """A disk that any node ever reported: how it is known, where it was last, and whose member its label made it."""

    wwid: str
    serial: str
    place: str  # "bay 5 of 0x5000… on oss01", or the node alone; "" when no source gives it
    until: str  # "until 2026-11-25 09:00 UTC", or "now"
    vdev_guid: str  # "" when it carried no label of a pool
    former_serials: tuple[str, ...] = ()  # what it said of itself before


@dataclass(frozen=True)
class FleetFacts:
    """All nodes at one moment. Guards and situations read this and nothing else."""

    nodes: Mapping[str, NodeFacts]
    remembered: Mapping[str, Remembered] = field(default_factory=dict)  # WWID -> what the portal received of it before, where that matters
    gone: Mapping[tuple[str, str], Gone] = field(default_factory=dict)  # (node, WWID); words for people, never a reason to act
    ever: tuple[Ever, ...] = ()  # the disks, of all that were ever seen, that what a person has just typed may name
    at: Known[float] = Unknown("The present time was not given.")  # in seconds since 1970, by the portal's clock
    read_at: Known[float] = Unknown("When these texts were read was not given.")  # of pasted ones, which may be of any day before; the same

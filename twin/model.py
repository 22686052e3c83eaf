"""What a twin is made of: disks, bays, pools and faults, as dataclasses that are also its JSON state file.

Facts are kept once and everything printed is derived from them: a bay names the disk in it, a label names its pool and
its guid, a leaf keeps its own state, and the state of a pool or a raidz is computed from its leaves.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

SECTOR = 512


@dataclass
class Label:
    """What one partition says about itself. `pool` is the name of an entry of `Node.pools`.

    `top` is the top-level vdev as it was when the label was written, for a guid the pool does not know any more. A member that ZFS lets go of
    while it serves gets one more label, with txg 0; no tool takes that for a member's. `aside` is the state of a hot spare's label (3) or a cache
    device's (4) that no pool lists any more: ZFS leaves it on the disk, and `top` is that leaf.
    """

    pool: str
    guid: int
    txg: int
    copies: list[int] = field(default_factory=lambda: [0, 1, 2, 3])
    writer: str = ""  # "oss07 5b2f9c07", when another host than the pool's own wrote it
    top: Vdev | None = None
    ring: list[list[int]] = field(default_factory=list)  # [txg, when] of each uberblock; none: they follow from `txg`
    aside: int = 0

    @property
    def is_of_the_past(self) -> bool:
        return self.txg == 0


@dataclass
class Partition:
    """Number 0 is a whole disk that was taken without a partition table, as ZFS takes a multipath map."""

    number: int
    start: int  # sectors of 512 bytes
    sectors: int
    label: Label | None = None
    filesystem: str = ""
    mountpoint: str = ""
    swap: bool = False
    holders: list[str] = field(default_factory=list)
    kind: str = ""  # its type in the partition table, where it is no other that follows from its content
    uuid: str = ""  # its GUID, where it is not its own: copied with the table of another disk
    fs_uuid: str = ""  # of its FAT file system: "1B21-C4A2"


@dataclass
class Path:
    """One kernel device for a disk."""

    name: str  # "sdfl"
    hctl: str
    sg: int
    sas_address: str  # of the port, "0x5000c500a6754ab9"; "" for what is no SAS disk
    phys_path: str  # "pci-0000:b3:00.0-sas-0x5000c500a6754ab9-lun-0"
    state: str = "running"  # "live" of an NVMe controller

    @property
    def runs(self) -> bool:
        return self.state in ("running", "live")


@dataclass
class MultipathMap:
    """The map of a disk over all its paths."""

    dm: str  # "dm-3"
    name: str  # "mpatha"


@dataclass
class Smart:
    passed: bool | None = True  # None: the disk has no SMART
    grown_defects: int = 0
    standby: bool = False
    pending: int = 0
    uncorrected: int = 0  # reads
    self_test_failed: bool = False  # the last one
    test_began_at: float = 0.0  # of a short self-test that was begun; it takes two minutes
    corrected: int = 0  # reads that its ECC mended, where it differs from others of its model


@dataclass
class Disk:
    wwid: str  # "naa:5000c500a65b207b"
    serial: str
    vendor: str
    model: str
    rev: str
    size_bytes: int
    paths: list[Path]
    logical_block_bytes: int = 512
    physical_block_bytes: int = 4096
    rotational: bool = True
    partitions: list[Partition] = field(default_factory=list)
    holders: list[str] = field(default_factory=list)  # of its map where it is behind one
    smart: Smart = field(default_factory=Smart)
    link_rate: str = "12.0 Gbit"  # SAS
    wce: bool = False
    en_bms: bool = True
    saved: dict[str, bool] = field(default_factory=dict)  # mode -> what it is after a power cut, where that is another value
    believed: bool | None = None  # whether the kernel takes it to cache writes; None: as the disk does
    mode_fixed: bool = False  # the firmware takes no mode
    protection_type: int = 0
    table_uuid: str = ""  # the GUID of its partition table, where it was copied from another disk
    map: MultipathMap | None = None
    inside: Partition | None = None  # what the LUKS container shows that is open on the whole of it

    @property
    def hex(self) -> str:
        return self.wwid.split(":", 1)[1]

    @property
    def table(self) -> list[Partition]:
        """What its partition table has."""
        return [part for part in self.partitions if part.number]

    def partition(self, number: int) -> Partition | None:
        return next((p for p in self.partitions if p.number == number), None)


FAULT_ASKED, FAULT_SENSED = 2, 4


@dataclass
class Bay:
    """One slot of an enclosure. `wwid` is the disk in it, None for an empty one."""

    name: str
    number: int
    wwid: str | None = None
    status: str = "OK"
    locate: int = 0
    fault: int = 0  # as the driver shows it: 2 for what the node asked for, 4 for what the enclosure senses
    active: int = 0
    power: str = "on"


@dataclass
class Port:
    """A PCIe port that has a locate light. `below` is the address of what is plugged into it."""

    address: str  # "0000:00:03.1"
    below: str  # "0000:03:00.0"
    locate: int = 0


@dataclass
class LightTool:
    """A tool that switches lights."""

    name: str  # "ledctl", "sas3ircu", "sas2ircu", "storcli", "perccli"
    places: dict[str, str]  # "VMD/3", "0/2:5", "/c0/e8/s5" -> the WWID of the disk that is, or was, in it
    lit: list[str] = field(default_factory=list)


@dataclass
class Enclosure:
    name: str  # kernel name, "6:0:89:0"
    id: str  # logical id, "0x50050cc11ac016e2"
    vendor: str
    model: str
    rev: str
    sg: int
    bays: list[Bay] = field(default_factory=list)
    second: str = ""  # its kernel name by a second HBA, "12:0:24:0"
    second_sg: int = 0

    @property
    def seen(self) -> list[Enclosure]:
        """As the kernel shows it by each HBA: the same bays."""
        return [self, *([replace(self, name=self.second, sg=self.second_sg, second="")] if self.second else [])]


@dataclass
class Vdev:
    """One vdev. `state` and what follows it are kept on leaves only; an interior vdev has the state of its children.

    `aux` says why a leaf is down, as the kernel records it: "" or "corrupt_data", "open_failed", "bad_label" (it could not be
    opened), "err_exceeded" (it was faulted), "external" (it was faulted by command), "removed" (it was REMOVED and is OFFLINE).
    """

    type: str  # "disk", "mirror", "raidz", "draid", "replacing"; among the spares "dspare" too, which is a part of every disk of a draid
    guid: int
    children: list[Vdev] = field(default_factory=list)
    nparity: int = 0
    ndata: int = 0  # of a draid: disks of data in a group, and distributed spares
    nspares: int = 0
    cls: str = "data"  # of a top-level vdev: "data", "special", "dedup", "log"
    used_percent: int = 0  # of a special or dedup vdev that is fuller than the data; 0: as full as the pool
    metaslab_array: int = 0
    metaslab_shift: int = 0
    ashift: int = 0
    asize: int = 0
    create_txg: int = 4
    path: str = ""
    devid: str = ""
    phys_path: str = ""
    enc_path: str = ""
    whole_disk: int = 1
    not_present: bool = False
    dtl: int = 0
    resilver_txg: int = 0  # not 0 while the leaf is being filled
    deferred: bool = False  # waits for the next resilver
    state: str = "ONLINE"
    aux: str = ""
    errors: list[int] = field(default_factory=lambda: [0, 0, 0])
    slow: int = 0
    wait_ms: float = 0.0  # how long each I/O of this leaf takes; 0: as long as that of any other

    def walk(self) -> Iterator[Vdev]:
        yield self
        for child in self.children:
            yield from child.walk()

    def leaves(self) -> list[Vdev]:
        return [v for v in self.walk() if not v.children]


@dataclass
class Scan:
    """A resilver or scrub. How far it is follows from the clock; a finished one keeps what it came to."""

    function: str  # "resilver", "scrub"
    state: str  # "running", "paused", "finished", "canceled"
    started_at: float
    seconds: float
    to_examine: int
    to_write: int  # bytes resilvered or repaired when it is through
    skipped: int = 0
    errors: int = 0
    speed: float = 1.0  # since `turned_at`, when it was tuned; `done_before` is how far it was then
    turned_at: float = 0.0  # of a paused one, since when
    done_before: float = 0.0

    @property
    def ends_at(self) -> float:
        return max(self.started_at, self.turned_at) + (1.0 - self.done_before) * self.seconds / self.speed

    def done(self, now: float) -> float:
        """The part of it that is done, 0 to 1."""
        if self.state == "paused":
            return self.done_before
        since = max(0.0, now - max(self.started_at, self.turned_at))
        return min(1.0, self.done_before + since * self.speed / self.seconds) if self.seconds else 1.0


@dataclass
class Deed:
    """One record of a pool's history: a command, or with a txg what the pool did by itself."""

    at: float
    text: str
    txg: int = 0


@dataclass
class Snapshot:
    """A snapshot that a list of damaged data names."""

    name: str  # "ost_0/archive@monday"
    guid: int
    createtxg: int
    created: int
    holds: int = 0
    clones: list[str] = field(default_factory=list)
    used: int = 0
    referenced: int = 0


@dataclass
class Pool:
    """One pool: imported here, or (`imported` false) only known from the labels of disks."""

    name: str
    guid: int
    tops: list[Vdev]
    hostid: int
    hostname: str
    imported: bool = True
    state: int = 0  # as in the label: 0 active, 1 exported, 2 destroyed
    txg: int = 4
    spares: list[Vdev] = field(default_factory=list)
    caches: list[Vdev] = field(default_factory=list)
    scan: Scan | None = None
    suspended: str = ""  # "", "io", "mmp"
    data_errors: int = 0  # what could not be written while it was suspended
    error_log: list[str] = field(default_factory=list)  # the entries that `zpool status -v` lists: what the last scrub found, and since
    damaged: list[str] = field(default_factory=list)  # the entries that a scrub finds: of what is still damaged and not removed
    snapshots: list[Snapshot] = field(default_factory=list)
    alloc_bytes: int = 0
    deeds: list[Deed] = field(default_factory=list)
    readonly: bool = False
    altroot: str = ""
    cachefile: str = ""  # "none": the next boot does not import it
    blocked_by: list[str] = field(default_factory=list)  # WWIDs of disks that contradict the others: while one is here, no import works
    rewind_seconds: int = 0  # not 0: the last txgs are lost; -F, which goes back two at the most, or -T discards so much
    readable_txg: int = 0  # the newest that can be loaded, and when it was written; 0: both follow from `rewind_seconds`
    readable_at: int = 0
    loaded_txg: int = 0  # of the uberblock that the last import took
    written_since: float = 0.0  # not 0: it goes on from a rewind since then, and its txgs run by the clock until `discarded_txg` is passed
    discarded_txg: int = 0  # the newest txg of the timeline that was left
    defers: bool = True  # its feature resilver_defer is enabled
    classes: bool = True  # its feature allocation_classes is enabled
    datasets: dict[str, dict[str, str]] = field(default_factory=dict)  # name -> the properties that are not the default
    removal: str = ""  # the lines `remove:` of the last removal of a data vdev
    cached: bool = False  # not imported, and still in the cache file: it was never exported, and the import at boot did not work
    active_on: str = ""  # "oss09 abcdef": the host and hostid that multihost sees writing to it

    @property
    def errors_counted(self) -> int:
        return self.data_errors + len(self.error_log)

    def walk(self) -> Iterator[Vdev]:
        for top in self.tops:
            yield from top.walk()

    def leaves(self) -> list[Vdev]:
        return [v for v in self.walk() if not v.children]


@dataclass
class Slow:
    """Commands that begin with `argv` take `seconds` longer."""

    argv: list[str]
    seconds: float


@dataclass
class Faults:
    """`hangs`: WWIDs of disks that answer no command; `slow`: commands that take their time; `absent`: tools that are not installed."""

    hangs: list[str] = field(default_factory=list)
    slow: list[Slow] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)


@dataclass
class Knobs:
    """`zpool replace` takes `replace_seconds` and acts in the middle of them; a resilver takes `resilver_seconds`."""

    replace_seconds: float = 0.0
    resilver_seconds: float = 90.0


@dataclass
class Node:
    hostname: str
    hostid: str  # "5b2f9c01"
    boot_id: str
    kernel: str  # "5.14.0-427.42.1.el9_4.x86_64"
    kernel_build: str  # "#1 SMP PREEMPT_DYNAMIC ..."
    zfs_userland: str  # "2.1.15-1"
    zfs_module: str
    disks: list[Disk] = field(default_factory=list)
    enclosures: list[Enclosure] = field(default_factory=list)
    pools: list[Pool] = field(default_factory=list)
    hosts: dict[str, str] = field(default_factory=dict)  # SCSI host number -> PCI address
    mounts: list[str] = field(default_factory=list)  # lines of /proc/mounts that no partition explains
    faults: Faults = field(default_factory=Faults)
    knobs: Knobs = field(default_factory=Knobs)
    booted_at: float = 1795000000.0
    parameters: dict[str, str] = field(default_factory=dict)  # module parameters that were set
    modprobe: list[str] = field(default_factory=list)  # lines of /etc/modprobe.d/zfs.conf
    deleted: list[Disk] = field(default_factory=list)  # in their bays and spinning, but the kernel's device was deleted
    phys: dict[str, list[int]] = field(default_factory=dict)  # "phy-6:0:12" -> its four error counters
    kernel_lines: list[str] = field(default_factory=list)  # what the kernel's log says besides, shortly before a pool was suspended
    phy_rates: dict[str, list[float]] = field(default_factory=dict)  # by how much they grow in an hour
    phys_at: float = 0.0  # when `phys` was counted
    dmi: dict[str, str] = field(default_factory=dict)  # "chassis_serial" -> what the firmware says
    ports: list[Port] = field(default_factory=list)
    light_tools: list[LightTool] = field(default_factory=list)
    mapped: dict[str, list[str]] = field(default_factory=dict)  # device mapper device that holds a disk -> its UUID and its name
    vdev_names: dict[str, str] = field(default_factory=dict)  # WWID -> the name that vdev_id.conf gives the disk: "A3"
    boot_uuids: list[str] | None = None  # EFI partitions that proxmox-boot-tool keeps filled; None: there is no such tool
    efi: bool = False  # it was booted by UEFI
    sg3_rules: bool = False  # udev has the rules of sg3-utils, which make more links of a SAS disk
    off_since: float = 0.0  # not 0: it has no power since then, and reports nothing

    def disk(self, wwid: str) -> Disk:
        return next(d for d in self.disks if d.wwid == wwid)

    def disk_named(self, name: str) -> Disk:
        return next(d for d in self.disks if any(p.name == name for p in d.paths))

    def pool(self, name: str) -> Pool:
        return next(p for p in self.pools if p.name == name)

    def bay_of(self, wwid: str) -> tuple[Enclosure, Bay] | None:
        return next(((e, b) for e in self.enclosures for b in e.bays if b.wwid == wwid), None)

    def bay_by(self, wwid: str, path: Path) -> tuple[Enclosure, Bay] | None:
        """The same as the kernel shows it by the HBA of this path."""
        found = self.bay_of(wwid)
        host = path.hctl.split(":")[0]
        return found and (next((one for one in found[0].seen if one.name.split(":")[0] == host), found[0]), found[1])

    @property
    def seen_enclosures(self) -> list[Enclosure]:
        return [one for enclosure in self.enclosures for one in enclosure.seen]

    @property
    def imported(self) -> list[Pool]:
        return sorted((p for p in self.pools if p.imported), key=lambda p: p.name)

    @property
    def release(self) -> tuple[int, ...]:
        """The ZFS userland release as numbers: (2, 1, 15)."""
        return tuple(int(n) for n in re.findall(r"\d+", self.zfs_userland)[:3])

    @property
    def linux(self) -> tuple[int, ...]:
        """The first two numbers of the kernel's release: (5, 10); none where it is not known."""
        return tuple(int(n) for n in re.findall(r"\d+", self.kernel)[:2])


_INSIDE: dict[type, dict[str, type]] = {
    Node: {
        "disks": Disk,
        "deleted": Disk,
        "enclosures": Enclosure,
        "ports": Port,
        "light_tools": LightTool,
        "pools": Pool,
        "faults": Faults,
        "knobs": Knobs,
    },
    Disk: {"paths": Path, "partitions": Partition, "smart": Smart, "map": MultipathMap, "inside": Partition},
    Partition: {"label": Label},
    Label: {"top": Vdev},
    Enclosure: {"bays": Bay},
    Pool: {"tops": Vdev, "spares": Vdev, "caches": Vdev, "scan": Scan, "deeds": Deed, "snapshots": Snapshot},
    Vdev: {"children": Vdev},
    Faults: {"slow": Slow},
}


def load(cls: type, raw: Any) -> Any:
    """Build `cls` from what `dataclasses.asdict` made of it. A key it does not know is a TypeError."""
    if raw is None:
        return None
    if isinstance(raw, list):
        return [load(cls, item) for item in raw]
    inside = _INSIDE.get(cls, {})
    return cls(**{key: load(inside[key], value) if key in inside else value for key, value in raw.items()})

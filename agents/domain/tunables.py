"""Every tunable of scrub, resilver and multihost that our runbooks know: where it is set, since when, what took over, and how far.

One with a `safe` range may be set by an order, within that range or back to a default. One without is named so that a person finds
out why it is not: it is of the past, it is no knob of a scan, or it must never be touched. A name that a release does not have is
ignored by modprobe without an error, so the release decides and the node must show the value before anything is written.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Tuple

LINUX, FREEBSD, ILLUMOS = "linux", "freebsd", "illumos"
FOLDER = "/sys/module/zfs/parameters"
MIB = 1024 * 1024
HOUR = 3600
Release = Tuple[int, ...]

OLDEST: Release = (0, 6, 3)
SEQUENTIAL: Release = (0, 8, 0)  # the sequential scan took the old delays away
VALUE_MAX = 2**31 - 1


@dataclass(frozen=True)
class Tunable:
    """`name` is that of Linux. `gone` is the first release without it. `safe` are the least and the largest value an order may set."""

    name: str
    unit: str
    meaning: str
    since: Release = OLDEST
    gone: Optional[Release] = None
    freebsd: str = ""  # sysctl of FreeBSD 13 and later
    freebsd_old: str = ""  # of FreeBSD before 13
    illumos: bool = False
    safe: Optional[Tuple[int, int]] = None
    steps: Tuple[int, ...] = ()  # values offered, the gentlest change first
    defaults: Tuple[int, ...] = ()
    successors: Tuple[str, ...] = ()
    window_seconds: int = 24 * HOUR  # how long it may stay raised
    cost: str = ""  # what others pay
    why_not: str = ""  # where there is no safe range

    def is_in(self, release: Release) -> bool:
        return self.since <= release and (self.gone is None or release < self.gone)

    @property
    def oid(self) -> str:
        """The sysctl on FreeBSD. Where both trees have the tunable the new name counts, as releases before 13 are not operated."""
        return self.freebsd or self.freebsd_old

    def may_be(self, value: int) -> bool:
        """Whether an order may set it to this."""
        return self.safe is not None and (self.safe[0] <= value <= self.safe[1] or value in self.defaults)


_NIA_COST = (
    "Scan I/O then gets its turn sooner while people read and write, and they wait for it. This queueing was brought in because on "
    "one busy pool a 4K read waited 2 to 4 s at worst, and 125 to 500 ms with its defaults; the scrub took 1.5 to 1.7 times as long."
)
_BUSY_COST = "More scan I/O at once on each disk: whoever reads and writes waits longer, most of all on a disk that is slow already."
_TXG_COST = "Each transaction group takes longer while a scan runs, so synchronous writes and whoever waits for a txg wait longer."
_NO_RANGE = "no safe range is known for it"
_NO_SCAN_KNOB = "it is no knob of a scan, and changes what all I/O of the node gets"

_ALL: Tuple[Tunable, ...] = (
    # Until 0.7: delays, counted in ticks of the kernel's clock.
    Tunable(
        "zfs_scrub_delay",
        "ticks",
        "pause before each scrub I/O while people read and write",
        gone=SEQUENTIAL,
        freebsd_old="vfs.zfs.scrub_delay",
        illumos=True,
        safe=(0, 4),
        steps=(2, 1, 0),
        defaults=(4,),
        successors=("zfs_vdev_scrub_max_active", "zfs_vdev_nia_credit", "zfs_vdev_nia_delay"),
        cost=_BUSY_COST,
    ),
    Tunable(
        "zfs_resilver_delay",
        "ticks",
        "pause before each resilver I/O while people read and write",
        gone=SEQUENTIAL,
        freebsd_old="vfs.zfs.resilver_delay",
        illumos=True,
        safe=(0, 2),
        steps=(1, 0),
        defaults=(2,),
        successors=("zfs_vdev_scrub_max_active", "zfs_vdev_nia_credit", "zfs_vdev_nia_delay"),
        cost=_BUSY_COST,
    ),
    Tunable(
        "zfs_scan_idle",
        "ticks",
        "how long there must have been no reads or writes for a scan to go without pauses",
        gone=SEQUENTIAL,
        freebsd_old="vfs.zfs.scan_idle",
        illumos=True,
        successors=("zfs_vdev_nia_delay",),
        why_not=_NO_RANGE,
    ),
    Tunable(
        "zfs_top_maxinflight",
        "I/Os per top-level vdev",
        "scan I/Os at once on one top-level vdev",
        gone=SEQUENTIAL,
        freebsd_old="vfs.zfs.top_maxinflight",
        illumos=True,
        safe=(32, 128),
        steps=(64, 128),
        defaults=(32,),
        successors=("zfs_scan_vdev_limit",),
        cost=_BUSY_COST,
    ),
    Tunable(
        "zfs_scan_min_time_ms",
        "ms per txg",
        "time a scrub gets of each transaction group",
        gone=SEQUENTIAL,
        freebsd_old="vfs.zfs.scan_min_time_ms",
        illumos=True,
        safe=(1000, 5000),
        steps=(2000, 5000),
        defaults=(1000,),
        successors=("zfs_scrub_min_time_ms",),
        cost=_TXG_COST,
    ),
    # Since 0.8: how many I/Os and bytes a scan may have under way.
    Tunable(
        "zfs_vdev_scrub_max_active",
        "I/Os per disk",
        "scrub and resilver I/Os at once on one disk",
        freebsd="vfs.zfs.vdev.scrub_max_active",
        illumos=True,
        safe=(1, 8),
        steps=(4, 6, 8),
        defaults=(2, 3),
        cost=_BUSY_COST,
    ),
    Tunable(
        "zfs_vdev_nia_credit",
        "I/Os",
        "scan I/Os that are let through while people's I/O waits",
        since=(2, 0, 1),
        freebsd="vfs.zfs.vdev.nia_credit",
        safe=(2, 20),
        steps=(10, 20),
        defaults=(5,),
        window_seconds=8 * HOUR,
        cost=_NIA_COST,
    ),
    Tunable(
        "zfs_vdev_nia_delay",
        "I/Os",
        "how many I/Os must end after the last of people's before a scan gets its full share",
        since=(2, 0, 1),
        freebsd="vfs.zfs.vdev.nia_delay",
        safe=(1, 5),
        steps=(3, 1),
        defaults=(5,),
        window_seconds=8 * HOUR,
        cost=_NIA_COST,
    ),
    Tunable(
        "zfs_scan_vdev_limit",
        "bytes per disk",
        "bytes a scan may have under way on one disk",
        since=SEQUENTIAL,
        freebsd="vfs.zfs.scan_vdev_limit",
        illumos=True,
        safe=(4 * MIB, 64 * MIB),
        steps=(32 * MIB, 64 * MIB),
        defaults=(4 * MIB, 16 * MIB),
        cost=_BUSY_COST,
    ),
    Tunable(
        "zfs_resilver_min_time_ms",
        "ms per txg",
        "time a resilver gets of each transaction group",
        freebsd="vfs.zfs.resilver_min_time_ms",
        freebsd_old="vfs.zfs.resilver_min_time_ms",
        illumos=True,
        safe=(500, 5000),
        steps=(4000, 5000),
        defaults=(1500, 3000),
        cost=_TXG_COST,
    ),
    Tunable(
        "zfs_scrub_min_time_ms",
        "ms per txg",
        "time a scrub gets of each transaction group",
        since=SEQUENTIAL,
        freebsd="vfs.zfs.scrub_min_time_ms",
        illumos=True,
        safe=(500, 5000),
        steps=(2000, 5000),
        defaults=(750, 1000),
        cost=_TXG_COST,
    ),
    Tunable(
        "zfs_vdev_scrub_min_active",
        "I/Os per disk",
        "scan I/Os a disk always gets",
        freebsd="vfs.zfs.vdev.scrub_min_active",
        illumos=True,
        why_not=_NO_RANGE,
    ),
    Tunable(
        "zfs_vdev_rebuild_min_active",
        "I/Os per disk",
        "rebuild I/Os a disk always gets",
        since=(2, 0),
        freebsd="vfs.zfs.vdev.rebuild_min_active",
        why_not=_NO_RANGE,
    ),
    Tunable(
        "zfs_vdev_rebuild_max_active",
        "I/Os per disk",
        "rebuild I/Os at once on one disk",
        since=(2, 0),
        freebsd="vfs.zfs.vdev.rebuild_max_active",
        why_not=_NO_RANGE,
    ),
    Tunable(
        "zfs_rebuild_vdev_limit",
        "bytes per disk",
        "bytes a rebuild may have under way on one disk",
        since=(2, 1),
        freebsd="vfs.zfs.rebuild_vdev_limit",
        why_not=_NO_RANGE,
    ),
    Tunable(
        "zfs_scan_legacy",
        "0 or 1",
        "scan in the order of before 0.8",
        since=SEQUENTIAL,
        freebsd="vfs.zfs.scan_legacy",
        illumos=True,
        why_not="it helps only where memory is short",
    ),
    Tunable(
        "zfs_scan_mem_lim_fact",
        "1/x of memory",
        "memory a scan may take to sort",
        since=SEQUENTIAL,
        freebsd="vfs.zfs.scan_mem_lim_fact",
        illumos=True,
        why_not=_NO_RANGE,
    ),
    Tunable(
        "zfs_resilver_disable_defer",
        "0 or 1",
        "begin a resilver anew at once",
        since=SEQUENTIAL,
        freebsd="vfs.zfs.resilver_disable_defer",
        why_not="it makes resilvers begin again",
    ),
    Tunable(
        "zfs_resilver_defer_percent",
        "%",
        "how far a resilver must be not to begin anew",
        since=(2, 3),
        freebsd="vfs.zfs.resilver_defer_percent",
        why_not="it makes resilvers begin again",
    ),
    # Multihost: set by the runbook of suspended pools only, on both nodes.
    Tunable(
        "zfs_multihost_fail_intervals",
        "intervals",
        "intervals without a sign of life after which the pool is suspended",
        since=(0, 7, 0),
        freebsd="vfs.zfs.multihost.fail_intervals",
        safe=(10, 60),
        steps=(20, 40, 60),
        defaults=(5, 10),
        window_seconds=14 * 24 * HOUR,
        cost="Another host that wants the pool waits longer before it may import it, and a host that hangs goes on writing for as long.",
    ),
    Tunable(
        "zfs_multihost_interval",
        "ms",
        "how often each pool shows a sign of life",
        since=(0, 7, 0),
        freebsd="vfs.zfs.multihost.interval",
        why_not="importers on other hosts go by it",
    ),
    Tunable(
        "zfs_multihost_import_intervals",
        "intervals",
        "how long an import watches for other hosts",
        since=(0, 7, 0),
        freebsd="vfs.zfs.multihost.import_intervals",
        why_not="it protects the import",
    ),
    Tunable(
        "zfs_multihost_history",
        "rows",
        "multihost writes that are remembered",
        since=(0, 7, 0),
        freebsd="vfs.zfs.multihost.history",
        why_not=_NO_RANGE,
    ),
    # Of all I/O, named because people reach for them.
    Tunable(
        "zfs_vdev_max_active",
        "I/Os per disk",
        "all I/Os at once on one disk",
        freebsd="vfs.zfs.vdev.max_active",
        illumos=True,
        why_not=_NO_SCAN_KNOB,
    ),
    Tunable(
        "zio_dva_throttle_enabled",
        "0 or 1",
        "spread writes by how busy each vdev is",
        since=(0, 7, 0),
        freebsd="vfs.zfs.zio.dva_throttle_enabled",
        illumos=True,
        why_not=_NO_SCAN_KNOB,
    ),
    Tunable(
        "zfs_dirty_data_sync",
        "bytes",
        "dirty bytes that begin a transaction group",
        gone=SEQUENTIAL,
        freebsd_old="vfs.zfs.dirty_data_sync",
        successors=("zfs_dirty_data_sync_percent",),
        why_not=_NO_SCAN_KNOB,
    ),
    Tunable(
        "zfs_dirty_data_sync_percent",
        "%",
        "dirty bytes that begin a transaction group",
        since=SEQUENTIAL,
        freebsd="vfs.zfs.dirty_data_sync_percent",
        why_not=_NO_SCAN_KNOB,
    ),
    Tunable(
        "zfs_prefetch_disable",
        "0 or 1",
        "read nothing ahead",
        freebsd="vfs.zfs.prefetch.disable",
        freebsd_old="vfs.zfs.prefetch_disable",
        illumos=True,
        why_not=_NO_SCAN_KNOB,
    ),
    Tunable(
        "zfs_dbgmsg_enable",
        "0 or 1",
        "keep a log of what ZFS does",
        since=(0, 6, 5),
        freebsd="vfs.zfs.dbgmsg_enable",
        why_not="it is no knob of a scan",
    ),
    *(
        Tunable(
            f"zfs_vdev_{kind}_{end}_active",
            "I/Os per disk",
            f"{kind.replace('_', ' ')} I/Os at {'most' if end == 'max' else 'least'} at once on one disk",
            freebsd=f"vfs.zfs.vdev.{kind}_{end}_active",
            illumos=True,
            why_not=_NO_SCAN_KNOB,
        )
        for kind in ("sync_read", "sync_write", "async_read", "async_write")
        for end in ("min", "max")
    ),
    # Never.
    Tunable(
        "zfs_scan_suspend_progress",
        "0 or 1",
        "stop all scans where they are",
        since=SEQUENTIAL,
        freebsd="vfs.zfs.scan_suspend_progress",
        why_not="no scrub and no resilver gets any further with it",
    ),
    Tunable(
        "zfs_no_scrub_io",
        "0 or 1",
        "scan without reading",
        freebsd="vfs.zfs.no_scrub_io",
        freebsd_old="vfs.zfs.no_scrub_io",
        illumos=True,
        why_not="a resilver then finishes without having done anything",
    ),
    Tunable(
        "zfs_no_scrub_prefetch",
        "0 or 1",
        "scan without reading ahead",
        freebsd="vfs.zfs.no_scrub_prefetch",
        freebsd_old="vfs.zfs.no_scrub_prefetch",
        illumos=True,
        why_not="a resilver then does less than it says",
    ),
    Tunable(
        "zfs_scan_ignore_errors",
        "0 or 1",
        "count a resilver as complete whatever it could not repair",
        since=(0, 8, 0),
        freebsd="vfs.zfs.scan_ignore_errors",
        why_not="it hides what is lost",
    ),
    Tunable(
        "zfs_max_missing_tvds",
        "top-level vdevs",
        "how many may be missing in an import",
        since=(0, 8, 0),
        freebsd="vfs.zfs.max_missing_tvds",
        why_not="what is on them is gone from the pool that is imported",
    ),
)

TUNABLES = {tunable.name: tunable for tunable in _ALL}
# What may speed up a scan; the first that a release has is the first to try.
SCAN_KNOBS = (
    *("zfs_vdev_scrub_max_active", "zfs_scan_vdev_limit", "zfs_resilver_min_time_ms", "zfs_scrub_min_time_ms"),
    *("zfs_vdev_nia_credit", "zfs_vdev_nia_delay"),
    *("zfs_resilver_delay", "zfs_scrub_delay", "zfs_top_maxinflight", "zfs_scan_min_time_ms"),
)


def path_of(name: str) -> str:
    """Where Linux shows and takes a value."""
    return f"{FOLDER}/{name}"


def by_hand_on_illumos(name: str, value: int) -> str:
    """What a person types there. `/W` writes 32 bits; `/w` would write 16 and leave the rest; 0t says that the digits are decimal."""
    return f"echo {name}/W0t{value} | mdb -kw"


def number(text: str) -> Optional[int]:
    """A value as an order may carry it: a whole number in decimal, without a leading zero, else None."""
    good = text.isascii() and text.isdigit() and len(text) <= 10 and (text == "0" or not text.startswith("0"))
    return int(text) if good and int(text) <= VALUE_MAX else None

"""The truth of every genuine step, as its COMMANDS.md tells it: pools, bad leaves, disks, and the situations it calls for.

Written by hand; the one place for it. Disks of the scenarios are numbered; disk 37 (0x25) has the WWID naa:5000c500a65b225b.
A step that recorded no `zpool status` has no known pools, and one that recorded no disks has no known disks.
"""

from __future__ import annotations

from dataclasses import dataclass

NOT_RECORDED = None


def wwid(number: int) -> str:
    return f"naa:5000c500a65b2{number:02x}b"


@dataclass(frozen=True)
class Bad:
    """The leaf that is bad, by its guid and by the disk it was."""

    guid: int
    disk: int
    state: str


@dataclass(frozen=True)
class Pool:
    name: str
    guid: int
    state: str
    leaves: int
    margin: int | None  # None: not known, as of a suspended pool whose disks were not recorded
    bad: Bad | None = None
    labelled: bool = True  # labels were recorded in this step, so the pool guid and the disks are known


@dataclass(frozen=True)
class Truth:
    pools: tuple[Pool, ...] | None
    disks: int | None = NOT_RECORDED
    blank: tuple[int, ...] = ()
    silent: tuple[int, ...] = ()  # disks whose labels nobody read, or that did not answer
    importable: tuple[tuple[str, int, str], ...] = ()


def ost_0(state, leaves, margin, bad=None, guid=4384816311869892781, labelled=True):
    return (Pool("ost_0", guid, state, leaves, margin, bad, labelled),)


def pulled(guid, state, disk=2):
    return Bad(guid, disk, state)


LOST21, LOST23 = 12982808286677577576, 1195299563000882278
OST0_23 = 6794500405255541326
DRIFT21, DRIFT23 = 16127029951090533777, 12527484215125010025
OST1_21, OST1_23 = 221738468679772958, 4997866828225337252
OST2, OST2_12, OST3 = 12305735828161034898, 16679289448361059587, 6695069603816003176
GONE2, GONE2_12 = Bad(14709243485850050557, 3, "UNAVAIL"), Bad(2608813909828271982, 3, "UNAVAIL")
OST7 = 3848334468681592697
PULLED37 = 0x25


def ost_1(state, margin, bad=None, guid=OST1_21, labelled=True):
    return (Pool("ost_1", guid, state, 6, margin, bad, labelled),)


def ost_7(labelled=False, state="ONLINE", margin=2, bad=None):
    return Pool("ost_7", OST7, state, 6, margin, bad, labelled)


def ost_60(guid, state, leaves, margin, bad=None, labelled=True):
    return (Pool("ost_60", guid, state, leaves, margin, bad, labelled),)


TRUTHS = {
    "active-on-other-host": Truth(NOT_RECORDED, importable=(("ost_on", 3838031771893537920, "UNAVAIL"),)),
    # The JSON of 2.3 says the pool guid even where no label was recorded.
    "disk-removed-zfs2.3/1-pulled-not-noticed": Truth(ost_0("ONLINE", 6, 1, pulled(LOST23, "FAULTED"), OST0_23), 6, (6,)),
    "disk-removed-zfs2.3/2-removed": Truth(ost_0("DEGRADED", 6, 1, pulled(LOST23, "REMOVED"), OST0_23), 6, (6,)),
    "disk-removed-zfs2.3/3-new-disk-in-slot": Truth(ost_0("DEGRADED", 6, 1, pulled(LOST23, "REMOVED"), OST0_23), 7, (6, 7)),
    "disk-removed-zfs2.3/4-replace": Truth(NOT_RECORDED),
    "disk-removed-zfs2.3/5-resilver-start": Truth(
        ost_0("DEGRADED", 7, 1, pulled(LOST23, "REMOVED"), OST0_23, False), 7, silent=(0, 1, 3, 4, 5, 6, 7)
    ),
    "disk-removed-zfs2.3/6-resilver-running": Truth(ost_0("DEGRADED", 7, 1, pulled(LOST23, "REMOVED"), OST0_23, False)),
    "disk-removed-zfs2.3/7-resilver-later": Truth(
        ost_0("DEGRADED", 7, 1, pulled(LOST23, "REMOVED"), OST0_23, False), 7, silent=(0, 1, 3, 4, 5, 6, 7)
    ),
    "disk-removed-zfs2.3/8-resilvered": Truth(ost_0("ONLINE", 6, 2, guid=OST0_23), 7, (6,)),
    "disk-removed-zfs2.3/9-cleared": Truth(ost_0("ONLINE", 6, 2, guid=OST0_23, labelled=False)),
    # Disk 2 is still listed by the kernel here, and dead: it is silent, not blank.
    "disk-removed/1-pulled-not-noticed": Truth(ost_0("DEGRADED", 6, 1, pulled(LOST21, "FAULTED")), 7, (6,), (2,)),
    "disk-removed/2-removed": Truth(ost_0("DEGRADED", 6, 1, pulled(LOST21, "REMOVED")), 6, (6,)),
    # The kernel did not list the new disk 7 yet when this was recorded.
    "disk-removed/3-new-disk-in-slot": Truth(ost_0("DEGRADED", 6, 1, pulled(LOST21, "REMOVED")), 6, (6,)),
    "disk-removed/4-replace": Truth(NOT_RECORDED),
    "disk-removed/5-resilver-start": Truth(
        ost_0("DEGRADED", 7, 1, pulled(LOST21, "REMOVED"), labelled=False), 7, silent=(0, 1, 3, 4, 5, 6, 7)
    ),
    "disk-removed/6-resilver-running": Truth(ost_0("DEGRADED", 7, 1, pulled(LOST21, "REMOVED"), labelled=False)),
    "disk-removed/7-resilver-later": Truth(
        ost_0("DEGRADED", 7, 1, pulled(LOST21, "REMOVED"), labelled=False), 7, silent=(0, 1, 3, 4, 5, 6, 7)
    ),
    "disk-removed/8-resilvered": Truth(ost_0("ONLINE", 6, 2), 7, (6,)),
    "disk-removed/9-cleared": Truth(ost_0("ONLINE", 6, 2, labelled=False)),
    "enclosure-slots/1-all-slots": Truth((Pool("ost_9", 0, "ONLINE", 10, 2, labelled=False),)),
    "enclosure-slots/2-locate": Truth(NOT_RECORDED),
    "enclosure-slots/3-pulled": Truth((Pool("ost_9", 0, "DEGRADED", 10, 1, Bad(3952713359324366513, 6, "REMOVED"), False),)),
    "enclosure-slots/4-new-disk": Truth((Pool("ost_9", 0, "DEGRADED", 10, 1, Bad(3952713359324366513, 6, "REMOVED"), False),)),
    "healthy-mixed": Truth((Pool("tank", 17530970335740660196, "ONLINE", 7, 1),), 8),
    "healthy-mixed-cache-draid/1-cache": Truth((Pool("scratch", 7611279985214384541, "ONLINE", 4, 1),), 8, (7,)),
    "healthy-mixed-cache-draid/2-draid": Truth((Pool("dpool", 4712084022277632920, "ONLINE", 8, 2),), 8),
    "healthy-mixed-zfs2.3": Truth((Pool("tank", 2041595502068262595, "ONLINE", 7, 1),), 8),
    "healthy-raidz2": Truth((Pool("ost_0", 7963212167240562355, "ONLINE", 6, 2),), 8, (6, 7)),
    "healthy-raidz2-zfs2.3": Truth((Pool("ost_0", 7060868771987987287, "ONLINE", 6, 2),), 8, (6, 7)),
    "import-blocked-diverged-disk-ashift12/1-not-imported": Truth((), 6, importable=(("ost_2", OST2_12, "FAULTED"),)),
    "import-blocked-diverged-disk-ashift12/2-import-attempts": Truth(()),
    "import-blocked-diverged-disk-ashift12/3-after-delete": Truth(
        (Pool("ost_2", OST2_12, "DEGRADED", 6, 1, GONE2_12),), 5, importable=(("ost_2", OST2_12, "DEGRADED"),)
    ),
    "import-blocked-diverged-disk-ashift12/4-rescan": Truth((Pool("ost_2", OST2_12, "DEGRADED", 6, 1, GONE2_12, False),)),
    "import-blocked-diverged-disk-ashift12/5-import-rw-degraded": Truth((Pool("ost_2", OST2_12, "DEGRADED", 6, 1, GONE2_12, False),)),
    "import-blocked-diverged-disk-ashift12/6-rescan-rw": Truth((Pool("ost_2", OST2_12, "ONLINE", 6, 2, labelled=False),)),
    "import-blocked-diverged-disk/1-not-imported": Truth((), 6, importable=(("ost_2", OST2, "FAULTED"),)),
    "import-blocked-diverged-disk/2-import-attempts": Truth(()),
    "import-blocked-diverged-disk/3-after-delete": Truth(
        (Pool("ost_2", OST2, "DEGRADED", 6, 1, GONE2),), 5, importable=(("ost_2", OST2, "DEGRADED"),)
    ),
    "import-blocked-diverged-disk/4-rescan": Truth((Pool("ost_2", OST2, "DEGRADED", 6, 1, GONE2, False),)),
    "import-blocked-diverged-disk/5-import-rw-degraded": Truth((Pool("ost_2", OST2, "DEGRADED", 6, 1, GONE2, False),)),
    "import-blocked-diverged-disk/6-rescan-rw": Truth((Pool("ost_2", OST2, "DEGRADED", 6, 1, GONE2, False),)),
    "import-blocked-diverged-disk/7-bring-back": Truth((Pool("ost_2", OST2, "ONLINE", 6, 2, labelled=False),)),
    "import-blocked-labels/1-labels-0-1-garbage": Truth((), 7, (6,), importable=(("ost_3", OST3, "ONLINE"),)),
    # Disk 1 has no label left; it is not free for all that: it still has its partitions.
    "import-blocked-labels/2-all-labels-garbage": Truth((), 7, (1, 6), importable=(("ost_3", OST3, "DEGRADED"),)),
    "import-blocked-labels/3-other-pool-label": Truth(
        (), 7, (6,), importable=(("ost_3", OST3, "DEGRADED"), ("oldpool", 10257982314934703907, "ONLINE"))
    ),
    "import-blocked-labels/4-disk-hangs": Truth(NOT_RECORDED),
    "import-rewind/1-not-imported": Truth((), 4, (3,), importable=(("ost_8", 11426561097578633016, "FAULTED"),)),
    "import-rewind/2-dry-runs": Truth(NOT_RECORDED),
    "import-rewind/3-rewound": Truth((Pool("ost_8", 11426561097578633016, "ONLINE", 3, 1, labelled=False),)),
    "import-rewind/4-healthy-pool": Truth(NOT_RECORDED),
    "mmp-suspended/1-before": Truth((Pool("ost_5", 12688766784877236331, "ONLINE", 5, 2),), 6, (5,)),
    "mmp-suspended/2-suspended": Truth((Pool("ost_5", 12688766784877236331, "SUSPENDED", 5, None),), 6, (5,)),
    "mmp-suspended/3-clear": Truth(NOT_RECORDED),
    "mmp-suspended/4-stall-over": Truth((Pool("ost_5", 12688766784877236331, "SUSPENDED", 5, None, labelled=False),)),
    "other-host/1-last-used-by-oss01": Truth(
        (), 6, importable=(("ost_on", 9404896043686769858, "ONLINE"), ("ost_off", 10694689121425967020, "ONLINE"))
    ),
    "other-host/2-refused": Truth(NOT_RECORDED),
    "other-host/3-forced": Truth(
        (Pool("ost_off", 10694689121425967020, "ONLINE", 3, 1), Pool("ost_on", 9404896043686769858, "ONLINE", 3, 1)), 6
    ),
    "permanent-errors-files/1-files": Truth((Pool("ost_15", 9349261673371452563, "ONLINE", 2, 1),), 3, (2,)),
    "permanent-errors-files/2-deleted": Truth((Pool("ost_15", 9349261673371452563, "ONLINE", 2, 1, labelled=False),)),
    "permanent-errors-files/3-scrubbed": Truth((Pool("ost_15", 9349261673371452563, "ONLINE", 2, 1, labelled=False),)),
    "scrub-states/01-scrub-started": Truth((ost_7(True),), 8, (6, 7)),
    "scrub-states/02-scrub-running": Truth((ost_7(),)),
    "scrub-states/03-scrub-paused": Truth((ost_7(),)),
    "scrub-states/04-scrub-canceled": Truth((ost_7(),)),
    "scrub-states/05-scrub-clean": Truth((ost_7(),)),
    # Disk 1 repaired: checksum errors are no loss of redundancy, and no situation of these two.
    "scrub-states/06-scrub-repaired": Truth((ost_7(True),), 8, (6, 7)),
    "scrub-states/07-cleared-scrubbed": Truth((ost_7(),)),
    "scrub-states/08-permanent-errors": Truth((Pool("one", 3114912929103267002, "ONLINE", 1, 0), ost_7(True)), 8, (7,)),
    "scrub-states/09-files-deleted": Truth((Pool("one", 3114912929103267002, "ONLINE", 1, 0, labelled=False), ost_7())),
    "scrub-states/10-features-not-enabled": Truth(
        (
            Pool("compat", 16066674885689001667, "ONLINE", 1, 0, labelled=False),
            Pool("old", 10936185014979431957, "ONLINE", 1, 0, labelled=False),
            ost_7(),
        )
    ),
    "scrub-states/11-offlined": Truth((ost_7(state="DEGRADED", margin=1, bad=Bad(1245394928352340450, 3, "OFFLINE")),)),
    "scrub-states/12-exported": Truth((), 8, importable=(("ost_7", OST7, "ONLINE"),)),
    "sixty-disks-zfs2.3/1-healthy": Truth(ost_60(0, "ONLINE", 60, 2, labelled=False)),
    "sixty-disks-zfs2.3/2-one-removed": Truth(
        ost_60(1106881941466723896, "DEGRADED", 60, 1, Bad(7759401941992960840, PULLED37, "REMOVED"), False)
    ),
    "sixty-disks-zfs2.3/3-resilvering": Truth(ost_60(0, "DEGRADED", 61, 1, Bad(7759401941992960840, PULLED37, "REMOVED"), False)),
    # The labels of the first top-level vdev only were recorded here; the other 48 disks have not been asked.
    "sixty-disks/1-healthy": Truth(ost_60(17765414197878632263, "ONLINE", 60, 2, labelled=False), 60, silent=tuple(range(12, 60))),
    "sixty-disks/2-one-removed": Truth(ost_60(17765414197878632263, "DEGRADED", 60, 1, Bad(7176780975927443186, PULLED37, "REMOVED")), 59),
    "sixty-disks/3-resilvering": Truth(
        ost_60(17765414197878632263, "DEGRADED", 61, 1, Bad(7176780975927443186, PULLED37, "REMOVED"), False)
    ),
    # Disk 4 is so slow that zdb gave up: nobody knows its label, and it is ONLINE.
    "slow-disk/1-writing": Truth((Pool("ost_6", 4815429314467791264, "ONLINE", 6, 2),), 6, silent=(4,)),
    "slow-disk/2-after": Truth((Pool("ost_6", 4815429314467791264, "ONLINE", 6, 2, labelled=False),)),
    "slow-disk/3-clear": Truth(NOT_RECORDED),
    "unsupported-features/1-not-imported": Truth(
        (), 6, importable=(("new2", 18260655130049515662, "UNAVAIL"), ("new1", 14508380960944538061, "UNAVAIL"))
    ),
    "unsupported-features/2-import": Truth(NOT_RECORDED),
    "wwid-drift-zfs2.3/1-before": Truth(ost_1("ONLINE", 2, guid=OST1_23), 6),
    "wwid-drift-zfs2.3/2-booted-not-imported": Truth((), 6, (8,), importable=(("ost_1", OST1_23, "DEGRADED"),)),
    "wwid-drift-zfs2.3/3-import-cachefile": Truth(ost_1("DEGRADED", 1, Bad(DRIFT23, 2, "FAULTED"), OST1_23), 6, (8,)),
    "wwid-drift-zfs2.3/4-import-d-dev": Truth(ost_1("DEGRADED", 1, Bad(DRIFT23, 2, "FAULTED"), OST1_23), 6, (8,)),
    # Only the pool was recorded: without the disks nobody can tell who has the old name.
    "wwid-drift-zfs2.3/5-refused-commands": Truth(ost_1("DEGRADED", 1, Bad(DRIFT23, 2, "OFFLINE"), OST1_23, False)),
    "wwid-drift-zfs2.3/6-right-replace": Truth(ost_1("ONLINE", 2, guid=OST1_23), 6),
    "wwid-drift-zfs2.3/7-reimported-default": Truth(ost_1("ONLINE", 2, guid=OST1_23, labelled=False)),
    "wwid-drift-zfs2.3/8-reimported-by-id": Truth(ost_1("ONLINE", 2, guid=OST1_23, labelled=False)),
    "wwid-drift/1-before": Truth(ost_1("ONLINE", 2), 6),
    "wwid-drift/2-booted-not-imported": Truth((), 6, (8,), importable=(("ost_1", OST1_21, "DEGRADED"),)),
    "wwid-drift/3-import-cachefile": Truth(ost_1("DEGRADED", 1, Bad(DRIFT21, 2, "FAULTED")), 6, (8,)),
    "wwid-drift/4-import-d-dev": Truth(ost_1("DEGRADED", 1, Bad(DRIFT21, 2, "FAULTED")), 6, (8,)),
    "wwid-drift/5-refused-commands": Truth(ost_1("DEGRADED", 1, Bad(DRIFT21, 2, "OFFLINE"), labelled=False)),
    "wwid-drift/6-right-replace": Truth(ost_1("ONLINE", 2), 6),
    "wwid-drift/7-reimported-default": Truth(ost_1("ONLINE", 2, labelled=False)),
    "wwid-drift/8-reimported-by-id": Truth(ost_1("ONLINE", 2, labelled=False)),
}


# Everything that is wrong in each step, as "slug severity", in the order in which it is shown. NOT_RECORDED: nothing was kept that a
# collector reads, so nothing can be said; what an operator could paste of such a step is in PASTED.
SITUATIONS: dict[str, tuple[str, ...] | None] = {
    "active-on-other-host": ("foreign-pool-imported-elsewhere watch",),
    "disk-removed-zfs2.3/1-pulled-not-noticed": ("disk-missing act",),
    "disk-removed-zfs2.3/2-removed": ("disk-missing act",),
    "disk-removed-zfs2.3/3-new-disk-in-slot": ("disk-missing act",),
    "disk-removed-zfs2.3/4-replace": NOT_RECORDED,
    "disk-removed-zfs2.3/5-resilver-start": ("disk-missing watch", "resilver-running info"),
    "disk-removed-zfs2.3/6-resilver-running": ("disk-missing watch", "resilver-running info"),
    "disk-removed-zfs2.3/7-resilver-later": ("disk-missing watch", "resilver-running info"),
    "disk-removed-zfs2.3/8-resilvered": (),
    "disk-removed-zfs2.3/9-cleared": (),
    # The dead disk answers errors where its labels are.
    "disk-removed/1-pulled-not-noticed": ("disk-missing act", "label-corrupt watch"),
    "disk-removed/2-removed": ("disk-missing act",),
    "disk-removed/3-new-disk-in-slot": ("disk-missing act",),
    "disk-removed/4-replace": NOT_RECORDED,
    "disk-removed/5-resilver-start": ("disk-missing watch", "resilver-running info"),
    "disk-removed/6-resilver-running": ("disk-missing watch", "resilver-running info"),
    "disk-removed/7-resilver-later": ("disk-missing watch", "resilver-running info"),
    "disk-removed/8-resilvered": (),
    "disk-removed/9-cleared": (),
    "enclosure-slots/1-all-slots": (),
    "enclosure-slots/2-locate": NOT_RECORDED,
    "enclosure-slots/3-pulled": ("disk-missing act",),
    "enclosure-slots/4-new-disk": ("disk-missing act",),
    "healthy-mixed": (),
    "healthy-mixed-cache-draid/1-cache": (),
    "healthy-mixed-cache-draid/2-draid": (),
    "healthy-mixed-zfs2.3": (),
    "healthy-raidz2": (),
    "healthy-raidz2-zfs2.3": (),
    "import-blocked-diverged-disk-ashift12/1-not-imported": ("import-blocked act",),
    # The messages of failed imports, which no collector causes; neither listing nor labels.
    "import-blocked-diverged-disk-ashift12/2-import-attempts": NOT_RECORDED,
    "import-blocked-diverged-disk-ashift12/3-after-delete": ("disk-missing act", "pool-read-only info"),
    "import-blocked-diverged-disk-ashift12/4-rescan": ("disk-missing act",),
    "import-blocked-diverged-disk-ashift12/5-import-rw-degraded": ("disk-missing act",),
    # The bad disk is ONLINE after 96K of resilver, and no label was recorded that could tell: only a scrub would.
    "import-blocked-diverged-disk-ashift12/6-rescan-rw": (),
    "import-blocked-diverged-disk/1-not-imported": ("import-blocked act",),
    "import-blocked-diverged-disk/2-import-attempts": NOT_RECORDED,
    "import-blocked-diverged-disk/3-after-delete": ("disk-missing act", "pool-read-only info"),
    "import-blocked-diverged-disk/4-rescan": ("disk-missing act",),
    "import-blocked-diverged-disk/5-import-rw-degraded": ("disk-missing act",),
    "import-blocked-diverged-disk/6-rescan-rw": ("disk-missing act",),
    "import-blocked-diverged-disk/7-bring-back": (),
    "import-blocked-labels/1-labels-0-1-garbage": ("label-corrupt watch",),
    # The listing does without the disk as well.
    "import-blocked-labels/2-all-labels-garbage": ("label-corrupt act", "import-blocked watch"),
    "import-blocked-labels/3-other-pool-label": ("label-corrupt act", "import-blocked watch"),
    "import-blocked-labels/4-disk-hangs": NOT_RECORDED,
    "import-rewind/1-not-imported": ("import-blocked act",),
    "import-rewind/2-dry-runs": NOT_RECORDED,
    "import-rewind/3-rewound": (),
    "import-rewind/4-healthy-pool": NOT_RECORDED,
    "mmp-suspended/1-before": (),
    "mmp-suspended/2-suspended": ("pool-suspended act",),
    # What was typed while it hung.
    "mmp-suspended/3-clear": NOT_RECORDED,
    "mmp-suspended/4-stall-over": ("pool-suspended act", "slow-ios info"),
    # Two pools, with and without multihost, of a host that may be alive.
    "other-host/1-last-used-by-oss01": ("foreign-pool-imported-elsewhere watch", "foreign-pool-imported-elsewhere watch"),
    "other-host/2-refused": NOT_RECORDED,
    "other-host/3-forced": (),
    "permanent-errors-files/1-files": ("data-errors act", "disk-errors watch", "disk-errors watch"),
    # The files are gone, and without -v nobody can tell: the number is all that is asked.
    "permanent-errors-files/2-deleted": ("data-errors act", "disk-errors watch", "disk-errors watch"),
    "permanent-errors-files/3-scrubbed": (),
    # The lab held the scrub by zfs_scan_suspend_progress.
    "scrub-states/01-scrub-started": ("tunables-left-raised watch",),
    "scrub-states/02-scrub-running": (),
    # Somebody paused it on purpose: to know, and no more while it is young.
    "scrub-states/03-scrub-paused": ("scrub-paused info",),
    "scrub-states/04-scrub-canceled": (),
    "scrub-states/05-scrub-clean": (),
    # Mended from the other disks.
    "scrub-states/06-scrub-repaired": ("disk-errors watch", "scrub-repaired info"),
    "scrub-states/07-cleared-scrubbed": (),
    # One disk without a copy: its data is damaged, and its counters say no more than that.
    "scrub-states/08-permanent-errors": ("data-errors act", "disk-errors watch", "scrub-repaired info"),
    "scrub-states/09-files-deleted": ("data-errors act", "disk-errors watch", "scrub-repaired info"),
    "scrub-states/10-features-not-enabled": ("features-disabled info",),
    "scrub-states/11-offlined": ("disk-missing act",),
    "scrub-states/12-exported": ("destroyed-member info", "destroyed-member info"),
    "sixty-disks-zfs2.3/1-healthy": (),
    "sixty-disks-zfs2.3/2-one-removed": ("disk-missing act",),
    "sixty-disks-zfs2.3/3-resilvering": ("disk-missing watch", "resilver-running info"),
    "sixty-disks/1-healthy": (),
    "sixty-disks/2-one-removed": ("disk-missing act",),
    "sixty-disks/3-resilvering": ("disk-missing watch", "resilver-running info"),
    # Slow, and it counted slow I/Os; zio_slow_io_ms was lowered. zdb gave up on it too, but it answers: it does not hang.
    "slow-disk/1-writing": ("slow-disk act", "tunables-left-raised watch"),
    # The throttle is off, the counts stay.
    # txg_sync waited longer than two minutes for that disk.
    "slow-disk/2-after": ("slow-disk watch", "kernel-errors watch", "slow-ios info"),
    "slow-disk/3-clear": NOT_RECORDED,
    "unsupported-features/1-not-imported": ("import-blocked watch", "import-blocked watch"),
    "unsupported-features/2-import": NOT_RECORDED,
    "wwid-drift-zfs2.3/1-before": ("kernel-names info",),
    "wwid-drift-zfs2.3/2-booted-not-imported": ("import-blocked watch",),
    "wwid-drift-zfs2.3/3-import-cachefile": ("wwid-mismatch act",),
    "wwid-drift-zfs2.3/4-import-d-dev": ("wwid-mismatch act",),
    # Its old name is that of a member in service today, which the tree alone shows.
    "wwid-drift-zfs2.3/5-refused-commands": ("wwid-mismatch act",),
    "wwid-drift-zfs2.3/6-right-replace": ("kernel-names info",),
    "wwid-drift-zfs2.3/7-reimported-default": ("kernel-names info",),
    "wwid-drift-zfs2.3/8-reimported-by-id": (),
    "wwid-drift/1-before": ("kernel-names info",),
    # Nothing stands in the way of the import but one missing member.
    "wwid-drift/2-booted-not-imported": ("import-blocked watch",),
    "wwid-drift/3-import-cachefile": ("wwid-mismatch act",),
    "wwid-drift/4-import-d-dev": ("wwid-mismatch act",),
    # Only the pool was recorded: without the disks nobody can tell who has the old name.
    "wwid-drift/5-refused-commands": ("wwid-mismatch act",),
    "wwid-drift/6-right-replace": ("kernel-names info",),
    "wwid-drift/7-reimported-default": ("kernel-names info",),
    "wwid-drift/8-reimported-by-id": (),
}

# What all texts of a step say when they are pasted in their order, where that is not what its node reports: more was typed than a
# collector asks, or what a collector reads in /sys was not typed.
PASTED = {
    # The pool was imported read-only at the end of the step, and came up without the disk.
    "import-blocked-labels/2-all-labels-garbage": ("disk-missing act", "label-corrupt act"),
    "import-blocked-labels/3-other-pool-label": ("disk-missing act", "label-corrupt act"),
    "import-blocked-labels/4-disk-hangs": ("disk-hangs act",),
    # `zpool import -D` was asked as well, and lists a pool of the run before that was destroyed.
    "import-rewind/4-healthy-pool": ("import-blocked info",),
    "mmp-suspended/3-clear": ("pool-suspended act",),
    # Module parameters are not read from a paste.
    "scrub-states/01-scrub-started": (),
    "slow-disk/1-writing": ("slow-disk act",),
}

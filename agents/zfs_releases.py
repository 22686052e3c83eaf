"""What each release of OpenZFS does with the commands of our operations: where they are ordered, where only a person gives them, where they are refused.

The one table of it, for node and portal alike; docs/releases.md is made from it. Every entry names the place in OpenZFS's source where it was
read (file:function, tag). 2.1 to 2.4 were tried as well; of the others the same command reaches the same checks of the kernel by source, and
what is not listed here is the same as there. A change begins at a patch level, so everything is asked by three numbers.

    newer than what was read, or older     ->  looked at; a person gives the commands, which a rehearsal shows
    a version that cannot be read          ->  refused
    tools and module of different minors   ->  refused
    of one minor, other patch levels       ->  as one, where no entry of that operation lies between them
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Optional, Tuple, Union

Release = Tuple[int, ...]
ORDERED, WARNED, BY_HAND, REFUSED = "ordered", "ordered, with a warning", "by hand", "refused"
PASS, REFUSE, UNKNOWN = "pass", "refuse", "unknown"
BY_HAND_ONLY = "by hand"  # of a verdict of the node: no order, and a person may
BLIND, REFUSES, LOOKS = "resumes blindly", "refuses", "looks first"

READ: dict[Release, tuple[int, int]] = {  # series -> the first and the last patch level that was read
    (0, 6): (5, 5),
    (0, 7): (0, 13),
    (0, 8): (0, 6),
    (2, 0): (0, 7),
    (2, 1): (0, 16),
    (2, 2): (0, 11),
    (2, 3): (0, 9),
    (2, 4): (0, 4),
}
TRIED = ((2, 1), (2, 2), (2, 3), (2, 4))  # with a real kernel, not by source only
PATHS_ARE_SET, CLEAR_REFUSES, CLEAR_LOOKS, CLAIMS = ("2.2.0",), ("0.8.0",), ("2.2.4",), ("2.3.6", "2.4.1")
PREPARES, SLOT_POWER, PULL_IS_IGNORED = ("2.1.15", "2.2.1"), ("2.1.15", "2.2.3"), ("2.3.0",)
HAS_SIT_OUT, HAS_RESILVER, TREE_IS_WHOLE, HOSTID_OF_THE_POOL = ("2.4.0",), ("0.8.0",), ("2.0.2",), ("2.2.0",)

# What of a pool an entry may rest on.
MULTIHOST = "multihost"  # it is suspended, and its property multihost is on
CHECKED = "checked"  # multihost is on, and it was not exported by this very host: an import looks for another one first
WHEN = {
    MULTIHOST: "a suspended pool with multihost on",
    CHECKED: "a pool with multihost on that was not exported by this host",
}
HAND = "Do it by hand."


@dataclass(frozen=True)
class Entry:
    """What is so from the releases `since` on, one first tag for each series in which it came, and no more from `until` on."""

    outcome: str
    reason: str
    source: str
    since: tuple[str, ...] = ()  # (): in all of them
    until: tuple[str, ...] = ()  # (): to the newest
    when: str = ""  # of which pools; "" of all

    def covers(self, release: Release) -> bool:
        return (not self.since or has(self.since, release)) and not (self.until and has(self.until, release))


@dataclass(frozen=True)
class Ruling:
    """Whether it may be ordered: "pass", "refuse" or "unknown", why, and what must be known first where it may."""

    outcome: str
    reason: str
    warnings: tuple[str, ...] = ()
    by_hand: bool = False  # it is refused as an order only: a person may give the command, under the same guards


def numbers(text: str) -> Optional[Release]:
    """(2, 1, 11) of "zfs-kmod-2.1.11-1+deb12u1"; packages of one release are built apart. None where it is no version."""
    found = re.search(r"(?:^|-)v?([0-9]{1,4})\.([0-9]{1,4})\.([0-9]{1,4})(?![0-9])", text)
    return tuple(map(int, found.groups())) if found else None


def words(release: Release) -> str:
    return ".".join(map(str, release))


def tried() -> str:
    """Which series were tried with a real kernel, for a sentence."""
    *first, last = map(words, TRIED)
    return f"{', '.join(first)} and {last}"


@lru_cache(maxsize=1024)
def has(first_tags: tuple[str, ...], release: Release) -> bool:
    """Whether something that came with these tags is in the release: ("2.1.15", "2.2.3") is in 2.1.16 and 2.3.0, and not in 2.2.2."""
    firsts = {first[:2]: first for first in (numbers(tag) or () for tag in first_tags)}
    return release >= firsts.get(release[:2], max(firsts.values()))


def is_read(release: Release) -> bool:
    low, high = READ.get(release[:2], (0, -1))
    return low <= release[2] <= high


# --- the table

_STATUS = Entry(
    BY_HAND,
    "its `zpool status` has no -p, so what a change rests on cannot be read there exactly",
    "cmd/zpool/zpool_main.c:zpool_do_status, zfs-0.7.13",
    until=("0.8.0",),
)
_SLOT_POWER = Entry(
    ORDERED,
    "ZPOOL_AUTO_POWER_ON_SLOT in its environment makes it switch the power of slots on; the agent gives every command an environment of its own",
    "cmd/zpool/zpool_main.c:zpool_do_online, zpool_do_clear, zfs-2.1.16",
    since=SLOT_POWER,
)
_NO_TEXT = Entry(
    ORDERED,
    "a guid that the pool does not have is refused and nothing is printed (exit 1)",
    "cmd/zpool/zpool_main.c:zpool_do_online, zfs-2.1.16",
    since=("2.1.12", "2.2.0"),
    until=("2.3.0",),
)
_REWORDED = Entry(
    ORDERED,
    "the refusal of an unknown guid reads “couldn't find device”",
    "cmd/zpool/zpool_main.c:zpool_do_online, zfs-2.3.9",
    since=("2.3.0",),
)
_CLAIM_REFUSES = Entry(
    REFUSED,
    "such an import writes a claim to the disks first, whatever readonly says; read-only no disk takes it, so it ends with “imported on host "
    "'<unknown>'” or “claim could not be written”, though no host has the pool imported and no disk is gone. What only reads there: `zpool import` without a name, `zdb -e`, and a read-only import as it was at one txg (-T)",
    "module/zfs/spa.c:spa_ld_open_vdevs, spa_activity_check_claim; module/zfs/mmp.c:mmp_claim_uberblock_sync; module/zfs/vdev.c:vdev_probe_done, zfs-2.3.9",
    since=CLAIMS,
    when=CHECKED,
)
_CLAIM_IS_BROKEN = Entry(
    BY_HAND,
    "such an import writes a claim to every disk first. Of a pool with a degraded mirror it is refused, though no host has the pool imported, and of one "
    "from which a device was removed it panics the kernel (OpenZFS #18823, #18835); 2.3.9 and 2.4.4 mend it",
    "module/zfs/mmp.c:mmp_claim_uberblock_sync, zfs-2.3.8",
    since=CLAIMS,
    until=("2.3.9", "2.4.4"),
    when=CHECKED,
)
_CLAIM_IS_WRITTEN = Entry(
    WARNED,
    "it writes a claim to every disk ten times and listens after each, before it decides anything, and puts back what was there. "
    "“imported on host '<unknown>' (hostid=0)” is no proof then that another host has the pool",
    "module/zfs/spa.c:spa_activity_check_claim, zfs-2.3.9",
    since=("2.3.9", "2.4.4"),
    when=CHECKED,
)
_CLAIM_IS_LEFT_OUT = Entry(
    WARNED,
    "with -T it only listens for another host and writes no claim, as before; without -T it would",
    "module/zfs/spa.c:spa_load_best (spa_extreme_rewind), zfs-2.3.9",
    since=CLAIMS,
    when=CHECKED,
)
_PREPARES = Entry(
    ORDERED,
    "an executable zfs_prepare_disk on the node runs as root on the new disk before it is labelled, and its failure refuses the disk",
    "lib/libzfs/libzfs_util.c:zpool_prepare_disk, zfs-2.3.9",
    since=PREPARES,
)
_REPLACES = (
    _STATUS,
    Entry(
        ORDERED,
        "an ashift that is too large is refused as “already in replacing/spare config”",
        "module/zfs/spa.c:spa_vdev_attach, zfs-2.2.11",
        since=("2.0.0",),
        until=("2.3.0",),
    ),
    Entry(
        ORDERED,
        "an ashift that is too large is refused as “cannot have a higher alignment requirement”",
        "lib/libzfs/libzfs_pool.c:zpool_vdev_attach, zfs-2.3.9",
        since=("2.3.0",),
    ),
    _PREPARES,
)
_TREE = Entry(
    REFUSED,
    "`zpool add -n` does not print the whole tree there (no spares, and a first log below no heading), so what would be added cannot be compared "
    "before. Bring the node to 2.0.2 or newer first",
    "cmd/zpool/zpool_main.c:zpool_do_add, zfs-2.0.1, zfs-2.0.2",
    until=TREE_IS_WHOLE,
)
_ANY = ()  # they give no command of ZFS, and change nothing that a pool rests on

TABLE: Mapping[str, tuple[Entry, ...]] = {
    "zpool_replace": _REPLACES,
    "zpool_detach": (_STATUS,),
    "zpool_offline": (
        _STATUS,
        Entry(
            WARNED,
            "where the pool has a hot spare that waits, ZED lets it stand in when the disk is pulled, although the disk is OFFLINE (not since 2.3.0). Its "
            "resilver comes first then; the run goes on when that has ended, and the spare goes back when the new disk is filled",
            "cmd/zed/agents/zfs_retire.c:zfs_retire_recv, zfs-2.2.11",
            until=PULL_IS_IGNORED,
        ),
    ),
    "zpool_replace_serving": _REPLACES,
    "zpool_replace_partition": _REPLACES,
    "partition_copy": (_STATUS,),
    "proxmox_boot_init": (_STATUS,),
    "zpool_detach_new_half": (_STATUS,),
    "zpool_online": (_STATUS, _NO_TEXT, _REWORDED, _SLOT_POWER),
    "zpool_bring_back": (_STATUS, _NO_TEXT, _REWORDED, _SLOT_POWER),
    "zpool_set_path": (
        Entry(
            REFUSED,
            "members have no property path there. Plan a window: stop the users of the pool, export it, and import it by its guid with "
            "`-d /dev/disk/by-id`. Do not replace, and do not wipe: the data is on that disk",
            "include/sys/fs/zfs.h:VDEV_PROP_PATH, zfs-2.2.0",
            until=PATHS_ARE_SET,
        ),
    ),
    "zpool_clear": (
        _STATUS,
        Entry(
            REFUSED,
            "it resumes without looking whether another host has the pool by now: two hosts would write. Reboot the node",
            "module/zfs/zfs_ioctl.c:zfs_ioc_clear, zfs-0.7.13",
            until=CLEAR_REFUSES,
            when=MULTIHOST,
        ),
        Entry(
            REFUSED,
            "it refuses after any suspension, by I/O errors too (invalid argument), and the pool stays busy for an export. Reboot the node",
            "module/zfs/zfs_ioctl.c:zfs_ioc_clear, zfs-2.1.16, zfs-2.2.3",
            since=CLEAR_REFUSES,
            until=CLEAR_LOOKS,
            when=MULTIHOST,
        ),
        Entry(
            WARNED,
            "it looks for another writer before it resumes. It may refuse without reason; then reboot, and do not try again",
            "module/zfs/zfs_ioctl.c:zfs_ioc_clear, zfs-2.2.4",
            since=CLEAR_LOOKS,
            when=MULTIHOST,
        ),
        _SLOT_POWER,
    ),
    "zpool_scrub": (
        _STATUS,
        Entry(ORDERED, "it is refused while an error scrub runs", "module/zfs/dsl_scan.c:dsl_scan, zfs-2.2.0", since=("2.2.0",)),
    ),
    "zpool_resilver": (
        Entry(
            BY_HAND,
            "there is no `zpool resilver`. A scrub that begins while a disk misses data fills it: `zpool scrub`",
            "cmd/zpool/zpool_main.c:command_table; module/zfs/dsl_scan.c:dsl_scan_setup_sync, zfs-0.7.13",
            until=HAS_RESILVER,
        ),
        Entry(
            ORDERED,
            "it ends any scan that runs, a scrub too, and is refused where the feature resilver_defer is not enabled",
            "module/zfs/spa.c:spa_scan; module/zfs/dsl_scan.c:dsl_scan, zfs-0.8.6, zfs-2.3.4",
            since=HAS_RESILVER,
        ),
    ),
    "zpool_scrub_pause": (_STATUS,),
    "zpool_scrub_stop": (_STATUS,),
    "zpool_remove_vdev": (
        Entry(
            REFUSED,
            "it takes no data vdev out of a pool. Attach a second disk to a single one, or copy the data into a new pool",
            "module/zfs/spa.c:spa_vdev_remove, zfs-0.7.13",
            until=("0.8.0",),
        ),
    ),
    "zfs_destroy_snapshot": (_STATUS,),
    "zpool_attach": (
        *_REPLACES,
        Entry(
            ORDERED,
            "an attach to a raidz makes it wider for good; here it is given for a disk alone, by its guid",
            "module/zfs/spa.c:spa_vdev_attach, zfs-2.3.0",
            since=("2.3.0",),
        ),
    ),
    "zpool_add": (
        _TREE,
        Entry(
            ORDERED,
            "a log whose ashift differs from that of the data vdevs is refused",
            "module/zfs/spa.c:spa_vdev_add, zfs-2.2.4",
            since=("2.2.4",),
        ),
        _PREPARES,
    ),
    "zpool_add_class": (
        _TREE,
        Entry(
            ORDERED,
            "a mirror that survives more or fewer losses than the other vdevs, and any mirror beside single disks, is refused as “mismatched replication "
            "level”, and disks that differ by more than 16 MiB as “contains devices of different sizes”; nothing is compared where the vdevs of the pool "
            "differ among themselves",
            "cmd/zpool/zpool_vdev.c:check_replication, get_replication, zfs-0.8.0, zfs-2.0.2, zfs-2.1.11, zfs-2.2.4, zfs-2.3.9, zfs-2.4.4",
            since=("0.8.0",),
        ),
        Entry(
            ORDERED,
            "without the feature allocation_classes the kernel refuses: “pool must be upgraded to add these vdevs”",
            "module/zfs/vdev.c:vdev_alloc; lib/libzfs/libzfs_pool.c:zpool_add, zfs-2.0.2, zfs-2.4.4",
            since=("0.8.0",),
        ),
        Entry(
            ORDERED,
            "a special or dedup vdev whose ashift differs from that of the data vdevs is refused; here the ashift is always given",
            "module/zfs/spa.c:spa_vdev_add, zfs-2.2.4",
            since=("2.2.4",),
        ),
        _PREPARES,
    ),
    "zpool_remove": (
        _STATUS,
        Entry(
            ORDERED,
            "a log that holds writes of a dataset whose key is not loaded is refused as busy: “Mount encrypted datasets to replay logs”",
            "lib/libzfs/libzfs_pool.c:zpool_vdev_remove; module/zfs/spa.c:spa_reset_logs, zfs-0.8.0, zfs-2.3.4",
            since=("0.8.0",),
        ),
    ),
    "zpool_export_readonly": (_STATUS,),
    "zpool_export_unused": (_STATUS,),
    "zpool_import_readonly": (_STATUS, _CLAIM_REFUSES),
    "zpool_import_dry_run": (_STATUS, _CLAIM_REFUSES),
    "zpool_import_rewind": (_STATUS, _CLAIM_REFUSES),
    "zpool_import_txg": (_STATUS, _CLAIM_IS_LEFT_OUT),
    "zpool_import_ordinary": (_STATUS, _CLAIM_IS_BROKEN, _CLAIM_IS_WRITTEN),
    "zpool_import_without_log": (
        _STATUS,
        Entry(
            WARNED,
            "the pool forgets its spares and cache devices with it (mended in 2.1.12, OpenZFS #14794): note which it has, and add them again",
            "module/zfs/spa.c:spa_tryimport, zfs-2.1.11, zfs-2.1.12",
            until=("2.1.12", "2.2.0"),
        ),
        _CLAIM_IS_BROKEN,
        _CLAIM_IS_WRITTEN,
    ),
    "zpool_import_writable": (_STATUS, _CLAIM_IS_BROKEN, _CLAIM_IS_WRITTEN),
    "zpool_import_fenced": (
        _STATUS,
        Entry(
            ORDERED,
            "the hostid that -f passes over is the one in the pool's own configuration, not the one of a label",
            "cmd/zpool/zpool_main.c:do_import; module/zfs/spa.c:spa_tryimport, zfs-2.2.11",
            since=HOSTID_OF_THE_POOL,
        ),
        _CLAIM_IS_BROKEN,
        _CLAIM_IS_WRITTEN,
    ),
    "zpool_rewind": (_STATUS, _CLAIM_IS_BROKEN, _CLAIM_IS_WRITTEN),
    "zdb_without": (_STATUS,),
    "set_drive_mode": (_STATUS,),
    "disk_delete": (_STATUS,),
    "disk_wipe": (_STATUS,),
    "disk_wipe_destroyed": (_STATUS,),
    "set_tunable": (),  # which there are is in agents/domain/tunables.py; the module alone counts
    "disk_rescan": _ANY,
    "locate_led": _ANY,
    "fault_led_off": _ANY,
    "smart_self_test": _ANY,
}
ON_ANY = ("disk_rescan", "locate_led", "fault_led_off", "smart_self_test")
BY_MODULE = ("set_tunable",)  # the tools have no part in it

# What a person gives with `zpool` alone, where the rest of Linux is not: on FreeBSD and illumos.
ZPOOL_ALONE = frozenset(
    (
        *(
            "zpool_replace",
            "zpool_replace_serving",
            "zpool_attach",
            "zpool_detach",
            "zpool_detach_new_half",
            "zpool_offline",
            "zpool_online",
        ),
        *("zpool_bring_back", "zpool_clear", "zpool_scrub", "zpool_scrub_pause", "zpool_scrub_stop", "zpool_resilver", "zpool_remove"),
        *("zpool_export_readonly", "zpool_export_unused"),
    )
)
# illumos' ZFS has no release of OpenZFS. Its zpool has each of these with the same words, and takes guids for members (usr/src/man/man8/zpool.8, 2025-09;
# lib/libzfs/common/libzfs_pool.c: zpool_find_vdev). What `clear` does to a pool that multihost suspended was not read, so it is not among them.
ILLUMOS = "illumos"
ON_ILLUMOS = ZPOOL_ALONE - {"zpool_clear"}

State = Union[bool, str]  # whether a condition holds; a text says why that is not known


def ruling(operation: str, tools: str, module: str, pool: Mapping[str, State] | None = None) -> Ruling:
    """May it be ordered on a node with these tools and this module, of a pool of which this is known?"""
    if operation in ON_ANY:
        return Ruling(PASS, "It gives no command of ZFS.")
    if module.startswith(f"{ILLUMOS} "):
        return _on_illumos(operation)
    here = numbers(module)
    theirs = here if operation in BY_MODULE else numbers(tools)
    if here is None or theirs is None:
        what = ("kernel module", module) if here is None else ("tools", tools)
        return Ruling(UNKNOWN, f"The release of the ZFS {what[0]} is not known: {what[1]!r} is no version.")
    if here[:2] != theirs[:2]:
        return Ruling(
            REFUSE,
            f"The ZFS tools are {words(theirs)} and the kernel module is {words(here)}. Reboot into the new module, or bring both to one release.",
        )
    if unread := next((one for one in (here, theirs) if not is_read(one)), None):
        reason = f"OpenZFS {words(unread)} is not among the releases that were read ({read()}). Looking is not affected. {HAND}"
        known = _of_entries(operation, theirs, here, pool or {})  # what is so to the newest that was read is taken to be so still
        return Ruling(REFUSE, reason, by_hand=known.outcome == PASS or known.by_hand)
    return _of_entries(operation, theirs, here, pool or {})


def _on_illumos(operation: str) -> Ruling:
    if operation not in ON_ILLUMOS:
        return Ruling(
            REFUSE,
            f"What {operation} does with illumos' ZFS was not read. A rehearsal of the runbook shows what is done and in which order.",
        )
    return Ruling(
        REFUSE, f"illumos' ZFS has no release of OpenZFS; of its zpool these words were read, and tried nowhere. {HAND}", by_hand=True
    )


def _of_entries(operation: str, theirs: Release, here: Release, pool: Mapping[str, State]) -> Ruling:
    entries = [entry for entry in TABLE[operation] if entry.covers(here)]
    between = [entry for entry in TABLE[operation] if entry.covers(here) != entry.covers(theirs)]
    if between:
        return Ruling(
            REFUSE,
            f"The ZFS tools are {words(theirs)}, the kernel module is {words(here)}, and they differ: {between[0].reason}. Bring both to one release.",
        )
    stand: list[Entry] = []
    for entry in entries:
        state = pool.get(entry.when, "it was not read") if entry.when else True
        if isinstance(state, str) and entry.outcome != ORDERED:
            return Ruling(
                UNKNOWN,
                f"What OpenZFS {words(here)} does here depends on whether this is {WHEN[entry.when]}, which is not known: {state.rstrip('.')}.",
            )
        if state is True:
            stand.append(entry)
    against = next((entry for outcome in (REFUSED, BY_HAND) for entry in stand if entry.outcome == outcome), None)
    if against:
        of = f", of {WHEN[against.when]}" if against.when else ""
        hand = f" {HAND}" if against.outcome == BY_HAND else ""
        return Ruling(REFUSE, f"OpenZFS {words(here)}{of}: {against.reason}.{hand}", by_hand=against.outcome == BY_HAND)
    lines = tuple(f"OpenZFS {words(here)}: {entry.reason}." for entry in stand if entry.outcome == WARNED)
    return Ruling(PASS, f"OpenZFS {words(here)}. {' '.join(lines)}".rstrip(), lines)


def clear_of_multihost(release: Release) -> str:
    """What `zpool clear` does to a suspended pool with multihost on: BLIND, REFUSES or LOOKS. Of a newer release, what the newest that was read does."""
    return LOOKS if has(CLEAR_LOOKS, release) else REFUSES if has(CLEAR_REFUSES, release) else BLIND


@lru_cache(maxsize=256)
def asks(condition: str, module: str) -> bool:
    """Whether something rests on this condition of a pool with this module. When that is not known: yes."""
    release = numbers(module)
    return release is None or any(entry.when == condition and entry.covers(release) for entries in TABLE.values() for entry in entries)


def read() -> str:
    """Which releases were read, for a sentence."""
    return ", ".join(f"{words((*s, low))} to {words((*s, high))}" if low < high else words((*s, low)) for s, (low, high) in READ.items())


def not_ordered(tools: str, module: str) -> dict[str, str]:
    """Operation -> why it is ordered for no pool on a node with these."""
    rulings = {operation: ruling(operation, tools, module, dict.fromkeys(WHEN, False)) for operation in TABLE}
    return {operation: ruled.reason for operation, ruled in rulings.items() if ruled.outcome != PASS}

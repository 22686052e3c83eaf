"""Resilvers and scrubs: how far one is by the clock, how `zpool status` says it, and what its end changes."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace

from twin.figures import ctime, dhms, nicebytes
from twin.model import Node, Pool, Scan, Vdev
from twin.vdevs import Place, find, put

DELTA_BYTES = 36 * 1024  # what a member that was away for a moment has to catch up
DEFER_FROM = 0.10  # zfs_resilver_defer_percent, new in 2.3: a resilver that is not so far begins anew
SCAN_AHEAD = 5  # reading metadata runs this much faster than issuing the repairs
ETA_BYTES_PER_SECOND_MIN = 10 * 1024 * 1024  # slower than this and zpool gives no estimate


@dataclass(frozen=True)
class Progress:
    """The counters the kernel keeps of a scan, in bytes, and the seconds of this pass."""

    to_examine: int
    examined: int
    issued: int
    processed: int
    skipped: int
    seconds: int

    @property
    def to_issue(self) -> int:
        return self.to_examine - self.skipped


def progress(scan: Scan, now: float) -> Progress:
    if scan.state == "finished":
        took = int(scan.ends_at - scan.started_at)
        return Progress(scan.to_examine, scan.to_examine, scan.to_examine - scan.skipped, scan.to_write, scan.skipped, took)
    seconds, done = max(0.0, now - scan.started_at), scan.done(now)
    examined = int(scan.to_examine * min(1.0, done * SCAN_AHEAD))
    issued = int((scan.to_examine - scan.skipped) * done)
    return Progress(scan.to_examine, examined, issued, int(scan.to_write * done), scan.skipped, int(seconds))


def scan_lines(scan: Scan, now: float, release: tuple[int, ...]) -> str:
    """The `scan:` entry. 2.2 changed the lines of a running scan and nothing else."""
    if scan.state == "running":
        return running_lines(scan, progress(scan, now), release)
    if scan.state == "paused":
        return paused_lines(scan, progress(scan, now), release)
    if scan.state == "canceled":
        return f"  scan: {scan.function} canceled on {ctime(scan.ends_at)}\n"
    done = "resilvered" if scan.function == "resilver" else "scrub repaired"
    end = f"with {scan.errors} errors on {ctime(scan.ends_at)}"
    return f"  scan: {done} {nicebytes(scan.to_write)} in {dhms(scan.ends_at - scan.started_at)} {end}\n"


def running_lines(scan: Scan, p: Progress, release: tuple[int, ...]) -> str:
    seconds = max(1, p.seconds)
    rate = p.issued // seconds
    if release >= (2, 2):
        amounts = f"{nicebytes(p.examined)} / {nicebytes(p.to_examine)} scanned, {nicebytes(p.issued)} / {nicebytes(p.to_issue)} issued"
        amounts += f" at {nicebytes(rate)}/s" if rate else ""
        done, left = p.issued / max(1, p.to_issue), p.to_issue - p.issued
        # Since 2.2 there is no estimate before the first repair, nor at the very end.
        begun = left > 0 and (p.processed if scan.function == "resilver" else p.issued) > 0
    else:
        amounts = f"{nicebytes(p.examined)} scanned at {nicebytes(p.examined // seconds)}/s, "
        amounts += f"{nicebytes(p.issued)} issued at {nicebytes(rate)}/s, {nicebytes(p.to_examine)} total"
        done, left, begun = p.issued / max(1, p.to_examine), p.to_examine - p.issued, True
    known = begun and left >= 0 and rate >= ETA_BYTES_PER_SECOND_MIN
    to_go = f"{dhms(left // rate)} to go" if known else "no estimated completion time"
    verb = "resilvered" if scan.function == "resilver" else "repaired"
    return (
        f"  scan: {scan.function} in progress since {ctime(scan.started_at)}\n\t{amounts}\n"
        f"\t{nicebytes(p.processed)} {verb}, {done * 100:.2f}% done, {to_go}\n"
    )


def paused_lines(scan: Scan, p: Progress, release: tuple[int, ...]) -> str:
    """Without speeds and without an estimate: cmd/zpool/zpool_main.c, print_scan_scrub_resilver_status."""
    if release >= (2, 2):
        amounts = f"{nicebytes(p.examined)} / {nicebytes(p.to_examine)} scanned, {nicebytes(p.issued)} / {nicebytes(p.to_issue)} issued"
        done = p.issued / max(1, p.to_issue)
    else:
        amounts = f"{nicebytes(p.examined)} scanned, {nicebytes(p.issued)} issued, {nicebytes(p.to_examine)} total"
        done = p.issued / max(1, p.to_examine)
    return (
        f"  scan: {scan.function} paused since {ctime(scan.turned_at)}\n\tscrub started on {ctime(scan.started_at)}\n\t{amounts}\n"
        f"\t{nicebytes(p.processed)} repaired, {done * 100:.2f}% done\n"
    )


def pause(pool: Pool, now: float) -> None:
    scan = pool.scan
    assert scan is not None
    scan.done_before, scan.turned_at, scan.state = scan.done(now), now, "paused"


def resume(pool: Pool, now: float) -> None:
    """It goes on where it stopped."""
    assert pool.scan is not None
    pool.scan.turned_at, pool.scan.state = now, "running"


def start_resilver(node: Node, pool: Pool, now: float) -> None:
    """Begin filling every leaf that waits for it. What is read is the pool; what is written is one disk's share of it, and to a log nothing."""
    filling = [leaf for leaf in pool.leaves() if leaf.resilver_txg or leaf.deferred]
    for leaf in filling:
        leaf.deferred = False
        leaf.resilver_txg = pool.txg
    logs = {leaf.guid for top in pool.tops if top.cls == "log" for leaf in top.leaves()}
    filled = [leaf for leaf in filling if leaf.guid not in logs]
    members = max(1, len(pool.leaves()) - len(logs) - len(filled))
    # Since 2.2 the blocks that a resilver has no business with are counted out beforehand.
    skipped = pool.alloc_bytes * (len(pool.tops) - 1) // len(pool.tops) if node.release >= (2, 2) else 0
    share = pool.alloc_bytes * len(filled) // members
    pool.scan = Scan("resilver", "running", now, node.knobs.resilver_seconds, pool.alloc_bytes, share, skipped)


def begins_anew(node: Node, pool: Pool, now: float) -> bool:
    """Whether a disk that is new now is filled from now on, with those that are being filled. Else it waits for the end of the resilver that runs."""
    scan = pool.scan
    if scan is None or scan.state != "running" or scan.function != "resilver":
        return True
    return not pool.defers or (node.release >= (2, 3) and scan.done(now) < DEFER_FROM)


def catch_up(pool: Pool, now: float) -> None:
    """A member is back that was away for a moment: what it missed is resilvered at once, and `zpool status` shows it."""
    if pool.scan is None or pool.scan.state != "running":
        pool.scan = Scan("resilver", "finished", now, 0.0, 2 * DELTA_BYTES, DELTA_BYTES)


def is_due(node: Node, now: float) -> bool:
    return any(_due(pool, now) for pool in node.pools)


def settle(node: Node, now: float) -> None:
    """Let every scan that is over by `now` have its end: `replacing` collapses, deferred leaves get their turn."""
    for pool in node.pools:
        while _due(pool, now):
            _finish(node, pool)


def _due(pool: Pool, now: float) -> bool:
    return pool.scan is not None and pool.scan.state == "running" and now >= pool.scan.ends_at


def _finish(node: Node, pool: Pool) -> None:
    scan = pool.scan
    assert scan is not None
    pool.scan = replace(scan, state="finished")
    pool.error_log = list(
        pool.damaged
    )  # spa_errlog_rotate, module/zfs/spa_errlog.c: what this scan found takes the place of what was listed
    pool.txg += int(scan.seconds // 5) + 1  # a txg is written every five seconds
    for leaf in pool.leaves():
        if leaf.state in ("ONLINE", "DEGRADED"):
            leaf.resilver_txg = 0
    end_replacements(node, pool)
    _stamp_labels(node, pool)
    if any(leaf.deferred for leaf in pool.leaves()):
        start_resilver(node, pool, scan.ends_at)


def end_replacements(node: Node, pool: Pool) -> None:
    """Each whose new disk serves and is filled; one whose newest disk is lost stays until somebody ends it (`spa_vdev_resilver_done_hunt`)."""
    whole = [v for v in pool.walk() if v.type == "replacing" and v.children[-1].state in ("ONLINE", "DEGRADED")]
    for vdev in [v for v in whole if not any(c.deferred or c.resilver_txg for c in v.children)]:
        _collapse(node, pool, vdev)


def _collapse(node: Node, pool: Pool, vdev: Vdev) -> None:
    """The newest child takes the place; the others leave the pool."""
    found = find(pool, vdev.guid)
    assert found is not None
    forget(node, pool, found[1].top, vdev.children[:-1])
    stand_alone(node, pool, found[1], vdev, vdev.children[-1])


def stand_alone(node: Node, pool: Pool, place: Place, parent: Vdev, last: Vdev) -> None:
    """The last child takes the place of its parent. One that becomes a top-level vdev takes on its parent's guid, and says so in its label
    (vdev_remove_parent)."""
    put(pool, place, last)
    if place.parent is not None or last.children:
        return
    for label in (p.label for disk in node.disks for p in disk.partitions if p.label):
        if label.pool == pool.name and label.guid == last.guid and label.top is None:
            label.guid = parent.guid
    last.guid = parent.guid


def forget(node: Node, pool: Pool, top: Vdev, gone: Sequence[Vdev]) -> None:
    """What the disks of these leaves of `top` go on holding of the pool: the label of one that served records that it is no member any more, who did
    not keeps the label it had."""
    for leaf in gone:
        for label in (p.label for disk in node.disks for p in disk.partitions if p.label):
            if label.pool == pool.name and label.guid == leaf.guid and label.top is None:
                served = leaf.state in ("ONLINE", "DEGRADED")
                label.top, label.txg = copy.deepcopy(top), 0 if served else label.txg
                for one in label.top.leaves():
                    if one.guid == leaf.guid:
                        one.state, one.create_txg = "ONLINE", 0 if served else one.create_txg


def _stamp_labels(node: Node, pool: Pool) -> None:
    for disk in node.disks:
        for partition in disk.partitions:
            if partition.label and partition.label.pool == pool.name and partition.label.top is None:
                partition.label.txg = pool.txg

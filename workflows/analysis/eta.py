"""How long a resilver still takes, by three ways side by side: as ZFS prints it, by the rate of the last while, by earlier ones.

What ZFS prints divides what is left by the average since the resilver began, which is wrong whenever it began fast and crawls now, or the
other way round. No single number is made of the three: where they differ, the difference is shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from agents.collectors.zpool_history import Entry, History
from agents.domain.wwid import normalise
from workflows.facts import REPAIRS, Known, LeafLatency, NodeFacts, PoolFacts, ScanProgress, Unknown, VdevFacts, derived, known, need
from workflows.facts.read.latency import duration

LOOK_SECONDS_MIN = 60  # a shorter look says more about one moment than about the resilver
RESILVER = "func=2"
WHEN = "%Y-%m-%d.%H:%M:%S"
PACE_FACTOR = 2  # averages of zpool iostat are exact to a half


@dataclass(frozen=True)
class Span:
    """Between so many seconds and so many; `high` is None when it is not known."""

    low: float
    high: float | None

    @property
    def words(self) -> str:
        if self.high is None:
            return f"at least {hours(self.low)}"
        low, high = hours(self.low), hours(self.high)
        return f"about {high}" if low == high else f"{low} to {high}"


@dataclass(frozen=True)
class Earlier:
    """What resilvers took that came to their end, and whether they are known to have been of the same top-level vdev."""

    took: tuple[float, ...]
    same_vdev: bool
    left: Known[Span]


@dataclass(frozen=True)
class Eta:
    scan: ScanProgress
    printed: str | None  # as ZFS prints it
    recent: Known[Span]
    looked_seconds: float
    earlier: Known[Earlier]
    limiting: Known[str]

    @property
    def lines(self) -> tuple[str, ...]:
        """For a page: each way with what it rests on."""
        return (self._printed, self._recent, self._earlier, self.limiting if known(self.limiting) else self.limiting.reason)

    @property
    def _printed(self) -> str:
        if self.printed is None:
            return "ZFS prints no time to go."
        if self.printed.startswith("no "):
            return f"ZFS prints: {self.printed}."
        return f"ZFS prints: {self.printed}, by the average since it began."

    @property
    def _recent(self) -> str:
        if not known(self.recent):
            return f"By the rate of the last while: not known. {self.recent.reason}"
        return f"By the rate of the last {hours(self.looked_seconds)}: {self.recent.words} to go."

    @property
    def _earlier(self) -> str:
        if not known(self.earlier):
            return f"By earlier resilvers: not known. {self.earlier.reason}"
        one = self.earlier
        took = Span(min(one.took), max(one.took)).words.removeprefix("about ")
        whose = "this vdev" if one.same_vdev else "this pool, of whichever vdev"
        many = "one took" if len(one.took) == 1 else f"{len(one.took)} took"
        left = f"by that {one.left.words} to go" if known(one.left) else one.left.reason
        return f"By earlier resilvers of {whose}: {many} {took}; {left.rstrip('.')}."


def of(node: NodeFacts, pool: PoolFacts) -> Known[Eta]:
    """Of the repair that runs on this pool; of several rebuilds the one that is least far."""
    running = [scan for scan in pool.progress_read if scan.function in REPAIRS]
    if not running and not known(pool.progress):
        return pool.progress
    if not running:
        return Unknown(f"No resilver runs on {pool.name}.")
    scan = min(running, key=lambda one: float(one.percent or 0))
    looked = scan.advance.seconds if known(scan.advance) else 0.0
    return Eta(scan, _printed(pool, scan), _recent(scan), looked, _earlier(node, pool, scan), _limiting(pool))


def _printed(pool: PoolFacts, scan: ScanProgress) -> str | None:
    eta = next((s.eta for s in pool.scans_read if s.function == scan.function and s.state == "running"), None)
    return None if eta is None else eta if eta.startswith("no ") else f"{eta} to go"


def _recent(scan: ScanProgress) -> Known[Span]:
    advance, left = scan.advance, scan.left
    if not known(advance):
        return Unknown(f"It takes a second look. {advance.reason}")
    if advance.restarted:
        return Unknown("It began anew meanwhile.")
    if advance.seconds < LOOK_SECONDS_MIN:
        return Unknown(f"The looks are only {advance.seconds:.0f} s apart.")
    if not known(left):
        return left
    rate = advance.bytes_per_second
    if advance.unchanged or rate.high <= 0:
        return Unknown(f"Nothing that it prints changed in the last {hours(advance.seconds)}.")
    return Span(left.low / rate.high, left.high / rate.low if rate.low > 0 else None)


# --- earlier ones


@dataclass(frozen=True)
class Past:
    seconds: float
    filled_new: bool  # a disk was put in; else a member only caught up
    disks: frozenset[str]  # WWIDs of the disks that were put in, where they were named by what cannot move


@derived
def _earlier(node: NodeFacts, pool: PoolFacts, scan: ScanProgress) -> Known[Earlier]:
    history = need(node.histories.get(pool.name, Unknown(f"The history of {pool.name} was not read.")))
    past = tuple(one for one in resilvers(history) if one.filled_new)
    if not past:
        return Unknown(f"The history of {pool.name} has none that filled a new disk and came to its end.")
    mine = _members_of_the_filled(pool)
    same = tuple(one.seconds for one in past if one.disks & mine)
    took = same or tuple(one.seconds for one in past)
    return Earlier(took, bool(same), _left_of(took, scan))


def _left_of(took: tuple[float, ...], scan: ScanProgress) -> Known[Span]:
    if scan.percent is None:
        return Unknown("how far this one is was not printed")
    share = max(0.0, 1 - float(scan.percent) / 100)
    return Span(min(took) * share, max(took) * share)


def _members_of_the_filled(pool: PoolFacts) -> frozenset[str]:
    """The WWIDs of every member of the vdevs in which something is filled: by label, else by the stable name it was opened under."""
    tops = [top for _, top in pool.tops if any(map(_is_filled, top.leaves()))] if known(pool.tops) else []
    found = (leaf.wwid if known(leaf.wwid) else _of_path(leaf.name) for top in tops for leaf in top.leaves())
    return frozenset(wwid for wwid in found if wwid)


def _of_path(path: str) -> str | None:
    return normalise(path) if path.startswith("/dev/disk/by-id/") else None


def _is_filled(leaf: VdevFacts) -> bool:
    return leaf.resilvering or leaf.rebuilding_since_txg is not None


def resilvers(history: History) -> Iterator[Past]:
    """Those that came to their end, oldest first. One that was broken off or began anew counts from its last beginning."""
    began: datetime | None = None
    put_in: set[str] = set()
    for entry in history.entries:
        put_in |= set(_put_in(entry))  # it stands shortly before or after the beginning, as the txgs fall
        if entry.text.startswith("scan setup"):
            began = moment(entry) if RESILVER in entry.text.split() else None
        elif entry.text.startswith("scan done"):
            ended = moment(entry)
            if began is not None and ended is not None and ended > began:
                wwids = map(_of_path, put_in)
                yield Past((ended - began).total_seconds(), bool(put_in), frozenset(wwid for wwid in wwids if wwid))
            began, put_in = None, set()


def _put_in(entry: Entry) -> Iterator[str]:
    """The path of the new disk of a replacement or an attachment."""
    words = entry.text.split()
    if words[:2] in (["zpool", "replace"], ["zpool", "attach"]):
        yield words[-1]
    elif found := re.match(r"vdev attach .*?vdev=(\S+)", entry.text):
        yield found.group(1)


def moment(entry: Entry) -> datetime | None:
    try:
        return datetime.strptime(entry.at, WHEN).replace(tzinfo=UTC)
    except ValueError:
        return None


# --- which disk sets the pace


@derived
def _limiting(pool: PoolFacts) -> Known[str]:
    """The disk that all others wait for, where one stands out; else that none does."""
    latency = need(pool.latency, "Which disk sets the pace is not known")
    filled = {id(top) for _, top in pool.tops if any(map(_is_filled, top.leaves()))} if known(pool.tops) else set()
    busy = [(one, wait) for one in latency.leaves if id(one.top) in filled and (wait := _wait(one)) is not None]
    if len(busy) < 2:
        return Unknown("Which disk sets the pace is not known: the disks of the vdev were not seen at work.")
    (slowest, wait), (_, other) = sorted(busy, key=lambda pair: -pair[1])[:2]
    name = slowest.leaf.short
    role = ", which is being filled," if _is_filled(slowest.leaf) else ""
    if wait < PACE_FACTOR * max(1, other):
        return f"No disk sets the pace alone: the slowest, {name}{role} waits {duration(wait)}, the next {duration(other)}."
    return f"{name}{role} sets the pace: it waits {duration(wait)} for each I/O, the next slowest of {slowest.top.name} {duration(other)}."


def _wait(one: LeafLatency) -> int | None:
    """How long the disk itself took in the last seconds, over all its I/O."""
    row = one.now
    if row is None:
        return None
    parts = ((row.read_ops, row.disk_read_ns), (row.write_ops, row.disk_write_ns))
    known_parts = [(ops, wait) for ops, wait in parts if ops and wait is not None]
    total = sum(ops for ops, _ in known_parts)
    return sum(ops * wait for ops, wait in known_parts) // total if total else None


def hours(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.0f} h" if seconds < 48 * 3600 else f"{seconds / 86400:.0f} days"

"""How long each leaf of a pool lets I/O wait, beside the leaves it must be compared with.

A number alone says little: 30 ms is much for a disk at rest and little for one in a resilver. So each leaf is compared with the
others of its own top-level vdev, which get the same share of the same I/O at the same time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median
from typing import TypeVar

from agents.collectors import kernel_log as kernel_log_source
from agents.collectors import zpool_events as zpool_events_source
from agents.collectors import zpool_iostat as zpool_iostat_source
from agents.collectors._vdevs import Vdev
from agents.collectors.zpool_iostat import Waits
from agents.collectors.zpool_status import Pool
from workflows.facts.model import DiskFacts, PoolFacts, VdevFacts
from workflows.facts.read.sources import Sources
from workflows.facts.unknown import Known, Unknown, derived, known, need

FACTOR = 5  # domain.md 4.f: five times the median of its siblings; the averages are exact to a half only
FACTOR_OF_ONE = 10  # of a disk with one peer: which of the two is as usual is not known, so twice as much, and only to watch it
FLOOR_NS = 20_000_000  # below this no disk is slow, whatever the factor
PEERS_MIN = 2
SLOW_COUNT_MIN = 5
DELAY = "ereport.fs.zfs.delay"
K = TypeVar("K")
T = TypeVar("T")
NOT_COUNTED = Unknown("It was not counted.")


@dataclass(frozen=True)
class Gap:
    """One direction of I/O in which a leaf waits much longer than its peers do."""

    what: str  # "read" or "write"
    now: bool  # in the last seconds, else on average since the import
    wait_ns: int
    peers_ns: int  # the median of its peers

    @property
    def factor(self) -> float:
        return self.wait_ns / max(1, self.peers_ns)


@dataclass(frozen=True)
class LeafLatency:
    """One leaf. `since_import` and `now` are rows of `zpool iostat`; what was not printed is None."""

    leaf: VdevFacts
    top: VdevFacts
    since_import: Waits | None = None
    now: Waits | None = None
    slow: Known[int] = NOT_COUNTED
    delays: Known[int] = NOT_COUNTED  # delay events among those the kernel still has
    aborts: Known[int] = NOT_COUNTED  # task aborts in what is left of the kernel's log


@dataclass(frozen=True)
class PoolLatency:
    leaves: tuple[LeafLatency, ...]

    def peers(self, one: LeafLatency) -> tuple[LeafLatency, ...]:
        """The other leaves in service of the same top-level vdev; for a narrow mirror, those of all mirrors like it."""
        if one.top.kind == "mirror" and len(one.top.leaves()) <= PEERS_MIN:
            alike = [x for x in self.leaves if x.top.kind == "mirror"]
        else:
            alike = [x for x in self.leaves if x.top is one.top]
        return tuple(x for x in alike if x is not one and x.leaf.state == "ONLINE" and not x.leaf.resilvering)

    def gaps(self, one: LeafLatency) -> tuple[Gap, ...]:
        long = [(what, now) for what, now in _WAITS if (_wait(one, what, now) or 0) >= FLOOR_NS]
        if not long:
            return ()  # as nearly always
        peers = self.peers(one)
        found = (_gap(one, peers, what, now) for what, now in long)
        return tuple(gap for gap in found if gap is not None)

    def gaps_with_one(self, one: LeafLatency) -> tuple[Gap, ...]:
        """The same of a disk that has one peer, as in a mirror of two beside no other mirror. Never a reason to act."""
        peers = self.peers(one)
        if len(peers) != 1:
            return ()
        found = (_gap(one, peers, what, now, 1, FACTOR_OF_ONE) for what, now in _WAITS if (_wait(one, what, now) or 0) >= FLOOR_NS)
        return tuple(gap for gap in found if gap is not None)

    def at_peace_now(self, one: LeafLatency) -> bool:
        """Whether the last seconds had I/O on this leaf and its peers, and it did not stand out."""
        if one.now is None or not (one.now.disk_read_ns or one.now.disk_write_ns):
            return False
        return not any(gap.now for gap in self.gaps(one))

    def slow_among_peers(self, one: LeafLatency) -> tuple[int, int] | None:
        """Its slow I/Os and the median of its peers', when it stands out; slow I/O everywhere is not this disk's."""
        if not known(one.slow) or one.slow < SLOW_COUNT_MIN:
            return None
        counts = [x.slow for x in self.peers(one) if known(x.slow)]
        if len(counts) < PEERS_MIN or one.slow < FACTOR * median(counts):
            return None
        return one.slow, int(median(counts))


@derived
def read_latency(sources: Sources, pool: PoolFacts, disks: Known[tuple[DiskFacts, ...]]) -> Known[PoolLatency]:
    """Joined from `zpool iostat`, `zpool status -s`, events and kernel log. Unknown only when neither of the first two was read."""
    waits, counted = sources.read(zpool_iostat_source), sources.pools("zpool_status_slow")
    tops = need(pool.tops)
    if not known(waits) and not known(counted):
        return waits
    since = _rows(waits.since_import, pool) if known(waits) else {}
    now = _rows(waits.now, pool) if known(waits) and waits.now else {}
    slow, delays, aborted = _slow(counted, pool), _delays(sources), _aborts(sources, disks)

    def latency_of(leaf: VdevFacts, top: VdevFacts) -> LeafLatency:
        names = _names(leaf)
        more = _count(slow, names), _at(delays, leaf.guid), _at(aborted, leaf.wwid)
        return LeafLatency(leaf, top, _of(since, names), _of(now, names), *more)

    return PoolLatency(tuple(latency_of(leaf, top) for _, top in tops for leaf in top.leaves()))


_WAITS = (("read", True), ("write", True), ("read", False), ("write", False))


def _wait(one: LeafLatency, what: str, now: bool) -> int | None:
    row = one.now if now else one.since_import
    if row is None:
        return None
    wait: int | None = row.disk_read_ns if what == "read" else row.disk_write_ns
    return wait


def _gap(
    one: LeafLatency, peers: tuple[LeafLatency, ...], what: str, now: bool, least: int = PEERS_MIN, factor: int = FACTOR
) -> Gap | None:
    mine, theirs = _wait(one, what, now), [wait for x in peers if (wait := _wait(x, what, now)) is not None]
    if mine is None or len(theirs) < least:
        return None
    usual = int(median(theirs))
    return Gap(what, now, mine, usual) if mine >= factor * usual else None


def _rows(rows: tuple[Waits, ...], pool: PoolFacts) -> dict[str, Waits]:
    """The rows below this pool's own, by name. Pools follow one another; only a pool's name begins like one."""
    names = [row.name for row in rows]
    if pool.name not in names:
        return {}
    begin = names.index(pool.name) + 1
    mine: dict[str, Waits] = {}
    ambiguous: set[str] = set()
    for row in rows[begin : begin + sum(1 for _ in _all(pool))]:
        ambiguous |= {row.name} & mine.keys()
        mine[row.name] = row
    return {name: row for name, row in mine.items() if name not in ambiguous}


def _all(pool: PoolFacts) -> Iterator[VdevFacts]:
    """Every row that zpool iostat prints of a pool; spares are not among them."""
    if known(pool.tops):
        for _, top in pool.tops:
            yield from top.walk()
    yield from pool.caches


def _slow(counted: Known[tuple[Pool, ...]], pool: PoolFacts) -> dict[str, Vdev] | Unknown:
    if not known(counted):
        return counted
    found: dict[str, Vdev] = {}
    for other in counted:
        if other.name == pool.name:
            for vdev in (other.vdevs, *(v for _, vdevs in other.sections for v in vdevs)):
                found |= {leaf.name: leaf for leaf in _leaves(vdev)}
    return found


def _leaves(vdev: Vdev) -> Iterator[Vdev]:
    if not vdev.children:
        yield vdev
    for child in vdev.children:
        yield from _leaves(child)


def _of(rows: dict[str, T], names: tuple[str, ...]) -> T | None:
    return next((rows[name] for name in names if name in rows), None)


def _names(leaf: VdevFacts) -> tuple[str, ...]:
    """The names zpool may print for a leaf: its guid, its path, and the path's last part with and without the partition."""
    base = leaf.name.rsplit("/", 1)[-1]
    whole = base.partition("-part")[0] if "-part" in base else base.rstrip("0123456789") if base.startswith("sd") else base
    return (str(leaf.guid) if known(leaf.guid) else "", leaf.name, base, whole)


@derived
def _count(slow: dict[str, Vdev] | Unknown, names: tuple[str, ...]) -> Known[int]:
    row = _of(need(slow), names)
    return Unknown("zpool status -s does not count it.") if row is None or row.slow is None else row.slow


@derived
def _delays(sources: Sources) -> Known[dict[int, int]]:
    events = need(sources.read(zpool_events_source))
    counts: dict[int, int] = {}
    for event in events:
        guid = event.number("vdev_guid") if event.kind == DELAY else None
        if guid is not None:
            counts[guid] = counts.get(guid, 0) + 1
    return counts


@derived
def _aborts(sources: Sources, disks: Known[tuple[DiskFacts, ...]]) -> Known[dict[str, int]]:
    """Task aborts by WWID. The log names H:C:T:L addresses, which lead to the disks that have them today."""
    log = need(sources.read(kernel_log_source))
    owners = {path.hctl: disk.wwid for disk in need(disks) for path in disk.paths if path.hctl and known(disk.wwid)}
    counts: dict[str, int] = {}
    for event in log.events:
        owner = owners.get(event.field("hctl") or "") if event.kind == "task-abort-begun" else None
        if owner is not None:
            counts[owner] = counts.get(owner, 0) + 1
    return counts


def _at(counts: Known[dict[K, int]], key: Known[K]) -> Known[int]:
    if not known(counts):
        return counts
    return counts.get(key, 0) if known(key) else key


def duration(nanoseconds: float) -> str:
    """A wait for a sentence: "342 ms", "4.5 s"."""
    if nanoseconds >= 1_000_000_000:
        return f"{nanoseconds / 1e9:.1f} s"
    if nanoseconds >= 10_000_000:
        return f"{nanoseconds / 1e6:.0f} ms"
    return f"{nanoseconds / 1e6:.1f} ms" if nanoseconds >= 100_000 else f"{nanoseconds / 1e3:.0f} us"

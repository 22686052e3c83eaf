"""Why a member of a pool is slow: the disk, its link, the load, or nothing that can be held against it. Numbers decide, not impressions.

One look is chance, so waits are sampled; and a number alone says nothing, so each is held against the peers in the same vdev, or against
disks of the same model. A count that is a vendor's habit (errors corrected on the fly) is compared within the model only, and never
convicts by itself.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median

from workflows.facts import DiskFacts, Growth, Known, LeafLatency, NodeFacts, PhyFacts, PoolFacts, PoolLatency, Unknown, VdevFacts, known
from workflows.facts.fleet.mode_drift import kind
from workflows.facts.read.latency import FACTOR, FLOOR_NS, duration
from workflows.situations import phy_errors, slow_disk

SAMPLES_MIN = 3
SAMPLES_KEPT = 12
APART_SECONDS = 30  # closer together it is one look
ECC_FACTOR = 10
GROUP_MIN = 3  # slow disks behind one thing
VERDICTS = {
    "disk": "It is the disk",
    "transport": "It is the way to the disk",
    "load": "It is the load",
    "watch": "Nothing decides yet",
}


@dataclass(frozen=True)
class Sample:
    """One look: when, how long the disk took for a read or write, how long its peers did, and how long I/O waited in all."""

    at: int
    disk_ns: int
    peers_ns: int
    total_ns: int

    @property
    def stands_out(self) -> bool:
        return self.disk_ns >= FLOOR_NS and self.disk_ns >= FACTOR * self.peers_ns

    @property
    def queues(self) -> bool:
        """Whether I/O waits mostly before it reaches the disk."""
        return self.total_ns >= FLOOR_NS and self.total_ns >= 2 * self.disk_ns and not self.stands_out

    @property
    def text(self) -> str:
        return f"{self.at}:{self.disk_ns}:{self.peers_ns}:{self.total_ns}"

    @property
    def words(self) -> str:
        return f"{duration(self.disk_ns)} on the disk (its peers {duration(self.peers_ns)}), {duration(self.total_ns)} in all"


@dataclass(frozen=True)
class Finding:
    """One thing that was measured, and the verdict that it supports; "" when it supports none."""

    speaks_for: str
    text: str
    alone: bool = False  # whether it convicts without a second


@dataclass(frozen=True)
class Subject:
    """A member, its disk, and the figures of its pool."""

    node: NodeFacts
    pool: PoolFacts
    latency: PoolLatency
    one: LeafLatency
    disk: DiskFacts

    @property
    def leaf(self) -> VdevFacts:
        return self.one.leaf


def read_samples(text: str) -> tuple[Sample, ...]:
    """Those that a run carries; what is none is left out."""
    found = (re.fullmatch(r"([0-9]{1,12}):([0-9]{1,18}):([0-9]{1,18}):([0-9]{1,18})", part) for part in text.split(" "))
    return tuple(Sample(*map(int, match.groups())) for match in found if match)


def sample(subject: Subject, at: float) -> Known[Sample]:
    """What the last look of `zpool iostat` says of the slower of its two directions."""
    taken = [s for what in ("read", "write") if (s := _sample(subject, what, at)) is not None]
    return (
        max(taken, key=lambda s: s.disk_ns) if taken else Unknown("There was no I/O to compare in the last look. Read or write something.")
    )


def _sample(subject: Subject, what: str, at: float) -> Sample | None:
    row = subject.one.now
    peers = [n for p in subject.latency.peers(subject.one) if p.now is not None and (n := getattr(p.now, f"disk_{what}_ns")) is not None]
    disk = None if row is None else getattr(row, f"disk_{what}_ns")
    total = None if row is None else getattr(row, f"total_{what}_ns")
    if disk is None or len(peers) < 2:
        return None
    return Sample(int(at), disk, int(median(peers)), total or disk)


def findings(subject: Subject, samples: tuple[Sample, ...]) -> Iterator[Finding]:
    """Everything that was measured, whatever it supports."""
    yield from _of_waits(samples)
    yield from _of_slow_ios(subject)
    yield from _of_the_kernel(subject)
    yield from _of_its_own_logs(subject)
    yield from _of_its_correction(subject)
    yield from _of_its_link(subject)
    yield from _of_its_group(subject)


def _of_waits(samples: tuple[Sample, ...]) -> Iterator[Finding]:
    if not samples:
        return
    out, queued = [s for s in samples if s.stands_out], [s for s in samples if s.queues]
    worst = max(samples, key=lambda s: s.disk_ns)
    if len(out) > len(samples) / 2:
        yield Finding(
            "disk", f"In {len(out)} of {len(samples)} looks it took {FACTOR} times as long as its peers or longer: {worst.words}."
        )
    elif len(queued) > len(samples) / 2:
        yield Finding("load", f"In {len(queued)} of {len(samples)} looks I/O waited before it reached the disk: {worst.words}.")
    else:
        yield Finding("", f"In {len(samples)} looks it kept up with its peers, at worst {worst.words}.")


def _of_slow_ios(subject: Subject) -> Iterator[Finding]:
    counted = subject.latency.slow_among_peers(subject.one)
    if counted:
        yield Finding("disk", f"{counted[0]} of its I/Os were slow; the median of its peers is {counted[1]}.")
    elif known(subject.one.slow):
        yield Finding("", f"{subject.one.slow} of its I/Os were slow, no more than its peers'.")


def _of_the_kernel(subject: Subject) -> Iterator[Finding]:
    peers = subject.latency.peers(subject.one)
    delays = slow_disk.beyond(subject.one.delays, [x.delays for x in peers], slow_disk.DELAYS_MIN)
    aborts = slow_disk.beyond(subject.one.aborts, [x.aborts for x in peers], slow_disk.ABORTS_MIN)
    if delays:
        yield Finding("disk", f"The kernel reported {delays} delayed I/Os on it, and not on its peers.")
    if aborts:
        # A hanging disk and a torn link look alike here; its link's counters decide.
        speaks_for = "transport" if any(_grows(phy) for phy in _phys(subject)) else "disk"
        yield Finding(speaks_for, f"The kernel aborted {aborts} commands on it, and not on its peers.")
    elif known(subject.one.aborts):
        yield Finding("", f"The kernel aborted {subject.one.aborts} commands on it.")


def _of_its_own_logs(subject: Subject) -> Iterator[Finding]:
    condition = subject.disk.condition
    if known(subject.disk.health) and not subject.disk.health.passed:
        yield Finding("disk", f"It says of itself: {subject.disk.health.text}.", alone=True)
    if not known(condition):
        yield Finding("", f"What it logged is not known: {condition.reason}")
        return
    if condition.uncorrected:
        yield Finding("disk", f"It counts {condition.uncorrected} errors it could not correct.", alone=True)
    test = condition.last_test
    if test is not None:
        yield Finding("disk" if test.failed else "", f"Its last self-test says: {test.status}.", alone=test.failed)
    pending = condition.pending_defects if known(condition.pending_defects) else None
    if pending:
        yield Finding("disk", f"It has {pending} places that it could not read and has not replaced yet.", alone=True)


def _of_its_correction(subject: Subject) -> Iterator[Finding]:
    """Log page 03h: errors corrected for each TiB read, against the median of its model."""
    mine, others = _per_tib(subject.disk), [r for d in _like(subject) if (r := _per_tib(d)) is not None]
    if mine is None or len(others) < 2:
        return
    usual = median(others)
    text = f"It corrects {mine:.0f} errors for each TiB read; the median of {len(others)} others of its model is {usual:.0f}."
    yield Finding("disk" if mine > ECC_FACTOR * max(usual, 1.0) else "", text)


def _per_tib(disk: DiskFacts) -> float | None:
    reads = [e for e in disk.condition.errors if e.what == "read"] if known(disk.condition) else []
    return reads[0].corrected_per_tib if reads else None


def _like(subject: Subject) -> list[DiskFacts]:
    disks = subject.node.disks if known(subject.node.disks) else ()
    return [d for d in disks if d is not subject.disk and kind(d) == kind(subject.disk)]


def _of_its_link(subject: Subject) -> Iterator[Finding]:
    """Growth only: what a phy counted once may be a cable put in years ago."""
    for phy in _phys(subject):
        if not known(phy.growth):
            yield Finding("", f"Whether the errors of its link ({phy.name}) grow is not known: {phy.growth.reason}")
        elif _grows(phy):
            yield Finding("transport", f"Its link counts errors: {phy.name} {phy.growth.words}.", alone=True)
        else:
            yield Finding("", f"Its link is quiet: {phy.name} {phy.growth.words}.")
    slower = _slower_link(subject)
    if slower:
        yield Finding("transport", slower)


def _slower_link(subject: Subject) -> str:
    rates = {phy.wwid: phy.gbit for phy in subject.node.fabric.phys if phy.wwid and phy.gbit} if known(subject.node.fabric) else {}
    wwid = subject.disk.wwid
    mine, best = rates.get(wwid) if known(wwid) else None, max((rates[d.wwid] for d in _like(subject) if d.wwid in rates), default=None)
    return f"Its link came up at {mine:g} Gbit/s, those of its model at {best:g}." if mine and best and mine < best else ""


def _phys(subject: Subject) -> list[PhyFacts]:
    return [phy for phy in subject.node.fabric.phys if phy.wwid == subject.disk.wwid] if known(subject.node.fabric) else []


def _grows(phy: PhyFacts) -> bool:
    return isinstance(phy.growth, Growth) and phy_errors.is_growing(phy.growth)


def _of_its_group(subject: Subject) -> Iterator[Finding]:
    """All slow disks behind one HBA or expander, and everybody else well: what they share is ill."""
    slow = [one for one in subject.latency.leaves if any(gap.now for gap in subject.latency.gaps(one))]
    ways = {one.leaf.guid: _way(subject.node, one.leaf) for one in subject.latency.leaves}
    for thing in sorted(ways.get(subject.leaf.guid, frozenset())):
        behind = [one for one in slow if thing in ways[one.leaf.guid]]
        others = [one for one in subject.latency.leaves if thing not in ways[one.leaf.guid]]
        if len(behind) >= GROUP_MIN and len(behind) == len(slow) and others:
            yield Finding("transport", f"{len(behind)} slow disks hang on {thing}, and no disk elsewhere is slow.", alone=True)


def _way(node: NodeFacts, leaf: VdevFacts) -> frozenset[str]:
    disk = next((d for d in (node.disks if known(node.disks) else ()) if known(leaf.wwid) and d.wwid == leaf.wwid), None)
    links = [path.link for path in disk.paths if known(path.link)] if disk is not None else []
    return frozenset(thing for link in links for thing in (link.host, *link.expanders))


def verdict(found: list[Finding]) -> str:
    """The way before the disk: a bad link makes any disk look bad. Two findings, or one that convicts alone."""
    for which in ("transport", "disk"):
        for_it = [f for f in found if f.speaks_for == which]
        if len(for_it) > 1 or any(f.alone for f in for_it):
            return which
    return (
        "load" if any(f.speaks_for == "load" for f in found) and not any(f.speaks_for in ("disk", "transport") for f in found) else "watch"
    )

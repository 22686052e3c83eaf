"""A disk beside its peers: those of its own vdev, which share its load, and those of its model on the same node, which share its habits.

A number alone says nothing, so none is given without the median of the peers and how many there are. That one stands out is said only where
the rules that detect slow disks and judge them (`workflows.facts.read.latency`, `workflows.analysis.slowness`) say so too.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from statistics import median

from agents.collectors.zpool_iostat import Waits
from workflows.analysis.slowness import ECC_FACTOR
from workflows.facts import DiskFacts, Known, LeafLatency, NodeFacts, PoolFacts, PoolLatency, Unknown, known
from workflows.facts.fleet.mode_drift import kind
from workflows.facts.read.latency import duration

PEERS_MIN = 2
Number = int | float


@dataclass(frozen=True)
class Comparison:
    """One figure. `usual` is the median of `peers` others; both are None where there are too few to compare with."""

    what: str
    mine: str
    usual: str | None
    peers: int
    stands_out: bool = False
    why: str = ""  # what is not known

    @property
    def beside(self) -> str:
        if self.usual is None:
            return "no peer has a value" if not self.peers else "only one peer has a value, too few for a median"
        return f"median of {self.peers}: {self.usual}"

    @property
    def tone(self) -> str:
        return "watch" if self.stands_out else "idle"


@dataclass(frozen=True)
class Group:
    """The peers it is compared with, and the figures. `unknown` says why there are none."""

    title: str
    rows: tuple[Comparison, ...]
    unknown: str = ""


def of_disk(node: NodeFacts, disk: DiskFacts) -> tuple[Group, ...]:
    """Its vdev first, when it is a member of one; then its model."""
    return (*_of_vdev(node, disk), _of_model(node, disk))


# --- the same vdev


def _of_vdev(node: NodeFacts, disk: DiskFacts) -> Iterator[Group]:
    for pool in node.pools if known(node.pools) else ():
        if not known(pool.latency):
            if _is_member(pool, disk):
                yield Group(f"Beside its vdev in {pool.name}", (), f"How long its disks wait is not known: {pool.latency.reason}")
            continue
        for one in pool.latency.leaves if known(disk.wwid) else ():
            if known(one.leaf.wwid) and one.leaf.wwid == disk.wwid:
                yield Group(f"Beside its vdev {one.top.name} in {pool.name}", tuple(_waits(pool.latency, one)))


def _is_member(pool: PoolFacts, disk: DiskFacts) -> bool:
    leaves = (leaf for _, top in (pool.tops if known(pool.tops) else ()) for leaf in top.leaves())
    return known(disk.wwid) and any(known(leaf.wwid) and leaf.wwid == disk.wwid for leaf in leaves)


def _waits(latency: PoolLatency, one: LeafLatency) -> Iterator[Comparison]:
    peers = latency.peers(one)
    gaps = {(gap.what, gap.now) for gap in latency.gaps(one)}
    for now, when in ((True, "in the last seconds"), (False, "on average since the import")):
        for what in ("read", "write"):
            row = _row(one, now)
            if row is not None:
                mine, theirs = getattr(row, f"disk_{what}_ns"), [getattr(r, f"disk_{what}_ns") for p in peers if (r := _row(p, now))]
                yield _compared(f"A {what} takes the disk, {when}", mine, theirs, duration, (what, now) in gaps, f"no {what}s")
    yield _counted("Slow I/Os", one.slow, [p.slow for p in peers], latency.slow_among_peers(one) is not None)
    yield _counted("Delay events the kernel still has", one.delays, [p.delays for p in peers])
    yield _counted("Commands the kernel aborted", one.aborts, [p.aborts for p in peers])
    for i, what in enumerate(("read", "write", "checksum")):
        yield _counted(f"ZFS counts {what} errors", _error(one, i), [_error(p, i) for p in peers], _only_mine(one, peers, i))


def _row(one: LeafLatency, now: bool) -> Waits | None:
    return one.now if now else one.since_import


def _error(one: LeafLatency, place: int) -> Known[int]:
    return one.leaf.errors[place] if known(one.leaf.errors) else one.leaf.errors


def _only_mine(one: LeafLatency, peers: Iterable[LeafLatency], place: int) -> bool:
    mine, theirs = _error(one, place), [count for p in peers if known(count := _error(p, place))]
    return known(mine) and mine > 0 and not (theirs and median(theirs))


# --- the same model


def _of_model(node: NodeFacts, disk: DiskFacts) -> Group:
    disks = node.disks if known(node.disks) else ()
    alike = [other for other in disks if other is not disk and other.wwid != disk.wwid and kind(other) == kind(disk)]
    title = f"Beside the other {disk.vendor} {disk.model} {disk.firmware} on {node.node}".replace("  ", " ")
    if not known(disk.condition):
        return Group(title, (), f"What it logged is not known: {disk.condition.reason}")
    return Group(title, tuple(_figures(node, disk, alike)))


def _figures(node: NodeFacts, disk: DiskFacts, alike: list[DiskFacts]) -> Iterator[Comparison]:
    def counted(what: str, of: Callable[[DiskFacts], Known[Number | None]], words: Callable[[Number], str] = _plain) -> Comparison:
        mine, theirs = of(disk), [of(other) for other in alike]
        usual = [value for value in theirs if known(value) and value is not None]
        alone = known(mine) and bool(mine) and len(usual) >= PEERS_MIN and not median(usual)
        return _counted(what, mine, theirs, alone, words)

    yield counted("Grown defects", lambda d: d.condition.grown_defects if known(d.condition) else d.condition)
    yield counted(
        "Places it could not read and has not replaced", lambda d: d.condition.pending_defects if known(d.condition) else d.condition
    )
    yield counted("Errors it could not correct", lambda d: d.condition.uncorrected if known(d.condition) else d.condition)
    yield _corrected(disk, alike)
    hot = [d.condition.temperature if known(d.condition) else d.condition for d in (disk, *alike)]
    yield _counted("Temperature", hot[0], hot[1:], False, lambda n: f"{n:.0f} °C")
    old = [d.condition.power_on_hours if known(d.condition) else d.condition for d in (disk, *alike)]
    yield _counted("Powered on", old[0], old[1:], False, lambda n: f"{n:,.0f} hours")
    yield _rate(node, disk, alike)


def _corrected(disk: DiskFacts, alike: list[DiskFacts]) -> Comparison:
    mine, theirs = _per_tib(disk), [_per_tib(other) for other in alike]
    usual = [rate for rate in theirs if known(rate)]
    out = known(mine) and len(usual) >= PEERS_MIN and mine > ECC_FACTOR * max(median(usual), 1.0)
    return _counted("Errors it corrected for each TiB read", mine, theirs, out, lambda n: f"{n:,.0f}")


def _per_tib(disk: DiskFacts) -> Known[float]:
    reads = [line.corrected_per_tib for line in disk.condition.errors if line.what == "read"] if known(disk.condition) else []
    return reads[0] if reads and reads[0] is not None else Unknown("It does not say how many it corrected, or how much it read.")


def _rate(node: NodeFacts, disk: DiskFacts, alike: list[DiskFacts]) -> Comparison:
    """The slower end of a link decides; it came up as fast as the best of its model or it did not."""
    rates = {phy.wwid: phy.gbit for phy in node.fabric.phys if phy.wwid and phy.gbit} if known(node.fabric) else {}
    missing = Unknown("No phy of ours is known to lead to it.") if known(node.fabric) else node.fabric
    theirs = [rates.get(other.wwid, missing) if known(other.wwid) else missing for other in alike]
    mine = rates.get(disk.wwid, missing) if known(disk.wwid) else missing
    slower = known(mine) and any(known(rate) and rate > mine for rate in theirs)
    return _counted("Its link came up at", mine, theirs, slower, lambda n: f"{n:g} Gbit/s")


# --- words


def _plain(value: Number) -> str:
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.1f}"


def _counted(
    what: str,
    mine: Known[Number | None],
    theirs: Iterable[Known[Number | None]],
    out: bool = False,
    words: Callable[[Number], str] = _plain,
) -> Comparison:
    if not known(mine):
        return _compared(what, None, _known(theirs), words, False, "not known", mine.reason)
    return _compared(what, mine, _known(theirs), words, out, "it keeps no count")


def _known(values: Iterable[Known[Number | None]]) -> list[Number | None]:
    return [value for value in values if known(value)]


def _compared(
    what: str, mine: Number | None, theirs: list[Number | None], words: Callable[[Number], str], out: bool, none: str, why: str = ""
) -> Comparison:
    values = [value for value in theirs if value is not None]
    usual = words(median(values)) if len(values) >= PEERS_MIN else None
    return Comparison(what, none if mine is None else words(mine), usual, len(values), out, why)

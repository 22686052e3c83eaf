"""The points in time to which an unimported pool could go back: what each costs, and which disks still hold it.

    newest                 the import follows it, and fails
    within two txgs        -F reaches it: what it gave up is not overwritten yet
    further back           -T reaches it, read-only; for writing it is a person's or the vendor's act

A ring holds 32 points at ashift 12, minutes on a busy pool, and every import for writing takes the oldest away.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from workflows.facts import (
    DiskTimeline,
    FleetFacts,
    ImportableFacts,
    Known,
    NodeFacts,
    PoolTimeline,
    Unknown,
    VdevFacts,
    derived,
    known,
    lookup,
    need,
)
from workflows.facts.fleet.divergence import rows

YEAR_10000 = 253402300800
DEFERRED_TXGS = 2  # TXG_DEFER_SIZE: so long nothing that was freed is given to anybody else
_SLOTS = {**dict.fromkeys(range(11), 128), 11: 64, 12: 32}  # by ashift; fewer at more


@dataclass(frozen=True)
class Point:
    """One txg of the pool. `short` says for each top-level vdev that has too few disks with it how many it has and needs."""

    txg: int
    times: tuple[int, ...]  # two when two systems wrote it
    lost_seconds: int
    txgs_back: int
    holders: tuple[str, ...]  # kernel names of the disks
    disks: int  # that carry a label of the pool
    short: tuple[tuple[str, int, int], ...]

    @property
    def loss(self) -> str:
        return duration(self.lost_seconds)


@dataclass(frozen=True)
class Timeline:
    node: NodeFacts
    listed: ImportableFacts
    points: tuple[Point, ...]  # the newest first
    silent: tuple[str, ...]  # disks that carry a label and gave no uberblocks
    checkpoint: int  # the txg of a checkpoint; 0 without one

    def at(self, txg: str) -> Point | None:
        return next((point for point in self.points if str(point.txg) == txg), None)


@derived
def timeline(facts: FleetFacts, node_name: str, guid: int) -> Known[Timeline]:
    node = need(lookup.node(facts, node_name))
    importable = need(node.importable, f"What {node.node} can import is not known")
    timelines = need(node.timelines, "The uberblocks of its disks are not known")
    listed = [pool for pool in importable if pool.guid == guid]
    found = next((t for t in timelines if t.pool_guid == guid), None)
    if len(listed) != 1 or found is None:
        return Unknown(f"{node.node} does not list the pool once, or no uberblock of it was read. Have the node look again.")
    return _of(node, listed[0], found)


def _of(node: NodeFacts, listed: ImportableFacts, found: PoolTimeline) -> Timeline:
    partitions = {one.label.partition for one in found.disks if known(one.uberblocks) and one.uberblocks}
    silent = tuple(" ".join(row.disk.names) for row in rows(node, listed.guid) if row.label.partition not in partitions)
    marks = {u.checkpoint_txg for one in found.disks if known(one.uberblocks) for u in one.uberblocks}
    return Timeline(node, listed, tuple(_points(listed, found)), silent, max(marks, default=0))


def _points(listed: ImportableFacts, found: PoolTimeline) -> Iterator[Point]:
    held: dict[int, dict[str, tuple[DiskTimeline, int]]] = {}
    for one in found.disks:
        for uberblock in one.uberblocks if known(one.uberblocks) else ():
            if not (uberblock.multihost and uberblock.slot == _slots(one) - 1):  # that slot is multihost's own, with a time of its own
                held.setdefault(uberblock.txg, {})[one.label.partition] = (one, uberblock.timestamp)
    newest = max((at for holders in held.values() for _, at in holders.values()), default=0)
    for txg in sorted(held, reverse=True):
        holders = held[txg]
        times = tuple(sorted({at for _, at in holders.values()}))
        names = tuple(one.disk.names[0] if one.disk.names else one.label.partition for one, _ in holders.values())
        short = tuple(_short(listed, [one for one, _ in holders.values()]))
        yield Point(txg, times, newest - times[-1], max(held) - txg, names, len(found.disks), short)


def _slots(one: DiskTimeline) -> int:
    return _SLOTS.get(one.label.ashift, 16) if one.label.ashift is not None else 0


def _short(listed: ImportableFacts, holders: list[DiskTimeline]) -> Iterator[tuple[str, int, int]]:
    """A txg can be loaded where every top-level vdev has it on as many disks as it cannot do without."""
    names = Counter(name for one in holders for name in _names(one))
    for _, top in listed.tops:
        here = sum(bool(names[leaf.name.rsplit("/", 1)[-1]]) for leaf in top.leaves())
        if here < (need := len(top.leaves()) - spare(top)):
            yield top.name, here, need


def _names(one: DiskTimeline) -> set[str]:
    return {link.rsplit("/", 1)[-1] for path in one.disk.paths for link in path.by_id} | set(one.disk.names)


def spare(top: VdevFacts) -> int:
    """How many of its disks a top-level vdev can do without."""
    return top.parity if top.parity else len(top.children) - 1 if top.kind == "mirror" else 0


def duration(seconds: int) -> str:
    """As "41 s", "33 min 20 s" or "3 h 20 min"."""
    if seconds < 120:
        return f"{seconds} s"
    if seconds < 7200:
        return f"{seconds // 60} min {seconds % 60} s"
    return f"{seconds // 3600} h {seconds % 3600 // 60} min"


def date(at: int) -> str:
    """The time in an uberblock may be any number."""
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M:%S} UTC" if at < YEAR_10000 else f"second {at}, which is no time"

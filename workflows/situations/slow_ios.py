"""Members counted slow I/Os, and no disk stands out among its peers (`slow-disk` reports that): there are too few to compare, or all count.

A slow I/O took longer than `zio_slow_io_ms`, half a minute unless it was changed, and was answered in the end. The counts stay until they are
cleared, so they show that something was, not that it is.
"""

from collections.abc import Iterator

from workflows.engine.core import Cure, Situation
from workflows.facts import FleetFacts, NodeFacts, PoolFacts, VdevFacts, known
from workflows.facts.read.latency import SLOW_COUNT_MIN
from workflows.situations import _cures, _pools, _words
from workflows.situations._pools import Wording
from workflows.situations.slow_disk import IN_SERVICE, slow_leaves

SLUG = "slow-ios"
MANUALS: tuple[str, ...] = ("slow-disk-triage",)
SHOWN = 6

Counted = tuple[VdevFacts, VdevFacts, str]  # top-level vdev, leaf, and its count as printed


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    return tuple(_situation(node, pool, rows) for node, pool in _pools.pools(fleet) if (rows := tuple(_counted(node, pool))))


def _counted(node: NodeFacts, pool: PoolFacts) -> Iterator[Counted]:
    latency = pool.latency if known(pool.latency) else None
    leaves = [slow.one.leaf for slow in slow_leaves(node, pool, latency)] if latency else []
    exact = {id(one.leaf): one.slow for one in latency.leaves} if latency else {}
    for _, top in pool.tops_read:
        for leaf in top.leaves():
            count = exact.get(id(leaf))
            printed = str(count) if isinstance(count, int) and count else leaf.slow_printed
            if printed and leaf.state in IN_SERVICE and not any(leaf is one for one in leaves):
                yield top, leaf, printed


def _situation(node: NodeFacts, pool: PoolFacts, rows: tuple[Counted, ...]) -> Situation:
    many = any(not count.isdigit() or int(count) >= SLOW_COUNT_MIN for _, _, count in rows)
    named = ", ".join(f"{leaf.short} {count}" for _, leaf, count in rows[:SHOWN]) + (" and others" if len(rows) > SHOWN else "")
    wording = Wording(
        "watch" if many else "info",
        f"{pool.name}: slow I/Os were counted: {named}",
        " ".join(_meaning(node, pool, rows)),
        tuple(_words.evidence(node, "zpool_status_slow", f"{leaf.name}  {leaf.state}  SLOW {count}") for _, leaf, count in rows),
        tuple(_cures_of(rows)),
    )
    return _pools.situation(SLUG, node, pool, wording, vdevs=tuple(leaf for _, leaf, _ in rows))


def _meaning(node: NodeFacts, pool: PoolFacts, rows: tuple[Counted, ...]) -> Iterator[str]:
    each = "; ".join(f"{_pools.called(node, leaf)} in {top.name} {count}" for top, leaf, count in rows[:SHOWN])
    yield f"Since the counters were cleared or {pool.name} was imported, I/Os took longer than half a minute (zio_slow_io_ms) before they were answered: {each}."
    serving = [leaf for _, top in pool.tops_read for leaf in top.leaves() if leaf.state in IN_SERVICE]
    if 1 < len(serving) == len(rows):
        yield "All members count some, so look for what they share (HBA, cable, expander, power, a heavy load) before any one of them."
    elif len(rows) == 1:
        yield "The others that were counted have none, so the disk, its slot or its link is slow; that one count does not say which of the three."
    else:
        yield "Look for what these share and the others do not: a cable, an expander, a shelf."
    yield "The count says that it was so, not that it is. If nothing is done, a disk that stalls makes the whole pool wait, and ZFS may fault it."
    yield from (_words.margin_sentence(pool, top) for top in {id(top): top for top, _, _ in rows}.values())


def _cures_of(rows: tuple[Counted, ...]) -> Iterator[Cure]:
    yield _cures.look(
        "See whether the count still grows: ask twice, some minutes apart and while the pool is busy.", ("zpool", "status", "-s", "-p")
    )
    yield _cures.reseat(rows[0][1].short if len(rows) == 1 else "these disks")

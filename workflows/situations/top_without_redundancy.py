"""A single disk is a top-level vdev beside mirrors, raidz or dRAID: its loss loses the whole pool, whatever the others survive.

Mostly `zpool add -f` was typed for `zpool attach` or `zpool add ... spare`, or the second half of a mirror was detached. A pool of single
disks only was made so on purpose, and is no such thing.
"""

from workflows.engine.core import Situation
from workflows.facts import FleetFacts, NodeFacts, PoolFacts, VdevFacts, lookup
from workflows.situations import _cures, _pools
from workflows.situations._pools import Wording
from workflows.situations._redundancy import cures_of_single, data_tops, has_gaps, is_redundant, is_single, mirrored, taken_out

SLUG = "top-without-redundancy"
MANUALS: tuple[str, ...] = (_cures.MIRROR, _cures.TAKE_OUT)


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    return tuple(
        _situation(node, pool, top, tuple(filter(is_redundant, tops)))
        for node, pool in _pools.pools(fleet)
        if not has_gaps(pool) and any(map(is_redundant, tops := data_tops(pool)))
        for top in tops
        if is_single(top)
    )


def _situation(node: NodeFacts, pool: PoolFacts, top: VdevFacts, beside: tuple[VdevFacts, ...]) -> Situation:
    lost = all(lookup.serves_nothing(leaf) for leaf in top.leaves())
    meaning = (
        f"{_pools.called(node, top)} is a top-level vdev of {pool.name} on {node.node} by itself, beside {beside[0].name}"
        f"{f' and {len(beside) - 1} more' if len(beside) > 1 else ''}. ZFS spreads new data over all of them, so "
        f"{'without this disk the pool cannot serve' if lost else 'when this one disk is lost, the whole pool is lost'}, whatever the others survive. "
        "Either it was added by mistake (`zpool add -f` for `attach`, or without the word `spare`), or it is what is left of a mirror whose other disk was "
        "detached. The longer it stays, the more data is on it. Take no disk of it out, and offline none."
    )
    wording = Wording(
        "act",
        f"{pool.name}: {top.short} stands alone, and its loss loses the pool",
        meaning,
        (*(_pools.row(node, other) for other in beside[:2]), _pools.row(node, top)),
        tuple(cures_of_single(node, pool, top, max(_survives(other) for other in beside))),
    )
    return _pools.situation(
        SLUG,
        node,
        pool,
        wording,
        about=_pools.key_of(top),
        subject={"top": top.name},
        vdevs=(top,),
        answers=(*mirrored(node, pool, top), *taken_out(node, pool, top)),
    )


def _survives(vdev: VdevFacts) -> int:
    """How many losses it was made to survive."""
    return len(vdev.children) - 1 if vdev.kind == "mirror" else vdev.parity

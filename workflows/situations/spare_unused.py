"""A spare is called in use, and no vdev of this node's pools holds it: it protects nothing, and the next failure cannot have it.

The tree has to be known in full for that: a row that was not understood may be the one that holds it.
"""

from collections.abc import Iterator

from workflows.engine.core import Cure, Situation
from workflows.facts import FleetFacts, NodeFacts, PoolFacts, VdevFacts, known, lookup
from workflows.situations import _aside, _cures, _pools
from workflows.situations._pools import Wording, cure
from workflows.situations.spare_unavailable import holds, serves_another

SLUG = "spare-unused"
MANUALS: tuple[str, ...] = (_cures.ADD,)


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    return tuple(
        _situation(node, pool, spare)
        for node, pool in _pools.pools(fleet)
        for spare in pool.spares
        if spare.state == "INUSE"
        and known(pool.tops)
        and (is_member(pool, spare) or (not holds(pool, spare) and not serves_another(node, pool, spare)))
    )


def is_member(pool: PoolFacts, spare: VdevFacts) -> bool:
    """Whether the vdev that holds it holds it as a member for good, below no `spare-N`: it stands in for nobody, and no failure can have it."""
    return any(
        leaf.name == spare.name and not any(above.kind == "spare" for above in line[:-1])
        for _, top in pool.tops_read
        for line in lookup.lineages(top)
        for leaf in line[-1:]
    )


def _situation(node: NodeFacts, pool: PoolFacts, spare: VdevFacts) -> Situation:
    free = sum(other.state == "AVAIL" for other in pool.spares)
    meaning = (
        f"The spare {_pools.called(node, spare)} of {pool.name} on {node.node} is INUSE, but no vdev of {pool.name} holds it, and no other pool that was "
        "read either. So it protects nothing here, and cannot stand in when a disk fails. Either it stands in for a member of another pool that "
        "shares it, on this node or, wrongly, on another, or ZFS did not give it back when what it stood in for was replaced or detached. "
        f"{'The next failure has no spare.' if not free else f'{free} other spare(s) of {pool.name} stand ready.'} First find out which it is."
    )
    member = is_member(pool, spare)
    if member:
        meaning = (
            f"The spare {_pools.called(node, spare)} of {pool.name} on {node.node} is INUSE, and it is a member of {pool.name} by itself: it took a place for good, "
            "when what it stood in for was detached, and the list of spares still has it. It stands in for nobody and cannot: "
            f"{'the next failure has no spare.' if not free else f'{free} other spare(s) of {pool.name} stand ready.'} Take it out of no vdev: it holds data."
        )
    wording = Wording(
        "watch",
        f"{pool.name}: the spare {spare.short} is {'a member now' if member else 'in use, and no vdev holds it'}",
        meaning,
        (_pools.row(node, spare),),
        tuple(_cures_of(node, pool, spare)),
    )
    subject = {"role": "spare", "vdev_guid": _pools.key_of(spare)}
    return _pools.situation(
        SLUG,
        node,
        pool,
        wording,
        about=_pools.key_of(spare),
        subject=subject,
        vdevs=(spare,),
        sure=_pools.is_paste(node) is False,
        answers=_aside.added(node, pool, "spare"),
    )


def _cures_of(node: NodeFacts, pool: PoolFacts, spare: VdevFacts) -> Iterator[Cure]:
    yield cure(
        "look",
        "Look at all pools of this node, not at this one alone: one may hold it in a row `spare-N`. Then replace the member there, and it comes back. Ask the "
        "same of every other node that can reach the disk; a spare must not be shared between nodes.",
        ("zpool", "status", "-P"),
        ("zpool", "status", "-g"),
    )
    if _pools.stands_still(pool):
        return
    if is_member(pool, spare):
        yield cure(
            "export-import",
            "At the next window export and import the pool: that counts anew what is in use. Then add another disk as a spare.",
            needs="The pool is ONLINE, and nothing uses it meanwhile.",
        )
        return
    needs = " ".join(part for part in ("No pool on any node holds it.", _pools.guid_needed(spare)) if part)
    yield cure(
        "remove",
        "If nothing holds it, take it out of the list of spares. Where ZFS answers that it is in use, export and import the pool first: that counts "
        "anew what is in use.",
        *_pools.of(pool, spare, "remove", "POOL", "VDEV"),
        needs=needs,
    )
    yield cure(
        "add",
        "Add the same disk, or another, as a spare again.",
        ("zpool", "add", pool.name, "spare", _pools.new_disk(pool)),
        needs="The disk carries nothing that is needed. The word `spare` is there: without it the disk becomes a part of the pool.",
        runbook=_cures.ADD,
    )

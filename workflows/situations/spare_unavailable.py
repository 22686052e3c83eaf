"""A hot spare cannot stand in: it cannot be opened, carries something else, or serves another pool. The next failure has one spare less."""

import re
from collections.abc import Iterator

from workflows.engine.core import Answer, Cure, Situation
from workflows.facts import FleetFacts, NodeFacts, PoolFacts, VdevFacts, lookup
from workflows.facts.read.used_twice import DISTRIBUTED
from workflows.situations import _aside, _cures, _pools, _words
from workflows.situations._pools import Wording, cure

SLUG = "spare-unavailable"
MANUALS: tuple[str, ...] = (_cures.REMOVE, _cures.ADD)
ELSEWHERE = re.compile(r"in use by pool '([^']+)'")  # print_status_config, zpool_main.c


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    return tuple(found for node, pool in _pools.pools(fleet) for spare in pool.spares if (found := _of(node, pool, spare)) is not None)


def _of(node: NodeFacts, pool: PoolFacts, spare: VdevFacts) -> Situation | None:
    if spare.state in lookup.UNWELL:
        return _broken(node, pool, spare)
    other = serves_another(node, pool, spare)
    return _lent(node, pool, spare, other) if other else None


def serves_another(node: NodeFacts, pool: PoolFacts, spare: VdevFacts) -> str:
    """The other pool of this node that a spare in use stands in for; "" when this text names none. Pools may share a spare."""
    if spare.state != "INUSE" or holds(pool, spare):
        return ""
    named = ELSEWHERE.search(spare.note)
    if named:
        return named.group(1)
    others = (other for other in node.pools_read if other.name != pool.name)
    return next((other.name for other in others if holds(other, spare)), "")


def holds(pool: PoolFacts, spare: VdevFacts) -> bool:
    """Whether a vdev of the tree of `pool` is this spare, by guid, else by name."""
    wanted = _pools.key_of(spare)
    return any(wanted in (_pools.key_of(leaf), leaf.name) or spare.name == leaf.name for _, top in pool.tops_read for leaf in top.leaves())


def _broken(node: NodeFacts, pool: PoolFacts, spare: VdevFacts) -> Situation:
    wording = Wording(
        "watch",
        f"{pool.name}: the spare {spare.short} is {spare.state}",
        " ".join(_meaning(node, pool, spare)),
        (_pools.row(node, spare),),
        tuple(_cures_of(pool, spare)),
    )
    answers = () if DISTRIBUTED.fullmatch(spare.name) else (*_aside.removed(node, pool, spare), *_aside.added(node, pool, "spare"))
    return _make(node, pool, spare, wording, answers)


def _shared_with(node: NodeFacts, pool: PoolFacts, spare: VdevFacts) -> tuple[str, ...]:
    """Other pools of the node whose list of spares has it as well."""
    wanted = _pools.key_of(spare)
    others = (other for other in node.pools_read if other is not pool)
    return tuple(other.name for other in others if any(wanted == _pools.key_of(one) or spare.name == one.name for one in other.spares))


def _lent(node: NodeFacts, pool: PoolFacts, spare: VdevFacts, other: str) -> Situation:
    meaning = (
        f"The spare {_pools.called(node, spare)} is shared, and stands in for a member of {other} now. Until it is given back there, {_left(pool)} "
        f"Replace the member of {other} that it stands in for, and the spare goes back by itself."
    )
    back = cure(
        "wait",
        f"Nothing is to be done in {pool.name}: the spare comes back when the member of {other} is replaced by its guid. Do not detach it there before.",
        ("zpool", "status", "-g", other),
    )
    wording = Wording("info", f"{pool.name}: its spare {spare.short} serves {other}", meaning, (_pools.row(node, spare),), (back,))
    return _make(node, pool, spare, wording)


def _make(node: NodeFacts, pool: PoolFacts, spare: VdevFacts, wording: Wording, answers: tuple[Answer, ...] = ()) -> Situation:
    subject = {"role": "spare", "vdev_guid": _pools.key_of(spare)}
    return _pools.situation(SLUG, node, pool, wording, about=_pools.key_of(spare), subject=subject, vdevs=(spare,), answers=answers)


def _left(pool: PoolFacts) -> str:
    free = sum(spare.state == "AVAIL" for spare in pool.spares)
    if not free:
        return f"the next failure in {pool.name} has no spare."
    return f"{_words.plural(free, 'spare')} of {pool.name} {'is' if free == 1 else 'are'} free for the next failure."


def _meaning(node: NodeFacts, pool: PoolFacts, spare: VdevFacts) -> Iterator[str]:
    yield f"The spare {_pools.called(node, spare)} of {pool.name} on {node.node} is {spare.state}{f': {spare.note}' if spare.note else ''}."
    yield f"It cannot stand in for anything: {_left(pool)} No data is at stake now."
    if shared := _shared_with(node, pool, spare):
        yield f"It is a spare of {' and '.join(shared)} too, and protects none of them: one disk is to be mended, and it is taken out of each list."
    if DISTRIBUTED.fullmatch(spare.name):
        yield "It is space on the disks of its dRAID and has no disk of its own: it comes back when the members of that dRAID do."
    elif "corrupted data" in spare.note or "label" in spare.note:
        yield "ZFS found no spare's label there: the name leads to another disk now, or the disk was written over. Do not wipe what is there unseen."
    elif _pools.name_moves(spare.name):
        yield "It is known by a name that moves at a boot: its disk may be there under another name."


def _cures_of(pool: PoolFacts, spare: VdevFacts) -> Iterator[Cure]:
    if DISTRIBUTED.fullmatch(spare.name):
        yield cure("look", "See which members of its dRAID are away, and bring them back.", ("zpool", "status", pool.name))
        return
    yield (
        _cures.reseat(spare.name, spare)
        if lookup.is_file(spare)
        else cure(
            "reseat", "See whether its disk is there: seat it, or mend its slot, cable or power; look which disk its name leads to now."
        )
    )
    if _pools.stands_still(pool):
        return
    needs = _pools.guid_needed(spare)
    yield cure(
        "remove",
        "If it stays so, take the spare out of the pool by its guid; it holds no data, and `zpool online` refuses a spare.",
        *_pools.of(pool, spare, "remove", "POOL", "VDEV"),
        needs=needs,
        runbook=_cures.REMOVE,
    )
    yield cure(
        "add",
        "Then add a spare by a name that does not move.",
        ("zpool", "add", pool.name, "spare", _pools.new_disk(pool)),
        needs="The disk is as large as the largest member, and carries nothing that is needed. The word `spare` is there: without it the disk becomes a "
        "part of the pool.",
        runbook=_cures.ADD,
    )

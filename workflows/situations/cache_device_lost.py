"""A cache device serves nothing. It only ever held copies: no data is at stake, reads are slower."""

from collections.abc import Iterator

from workflows.engine.core import Cure, Situation
from workflows.facts import FleetFacts, NodeFacts, PoolFacts, VdevFacts, lookup
from workflows.situations import _aside, _cures, _pools
from workflows.situations._pools import Wording, cure

SLUG = "cache-device-lost"
MANUALS: tuple[str, ...] = (_cures.REMOVE, _cures.ADD)


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    return tuple(
        _situation(node, pool, cache) for node, pool in _pools.pools(fleet) for cache in pool.caches if cache.state in lookup.UNWELL
    )


def _situation(node: NodeFacts, pool: PoolFacts, cache: VdevFacts) -> Situation:
    wording = Wording(
        "watch",
        f"{pool.name}: the cache device {cache.short} is {cache.state}",
        " ".join(_meaning(node, pool, cache)),
        (_pools.row(node, cache),),
        tuple(_cures_of(pool, cache)),
    )
    answers = (*_aside.removed(node, pool, cache), *_aside.added(node, pool, "cache"))
    subject = {"role": "cache", "vdev_guid": _pools.key_of(cache)}
    return _pools.situation(SLUG, node, pool, wording, about=_pools.key_of(cache), subject=subject, vdevs=(cache,), answers=answers)


def _meaning(node: NodeFacts, pool: PoolFacts, cache: VdevFacts) -> Iterator[str]:
    yield f"The cache device {_pools.called(node, cache)} of {pool.name} on {node.node} is {cache.state}{f': {cache.note}' if cache.note else ''}."
    yield "It held copies only: no data is at stake, and the redundancy of the pool is as it was. Reads that it would have served come from the disks."
    if "corrupted data" in cache.note or "label" in cache.note:
        yield "ZFS found no label of it there: the device was written over, or its name leads to another disk now."
    yield "Remove it, or give the pool a new one; until then the line stays and hides nothing else."


def _cures_of(pool: PoolFacts, cache: VdevFacts) -> Iterator[Cure]:
    if _pools.stands_still(pool):
        return
    needs = _pools.guid_needed(cache)
    if cache.state in ("OFFLINE", "REMOVED", "UNAVAIL"):
        yield cure(
            "online",
            "If the device is there again, bring it back; it fills by itself.",
            *_pools.of(pool, cache, "online", "POOL", "VDEV"),
            needs=needs,
        )
    yield cure(
        "remove",
        "Take it out of the pool. Nothing is copied, and nothing is lost.",
        *_pools.of(pool, cache, "remove", "POOL", "VDEV"),
        needs=needs,
        runbook=_cures.REMOVE,
    )
    yield cure(
        "add",
        "Add a new one where one is wanted, by a name that does not move.",
        ("zpool", "add", pool.name, "cache", _pools.new_disk(pool)),
        needs="The new device carries nothing that is needed. The word `cache` is there: without it the device becomes a part of the pool.",
        runbook=_cures.ADD,
    )

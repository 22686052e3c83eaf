"""A disk in service counted errors that ZFS mended from the others: nothing is lost, and the cause should be found.

A disk that ZFS gave up is `disk-faulted`; errors of all disks of a vdev are `errors-everywhere`; errors that could not be mended are `data-errors`. Counters stay until they are cleared,
so they show that something was, not that it is. A cache device holds copies only: what it counted costs reads and no data.
"""

from collections.abc import Iterator

from workflows.engine.core import Answer, Cure, Evidence, Situation
from workflows.facts import FleetFacts, NodeFacts, PoolFacts, VdevFacts, known, lookup, reason_of
from workflows.facts.read.data_errors import counted
from workflows.situations import _cures, _pools, _words, errors_everywhere
from workflows.situations._lost import Lost

SLUG = "disk-errors"
MANUALS: tuple[str, ...] = ("slow-disk-triage", "replace-in-place", "blink-and-replace", "replace-boot-member")


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    members = tuple(
        _situation(node, pool, top, leaf)
        for node in fleet.nodes.values()
        for pool in node.pools_read
        for top, leaf in counted(pool)
        if leaf.state == "ONLINE"
        and leaf.gone is not True
        and not errors_everywhere.covers(node, pool, leaf)  # of one that is gone the counts are those of its going
    )
    caches = (
        _of_cache(node, pool, cache)
        for node in fleet.nodes.values()
        for pool in node.pools_read
        for cache in pool.caches
        if cache.state == "ONLINE" and cache.counted
    )
    bare = (found for node in fleet.nodes.values() for pool in node.pools_read if (found := _without_rows(node, pool)) is not None)
    return (*members, *caches, *bare)


def _without_rows(node: NodeFacts, pool: PoolFacts) -> Situation | None:
    """The reason that `zpool status` prints for such errors, where the text ends before the rows that count them."""
    reason = reason_of(pool.status) if pool.status and not pool.tops_read else None
    if reason is None or reason.name != "FAILING_DEV":
        return None
    return _pools.of_reason(
        node,
        pool,
        SLUG,
        "watch",
        title="a disk of it counted errors",
        meaning=f"zpool status says of {pool.name} that a device had errors that ZFS mended or could mend. The rows that count them are not here, so which disk it is, how many "
        "there were, and how many more losses the pool survives, is not known. Replace nothing before they were seen.",
        look="Look at the whole of it: the rows with their counters.",
        argv=("zpool", "status", "-v", "-P", "-p"),
    )


def _of_cache(node: NodeFacts, pool: PoolFacts, cache: VdevFacts) -> Situation:
    disk = _words.disk_behind(node, cache)
    name = _words.where(disk) if disk is not None else cache.name
    return Situation(
        slug=SLUG,
        key=f"{SLUG}:{node.node}:{cache.guid if known(cache.guid) else cache.name}",
        node=node.node,
        severity="watch",
        title=f"{pool.name}: the cache device {cache.short} counted {_counts(cache)}",
        meaning=f"{name} of {pool.name} is a cache device and counted {_counts(cache)}. It holds copies only: what it could not read came from the "
        "disks of the pool, no data is at stake, and the redundancy of the pool is as it was. A device that goes on failing slows every read that "
        "asks it.",
        evidence=tuple(_evidence(node, pool, cache)),
        subject=_words.subject(node, pool, leaf=cache) | {"role": "cache"},
        cures=_cures_of_cache(pool, cache, name),
    )


def _cures_of_cache(pool: PoolFacts, cache: VdevFacts, name: str) -> tuple[Cure, ...]:
    if _pools.stands_still(pool):
        return (_cures.reseat(name, cache),)
    remove = _pools.cure(
        "remove",
        "If the count grows again, take the device out of the pool. Nothing is copied, and nothing is lost.",
        *_pools.of(pool, cache, "remove", "POOL", "VDEV"),
        needs=_pools.guid_needed(cache),
    )
    return (_cures.reseat(name, cache), remove)


def _situation(node: NodeFacts, pool: PoolFacts, top: VdevFacts, leaf: VdevFacts) -> Situation:
    disk = _words.disk_behind(node, leaf)
    name = _words.where(disk) if disk is not None else leaf.name
    guid = leaf.guid if known(leaf.guid) else leaf.name
    unseen = errors_everywhere.neighbours_unseen(pool, top)
    return Situation(
        slug=SLUG,
        key=f"{SLUG}:{node.node}:{guid}",
        node=node.node,
        severity="watch",
        title=f"{pool.name}: {_words.named(disk) if disk is not None else leaf.name.rsplit('/', 1)[-1]} counted {_counts(leaf)}",
        meaning=" ".join(
            (f"{name} of {top.name if top.children else pool.name} is in service and counted {_counts(leaf)}.", *_advice(pool, top, leaf))
        ),
        evidence=tuple(_evidence(node, pool, leaf)),
        subject=_words.subject(node, pool, top, leaf),
        answers=() if unseen or errors_everywhere.several_count(pool) else _answers(node, pool, leaf),
        cures=_cures.after_the_others(pool, top, leaf, name, _cures_of(pool, leaf, name, unseen)),
    )


def _answers(node: NodeFacts, pool: PoolFacts, leaf: VdevFacts) -> tuple[Answer, ...]:
    line = lookup.pool_lineage(pool, leaf.guid) if known(leaf.guid) else None
    return Lost(node, pool, "data", line).beside() if known(line) and line is not None else ()


def _cures_of(pool: PoolFacts, leaf: VdevFacts, name: str, unseen: bool) -> tuple[Cure, ...]:
    if unseen:
        whole = f"Look at the whole tree of {pool.name}, and at the counts of the other disks beside {name}, before anything is done to it."
        return (
            _cures.look(whole, ("zpool", "status", "-v", "-P", "-p", *_pools.named(pool))),
            *_cures.after_resilver(pool, name, (_cures.reseat(name, leaf),)),
        )
    again = "If the count grows again with the way to it in order, replace it while it still serves."
    mend = (
        _cures.reseat(name, leaf),
        _cures.clear(pool, leaf),
        _cures.scrub(pool, f"Scrub {pool.name}, and look at the count again: one that stays at 0 was of the past."),
    )
    cures = mend if errors_everywhere.several_count(pool) else (*mend, _cures.replace(pool, leaf, _cures.IN_ITS_BAY, again))
    return _cures.after_resilver(pool, name, cures)


def _counts(leaf: VdevFacts) -> str:
    kinds = zip(leaf.figures, ("read", "write", "checksum"), strict=True)
    return " and ".join(f"{count} {kind} error{'' if count == '1' else 's'}" for count, kind in kinds if count != "0")


def _advice(pool: PoolFacts, top: VdevFacts, leaf: VdevFacts) -> Iterator[str]:
    read, write, checksum = (figure != "0" for figure in leaf.figures)
    if checksum and not read and not write:
        yield "It returned data without an error that was not what had been written: the medium, a cable, or something that wrote past ZFS."
    elif read or write:
        yield "Commands to it failed: look at its SMART, its link and the kernel's log of that time."
    way = "the file system and the disk below this file" if lookup.is_file(leaf) else "its cable, port and slot"
    yield (
        f"Look at {way}, scrub {pool.name}, and see whether the count grows again. `zpool clear` sets the counters back and mends "
        "nothing: note them first."
    )
    if errors_everywhere.neighbours_unseen(pool, top):
        yield (
            f"Rows of {top.name} may be missing in this text, and no disk of it is shown that counts none. Where the others count errors as well, the cause is "
            "what they share. Replace no disk for it."
        )
    if several := errors_everywhere.several_count(pool):
        yield f"{several} members of {pool.name} count errors. So many do not fail alike: look at what they share first. Replace no disk of them before that is known."
    yield _words.margin_sentence(pool, top)


def _evidence(node: NodeFacts, pool: PoolFacts, leaf: VdevFacts) -> Iterator[Evidence]:
    yield _words.evidence(node, "zpool_status", "  ".join((leaf.name, leaf.state, *leaf.figures, leaf.note)).rstrip())
    for scan in pool.scans_read:
        if scan.function != "none":
            yield _words.evidence(node, "zpool_status", scan.text.split("\n")[0])

"""The pool fills: from which percentage on it gets slow, and from which nothing can be written any more. The numbers stand in `_limits`."""

from collections.abc import Iterator

from workflows.engine.core import Cure, Evidence, Severity, Situation
from workflows.facts import FleetFacts, NodeFacts, PoolFacts, known
from workflows.facts.read.scan_progress import size
from workflows.situations import _pools, _words
from workflows.situations._limits import FILL_ACT, FILL_INFO, FILL_WATCH
from workflows.situations._pools import Wording, cure

SLUG = "pool-filling"
MANUALS: tuple[str, ...] = ()


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    return tuple(
        _situation(node, pool, fill) for node, pool in _pools.pools(fleet) if (fill := percent(pool)) is not None and fill >= FILL_INFO
    )


def percent(pool: PoolFacts) -> int | None:
    """How full it is, in whole percent of its size, as `zpool list` counts; None where that is not known."""
    if not known(pool.space):
        return None
    row = pool.space.pool
    if row.capacity_percent is not None:
        return row.capacity_percent
    return row.alloc_bytes * 100 // row.size_bytes if row.alloc_bytes is not None and row.size_bytes else None


def _severity(fill: int) -> Severity:
    return "act" if fill >= FILL_ACT else "watch" if fill >= FILL_WATCH else "info"


def _situation(node: NodeFacts, pool: PoolFacts, fill: int) -> Situation:
    wording = Wording(
        _severity(fill),
        f"{pool.name} is {fill} % full",
        " ".join(_meaning(node, pool, fill)),
        (_evidence(node, pool, fill),),
        tuple(_cures(pool)),
    )
    return _pools.situation(SLUG, node, pool, wording, subject={"percent": str(fill)})


def _meaning(node: NodeFacts, pool: PoolFacts, fill: int) -> Iterator[str]:
    assert known(pool.space)
    free, pieces = pool.space.pool.free_bytes, pool.space.pool.fragmentation_percent
    yield f"{pool.name} on {node.node} is {fill} % full{f'; {size(free)} are free' if free is not None else ''}{f', fragmented to {pieces} %' if pieces is not None else ''}."
    if fill >= FILL_ACT:
        yield (
            "ZFS searches free space in ever smaller pieces, so writing and resilvering get very slow. It holds back the last 3 % (at most 128 GiB on large pools): when only that "
            'is left, every write ends with "No space left on device", also those of virtual machines and databases, and snapshots cannot be made. Deleting still works.'
        )
    elif fill >= FILL_WATCH:
        yield (
            f"Writing gets slower from here on, and a resilver too. From about {FILL_ACT} % on it gets very slow, and from about 97 % on nothing can be written any more."
        )
    else:
        yield f"Nothing is wrong yet. From {FILL_WATCH} % on writing gets slower, and near 97 % it ends; it takes time to buy disks."


def _evidence(node: NodeFacts, pool: PoolFacts, fill: int) -> Evidence:
    assert known(pool.space)
    row = pool.space.pool
    return _words.evidence(
        node,
        "zpool_list",
        "  ".join(str(part) for part in (pool.name, row.size_bytes, row.alloc_bytes, row.free_bytes, f"{fill}%") if part is not None),
    )


def _cures(pool: PoolFacts) -> Iterator[Cure]:
    yield cure(
        "look",
        "See what holds the space: datasets, snapshots, reservations.",
        ("zfs", "list", "-r", "-o", "space", pool.name),
    )
    yield cure(
        "other",
        "Delete what is not needed, snapshots with it: what a snapshot holds stays until it is destroyed.",
        save_first="what is deleted, where it may be wanted again",
    )
    if known(pool.checkpoint) and pool.checkpoint:
        yield cure(
            "other",
            "Its checkpoint keeps all that was deleted since. Discard it once there is no need to go back to that state.",
            ("zpool", "checkpoint", "-d", pool.name),
            releases="0.8 and newer",
            save_first="the way back to that state",
        )
    yield cure(
        "add",
        f"Or add a vdev of the same kind as those it has. Look at the plan first (`zpool add -n {pool.name}` with all its disks): a single disk added by mistake "
        "cannot always be taken out again. Its ashift must be that of the others (`-o ashift=`): only 2.2.4 and newer refuse another.",
        needs="As many new disks as a vdev of the pool has.",
    )

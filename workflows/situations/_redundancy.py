"""How much redundancy a top-level vdev was made with, by its kind alone, and how one without any is cured or taken out again."""

from __future__ import annotations

from collections.abc import Iterator

from agents.collectors._rows import is_gap
from workflows.analysis import fit_disks
from workflows.engine.core import Answer, Cure
from workflows.facts import NodeFacts, PoolFacts, VdevFacts, known
from workflows.facts.read.versions import release_numbers
from workflows.situations import _cures, _pools, _words
from workflows.situations._pools import NEW_DISK, cure

REDUNDANT = ("mirror", "raidz", "draid")
SINGLE = ("disk", "file", "replacing", "spare")  # of the last two: one disk, while another takes its place
REMOVES_TOPS = (0, 8)


def is_redundant(vdev: VdevFacts) -> bool:
    """Whether it was made to survive the loss of a disk."""
    return vdev.kind in REDUNDANT


def is_single(vdev: VdevFacts) -> bool:
    """Whether it is one disk and no more."""
    return vdev.kind in SINGLE


def has_gaps(pool: PoolFacts) -> bool:
    """Whether rows were taken out of the tree and dots written in their place: then what hangs below what is not sure."""
    return any(line.field == "config" and is_gap(line.line) for line in pool.unread)


def data_tops(pool: PoolFacts) -> tuple[VdevFacts, ...]:
    """The top-level vdevs that hold data, without what is left of removed ones."""
    return tuple(top for role, top in pool.tops_read if role == "data" and top.kind not in ("indirect", "other"))


def mirrored(node: NodeFacts, pool: PoolFacts, top: VdevFacts) -> tuple[Answer, ...]:
    """The runbook that gives one disk a mirror: where it serves by itself, its guid is known, and the node has a disk that fits."""
    if _pools.stands_still(pool) or top.children or top.state != "ONLINE" or not known(top.guid) or not fit_disks.beside(node, top, top):
        return ()
    return _words.pool_answers(
        node, pool, _cures.MIRROR, "It attaches a second disk by its guid and waits until it is filled.", vdev_guid=str(top.guid)
    )


def cures_of_single(node: NodeFacts, pool: PoolFacts, top: VdevFacts, beside: int) -> Iterator[Cure]:
    """How one disk gets redundancy, or leaves the pool again. `beside`: how many losses its neighbours survive."""
    if _pools.stands_still(pool):
        return
    disk = top if not top.children else top.children[0]
    again = f" Attach {beside} disks, one after the other, for as much redundancy as the vdevs beside it have." if beside > 1 else ""
    yield cure(
        "attach",
        f"Attach a second disk to it: the two become a mirror, and the pool goes on meanwhile.{again}",
        *_pools.of(pool, disk, "attach", "POOL", "VDEV", NEW_DISK),
        needs=" ".join(
            part for part in ("The new disk is at least as large, and carries nothing that is needed.", _pools.guid_needed(disk)) if part
        ),
        runbook=_cures.MIRROR,
    )
    yield from _removal(node, pool, top)
    if known(pool.checkpoint) and pool.checkpoint:
        yield cure(
            "import",
            f"{pool.name} has a checkpoint. If it was made before this disk was added, going back to it takes the disk out again, with everything that was "
            "written since.",
            ("zpool", "export", pool.name),
            ("zpool", "import", "--rewind-to-checkpoint", str(pool.guid) if known(pool.guid) else pool.name),
            releases="0.8 and newer",
            save_first="everything that was written since the checkpoint; it is lost",
        )


def _removal(node: NodeFacts, pool: PoolFacts, top: VdevFacts) -> Iterator[Cure]:
    """`spa_vdev_remove_top_check`: since 0.8; no raidz or dRAID in the pool, one ashift for all, room on the others."""
    parity = next((other for _, other in pool.tops_read if other.kind in ("raidz", "draid")), None)
    if parity is not None:
        yield cure(
            "restore",
            f"No release can remove it: `zpool remove` takes no data vdev out of a pool that has a {parity.kind} ({parity.name}). What is left is to attach a "
            "disk, or to copy everything into a new pool.",
            save_first=f"all data of {pool.name}, where a new pool is made",
        )
        return
    here = release_numbers(node.zfs_module)
    if known(here) and here < REMOVES_TOPS:
        yield cure(
            "other",
            f"{node.node} runs OpenZFS {'.'.join(map(str, here))}, which cannot remove a data vdev; 0.8 and newer can, from mirrors and single disks.",
        )
        return
    yield cure(
        "remove",
        "Or remove it: ZFS copies its data to the other vdevs and goes on meanwhile. A table of what was moved stays in memory afterwards.",
        *_pools.of(pool, top, "remove", "POOL", "VDEV"),
        releases="0.8 and newer",
        needs=" ".join(
            part
            for part in (
                "The others have room for its data, all vdevs have the same ashift, and the pool has no checkpoint. `zpool remove -n` says what it takes.",
                _pools.guid_needed(top),
            )
            if part
        ),
    )

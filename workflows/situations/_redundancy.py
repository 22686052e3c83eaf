"""How much redundancy a top-level vdev was made with, by its kind alone, and how one without any is cured or taken out again."""

from collections.abc import Iterator
from dataclasses import dataclass

from agents.collectors._rows import is_gap
from agents.operations._new_disks import DISKS_MAX, DISKS_MIN
from agents.operations.zpool_add_class import ROLES as CLASSES_OF_MIRRORS
from agents.operations.zpool_remove_vdev import CLASSES
from workflows.analysis import fit_disks
from workflows.engine.core import Answer, Cure
from workflows.facts import Known, NodeFacts, PoolFacts, Unknown, VdevFacts, derived, known, need, release_numbers, size
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


def survives(vdev: VdevFacts) -> Known[int]:
    """How many losses it was made to survive."""
    if vdev.kind == "mirror":
        return len(vdev.children) - 1
    if vdev.kind in ("raidz", "draid") and vdev.parity:
        return vdev.parity
    return 0 if is_single(vdev) else Unknown(f"How many losses {vdev.name} survives is not known.")


@derived
def mirror_width(pool: PoolFacts) -> Known[int]:
    """Of how many disks a special or dedup vdev is made that survives as much as the best protected data vdev. zpool itself compares this only where all vdevs
    of the pool are protected alike (check_replication in cmd/zpool/zpool_vdev.c)."""
    need(pool.tops, f"The vdevs of {pool.name} are not known")
    margins = [need(survives(top)) for top in data_tops(pool)]
    return max(margins) + 1 if margins else Unknown(f"{pool.name} shows no vdev that holds data.")


def classes_for_more(node: NodeFacts, pool: PoolFacts) -> tuple[str, ...]:
    """The classes of which a mirror could be added: both, where the node has blank disks enough for one that fits beside the data."""
    width = mirror_width(pool)
    return CLASSES_OF_MIRRORS if known(width) and DISKS_MIN <= width <= min(DISKS_MAX, len(fit_disks.free(node, scanned=True))) else ()


def has_gaps(pool: PoolFacts) -> bool:
    """Whether rows were taken out of the tree and dots written in their place: then what hangs below what is not sure."""
    return any(line.field == "config" and is_gap(line.line) for line in pool.unread)


def data_tops(pool: PoolFacts) -> tuple[VdevFacts, ...]:
    """The top-level vdevs that hold data, without what is left of removed ones."""
    return tuple(top for role, top in pool.tops_read if role == "data" and top.kind not in ("indirect", "other"))


def mirrored(node: NodeFacts, pool: PoolFacts, top: VdevFacts) -> tuple[Answer, ...]:
    """The runbook that gives one disk a mirror: where it serves by itself, its guid is known, and the node has a disk that fits."""
    if (
        _pools.stands_still(pool)
        or top.children
        or top.state != "ONLINE"
        or not known(top.guid)
        or not fit_disks.beside(node, top, top, scanned=True)
    ):
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
    """What `zpool remove` can do of it: what forbids it for good, in this release, or now.

    spa_vdev_remove_top_check in module/zfs/vdev_removal.c, read at 0.8.6, 2.1.16 and 2.3.4: no raidz or dRAID in the pool, one ashift for all, every mirror of
    disks alone, the vdev healthy and missing nothing, room on the others (to 2.1 twice the reserve more), the feature device_removal. spa_vdev_remove refuses
    with a checkpoint.
    """
    parity = next((other for _, other in pool.tops_read if other.kind in ("raidz", "draid")), None)
    if parity is not None:
        yield cure(
            "restore",
            f"No release can remove it: `zpool remove` takes no data vdev out of a pool that has a {parity.kind} ({parity.name}). So attach a disk to it at once; "
            "what else is left is to copy everything into a new pool.",
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
    if why := forbidden_now(pool, top):
        yield cure("other", f"`zpool remove` would refuse to take it out now: {why} Attach a disk to it meanwhile.")
        return
    yield cure(
        "remove",
        "Or remove it: ZFS copies its data to the other vdevs, without a look at checksums, and goes on meanwhile. A table of what was moved stays in memory afterwards.",
        *_pools.of(pool, top, "remove", "POOL", "VDEV"),
        releases="0.8 and newer",
        needs=" ".join(
            part
            for part in (
                "The others have room for its data, all vdevs have the same ashift, the feature device_removal is enabled, and the pool has no checkpoint. "
                "`zpool remove -n` says what it takes.",
                _pools.guid_needed(top),
            )
            if part
        ),
        runbook=_cures.TAKE_OUT,
    )


def taken_out(node: NodeFacts, pool: PoolFacts, top: VdevFacts) -> tuple[Answer, ...]:
    """The runbook that takes it out, where what is seen says that ZFS would."""
    movable = top.kind in ("disk", "mirror") and any(role in CLASSES and one is top for role, one in pool.tops_read)
    if _pools.stands_still(pool) or not known(top.guid) or not movable or all(one is top for one in data_tops(pool)):
        return ()
    if any(one.kind in ("raidz", "draid") for _, one in pool.tops_read) or forbidden_now(pool, top):
        return ()
    return _words.pool_answers(
        node, pool, _cures.TAKE_OUT, "It has its data copied to the other vdevs and waits until it is gone.", vdev_guid=str(top.guid)
    )


def forbidden_now(pool: PoolFacts, top: VdevFacts) -> str:
    """The first condition that is seen not to hold; "" where none is. What is not known is left to `needs`."""
    if known(pool.checkpoint) and pool.checkpoint:
        return f"{pool.name} has a checkpoint."
    if known(pool.removing) and pool.removing:
        return "another vdev is being removed; wait until that ends."
    held = next((vdev for _, one in pool.tops_read for vdev in one.walk() if vdev.kind in ("replacing", "spare")), None)
    if held is not None:
        return f"a replacement in {held.name} is not over; let it end first."
    ill = next((leaf for leaf in top.leaves() if leaf.state != "ONLINE" or leaf.resilvering or leaf.awaiting_resilver), None)
    if ill is not None:
        return f"{ill.short} has to be ONLINE and to miss nothing, and is {'being filled' if ill.state == 'ONLINE' else ill.state}."
    alike, names = of_one_ashift(pool, top)
    shifts = sorted({one.ashift for one in alike if known(one.ashift)})
    if len(shifts) > 1:
        return f"{names} have different ashifts ({', '.join(map(str, shifts))}), and that cannot be changed."
    room = room_elsewhere(pool, top)
    if known(room) and room.free_bytes < room.held_bytes:
        return f"it holds {size(room.held_bytes)}, and the others have {size(room.free_bytes)} free."
    return ""


def of_one_ashift(pool: PoolFacts, top: VdevFacts) -> tuple[tuple[VdevFacts, ...], str]:
    """The vdevs that must have one ashift before `top` is removed, and their name: the data, and its own class beside it (spa_vdev_remove_top_check)."""
    own = next((role for role, one in pool.tops_read if one is top), "data")
    beside = tuple(one for role, one in pool.tops_read if role == own != "data" and one.kind not in ("indirect", "other"))
    return (*data_tops(pool), *beside), "the data vdevs" if own == "data" else f"the data vdevs and the {own} vdevs"


@dataclass(frozen=True)
class Room:
    held_bytes: int  # by the vdev
    free_bytes: int  # on the other data vdevs, which take what it holds


@derived
def room_elsewhere(pool: PoolFacts, top: VdevFacts) -> Known[Room]:
    rows = {row.name: row for row in need(pool.space).vdevs}
    own = rows.get(str(top.guid))
    free = [rows[str(one.guid)].free_bytes for one in data_tops(pool) if one is not top and str(one.guid) in rows]
    others = sum(one is not top for one in data_tops(pool))
    if own is None or own.alloc_bytes is None or len(free) < others or None in free:
        return Unknown(f"How much {top.guid} holds and how much room the others have is not known.")
    return Room(own.alloc_bytes, sum(one for one in free if one is not None))

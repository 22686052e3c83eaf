"""A special or dedup class fills: what would go there goes to the data vdevs instead, which are mostly slower disks.

Nothing is lost by that, and what was written there stays there when the class has room again. From 75 % on small blocks go to the data already: ZFS keeps the
last quarter for metadata (zfs_special_class_metadata_reserve_pct, spa_preferred_class in module/zfs/spa_misc.c, zfs-2.1.11 and zfs-2.4.4).
"""

from collections.abc import Iterator

from agents.operations.zpool_add_class import ROLES
from workflows.engine.core import Answer, Cure, Situation
from workflows.facts import FleetFacts, NodeFacts, PoolFacts, VdevFacts, known
from workflows.facts.read.scan_progress import size
from workflows.situations import _cures, _pools, _words
from workflows.situations._limits import CLASS_INFO, CLASS_WATCH
from workflows.situations._pools import Wording, cure
from workflows.situations._redundancy import classes_for_more

SLUG = "class-filling"
MANUALS: tuple[str, ...] = (_cures.CLASS,)
HOLDS = {"special": "metadata", "dedup": "the table of duplicates"}


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    return tuple(
        _situation(node, pool, role, tops, used)
        for node, pool in _pools.pools(fleet)
        for role in ROLES
        if (tops := tuple(top for one, top in pool.tops_read if one == role))
        and (used := used_of(pool, tops)) is not None
        and used[2] >= CLASS_INFO
    )


def used_of(pool: PoolFacts, tops: tuple[VdevFacts, ...]) -> tuple[int, int, int] | None:
    """(bytes used, bytes free, percent) of these vdevs together; None where that is not known of one of them."""
    rows = {row.name: row for row in pool.space.vdevs} if known(pool.space) else {}
    found = [rows.get(str(top.guid)) for top in tops if known(top.guid)]
    pairs = [
        (row.alloc_bytes, row.free_bytes) for row in found if row is not None and row.alloc_bytes is not None and row.free_bytes is not None
    ]
    used, free = sum(one for one, _ in pairs), sum(one for _, one in pairs)
    return (used, free, used * 100 // (used + free)) if len(pairs) == len(tops) and used + free else None


def _situation(node: NodeFacts, pool: PoolFacts, role: str, tops: tuple[VdevFacts, ...], figures: tuple[int, int, int]) -> Situation:
    used, free, percent = figures
    wording = Wording(
        "watch" if percent >= CLASS_WATCH else "info",
        f"{pool.name}: its {role} class is {percent} % full",
        f"The {role} class of {pool.name} on {node.node} holds {size(used)} and has {size(free)} free. {_outcome(role)} What is there already stays there, and "
        "nothing is lost.",
        (_words.evidence(node, "zpool_list", "  ".join((*(str(top.guid) for top in tops), str(used), str(free)))),),
        tuple(_cures_of(pool, role)),
    )
    answers: tuple[Answer, ...] = ()
    if role in classes_for_more(node, pool) and not _pools.stands_still(pool):
        why = "It adds a mirror of blank disks of this node to the class, with as many disks as the data needs."
        answers = _words.pool_answers(node, pool, _cures.CLASS, why, role=role)
    subject = {"role": role, "percent": str(percent)}
    return _pools.situation(SLUG, node, pool, wording, about=role, subject=subject, vdevs=tops, answers=answers)


def _outcome(role: str) -> str:
    early = " Small blocks go there already: the last quarter is kept for metadata." if role == "special" else ""
    return f"When it is full, {HOLDS[role]} that is new goes to the data vdevs, which are mostly slower.{early}"


def _cures_of(pool: PoolFacts, role: str) -> Iterator[Cure]:
    yield cure("look", "See what each vdev holds.", ("zpool", "list", "-v", pool.name))
    if role == "special":
        yield cure(
            "look",
            "See which datasets send small blocks there; a smaller value, or 0, leaves the room to metadata from now on.",
            ("zfs", "get", "-r", "-t", "filesystem", "special_small_blocks", pool.name),
        )
    yield cure(
        "add",
        f"Or add another mirror to the class: {pool.name} needs it from then on, and a pool with a raidz or dRAID keeps it for good.",
        needs="Blank disks of one size, one more than the data may lose.",
        runbook=_cures.CLASS,
    )

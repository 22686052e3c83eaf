"""A special or dedup vdev has no redundancy: it was made of one disk beside redundant vdevs, or its mirror lost all but one.

These vdevs hold what finds the data (metadata, small blocks, the table of duplicates): losing one loses the whole pool.
"""

from collections.abc import Iterator

from workflows.engine.core import Answer, Cure, Severity, Situation
from workflows.facts import FleetFacts, NodeFacts, PoolFacts, VdevFacts, lookup
from workflows.situations import _cures, _pools, _words
from workflows.situations._pools import NEW_DISK, Wording, cure
from workflows.situations._redundancy import cures_of_single, data_tops, is_redundant, is_single, mirrored, taken_out

SLUG = "aux-without-redundancy"
MANUALS: tuple[str, ...] = (_cures.MIRROR, _cures.TAKE_OUT)
ROLES = ("special", "dedup")


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    return tuple(
        found
        for node, pool in _pools.pools(fleet)
        for role, top in pool.tops_read
        if role in ROLES and (found := _of(node, pool, role, top)) is not None
    )


def _of(node: NodeFacts, pool: PoolFacts, role: str, top: VdevFacts) -> Situation | None:
    if is_single(top):
        return _single(node, pool, role, top) if any(map(is_redundant, data_tops(pool))) else None
    lost = tuple(leaf for leaf in top.leaves() if lookup.serves_nothing(leaf))
    return _reduced(node, pool, role, top, lost) if lost and top.kind == "mirror" else None


def _single(node: NodeFacts, pool: PoolFacts, role: str, top: VdevFacts) -> Situation:
    meaning = (
        f"The {role} vdev of {pool.name} on {node.node} is the one disk {_pools.called(node, top)}, while its data stands on redundant vdevs. "
        f"{_holds(role)} When this disk is lost, the whole pool is lost. Attach a second one; it is no cache and cannot be done without."
    )
    wording = Wording(
        "act",
        f"{pool.name}: its {role} vdev is a single disk, and its loss loses the pool",
        meaning,
        (_pools.row(node, top),),
        tuple(cures_of_single(node, pool, top, 1)),
    )
    return _make(node, pool, role, top, wording, (top,), (*mirrored(node, pool, top), *taken_out(node, pool, top)))


def _reduced(node: NodeFacts, pool: PoolFacts, role: str, top: VdevFacts, lost: tuple[VdevFacts, ...]) -> Situation:
    left = [leaf for leaf in top.leaves() if not lookup.serves_nothing(leaf)]
    names = ", ".join(_pools.called(node, leaf) for leaf in lost)
    severity: Severity = "act" if len(left) < 2 else "watch"
    if not left:
        now = f"No disk of it is left: {pool.name} cannot serve without it."
    elif len(left) == 1:
        now = f"Only {_pools.called(node, left[0])} is left: when it is lost too, the whole pool is lost. Leave it in."
    else:
        now = f"{_words.plural(len(left), 'disk')} of it are left."
    meaning = f"The {role} vdev {top.name} of {pool.name} on {node.node} does without {names}. {_holds(role)} {now}"
    wording = Wording(
        severity,
        f"{pool.name}: its {role} vdev {top.name} lost {_words.plural(len(lost), 'disk')}",
        meaning,
        (_pools.row(node, top), *(_pools.row(node, leaf) for leaf in lost)),
        tuple(_cures_of(pool, lost)),
    )
    return _make(node, pool, role, top, wording, (top, *lost))


def _cures_of(pool: PoolFacts, lost: tuple[VdevFacts, ...]) -> Iterator[Cure]:
    for leaf in lost:
        needs = _pools.guid_needed(leaf)
        yield cure(
            "online",
            "See whether its disk is there: seat it, or mend its slot, cable or power, and bring it back.",
            *_pools.of(pool, leaf, "online", "POOL", "VDEV"),
            needs=needs,
        )
        if not _pools.stands_still(pool):
            yield cure(
                "replace",
                "If it is dead, put a new disk of the same kind in its place by its guid.",
                *_pools.of(pool, leaf, "replace", "POOL", "VDEV", NEW_DISK),
                needs=" ".join(part for part in ("The new disk is at least as large, and carries nothing that is needed.", needs) if part),
            )


def _make(
    node: NodeFacts,
    pool: PoolFacts,
    role: str,
    top: VdevFacts,
    wording: Wording,
    vdevs: tuple[VdevFacts, ...],
    answers: tuple[Answer, ...] = (),
) -> Situation:
    subject = {"top": top.name, "role": role}
    return _pools.situation(SLUG, node, pool, wording, about=_pools.key_of(top), subject=subject, vdevs=vdevs, answers=answers)


def _holds(role: str) -> str:
    return (
        "It holds the table by which duplicates are found."
        if role == "dedup"
        else "It holds the metadata, and small blocks where that is set."
    )

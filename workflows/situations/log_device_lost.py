"""A log device serves nothing. The pool is whole: synchronous writes go to the data disks instead.

What matters is a crash: records that only the lost device had are gone, and the next import asks for `-m` where it holds some that were
not replayed yet. Nothing else of the pool was on it.
"""

from collections.abc import Iterator

from workflows.engine.core import Answer, Cure, Situation
from workflows.facts import FleetFacts, NodeFacts, PoolFacts, VdevFacts, known, lookup
from workflows.situations import _aside, _cures, _pools
from workflows.situations._lost import Lost
from workflows.situations._pools import NEW_DISK, Wording, cure
from workflows.situations.wwid_mismatch import mismatch

SLUG = "log-device-lost"
MANUALS: tuple[str, ...] = (_cures.BY_GUID, _cures.REMOVE, _cures.ADD)


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    return tuple(
        _situation(node, pool, top, lost)
        for node, pool in _pools.pools(fleet)
        for role, top in pool.tops_read
        if role == "log" and (lost := _lost(fleet, node, pool, top))
    )


def _lost(fleet: FleetFacts, node: NodeFacts, pool: PoolFacts, top: VdevFacts) -> tuple[Lost, ...]:
    """Its leaves that serve nothing. One whose old name leads to another disk is a `wwid-mismatch`."""
    found = (Lost(node, pool, "log", line) for line in lookup.lineages(top) if not line[-1].children and lookup.serves_nothing(line[-1]))
    return tuple(lost for lost in found if mismatch(fleet, lost) is None)


def _situation(node: NodeFacts, pool: PoolFacts, top: VdevFacts, members: tuple[Lost, ...]) -> Situation:
    lost = tuple(member.leaf for member in members)
    left = [leaf for leaf in top.leaves() if not lookup.serves_nothing(leaf)]
    names = ", ".join(leaf.short for leaf in lost)
    wording = Wording(
        "watch",
        f"{pool.name}: the log {'mirror lost' if left else 'device'} {names}{'' if left else f' is {lost[0].state}'}",
        " ".join(_meaning(node, pool, top, lost, left)),
        tuple(_pools.row(node, leaf) for leaf in lost),
        tuple(_cures_of(pool, top, lost, left)),
    )
    subject = {"top": top.name, "role": "log"} | ({"vdev_guid": _pools.key_of(lost[0])} if len(lost) == 1 else {})
    vdevs = (top, *lost) if top.children else lost
    # A new disk is filled from the others of its vdev: where none is left, the log is removed whole, and another one added.
    found = members if left else ()
    answers: tuple[Answer, ...] = tuple(answer for member in found for answer in member.answers("It replaces the log device by its guid."))
    answers += () if left else (*_aside.removed(node, pool, top), *_aside.added(node, pool, "log"))
    return _pools.situation(SLUG, node, pool, wording, about=_pools.key_of(lost[0]), subject=subject, vdevs=vdevs, answers=answers)


def _meaning(node: NodeFacts, pool: PoolFacts, top: VdevFacts, lost: tuple[VdevFacts, ...], left: list[VdevFacts]) -> Iterator[str]:
    which = "; ".join(f"{_pools.called(node, leaf)} is {leaf.state}{f', {leaf.note}' if leaf.note else ''}" for leaf in lost)
    yield f"In the log of {pool.name} on {node.node}: {which}."
    if _pools.stands_still(pool):
        yield (
            f"{pool.name} is {pool.state}. The log can hold the last synchronous writes before a crash, so bring this device back before anything else is "
            "tried. `zpool clear`, and `zpool import -m`, go on without it and give those writes up."
        )
        return
    if left:
        yield (
            f"{', '.join(one.short for one in left)} still {'holds' if len(left) == 1 else 'hold'} the log alone: when it is lost too and the node crashes, "
            "the last seconds of synchronous writes are lost."
        )
        return
    yield (
        f"All data of {pool.name} is on its other vdevs: the pool is whole, and losing this device loses none of it. Synchronous writes go to the data disks "
        "now and are slower. The last seconds of synchronous writes before a crash are not protected by it any more: what only it held when it "
        "failed is lost if the node crashes before that was written out, and an import after a crash may then need `zpool import -m`."
    )
    yield "Bring it back; if it is dead, another device takes its place, or the log is removed. A log of two devices (a mirror) survives the loss of one."


def _cures_of(pool: PoolFacts, top: VdevFacts, lost: tuple[VdevFacts, ...], left: list[VdevFacts]) -> Iterator[Cure]:
    still = _pools.pool_is_there(pool)
    yield _cures.reseat(f"the log device {', '.join(one.short for one in lost)}", *lost)
    for leaf in lost:
        needs = " ".join(part for part in (_pools.guid_needed(leaf), still) if part)
        if leaf.state in ("OFFLINE", "REMOVED", "UNAVAIL"):
            why = (
                "It was switched off by command: if nothing else is wrong with it, switch it on."
                if leaf.state == "OFFLINE"
                else (
                    "See whether the device is there: seat it, or mend its slot, cable or power. When the system lists it again, bring it back."
                )
            )
            yield cure("online", why, *_pools.of(pool, leaf, "online", "POOL", "VDEV"), needs=_pools.guid_needed(leaf))
        if still:
            continue
        if leaf.state == "FAULTED":
            yield cure(
                "clear",
                "When the way to it is mended, clear its errors: ZFS takes it back and counts from 0. Counts that grow again are the device's own.",
                *_pools.of(pool, leaf, "clear", "POOL", "VDEV"),
                needs=needs,
                save_first=_cures.COUNTERS,
            )
        yield cure(
            "replace",
            "If it is dead, put another device in its place.",
            *_pools.of(pool, leaf, "replace", "POOL", "VDEV", NEW_DISK),
            needs=" ".join(part for part in ("The new device carries nothing that is needed.", needs) if part),
        )
        if left:
            yield cure(
                "detach", "Or go on with what is left of the log mirror.", *_pools.of(pool, leaf, "detach", "POOL", "VDEV"), needs=needs
            )
    if still or left:
        return
    what = top if top.children else lost[0]
    yield cure(
        "remove",
        f"Or do without a log device: {pool.name} then writes its log to the data disks for good. Look afterwards that it is gone: some releases say nothing when they could not remove it.",
        *_pools.of(pool, what, "remove", "POOL", "VDEV"),
        needs=_pools.guid_needed(what),
        runbook=_cures.REMOVE,
    )
    yield cure(
        "add",
        "Then give the pool another log where one is wanted, best two as a mirror, by names that do not move.",
        ("zpool", "add", pool.name, "log", _pools.new_disk(pool)),
        needs="The new device carries nothing that is needed. The word `log` is there: without it the device becomes a part of the pool.",
        runbook=_cures.ADD,
    )
    yield cure(
        "import-without-log",
        "Only if the node crashed and the pool is not imported because of this log: import it without. What only the log held is then lost.",
        ("zpool", "import", "-m", str(pool.guid) if known(pool.guid) else pool.name),
        needs="The log device is gone for good.",
    )

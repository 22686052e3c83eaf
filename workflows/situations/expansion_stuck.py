"""The expansion of a raidz does not get on: it waits for a resilver or for errors to be cleared, is too slow for an estimate, or went past 100 %.

Above 100 % it has moved more than there was when it began; it goes on while data is written, and ends when it has caught up.
"""

from collections.abc import Iterator

from workflows.engine.core import Cure, Situation
from workflows.facts import REPAIRS, FleetFacts
from workflows.situations import _pools
from workflows.situations._expansions import Expansion, expansions
from workflows.situations._pools import Wording, cure

SLUG = "expansion-stuck"
MANUALS: tuple[str, ...] = ()


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    return tuple(_situation(one) for one in expansions(fleet) if one.is_stuck)


def _situation(one: Expansion) -> Situation:
    node, pool = one.node, one.pool
    wording = Wording(
        "watch",
        f"{pool.name}: the expansion of a raidz {_how(one)}",
        f"{one.top or 'A raidz'} of {pool.name} on {node.node} takes in one more disk{one.done}. {_why(one)} The redundancy stays as it was. It cannot be cancelled. "
        "Take no member out, remove nothing, and do not export the pool to make it faster. What a replacement or a spare left over in it is ended by its own "
        "situation: until then it waits for that too.",
        (_pools.line(node, "expand", one.text),),
        tuple(_cures(one)),
    )
    return _pools.situation(SLUG, node, pool, wording, subject={"top": one.top} if one.top else {})


def _how(one: Expansion) -> str:
    return "waits" if one.waits else f"is at {one.percent:g} %" if one.too_far else "hardly moves"


def _why(one: Expansion) -> str:
    if one.waits and one.lost:
        return f"It waits for {', '.join(vdev.short for vdev in one.lost)}, out of service: it moves nothing while a member misses data, so it does not end before that is back or replaced."
    if one.waits:
        return "It waits until a resilver has ended, or until the errors of a member were cleared, because it moves nothing while a member misses data."
    if one.too_far:
        return "It says more than 100 %, so what it prints is no measure of what is left: look whether the number still grows."
    return "It moves so slowly that ZFS gives no time to go: a disk that answers slowly, or one that counts errors, holds all the others."


def _cures(one: Expansion) -> Iterator[Cure]:
    fills = any(scan.function in REPAIRS and scan.state == "running" for scan in _pools.scans(one.pool))
    if fills:
        yield cure(
            "wait", "Wait until the resilver that runs has ended; the expansion then goes on by itself.", ("zpool", "status", one.pool.name)
        )
    yield from one.replacing()
    yield cure("look", "Look for the disk that answers slower than the others.", ("zpool", "iostat", "-v", "-l", one.pool.name, "5", "3"))
    if one.waits and not one.lost and not fills:
        yield cure(
            "clear",
            "When no resilver runs and every member is ONLINE, clear the errors it waits for.",
            ("zpool", "clear", one.pool.name),
            needs="Every member is ONLINE, and no resilver runs.",
            save_first="the whole output of `zpool status`: clear wipes the counters",
        )
    yield cure("wait", "Look again after some minutes: when the figures of `expand:` change, it moves.", ("zpool", "status", one.pool.name))

"""What a pool does for its users now, decided before anything is said of a member.

serving    all of it serves, with the redundancy it was made with
reduced    it serves with less redundancy than it was made with
hung       commands about it do not return
suspended  the kernel stopped its I/O
down       it cannot serve: FAULTED or UNAVAIL, or a top-level vdev that holds data is
held       another host has it
moved      its members are there under other names
unknown    what was read does not say, or contradicts itself

While the verdict gates, no member of the pool is to be replaced: what is wrong is not one disk. The margins here are for showing, and
read each vdev as ZFS does; guards go by `workflows.analysis.redundancy`, which counts less.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from workflows.analysis import redundancy
from workflows.analysis.redundancy import CANNOT_SERVE, COUNTED_CLASSES
from workflows.facts import FleetFacts, Known, NodeFacts, PoolFacts, Unknown, VdevFacts, derived, known, need
from workflows.facts.lookup import LOST_STATES

Verdict = Literal["serving", "reduced", "hung", "suspended", "down", "held", "moved", "unknown"]

SERVES = ("ONLINE", "DEGRADED")
GATING: frozenset[Verdict] = frozenset(("hung", "suspended", "down", "held", "moved", "unknown"))
NO_ANSWER = re.compile(r": (?:timeout|stuck) after | has not answered")  # as an agent says that a command did not return
# What the pool's own row says where the whole pool is refused, and no vdev is to blame: `print_status_config`, cmd/zpool/zpool_main.c
WHOLE_POOL_NOTES = ("bad intent log", "corrupted data", "newer version", "unsupported feature", "unsupported version", "errata")
# "corrupted data" and "invalid label" of a leaf: ZFS opened something at its path, and found no label of it there (vdev_validate, vdev.c)
OTHER_LABEL_NOTES = ("corrupted data", "invalid label", "label is missing", "bad label")


@dataclass(frozen=True)
class Fate:
    """The verdict of one pool, why, and whether it forbids replacing any member for now."""

    verdict: Verdict
    reason: str  # one sentence
    gates: bool = False
    contradiction: str = ""  # where the row of the pool or of a vdev and its leaves do not fit together


def fate(node: NodeFacts, pool: PoolFacts, fleet: FleetFacts | None = None) -> Fate:
    """The verdict of `pool` as `node` has it. Whether another host holds it is looked for in `fleet`."""
    verdict, reason = _verdict(node, pool, fleet)
    contradiction = contradicts_itself(pool)
    if verdict in ("serving", "reduced") and contradiction:
        verdict, reason = "unknown", f"{pool.name} contradicts itself: {contradiction}"
    read_only = is_read_only(pool)
    if known(read_only) and read_only:
        reason = f"{reason} It is imported read-only: nothing can be written to it, and ZFS refuses to change its disks."
    return Fate(verdict, reason, verdict in GATING or (known(read_only) and read_only), contradiction)


def _verdict(node: NodeFacts, pool: PoolFacts, fleet: FleetFacts | None) -> tuple[Verdict, str]:
    if is_suspended(pool):
        return "suspended", f"The kernel has suspended the I/O of {pool.name}."
    if not known(pool.tops) and not pool.tops_read and _does_not_return(node):
        return "hung", f"`zpool status` does not return on {node.node}; of {pool.name} the kernel says only {pool.state or 'nothing'}."
    other = _holder(node, pool, fleet)
    if other:
        return "held", f"{pool.name} is imported on {other} as well. Two hosts that write to one pool destroy it."
    if names_moved(pool):
        return "moved", f"{pool.name} is {pool.state}: at the paths of its members ZFS finds no label of them, so names may have moved."
    if down := why_down(pool):
        return "down", down
    return _of_a_pool_that_serves(pool)


def _of_a_pool_that_serves(pool: PoolFacts) -> tuple[Verdict, str]:
    if pool.state not in SERVES:
        return "unknown", f"The state of {pool.name} {f'is {pool.state}, which is not known here' if pool.state else 'was not read'}."
    if not pool.tops_read:
        return "unknown", f"{pool.name} is {pool.state}, and its vdevs were not read."
    away = tuple(out_of_service(pool))
    if not away and pool.state == "ONLINE":
        shown = "" if known(pool.tops) else " that was read"
        return "serving", f"{pool.name} serves, and every member{shown} is in service."
    of_data = [leaf for role, leaf in away if role in COUNTED_CLASSES]
    if away and not of_data:
        names = ", ".join(f"{leaf.short} ({leaf.state})" for _, leaf in away)
        return "reduced", f"{pool.name} serves, and its data is whole; the log device {names} is out of service."
    left = pool_losses(pool.shown)
    if not known(left):
        return "reduced", f"{pool.name} serves and is {pool.state}; how many more losses it survives is not known: {left.reason}"
    return "reduced", f"{pool.name} serves and is {pool.state}; it survives {left} more {'loss' if left == 1 else 'losses'}."


def is_suspended(pool: PoolFacts) -> bool:
    return pool.state == "SUSPENDED" or (known(pool.suspended) and pool.suspended)


@derived
def is_read_only(pool: PoolFacts) -> Known[bool]:
    """By `zpool get readonly`."""
    readonly = need(pool.properties).get("readonly")
    return Unknown(f"zpool get does not say whether {pool.name} is imported read-only.") if readonly is None else readonly == "on"


def why_down(pool: PoolFacts) -> str:
    """One sentence where the pool, or a top-level vdev that holds data, cannot be opened; "" where all of them can."""
    note = f" ({pool.row_note})" if pool.row_note else ""
    if pool.state in CANNOT_SERVE or pool.row_state in CANNOT_SERVE:
        return f"{pool.name} is {pool.state if pool.state in CANNOT_SERVE else pool.row_state}{note} and serves nothing."
    closed = [top for role, top in pool.tops_read if role in COUNTED_CLASSES and top.state in CANNOT_SERVE]
    if closed:
        return f"{', '.join(f'{top.name} is {top.state}' for top in closed)}, and {pool.name} cannot do without."
    return ""


def names_moved(pool: PoolFacts) -> bool:
    """Whether a vdev that holds data cannot be opened, and all that it lacks is there under its path with no label of it.

    One such leaf in a vdev that serves is one disk's matter. A suspended pool's tree is of the moment in which it was suspended.
    """
    if is_suspended(pool):
        return False
    closed = [top for role, top in pool.tops_read if role in COUNTED_CLASSES and top.state in CANNOT_SERVE]
    lost = [leaf for top in closed for leaf in top.leaves() if leaf.state in LOST_STATES]
    return bool(lost) and all(other_label(leaf) for leaf in lost)


def other_label(leaf: VdevFacts) -> bool:
    """Whether ZFS opened something at the path of this leaf, and found no label of it there."""
    return any(words in leaf.note for words in OTHER_LABEL_NOTES)


def out_of_service(pool: PoolFacts) -> Iterator[tuple[str, VdevFacts]]:
    """(role, leaf) of every leaf of its top-level vdevs that does not serve."""
    for role, top in pool.tops_read:
        yield from ((role, leaf) for leaf in top.leaves() if leaf.state not in SERVES or (known(leaf.gone) and leaf.gone))


def contradicts_itself(pool: PoolFacts) -> str:
    """Where the row of the pool or of a vdev and its leaves do not fit together, in one sentence; "" where they do.

    The tree of a suspended pool stands still and is not asked; nor is a tree of which a row is missing.
    """
    if is_suspended(pool) or pool.unread:
        return ""
    return next(_contradictions(pool), "")


def _contradictions(pool: PoolFacts) -> Iterator[str]:
    for role, top in pool.tops_read:
        left = _left_by_states(top)
        if not top.children or not known(left):
            continue
        if top.state in CANNOT_SERVE and left >= 0:
            serving = sum(leaf.state in SERVES for leaf in top.leaves())
            yield f"{top.name} is {top.state}, although {serving} of its {len(top.leaves())} disks are said to serve, which would be enough."
        if top.state in SERVES and left < 0 and role in COUNTED_CLASSES:  # a mirrored log is DEGRADED with all its disks OFFLINE
            yield f"{top.name} is {top.state}, although it lacks more disks than it can do without."
        if top.state in CANNOT_SERVE and pool.state in SERVES and role in COUNTED_CLASSES:
            yield f"{pool.name} is {pool.state}, although {top.name} is {top.state}."
    yield from _of_the_row(pool)


def _of_the_row(pool: PoolFacts) -> Iterator[str]:
    tops = [top for role, top in pool.tops_read if role in COUNTED_CLASSES]
    refused = any(words in pool.row_note for words in WHOLE_POOL_NOTES) or bool(pool.see)
    if pool.state in CANNOT_SERVE and tops and not refused and all(top.state in SERVES for top in tops):
        yield f"{pool.name} is {pool.state}, although each of its vdevs is said to serve."


def rows_without_a_reason(pool: PoolFacts) -> tuple[VdevFacts, ...]:
    """Each row above leaves that serves and is not ONLINE, the topmost only, where no leaf below it says why: each is ONLINE and complete.

    While a resilver runs or waits that names no leaf, the row may be about that.
    """
    if is_suspended(pool) or (known(pool.scans) and redundancy.unsettled(pool.scans)):
        return ()
    return tuple(row for _, top in pool.tops_read for row in _without_a_reason(top))


def _without_a_reason(vdev: VdevFacts) -> Iterator[VdevFacts]:
    if not vdev.children or vdev.state == "ONLINE" or vdev.state in CANNOT_SERVE:
        return
    if all(redundancy.leaf_counts(leaf) for leaf in vdev.leaves()):
        yield vdev
    else:
        for child in vdev.children:
            yield from _without_a_reason(child)


def _left_by_states(top: VdevFacts) -> Known[int]:
    """Further losses by the states of the leaves alone: what the kernel goes by when it opens a vdev (`vdev_raidz_open`, `vdev_mirror_open`)."""
    lost = sum(not _serves(child) for child in top.children)
    if not top.children or top.kind in ("replacing", "spare"):
        return 0 if _serves(top) else -1
    if top.kind == "mirror":
        return len(top.children) - 1 - lost
    if top.kind in ("raidz", "draid") and top.parity:
        return top.parity - lost
    return Unknown(f"{top.name} is a vdev of the kind {top.kind}.")


def _serves(vdev: VdevFacts) -> bool:
    return any(_serves(child) for child in vdev.children) if vdev.children else vdev.state in SERVES


@derived
def losses(pool: PoolFacts, top: VdevFacts) -> Known[int]:
    """How many more losses the top-level vdev `top` survives, for showing: as ZFS counts, never for a guard. -1: it cannot serve.

    A DEGRADED leaf still serves. A dRAID that rebuilds marks every child it reads and writes, which takes none of them away. A vdev that
    serves while it fills disks has lost nothing: it survives 0 or more. Unknown where its row and its leaves contradict each other.
    """
    need(pool.scans, "The scan lines are not known")
    if shared := sorted(pool.used_twice & {leaf.name for leaf in top.leaves()}):
        return Unknown(f"{shared[0]} is called in service in two places, and what {top.name} survives is not known while it is.")
    by_states = _left_by_states(top)
    if not known(by_states):
        return Unknown(f"How many losses {top.name} survives is not known: it is a vdev of the kind {top.kind}.")
    if top.children and not is_suspended(pool) and (top.state in CANNOT_SERVE) == (by_states >= 0):
        return Unknown(f"{top.name} is {top.state}, and its disks are not, so which of the two is right is not known.")
    if top.state in CANNOT_SERVE:
        return -1
    if any(row is top for row in rows_without_a_reason(pool)):
        return Unknown(f"{top.name} is {top.state}, and no disk of it says why.")
    counted = _counted(pool, top)
    return max(0, counted) if known(counted) and top.state in SERVES and not any(leaf.gone is True for leaf in top.leaves()) else counted


def losses_without(pool: PoolFacts, top: VdevFacts, leaf: VdevFacts) -> Known[int]:
    """The same of `top` when its `leaf` is lost too, with what is being filled still marked, so that only this loss is added.

    A vdev that serves with less than one complete copy of everything needs all that it has: its disks complete one another.
    """
    now = losses(pool, top)
    if not known(now) or now < 0:
        return now
    less = _without(top, leaf)
    left, before, after = _left_by_states(less), _counted(pool, top), _counted(pool, less)
    if not known(left) or not known(before) or not known(after):
        return Unknown(f"How many losses {top.name} survives without {leaf.short} is not known: it is a vdev of the kind {top.kind}.")
    return -1 if left < 0 or before < 0 else now - (before - after)


def _without(vdev: VdevFacts, leaf: VdevFacts) -> VdevFacts:
    if vdev is leaf:
        return replace(vdev, state="UNAVAIL")
    return replace(vdev, children=tuple(_without(child, leaf) for child in vdev.children)) if vdev.children else vdev


def _counted(pool: PoolFacts, top: VdevFacts) -> Known[int]:
    assert known(pool.scans)
    seen = _unmarked(top) if top.kind == "draid" else top
    nameless = redundancy.unsettled(pool.scans) and not any(redundancy.being_rebuilt(one, pool.scans) for _, one in pool.tops_read)
    return redundancy.counted(seen, pool.scans, nameless, trust_degraded=True)


def _unmarked(draid: VdevFacts) -> VdevFacts:
    """The same without the marks of its rebuild on disks that serve by themselves. Inside a `spare` or `replacing` the mark stays:
    that is what is being filled. A distributed spare is a part of every disk, so filling it writes to each of them, and each bears the mark."""
    children = (child if child.children else replace(child, resilvering=False, awaiting_resilver=False) for child in draid.children)
    return replace(draid, children=tuple(children))


def pool_losses(pool: PoolFacts) -> Known[int]:
    """The fewest over the vdevs that hold data, for showing. A log device is none of them."""
    found = [losses(pool, top) for role, top in pool.tops_read if role in COUNTED_CLASSES and top.kind != "indirect"]
    if not found or not known(pool.tops):  # a row that was not understood may be a member that is lost
        return Unknown(f"The vdevs of {pool.name} are not known" + ("." if known(pool.tops) else f": {pool.tops.reason}"))
    unknown = next((one for one in found if not known(one)), None)
    return unknown if unknown is not None else min(one for one in found if known(one))


def losses_left(pool: PoolFacts) -> Known[int]:
    """The same of a pool that serves. What the vdevs of another would survive says nothing of it, unless data is out of reach (-1).

    The tree of a suspended pool is of the moment in which it was suspended.
    """
    left = pool_losses(pool)
    if known(left) and left < 0:
        return left
    if is_suspended(pool):
        return Unknown(f"{pool.name} is suspended, and its tree shows what was before.")
    return Unknown(f"{pool.name} is {pool.state} and serves nothing.") if pool.state in CANNOT_SERVE else left


def role_of(pool: PoolFacts, top: VdevFacts) -> str:
    """The class of a top-level vdev: "data", "special", "dedup", "log"; "" when it is none of this pool's."""
    return next((role for role, one in pool.tops_read if one is top or one == top), "")


def _does_not_return(node: NodeFacts) -> bool:
    return any(NO_ANSWER.search(why) for source, why in node.failures.items() if source.startswith("zpool_status"))


def _holder(node: NodeFacts, pool: PoolFacts, fleet: FleetFacts | None) -> str:
    """Another node that says that it has this pool imported; "" when none does."""
    if fleet is None or not known(pool.guid):
        return ""
    others = (other for other in fleet.nodes.values() if other.node != node.node)
    return next((other.node for other in others if any(one.guid == pool.guid for one in other.pools_read)), "")

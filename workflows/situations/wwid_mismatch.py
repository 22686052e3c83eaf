"""A lost member is remembered by a name that leads to another disk today.

Whoever trusts the name replaces, or pulls, a healthy disk. What is lost is known only by its vdev guid.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from agents.wwid import normalise, strip_partition
from workflows.core import Cure, Evidence, Situation
from workflows.facts import DiskFacts, FleetFacts, LabelFacts, VdevFacts, known, lookup
from workflows.facts.census import title
from workflows.facts.lookup import Member
from workflows.situations import _cures
from workflows.situations._lost import Lost, in_dead_replacement, lost_leaves

SLUG = "wwid-mismatch"
MANUALS: tuple[str, ...] = ("wwid-mismatch-replace",)


@dataclass(frozen=True)
class Mismatch:
    """A lost leaf, who sits under its name now, and how the two fail to be the same disk."""

    lost: Lost
    now: DiskFacts | None  # the disk under the stale name
    member: Member | None  # the vdev that disk is
    same_devid: tuple[VdevFacts, ...]  # other leaves with the same stored devid
    clues: tuple[Evidence, ...]


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    return tuple(_situation(found) for lost in lost_leaves(fleet) if (found := mismatch(fleet, lost)) is not None)


def mismatch(fleet: FleetFacts, lost: Lost) -> Mismatch | None:
    """What contradicts the name of a lost leaf; None when nothing does."""
    if lost.leaf.was is None and not lost.wrong_label():
        return None
    now = lookup.at_path(lost.node, lost.path)
    now = now if known(now) else None
    if now is not None and known(now.wwid) and now.wwid == lost.leaf.wwid:
        now = None  # the name still leads to the member itself
    member = _member(fleet, lost, now)
    same = _same_devid(lost)
    clues = tuple(_clues(lost, now, member, same))
    return Mismatch(lost, now, member, same, clues) if clues else None


def _clues(lost: Lost, now: DiskFacts | None, member: Member | None, same: tuple[VdevFacts, ...]) -> Iterator[Evidence]:
    stored = normalise(lost.leaf.devid) if lost.leaf.devid else None
    if now is not None and stored and known(now.wwid) and stored != now.wwid:
        yield lost.evidence("block", f"{lost.path} leads to {title(now)} today; the label stored {stored} for the lost disk.")
    if now is not None and member is not None:
        yield lost.evidence("zpool_status", f"{title(now)} is {member.title}, {member.vdev.state}.")
    for other in same:
        said = f"The member {_guid(other)} has the same stored device id, {lost.leaf.devid}. It cannot tell which of the two disks is lost."
        yield lost.evidence(_label_source(lost, other), said)
    if now is not None and member is None and lost.wrong_label() and _labels_of_others(now, lost):
        yield lost.evidence("block", f"{title(now)} answers under {lost.path} and carries the label of another vdev.")


def _situation(found: Mismatch) -> Situation:
    lost = found.lost
    return Situation(
        slug=SLUG,
        key=lost.key(SLUG),
        node=lost.node.node,
        severity="watch" if lost.replacement() else "act",
        title=_title(found),
        meaning=_meaning(found),
        evidence=tuple(_evidence(found)),
        answers=lost.answers("It replaces the lost member by its guid, and only by a disk that carries no label."),
        subject=_subject(found),
        cures=_cures_of(found),
        sure=found.now is not None,
    )


def _title(found: Mismatch) -> str:
    lost, name = found.lost, strip_partition(found.lost.path)[0].rsplit("/", 1)[-1]
    if found.now is None:
        return f"{lost.pool.name} lost the member {lost.guid}, and its stored device id names another disk"
    return f"{lost.pool.name} lost the member {lost.guid}, and its old name {name} is another disk today"


def _meaning(found: Mismatch) -> str:
    lost = found.lost
    said = [f"{lost.pool.name} remembers its lost member {lost.guid} as {lost.path}. That name is of the past and proves nothing."]
    if found.now is not None:
        said.append(f"Today it leads to {title(found.now)}, {_role(found)}.")
    if found.same_devid:
        others = ", ".join(_guid(other) for other in found.same_devid)
        said.append(f"The stored device id does not help either: the member {others} has the same one.")
    said.append(lost.back_sentence() or _advice(found))
    said.append(lost.margin_sentence())
    return " ".join(said)


def _role(found: Mismatch) -> str:
    member = found.member
    if member is None:
        return "which is not the lost disk"
    state = "a healthy disk: " if member.vdev.state == "ONLINE" else ""
    return f"{state}{member.title} ({member.vdev.state}). Do not pull it, and give it to no pool as a new disk"


def _advice(found: Mismatch) -> str:
    if (place := found.lost.place_sentence()) != "":
        return place
    return "The lost disk is known only by its guid: look for the disk that carries its label, and trust no name. Do not use -f."


def _cures_of(found: Mismatch) -> tuple[Cure, ...]:
    """Nothing is replaced inside a replacement that is dead: its new half is detached."""
    lost = found.lost
    if in_dead_replacement(lost):
        return ()
    if lost.replacement() is not None or lost.is_back():
        return lost.cures()
    find = _cures.look(
        "Read the labels of all disks: if one carries the guid of the lost member, the disk is there under another name, and is brought back.",
        ("zpool", "status", "-g", lost.pool.name),
    )
    return (find, *lost.cures())


def _evidence(found: Mismatch) -> Iterator[Evidence]:
    lost = found.lost
    yield lost.tree_line()
    yield from found.clues
    if found.now is not None:
        for label in _labels(found.now):
            yield lost.evidence(
                f"zdb_label/{label.partition}", f"{label.pool_name}: pool_guid {label.pool_guid}, guid {label.guid}, txg {label.txg}"
            )


def _label_source(lost: Lost, leaf: VdevFacts) -> str:
    """The capture of the label that `leaf`'s disk carries; the tree by guid when no disk of it is seen."""
    disks = lost.node.disks if known(lost.node.disks) else ()
    carriers = (d for d in disks if known(leaf.wwid) and d.wwid == leaf.wwid)
    return next((f"zdb_label/{label.partition}" for disk in carriers for label in _labels(disk)), "zpool_status_guid")


def _subject(found: Mismatch) -> dict[str, str]:
    lost, now, member = found.lost, found.now, found.member
    subject = {"node": lost.node.node, "pool": lost.pool.name, "vdev_guid": lost.guid, "was": lost.path, "top": lost.top.name}
    subject |= {"pool_guid": str(lost.pool.guid)} if known(lost.pool.guid) else {}
    if now is not None:
        subject |= {"now": " ".join(now.names)} | ({"now_wwid": now.wwid} if known(now.wwid) else {})
    if member is not None:
        subject |= {"now_pool": member.pool, "now_vdev_guid": _guid(member.vdev), "now_vdev_name": member.vdev.name}
    return subject


def _member(fleet: FleetFacts, lost: Lost, now: DiskFacts | None) -> Member | None:
    """The vdev that the disk under the name is, on any node; the lost one does not count."""
    if now is None or not known(now.wwid):
        return None
    owners = [m for m in lookup.owner_of_disk(fleet, now.wwid) if m.vdev is not lost.leaf]
    return min(owners, key=lambda m: m.node != lost.node.node, default=None)


def _same_devid(lost: Lost) -> tuple[VdevFacts, ...]:
    leaves = (leaf for _, leaf in lookup.pool_leaves(lost.pool))
    return tuple(leaf for leaf in leaves if lost.leaf.devid and leaf.devid == lost.leaf.devid and leaf is not lost.leaf)


def _labels_of_others(disk: DiskFacts, lost: Lost) -> bool:
    return bool(_labels(disk)) and all(label.guid != lost.leaf.guid for label in _labels(disk))


def _labels(disk: DiskFacts) -> tuple[LabelFacts, ...]:
    return disk.labels if known(disk.labels) else ()


def _guid(vdev: VdevFacts) -> str:
    return str(vdev.guid) if known(vdev.guid) else vdev.name

"""A lost member is remembered by a name that leads to another disk today.

Whoever trusts the name replaces, or pulls, a healthy disk. What is lost is known only by its vdev guid.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from agents.domain.wwid import normalise, strip_partition
from workflows.engine.core import Cure, Evidence, Situation
from workflows.facts import DiskFacts, FleetFacts, LabelFacts, NodeFacts, PoolFacts, VdevFacts, known, lookup, title
from workflows.facts.lookup import Member
from workflows.facts.read.fragments import Child, Row
from workflows.situations import _cures
from workflows.situations._lost import Lost, in_dead_replacement, lost_leaves

SLUG = "wwid-mismatch"
MANUALS: tuple[str, ...] = ("wwid-mismatch-replace", "replace-boot-member")


@dataclass(frozen=True)
class Namesake:
    """A member in service whose name today is the name by which a lost one is remembered."""

    pool: PoolFacts
    leaf: VdevFacts

    @property
    def title(self) -> str:
        guid = f", guid {self.leaf.guid}" if known(self.leaf.guid) else ""
        return f"{self.leaf.name} of {self.pool.name} ({self.leaf.state}{guid})"


@dataclass(frozen=True)
class Mismatch:
    """A lost leaf, who sits under its name now, and how the two fail to be the same disk."""

    lost: Lost
    now: DiskFacts | None  # the disk under the stale name
    member: Member | None  # the vdev that disk is
    same_devid: tuple[VdevFacts, ...]  # other leaves with the same stored devid
    namesake: Namesake | None  # the leaf in service that has the lost one's old name in the same text
    clues: tuple[Evidence, ...]


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    whole = tuple(_situation(found) for lost in lost_leaves(fleet) if (found := mismatch(fleet, lost)) is not None)
    guids = {one.subject["vdev_guid"] for one in whole}
    pieces = {one.key: one for node in fleet.nodes.values() for one in (*_of_children(node), *_of_rows(node))}  # rows hold more
    return (*whole, *(one for one in pieces.values() if one.subject["vdev_guid"] not in guids))


BY_GUID = (
    "The lost disk is known only by its guid. Neither pull nor clear the disk that has its old name today, and do not use -f. The right answer is to replace "
    "the guid by a disk that carries no label. First see the whole tree: `zpool status -g -p`, and `zdb -l` of the disk in question."
)


def _of_rows(node: NodeFacts) -> Iterator[Situation]:
    """Rows that were grepped out of a tree, beside a list of disks or each other."""
    rows = node.fragments.rows
    for lost in rows:
        if not lost.was or lost.state in lookup.IN_SERVICE:
            continue
        now = lookup.at_path(node, lost.was)
        disk = now if known(now) else None
        wwid = disk.wwid if disk is not None and known(disk.wwid) else None
        other = next((row for row in rows if row is not lost and row.state == "ONLINE" and _is_row_of(row, lost.was, wwid)), None)
        if (disk is None and other is None) or (other is not None and _is_new_half(rows, lost, other)):
            continue
        today = [
            f"Today that name leads to {title(disk)}." if disk is not None else "",
            f"{other.name} is {other.state}: a healthy member." if other is not None else "",
        ]
        yield Situation(
            slug=SLUG,
            key=f"{SLUG}:{node.node}:{lost.name}",
            node=node.node,
            severity="act",
            title=f"A pool lost the member {lost.name}, and its old name {_base(lost.was)} is another disk today",
            meaning=" ".join([f"The tree remembers its lost member {lost.name} as {lost.was}. That name is of the past and proves nothing.", *filter(None, today), BY_GUID]),
            evidence=tuple(Evidence(node.node, "zpool_rows", "", f"{row.name}  {row.state}  {row.note}".rstrip()) for row in (lost, other) if row is not None),
            subject={"node": node.node, "vdev_guid": lost.name, "was": lost.was} | ({"now_wwid": wwid} if wwid else {}) | ({"now_vdev_name": other.name} if other else {}),
            sure=other is not None,
        )  # fmt: skip


def _is_new_half(rows: tuple[Row, ...], lost: Row, other: Row) -> bool:
    """Whether it is being filled in the lost one's place: the two stand together below a replacing vdev. A member that is merely being filled is not."""
    first, last = sorted((rows.index(lost), rows.index(other)))
    return "resilvering" in other.note and last == first + 1 and first > 0 and rows[first - 1].name.startswith("replacing")


def _is_row_of(row: Row, was: str, wwid: str | None) -> bool:
    """Whether a row is the disk that has the old name today: by that name, or by the WWID in its own."""
    return _base(row.name) == _base(was) or (wwid is not None and normalise(_base(row.name)) == wwid)


def _of_children(node: NodeFacts) -> Iterator[Situation]:
    """Two members that bear one device id: then it proves nothing of either."""
    by_devid: dict[str, list[Child]] = {}
    for child in node.fragments.children:
        if child.devid and all(child.guid != other.guid for other in by_devid.get(child.devid, ())):
            by_devid.setdefault(child.devid, []).append(child)
    for devid, members in by_devid.items():
        lost = next((child for child in members if child.not_present), None)
        if len(members) < 2 or lost is None:
            continue
        others = [child for child in members if child is not lost]
        named = ", ".join(
            f"{child.guid} ({child.path}{', being filled since txg ' + child.resilver_txg if child.resilver_txg else ''})"
            for child in others
        )
        yield Situation(
            slug=SLUG,
            key=f"{SLUG}:{node.node}:{lost.guid}",
            node=node.node,
            severity="act",
            title=f"A pool lost the member {lost.guid}, and its stored device id is another member's, too",
            meaning=f"The configuration has {lost.guid} as not present, remembered as {lost.path} with the device id {devid}. The member {named} bears the same id, so it proves nothing "
            f"of which disk was lost: the two were once in one bay, or one took the other's place. {BY_GUID} If the two are children of one replacing or spare vdev, wait for the "
            "resilver, and then detach the old guid.",
            evidence=tuple(Evidence(node.node, "zdb_children", "", f"guid: {child.guid}  path: {child.path}  devid: {child.devid}") for child in members),
            subject={"node": node.node, "vdev_guid": lost.guid, "was": lost.path, "now_vdev_guid": others[0].guid},
            sure=False,
        )  # fmt: skip


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
    namesake = _namesake(lost)
    clues = tuple(_clues(lost, now, member, same, namesake))
    return Mismatch(lost, now, member, same, namesake, clues) if clues else None


def _clues(
    lost: Lost, now: DiskFacts | None, member: Member | None, same: tuple[VdevFacts, ...], namesake: Namesake | None
) -> Iterator[Evidence]:
    stored = normalise(lost.leaf.devid) if lost.leaf.devid else None
    if now is not None and stored and known(now.wwid) and stored != now.wwid:
        yield lost.evidence("block", f"{lost.path} leads to {title(now)} today; the label stored {stored} for the lost disk.")
    if now is not None and member is not None:
        yield lost.evidence("zpool_status", f"{title(now)} is {member.title}, {member.vdev.state}.")
    if namesake is not None and member is None:
        yield lost.evidence("zpool_status", f"{namesake.leaf.name}  {namesake.leaf.state}")
    for other in same:
        text = f"The member {_cures.guid(other)} has the same stored device id, {lost.leaf.devid}. It does not show which of the two disks is lost."
        yield lost.evidence(_label_source(lost, other), text)
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
        sure=found.now is not None or found.namesake is not None,
    )


def _title(found: Mismatch) -> str:
    lost, name = found.lost, strip_partition(found.lost.path)[0].rsplit("/", 1)[-1]
    if found.now is None and found.namesake is not None:
        return f"{lost.pool.name} lost the member {lost.guid}, and its old name {name} is a member in service today"
    if found.now is None:
        return f"{lost.pool.name} lost the member {lost.guid}, and its stored device id names another disk"
    return f"{lost.pool.name} lost the member {lost.guid}, and its old name {name} is another disk today"


def _meaning(found: Mismatch) -> str:
    lost = found.lost
    sentences = [f"{lost.pool.name} remembers its lost member {lost.guid} as {lost.path}. That name is of the past and proves nothing."]
    if found.now is not None:
        sentences.append(f"Today it leads to {title(found.now)}, {_role(found)}.")
    elif found.namesake is not None:
        sentences.append(f"Today that name is {found.namesake.title}, which serves. Neither pull that disk nor replace anything with it.")
    if found.same_devid:
        others = ", ".join(_cures.guid(other) for other in found.same_devid)
        sentences.append(f"The stored device id does not help either: the member {others} has the same one.")
    sentences.append(lost.back_sentence() or _advice(found))
    sentences.append(lost.margin_sentence())
    return " ".join(sentences)


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
        text = "It is half of a replacement whose new half is lost: that is ended first, by detaching the new half by its guid. Replace neither half."
        return (_cures.wait(text), _cures.look("See both halves by guid.", ("zpool", "status", "-g", lost.pool.name)))
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
    if member is None and found.namesake is not None:
        other = found.namesake
        subject |= {"now_pool": other.pool.name, "now_vdev_guid": _cures.guid(other.leaf), "now_vdev_name": other.leaf.name}
    if member is not None:
        subject |= {"now_pool": member.pool, "now_vdev_guid": _cures.guid(member.vdev), "now_vdev_name": member.vdev.name}
    return subject


def _member(fleet: FleetFacts, lost: Lost, now: DiskFacts | None) -> Member | None:
    """The vdev that the disk under the name is, on any node; the lost one does not count."""
    if now is None or not known(now.wwid):
        return None
    owners = [m for m in lookup.owner_of_disk(fleet, now.wwid) if m.vdev is not lost.leaf]
    return min(owners, key=lambda m: m.node != lost.node.node, default=None)


def _namesake(lost: Lost) -> Namesake | None:
    """By the text alone: a leaf in service under the very name, in whichever pool of the node. Half of the same replacement is none."""
    wanted = _base(lost.path)
    for pool in lost.node.pools_read:
        leaves = [leaf for _, top in pool.tops_read for leaf in top.leaves()]
        for leaf in (*leaves, *pool.spares, *pool.caches):
            if leaf is not lost.leaf and leaf.was is None and leaf.state in lookup.IN_SERVICE and _base(leaf.name) == wanted:
                return None if _stands_in(lost, leaf) else Namesake(pool, leaf)
    return None


def _stands_in(lost: Lost, leaf: VdevFacts) -> bool:
    """Whether it takes the lost one's place, in the same bay and so under the same name."""
    return lost.parent is not None and lost.parent.kind in ("replacing", "spare") and leaf in lost.parent.children


def _base(name: str) -> str:
    """The disk's name without folder and partition: `zpool status` leaves both out where ZFS has the whole disk, and a note never does."""
    return strip_partition(name.rsplit("/", 1)[-1])[0]


def _same_devid(lost: Lost) -> tuple[VdevFacts, ...]:
    leaves = (leaf for _, leaf in lookup.pool_leaves(lost.pool))
    return tuple(leaf for leaf in leaves if lost.leaf.devid and leaf.devid == lost.leaf.devid and leaf is not lost.leaf)


def _labels_of_others(disk: DiskFacts, lost: Lost) -> bool:
    return bool(_labels(disk)) and all(label.guid != lost.leaf.guid for label in _labels(disk))


def _labels(disk: DiskFacts) -> tuple[LabelFacts, ...]:
    return disk.labels if known(disk.labels) else ()

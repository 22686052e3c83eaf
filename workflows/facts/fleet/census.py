"""The label census: what every disk on every node claims to be, and what that makes of it as a replacement.

Labels are read from the disks themselves, so they show what names hide: a member back under another name, two disks
that claim one vdev, a disk that belongs to another pool.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from agents.collectors.zdb_label import DESTROYED
from workflows.facts import lookup
from workflows.facts.lookup import Member
from workflows.facts.model import DiskFacts, FleetFacts, LabelFacts
from workflows.facts.unknown import Known, Unknown, derived, known, need

LABEL_STATES = {0: "in use or not exported", 1: "exported", 2: "destroyed", 3: "a hot spare", 4: "a cache device"}


@dataclass(frozen=True)
class LabelSeen:
    """One label on one disk as one node reads it. `wwid` is None when the disk has no identity we trust."""

    node: str
    wwid: str | None
    disk: str  # kernel name at the time
    label: LabelFacts


@dataclass(frozen=True)
class Census:
    """Every label of the fleet. `unread` says which disks' labels could not be read, as (node, disk, why)."""

    by_vdev: Mapping[tuple[int | None, int], tuple[LabelSeen, ...]]  # (pool guid, vdev guid)
    unread: tuple[tuple[str, str, str], ...]

    def carriers(self, pool_guid: int | None, vdev_guid: int) -> tuple[LabelSeen, ...]:
        return self.by_vdev.get((pool_guid, vdev_guid), ())

    def duplicates(self) -> tuple[tuple[LabelSeen, ...], ...]:
        """Vdevs that more than one disk claims to be. One disk seen by two nodes or two paths is one disk."""
        return tuple(seen for seen in self.by_vdev.values() if len({s.wwid or (s.node, s.disk) for s in seen}) > 1)

    def foreign(self, pool_guids: frozenset[int]) -> tuple[LabelSeen, ...]:
        """Labels of pools that are not among `pool_guids`, the imported ones."""
        return tuple(s for (guid, _), seen in self.by_vdev.items() if guid is not None and guid not in pool_guids for s in seen)

    def newest_txg(self, pool_guid: int) -> int | None:
        """The highest txg on any label of this pool; a member far below it is an old copy."""
        txgs = [s.label.txg for (guid, _), seen in self.by_vdev.items() if guid == pool_guid for s in seen if s.label.txg is not None]
        return max(txgs, default=None)


def census(fleet: FleetFacts) -> Census:
    """Collect every label on every node whose disks are known."""
    by_vdev: dict[tuple[int | None, int], list[LabelSeen]] = {}
    unread = []
    for name, disk in _disks(fleet):
        if not known(disk.labels):
            unread.append((name, title(disk), disk.labels.reason))
            continue
        for label in disk.labels:
            seen = LabelSeen(name, disk.wwid if known(disk.wwid) else None, disk.names[0] if disk.names else "", label)
            by_vdev.setdefault((label.pool_guid, label.guid), []).append(seen)
    return Census({key: tuple(seen) for key, seen in by_vdev.items()}, tuple(unread))


def imported_pools(fleet: FleetFacts) -> frozenset[int]:
    return frozenset(p.guid for n in fleet.nodes.values() if known(n.pools) for p in n.pools if known(p.guid))


def size(value: int | Unknown) -> str:
    """Decimal units, as disks are sold; the exact bytes stand on the disk's page."""
    if isinstance(value, Unknown):
        return "size not known"
    for unit, factor in (("TB", 10**12), ("GB", 10**9), ("MB", 10**6)):
        if value >= factor:
            return f"{value / factor:.3g} {unit}"
    return f"{value} B"


def title(disk: DiskFacts) -> str:
    """How a sentence names a disk: "sdcw (naa:5000cca273a7d9e8)"; all its names when it has several paths."""
    names = " and ".join(disk.names) or "a disk without a name"
    return f"{names} ({disk.wwid if known(disk.wwid) else 'no WWID'})"


@dataclass(frozen=True)
class Case:
    """What a disk is to a lost member. `code` is "A0".."A6"; only A0 may become the replacement."""

    code: str
    sentence: str
    member: Member | None = None


@derived
def candidate_case(fleet: FleetFacts, node: str, pool_guid: int, vdev_guid: int, wwid: str) -> Known[Case]:
    """Which case of the handbook a disk is, worst first: a member of anything outranks what else its labels say."""
    disk = need(lookup.disk(fleet, node, wwid))
    if disk is None:
        return Unknown(f"{node} does not see a disk {wwid}.")
    labels = need(disk.labels, f"The labels of {title(disk)} are not known")
    need(lookup.vdev(fleet, node, pool_guid, vdev_guid))  # without the tree a former and a current member look alike
    cases = [_by_label(fleet, disk, label, pool_guid, vdev_guid) for label in labels] + _by_owner(fleet, disk, pool_guid, vdev_guid)
    return min(cases, key=lambda case: _WORST.index(case.code), default=Case("A0", f"{title(disk)} carries no label."))


_WORST = ("A2", "A4", "A6", "A3", "A5", "A1", "A0")


def _by_label(fleet: FleetFacts, disk: DiskFacts, label: LabelFacts, pool_guid: int, vdev_guid: int) -> Case:
    name, what = title(disk), LABEL_STATES.get(label.state, f"in state {label.state}")
    member = _current(fleet, label)
    if label.pool_guid == pool_guid and label.guid == vdev_guid:
        return Case(
            "A1",
            f"{name} is the lost member {vdev_guid} itself, under a new name. Bring it back with `zpool online`; no replacement is needed.",
        )
    if member is not None:
        return _is_member(name, member, pool_guid)
    if label.pool_guid == pool_guid:
        return Case(
            "A3",
            f"{name} is a former member {label.guid} of this pool. wipe-disk wipes it where nothing needs it, or choose a disk without a label.",
        )
    whose = (
        f"the pool {label.pool_name} of {label.hostname or 'an unknown host'}" if label.pool_name else "a pool that its label does not name"
    )
    way = " wipe-destroyed-member wipes it where the pool was not brought back." if label.state == DESTROYED else ""
    return Case(
        "A5", f"{name} carries a label of {whose} ({what}). It may be someone's data. Ask its owner, or choose a disk without a label.{way}"
    )


def _by_owner(fleet: FleetFacts, disk: DiskFacts, pool_guid: int, vdev_guid: int) -> list[Case]:
    """Memberships that the disk's own labels, as read here, do not show: by another path, another node, or by name."""
    if not known(disk.wwid):
        return []
    cases = []
    for member in lookup.owner_of_disk(fleet, disk.wwid):
        if member.vdev.guid == vdev_guid and member.pool_guid == pool_guid:
            continue  # the lost member's own place; its label, when there is one, was judged above
        if disk.labels:
            cases.append(_is_member(title(disk), member, pool_guid))
        else:
            cases.append(
                Case(
                    "A6",
                    f"{title(disk)} is the same disk as {member.title} on {member.node}, by another path. Choose another disk.",
                    member,
                )
            )
    return cases


def _is_member(name: str, member: Member, pool_guid: int) -> Case:
    if member.pool_guid == pool_guid:
        return Case("A2", f"{name} is already {member.title}. Choose a disk without a label.", member)
    return Case("A4", f"{name} is {member.title}, imported on {member.node}. Choose a disk without a label.", member)


def _current(fleet: FleetFacts, label: LabelFacts) -> Member | None:
    """The vdev of an imported pool that this label names. A spare's or cache's label names no pool, only its guid."""
    for member in lookup.members(fleet):
        if member.vdev.guid == label.guid and label.pool_guid in (None, member.pool_guid):
            return member
    return None


def _disks(fleet: FleetFacts) -> Iterator[tuple[str, DiskFacts]]:
    for name, node in fleet.nodes.items():
        if known(node.disks):
            yield from ((name, disk) for disk in node.disks)

"""The roll of one imported pool: every label of it that any node reads, whether the pool has that disk there, and which leaves no disk carries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from workflows.facts import lookup
from workflows.facts.fleet.census import Census, LabelSeen
from workflows.facts.fleet.label_timelines import disk_key
from workflows.facts.model import PoolFacts, VdevFacts
from workflows.facts.unknown import known

ALL_COPIES = 4


@dataclass(frozen=True)
class RollEntry:
    """One disk that carries a label of the pool. `nodes` read it; `fits` is "" when the pool has exactly this disk in this place."""

    wwid: str | None
    disk: str  # kernel name on the first of those nodes
    nodes: tuple[str, ...]
    vdev_guid: int
    leaf: VdevFacts | None
    txg: int | None
    copies: int
    misfit: str
    grave: bool = False

    @property
    def tone(self) -> str:
        return "bad" if self.grave else "watch" if self.misfit else "good"


@dataclass(frozen=True)
class Roll:
    entries: tuple[RollEntry, ...]  # those that do not fit first
    uncarried: tuple[VdevFacts, ...]  # leaves of the pool whose label no node reads anywhere

    @property
    def misfits(self) -> tuple[RollEntry, ...]:
        return tuple(entry for entry in self.entries if entry.misfit)


def roll(seen: Census, pool: PoolFacts) -> Roll:
    """Of a pool whose guid and tree are known."""
    leaves = {leaf.guid: leaf for _, leaf in lookup.pool_leaves(pool) if known(leaf.guid)}
    groups = {guid: _by_disk(seen, pool, guid, guid in leaves) for guid in {*_vdevs_listed(seen, pool), *leaves}}
    entries = [entry for guid, disks in groups.items() for entry in _entries(guid, disks, leaves.get(guid))]
    uncarried = tuple(leaf for guid, leaf in leaves.items() if not groups[guid])
    return Roll(tuple(sorted(entries, key=lambda e: (not e.grave, not e.misfit, e.nodes, len(e.disk), e.disk))), uncarried)


def _vdevs_listed(seen: Census, pool: PoolFacts) -> set[int]:
    return {vdev for guid, vdev in seen.by_vdev if guid == pool.guid}


def _by_disk(seen: Census, pool: PoolFacts, guid: int, is_leaf: bool) -> dict[object, list[LabelSeen]]:
    """A spare's or cache's label names no pool; its guid alone says whose it is."""
    nameless = seen.carriers(None, guid) if is_leaf else ()
    found: dict[object, list[LabelSeen]] = {}
    for one in (*(seen.carriers(pool.guid, guid) if known(pool.guid) else ()), *nameless):
        found.setdefault(disk_key(one), []).append(one)
    return found


def _entries(guid: int, disks: dict[object, list[LabelSeen]], leaf: VdevFacts | None) -> Iterator[RollEntry]:
    for labels in disks.values():
        newest = max(labels, key=lambda one: one.label.txg or 0)
        misfit, grave = _misfit(newest, leaf, len(disks))
        nodes = tuple(dict.fromkeys(one.node for one in labels))
        yield RollEntry(newest.wwid, newest.disk, nodes, guid, leaf, newest.label.txg, len(newest.label.copies), misfit, grave)


def _misfit(label: LabelSeen, leaf: VdevFacts | None, disks: int) -> tuple[str, bool]:
    """Why this disk is not simply the member that its label says, and whether that is dangerous."""
    if disks > 1:
        return f"{disks} disks claim to be this vdev; one is a copy, or a member that was replaced came back", True
    if leaf is None:
        return "the pool has no such member now: a former one, or a replacement that came back", False
    if known(leaf.wwid) and label.wwid and leaf.wwid != label.wwid:
        return f"the pool has {leaf.wwid} in this place", True
    if leaf.state not in lookup.IN_SERVICE:
        return f"it is there, and the pool has this member {leaf.state}", False
    if len(label.label.copies) < ALL_COPIES:
        return f"only {len(label.label.copies)} of its {ALL_COPIES} copies of the label agree", False
    return "", False

"""Labels of one pool that were not written together: copies that lived on alone, and copies that were left behind.

ZFS writes the labels of one top-level vdev together, so only those are compared; those of two top-level vdevs differ as a
matter of course. While a pool is imported its members are read one after the other and may differ for a moment: then only disks
that the pool does not have in service are judged.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from workflows.facts import lookup
from workflows.facts.fleet.census import Census, LabelSeen
from workflows.facts.model import FleetFacts, VdevFacts
from workflows.facts.unknown import known

Dated = tuple[int, LabelSeen]  # a label that has a txg, behind that txg


@dataclass(frozen=True)
class Outlier:
    """A disk whose label was not written with those of its siblings. `kind` is "split", "ahead" or "behind"."""

    kind: str
    seen: LabelSeen
    txg: int  # of the siblings it is compared with
    siblings: int
    hostname: str | None  # who wrote those
    leaf: VdevFacts | None = None  # in the tree of an imported pool

    @property
    def sentence(self) -> str:
        label = self.seen.label
        far = abs((label.txg or 0) - self.txg)
        others = f"the {self.siblings} other{'s' if self.siblings != 1 else ''} of its vdev (txg {self.txg}, by {self.hostname or 'an unknown host'})"
        begun = f"{disk_name(self.seen)} has a label of txg {label.txg} by {label.hostname or 'an unknown host'}"
        if self.kind == "behind":
            return f"{begun}, {far} below {others}. {self._why_behind()}"
        if self.kind == "ahead":
            return f"{begun}, {far} above {others}. It was written while the others were away; they are the ones left behind, or it was written elsewhere."
        return (
            f"{begun}, which does not go on from {others}. It was written alone under another import: its timeline is not theirs, and an import may follow it. "
            f"Do not import with it, and do not overwrite it, before you know which of the two holds the data."
        )

    def _why_behind(self) -> str:
        if self.leaf is not None:
            return f"The pool has this member {self.leaf.state}, so it was not written since."
        return "It was away, offline or failed when the others were written: an old copy, which a resilver would bring up to date."


def outliers(fleet: FleetFacts, seen: Census) -> tuple[Outlier, ...]:
    leaves = {(m.pool_guid, m.vdev.guid): m.vdev for m in lookup.members(fleet) if known(m.pool_guid) and known(m.vdev.guid)}
    imported = {pool for pool, _ in leaves}
    return tuple(
        outlier
        for (pool, _), group in siblings(s for labels in seen.by_vdev.values() for s in labels).items()
        for outlier in (_imported(pool, group, leaves) if pool in imported else at_rest(group))
    )


def siblings(labels: Iterable[LabelSeen]) -> dict[tuple[int, int], tuple[Dated, ...]]:
    """(pool guid, guid of the top-level vdev) -> the labels below it, of each disk the newest one."""
    groups: dict[tuple[int, int], dict[object, Dated]] = {}
    for seen in labels:
        label = seen.label
        if label.pool_guid is not None and label.top_guid is not None and label.txg is not None:
            group = groups.setdefault((label.pool_guid, label.top_guid), {})
            key = disk_key(seen)
            if key not in group or label.txg > group[key][0]:
                group[key] = (label.txg, seen)
    return {key: tuple(group.values()) for key, group in groups.items()}


def _imported(pool: int, group: Iterable[Dated], leaves: dict[tuple[int, int], VdevFacts]) -> list[Outlier]:
    """Disks that claim to be members and serve nothing, against those in service."""

    def state(label: LabelSeen) -> str:
        leaf = leaves.get((pool, label.label.guid))
        return leaf.state if leaf is not None else ""

    serving = [(txg, s) for txg, s in group if state(s) in lookup.IN_SERVICE]
    if not serving:
        return []
    best = max(serving, key=lambda dated: dated[0])
    others = ((txg, s) for txg, s in group if state(s) and state(s) not in lookup.IN_SERVICE)
    return [o for txg, s in others if (o := _compared((txg, s), best, len(serving), leaves.get((pool, s.label.guid))))]


def at_rest(group: Iterable[Dated]) -> list[Outlier]:
    """No host has the pool imported, so nothing is written. The history that most disks hold is right, of two halves the later one; and of
    its labels those that most disks have."""
    stories: dict[object, dict[int, list[Dated]]] = {}
    for txg, seen in group:
        stories.setdefault((_writer(seen), seen.label.top), {}).setdefault(txg, []).append((txg, seen))
    if not stories:
        return []
    story = max(stories.values(), key=lambda txgs: (sum(map(len, txgs.values())), max(txgs)))
    txg = max(story, key=lambda txg: (len(story[txg]), txg))
    best = story[txg]
    others = (s for txgs in stories.values() for labels in txgs.values() if labels is not best for s in labels)
    return [o for s in others if (o := _compared(s, best[0], len(best)))]


def _compared(one: Dated, best: Dated, siblings: int, leaf: VdevFacts | None = None) -> Outlier | None:
    (txg, seen), (best_txg, best_seen) = one, best
    label, other = seen.label, best_seen.label
    if txg > best_txg:
        kind = "split" if _writer(seen) != _writer(best_seen) or label.top != other.top else "ahead"
    elif txg < best_txg:
        kind = "behind"
    else:
        kind = "split" if label.top != other.top and leaf is None else ""
    return Outlier(kind, seen, best_txg, siblings, other.hostname, leaf) if kind else None


def _writer(seen: LabelSeen) -> object:
    """Who wrote it last. Two hosts may have one hostid, so the name counts too."""
    return seen.label.hostid, seen.label.hostname


def disk_key(seen: LabelSeen) -> object:
    """What makes two readings one disk: its WWID, or else the node and name it was read under."""
    return seen.wwid or (seen.node, seen.disk)


def disk_name(seen: LabelSeen, where: bool = True) -> str:
    return f"{seen.disk} ({seen.wwid or 'no WWID'}){f' on {seen.node}' if where else ''}"

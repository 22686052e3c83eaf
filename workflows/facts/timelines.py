"""Labels of one pool that were not written together: copies that lived on alone, and copies that were left behind.

ZFS writes the labels of one top-level vdev together, so only those are compared; those of two top-level vdevs differ as a
matter of course. While a pool is imported its members are read one after the other and may differ for a moment: then only disks
that the pool does not have in service are judged.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from workflows.facts import lookup
from workflows.facts.census import Census, LabelSeen
from workflows.facts.model import FleetFacts, VdevFacts, known


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
            f"{begun}, which does not go on from {others}. It lived on by itself under another import: its timeline is not theirs, and an import may follow it. "
            f"Do not import with it, and do not overwrite it, before you know which of the two holds the data."
        )

    def _why_behind(self) -> str:
        if self.leaf is not None:
            return f"The pool has this member {self.leaf.state}, so it was not written since."
        return "It was away, offline or failed when the others were written: an old copy, which a resilver would bring up to date."


def outliers(fleet: FleetFacts, seen: Census) -> tuple[Outlier, ...]:
    groups: dict[tuple[int, int], dict[object, LabelSeen]] = {}
    for label in (s for group in seen.by_vdev.values() for s in group):
        if label.label.pool_guid is not None and label.label.top_guid is not None and label.label.txg is not None:
            group = groups.setdefault((label.label.pool_guid, label.label.top_guid), {})
            key = disk_key(label)
            if key not in group or (label.label.txg or 0) > (group[key].label.txg or 0):
                group[key] = label
    leaves = {(m.pool_guid, m.vdev.guid): m.vdev for m in lookup.members(fleet) if known(m.pool_guid) and known(m.vdev.guid)}
    imported = {pool for pool, _ in leaves}
    return tuple(
        outlier
        for (pool, _), group in groups.items()
        if len(group) > 1
        for outlier in (_imported(pool, group.values(), leaves) if pool in imported else _at_rest(group.values()))
    )


def _imported(pool: int, group: Iterable[LabelSeen], leaves: dict[tuple[int, int], VdevFacts]) -> list[Outlier]:
    """Disks that claim to be members and serve nothing, against those in service."""

    def state(label: LabelSeen) -> str:
        leaf = leaves.get((pool, label.label.guid))
        return leaf.state if leaf is not None else ""

    serving = [s for s in group if state(s) in lookup.IN_SERVICE]
    if not serving:
        return []
    best = max(serving, key=lambda s: s.label.txg)
    others = (s for s in group if state(s) and state(s) not in lookup.IN_SERVICE)
    return [o for s in others if (o := _compared(s, best, len(serving), leaves.get((pool, s.label.guid))))]


def _at_rest(group: Iterable[LabelSeen]) -> list[Outlier]:
    """Nobody has the pool imported, so nothing is written, and the most disks are right; of two halves the later one."""
    votes: dict[tuple[int, int | None, str], list[LabelSeen]] = {}
    for seen in group:
        votes.setdefault((seen.label.txg, seen.label.hostid, seen.label.top), []).append(seen)
    if len(votes) == 1:
        return []
    most = max(votes, key=lambda vote: (len(votes[vote]), vote[0]))
    best = votes[most][0]
    return [o for vote, labels in votes.items() if vote != most for s in labels if (o := _compared(s, best, len(votes[most])))]


def _compared(seen: LabelSeen, best: LabelSeen, siblings: int, leaf: VdevFacts | None = None) -> Outlier | None:
    label, other = seen.label, best.label
    if label.txg > other.txg:
        kind = "split" if label.hostid != other.hostid or label.top != other.top else "ahead"
    elif label.txg < other.txg:
        kind = "behind"
    else:
        kind = "split" if label.top != other.top and leaf is None else ""
    return Outlier(kind, seen, other.txg, siblings, other.hostname, leaf) if kind else None


def disk_key(seen: LabelSeen) -> object:
    """What makes two readings one disk: its WWID, or else the node and name it was read under."""
    return seen.wwid or (seen.node, seen.disk)


def disk_name(seen: LabelSeen, where: bool = True) -> str:
    return f"{seen.disk} ({seen.wwid or 'no WWID'}){f' on {seen.node}' if where else ''}"

"""Which disk of an unimported pool contradicts the others, and by what evidence.

A label or uberblock that is ahead of all its peers wins when ZFS imports; it need not be right. A disk that is behind was away for
a while, which harms nothing. So only what is ahead, contradicts, or cannot be read makes a suspect.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from agents.domain.wwid import strip_partition
from workflows.facts.fleet.census import LabelSeen
from workflows.facts.fleet.label_timelines import Outlier, at_rest, siblings
from workflows.facts.model import DiskFacts, ImportableFacts, LabelFacts, NodeFacts
from workflows.facts.read.hanging_disks import hanging
from workflows.facts.read.uberblocks import DiskTimeline, PoolTimeline
from workflows.facts.unknown import known

ALL_COPIES = (0, 1, 2, 3)
PEERS_MIN = 2  # two that agree against one


@dataclass(frozen=True)
class Clue:
    """One thing that sets a disk apart. `kind` names the method: independent kinds add up, equal ones do not."""

    kind: str  # "label-ahead", "other-host", "uberblock-ahead", "split", "guid-sum", "copies", "silent", "other-label", "log", "slow"
    source: str  # where it can be looked up: "zdb_label/sdd1"
    sentence: str


@dataclass(frozen=True)
class Suspect:
    disk: DiskFacts
    clues: tuple[Clue, ...]

    @property
    def kinds(self) -> frozenset[str]:
        return frozenset(clue.kind for clue in self.clues)

    @property
    def diverges(self) -> bool:
        """Whether it would pull the pool its own way, not only be of no use to it."""
        return bool(self.kinds & {"label-ahead", "uberblock-ahead", "split", "guid-sum"})


@dataclass(frozen=True)
class Row:
    """One line of the label table: a disk that claims to be of the pool."""

    disk: DiskFacts
    label: LabelFacts

    @property
    def seen(self) -> LabelSeen:
        return LabelSeen("", self.disk.wwid if known(self.disk.wwid) else None, self.disk.names[0] if self.disk.names else "", self.label)


def rows(node: NodeFacts, pool_guid: int) -> tuple[Row, ...]:
    """Every disk that carries a label of this pool on this node."""
    disks = node.disks if known(node.disks) else ()
    return tuple(Row(disk, label) for disk in disks if known(disk.labels) for label in disk.labels if label.pool_guid == pool_guid)


def suspects(node: NodeFacts, pool_guid: int, listed: ImportableFacts | None = None) -> tuple[Suspect, ...]:
    """The disks that stand out, those with the most kinds of clues first. `listed` adds the disks that the listing names."""
    table = rows(node, pool_guid)
    found: dict[tuple[str, ...], tuple[DiskFacts, list[Clue]]] = {}  # by its names: who asks may hold a copy of the disk
    timeline = _timeline(node, pool_guid)
    of_the_disks = (*_by_label(table), *_by_uberblock(timeline), *_listed(node, pool_guid, listed))
    for disk, clue in (*of_the_disks, *_by_log(node, timeline), *_by_waiting(node, table)):
        found.setdefault(disk.names, (disk, []))[1].append(clue)
    ranked = sorted(found.values(), key=lambda one: -len({clue.kind for clue in one[1]}))
    return tuple(Suspect(disk, tuple(clues)) for disk, clues in ranked)


def _by_label(table: tuple[Row, ...]) -> Iterator[tuple[DiskFacts, Clue]]:
    disks = {row.label.partition: row.disk for row in table}
    for group in siblings(row.seen for row in table).values():
        split = [outlier for outlier in at_rest(group) if outlier.kind == "split"]
        for outlier in split if len(group) - len(split) >= PEERS_MIN else ():
            yield from ((disks[outlier.seen.label.partition], clue) for clue in _of_outlier(outlier))
    for row in table:
        if row.label.copies != ALL_COPIES and len([r for r in table if r.disk is row.disk]) == 1:
            text = f"only the label copies {' '.join(map(str, row.label.copies))} of 0 1 2 3 can be read"
            yield row.disk, Clue("copies", f"zdb_label/{row.label.partition}", text)


def _of_outlier(outlier: Outlier) -> Iterator[Clue]:
    """Labels of one pool may differ in txg; what another host wrote later, or for other vdevs, is a second life of the pool."""
    label = outlier.seen.label
    source = f"zdb_label/{label.partition}"
    if label.txg == outlier.txg:
        yield Clue("split", source, f"its label describes other vdevs than those of the others, at the same txg {label.txg}")
        return
    yield Clue("label-ahead", source, f"its label is of txg {label.txg}, the others end at {outlier.txg}")
    if label.hostname != outlier.hostname:
        theirs = outlier.hostname or "another host"
        yield Clue("other-host", source, f"{label.hostname or 'another host'} wrote it last, the others were written by {theirs}")


def _timeline(node: NodeFacts, pool_guid: int) -> PoolTimeline | None:
    timelines = node.timelines if known(node.timelines) else ()
    return next((timeline for timeline in timelines if timeline.pool_guid == pool_guid), None)


def _by_uberblock(timeline: PoolTimeline | None) -> Iterator[tuple[DiskFacts, Clue]]:
    """Disks of one top-level vdev get each uberblock together, so one that is ahead of all its peers did not get it from this pool."""
    disks = [(disk, newest) for disk in (timeline.disks if timeline else ()) if (newest := disk.newest) is not None]
    for one, own in disks:
        others = [(x, newest) for x, newest in disks if x is not one and x.label.top_guid == one.label.top_guid]
        if len(others) < PEERS_MIN:
            continue
        peers, source = [x for x, _ in others], f"zdb_uberblocks/{one.label.partition}"
        best = max((newest for _, newest in others), key=lambda u: (u.txg, u.timestamp))
        if own.txg > best.txg + 1:
            ahead = f"its newest uberblock is of txg {own.txg}, the best of the others of txg {best.txg}"
            yield one.disk, Clue("uberblock-ahead", source, f"{ahead}, {apart(own.timestamp - best.timestamp)}")
        sums = Counter(newest.guid_sum for _, newest in others)
        if len(sums) == 1 and own.guid_sum not in sums:
            yield one.disk, Clue("guid-sum", source, "its newest uberblock was written for another set of vdevs (guid_sum differs)")
        yield from _split(one, peers, source)


def _split(one: DiskTimeline, peers: list[DiskTimeline], source: str) -> Iterator[tuple[DiskFacts, Clue]]:
    dates: dict[int, set[int]] = {}
    for peer in peers:
        for uberblock in peer.uberblocks if known(peer.uberblocks) else ():
            dates.setdefault(uberblock.txg, set()).add(uberblock.timestamp)
    for uberblock in one.uberblocks if known(one.uberblocks) else ():
        theirs = dates.get(uberblock.txg, set())
        if len(theirs) == 1 and abs(uberblock.timestamp - next(iter(theirs))) > 1:
            yield (
                one.disk,
                Clue("split", source, f"txg {uberblock.txg} is on it and on the others with different times: two pools were written"),
            )
            return


def _by_log(node: NodeFacts, timeline: PoolTimeline | None) -> Iterator[tuple[DiskFacts, Clue]]:
    """A load that followed this disk and failed. What the others hold too proves nothing of it, as one disk has to be the first."""
    loads, disks = node.failed_loads if known(node.failed_loads) else (), timeline.disks if timeline else ()
    for one in disks:
        ends = [x.newest.txg for x in disks if x is not one and x.newest is not None]
        links = {link for path in one.disk.paths for link in path.by_id}
        led = [load for load in loads if strip_partition(load.path)[0] in links]
        held = {uberblock.txg for uberblock in (one.uberblocks if known(one.uberblocks) else ())}
        led = [load for load in led if load.txg in held and load.txg > max(ends, default=load.txg) + 1]
        if led and len(ends) >= PEERS_MIN:
            text = f"ZFS followed its uberblock of txg {led[-1].txg}, and the load failed: {led[-1].why}"
            yield one.disk, Clue("log", "dbgmsg", text)


def _by_waiting(node: NodeFacts, table: tuple[Row, ...]) -> Iterator[tuple[DiskFacts, Clue]]:
    """It takes commands and does not answer them: an import waits for it, and fails."""
    ours = {row.disk.names for row in table}
    for one in hanging(node) if table else ():
        if one.disk is not None and one.disk.names in ours and one.hangs_now:
            line = one.silent[0] if one.silent else one.aborts[-1].line
            yield one.disk, Clue("slow", "kernel_log", f"it does not answer in time ({line})")


def _listed(node: NodeFacts, pool_guid: int, listed: ImportableFacts | None) -> Iterator[tuple[DiskFacts, Clue]]:
    """Disks that the listing names as leaves, and that do not answer or carry another pool's label."""
    for leaf in (leaf for _, top in listed.tops for leaf in top.leaves()) if listed else ():
        disk = _named(node, leaf.name)
        if disk is None:
            continue
        name = disk.paths[0].partitions[0] if disk.paths and disk.paths[0].partitions else disk.names[0]
        if not known(disk.labels):
            yield disk, Clue("silent", f"zdb_label/{name}", f"its label is not known: {disk.labels.reason.rstrip('.')}")
        elif leaf.state != "ONLINE" and not any(label.pool_guid == pool_guid for label in disk.labels):
            whose = disk.labels[0].pool_name if disk.labels else None
            text = f"it carries a label of {whose}" if whose else "it carries no label that can be read"
            yield disk, Clue("other-label", f"zdb_label/{name}", f"{text} where {leaf.name} is expected")


def _named(node: NodeFacts, name: str) -> DiskFacts | None:
    """The listing prints the last part of a link or a kernel name; a name of the past may lead to another disk today, so only links count."""
    disks = node.disks if known(node.disks) else ()
    return next((disk for disk in disks if any(link.endswith(f"/{name}") for path in disk.paths for link in path.by_id)), None)


def apart(seconds: int) -> str:
    """How far two moments are apart: "3 h 20 min later"."""
    amount, when = abs(seconds), "later" if seconds >= 0 else "earlier"
    if amount < 120:
        return f"{amount} s {when}"
    if amount < 7200:
        return f"{amount // 60} min {when}"
    if amount < 172800:
        return f"{amount // 3600} h {amount % 3600 // 60} min {when}"
    return f"{amount // 86400} days {when}"

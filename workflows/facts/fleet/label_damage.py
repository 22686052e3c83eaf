"""What is wrong with labels themselves: copies that are gone, differ or cannot be read, and members that carry none or another's.

Four equal copies are expected on every member. A disk that never was a member and carries none is blank, not damaged: a label
counts as lost only where the labels of its siblings name this very disk.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from agents.collectors.zdb_label import DESTROYED
from agents.domain.wwid import normalise
from workflows.facts import lookup
from workflows.facts.fleet.census import Census, census, imported_pools, title
from workflows.facts.model import DiskFacts, FleetFacts, LabelFacts, NodeFacts, VdevFacts
from workflows.facts.read.labels import Copies, Expected
from workflows.facts.unknown import known

END = (2, 3)  # the two copies at the end of a partition
EVEN, ODD = (0, 2), (1, 3)  # ZFS writes the even copies, then the uberblock, then the odd ones


@dataclass(frozen=True)
class Damage:
    """`kind` is "gone", "other", "few", "differ", "torn", "checksum" or "unread"."""

    kind: str
    node: NodeFacts
    disk: DiskFacts
    partition: str
    pool: str
    pool_guid: int | None
    vdev_guid: int | None
    sentence: str
    found: str  # what its own label says, for the line of evidence
    named_by: str = ""  # the partition whose label names the lost one
    leaf: VdevFacts | None = None  # in the tree of an imported pool


def damages(fleet: FleetFacts, seen: Census | None = None) -> tuple[Damage, ...]:
    """Every damage, each disk once however many nodes and paths see it."""
    seen = seen or census(fleet)
    found: dict[tuple[object, str], Damage] = {}
    for damage in (*_lost(fleet, seen), *_copies(fleet)):
        disk = damage.disk.wwid if known(damage.disk.wwid) else (damage.node.node, damage.disk.names)
        found.setdefault((disk, damage.kind), damage)
    return tuple(found.values())


# Labels that should be there.


def _lost(fleet: FleetFacts, seen: Census) -> Iterator[Damage]:
    for node in fleet.nodes.values():
        expected = node.expected if known(node.expected) else ()
        for leaf in expected:
            if leaf.label_state == DESTROYED or seen.carriers(leaf.pool_guid, leaf.guid):
                continue
            disk = _its_disk(node, leaf)
            if disk is None or not known(disk.labels):
                continue
            if not _most_are_here(expected, leaf, seen) or _replaced(fleet, leaf) or _is_a_sibling(leaf, disk.labels):
                continue
            yield _damage_of(fleet, node, leaf, disk, disk.labels)


def _its_disk(node: NodeFacts, leaf: Expected) -> DiskFacts | None:
    wwid = leaf.wwid or (normalise(leaf.path) if leaf.path and leaf.path.startswith("/dev/disk/by-id/") else None)
    disks = node.disks if known(node.disks) else ()
    return next((d for d in disks if known(d.wwid) and d.wwid == wwid), None)


def _most_are_here(expected: tuple[Expected, ...], leaf: Expected, seen: Census) -> bool:
    """Old labels on a few reused disks miss the rest of their pool; that is no damage."""
    siblings = {e.guid for e in expected if (e.pool_guid, e.top_guid) == (leaf.pool_guid, leaf.top_guid)}
    return 2 * sum(bool(seen.carriers(leaf.pool_guid, guid)) for guid in siblings) >= len(siblings)


def _replaced(fleet: FleetFacts, leaf: Expected) -> bool:
    """Whether the pool is imported and does not know this leaf any more."""
    pools = [p for n in fleet.nodes.values() if known(n.pools) for p in n.pools if known(p.guid) and p.guid == leaf.pool_guid]
    return any(lookup.pool_lineage(pool, leaf.guid) is None for pool in pools)


def _is_a_sibling(leaf: Expected, labels: tuple[LabelFacts, ...]) -> bool:
    """Whether the disk with these labels is rightly another member: a stored device id may name the disk of a sibling."""
    return any((label.pool_guid, label.top_guid) == (leaf.pool_guid, leaf.top_guid) for label in labels)


def _damage_of(fleet: FleetFacts, node: NodeFacts, leaf: Expected, disk: DiskFacts, labels: tuple[LabelFacts, ...]) -> Damage:
    text = f"The labels of its siblings (on {leaf.named_by}) say that {title(disk)} is the member {leaf.guid} of {leaf.pool_name}"
    if labels:
        other = labels[0]
        kind, found = "other", f"{other.pool_name}: guid {other.guid}, txg {other.txg}, hostname {other.hostname}"
        text += f", but it carries the label of vdev {other.guid} of {other.pool_name or 'no pool'}, written by {other.hostname or 'an unknown host'}."
    else:
        kind, found, text = "gone", "no label in any of the four places", f"{text}, but none of its four label copies is there."
    partition = disk.paths[0].partitions[0] if disk.paths and disk.paths[0].partitions else disk.names[0]
    return Damage(
        kind,
        node,
        disk,
        partition,
        leaf.pool_name,
        leaf.pool_guid,
        leaf.guid,
        text,
        found,
        leaf.named_by,
        _leaf(fleet, leaf.pool_guid, leaf.guid),
    )


def _leaf(fleet: FleetFacts, pool_guid: int | None, guid: int) -> VdevFacts | None:
    members = (m for m in lookup.members(fleet) if known(m.vdev.guid) and m.vdev.guid == guid)
    return next((m.vdev for m in members if known(m.pool_guid) and m.pool_guid == pool_guid), None)


# Copies of labels that are there.


def _copies(fleet: FleetFacts) -> Iterator[Damage]:
    imported = imported_pools(fleet)
    for node in fleet.nodes.values():
        wanted = imported | {p.guid for p in (node.importable if known(node.importable) else ())}
        for disk in node.disks if known(node.disks) else ():
            for copies in disk.copies if known(disk.copies) else ():
                if not copies.whole and (copies.unread or any(label.pool_guid in wanted for label in copies.labels)):
                    yield from _of_copies(fleet, node, disk, copies)


def _of_copies(fleet: FleetFacts, node: NodeFacts, disk: DiskFacts, copies: Copies) -> Iterator[Damage]:
    label = copies.labels[0] if copies.labels else None
    for kind, claim in _claims_of(copies):
        yield Damage(
            kind,
            node,
            disk,
            copies.partition,
            (label.pool_name or "") if label else "",
            label.pool_guid if label else None,
            label.guid if label else None,
            f"{title(disk)}: {claim}",
            claim,
            copies.partition,
            _leaf(fleet, label.pool_guid, label.guid) if label else None,
        )


def _claims_of(copies: Copies) -> Iterator[tuple[str, str]]:
    where = f"on {copies.partition}"
    if copies.unread:
        yield "unread", f"the disk gives an error when label {_copy_list(copies.unread)} {where} is read."
        return
    if copies.empty and copies.labels:
        yield "few", f"label {_copy_list(copies.empty)} {where} is no label any more; {_count(4 - len(copies.empty))} left."
    if copies.bad_checksum:
        yield "checksum", f"the checksum of label {_copy_list(copies.bad_checksum)} {where} is wrong."
    if len(copies.labels) > 1:
        yield ("torn" if _torn(copies.labels) else "differ"), f"its copies {where} differ: {_each(copies.labels)}."


def _torn(labels: tuple[LabelFacts, ...]) -> bool:
    """One label in two ages, even copies and odd: the power went between the two writes. ZFS expects that."""
    return len(labels) == 2 and len({(x.pool_guid, x.guid) for x in labels}) == 1 and {x.copies for x in labels} == {EVEN, ODD}


def _each(labels: tuple[LabelFacts, ...]) -> str:
    return "; ".join(f"{_copy_list(x.copies)} say vdev {x.guid} of {x.pool_name or 'no pool'} at txg {x.txg}" for x in labels)


def _copy_list(copies: tuple[int, ...]) -> str:
    *first, last = map(str, copies)
    return f"{', '.join(first)} and {last}" if first else last


def _count(number: int) -> str:
    return "one is" if number == 1 else f"{number} are"

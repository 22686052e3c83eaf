"""What a node's facts leave behind: disks, sightings, labels and the states of leaves.

What the facts do not know leaves the history as it is: a node whose `zpool status` hangs has not lost its pools.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta

from app.fleet import intervals
from app.fleet.models import Disk, LabelSeen, LeafHistory, Node, Sighting
from workflows.facts import DiskFacts, LeafChange, NodeFacts, PoolFacts, VdevFacts, known

LEAF_CHANGES_SECONDS = 3600  # the guards ask about the last 30 minutes
DISK_FIELDS = ("serial", "vendor", "model", "firmware", "size_bytes")


def record(node: Node, facts: NodeFacts, at: datetime, before: NodeFacts | None = None) -> None:
    """Write down what changed. `before` are the facts that were written down last, where they are known: most reports change little."""
    if known(facts.disks) and (before is None or _places(before) != _places(facts)):
        disks = _record_disks(facts.disks, at)
        _record_sightings(node, facts, disks, at)
        _record_labels(node, facts.disks, disks, at)
    if known(facts.pools) and (before is None or _states(before) != _states(facts)):
        _record_leaves(node, facts.pools, at)


def _places(facts: NodeFacts) -> object:
    """All that disks, sightings and labels are written from."""
    return facts.disks, _pool_of(facts)


def _states(facts: NodeFacts) -> object:
    """All that the states of leaves are written from."""
    return _leaf_states(facts.pools) if known(facts.pools) else facts.pools


def leaf_changes(at: datetime, node: Node | None = None) -> dict[str, tuple[LeafChange, ...]]:
    """Leaves that left ONLINE lately, by node name."""
    rows = LeafHistory.objects.filter(before="ONLINE", since__gt=at - timedelta(seconds=LEAF_CHANGES_SECONDS)).select_related("node")
    found: dict[str, tuple[LeafChange, ...]] = {}
    for row in rows if node is None else rows.filter(node=node):
        age_seconds = max(0.0, (at - row.since).total_seconds())
        change = LeafChange(int(row.pool_guid), int(row.vdev_guid), row.before, row.state, age_seconds)
        found[row.node.name] = (*found.get(row.node.name, ()), change)
    return found


def _record_disks(disks: tuple[DiskFacts, ...], at: datetime) -> dict[str, Disk]:
    """The rows of these disks by WWID. A disk without an identity has no history."""
    seen = {disk.wwid: disk for disk in disks if known(disk.wwid)}
    rows = Disk.objects.in_bulk(list(seen), field_name="wwid")
    # In one order, so that two nodes that see the same new disks do not wait for each other.
    fresh = [Disk(wwid=wwid, first_seen_at=at, **_told(disk)) for wwid, disk in sorted(seen.items()) if wwid not in rows]
    Disk.objects.bulk_create(fresh, ignore_conflicts=True)  # another node may see the same disk at the same moment
    if fresh:
        rows = Disk.objects.in_bulk(list(seen), field_name="wwid")
    changed = [row for wwid, row in rows.items() if _update(row, _told(seen[wwid]))]
    if changed:
        Disk.objects.bulk_update(changed, DISK_FIELDS)
    return rows


def _told(disk: DiskFacts) -> dict[str, object]:
    """What the disk says of itself, without what could not be read."""
    said = {name: getattr(disk, name) for name in DISK_FIELDS}
    return {name: value for name, value in said.items() if known(value) and value != ""}


def _update(row: Disk, told: dict[str, object]) -> bool:
    changed = [name for name, value in told.items() if getattr(row, name) != value]
    for name in changed:
        setattr(row, name, told[name])
    return bool(changed)


def _record_sightings(node: Node, facts: NodeFacts, disks: dict[str, Disk], at: datetime) -> None:
    pools = _pool_of(facts)
    current = {}
    for disk in facts.disks:
        if not known(disk.wwid):
            continue
        bay = {"enclosure_id": disk.bay.enclosure_id, "slot": disk.bay.slot} if known(disk.bay) else {"enclosure_id": "", "slot": None}
        for path in disk.paths:
            current[(path.name,)] = {
                "disk_id": disks[disk.wwid].pk,
                "hctl": path.hctl or "",
                "by_id": next(iter(path.by_id), ""),
                "pool": pools.get(disk.wwid, ""),
                **bay,
            }
    intervals.record(Sighting, node, ("name",), current, at)


def _pool_of(facts: NodeFacts) -> dict[str, str]:
    pools = facts.pools if known(facts.pools) else ()
    return {leaf.wwid: pool.name for pool in pools for leaf in _leaves(pool) if known(leaf.wwid)}


def _leaves(pool: PoolFacts) -> Iterator[VdevFacts]:
    tops = tuple(top for _, top in pool.tops) if known(pool.tops) else ()
    for vdev in (*tops, *pool.spares, *pool.caches):
        yield from vdev.leaves()


def _record_labels(node: Node, facts: tuple[DiskFacts, ...], disks: dict[str, Disk], at: datetime) -> None:
    unread = {disks[disk.wwid].pk for disk in facts if known(disk.wwid) and not known(disk.labels)}
    current = {
        (disks[disk.wwid].pk, label.partition, _text(label.pool_guid), str(label.guid), label.state): {
            "pool": label.pool_name or "",
            "hostname": label.hostname or "",
            "txg": _text(label.txg),
        }
        for disk in facts
        if known(disk.wwid) and known(disk.labels)
        for label in disk.labels
    }
    for row in LabelSeen.objects.filter(intervals.NOW, node=node, disk__in=unread):
        key = (row.disk_id, row.partition, row.pool_guid, row.vdev_guid, row.state)
        current[key] = {"pool": row.pool, "hostname": row.hostname, "txg": row.txg}
    key = ("disk_id", "partition", "pool_guid", "vdev_guid", "state")
    intervals.record(LabelSeen, node, key, current, at, passing=("pool", "hostname", "txg"))


def _text(number: int | None) -> str:
    return "" if number is None else str(number)


def _record_leaves(node: Node, pools: tuple[PoolFacts, ...], at: datetime) -> None:
    key = ("pool_guid", "vdev_guid")
    intervals.record(LeafHistory, node, key, _leaf_states(pools), at, passing=("pool", "name"), before="state")


def _leaf_states(pools: tuple[PoolFacts, ...]) -> dict[tuple[str, str], dict[str, str]]:
    current: dict[tuple[str, str], dict[str, str]] = {}
    for pool in (pool for pool in pools if known(pool.guid)):
        for leaf in (leaf for leaf in _leaves(pool) if known(leaf.guid)):
            # A spare in use stands in the tree and again under "spares"; the tree comes first and says more.
            current.setdefault((str(pool.guid), str(leaf.guid)), {"pool": pool.name, "name": leaf.name, "state": leaf.state})
    return current

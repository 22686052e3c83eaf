"""What a node's facts leave behind: disks, sightings, labels and the states of leaves.

What the facts do not know leaves the history as it is: a node whose `zpool status` hangs has not lost its pools.
"""

import json
from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import datetime, timedelta
from typing import Any

from django.db.models import F, Q, QuerySet
from django.db.models.expressions import RawSQL

from app.core.compiled_queries import ModelsWrittenOnce, WrittenOnce, among
from app.fleet.ingest import intervals
from app.fleet.ingest.intervals import KEPT
from app.fleet.models import NOW, Disk, LabelSeen, LeafHistory, Node, Sighting
from app.fleet.pages.disk_search import parts_of
from workflows.facts import DiskFacts, Ever, Gone, LeafChange, NodeFacts, PathFacts, PoolFacts, Remembered, VdevFacts, known, lookup
from workflows.facts.fleet.identity import same_serial
from workflows.guards import scanned
from workflows.guards.scanned import LABEL_DIGITS_MIN, may_be, serial_of, wwid_of

LEAF_CHANGES_SECONDS = 3600  # the guards ask about the last 30 minutes
DISK_FIELDS = ("serial", "vendor", "model", "firmware", "size_bytes")
SERIALS_KEPT = 5
EVER_DIGITS_MIN, EVER_MAX = 4, 20  # shorter than that a scan names no disk
GONE = timedelta(minutes=30)  # how long a disk that left is called by its serial number and bay in an alarm
SERIAL_DOUBTED = timedelta(days=7)  # a serial number that was not reported for so long counts against its disk no more


def record(node: Node, facts: NodeFacts, at: datetime, before: NodeFacts | None = None) -> None:
    """Write down what changed. `before` are the facts that were written down last, where they are known: most reports change little."""
    if known(facts.disks):
        seen = before is None or _places(before) != _places(facts)
        changed, labelled = (_changed(before, facts.disks, of) for of in (_fields_of, _labels))
        written = _wwids(facts.disks) if seen or changed is None or labelled is None else changed | labelled
        disks = _record_disks(node, [disk for disk in facts.disks if disk.wwid in written], at) if written else {}
        if seen:
            _record_sightings(node, facts, facts.disks, disks, at)
        if labelled is None or labelled:
            _record_labels(node, facts.disks, disks, at, labelled)
    if known(facts.pools) and lookup.trees_known(facts) and (before is None or _states(before) != _states(facts)):
        _record_leaves(node, facts.pools, at)


def _changed(before: NodeFacts | None, disks: tuple[DiskFacts, ...], of: Callable[[DiskFacts], object]) -> frozenset[str] | None:
    """The disks of which `of` says another thing than before, with those that came or went; None when it is not known what was before."""
    if before is None or not known(before.disks):
        return None
    was, now = ({disk.wwid: of(disk) for disk in each if known(disk.wwid)} for each in (before.disks, disks))
    return frozenset(wwid for wwid in was.keys() | now.keys() if wwid not in was or wwid not in now or was[wwid] != now[wwid])


def _wwids(disks: tuple[DiskFacts, ...]) -> frozenset[str]:
    return frozenset(disk.wwid for disk in disks if known(disk.wwid))


def _places(facts: NodeFacts) -> object:
    """All that sightings are written from."""
    places = known(facts.disks) and [(disk.wwid, disk.paths, disk.bay, known(disk.labels)) for disk in facts.disks]
    return places, _pool_of(facts), known(facts.bays), known(facts.pools), "disk_links" in facts.failures


def _labels(disk: DiskFacts) -> object:
    return disk.labels


def _states(facts: NodeFacts) -> object:
    """All that the states of leaves are written from."""
    return _leaf_states(facts.pools) if known(facts.pools) else facts.pools


def leaf_changes(at: datetime, nodes: Collection[Node]) -> dict[str, tuple[LeafChange, ...]]:
    """Leaves of these nodes that left ONLINE lately, by node name."""
    found: dict[str, tuple[LeafChange, ...]] = {}
    for node, pool, vdev, state, since in _left_online(at - timedelta(seconds=LEAF_CHANGES_SECONDS), [node.pk for node in nodes]):
        change = LeafChange(int(pool), int(vdev), "ONLINE", state, max(0.0, (at - since).total_seconds()))
        found[node] = (*found.get(node, ()), change)
    return found


@WrittenOnce
def _left_online(after: datetime, nodes: RawSQL) -> QuerySet[LeafHistory, Any]:
    lately = LeafHistory.objects.filter(among("fleet_leafhistory.node_id", nodes), before="ONLINE", since__gt=after)
    return lately.values_list("node__name", "pool_guid", "vdev_guid", "state", "since")


def remembered(at: datetime) -> dict[str, Remembered]:
    """What was reported of disks before and is not reported now, by WWID."""
    found = {wwid: Remembered(_serials(json.loads(serials), at)) for wwid, serials in _with_former_serials()}
    return {wwid: memory for wwid, memory in found.items() if memory.serials}


@WrittenOnce
def _with_former_serials() -> QuerySet[Disk, Any]:
    return Disk.objects.exclude(former_serials=[]).values_list("wwid", "former_serials")


def gone(at: datetime, nodes: Collection[Node]) -> dict[tuple[str, str], Gone]:
    """Disks that one of these nodes saw until lately and sees no more, by node and WWID."""
    left = _left(at - GONE, at, [node.pk for node in nodes])
    there = set(Sighting.objects.filter(NOW, disk__in={disk for _, disk, *_ in left}).values_list("node", "disk")) if left else set()
    return {(name, wwid): Gone(*last) for node, disk, name, wwid, *last in left if (node, disk) not in there}


@WrittenOnce
def _left(after: datetime, at: datetime, nodes: RawSQL) -> QuerySet[Sighting, Any]:
    ended = Sighting.objects.filter(among("fleet_sighting.node_id", nodes), until__gt=after, until__lte=at).order_by("until")
    return ended.values_list("node", "disk", "node__name", "disk__wwid", "disk__serial", "enclosure_id", "slot")


def remembered_of(disk: Disk, at: datetime) -> Remembered:
    """The same for one disk, with the bay it was in before this one."""
    bays = disk.sightings.filter(until__isnull=False).exclude(enclosure_id="").select_related("node").order_by("-until")[:1]
    places = tuple((f"{row.enclosure_id}/{row.slot}", f"{row.node.name}, until {row.until:%Y-%m-%d %H:%M} UTC") for row in bays)
    return Remembered(_serials(disk.former_serials, at), places)


def ever(text: str) -> tuple[Ever, ...]:
    """The disks, of all that were ever seen, that may be meant by what was typed or scanned."""
    serial, forms = serial_of(text), may_be(text)
    if len(serial) < EVER_DIGITS_MIN:
        return ()
    known_as = Q(serial__in=forms) | Q(wwid=wwid_of(text) or None) | Q(wwid__in=_once_called(text))
    if len(serial) >= LABEL_DIGITS_MIN:  # shorter than that it is no serial number without its lot
        known_as |= Q(serial__istartswith=serial)
    return tuple(map(_ever, Disk.objects.filter(known_as)[:EVER_MAX]))


def _once_called(text: str) -> list[str]:
    """The WWIDs of disks that reported such a serial number before, and report another one now."""
    rows = ((wwid, json.loads(former)) for wwid, former in _with_former_serials())
    return [wwid for wwid, former in rows if any(scanned.same_serial(text, before["serial"]) for before in former)]


def _ever(disk: Disk) -> Ever:
    last = disk.sightings.select_related("node").order_by(F("until").desc(nulls_first=True)).first()
    label = disk.labels.exclude(pool_guid="").order_by(F("until").desc(nulls_first=True)).first()
    place = f"bay {last.slot} of {last.enclosure_id} on {last.node}" if last and last.enclosure_id else str(last.node) if last else ""
    until = f"until {last.until:%Y-%m-%d %H:%M} UTC" if last and last.until else "now"
    former = tuple(before["serial"] for before in disk.former_serials)
    return Ever(disk.wwid, disk.serial, place, until, label.vdev_guid if label else "", former)


def _serials(former: list[dict[str, str]], at: datetime) -> tuple[tuple[str, str], ...]:
    fresh = [serial for serial in former if datetime.fromisoformat(serial["until"]) > at - SERIAL_DOUBTED]
    return tuple((earlier["serial"], f"{earlier['node']}, until {earlier['until'][:16].replace('T', ' ')} UTC") for earlier in fresh)


def _record_disks(node: Node, disks: Iterable[DiskFacts], at: datetime) -> dict[str, Disk]:
    """The rows of these disks by WWID. A disk without an identity has no history."""
    seen = {disk.wwid: disk for disk in disks if known(disk.wwid)}
    rows = _rows(seen)
    # In one order, so that two nodes that see the same new disks do not wait for each other.
    fresh = [_findable(Disk(wwid=wwid, first_seen_at=at, **_fields_of(disk))) for wwid, disk in sorted(seen.items()) if wwid not in rows]
    Disk.objects.bulk_create(fresh, ignore_conflicts=True)  # another node may see the same disk at the same moment
    if fresh:
        rows = _rows(seen)
    changed = [row for wwid, row in rows.items() if _update(node, row, _fields_of(seen[wwid]), at)]
    if changed:
        Disk.objects.bulk_update(map(_findable, changed), [*DISK_FIELDS, "former_serials", "parts"])
    return rows


def _rows(wwids: Iterable[str]) -> dict[str, Disk]:
    return {row.wwid: row for row in _disks(list(wwids))}


@ModelsWrittenOnce
def _disks(wwids: RawSQL) -> QuerySet[Disk]:
    return Disk.objects.filter(among("wwid", wwids))


def _findable(row: Disk) -> Disk:
    """The row, with all by which a part of its name is found."""
    row.parts = parts_of((row.wwid, row.serial, *(before["serial"] for before in row.former_serials)))
    return row


def _fields_of(disk: DiskFacts) -> dict[str, object]:
    """What the disk says of itself, without what could not be read."""
    values = {name: getattr(disk, name) for name in DISK_FIELDS}
    return {name: value for name, value in values.items() if known(value) and value != ""}


def _update(node: Node, row: Disk, fields: dict[str, object], at: datetime) -> bool:
    changed = [name for name, value in fields.items() if getattr(row, name) != value]
    if "serial" in changed and row.serial and not same_serial(row.serial, str(fields["serial"])):
        former = {"serial": row.serial, "node": node.name, "until": at.isoformat()}
        others = [before for before in row.former_serials if before["serial"] != row.serial]
        row.former_serials = [former, *others][:SERIALS_KEPT]
    for name in changed:
        setattr(row, name, fields[name])
    return bool(changed) or not row.parts


def _record_sightings(node: Node, facts: NodeFacts, reported: tuple[DiskFacts, ...], disks: dict[str, Disk], at: datetime) -> None:
    pools = _pool_of(facts)
    current = {
        (path.name,): {
            "disk_id": disks[disk.wwid].pk,
            "hctl": path.hctl or "",
            "by_id": _link(facts, path),
            "sas_address": path.sas_address or "",
            "pool": _pool(facts, disk, pools),
            **_bay(facts, disk),
        }
        for disk in reported
        if known(disk.wwid)
        for path in disk.paths
    }
    intervals.record(Sighting, node, ("name",), current, at, passing=("sas_address",), same=("disk_id",))


def _bay(facts: NodeFacts, disk: DiskFacts) -> dict[str, object]:
    if known(disk.bay):
        return {"enclosure_id": disk.bay.enclosure_id, "slot": disk.bay.slot}
    return {"enclosure_id": "", "slot": None} if known(facts.bays) else {"enclosure_id": KEPT, "slot": KEPT}


def _pool(facts: NodeFacts, disk: DiskFacts, pools: dict[str, str]) -> object:
    """The pool it serves; a node whose pools or labels cannot be read for a moment has not lost them."""
    return (known(disk.wwid) and pools.get(disk.wwid)) or ("" if known(facts.pools) and known(disk.labels) else KEPT)


def _link(facts: NodeFacts, path: PathFacts) -> object:
    return next(iter(path.by_id), KEPT if "disk_links" in facts.failures else "")


def _pool_of(facts: NodeFacts) -> dict[str, str]:
    pools = facts.pools if known(facts.pools) else ()
    return {leaf.wwid: pool.name for pool in pools for leaf in _leaves(pool) if known(leaf.wwid)}


def _leaves(pool: PoolFacts) -> Iterator[VdevFacts]:
    tops = tuple(top for _, top in pool.tops) if known(pool.tops) else ()
    for vdev in (*tops, *pool.spares, *pool.caches):
        yield from vdev.leaves()


def _record_labels(node: Node, facts: tuple[DiskFacts, ...], disks: dict[str, Disk], at: datetime, changed: frozenset[str] | None) -> None:
    """Labels of the disks that are `changed`, or of all of the node's when that is None."""
    facts = tuple(disk for disk in facts if changed is None or disk.wwid in changed)
    among = () if changed is None else (Q(disk__wwid__in=changed),)
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
    for row in LabelSeen.objects.filter(NOW, node=node, disk__in=unread) if unread else ():
        current[row.disk_id, row.partition, row.pool_guid, row.vdev_guid, row.state] = {
            "pool": row.pool,
            "hostname": row.hostname,
            "txg": row.txg,
        }
    key = ("disk_id", "partition", "pool_guid", "vdev_guid", "state")
    intervals.record(LabelSeen, node, key, current, at, passing=("pool", "hostname", "txg"), among=among)


def _text(number: int | None) -> str:
    return "" if number is None else str(number)


def _record_leaves(node: Node, pools: tuple[PoolFacts, ...], at: datetime) -> None:
    """Of a pool with members whose guid is not known now nothing is concluded: what was written of it stands."""
    key = ("pool_guid", "vdev_guid")
    clear = tuple(pool for pool in pools if known(pool.guid) and all(known(leaf.guid) for leaf in _leaves(pool)))
    blurred = {pool.name for pool in pools if pool not in clear}
    among = (~Q(pool__in=blurred),) if blurred else ()
    intervals.record(LeafHistory, node, key, _leaf_states(clear), at, passing=("pool", "name"), before="state", among=among)


def _leaf_states(pools: tuple[PoolFacts, ...]) -> dict[tuple[str, str], dict[str, str]]:
    current: dict[tuple[str, str], dict[str, str]] = {}
    for pool in (pool for pool in pools if known(pool.guid)):
        for leaf in (leaf for leaf in _leaves(pool) if known(leaf.guid)):
            # A spare in use stands in the tree and again under "spares"; the tree comes first and says more.
            current.setdefault((str(pool.guid), str(leaf.guid)), {"pool": pool.name, "name": leaf.name, "state": leaf.state})
    return current

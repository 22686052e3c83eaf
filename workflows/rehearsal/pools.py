"""The pools of a twin, from the tree that `zpool status` printed and from what the labels on the disks say."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from agents.collectors import zdb_label as zdb_label_source
from agents.collectors import zdb_uberblocks as zdb_uberblocks_source
from twin import build, model
from twin.disk_names import part_name
from workflows.facts import ImportableFacts, NodeFacts, PoolFacts, ScanFacts, VdevFacts, known, suspects
from workflows.facts.read.sources import Sources
from workflows.rehearsal import lost_logs

KINDS = ("disk", "mirror", "raidz", "draid", "replacing", "spare")
CLASSES = ("data", "special", "dedup", "log")
AUX = {"corrupted data": "corrupt_data", "cannot open": "open_failed", "invalid label": "bad_label", "too many errors": "err_exceeded"}
SPARE, CACHE = 3, 4  # states of a label
ASHIFT = 12
NOTHING_FITS_BYTES = 1 << 60
HOLDS_BYTES = 1 << 20  # where it is not known. No pool holds nothing: a resilver of it writes at least its metadata


@dataclass(frozen=True)
class Carried:
    """One label, and the partition of the twin it stands on."""

    disk: model.Disk
    partition: model.Partition
    label: Any  # the collector's Label
    ring: tuple[tuple[int, int], ...] = ()  # txg and time of each uberblock; empty where they were not asked for


def add(node: model.Node, facts: NodeFacts, sources: Sources, gaps: list[str], at: float) -> dict[str, tuple[str, ...]]:
    """Gives the pools that no import reads, each with the disks that stand out in it."""
    damaged: dict[str, tuple[str, ...]] = {}
    carried = list(_carried(node, sources, gaps))
    for pool in facts.pools if known(facts.pools) else ():
        if made := _imported(pool, carried, gaps, at, node, _snapshots(pool)):
            node.pools.append(made)
    listed = {pool.guid: pool for pool in facts.importable} if known(facts.importable) else {}
    for guid in dict.fromkeys(each.label.pool_guid for each in carried if each.label.pool_guid is not None):
        if all(pool.guid != guid for pool in node.pools):
            _from_labels(node, facts, guid, [each for each in carried if each.label.pool_guid == guid], listed.get(guid), gaps, damaged)
    for each in carried:
        _put(node, each, gaps)
    for imported in node.imported:
        _suppose_labels(node, imported, gaps)
    return damaged


def _suppose_labels(node: model.Node, pool: model.Pool, gaps: list[str]) -> None:
    """A disk that the kernel took offline shows no label, but the pool still names it by its WWID."""
    here = {part.label.guid for disk in node.disks for part in disk.partitions if part.label}
    supposed = []
    for leaf in pool.leaves():
        disk = next((disk for disk in node.disks if build.by_id(disk) in leaf.path), None)
        if disk is None or leaf.guid in here or any(path.runs for path in disk.paths):
            continue
        if not disk.partitions:
            build.partition(disk)
        disk.partitions[0].label = model.Label(pool.name, leaf.guid, pool.txg)
        supposed.append(disk.paths[0].name)
    if supposed:
        names = ", ".join(supposed)
        gaps.append(f"Supposed: {names}: each carries the label that {pool.name} knows it by. It cannot be read while the disk is offline.")


def _carried(node: model.Node, sources: Sources, gaps: list[str]) -> Iterator[Carried]:
    for disk in node.disks:
        for path in [path for path in disk.paths if path.runs or disk.map is None][:1]:
            for number, where in ((0, path.name), *((p.number, part_name(path.name, p.number)) for p in disk.partitions)):
                reading = sources.read(zdb_label_source, where) if sources.has(f"zdb_label/{where}") else None
                for label in reading.labels if reading is not None and known(reading) else ():
                    if not number and disk.map is not None and disk.partition(0) is None:
                        build.partition(disk)
                    if (partition := disk.partition(number)) is not None:
                        yield Carried(disk, partition, label, _ring(sources, where))
                    else:
                        _unplayable(node, disk, gaps, f"{where} carries a label on the whole disk, which a twin cannot")


def _ring(sources: Sources, where: str) -> tuple[tuple[int, int], ...]:
    reading = sources.read(zdb_uberblocks_source, where) if sources.has(f"zdb_uberblocks/{where}") else ()
    return tuple(dict.fromkeys((u.txg, u.timestamp) for u in reading if not u.multihost)) if known(reading) else ()


def _unplayable(node: model.Node, disk: model.Disk, gaps: list[str], why: str) -> None:
    """What cannot be played must not look blank: the disk answers nothing instead."""
    if disk.wwid not in node.faults.hangs:
        node.faults.hangs.append(disk.wwid)
        gaps.append(f"{why}. {disk.paths[0].name} answers nothing in the rehearsal.")


# --- pools that are imported


def _imported(
    pool: PoolFacts, carried: list[Carried], gaps: list[str], at: float, node: model.Node, snapshots: list[model.Snapshot]
) -> model.Pool | None:
    if not known(pool.guid):
        gaps.append(f"The pool {pool.name} is left out: {pool.guid.reason}")
        return None
    if not known(pool.tops):
        gaps.append(f"The pool {pool.name} is left out: {pool.tops.reason}")
        return None
    mine = sorted((each.label for each in carried if each.label.pool_guid == pool.guid), key=lambda label: label.txg or 0)
    if strange := sorted({v.kind for _, top in pool.tops for v in top.walk()} - set(KINDS)):
        gaps.append(f"The pool {pool.name} is left out: a twin plays no {', '.join(strange)}.")
        return None
    if any(not known(v.guid) for v in (*(v for _, top in pool.tops for v in top.walk()), *pool.spares, *pool.caches)):
        gaps.append(f"The pool {pool.name} is left out, because the guids of its vdevs are not known.")
        return None
    trees = {tree.guid: tree for label in mine if label.tree for tree in _walk(label.tree)}
    tops = [_vdev(top, trees, pool, cls) for cls, top in pool.tops]
    _sized(tops, pool, gaps)
    tops.sort(key=lambda top: _id(trees, top))
    newest = mine[-1] if mine else None
    listed = pool.error_list.entries if known(pool.error_list) else ()
    made = model.Pool(
        name=pool.name,
        guid=pool.guid,
        tops=tops,
        hostid=newest.hostid if newest and newest.hostid is not None else int(node.hostid, 16),
        hostname=newest.hostname if newest and newest.hostname else node.hostname,
        txg=max((label.txg or 4 for label in mine), default=4),
        spares=[_aside(spare) for spare in pool.spares],
        caches=[_aside(cache) for cache in pool.caches],
        scan=_scan(pool.scans, at) if known(pool.scans) else None,
        suspended=_suspended(pool),
        data_errors=0 if listed else _data_errors(pool.errors),
        error_log=list(listed),
        snapshots=snapshots,
        alloc_bytes=(pool.space.pool.alloc_bytes if known(pool.space) else 0) or HOLDS_BYTES,
        readonly=known(pool.properties) and pool.properties.get("readonly") == "on",
        altroot=_given(pool, "altroot"),
        cachefile=_given(pool, "cachefile"),
        datasets=_datasets(pool),
    )
    for leaf in made.leaves():
        if leaf.resilver_txg == -1:
            leaf.resilver_txg = made.txg
    return made


def _sized(tops: list[model.Vdev], pool: PoolFacts, gaps: list[str]) -> None:
    """Without a label that says how large a vdev is, `zpool list` does; without that no new disk is large enough for it."""
    listed = {space.name: space.size_bytes for space in pool.space.vdevs} if known(pool.space) else {}
    for top in tops:
        if not top.asize:
            top.asize = listed.get(str(top.guid)) or NOTHING_FITS_BYTES
            top.metaslab_shift = build.metaslab_shift(top.asize)
            if top.asize == NOTHING_FITS_BYTES:
                gaps.append(f"How large the vdev {top.guid} of {pool.name} is was not reported, so no disk passes for large enough.")


def _id(trees: Mapping[int, Any], top: model.Vdev) -> int:
    tree = trees.get(top.guid)
    return tree.id if tree is not None and tree.id is not None else len(trees)


def _walk(tree: Any) -> Iterator[Any]:
    yield tree
    for child in tree.children:
        yield from _walk(child)


def _vdev(vdev: VdevFacts, trees: Mapping[int, Any], pool: PoolFacts, cls: str = "data") -> model.Vdev:
    guid = _guid(vdev)
    tree = trees.get(guid)
    made = model.Vdev(
        type=vdev.kind,
        guid=guid,
        children=[_vdev(child, trees, pool) for child in vdev.children],
        nparity=vdev.parity if vdev.kind in ("raidz", "draid") else 0,
        ndata=(tree.draid_ndata if tree else None) or _of_its_name(vdev, "d"),
        nspares=(tree.draid_nspares if tree else None) or _of_its_name(vdev, "s"),
        cls=cls,
        create_txg=(tree.create_txg if tree else None) or 4,
        ashift=(tree.ashift if tree else None) or (vdev.ashift if known(vdev.ashift) else 0) or ASHIFT,
        asize=(tree.asize if tree else None) or 0,
    )
    if made.asize:
        made.metaslab_shift = build.metaslab_shift(made.asize)
    if not vdev.children:
        _leaf(made, vdev, tree, pool)
    return made


def _of_its_name(vdev: VdevFacts, letter: str) -> int:
    """`draid2:4d:8c:1s-0`: 4 disks of data in a group, 8 children, 1 distributed spare."""
    found = re.search(rf":([0-9]+){letter}(?=[:-])", vdev.name) if vdev.kind == "draid" else None
    return int(found.group(1)) if found else 0


def _leaf(made: model.Vdev, vdev: VdevFacts, tree: Any, pool: PoolFacts) -> None:
    made.path = vdev.was or vdev.name
    made.not_present = vdev.was is not None
    made.devid, made.phys_path, made.enc_path = vdev.devid or "", vdev.phys_path or "", vdev.enc_path or ""
    made.whole_disk = 1 if tree is None or tree.whole_disk is not False else 0
    made.state = vdev.state
    made.aux = _aux(vdev, pool)
    made.errors = list(vdev.errors) if known(vdev.errors) else [0, 0, 0]
    made.deferred = vdev.awaiting_resilver
    if vdev.resilvering or vdev.rebuilding_since_txg is not None:
        made.resilver_txg = vdev.rebuilding_since_txg or -1


def _aux(vdev: VdevFacts, pool: PoolFacts) -> str:
    if vdev.state in ("ONLINE", "OFFLINE", "REMOVED"):
        return ""
    reason = next((aux for words, aux in AUX.items() if words in vdev.note), "")
    if reason or vdev.was is None:
        return reason
    return "corrupt_data" if vdev.state == "FAULTED" else "bad_label" if "label is missing" in pool.status else "open_failed"


def _guid(vdev: VdevFacts) -> int:
    """Of a vdev of a pool that is played: `_imported` leaves a pool out where one is not known."""
    if not known(vdev.guid):
        raise ValueError(f"The guid of {vdev.name} is not known: {vdev.guid.reason}")
    return vdev.guid


def _aside(leaf: VdevFacts) -> model.Vdev:
    """A hot spare, a spare spread over the disks of a draid, or a cache device."""
    kind = "dspare" if re.fullmatch("draid[1-3]-[0-9]+-[0-9]+", leaf.name) else "disk"
    path, absent = leaf.was or leaf.name, leaf.was is not None
    errors = list(leaf.errors) if known(leaf.errors) else [0, 0, 0]
    aux = next((aux for words, aux in AUX.items() if words in leaf.note), "")
    return model.Vdev(
        type=kind, guid=_guid(leaf), path=path, not_present=absent, state=leaf.state, aux=aux, errors=errors, devid=leaf.devid or ""
    )


def _suspended(pool: PoolFacts) -> str:
    if not known(pool.suspended) or not pool.suspended:
        return ""
    return "mmp" if "multihost" in pool.status else "io"


def _data_errors(line: str) -> int:
    found = re.match(r"([0-9]+) data errors", line)
    return int(found.group(1)) if found else 0


def _snapshots(pool: PoolFacts) -> list[model.Snapshot]:
    found = pool.snapshots if known(pool.snapshots) else ()
    return [
        model.Snapshot(s.name, s.guid, s.createtxg, s.created, s.holds, list(s.clones), s.used_bytes, s.referenced_bytes) for s in found
    ]


def _datasets(pool: PoolFacts) -> dict[str, dict[str, str]]:
    """Whether one is mounted the twin reads off the node's mounts."""
    values = pool.datasets.values if known(pool.datasets) else {}
    return {name: {key: value for key, value in of.items() if key != "mounted"} for name, of in values.items()}


def _given(pool: PoolFacts, name: str) -> str:
    """A property that was given at the import; "" where it has none."""
    value = pool.properties.get(name, "-") if known(pool.properties) else "-"
    return "" if value == "-" else value


# --- the scan


_SINCE = re.compile(r"(?:in progress since|started on) (.+)")
_PAUSED = re.compile(r"paused since (.+)")
_ENDED = re.compile(r"(?:resilvered|repaired) (\S+) in (?:([0-9]+) days )?([0-9]+):([0-9]+):([0-9]+) with ([0-9]+) errors on (.+)")
_SIZE = re.compile(r"([0-9.]+)([BKMGTPE]?)B?")
_TOTAL = re.compile(r"(?:/ ([0-9.]{1,20}[BKMGTPE]?B?) issued|([0-9.]{1,20}[BKMGTPE]?B?) total)")
_WRITTEN = re.compile(r"([0-9.]{1,20}[BKMGTPE]?B?) (?:resilvered|repaired)")


def _scan(scans: tuple[ScanFacts, ...], at: float) -> model.Scan | None:
    """The one that runs or is paused; else the last that ended. How long one takes in all follows from how far it is by now."""
    known_kinds = [scan for scan in scans if scan.function in ("resilver", "scrub")]
    running = next((scan for scan in known_kinds if scan.state in ("running", "paused")), None)
    if running is not None:
        since, total, written = _SINCE.search(running.text), _TOTAL.search(running.text), _WRITTEN.search(running.text)
        began = _moment(since.group(1), at) if since else at
        part = float(running.percent or 0) / 100
        amount = _bytes(total.group(1) or total.group(2)) if total else 0
        share = int(_bytes(written.group(1)) / part) if written and part else 0
        paused = _PAUSED.search(running.text) if running.state == "paused" else None
        turned = _moment(paused.group(1), at) if paused else at
        seconds = max(1.0, turned - began) / part if 0 < part < 1 else 30 * 86400.0
        scan = model.Scan(running.function, "running", began, seconds, amount, share)
        if running.state == "paused":
            scan.state, scan.turned_at, scan.done_before = "paused", turned, part
        return scan
    ended = next((scan for scan in known_kinds if scan.state == "finished"), None)
    found = _ENDED.search(ended.text) if ended else None
    if not ended or not found:
        return None
    days, hours, minutes, seconds = (int(part or 0) for part in found.groups()[1:5])
    took = ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    amount = _bytes(found.group(1))
    return model.Scan(ended.function, "finished", _moment(found.group(7), at) - took, took, amount, amount, errors=int(found.group(6)))


def _moment(text: str, otherwise: float) -> float:
    try:
        return datetime.strptime(" ".join(text.split()), "%a %b %d %H:%M:%S %Y").replace(tzinfo=UTC).timestamp()
    except ValueError:
        return otherwise


def _bytes(text: str) -> int:
    found = _SIZE.match(text)
    return int(float(found.group(1)) * (1 << 10 * "BKMGTPE".index(found.group(2) or "B"))) if found else 0


# --- pools of which there are only labels


def _from_labels(
    node: model.Node,
    facts: NodeFacts,
    guid: int,
    carried: list[Carried],
    listed: ImportableFacts | None,
    gaps: list[str],
    damaged: dict[str, tuple[str, ...]],
) -> None:
    newest = max((each.label for each in carried), key=lambda label: label.txg or 0)
    name = newest.name or str(guid)
    if any(pool.name == name for pool in node.pools):
        for each in carried:
            _unplayable(node, each.disk, gaps, f"Two pools are called {name}")
        return
    tops: dict[int, Any] = {}
    for label in sorted((each.label for each in carried), key=lambda label: label.txg or 0):
        if label.tree is not None:
            tops[label.tree.guid] = label.tree
    strange = {tree.type for top in tops.values() for tree in _walk(top)} - set(KINDS)
    if strange or not tops:
        for each in carried:
            _unplayable(
                node, each.disk, gaps, f"The labels of {name} name {', '.join(sorted(strange)) or 'no vdev'}, which a twin cannot play"
            )
        return
    common = _writer(carried)
    pool = model.Pool(
        name=name,
        guid=guid,
        tops=[_of_tree(tops[top], tops[top]) for top in sorted(tops, key=lambda top: tops[top].id or 0)],
        hostid=common[1],
        hostname=common[0],
        imported=False,
        alloc_bytes=HOLDS_BYTES,
        state=newest.state if newest.state in (0, 1, 2) else 0,
        txg=max((txg for each in carried for txg, _ in each.ring), default=newest.txg or 4),  # a label is written seldom
    )
    if listed is not None:
        lost_logs.suppose(pool, listed, gaps)
        _as_listed(node, pool, facts, listed, damaged)
    node.pools.append(pool)


def _writer(carried: list[Carried]) -> tuple[str, int]:
    """Who wrote most of its labels."""
    writers = [(each.label.hostname or "unknown", each.label.hostid or 0) for each in carried]
    return max(dict.fromkeys(writers), key=writers.count)


def _of_tree(tree: Any, top: Any) -> model.Vdev:
    made = model.Vdev(
        type=tree.type,
        guid=tree.guid,
        children=[_of_tree(child, top) for child in tree.children],
        nparity=tree.nparity or 0,
        ndata=tree.draid_ndata or 0,
        nspares=tree.draid_nspares or 0,
        create_txg=tree.create_txg or 4,
        ashift=tree.ashift or (ASHIFT if tree is top else 0),
        asize=tree.asize or 0,
        path=tree.path or "",
        devid=tree.devid or "",
        phys_path=tree.phys_path or "",
        enc_path=tree.enc_path or "",
        whole_disk=0 if tree.whole_disk is False else 1,
        not_present=tree.not_present,
        state="OFFLINE" if tree.offline else "REMOVED" if tree.removed else "FAULTED" if tree.faulted else "ONLINE",
        resilver_txg=tree.resilver_txg or 0,
    )
    if made.asize:
        made.metaslab_shift = build.metaslab_shift(made.asize)
    return made


def _as_listed(node: model.Node, pool: model.Pool, facts: NodeFacts, listed: ImportableFacts, damaged: dict[str, tuple[str, ...]]) -> None:
    text = " ".join(f"{listed.status} {listed.action}".split())
    elsewhere = re.search(r"exported from (\S+) \(hostid=([0-9a-f]+)\)", text)
    if elsewhere:
        pool.active_on = f"{elsewhere.group(1)} {elsewhere.group(2)}"
    if not _is_damaged(listed, text):
        return
    # Until a person says what is supposed, no import of it works: each disk stands in the way.
    pool.blocked_by = [disk.wwid for disk in node.disks]
    ahead = (s.disk.wwid for s in suspects(facts, pool.guid, listed) if s.diverges)
    damaged[pool.name] = tuple(wwid for wwid in ahead if known(wwid))


def _is_damaged(listed: ImportableFacts, text: str) -> bool:
    """A pool whose newest label another host wrote is listed with that instead of the damage; FAULTED says that it is there."""
    return "metadata is corrupted" in text or (listed.state == "FAULTED" and "last accessed by another system" in text)


# --- labels onto disks


def _put(node: model.Node, each: Carried, gaps: list[str]) -> None:
    label = each.label
    if label.pool_guid is None:
        pool = next((pool for pool in node.pools if any(one.guid == label.guid for one in (*pool.spares, *pool.caches))), None)
        if pool is None:
            what = "hot spare" if label.state == SPARE else "cache device" if label.state == CACHE else "device"
            _unplayable(node, each.disk, gaps, f"{each.disk.paths[0].name} is the {what} of a pool that is not known here")
            return
        each.partition.label = model.Label(pool.name, label.guid, pool.txg, list(label.copies))
        return
    pool = next((pool for pool in node.pools if pool.guid == label.pool_guid), None)
    if pool is None:
        _unplayable(node, each.disk, gaps, f"{each.disk.paths[0].name} carries a label of {label.name}, which is left out")
        return
    written = (label.hostname or "unknown", label.hostid or 0)
    own = (pool.hostname, pool.hostid)
    foreign = label.guid not in {vdev.guid for vdev in (*pool.walk(), *pool.spares, *pool.caches)}
    each.partition.label = model.Label(
        pool.name,
        label.guid,
        label.txg or 4,
        list(label.copies),
        writer="" if written == own else f"{written[0]} {written[1]:x}",
        top=_of_tree(label.tree, label.tree) if foreign and label.tree is not None else None,
        ring=[list(uberblock) for uberblock in each.ring],
    )
    if foreign and label.tree is None:
        each.partition.label = None
        _unplayable(node, each.disk, gaps, f"{each.disk.paths[0].name} carries a label without a vdev tree")

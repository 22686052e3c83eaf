"""Pools: the tree by name and the tree by guid become one, and the labels say which disk each leaf is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from agents.collectors import _scans as scans
from agents.collectors import kstat_pools as kstat_pools_source
from agents.collectors import node as node_source
from agents.collectors import zpool_get as zpool_get_source
from agents.collectors._rows import NOT_READ
from agents.collectors._vdevs import Vdev, first_line
from agents.collectors.base import Reading, UnreadLine
from agents.collectors.zpool_import import Importable
from agents.collectors.zpool_status import Pool, Scan
from workflows.facts.model import ImportableFacts, PoolFacts, ScanFacts, VdevFacts
from workflows.facts.read.labels import LabelIndex, Written, walk
from workflows.facts.read.sources import Sources
from workflows.facts.status_reasons import reason_of
from workflows.facts.unknown import Known, Unknown, derived, known, need

CLASSES = {"special": "special", "dedup": "dedup", "logs": "log"}  # section heading -> class of its top-level vdevs
IN_SERVICE = ("ONLINE", "DEGRADED")
NO_GUIDS = Unknown("zpool import prints no guids.")
NOTHING_WRITTEN = Written(None, None, None)

Resolve = Callable[[str], str | None]  # the path a pool opened a leaf under -> the disk's key, None when it leads nowhere
SCAN_LINE_SINCE = (2, 0)  # a pool that was never scanned has no scan: line; before, it says "none requested"
PARTED = ("mirror", "raidz", "draid", "replacing", "spare")  # kinds that have members
T = TypeVar("T")


@dataclass(frozen=True)
class Listed:
    """The pools of `zpool status`. `doubt` says why the list may lack one: then no guard may read it."""

    pools: Known[tuple[PoolFacts, ...]]
    doubt: Unknown | None = None
    unread: tuple[UnreadLine, ...] = ()

    def for_guards(self, pools: Known[tuple[PoolFacts, ...]]) -> Known[tuple[PoolFacts, ...]]:
        return pools if self.doubt is None or not known(pools) else self.doubt

    def partial(self, pools: Known[tuple[PoolFacts, ...]]) -> tuple[PoolFacts, ...]:
        return pools if self.doubt is not None and known(pools) else ()


def read_pools(sources: Sources, labels: LabelIndex, resolve: Resolve) -> Listed:
    """From the text by name and by guid; where there is no text, from the JSON of 2.3, which has both."""
    source, read = "zpool_status", sources.reading("zpool_status")
    if not sources.has("zpool_status") and known(json := sources.reading("zpool_status_json")) and json.value:
        source, read = "zpool_status_json", json
    if not known(read):
        return Listed(read)
    by_guid = sources.reading("zpool_status_guid")
    guids, doubt, release = _guids_by_source(sources), sources.doubt(source), _release(sources)
    pools = tuple(_pool(pool, _twin(pool, by_guid), guids.get(pool.name, {}), labels, resolve, doubt, release) for pool in read.value)
    why = Unknown(not_understood("The zpool status of this node", read.unread[0])) if read.unread else None
    if why is not None and not pools:
        return Listed(why, None, read.unread)
    return Listed(pools, why, read.unread)


def not_understood(what: str, line: UnreadLine) -> str:
    """Why something is not known, in a sentence."""
    shown = f": {line.line!r}" if line.line else ""
    return f"{what} was not understood in full: {line.reason.rstrip('.')}{shown}."


def read_importable(sources: Sources) -> tuple[Known[tuple[ImportableFacts, ...]], tuple[ImportableFacts, ...]]:
    """The pools of `zpool import` for guards, and what was understood of a listing that is unknown to them."""
    read = sources.reading("zpool_import")
    if not known(read):
        return read, ()
    listed, doubt = tuple(map(_importable, read.value)), sources.doubt("zpool_import")
    odd = next(iter(read.every_unread), None)
    if odd is not None:
        return Unknown(not_understood("The node's zpool import", odd)), listed
    return (Unknown(doubt), listed) if doubt else (listed, ())


def _importable(pool: Importable) -> ImportableFacts:
    return ImportableFacts(
        name=pool.name,
        guid=pool.guid or 0,
        state=pool.state,
        status=pool.status,
        action=pool.action,
        tops=_unjoined_tops(pool),
        destroyed=pool.destroyed,
        note=pool.vdevs.note,
        see=pool.see,
        comment=pool.comment,
        more_devices=pool.more_devices,
        features=pool.features,
        readonly_possible=pool.readonly_possible,
        hostname=pool.hostname,
        hostid=pool.hostid,
        caches=tuple(vdev.name for vdev in _section(pool, "cache")),
        spares=tuple(vdev.name for vdev in _section(pool, "spares")),
        unread=pool.unread,
    )


def _release(sources: Sources) -> tuple[int, int] | None:
    """Of the running module, where the node says it."""
    reading = sources.read(node_source)
    found = re.search(r"([0-9]{1,3})\.([0-9]{1,3})", (reading.zfs_module or "") if known(reading) else "")
    return (int(found.group(1)), int(found.group(2))) if found else None


@derived
def _twin(pool: Pool, by_guid: Known[Reading]) -> Known[Pool]:
    """The same pool in the run by guid. The two runs may fall to either side of a change; then no guid is sure."""
    found: list[Pool] = [other for other in need(by_guid).value if other.name == pool.name]
    if len(found) != 1:
        return Unknown(f"zpool status -g lists {pool.name} {len(found)} times.")
    odd = next((line for line in found[0].unread if line.field not in ("scan", "errors", "counters")), None)
    if odd is not None:
        return Unknown(not_understood(f"The zpool status -g of {pool.name}", odd))
    if _shape(pool) != _shape(found[0]):
        return Unknown(f"The two runs of zpool status show {pool.name} differently; it changed between them. Look again.")
    return found[0]


def _shape(pool: Pool) -> object:
    def of(vdev: Vdev) -> object:
        return (vdev.was, tuple(of(child) for child in vdev.children))

    return of(pool.vdevs), tuple((heading, tuple(of(v) for v in vdevs)) for heading, vdevs in pool.sections)


def _pool(
    pool: Pool,
    twin: Known[Pool],
    guids: Mapping[str, int],
    labels: LabelIndex,
    resolve: Resolve,
    doubt: str,
    release: tuple[int, int] | None,
) -> PoolFacts:
    claims = _claims(guids, labels.pool_guids(_guids(pool, twin)))
    guid = _pool_guid(claims, labels)

    def join(vdev: Vdev, other: Known[Vdev]) -> VdevFacts:
        children = tuple(join(child, theirs) for child, theirs in _pairs(vdev.children, other, lambda v: v.children))
        return _vdev(vdev, _guid(vdev, other), guid, labels, resolve, children)

    def section(heading: str) -> tuple[VdevFacts, ...]:
        pairs = _pairs(_section(pool, heading), twin, lambda t: _section(t, heading))
        return tuple(join(v, other) for v, other in pairs)

    data = [("data", join(v, other)) for v, other in _pairs(pool.vdevs.children, twin, lambda t: t.vdevs.children)]
    tops = (*data, *((CLASSES[heading], v) for heading in CLASSES for v in section(heading)))
    unread = (*pool.unread, *_without_members(tops))
    of_tree = next((line for line in unread if not (line.rounded and line.field == "scan")), None)
    of_rest = next((line for line in unread if line.field not in ("scan", "config", "errors", "counters")), None)
    blind = Unknown(doubt) if doubt else None
    looked = tuple(map(_scan, pool.scans))
    return PoolFacts(
        name=pool.name,
        guid=guid,
        state=pool.state,
        suspended=_sure_if(_suspended(pool), pool, of_rest),
        scans=blind if blind is not None else _unknown(pool, unread[0]) if unread else looked,
        tops=blind if blind is not None else tops if of_tree is None else _unknown(pool, of_tree),
        spares=section("spares"),
        caches=section("cache"),
        status=pool.status,
        action=pool.action,
        see=pool.see,
        errors=pool.errors or "",
        removing=_sure_if(_progress(pool.remove, "remove"), pool, of_rest),
        expanding=_sure_if(_progress(pool.expand, "expand"), pool, of_rest),
        checkpoint=_sure_if(bool(pool.checkpoint), pool, of_rest),
        removal_line=pool.remove,
        expansion_line=pool.expand,
        checkpoint_line=pool.checkpoint,
        disputed=claims if len({one for _, one in claims}) > 1 else (),
        partial_tops=() if of_tree is None and blind is None else tops,
        partial_scans=() if not unread and blind is None else looked,
        never_scanned=_never_scanned(pool, release),
        unread=unread,
        row_state=pool.vdevs.state,
        row_note=pool.vdevs.note,
    )


def _unknown(pool: Pool, odd: UnreadLine) -> Unknown:
    return Unknown(not_understood(f"The zpool status of {pool.name}", odd))


def _sure_if(value: Known[bool], pool: Pool, odd: UnreadLine | None) -> Known[bool]:
    """A line that was not understood may say what no other line says: then no is not known."""
    return value if odd is None or (known(value) and value) else _unknown(pool, odd)


_STOPPED = ("ZFS-8000-MM", "ZFS-8000-HC", "ZFS-8000-JQ")  # I/O failures and multihost, in the words of all releases


def _suspended(pool: Pool) -> bool:
    """By its state, or by what stands where the state hides it: `status:`, or the reason why damaged data could not be listed."""
    reason = reason_of(pool.status) if pool.status else None
    if pool.state == "SUSPENDED" or "suspended" in pool.status or (reason is not None and reason.id in _STOPPED):
        return True
    return "I/O is currently suspended" in first_line(pool.errors or "")  # below it stand names of files, which may hold any words


def _scan(scan: Scan) -> ScanFacts:
    return ScanFacts(
        scan.function,
        scan.state,
        scan.text,
        scan.percent,
        scan.errors,
        scan.eta,
        seconds_left=scans.seconds_left(scan.eta),
        began=scan.began or scans.began(scan.text),
        ended=scan.ended or scans.ended(scan.text),
        repaired=scan.repaired or scans.repaired(scan.text),
    )


def _never_scanned(pool: Pool, release: tuple[int, int] | None) -> Known[bool]:
    """Where no scan: line is printed that is an answer since 2.0 only; before, the line is missing."""
    if pool.scans:
        return all(scan.state == "none" for scan in pool.scans)
    if any(line.field in ("", "scan") for line in pool.unread):
        return Unknown(f"The scan: line of {pool.name} was not understood.")
    if release is not None and release >= SCAN_LINE_SINCE:
        return True
    return Unknown(f"zpool status printed no scan: line for {pool.name}: it was never scanned, or the line was left out.")


def _without_members(tops: tuple[tuple[str, VdevFacts], ...]) -> Iterator[UnreadLine]:
    """A vdev of a kind that has members, and none is shown: the rows below it are missing."""
    for _, top in tops:
        for vdev in top.walk():
            if vdev.kind in PARTED and not vdev.children:
                yield UnreadLine(vdev.name, "config", "its members are not shown, so rows are missing")


def _section(pool: Pool | Importable, heading: str) -> tuple[Vdev, ...]:
    sections: dict[str, tuple[Vdev, ...]] = dict(pool.sections)
    return sections.get(heading, ())


def _pairs(vdevs: tuple[Vdev, ...], twin: Known[T], of: Callable[[T], tuple[Vdev, ...]]) -> Iterator[tuple[Vdev, Known[Vdev]]]:
    """Each vdev with its twin from the run by guid, by the order of the lines. The shapes were compared before."""
    yield from zip(vdevs, of(twin) if known(twin) else [twin] * len(vdevs), strict=True)


def _claims(guids: Mapping[str, int], by_label: frozenset[int]) -> tuple[tuple[str, int], ...]:
    """Who says which guid of the pool."""
    return (*guids.items(), *(("the labels of its disks", guid) for guid in sorted(by_label)))


def _pool_guid(claims: tuple[tuple[str, int], ...], labels: LabelIndex) -> Known[int]:
    """What all sources agree on. Where they differ none is accepted: two pools may have had one name, or a disk is another pool's."""
    guids = {guid for _, guid in claims}
    if len(guids) > 1:
        return Unknown(f"The pool has different guids by its sources: {', '.join(f'{guid} by {who}' for who, guid in claims)}. Look again.")
    return guids.pop() if guids else Unknown(f"No label of its disks could be read. {labels.blind}".rstrip())


def _guids_by_source(sources: Sources) -> dict[str, dict[str, int]]:
    """The guids that ZFS itself says, by pool and by source: the kernel's statistics (since 2.2), the JSON (2.3), `zpool get` (always)."""
    found: dict[str, dict[str, int]] = {}
    kernel, json = sources.read(kstat_pools_source), sources.reading("zpool_status_json")
    for who, pools in (
        ("the kernel's statistics", kernel.pools if known(kernel) else ()),
        ("zpool status -j", json.value if known(json) else ()),
    ):
        for pool in pools:
            if pool.guid is not None:
                found.setdefault(pool.name, {})[who] = pool.guid
    properties = sources.read(zpool_get_source)
    for one in properties if known(properties) else ():
        if one.name == "guid" and re.fullmatch(r"[0-9]{1,20}", one.value):
            found.setdefault(one.pool, {})["zpool get"] = int(one.value)
    return found


def _guid(vdev: Vdev, twin: Known[Vdev]) -> Known[int]:
    if vdev.guid is not None:
        return vdev.guid
    if not known(twin):
        # An absent leaf is printed by its guid in the run by name, too.
        return int(vdev.name) if vdev.was is not None and re.fullmatch(r"[0-9]{1,20}", vdev.name) else twin
    return int(twin.name) if re.fullmatch(r"[0-9]{1,20}", twin.name) else Unknown(f"zpool status -g prints {twin.name!r} for {vdev.name}.")


def _guids(pool: Pool, twin: Known[Pool]) -> Iterator[int]:
    """Every guid below the root, whose own guid -g does not print."""
    for top in (*pool.vdevs.children, *(v for _, vdevs in pool.sections for v in vdevs)):
        yield from (v.guid for v in walk(top) if v.guid is not None)
    if known(twin):
        for top in (*twin.vdevs.children, *(v for _, vdevs in twin.sections for v in vdevs)):
            yield from (int(v.name) for v in walk(top) if v.name.isascii() and v.name.isdigit())


def _vdev(
    vdev: Vdev, guid: Known[int], pool_guid: Known[int], labels: LabelIndex, resolve: Resolve, children: tuple[VdevFacts, ...]
) -> VdevFacts:
    written = labels.written.get((pool_guid, guid), NOTHING_WRITTEN) if known(guid) and known(pool_guid) else NOTHING_WRITTEN
    kind, parity = _kind(vdev.name, bool(children))
    return VdevFacts(
        guid=guid,
        name=vdev.name,
        kind=kind,
        parity=parity,
        state=vdev.state,
        errors=vdev.errors or _no_counters(vdev),
        note=vdev.note,
        children=children,
        was=vdev.was,
        resilvering=vdev.resilvering,
        awaiting_resilver=vdev.awaiting_resilver,
        wwid=Unknown("It is no disk.") if children else _wwid(vdev, guid, pool_guid, labels, resolve),
        devid=written.devid,
        ashift=Unknown("No label of it gives its ashift.") if written.ashift is None else written.ashift,
        rebuilding_since_txg=written.filling_since_txg,
        phys_path=written.phys_path,
        enc_path=written.enc_path,
        rounded=vdev.printed,
        slow=vdev.slow,
        columns=vdev.columns,
    )


def _no_counters(vdev: Vdev) -> Unknown:
    if vdev.printed:
        return Unknown(f"The error counters of {vdev.name} are rounded: {' '.join(vdev.printed)}. zpool status -p prints them whole.")
    return Unknown("No counters are printed for it.")


def _wwid(vdev: Vdev, guid: Known[int], pool_guid: Known[int], labels: LabelIndex, resolve: Resolve) -> Known[str]:
    """The disk whose label carries this guid. For a leaf in service, the name it was opened under must lead there too."""
    if not known(guid):
        return guid
    disks = labels.disks(guid, pool_guid if known(pool_guid) else None)
    if len(disks) > 1:
        return Unknown(f"{len(disks)} disks carry the label of {guid}: {', '.join(sorted(disks))}.")
    if not disks:
        return labels.absent(guid)
    (disk,) = disks
    opened = resolve(vdev.name) if vdev.state in IN_SERVICE else None
    if opened is not None and opened != disk:
        return Unknown(f"{vdev.name} leads to {opened}, but the label of {guid} is on {disk}. Look again.")
    return disk if ":" in disk else Unknown(f"The disk {disk} gives no WWID.")


def _kind(name: str, has_children: bool = False) -> tuple[str, int]:
    """The kind by its name, and the parity. What is no other kind is a leaf: a path, a device name or a guid."""
    if name == NOT_READ or (has_children and name.isdigit()):
        return "other", 0  # its row is missing; or it is named by its guid, which says nothing of its kind
    if has_children and "-" not in name:
        name = f"{name}-0"  # OpenSolaris does not number them
    match = re.fullmatch(r"(mirror|raidz|draid|replacing|spare|indirect|missing|hole)([1-3]?)(?::\S+)?-[0-9]+", name)
    if match is None:
        return ("file" if name.startswith("/") and not name.startswith("/dev/") else "disk"), 0
    kind = "other" if match.group(1) in ("missing", "hole") else match.group(1)
    return kind, int(match.group(2) or 1) if kind in ("raidz", "draid") else 0


def _progress(text: str, what: str) -> Known[bool]:
    """Whether a `remove:` or `expand:` entry is about something that is not over."""
    if not text or re.search(r"completed|canceled|expanded", text):
        return False
    return True if "in progress" in text else Unknown(f"The {what}: line says {text.splitlines()[0]!r}.")


def _unjoined_tops(pool: Importable) -> tuple[tuple[str, VdevFacts], ...]:
    def plain(vdev: Vdev) -> VdevFacts:
        kind, parity = _kind(vdev.name, bool(vdev.children))
        children = tuple(plain(child) for child in vdev.children)
        return VdevFacts(
            NO_GUIDS, vdev.name, kind, parity, vdev.state, Unknown("zpool import prints no counters."), vdev.note, children, vdev.was
        )

    tops = [("data", plain(v)) for v in pool.vdevs.children]
    return (*tops, *((CLASSES[heading], plain(v)) for heading, vdevs in pool.sections if heading in CLASSES for v in vdevs))

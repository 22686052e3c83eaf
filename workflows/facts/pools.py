"""Pools: the tree by name and the tree by guid become one, and the labels say which disk each leaf is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from workflows.facts.labels import LabelIndex, Written
from workflows.facts.model import ImportableFacts, Known, PoolFacts, ScanFacts, Unknown, VdevFacts, known
from workflows.facts.sources import Sources

CLASSES = {"special": "special", "dedup": "dedup", "logs": "log"}  # section heading -> class of its top-level vdevs
IN_SERVICE = ("ONLINE", "DEGRADED")
NO_GUIDS = Unknown("zpool import prints no guids.")
NOTHING_WRITTEN = Written(None, None, None)

Resolve = Callable[[str], str | None]  # the path a pool opened a leaf under -> the disk's key, None when it leads nowhere


def read_pools(sources: Sources, labels: LabelIndex, resolve: Resolve) -> Known[tuple[PoolFacts, ...]]:
    named, by_guid = sources.read("zpool_status"), sources.read("zpool_status_guid")
    if not known(named):
        return named
    said = _said_guids(sources)
    return tuple(_pool(pool, _twin(pool, by_guid), said.get(pool.name, {}), labels, resolve) for pool in named)


def read_importable(sources: Sources) -> Known[tuple[ImportableFacts, ...]]:
    said = sources.read("zpool_import")
    if not known(said):
        return said
    return tuple(
        ImportableFacts(p.name, p.guid, p.state, p.status, p.action, _unjoined_tops(p), p.destroyed, p.vdevs.note, p.more_devices)
        for p in said
    )


def _twin(pool: Any, by_guid: Known[Any]) -> Known[Any]:
    """The same pool in the run by guid. The two runs may fall to either side of a change; then no guid is sure."""
    if not known(by_guid):
        return by_guid
    found = [other for other in by_guid if other.name == pool.name]
    if len(found) != 1:
        return Unknown(f"zpool status -g lists {pool.name} {len(found)} times.")
    if _shape(pool) != _shape(found[0]):
        return Unknown(f"The two runs of zpool status show {pool.name} differently; it changed between them. Look again.")
    return found[0]


def _shape(pool: Any) -> Any:
    def of(vdev: Any) -> Any:
        return (vdev.was, tuple(of(child) for child in vdev.children))

    return of(pool.vdevs), tuple((heading, tuple(of(v) for v in vdevs)) for heading, vdevs in pool.sections)


def _pool(pool: Any, twin: Known[Any], said: Mapping[str, int], labels: LabelIndex, resolve: Resolve) -> PoolFacts:
    told = _told(said, labels.pool_guids(_guids(twin)))
    guid = _pool_guid(told, labels)

    def join(vdev: Any, other: Known[Any]) -> VdevFacts:
        children = tuple(join(child, theirs) for child, theirs in _pairs(vdev.children, other, lambda v: v.children))
        return _vdev(vdev, _guid(vdev, other), guid, labels, resolve, children)

    def section(heading: str) -> tuple[VdevFacts, ...]:
        pairs = _pairs(_section(pool, heading), twin, lambda t: _section(t, heading))
        return tuple(join(v, other) for v, other in pairs)

    tops = [("data", join(v, other)) for v, other in _pairs(pool.vdevs.children, twin, lambda t: t.vdevs.children)]
    return PoolFacts(
        name=pool.name,
        guid=guid,
        state=pool.state,
        suspended=pool.state == "SUSPENDED" or "suspended" in pool.status or "in response to IO failures" in pool.status,
        scans=tuple(ScanFacts(s.function, s.state, s.text, s.percent, s.errors, s.eta) for s in pool.scans),
        tops=(*tops, *((CLASSES[heading], v) for heading in CLASSES for v in section(heading))),
        spares=section("spares"),
        caches=section("cache"),
        status=pool.status,
        action=pool.action,
        see=pool.see,
        errors=pool.errors,
        removing=_progress(pool.remove, "remove"),
        expanding=_progress(pool.expand, "expand"),
        checkpoint=bool(pool.checkpoint),
        disputed=told if len({one for _, one in told}) > 1 else (),
    )


def _section(pool: Any, heading: str) -> tuple:
    return dict(pool.sections).get(heading, ())


def _pairs(vdevs: tuple, twin: Known[Any], of: Callable[[Any], tuple]) -> Iterator[tuple[Any, Known[Any]]]:
    """Each vdev with its twin from the run by guid, by the order of the lines. The shapes were compared before."""
    yield from zip(vdevs, of(twin) if known(twin) else [twin] * len(vdevs), strict=True)


def _told(said: Mapping[str, int], by_label: frozenset[int]) -> tuple[tuple[str, int], ...]:
    """Who says which guid of the pool."""
    return (*said.items(), *(("the labels of its disks", guid) for guid in sorted(by_label)))


def _pool_guid(told: tuple[tuple[str, int], ...], labels: LabelIndex) -> Known[int]:
    """What all sources agree on. Where they differ nobody is believed: two pools may have had one name, or a disk is another pool's."""
    guids = {guid for _, guid in told}
    if len(guids) > 1:
        return Unknown(f"The pool has different guids by its sources: {', '.join(f'{guid} by {who}' for who, guid in told)}. Look again.")
    return guids.pop() if guids else Unknown(f"No label of its disks could be read. {labels.blind}".rstrip())


def _said_guids(sources: Sources) -> dict[str, dict[str, int]]:
    """The guids that ZFS itself says, by pool and by source: the kernel's statistics (since 2.2), the JSON (2.3), `zpool get` (always)."""
    found: dict[str, dict[str, int]] = {}
    for source, who in (("kstat_pools", "the kernel's statistics"), ("zpool_status_json", "zpool status -j")):
        said = sources.read(source)
        for pool in (said.pools if source == "kstat_pools" else said) if known(said) else ():
            if pool.guid is not None:
                found.setdefault(pool.name, {})[who] = pool.guid
    properties = sources.read("zpool_get")
    for one in properties if known(properties) else ():
        if one.name == "guid" and re.fullmatch(r"[0-9]{1,20}", one.value):
            found.setdefault(one.pool, {})["zpool get"] = int(one.value)
    return found


def _guid(vdev: Any, twin: Known[Any]) -> Known[int]:
    if not known(twin):
        # An absent leaf is printed by its guid in the run by name, too.
        return int(vdev.name) if vdev.was is not None and re.fullmatch(r"[0-9]{1,20}", vdev.name) else twin
    return int(twin.name) if re.fullmatch(r"[0-9]{1,20}", twin.name) else Unknown(f"zpool status -g prints {twin.name!r} for {vdev.name}.")


def _guids(twin: Known[Any]) -> Iterator[int]:
    """Every guid below the root, whose own guid -g does not print."""
    if known(twin):
        for top in (*twin.vdevs.children, *(v for _, vdevs in twin.sections for v in vdevs)):
            yield from (int(v.name) for v in _walk(top) if v.name.isascii() and v.name.isdigit())


def _walk(vdev: Any) -> Iterator[Any]:
    yield vdev
    for child in vdev.children:
        yield from _walk(child)


def _vdev(vdev: Any, guid: Known[int], pool_guid: Known[int], labels: LabelIndex, resolve: Resolve, children: tuple) -> VdevFacts:
    written = labels.written.get((pool_guid, guid), NOTHING_WRITTEN) if known(guid) and known(pool_guid) else NOTHING_WRITTEN
    kind, parity = _kind(vdev.name)
    return VdevFacts(
        guid=guid,
        name=vdev.name,
        kind=kind,
        parity=parity,
        state=vdev.state,
        errors=vdev.errors or Unknown("No counters are printed for it."),
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
    )


def _wwid(vdev: Any, guid: Known[int], pool_guid: Known[int], labels: LabelIndex, resolve: Resolve) -> Known[str]:
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


def _kind(name: str) -> tuple[str, int]:
    """The kind that a name tells, and the parity. What is no other kind is a leaf: a path, a device name or a guid."""
    match = re.fullmatch(r"(mirror|raidz|draid|replacing|spare|indirect|missing|hole)([1-3]?)(?::\S+)?-[0-9]+", name)
    if match is None:
        return ("file" if name.startswith("/") and not name.startswith("/dev/") else "disk"), 0
    kind = "other" if match.group(1) in ("missing", "hole") else match.group(1)
    return kind, int(match.group(2) or 1) if kind in ("raidz", "draid") else 0


def _progress(text: str, what: str) -> Known[bool]:
    """Whether a `remove:` or `expand:` entry speaks of something that is not over."""
    if not text or re.search(r"completed|canceled|expanded", text):
        return False
    return True if "in progress" in text else Unknown(f"The {what}: line says {text.splitlines()[0]!r}.")


def _unjoined_tops(pool: Any) -> tuple[tuple[str, VdevFacts], ...]:
    def plain(vdev: Any) -> VdevFacts:
        kind, parity = _kind(vdev.name)
        children = tuple(plain(child) for child in vdev.children)
        return VdevFacts(
            NO_GUIDS, vdev.name, kind, parity, vdev.state, Unknown("zpool import prints no counters."), vdev.note, children, vdev.was
        )

    tops = [("data", plain(v)) for v in pool.vdevs.children]
    return (*tops, *((CLASSES[heading], plain(v)) for heading, vdevs in pool.sections if heading in CLASSES for v in vdevs))

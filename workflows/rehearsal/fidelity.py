"""Is the twin what the node reported? Compared by what runbooks ask: pools with their trees and labels, disks, bays, imports.

A twin that differs is not played silently: where the pool of the run is concerned nothing is played at all, elsewhere it is said.
"""

from collections.abc import Iterator
from typing import Any

from workflows.facts import DiskFacts, Known, NodeFacts, PoolFacts, Unknown, VdevFacts, known

DIFFERENCES_MAX = 8  # more would hide the first


def of_the_pool(real: NodeFacts, twin: NodeFacts, pool_guid: str) -> tuple[str, ...]:
    """How the twin's pool differs from the node's; empty when there is no difference that matters."""
    return tuple(_pool_differs(real, twin, pool_guid))[:DIFFERENCES_MAX]


def elsewhere(real: NodeFacts, twin: NodeFacts) -> tuple[str, ...]:
    """How disks and bays differ."""
    found = [*_versions(real, twin), *_disks(real, twin), *_bays(real, twin)]
    return (*found[:DIFFERENCES_MAX], *([f"{len(found) - DIFFERENCES_MAX} more differ."] if len(found) > DIFFERENCES_MAX else ()))


def _pool_differs(real: NodeFacts, twin: NodeFacts, guid: str) -> Iterator[str]:
    mine, theirs = _imported(real, guid), _imported(twin, guid)
    if (mine is None) != (theirs is None):
        yield f"On {real.node} the pool is {'not ' if mine is None else ''}imported, on the twin it is{' not' if theirs is None else ''}."
    elif mine is not None and theirs is not None:
        yield from _trees(mine, theirs)
    listed, played = _listed(real, guid), _listed(twin, guid)
    if listed != played:
        yield f"`zpool import` lists it as {listed or 'nothing'} on {real.node}, and as {played or 'nothing'} on the twin."


def _imported(node: NodeFacts, guid: str) -> PoolFacts | None:
    pools = node.pools if known(node.pools) else ()
    return next((pool for pool in pools if known(pool.guid) and str(pool.guid) == guid), None)


def _listed(node: NodeFacts, guid: str) -> str:
    pools = node.importable if known(node.importable) else ()
    return ", ".join(f"{pool.name} {pool.state}" for pool in pools if str(pool.guid) == guid)


def _trees(mine: PoolFacts, theirs: PoolFacts) -> Iterator[str]:
    if mine.state != theirs.state:
        yield f"{mine.name} is {mine.state} on the node and {theirs.state} on the twin."
    for what in ("suspended", "removing", "expanding", "checkpoint"):
        if _value(getattr(mine, what)) != _value(getattr(theirs, what)):
            yield f"{mine.name}: {what} is not the same on the node and on the twin."
    here, there = _rows(mine), _rows(theirs)
    for guid in sorted(here.keys() | there.keys(), key=str):
        if here.get(guid) != there.get(guid):
            yield f"The vdev {guid} is {_shown(here.get(guid))} on the node and {_shown(there.get(guid))} on the twin."


def _rows(pool: PoolFacts) -> dict[Any, tuple[object, ...]]:
    tops = pool.tops if known(pool.tops) else ()
    found = {_value(v.guid): (cls, *_row(v)) for cls, top in tops for v in top.walk()}
    beside = (("spare", pool.spares), ("cache", pool.caches))
    return found | {_value(leaf.guid): (what, leaf.state) for what, leaves in beside for leaf in leaves}


def _row(vdev: VdevFacts) -> tuple[object, ...]:
    children = tuple(_value(child.guid) for child in vdev.children)
    return (vdev.kind, vdev.parity, vdev.state, vdev.was or "", _value(vdev.wwid) if not vdev.children else "", children)


def _shown(row: tuple[object, ...] | None) -> str:
    return "not there" if row is None else " ".join(str(part) for part in row if part and not isinstance(part, tuple))


def _value(fact: Known[Any]) -> Any:
    return "unknown" if isinstance(fact, Unknown) else fact


def _versions(real: NodeFacts, twin: NodeFacts) -> Iterator[str]:
    for what, name in (("hostid", "hostid"), ("zfs_userland", "version of the ZFS tools"), ("zfs_module", "version of the ZFS module")):
        if _value(getattr(real, what)) != _value(getattr(twin, what)):
            yield f"The {name} is {_value(getattr(real, what))} on the node and {_value(getattr(twin, what))} on the twin."


def _disks(real: NodeFacts, twin: NodeFacts) -> Iterator[str]:
    here, there = _by_wwid(real), _by_wwid(twin)
    for wwid in sorted(here):
        if wwid not in there:
            yield f"{' and '.join(here[wwid].names)} ({wwid}) is not on the twin."
        elif what := _differing(here[wwid], there[wwid]):
            yield f"{' and '.join(here[wwid].names)} ({wwid}) has another {', '.join(what)} on the twin."


def _by_wwid(node: NodeFacts) -> dict[str, DiskFacts]:
    return {disk.wwid: disk for disk in (node.disks if known(node.disks) else ()) if known(disk.wwid)}


def _differing(here: DiskFacts, there: DiskFacts) -> list[str]:
    plain = ("serial", "size_bytes", "logical_block_bytes", "in_use", "names")
    found = [what.replace("_", " ") for what in plain if _differs(getattr(here, what), getattr(there, what))]
    return found + (["label"] if known(here.labels) and _labels(here) != _labels(there) else [])


def _differs(here: Any, there: Any) -> bool:
    """What the node did not say, the twin may say as it likes: the node's own words stand until something changes."""
    return not isinstance(here, Unknown) and here != _value(there)


def _labels(disk: DiskFacts) -> Any:
    return {(label.pool_guid, label.guid, label.state) for label in disk.labels} if known(disk.labels) else "unknown"


def _bays(real: NodeFacts, twin: NodeFacts) -> Iterator[str]:
    here, there = ({(b.enclosure_id, b.slot, b.device) for b in node.bays} if known(node.bays) else set() for node in (real, twin))
    if here != there:
        yield f"{len(here ^ there)} bays are not on the twin as they are on the node."

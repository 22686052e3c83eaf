"""What two nodes may have to do with each other: the same disk, pool, label, host or enclosure.

Whoever detects situations on one node needs the facts of those it touches, and of those they touch. A detector that relates
nodes by anything else needs that named here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from workflows.facts.lookup import pool_leaves
from workflows.facts.model import DiskFacts, NodeFacts, known


def touches(node: NodeFacts) -> frozenset[str]:
    """Everything on this node that another node may have too."""
    return frozenset(_named(node))


def reach(start: Iterable[str], by_node: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """The nodes of `by_node` that touch one of the things in `start`, and all that those touch in turn."""
    found: set[str] = set()
    things, fresh = set(start), True
    while fresh:
        fresh = {name for name, theirs in by_node.items() if name not in found and not things.isdisjoint(theirs)}
        found |= fresh
        things.update(*(by_node[name] for name in fresh))
    return frozenset(found)


def _named(node: NodeFacts) -> Iterator[str]:
    yield f"node {node.node}"
    yield from (f"hostid {value}" for value in (node.hostid,) if known(value))
    yield from (f"hostname {value}" for value in (node.hostname,) if known(value))
    for disk in node.disks if known(node.disks) else ():
        yield from _of_disk(disk)
    for pool in node.pools if known(node.pools) else ():
        yield from (f"pool {guid}" for guid in (pool.guid,) if known(guid))
        yield from (f"disk {leaf.wwid}" for _, leaf in pool_leaves(pool) if known(leaf.wwid))
    yield from (f"pool {pool.guid}" for pool in (node.importable if known(node.importable) else ()))
    yield from (f"enclosure {bay.enclosure_id}" for bay in (node.bays if known(node.bays) else ()))


def _of_disk(disk: DiskFacts) -> Iterator[str]:
    if known(disk.wwid):
        yield f"disk {disk.wwid}"
    if known(disk.serial):
        yield f"serial {disk.serial}"
    for label in disk.labels if known(disk.labels) else ():
        yield f"pool {label.pool_guid}" if label.pool_guid is not None else f"vdev {label.guid}"

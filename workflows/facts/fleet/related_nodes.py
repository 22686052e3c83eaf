"""What two nodes may have to do with each other: the same disk, pool, label, host or enclosure.

Whoever detects situations on one node needs the facts of those it touches, and of those they touch. A detector that relates
nodes by anything else needs that named here. A guard needs more: a node that cannot say what it touches may touch anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from agents.domain.wwid import normalise, strip_partition
from workflows.facts.lookup import pool_leaves
from workflows.facts.model import DiskFacts, NodeFacts, PoolFacts
from workflows.facts.unknown import known

BLIND = "any disk"  # what a node may touch that does not say which disks it sees
NAMELESS = "a disk of any size"  # the same for one disk that reports neither its name nor its size
KINDS_OF_WORDS = ("node", "pool", "vdev", "disk", "serial", "hostname", "enclosure", "pool named")


def touches(node: NodeFacts) -> frozenset[str]:
    """Everything on this node that another node may have too."""
    return frozenset(_named(node))


def doubts(node: NodeFacts) -> frozenset[str]:
    """What this node may touch besides, for all that is known. A check that no other node has a thing must see it too."""
    return frozenset(_doubted(node))


def questions(node: NodeFacts) -> frozenset[str]:
    """What must be asked of all nodes before anything about this one is called safe: doubts that could be about it, and who it names."""
    return frozenset((BLIND, NAMELESS, *_asked(node)))


def named_in(words: Iterable[str]) -> frozenset[str]:
    """Everything that these texts may name: what a run is about, and what a person typed or scanned."""
    return frozenset(thing for text in words for word in _words(text) for thing in _may_name(word))


def _words(text: str) -> set[str]:
    return {text.strip(), *text.split(), *re.split(r"[\s:/]+", text)} - {""}


def _may_name(word: str) -> Iterator[str]:
    yield from (f"{kind} {word}" for kind in KINDS_OF_WORDS)
    if (wwid := normalise(word)) is not None:
        yield f"disk {wwid}"


def _named(node: NodeFacts) -> Iterator[str]:
    yield f"node {node.node}"
    yield from (f"hostid {value}" for value in (node.hostid,) if known(value))
    yield from (f"hostname {value}" for value in (node.hostname,) if known(value))
    for disk in node.disks if known(node.disks) else ():
        yield from _of_disk(disk)
    for pool in node.pools if known(node.pools) else ():
        yield from _of_pool(pool)
    yield from (f"pool {pool.guid}" for pool in node.importable_read)
    yield from (f"enclosure {bay.enclosure_id}" for bay in (node.bays if known(node.bays) else ()))


def _of_pool(pool: PoolFacts) -> Iterator[str]:
    yield from (f"pool {guid}" for guid in (pool.guid,) if known(guid))
    for role, leaf in pool_leaves(pool):
        if known(leaf.wwid):
            yield f"disk {leaf.wwid}"
        elif leaf.name.startswith("/dev/disk/by-id/") and (wwid := normalise(strip_partition(leaf.name)[0])) is not None:
            yield f"disk {wwid}"  # ZFS has it open under this name, though no label was joined
        if role in ("spare", "cache") and known(leaf.guid):
            yield f"vdev {leaf.guid}"  # its label names no pool


def _of_disk(disk: DiskFacts) -> Iterator[str]:
    if known(disk.wwid):
        yield f"disk {disk.wwid}"
    if known(disk.serial):
        yield f"serial {disk.serial}"
    for label in disk.labels if known(disk.labels) else ():
        yield f"pool {label.pool_guid}" if label.pool_guid is not None else f"vdev {label.guid}"


def _doubted(node: NodeFacts) -> Iterator[str]:
    if not known(node.disks):
        yield BLIND
    for disk in node.disks if known(node.disks) else ():
        if not known(disk.wwid):
            yield _of_size(disk)
    for pool in node.pools if known(node.pools) else ():
        if not known(pool.guid):
            yield f"pool named {pool.name}"


def _asked(node: NodeFacts) -> Iterator[str]:
    for disk in node.disks if known(node.disks) else ():
        yield _of_size(disk)
        for label in disk.labels if known(disk.labels) else ():
            yield from (f"hostid {label.hostid:08x}" for _ in (1,) if label.hostid is not None)
    for pool in node.pools if known(node.pools) else ():
        yield f"pool named {pool.name}"


def _of_size(disk: DiskFacts) -> str:
    return f"a disk of {disk.size_bytes} bytes" if known(disk.size_bytes) else NAMELESS

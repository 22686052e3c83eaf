"""Disks of a node that could take the place of a member beside it: blank, unused, where a person can find them, large enough.

Only a pre-selection, so that a situation offers no runbook for which there is no disk; the run asks everything of the disk that is chosen.
"""

from collections.abc import Iterator

from workflows.facts import DiskFacts, NodeFacts, VdevFacts, known, lookup


def beside(node: NodeFacts, top: VdevFacts, leaf: VdevFacts, *, scanned: bool = False) -> tuple[DiskFacts, ...]:
    """Those that no check here refuses; what is not known refuses. `scanned`: the run has a person scan a disk whose bay is not known."""
    needed = _smallest(node, top, leaf)
    if needed is None:
        return ()
    return tuple(disk for disk in free(node, scanned=scanned) if known(disk.size_bytes) and disk.size_bytes >= needed)


def free(node: NodeFacts, *, scanned: bool = False) -> tuple[DiskFacts, ...]:
    """Blank disks that no pool has, whatever their size."""
    if not lookup.trees_known(node):
        return ()
    taken = {lookup.wwid_of(one) for pool in node.pools_read for _, one in lookup.pool_leaves(pool)}
    return tuple(disk for disk in _blank(node) if disk.wwid not in taken and (known(disk.bay) or (scanned and _in_no_bay(node, disk))))


def _in_no_bay(node: NodeFacts, disk: DiskFacts) -> bool:
    """Where the node itself takes a disk without a bay, see `_bay` of agents/operations/_new_disk.py."""
    return not (known(node.bays) and node.bays) or all(name.startswith("nvme") for name in disk.names)


def _blank(node: NodeFacts) -> Iterator[DiskFacts]:
    for disk in node.disks if known(node.disks) else ():
        named = known(disk.wwid) and known(disk.serial)
        empty = known(disk.labels) and not disk.labels and known(disk.in_use) and not disk.in_use
        if named and empty and disk.paths and not any(path.partitions for path in disk.paths) and _as_it_is(disk):
            yield disk


def _as_it_is(disk: DiskFacts) -> bool:
    """Behind no multipath map, or behind one without partitions, as ZFS takes it."""
    return known(disk.map) and (disk.map is None or not disk.map.partitions)


def _smallest(node: NodeFacts, top: VdevFacts, leaf: VdevFacts) -> int | None:
    """What the smallest disk of its vdev holds; None where the size of none is known."""
    others = {lookup.wwid_of(one) for one in top.leaves() if one is not leaf} or {lookup.wwid_of(leaf)}
    return min((d.size_bytes for d in node.disks if d.wwid in others and known(d.size_bytes)), default=None) if known(node.disks) else None

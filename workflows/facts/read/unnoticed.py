"""A member that ZFS calls in service while the kernel has no such disk any more.

Before OpenZFS 2.1.10 no pulled disk is called REMOVED: `zpool status` prints it ONLINE, and the pool healthy, until something is read or
written there (seen on 2.0.3, docs/lab.md). From then on zed asks for that state, so without zed the same is so.
"""

import re
from collections.abc import Iterable
from dataclasses import replace

from agents.domain.wwid import strip_partition
from workflows.facts.lookup import IN_SERVICE, wwid_of
from workflows.facts.model import DiskFacts, PoolFacts, VdevFacts
from workflows.facts.unknown import Known, known

_OF_KERNEL = re.compile(r"/dev/(?:sd[a-z]{1,4}|nvme[0-9]{1,4}n[0-9]{1,4})")  # names of disks that the agent lists always


def with_unnoticed(pools: Known[tuple[PoolFacts, ...]], disks: Known[tuple[DiskFacts, ...]]) -> Known[tuple[PoolFacts, ...]]:
    """The same pools; of one that is not suspended, `gone` is True of each member in service whose disk is certainly not there.

    The caller has read the labels of every disk. Certain where no disk carries the member's label, and none has its name: the WWID and the link of a
    stable one, the kernel's own of /dev/sdc1, which the kernel would list.
    """
    if not known(pools) or not known(disks) or not disks:
        return pools
    names = frozenset(_names(disks))
    return tuple(_marked(pool, names) if known(pool.tops) and not (known(pool.suspended) and pool.suspended) else pool for pool in pools)


def _names(disks: Iterable[DiskFacts]) -> Iterable[str]:
    for disk in disks:
        if known(disk.wwid):
            yield disk.wwid
        for path in disk.paths:
            yield from (f"/dev/{path.name}", *path.by_id, *path.other_names)


def _marked(pool: PoolFacts, names: frozenset[str]) -> PoolFacts:
    assert known(pool.tops)
    return replace(pool, tops=tuple((role, _leaves_marked(top, names)) for role, top in pool.tops))


def _leaves_marked(vdev: VdevFacts, names: frozenset[str]) -> VdevFacts:
    if vdev.children:
        return replace(vdev, children=tuple(_leaves_marked(child, names) for child in vdev.children))
    return replace(vdev, gone=True) if _is_absent(vdev, names) else vdev


def _is_absent(leaf: VdevFacts, names: frozenset[str]) -> bool:
    if leaf.kind != "disk" or leaf.state not in IN_SERVICE or known(leaf.wwid):
        return False
    base, wwid = strip_partition(leaf.name)[0], wwid_of(leaf)
    return (wwid is not None or _OF_KERNEL.fullmatch(base) is not None) and not {wwid, leaf.name, base} & names

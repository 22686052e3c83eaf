"""How old a label is: compared with those of the members that serve, within one pool and one top-level vdev only.

ZFS writes the labels of a vdev anew when a member comes or goes (module/zfs/spa.c: spa_vdev_attach, spa_vdev_detach, zfs-2.4.4), so the label of one that
was let go of is older; of one that was let go of while it served the txg is 0.
"""

from __future__ import annotations

from workflows.facts.model import LabelFacts, NodeFacts, PoolFacts, VdevFacts
from workflows.facts.unknown import known


def top_of_label(pool: PoolFacts, label: LabelFacts) -> VdevFacts | None:
    """The top-level vdev that the label says it is of; None where the pool has none with that guid, or its vdevs are not known."""
    tops = pool.tops if known(pool.tops) else ()
    return next((top for _, top in tops if known(top.guid) and top.guid == label.top_guid), None)


def newest_txg(node: NodeFacts, top: VdevFacts) -> int | None:
    """Of the labels of its ONLINE members, each as the node reads it on the member's own disk; None where none was read."""
    leaves = {leaf.guid: leaf.wwid for leaf in top.leaves() if leaf.state == "ONLINE" and known(leaf.guid) and known(leaf.wwid)}
    disks = node.disks if known(node.disks) else ()
    labels = [(disk.wwid, label) for disk in disks if known(disk.wwid) and known(disk.labels) for label in disk.labels]
    return max((label.txg for wwid, label in labels if leaves.get(label.guid) == wwid and label.txg is not None), default=None)

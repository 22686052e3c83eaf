"""The log of a pool that is not imported, where none of its disks is in the node.

Only its own disks carry its part of the tree, and the labels of the others do not. The node's own `zpool import` lists it all the same, from the
configuration in the pool (spa_tryimport in module/zfs/spa.c): its name, its shape and its state, and no guid. Its guid and size are supposed, and said.
"""

from twin import build, model
from twin.vdevs import part_path
from workflows.facts import ImportableFacts, VdevFacts

LOG, KINDS = "log", ("disk", "mirror")
SUPPOSED_BYTES = 16 << 30


def suppose(pool: model.Pool, listed: ImportableFacts, gaps: list[str]) -> None:
    """Adds each listed log of which no disk is here. One of another shape is left out, and the twin then differs and is not played."""
    for vdev in (one for role, one in listed.tops if role == LOG and _is_lost(one)):
        leaves = [_leaf(pool, leaf) for leaf in vdev.leaves()]
        pool.tops.append(build.top(vdev.kind, build.guid_of("lost log", pool.guid, vdev.name), leaves, SUPPOSED_BYTES, cls=LOG))
        gaps.append(
            f"Supposed: the guid and the size of the log {vdev.name} of {pool.name}. It is listed, and none of its disks is here to tell them."
        )


def _is_lost(vdev: VdevFacts) -> bool:
    return vdev.kind in KINDS and all(leaf.state == "UNAVAIL" for leaf in vdev.leaves())


def _leaf(pool: model.Pool, leaf: VdevFacts) -> model.Vdev:
    """By the name that the listing prints: a link below /dev/disk/by-id, or a kernel name."""
    folder = "/dev" if leaf.name.startswith("sd") else "/dev/disk/by-id"
    path = leaf.name if leaf.name.startswith("/") else f"{folder}/{leaf.name}"
    return model.Vdev(type="disk", guid=build.guid_of("lost log", pool.guid, leaf.name), path=part_path(path, 1), state="REMOVED")

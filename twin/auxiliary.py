"""Cache devices, logs and hot spares come and go: `zpool remove`."""

import copy

from twin.answer import Answer, refused
from twin.figures import ctime, nicebytes
from twin.model import Node, Pool, Vdev
from twin.scan import forget
from twin.vdevs import base_path, find

SPARE, CACHE = 3, 4  # the state in their labels
HOLDS_DATA = ("data", "special", "dedup")


def remove(node: Node, pool: Pool, word: str, now: float) -> Answer | None:
    """After spa_vdev_remove in module/zfs/vdev_removal.c. None of a log or data vdev that is not the last top-level vdev: a hole stays in its place
    then, which the twin does not know. The copy of a data vdev takes the twin no time (print_removal_status in cmd/zpool/zpool_main.c)."""
    if pool.suspended:
        return refused(1, f"cannot remove {word}: pool I/O is currently suspended")
    for listed, state in ((pool.spares, SPARE), (pool.caches, CACHE)):
        leaf = next((one for one in listed if _is_called(one, word)), None)
        if leaf is not None and leaf.state == "INUSE":
            return refused(1, f"cannot remove {word}: Pool busy; removal may already be in progress")
        if leaf is not None:
            listed.remove(leaf)
            _leave_the_label(node, pool, leaf, state)
            return Answer(0)
    found = next((top for top in pool.tops if _is_called(top, word)), None)
    if found is not None and found.cls == "log" and found is pool.tops[-1]:
        forget(node, pool, found, found.leaves())
        pool.tops.remove(found)
        return Answer(0)
    if found is not None and found.cls in HOLDS_DATA and any(top.type in ("raidz", "draid") for top in pool.tops):
        why = "invalid config; all top-level vdevs must have the same sector size and not be raidz."
        return refused(1, f"cannot remove {word}: {why}")
    if found is not None and found.cls in HOLDS_DATA and found is pool.tops[-1] and len(pool.tops) > 1:
        copied = pool.alloc_bytes // len(pool.tops)
        took = f"copied {nicebytes(copied)} in 0h0m, completed on {ctime(now)}"
        pool.removal = f"remove: Removal of vdev {len(pool.tops) - 1} {took}\n"
        forget(node, pool, found, found.leaves())
        pool.tops.remove(found)
        return Answer(0)
    return None if found or (word.isdigit() and find(pool, int(word))) else refused(1, f"cannot remove {word}: no such device in pool")


def _is_called(vdev: Vdev, word: str) -> bool:
    return word == str(vdev.guid) or (bool(vdev.path) and word in (vdev.path, base_path(vdev.path)))


def _leave_the_label(node: Node, pool: Pool, leaf: Vdev, state: int) -> None:
    for label in [p.label for disk in node.disks for p in disk.partitions if p.label]:
        if (label.pool, label.guid) == (pool.name, leaf.guid):
            label.top, label.aside = copy.deepcopy(leaf), state

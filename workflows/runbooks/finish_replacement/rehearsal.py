"""Nodes that need finish-replacement, for the demo, rehearsals and tests, and what somebody does on them when a step asks."""

from collections.abc import Callable, Mapping

from twin.build import add_pool, guid_of, member, partition, top
from twin.model import Label, Node, Pool, Scan, Vdev
from twin.scenarios import add_spare, lab_disk, lab_node, replacement, take_away, tiny, use_spare
from workflows.rehearsal.hand import Hand


def new_one_lost(now: float) -> Node:
    """The new disk was lost while it was filled; the old one serves."""
    return replacement(new="REMOVED", now=now)


def old_one_lost(now: float) -> Node:
    """The new disk is filled, and the old one was lost before ZFS let it go."""
    return replacement(old="REMOVED", filled=True, ended="finished", now=now)


def called_off(now: float) -> Node:
    """Both disks serve, and the resilver was cancelled: the new one is wanted no more."""
    return replacement(now=now)


def both_lost(now: float) -> Node:
    return replacement(old="REMOVED", new="REMOVED", now=now)


def being_filled(now: float) -> Node:
    """Both disks serve, and a resilver fills the new one."""
    node = replacement(now=now)
    pool = node.pool("ost_0")
    pool.scan = Scan("resilver", "running", now - 60.0, 3600.0, pool.alloc_bytes, pool.alloc_bytes // 6)
    return node


def by_itself(now: float) -> Node:
    """The pool's one disk serves, and the disk that was to take its place is lost."""
    disks = [lab_disk(number, number) for number in range(2)]
    node = lab_node(disks=disks)
    node.mounts = ["sysfs /sys sysfs rw,nosuid 0 0"]
    old, new = (member(node, disk, guid_of("alone", number)) for number, disk in enumerate(disks))
    pair = Vdev("replacing", guid_of("alone", "pair"), [old, new], create_txg=4)
    pool = Pool("scratch", guid_of("alone"), [top("disk", old.guid, [old], disks[0].size_bytes)], int(node.hostid, 16), node.hostname)
    pool.alloc_bytes = 65396736
    add_pool(node, pool, disks[:1], [old])
    only = pool.tops[0]
    for name in ("cls", "metaslab_array", "metaslab_shift", "ashift", "asize"):
        setattr(pair, name, getattr(only, name))
    pool.tops[0] = pair
    partition(disks[1])[0].label = Label(pool.name, new.guid, pool.txg)
    new.state, new.resilver_txg = "REMOVED", pool.txg
    take_away(node, disks[1].wwid)
    pool.scan = Scan("resilver", "canceled", now - 7200.0, 3600.0, pool.alloc_bytes, 0)
    return node


def half_of_a_mirror(now: float) -> Node:
    """The disk that was to take the place of one half of a mirror was lost while it was filled; both halves serve."""
    disks = [lab_disk(number, number) for number in range(3)]
    node = lab_node(disks=disks)
    node.mounts = ["sysfs /sys sysfs rw,nosuid 0 0"]
    first, old, new = (member(node, disk, guid_of("half", number)) for number, disk in enumerate(disks))
    mirror = top("mirror", guid_of("half", "mirror"), [first, old], disks[0].size_bytes)
    pool = Pool("fast", guid_of("half"), [mirror], int(node.hostid, 16), node.hostname, alloc_bytes=65396736)
    add_pool(node, pool, disks, [first, old, new])
    mirror.children[1] = Vdev("replacing", guid_of("half", "pair"), [old, new], create_txg=4)
    new.state, new.resilver_txg = "REMOVED", pool.txg
    take_away(node, disks[2].wwid)
    pool.scan = Scan("resilver", "canceled", now - 7200.0, 3600.0, pool.alloc_bytes, 0)
    return node


def two_spares(now: float) -> Node:
    """The third disk is lost, and so is the spare that stood in for it; a second spare stands in now, and is filled."""
    node = tiny()
    node.mounts = ["sysfs /sys sysfs rw,nosuid 0 0"]
    first, second = node.disks[6], node.disks[7]
    add_spare(node, "ost_0", first)
    add_spare(node, "ost_0", second)
    pair = use_spare(node, "ost_0", first, 2, now)
    listed = node.pool("ost_0").spares[1]
    listed.state = "INUSE"
    pair.children.append(member(node, second, listed.guid))
    for leaf, disk in zip(pair.children[:2], (node.disks[2], first), strict=True):
        leaf.state = "REMOVED"
        take_away(node, disk.wwid)
    return node


NODES: Mapping[str, Callable[[float], Mapping[str, Node]]] = {
    "finish-replacement": lambda now: {"oss01": new_one_lost(now)},
    "finish-replacement-old-disk-lost": lambda now: {"oss01": old_one_lost(now)},
    "finish-replacement-two-spares": lambda now: {"oss01": two_spares(now)},
}
HANDS: Mapping[str, Hand] = {}  # step -> what is taken for done there, for each MANUAL step

"""`zpool replace`, and `zpool attach`: the refusals of the tool, then those of the kernel, then the effect.

    checked by the tool -> new disk partitioned -> checked by the kernel -> attached, resilver running

As in OpenZFS, the tool partitions the new disk before it asks the kernel: what the kernel refuses (no such member, too
small, too coarse sectors) leaves a freshly partitioned disk behind.
"""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

from twin import build, disk_names
from twin.answer import Answer, refused
from twin.model import SECTOR, Label, Node, Partition, Pool, Vdev
from twin.scan import begins_anew, start_resilver
from twin.vdevs import Place, find, leaf_asize, member, min_asize, part_path, put
from twin.view import Device, View

SPARES_ARE_REFUSED = (2, 2)  # the kernel refuses them in 2.1.11, the tool in 2.3.2
EXIT_REFUSED_BY_TOOL = 1
EXIT_REFUSED_BY_KERNEL = 255
AMBIGUOUS = "already in replacing/spare config; wait for completion or use 'zpool detach'"
COARSE_IS_NAMED = (2, 3)  # spa_vdev_attach in module/zfs/spa.c; the tool had words for the error of `zpool add` since 2.2.4
TOO_COARSE = "The new device cannot have a higher alignment requirement than the top-level vdev."


@dataclass(frozen=True)
class Wanted:
    """What the command line asks for. `path` is the new device with its folder, as zpool completes a short name."""

    pool: str
    old: str
    path: str
    force: bool
    attaches: bool = False  # `zpool attach`: beside the old one for good


def parse(args: Sequence[str], attaches: bool = False) -> Wanted | None:
    """None for a command line the twin has no honest answer to."""
    words = [a for a in args if not a.startswith("-")]
    flags = [a for a in args if a.startswith("-")]
    if any(flag != "-f" for flag in flags) or len(words) not in ((3,) if attaches else (2, 3)):
        return None
    new = words[-1]
    return Wanted(words[0], words[1], new if new.startswith("/") else f"/dev/{new}", bool(flags), attaches)


def refused_by_tool(view: View, wanted: Wanted) -> Answer | None:
    if not any(pool.name == wanted.pool for pool in view.node.imported):
        return refused(EXIT_REFUSED_BY_TOOL, f"cannot open '{wanted.pool}': no such pool")
    device = view.device(wanted.path)
    if device is None:
        return refused(EXIT_REFUSED_BY_TOOL, f"cannot resolve path '{wanted.path}'")
    if device.disk.map is not None and device.name != device.disk.map.dm:
        return refused(EXIT_REFUSED_BY_TOOL, f"{wanted.path} is in use and contains a unknown filesystem.")
    if device.disk.map is not None:  # it is taken as it is, so zpool asks of its content alone
        return _labelled(view.node, [(wanted.path, p) for p in device.disk.partitions], wanted)
    if device.partition is None:
        return _disk_in_use(view, device, wanted)
    return _labelled(view.node, [(wanted.path, device.partition)], wanted)


def _disk_in_use(view: View, device: Device, wanted: Wanted) -> Answer | None:
    """A whole disk is opened exclusively first: a member of an imported pool fails there, with or without -f."""
    holder = next((p for p in device.disk.partitions if _is_open(view.node, p, wanted)), None)
    if holder or device.disk.holders:
        kind = (holder.filesystem if holder else "") or "unknown"
        return refused(EXIT_REFUSED_BY_TOOL, f"{wanted.path} is in use and contains a {kind} filesystem.")
    return _labelled(view.node, [(part_path(wanted.path, p.number), p) for p in device.disk.partitions], wanted)


def _is_open(node: Node, partition: Partition, wanted: Wanted) -> bool:
    if partition.mountpoint or partition.swap or partition.holders:
        return True
    return partition.label is not None and _is_member(node, partition.label) and _own_spare(node, partition, wanted) is None


def _is_member(node: Node, label: Label) -> bool:
    """Whether an imported pool has this vdev open now."""
    pool = node.pool(label.pool)
    if not pool.imported:
        return False
    return find(pool, label.guid) is not None or any(one.guid == label.guid for one in (*pool.spares, *pool.caches))


def _spare_on(node: Node, partition: Partition) -> Vdev | None:
    """The hot spare that this partition is of any pool, imported or not."""
    label = partition.label
    return next((spare for spare in node.pool(label.pool).spares if spare.guid == label.guid), None) if label else None


def _own_spare(node: Node, partition: Partition, wanted: Wanted) -> Vdev | None:
    """A spare of the same pool that waits: zpool takes it as what it is, and prints nothing."""
    spare = _spare_on(node, partition)
    own = partition.label is not None and partition.label.pool == wanted.pool
    return spare if spare and own and spare.state == "AVAIL" else None


def _is_held_as_spare(node: Node, partition: Partition, wanted: Wanted) -> bool:
    """Whether an imported pool has it as a spare that cannot be taken: another pool's, or one that stands in for a member."""
    label = partition.label
    held = label is not None and _spare_on(node, partition) is not None and node.pool(label.pool).imported
    return held and _own_spare(node, partition, wanted) is None


def _labelled(node: Node, partitions: Sequence[tuple[str, Partition]], wanted: Wanted) -> Answer | None:
    for path, partition in partitions:
        complaint, overridable = _complaint(node, path, partition, wanted)
        if complaint and not (wanted.force and overridable):
            repair = "the following errors must be manually repaired:" if wanted.force else "use '-f' to override the following errors:"
            return refused(EXIT_REFUSED_BY_TOOL, f"invalid vdev specification\n{repair}\n{complaint}")
    return None


def _complaint(node: Node, path: str, partition: Partition, wanted: Wanted) -> tuple[str, bool]:
    """(what is wrong, whether -f overrides it)."""
    label = partition.label
    if label is None or label.is_of_the_past:
        return (f"{path} contains a filesystem of type '{partition.filesystem}'", True) if partition.filesystem else ("", True)
    pool = node.pool(label.pool)
    if _spare_on(node, partition):  # one of the same pool, or of one that is not imported, is taken and nothing is printed
        others = pool.imported and pool.name != wanted.pool and node.release >= SPARES_ARE_REFUSED
        return (f"{path} is reserved as a hot spare for pool {pool.name}", False) if others else ("", True)
    if pool.imported and not _is_member(node, label):
        return "", True  # of a former member zpool_in_use says that it is not in use, though its label names the pool
    if pool.imported:
        return f"{path} is part of active pool '{pool.name}'", False
    return f"{path} is part of {'exported' if pool.state == 1 else 'potentially active'} pool '{pool.name}'", True


def attach(node: Node, wanted: Wanted, now: float) -> Answer:
    """Partition the new disk, ask as the kernel asks, and change the pool. The tool's own checks are behind us."""
    pool = node.pool(wanted.pool)
    device = View(node).device(wanted.path)
    assert device is not None
    own = next((spare for spare in (_own_spare(node, p, wanted) for p in device.disk.partitions) if spare), None)
    partition = device.partition or (device.disk.partitions[0] if own else build.partition(device.disk)[0])
    found = member(pool, wanted.old)
    refusal = _refused_by_kernel(node, pool, found, wanted, device, partition)
    if found is None or refusal:
        what = f"attach {wanted.path} to {wanted.old}" if wanted.attaches else f"replace {wanted.old} with {wanted.path}"
        return refused(EXIT_REFUSED_BY_KERNEL, f"cannot {what}: {refusal}")
    old, place = found
    new = new_leaf(node, pool, wanted.path, device, old.create_txg)  # attach copies the txg
    new.deferred = True  # until the resilver that begins now takes it up
    if own:
        own.state, new.guid = "INUSE", own.guid
    _stand_in(pool, old, new, place, "mirror" if wanted.attaches else "spare" if own else "replacing")
    pool.txg += 1
    partition.label = Label(pool.name, new.guid, pool.txg)
    if begins_anew(node, pool, now):
        start_resilver(node, pool, now)
    return Answer(0)


def _refused_by_kernel(
    node: Node, pool: Pool, found: tuple[Vdev, Place] | None, wanted: Wanted, device: Device, partition: Partition
) -> str:
    if pool.suspended:
        return "pool I/O is currently suspended"
    if found is None:
        return "no such device in pool"
    old, place = found
    if wanted.attaches and place.parent is not None and place.parent.type != "mirror":
        return "can only attach to mirrors and top-level disks"
    if _is_held_as_spare(node, partition, wanted) or (device.disk.map and device.disk.holders):
        return f"{wanted.path} is busy, or device removal is in progress"
    if leaf_asize(partition.sectors * SECTOR) < min_asize(pool, old.guid):
        return "device is too small"
    if device.disk.logical_block_bytes > 1 << place.top.ashift:
        return TOO_COARSE if node.release >= COARSE_IS_NAMED else AMBIGUOUS
    return ""


def new_leaf(node: Node, pool: Pool, path: str, device: Device, create_txg: int) -> Vdev:
    found = node.bay_of(device.disk.wwid)
    number = device.partition.number if device.partition else 1
    whole = device.partition is None and device.disk.map is None
    return Vdev(
        type="disk",
        guid=_fresh_guid(pool, path),
        path=part_path(path, 1) if whole else path,
        devid=disk_names.devid(device.disk, number, node.sg3_rules),
        phys_path="" if device.disk.map else device.path.phys_path,
        enc_path=f"/sys/class/enclosure/{found[0].name}/{found[1].name}" if found else "",
        whole_disk=1 if whole else 0,
        create_txg=create_txg,
        dtl=pool.txg % 1000 + 64,
    )


def _fresh_guid(pool: Pool, path: str) -> int:
    """A guid that is not chosen, yet the same for the same history, so that a run of the demo can be repeated."""
    taken = {vdev.guid for vdev in pool.walk()}
    seed = f"{pool.guid} {pool.txg} {path}".encode()
    guid = (zlib.crc32(seed) << 32 | zlib.crc32(seed[::-1])) | 1 << 63
    while guid in taken:
        guid += 1
    return guid


def _stand_in(pool: Pool, old: Vdev, new: Vdev, place: Place, kind: str) -> None:
    """Under a `replacing` or a mirror that is there already, the new leaf is one more child; else one is made around the old, or a `spare`."""
    if place.parent is not None and (place.parent.type == "replacing" or kind == "mirror"):
        place.parent.children.append(new)
        return
    children: list[Vdev] = [old, new]
    put(pool, place, Vdev(type=kind, guid=new.guid ^ 0x5A5A5A5A, children=children, create_txg=old.create_txg))

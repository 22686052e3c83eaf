"""Is the member a whole disk, or one partition of a disk that also boots the system, swaps, or serves another pool?

A whole disk in its place would hold the data and not what was beside it. `replace-boot-member` replaces a partition; the refusal of the others leads there,
and has the way by hand.
"""

from collections.abc import Iterable

from agents.domain.wwid import by_id_path, strip_partition, without_slice
from workflows.engine.core import Params, Verdict, guard, ok, refuse, unknown
from workflows.facts import DiskFacts, FleetFacts, VdevFacts, known, need
from workflows.guards.subject import Target, name_of, the_target
from workflows.situations import _partitions
from workflows.situations._partitions import OF_A_MEMBER, WHOLE

SERVING = ("ONLINE", "DEGRADED")
OF_ILLUMOS = (0, 8)  # the slices that illumos' ZFS makes of a whole disk; 8 is reserved, and there on each


@guard
def the_member_has_its_disk_alone(facts: FleetFacts, params: Params) -> Verdict:
    """By its own disk where the node sees it. Where it does not: by its name, by the device id in the labels, and by every serving member of its vdev.

    One plain sibling shows nothing of the others: a boot mirror in which one disk was replaced as a whole has such a one.
    """
    return _alone(need(the_target(facts, params)), params, "replace")


@guard
def what_gets_a_mirror_has_its_disk_alone(facts: FleetFacts, params: Params) -> Verdict:
    """The same of a disk that stays: the new one is attached to it, and its own table is what is copied."""
    return _alone(need(the_target(facts, params)), params, "attach")


def _alone(target: Target, params: Params, verb: str) -> Verdict:
    own = _partitions.partition(target.leaf) or _partitions.by_devid(target.leaf) or _slice(target.leaf)
    if own is not None:
        return refuse(f"{_beside(target, own[1], verb)} {_way(target, own[1], params, verb)}")
    disks = target.node.disks
    if not known(disks):
        return unknown(f"Whether {target.leaf.guid} shares its disk with other partitions is not known: {disks.reason}")
    if unread := next((disk for leaf in target.top.leaves() for disk in _of(leaf, target, disks) if _table_was_not_read(disk)), None):
        return unknown(
            f"Whether {name_of(unread)} is shared with other slices is not known: no table of it was read that has slice 8, as ZFS makes it on a whole disk. "
            f"`prtvtoc /dev/rdsk/{unread.names[0]}s0` shows its slices."
        )
    for disk in _of(target.leaf, target, disks):
        if others := _others(disk):
            number = _number(disk, target, target.leaf)
            return refuse(f"{_beside(target, number, verb)} On its disk is also {', '.join(others)}. {_way(target, number, params, verb)}")
    for leaf in target.top.leaves():
        for disk in _of(leaf, target, disks) if leaf != target.leaf else ():
            if others := _others(disk):
                number = _number(disk, target, leaf)
                return refuse(
                    f"{leaf.name}, of the same vdev as {target.leaf.guid}, is a partition of a disk with {', '.join(others)} beside it, so the disk of "
                    f"{target.leaf.guid} is one with other partitions too. {_way(target, number, params, verb)}"
                )
    if not _of(target.leaf, target, disks) and (why := _not_shown(target, disks)):
        return unknown(f"Whether {target.leaf.guid} shares its disk with other partitions is not known: {why}")
    return ok(f"{target.leaf.guid} has its disk alone, as far as its name and the disks of {target.top.name} show.")


def _not_shown(target: Target, disks: Iterable[DiskFacts]) -> str:
    """Why what is known of the vdev does not show how a disk was partitioned that the node does not see; "" when it does."""
    disks, siblings = tuple(disks), [leaf for leaf in target.top.leaves() if leaf.guid != target.leaf.guid]
    matched = [leaf for leaf in siblings if _of(leaf, target, disks)]
    if not matched:
        return f"no disk of {target.node.node} could be matched with a member of {target.top.name}. Have the node look again."
    if missing := [leaf.name for leaf in siblings if leaf not in matched and leaf.state in SERVING]:
        return f"{', '.join(missing)} of {target.top.name} could be matched with no disk of {target.node.node}. Have the node look again."
    if _partitions.names_no_partition(target.leaf):
        return (
            f"its disk is not seen, and neither its name {target.leaf.was or target.leaf.name} nor a device id in the labels has the number of its partition. "
            "See how it was partitioned where it was set up (on TrueNAS, the web interface, which replaces it and partitions the new disk); where the disk can "
            "be put back, have the node look again with it."
        )
    return ""


def _beside(target: Target, number: int | None, verb: str) -> str:
    part = f"partition {number}" if number else "a partition"
    if verb == "attach":
        return f"{target.leaf.guid} is {part} of its disk, and what boots the system, swap or another pool may be on the others: a whole disk is not its mirror."
    no_runbook = _partitions.is_bsd(target.leaf) or number == OF_A_MEMBER or _slice(target.leaf) is not None
    take = "" if no_runbook else " Take replace-boot-member, which copies the partition table and replaces the partition."
    return f"{target.leaf.guid} is {part} of its disk, and what boots the system, swap or another pool may be on the others: a whole disk does not take its place.{take}"


def _of(leaf: VdevFacts, target: Target, disks: Iterable[DiskFacts]) -> tuple[DiskFacts, ...]:
    """The disk that the member is known to sit on, and those that carry its label."""
    return tuple(disk for disk in disks if (known(leaf.wwid) and disk.wwid == leaf.wwid) or _label(disk, target, leaf))


def _label(disk: DiskFacts, target: Target, leaf: VdevFacts) -> str:
    """The kernel name of the partition that carries the label of this member; "" where none does."""
    labels = disk.labels if known(disk.labels) else ()
    return next((label.partition for label in labels if (label.pool_guid, label.guid) == (target.pool.guid, leaf.guid)), "")


def _others(disk: DiskFacts) -> tuple[str, ...]:
    """Partitions that ZFS does not make of a whole disk."""
    names = dict.fromkeys(name for path in disk.paths for name in path.partitions)
    return tuple(name for name in names if strip_partition(name)[1] not in (OF_ILLUMOS if _is_slice(name) else WHOLE))


def _is_slice(name: str) -> bool:
    return without_slice(name) != name


def _slice(leaf: VdevFacts) -> tuple[str, int] | None:
    """The disk and number of a slice of illumos that is not the one of a whole disk."""
    name = (leaf.was or leaf.name).rsplit("/", 1)[-1]
    base, number = strip_partition(name)
    return (base, number) if _is_slice(name) and number else None


def _table_was_not_read(disk: DiskFacts) -> bool:
    """Of illumos, where each disk has the same names whatever slices its table has."""
    numbers = {strip_partition(name)[1] for path in disk.paths for name in path.partitions}
    return any(_is_slice(f"{path.name}s0") for path in disk.paths) and OF_ILLUMOS[1] not in numbers


def _number(disk: DiskFacts, target: Target, leaf: VdevFacts) -> int | None:
    named = _partitions.partition(leaf) or _partitions.by_devid(leaf) or _slice(leaf)
    return named[1] if named else strip_partition(_label(disk, target, leaf))[1]


def _way(target: Target, number: int | None, params: Params, verb: str) -> str:
    if any(_is_slice(name.rsplit("/", 1)[-1]) for leaf in target.top.leaves() for name in (leaf.was or "", leaf.name)):
        return "How the table and the boot loader of such a disk are copied on illumos was not read; do it as your site does."
    return _partitions.way_by_hand(
        target.pool.name,
        str(target.leaf.guid),
        _healthy(target, itself=verb == "attach"),
        by_id_path(params.get("wwid", "")) or "/dev/disk/by-id/NEW_DISK",
        number,
        _partitions.is_bsd(target.leaf),
        verb,
    )


def _healthy(target: Target, itself: bool) -> str:
    """The disk whose table is copied, by a name that does not move: another member's, which serves, or that of the member which gets a mirror."""
    links = (
        by_id_path(leaf.wwid)
        for leaf in target.top.leaves()
        if (leaf.guid == target.leaf.guid) == itself and leaf.state == "ONLINE" and known(leaf.wwid)
    )
    return next((link for link in links if link), "/dev/disk/by-id/HEALTHY_DISK")

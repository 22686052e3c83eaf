"""Both label copies at the end of a member's partition are gone: its end is not where it was.

ZFS keeps two copies in the first 512 KiB and two in the last (vdev_label.c). When the last two cannot be read and the first two can, the
partition or disk became shorter or longer, its end is hidden (HPA, DCO, a RAID adapter's own notes), or something wrote there.
"""

from collections.abc import Iterator

from workflows.engine.core import Cure, Evidence, Situation
from workflows.facts import DiskFacts, FleetFacts, NodeFacts, known
from workflows.facts.fleet.label_damage import END
from workflows.facts.read.labels import SOURCE, Copies
from workflows.situations import _words
from workflows.situations._pools import cure

SLUG = "labels-missing"
MANUALS: tuple[str, ...] = ()
START = (0, 1)


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    return tuple(_situation(node, copies, disk) for node in fleet.nodes.values() for copies, disk in _shortened(node))


def lost_their_end(copies: Copies) -> bool:
    """Whether exactly the two copies at the end hold no label any more, and the two at the start do."""
    return copies.empty == END and not copies.unread and {n for label in copies.labels for n in label.copies} == set(START)


def _shortened(node: NodeFacts) -> Iterator[tuple[Copies, DiskFacts | None]]:
    yield from ((copies, None) for copies in node.unplaced if lost_their_end(copies))
    for disk in node.disks if known(node.disks) else ():
        yield from ((copies, disk) for copies in (disk.copies if known(disk.copies) else ()) if lost_their_end(copies))


def _situation(node: NodeFacts, copies: Copies, disk: DiskFacts | None) -> Situation:
    label = copies.labels[0]
    where = _words.where(disk) if disk is not None else f"The partition that was asked ({copies.partition})"
    pool = label.pool_name or "no pool"
    meaning = (
        f"{where} is the member {label.guid} of {pool}. Its label copies 0 and 1 can be read; 2 and 3, at the end of the partition, cannot. Two are enough to import it, "
        "and a running pool does not mind. But the end of the partition is not where it was, or something wrote there: the partition or disk was made shorter or longer, its end is "
        "hidden (HPA, or a RAID adapter keeps notes there), or a partitioning tool put a backup table there. If the partition became shorter, the data at its end is gone too, "
        "and reads there fail. When the first two copies are lost as well, the import does not find this member."
    )
    wwid = disk.wwid if disk is not None and known(disk.wwid) else ""
    return Situation(
        slug=SLUG,
        key=f"{SLUG}:{node.node}:{wwid or label.guid}:{copies.partition}",
        node=node.node,
        severity="watch",
        title=f"{pool}: the labels at the end of {_short(disk, copies)} are gone",
        meaning=meaning,
        evidence=tuple(_evidence(node, copies)),
        subject=_subject(node, copies) | ({"wwid": wwid} if wwid else {}),
        cures=tuple(_cures(copies)),
        vdevs=(str(label.guid),),
    )


def _short(disk: DiskFacts | None, copies: Copies) -> str:
    return _words.named(disk) if disk is not None and disk.names else f"member {copies.labels[0].guid}"


def _evidence(node: NodeFacts, copies: Copies) -> Iterator[Evidence]:
    source = f"{SOURCE}/{copies.partition}"
    for label in copies.labels:
        yield _words.evidence(node, source, f"guid: {label.guid}")
    yield from (_words.evidence(node, source, f"failed to unpack label {number}") for number in copies.empty)


def _subject(node: NodeFacts, copies: Copies) -> dict[str, str]:
    label = copies.labels[0]
    fields = {"node": node.node, "partition": copies.partition, "vdev_guid": str(label.guid)}
    fields |= {"pool": label.pool_name} if label.pool_name else {}
    return fields | ({"pool_guid": str(label.pool_guid)} if label.pool_guid is not None else {})


def _cures(copies: Copies) -> Iterator[Cure]:
    yield cure(
        "look",
        "Compare the size of the disk and of the partition with those of its siblings, and with the asize of the label. Put in the disk for DISK.",
        ("lsblk", "-b", "-o", "NAME,SIZE,PARTUUID,SERIAL,WWN"),
        ("hdparm", "-N", "/dev/disk/by-id/DISK"),
        ("sg_readcap", "-l", "/dev/disk/by-id/DISK"),
    )
    yield cure(
        "other",
        "If the partition or the disk became shorter, give it its old end back before the pool is exported or imported; the data there is then found again. Write no new partition "
        "table for it.",
        save_first="the partition table as it is (`sgdisk --backup`)",
    )
    yield cure(
        "scrub",
        "If its size is as it was, only the labels were written over. ZFS writes all four again when its configuration changes or the pool is imported; scrub the pool first, and see "
        "that this member counts no errors.",
    )

"""The label of a member is damaged: copies are gone, differ or cannot be read, or the disk carries another's label.

A running pool does not mind; the next import does. A copy or two can be missing without harm, for ZFS writes all four
again with its next change of the configuration; a member without any label is lost to the import.
"""

from collections.abc import Iterator

from workflows.engine.core import Cure, Evidence, Severity, Situation
from workflows.facts import FleetFacts, known, lookup, title
from workflows.facts.fleet.label_damage import Damage, damages
from workflows.situations import _cures
from workflows.situations.labels_missing import lost_their_end

SLUG = "label-corrupt"
MANUALS: tuple[str, ...] = ("wwid-mismatch-replace",)

TITLES = {
    "gone": "{disk} should be a member of {pool} and carries no label",
    "other": "{disk} should be a member of {pool} and carries another label",
    "few": "{disk} of {pool} has lost some of its four label copies",
    "checksum": "{disk} of {pool} has label copies with a wrong checksum",
    "differ": "{disk} of {pool} has label copies that contradict each other",
    "torn": "{disk} of {pool} has label copies of two ages",
    "unread": "The labels of {disk} cannot be read",
}
MEANINGS = {
    "gone": "Something overwrote its labels. Its data may be whole, but ZFS cannot find it: {now} Do not take it for a blank disk.",
    "other": "It was made a member of something else, or a wrong disk is in its place. {now} Find out whose label that is before anything "
    "is written to it: it may be data that is still needed.",
    "few": "The copies that are left are enough to import it. ZFS writes all four again when the pool is imported or its configuration changes. "
    "Two copies stand at each end of the partition; when both of one end are gone, ask what wrote there: a partitioning tool, another system, a RAID adapter.",
    "checksum": "ZFS may pass over these copies. It writes all four again when the pool is imported or its configuration changes.",
    "differ": "The labels at the front and at the end of the partition differ: a partition that grew or shrank shows old labels again, and an import may "
    "use the older one. Do not import the pool before you know which copies are true.",
    "torn": "The power went between the writing of the even and the odd copies. ZFS expects that and takes the newer ones.",
    "unread": "The disk answers an error where its labels are. It is dead or dying, or already pulled and the kernel has not noticed. It is not blank.",
}


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    return tuple(_situation(damage) for damage in damages(fleet) if not _is_its_end(damage))


def _is_its_end(damage: Damage) -> bool:
    """Whether the two copies at the end are gone and nothing else: that is `labels-missing`."""
    copies = damage.disk.copies if known(damage.disk.copies) else ()
    return damage.kind == "few" and any(one.partition == damage.partition and lost_their_end(one) for one in copies)


def _situation(damage: Damage) -> Situation:
    disk = damage.disk
    where = disk.wwid if known(disk.wwid) else f"{damage.node.node}:{' '.join(disk.names)}"
    return Situation(
        slug=SLUG,
        key=f"{SLUG}:{damage.kind}:{where}",
        node=damage.node.node,
        severity=_severity(damage),
        title=TITLES[damage.kind].format(disk=title(disk), pool=damage.pool or "a pool"),
        meaning=f"{damage.sentence} {MEANINGS[damage.kind].format(now=_now(damage))}",
        evidence=tuple(_evidence(damage)),
        subject=_subject(damage),
        sure=damage.kind not in ("gone", "other") or not _stale_devid(damage),
        cures=tuple(_cures_of(damage)),
    )


def _cures_of(damage: Damage) -> Iterator[Cure]:
    """Looks, and what must not be done meanwhile; the loss of a member has cures of its own."""
    if damage.kind == "torn":
        yield _cures.wait("Nothing need be done: ZFS takes the newer copies and writes all four again.")
        return
    if damage.kind == "unread":
        yield _cures.reseat(title(damage.disk))
        return
    yield Cure(
        "look",
        f"Read all four copies once more, by a name of the disk that does not move: `zdb -l` of the partition (today {damage.partition}). Write nothing to it.",
        save_first="What `zdb -l` prints, of this disk and of one of its siblings.",
    )
    if damage.kind in ("gone", "other") and damage.leaf is not None and not lookup.serves_nothing(damage.leaf):
        yield Cure(
            "other",
            f"Neither export {damage.pool} nor reboot this node before that is understood: the pool still uses the disk, and the next import would not find it.",
        )
    if damage.kind == "gone":
        yield from _written_again(damage)


def _written_again(damage: Damage) -> Iterator[Cure]:
    """How the member gets labels again. A new comment makes ZFS write the labels of all members (module/zfs/spa.c, spa_sync_props, 0.7 to 2.3)."""
    if damage.leaf is None:
        yield Cure(
            "replace",
            f"Import {damage.pool} without it, where what is left is enough. Then fill this disk anew, in the place of the member that is lost, by the guid of that.",
            needs="It is certain that this disk is that member, all the others are there, and what is on it now is not needed.",
            save_first="The first and the last 16 MiB of the partition, and what `zdb -l` prints of a sibling.",
            runbook=MANUALS[0],
        )
    elif not lookup.serves_nothing(damage.leaf) and damage.pool:
        yield Cure(
            "other",
            "ZFS still has the disk open and writes the labels of all members again when the pool gets a new comment. Read them once more after it, and then scrub: "
            "what overwrote the labels may have overwritten data.",
            (("zpool", "set", "comment=labels-rewritten", damage.pool),) if " " not in damage.pool else (),
            releases="0.7 and later",
            needs=f"The pool is not suspended or read-only, the member is ONLINE, and what wrote over the labels of {damage.partition} is found and writes no more.",
            save_first="The comment as it is (`zpool get comment`), and what `zdb -l` prints of this disk.",
        )


def _severity(damage: Damage) -> Severity:
    """A member without its label is acted upon, unless it is lost to its pool already and that is said by itself."""
    if damage.kind in ("gone", "other"):
        return "watch" if damage.leaf is not None and lookup.serves_nothing(damage.leaf) else "act"
    return "info" if damage.kind == "torn" else "watch"


def _now(damage: Damage) -> str:
    if damage.leaf is None:
        return f"{damage.pool} is not imported and would come up without it."
    if lookup.serves_nothing(damage.leaf):
        return f"{damage.pool} is imported and has it {damage.leaf.state} already."
    return f"{damage.pool} still has it open and {damage.leaf.state}, but the next import will not find it."


def _stale_devid(damage: Damage) -> bool:
    """Whether only a stored device id ties this disk to the member, while the pool may long know another disk there."""
    return damage.leaf is not None and known(damage.leaf.wwid) and damage.leaf.wwid != damage.disk.wwid


def _evidence(damage: Damage) -> Iterator[Evidence]:
    own = f"zdb_label/{damage.partition}"
    if damage.named_by != damage.partition:
        text = f"a sibling's label: vdev {damage.vdev_guid} of {damage.pool} is the disk {_wwid(damage)}"
        yield from _captured(damage, f"zdb_label/{damage.named_by}", text)
    yield from _captured(damage, own, damage.found)
    for pool in damage.node.importable_read:
        for leaf in (leaf for _, top in pool.tops for leaf in top.leaves() if pool.guid == damage.pool_guid and leaf.state != "ONLINE"):
            line = f"{leaf.name}  {leaf.state}  {leaf.note}".rstrip()
            yield Evidence(damage.node.node, "zpool_import", damage.node.digests.get("zpool_import", ""), line)


def _captured(damage: Damage, source: str, line: str) -> Iterator[Evidence]:
    if source in damage.node.digests:
        yield Evidence(damage.node.node, source, damage.node.digests[source], line)


def _wwid(damage: Damage) -> str:
    return damage.disk.wwid if known(damage.disk.wwid) else "without a WWID"


def _subject(damage: Damage) -> dict[str, str]:
    subject = {"node": damage.node.node, "partition": damage.partition, "damage": damage.kind}
    if damage.pool:
        subject["pool"] = damage.pool
    for name, value in (("pool_guid", damage.pool_guid), ("vdev_guid", damage.vdev_guid)):
        subject |= {} if value is None else {name: str(value)}
    return subject | ({"wwid": _wwid(damage)} if known(damage.disk.wwid) else {})

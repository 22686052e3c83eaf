"""A member of a pool serves nothing: its disk is gone, switched off, or was given up.

A lost member whose old name leads to another disk is a `wwid-mismatch` instead, and one whose own disk is there and sick is a
`disk-faulted`.
"""

from collections.abc import Iterator

from workflows.analysis.pool_fate import is_suspended, why_down
from workflows.engine.core import Cure, Evidence, Severity, Situation
from workflows.facts import DiskFacts, FleetFacts, NodeFacts, PoolFacts, StatusReason, known, lookup, reason_of
from workflows.situations import _cures, _partitions, _pools
from workflows.situations._events import lost_by_events
from workflows.situations._lost import Lost, cause_of, gone_leaves, lost_members, seat_of
from workflows.situations._words import where
from workflows.situations.wwid_mismatch import mismatch

SLUG = "disk-missing"
MANUALS: tuple[str, ...] = ("wwid-mismatch-replace", "blink-and-replace", "replace-boot-member")

MEANINGS = {
    "REMOVED": "Its disk went away: pulled, powered off, or lost by its cable.",
    "UNAVAIL": "ZFS cannot open it.",
    "OFFLINE": "It was switched off with `zpool offline`.",
}


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    members = (lost for lost in lost_members(fleet) if lost.role != "log" and mismatch(fleet, lost) is None and not lost.is_sick())
    bare = (found for node in fleet.nodes.values() for pool in node.pools_read if (found := _without_rows(node, pool)) is not None)
    unnoticed = (lost for lost in gone_leaves(fleet) if not is_suspended(lost.pool))
    return (*map(_situation, members), *map(_unnoticed, unnoticed), *bare, *lost_by_events(fleet, SLUG, ("REMOVED", "UNAVAIL")))


# reasons behind `status:` of a pool that serves without a member
_REASONS = frozenset(("MISSING_DEV_R", "CORRUPT_LABEL_R", "FAULTED_DEV_R", "OFFLINE_DEV", "REMOVED_DEV"))


def _reason_without_row(pool: PoolFacts) -> StatusReason | None:
    """The reason behind `status:` for a lost member, where its row is not here; None where a row shows it, and where the text is whole.

    Of a pool that is DEGRADED the state tells as much: see `vdev_degraded`.
    """
    reason = reason_of(pool.status) if pool.status and any(not line.rounded for line in pool.unread) else None
    if reason is None or reason.name not in _REASONS or pool.state not in ("ONLINE", "") or why_down(pool):
        return None
    leaves = (*(leaf for _, top in pool.tops_read for leaf in top.leaves()), *pool.spares, *pool.caches)
    return None if any(leaf.state not in (*lookup.IN_SERVICE, "") or leaf.state == "DEGRADED" for leaf in leaves) else reason


def _without_rows(node: NodeFacts, pool: PoolFacts) -> Situation | None:
    """The reason that `zpool status` prints for a lost member, where the text ends before its row."""
    reason = _reason_without_row(pool)
    if reason is None:
        return None
    return _pools.of_reason(
        node,
        pool,
        SLUG,
        "act",
        title="a member of it is out of service",
        meaning=f"zpool status says of {pool.name}: {reason.means} The rows of the tree are not here, so which member it is, and how many more losses the pool survives, is not "
        "known. Replace nothing before they were seen.",
        look="Look at the whole of it: the row of the member says why it serves nothing.",
        argv=("zpool", "status", "-P", "-p"),
    )


def _situation(lost: Lost) -> Situation:
    return Situation(
        slug=SLUG,
        key=lost.key(SLUG),
        node=lost.node.node,
        severity=_severity(lost),
        title=f"{lost.pool.name}: the {'log device' if lost.role == 'log' else 'member'} {lost.leaf.short} is {lost.leaf.state}{lost.title_end()}",
        meaning=_meaning(lost),
        evidence=tuple(_evidence(lost)),
        answers=lost.answers("It replaces a lost member by its guid; for a disk that is gone for good it is the same walk."),
        subject=_subject(lost),
        cures=_partitions.before_replacing(lost.pool, lost.leaf, lost.cures()),
        sure=known(lost.node.disks) or lost.leaf.was is None,  # without the disks it is not known which disk has its old name
    )


def _unnoticed(lost: Lost) -> Situation:
    """Of a member that ZFS calls in service. It has to be out of service before another disk can take its place."""
    begins = f"ZFS calls the member {lost.guid} of {lost.pool.name} ({lost.path}) {lost.leaf.state}, and no disk of {lost.node.node} has its WWID or its label."
    why = "ZFS notices that when it next reads or writes there; since OpenZFS 2.1.10 zed reports it at once, where it runs."
    parts = (begins, why, _place(lost), lost.margin_sentence())
    out = Cure(
        "other",
        "If it does not come back, take it out of service; then it can be replaced.",
        _cures.command(lost.pool, lost.leaf, "offline"),
        needs=_cures.ask_guid(lost.pool, lost.leaf),
    )
    return Situation(
        slug=SLUG,
        key=lost.key(SLUG),
        node=lost.node.node,
        severity="act",
        title=f"{lost.pool.name}: the disk of the member {lost.leaf.short} is gone, and ZFS calls it {lost.leaf.state}",
        meaning=" ".join(part for part in parts if part),
        evidence=tuple(_evidence(lost)),
        subject=_subject(lost),
        cures=(_cures.reseat(lost.name_of_disk(), lost.leaf), out),
    )


def _severity(lost: Lost) -> Severity:
    return "watch" if lost.replacement_serves() or lost.role == "log" else "act"


def _meaning(lost: Lost) -> str:
    what = "log device" if lost.role == "log" else "member"
    lines = [
        f"The {what} {lost.guid} of {lost.pool.name} ({lost.path}) is {lost.leaf.state}. {MEANINGS.get(lost.leaf.state) or lost.given_up}"
    ]
    place = lost.place_sentence()
    if place:
        lines.append(place)
    elif lost.is_back():
        lines.append(lost.back_sentence())
    elif lost.leaf.state == "OFFLINE":
        lines.append("If nothing else is wrong with its disk, it is brought back with `zpool online`, and catches up on what it missed.")
    elif lost.wrong_label():
        lines.append(
            "Something answers at its path, and does not carry its label: another disk has that name now, or the label was overwritten. Read the label "
            "there before anything else."
        )
    elif (silent := _silent(lost)) is not None:
        lines.append(
            f"The kernel still lists {where(silent)} under its name, and it does not answer: it is pulled, or dead. Look at its bay."
        )
    elif cause_of(lost.leaf.note):
        lines.append(
            "Errors come from a cable, a slot or power as often as from the disk: look there first, and at its SMART. If that explains them, mend it and bring "
            "the member back with `zpool clear`."
        )
    elif lost.may_have_moved():
        lines.append(
            "That name is one that the kernel gives anew at each boot: its disk may be there under another one, and then nothing is broken. If it is only a cable or a "
            "loose tray, putting it back resilvers what it missed."
        )
    elif lookup.is_file(lost.leaf):
        lines.append(
            "It is a file: it may lie on a file system that is not mounted, or was removed. Once it is there again, what it missed is resilvered."
        )
    else:
        lines.append("If it is only a cable or a loose tray, putting it back resilvers what it missed, and the disk is as good as before.")
    lines += [sentence] if (sentence := _place(lost)) else []
    lines += [sentence] if (sentence := _partitions.sentence(lost.leaf)) else []
    lines.append(lost.margin_sentence())
    return " ".join(lines)


def _place(lost: Lost) -> str:
    """Where its disk was when its label was written, while that disk is not seen: what the pool remembers, and no proof."""
    seat = seat_of(lost.node, lost.leaf) if lost.carrier() is None else None
    if seat is None:
        return ""
    return f"By what its label stored it was in bay {seat[1]} of enclosure {seat[0]}: look there, and compare the serial number before it is pulled."


def _silent(lost: Lost) -> DiskFacts | None:
    """The disk that has its by-id name, when its label could not be read. A kernel name of the past proves nothing."""
    disk = lookup.at_path(lost.node, lost.path) if lost.path.startswith("/dev/disk/by-id/") else None
    return disk if isinstance(disk, DiskFacts) and not known(disk.labels) else None


def _evidence(lost: Lost) -> Iterator[Evidence]:
    yield lost.tree_line()
    yield lost.evidence("zpool_status_guid", f"{lost.guid}  {lost.leaf.state}")
    carrier = lost.carrier()
    if carrier is not None and known(carrier.labels):
        for label in carrier.labels:
            yield lost.evidence(
                f"zdb_label/{label.partition}", f"{label.pool_name}: pool_guid {label.pool_guid}, guid {label.guid}, txg {label.txg}"
            )


def _subject(lost: Lost) -> dict[str, str]:
    subject = {"node": lost.node.node, "pool": lost.pool.name, "vdev_guid": lost.guid, "was": lost.path, "top": lost.top.name}
    subject |= {"pool_guid": str(lost.pool.guid)} if known(lost.pool.guid) else {}
    return subject | ({"wwid": lost.leaf.wwid} if known(lost.leaf.wwid) else {})

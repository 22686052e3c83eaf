"""A member of a pool serves nothing: its disk is gone, switched off, or was given up.

A lost member whose old name leads to another disk is a `wwid-mismatch` instead, and one whose own disk is there and sick is a
`disk-faulted`.
"""

from __future__ import annotations

from collections.abc import Iterator

from workflows.engine.core import Evidence, Severity, Situation
from workflows.facts import DiskFacts, FleetFacts, known, lookup
from workflows.situations import _partitions
from workflows.situations._events import lost_by_events
from workflows.situations._lost import Lost, lost_members, seat_of
from workflows.situations._words import where
from workflows.situations.wwid_mismatch import mismatch

SLUG = "disk-missing"
MANUALS: tuple[str, ...] = ("wwid-mismatch-replace", "blink-and-replace", "replace-boot-member")

MEANINGS = {
    "REMOVED": "Its disk went away: pulled, powered off, or lost by its cable.",
    "UNAVAIL": "ZFS cannot open it.",
    "FAULTED": "ZFS gave it up.",
    "OFFLINE": "It was switched off with `zpool offline`.",
}


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    members = (lost for lost in lost_members(fleet) if lost.role != "log" and mismatch(fleet, lost) is None and not lost.is_sick())
    return (*map(_situation, members), *lost_by_events(fleet, SLUG, ("REMOVED", "UNAVAIL")))


def _situation(lost: Lost) -> Situation:
    return Situation(
        slug=SLUG,
        key=lost.key(SLUG),
        node=lost.node.node,
        severity=_severity(lost),
        title=f"{lost.pool.name}: the {'log device' if lost.role == 'log' else 'member'} {_short(lost)} is {lost.leaf.state}{lost.title_end()}",
        meaning=_meaning(lost),
        evidence=tuple(_evidence(lost)),
        answers=lost.answers("It replaces a lost member by its guid; for a disk that is gone for good it is the same walk."),
        subject=_subject(lost),
        cures=_partitions.before_replacing(lost.pool, lost.leaf, lost.cures()),
        sure=known(lost.node.disks) or lost.leaf.was is None,  # without the disks it is not known which disk has its old name
    )


def _severity(lost: Lost) -> Severity:
    return "watch" if lost.replacement_serves() or lost.role == "log" else "act"


def _meaning(lost: Lost) -> str:
    what = "log device" if lost.role == "log" else "member"
    lines = [f"The {what} {lost.guid} of {lost.pool.name} ({lost.path}) is {lost.leaf.state}. {MEANINGS[lost.leaf.state]}"]
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


def _short(lost: Lost) -> str:
    return lost.leaf.short

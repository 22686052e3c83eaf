"""A member of a pool serves nothing: its disk is gone, switched off, or was given up.

A lost member whose old name leads to another disk is a `wwid-mismatch` instead, and one whose own disk is there and sick is a
`disk-faulted`.
"""

from __future__ import annotations

from collections.abc import Iterator

from workflows.core import Evidence, Situation
from workflows.facts import DiskFacts, FleetFacts, known, lookup
from workflows.situations._events import lost_by_events
from workflows.situations._lost import Lost, lost_leaves
from workflows.situations._words import where
from workflows.situations.wwid_mismatch import mismatch

SLUG = "disk-missing"
MANUALS: tuple[str, ...] = ("wwid-mismatch-replace", "blink-and-replace")

MEANINGS = {
    "REMOVED": "Its disk went away: pulled, powered off, or lost by its cable.",
    "UNAVAIL": "ZFS cannot open it.",
    "FAULTED": "ZFS gave it up.",
    "OFFLINE": "Somebody switched it off with `zpool offline`.",
}


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    missing = tuple(_situation(lost) for lost in lost_leaves(fleet) if mismatch(fleet, lost) is None and not lost.is_sick())
    return (*missing, *lost_by_events(fleet, SLUG, ("REMOVED", "UNAVAIL")))


def _situation(lost: Lost) -> Situation:
    return Situation(
        slug=SLUG,
        key=lost.key(SLUG),
        node=lost.node.node,
        severity="watch" if lost.filling() else "act",
        title=f"{lost.pool.name}: the member {_short(lost)} is {lost.leaf.state}{', and being replaced' if lost.filling() else ''}",
        meaning=_meaning(lost),
        evidence=tuple(_evidence(lost)),
        answers=lost.answers("It replaces a lost member by its guid; for a disk that is gone for good it is the same walk."),
        subject=_subject(lost),
        sure=known(lost.node.disks) or lost.leaf.was is None,  # without the disks nobody knows who has its old name
    )


def _meaning(lost: Lost) -> str:
    said = [f"The member {lost.guid} of {lost.pool.name} ({lost.path}) is {lost.leaf.state}. {MEANINGS[lost.leaf.state]}"]
    place = lost.place_sentence()
    if place:
        said.append(place)
    elif lost.is_back():
        said.append(lost.back_sentence())
    elif (silent := _silent(lost)) is not None:
        said.append(
            f"The kernel still lists {where(silent)} under its name, and it does not answer: it is pulled, or dead. Look at its bay."
        )
    else:
        said.append(
            "If it is only a cable or a loose tray, putting it back resilvers what it missed. If it is gone for good, replace it by its guid."
        )
    said.append(lost.margin_sentence())
    return " ".join(said)


def _silent(lost: Lost) -> DiskFacts | None:
    """The disk that has its by-id name, when nobody could read its label. A kernel name of the past proves nothing."""
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
    return lost.leaf.name.rsplit("/", 1)[-1]

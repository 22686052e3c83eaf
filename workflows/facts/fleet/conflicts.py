"""Disks that cannot be distinguished, or that cannot be one disk: one WWID in two bays, one serial number on two disks, sources at odds.

Two paths, two ports and two nodes of one shelf are one disk, and no conflict. Neither are two logical units of one drive: they
share its serial number and its place.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from workflows.facts import lookup
from workflows.facts.fleet.census import title
from workflows.facts.fleet.identity import Identity, Statement, plain
from workflows.facts.model import DiskFacts, FleetFacts, NodeFacts
from workflows.facts.unknown import known

RECENT_SECONDS = 60  # nodes that reported within this time report one moment; a disk is not carried over faster
SERIAL_DIGITS_MIN = 4

Seen = tuple[tuple[NodeFacts, DiskFacts], ...]


@dataclass(frozen=True)
class Conflict:
    """`kind` is "one-wwid", "one-serial", "sources" or "pool"; `subject` is the WWID or serial number in question."""

    kind: str
    subject: str
    title: str
    sentence: str
    seen: Seen
    grave: bool = False  # the kernel itself may take two disks for one
    sure: bool = True


def conflicts(fleet: FleetFacts) -> tuple[Conflict, ...]:
    by_wwid: dict[str, list[tuple[NodeFacts, DiskFacts]]] = {}
    for node in fleet.nodes.values():
        for disk in node.disks if known(node.disks) else ():
            if known(disk.wwid):
                by_wwid.setdefault(disk.wwid, []).append((node, disk))
    doubtful = {wwid: tuple(seen) for wwid, seen in by_wwid.items() if wwid in fleet.remembered or _may_conflict(seen)}
    found = [c for wwid, seen in doubtful.items() if (c := _of_one_wwid(fleet, wwid, seen)) is not None]
    return (*found, *_one_serial(by_wwid), *_pools(fleet))


def _may_conflict(seen: list[tuple[NodeFacts, DiskFacts]]) -> bool:
    """Nearly every disk is seen by one node whose sources agree; nothing more is asked about it."""
    identity = seen[0][1].identity
    return len(seen) > 1 or (isinstance(identity, Identity) and identity.verdict == "disagree")


def _of_one_wwid(fleet: FleetFacts, wwid: str, seen: Seen) -> Conflict | None:
    """The gravest thing to say of one WWID."""
    return next(
        (c for c in (_two_bays(wwid, seen), _two_serials(fleet, wwid, seen), _two_shelves(wwid, seen), _at_odds(wwid, seen)) if c), None
    )


def _two_bays(wwid: str, seen: Seen) -> Conflict | None:
    for node, disk in seen:
        bays = sorted({s.value for s in _values_of(disk, "bay") if not s.hint})
        if len({bay.rpartition("/")[2] for bay in bays}) > 1:  # two expanders of one shelf may each give it an id of its own
            return Conflict(
                "one-wwid",
                wwid,
                f"{node.node}: one WWID answers from {len(bays)} bays",
                f"{title(disk)} is linked to {' and '.join(_bay(b) for b in bays)}. Two disks carry one WWID, and the kernel and multipath "
                f"take them for one: what is written to one may land on the other. Take one of them out before anything is written.",
                ((node, disk),),
                grave=True,
            )
    return None


def _two_serials(fleet: FleetFacts, wwid: str, seen: Seen) -> Conflict | None:
    here = {s.value for _, disk in seen for s in _values_of(disk, "serial") if s.origin == "kernel"}
    before = [(plain(serial), when) for serial, when in (fleet.remembered[wwid].serials if wwid in fleet.remembered else ())]
    if len(here) > 1:
        what = f"{_where(seen)} read the serial numbers {' and '.join(sorted(here))} from one WWID"
        return Conflict("one-wwid", wwid, f"{what.split(' read')[0]}: one WWID has two serial numbers", f"{what}. {_TWO}", seen, grave=True)
    if here and before and before[0][0] not in here:
        serial, when = before[0]
        sentence = f"{title(seen[0][1])} has the serial number {here.pop()} now and had {serial} before ({when}). {_TWO}"
        return Conflict("one-wwid", wwid, f"{seen[0][0].node}: a WWID came back with another serial number", sentence, seen, sure=False)
    return None


_TWO = "They are two disks under one name, or its electronics were exchanged. Read the number on the sticker before you rely on either."


def _two_shelves(wwid: str, seen: Seen) -> Conflict | None:
    """Two nodes, each seeing the disk in a bay of its own. It may just have been moved, so this is not sure."""
    fresh = [(node, disk, disk.bay) for node, disk in seen if known(disk.bay) and node.age_seconds <= RECENT_SECONDS]
    bays = {(bay.enclosure_id, bay.slot) for _, _, bay in fresh}
    if len({slot for _, slot in bays}) < 2:
        return None
    each = "; ".join(f"{node.node} sees it in bay {bay.slot} of {bay.enclosure_id}" for node, _, bay in fresh)
    sentence = f"One disk cannot be in two bays: {each}. Two disks carry the WWID {wwid}, or one node's report is older than it looks."
    return Conflict(
        "one-wwid", wwid, f"{_where(seen)}: one WWID in two bays", sentence, tuple((node, disk) for node, disk, _ in fresh), sure=False
    )


def _at_odds(wwid: str, seen: Seen) -> Conflict | None:
    for node, disk in seen:
        if isinstance(disk.identity, Identity) and any(disk.identity.witness(kind).contradicted for kind in ("wwid", "serial")):
            sentence = f"{disk.identity.reason} Guards refuse {title(disk)} until its sources agree."
            return Conflict(
                "sources", wwid, f"{node.node}: the sources disagree which disk {' and '.join(disk.names)} is", sentence, ((node, disk),)
            )
    return None


def _one_serial(by_wwid: dict[str, list[tuple[NodeFacts, DiskFacts]]]) -> Iterator[Conflict]:
    by_serial: dict[tuple[str, str, str], list[str]] = {}
    for wwid, seen in by_wwid.items():
        disk = seen[0][1]
        if known(disk.serial) and disk.model and _is_telling(serial := plain(disk.serial)):
            by_serial.setdefault((disk.vendor, disk.model, serial), []).append(wwid)
    for (_, model, serial), wwids in by_serial.items():
        apart = _apart({wwid: by_wwid[wwid] for wwid in wwids}) if len(wwids) > 1 else ()
        if len(apart) > 1:
            pairs = tuple(pair for wwid in apart for pair in by_wwid[wwid])
            each = "; ".join(f"{title(disk)} on {node.node}{_in_bay(disk)}" for node, disk in pairs)
            sentence = f"{len(apart)} disks of the model {model} say they have the serial number {serial}: {each}. The number does not distinguish "
            yield Conflict(
                "one-serial",
                serial,
                f"{_where(pairs)}: {len(apart)} disks have the serial number {serial}",
                sentence + "them apart: go by the WWID and a lit bay, and pull no disk by its serial number.",
                pairs,
            )


def _is_telling(serial: str) -> bool:
    return len(serial) >= SERIAL_DIGITS_MIN and len(set(serial)) > 1


def _apart(seen: dict[str, list[tuple[NodeFacts, DiskFacts]]]) -> tuple[str, ...]:
    """The WWIDs that cannot be logical units of one drive, because no two of them share a place."""
    taken: set[object] = set()
    apart = []
    for wwid, pairs in seen.items():
        places = {place for node, disk in pairs for place in _housings(node, disk)}
        if not places & taken:
            apart.append(wwid)
        taken |= places
    return tuple(apart)


def _housings(node: NodeFacts, disk: DiskFacts) -> Iterator[object]:
    """Where the drive is that a logical unit belongs to: its bay, its SCSI target, its NVMe controller."""
    if known(disk.bay):
        yield (disk.bay.enclosure_id, disk.bay.slot)
    for path in disk.paths:
        if path.name.startswith("nvme"):
            yield (node.node, path.name.rpartition("n")[0])
        elif path.hctl:
            yield (node.node, path.hctl.rpartition(":")[0])


def _pools(fleet: FleetFacts) -> Iterator[Conflict]:
    """Leaves in service whose name leads to a disk with the label of another vdev."""
    for member in lookup.members(fleet):
        vdev, here = member.vdev, fleet.nodes[member.node]
        if vdev.state not in lookup.IN_SERVICE or known(vdev.wwid) or not known(vdev.guid):
            continue
        disk = lookup.at_path(here, vdev.name)
        if not known(disk) or disk is None or not known(disk.wwid) or not known(disk.labels) or not disk.labels:
            continue
        if vdev.guid not in {label.guid for label in disk.labels}:
            label = disk.labels[0]
            yield Conflict(
                "pool",
                f"{member.pool}:{vdev.guid}",
                f"{member.node}: {member.pool} serves {vdev.guid} from a disk that carries another label",
                f"{member.pool} has {vdev.guid} open as {vdev.name}, which leads to {title(disk)}, and that disk's label says it is vdev "
                f"{label.guid} of {label.pool_name or 'no pool'}. Labels are read seldom: have the node look again before you conclude anything.",
                ((here, disk),),
                sure=False,
            )


def _values_of(disk: DiskFacts, kind: str) -> tuple[Statement, ...]:
    return disk.identity.witness(kind).statements if isinstance(disk.identity, Identity) else ()


def _where(seen: Seen) -> str:
    return " and ".join(dict.fromkeys(node.node for node, _ in seen))


def _bay(value: str) -> str:
    enclosure, _, slot = value.rpartition("/")
    return f"bay {slot} of {enclosure}"


def _in_bay(disk: DiskFacts) -> str:
    return f" in bay {disk.bay.slot}" if known(disk.bay) else ""

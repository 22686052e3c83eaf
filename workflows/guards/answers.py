"""Judging what a person at the rack types or scans. The answer must be right, and a wrong one says what to do with it."""

import re

from workflows.engine.core import Params, Verdict, ok, refuse, unknown
from workflows.facts import DiskFacts, Ever, FleetFacts, known, lookup, title
from workflows.guards.bay import has_no_bay, words
from workflows.guards.scanned import bay_of, names, same_serial, serial_of, wwid_of

SERIAL = re.compile(r"(?=[^0-9]*[0-9])[A-Z0-9][A-Z0-9_.-]{3,39}")  # every maker counts, so a word without a digit is none


def a_disk_from_the_shelf(facts: FleetFacts, params: Params, answer: str) -> tuple[Verdict, ...]:
    """A disk that no node uses: in no bay of any node but the one it is meant for, and no member that is missed."""
    serial = serial_of(answer)
    if SERIAL.fullmatch(serial) is None and not wwid_of(answer):
        return (refuse(f"“{answer}” is no serial number. Scan the bar code that is marked S/N on the new disk."),)
    if _is_the_old_disk(params, answer):
        return (refuse(f"{serial} is the disk that is to go. Scan the new one."),)
    seen = []
    for here in facts.nodes.values():
        if not known(here.disks):
            return (unknown(f"Whether {here.node} has this disk in a bay is not known: {here.disks.reason}"),)
        seen += [(here.node, disk) for disk in here.disks]
    before = [one for one in facts.ever if _named(answer, one)]
    known_as = {one.wwid for one in before}  # a disk that says another serial number now is found by its WWID
    found = [(node, disk) for node, disk in seen if names(answer, disk) or disk.wwid in known_as]
    if any(not _is_in_the_bay_meant(facts, params, node, disk) for node, disk in found):
        node, disk = next(one for one in found if not _is_in_the_bay_meant(facts, params, *one))
        where = f" in bay {disk.bay.slot} of {disk.bay.enclosure_id}" if known(disk.bay) else ""
        return (refuse(f"{serial} is {title(disk)} of {node}{where}, and not on the shelf. Take another disk."),)
    if found:
        return (ok(f"{serial} is in {words(params)} already."),)
    return (_by_what_was_seen_before(facts, serial, before),)


def _is_in_the_bay_meant(facts: FleetFacts, params: Params, node: str, disk: DiskFacts) -> bool:
    if has_no_bay(params):
        return node == params.get("node", "") and _came_for_the_old_one(facts, params, disk)
    bay = known(disk.bay) and (disk.bay.enclosure_id, str(disk.bay.slot)) == (params.get("enclosure", ""), params.get("slot", ""))
    return bay and node == params.get("node", "") and known(disk.wwid) and disk.wwid != params.get("old_wwid", "")


def _came_for_the_old_one(facts: FleetFacts, params: Params, disk: DiskFacts) -> bool:
    """Without a bay: the old disk is gone, and this one is in use by no pool. What it holds is asked before anything is written to it."""
    old = lookup.disk(facts, params.get("node", ""), params.get("old_wwid", ""))
    read = all(lookup.trees_known(node) for node in facts.nodes.values())
    return old is None and read and known(disk.wwid) and not lookup.owner_of_disk(facts, disk.wwid)


def _named(answer: str, one: Ever) -> bool:
    """By a serial number that it says or said, or by its WWID."""
    return any(same_serial(answer, serial) for serial in (one.serial, *one.former_serials)) or wwid_of(answer) == one.wwid


def _by_what_was_seen_before(facts: FleetFacts, serial: str, before: list[Ever]) -> Verdict:
    """A disk that is in no bay now. If a pool still uses it, it was pulled by mistake and must go back."""
    for one in before:
        missed = next((m for m in lookup.members(facts) if one.vdev_guid and str(m.vdev.guid) == one.vdev_guid), None)
        if missed is not None:
            return refuse(f"{serial} is a member of {missed.pool} on {missed.node}{_left(one)}. Put it back there, and take another disk.")
    if before:
        return ok(f"No node has a disk with the serial number {serial} in a bay now{_left(before[0])}.")
    return ok(f"No node has ever shown a disk with the serial number {serial}. It can be scanned again until a command rests on it.")


def _left(one: Ever) -> str:
    return f", last seen in {one.place} {one.until}" if one.place else ""


def the_bay_that_blinks(facts: FleetFacts, params: Params, text: str) -> tuple[Verdict, ...]:
    """The number of the lit bay, or the serial number or WWN on the disk in it."""
    answer, bay = serial_of(text), bay_of(text)
    if (bay and bay == params.get("slot")) or _is_the_old_disk(params, text):
        return (ok(f"It is {words(params)}, with the disk {params.get('old_serial', '')}."),)
    if bay:
        return (
            refuse(
                f"You see bay {bay} blink, and that is not the bay that was lit. Pull nothing. "
                "Check that you stand before the right enclosure, and how its bays are counted."
            ),
        )
    other = _disk_with(facts, params, text)
    if other is not None:
        return (refuse(f"{answer} is {title(other)}, which stays. Pull nothing, and look again."),)
    return (refuse(f"{answer} is neither the bay that was lit nor the serial number of the disk in it. Pull nothing, and look again."),)


def the_serial_that_was_pulled(facts: FleetFacts, params: Params, answer: str) -> tuple[Verdict, ...]:
    if _is_the_old_disk(params, answer):
        return (ok(f"{serial_of(answer)} is the disk that was to go."),)
    return (refuse(f"{serial_of(answer)} is not the disk that was to go, {_printed_on_it(params)}. Put it back now."),)


def the_disk_meant_in_its_place(facts: FleetFacts, params: Params, answer: str) -> tuple[Verdict, ...]:
    """The serial number or WWN on a disk that the kernel may not see any more, read before it is pulled. No disk that stays may go by the same."""
    node = lookup.node(facts, params.get("node", ""))
    if not known(node) or not known(node.disks):
        return (unknown(f"The disks of {params.get('node', '')} are not known. Have it look again."),)
    other = next((disk for disk in node.disks if disk.wwid != params.get("old_wwid", "") and names(answer, disk)), None)
    if not _is_the_old_disk(params, answer):
        which = f"is {title(other)}, which stays" if other else f"is not the disk that is to come out, {_printed_on_it(params)}"
        return (refuse(f"{serial_of(answer)} {which}. Pull nothing, and look for that one."),)
    if other:
        return (
            refuse(f"{serial_of(answer)} is the disk meant and {title(other)} alike. Pull nothing; scan the WWN on its label instead."),
        )
    return (ok(f"{serial_of(answer)} is the disk that is to come out."),)


def _printed_on_it(params: Params) -> str:
    return params.get("old_serial") or params.get("old_wwid", "")


def the_chosen_disk(facts: FleetFacts, params: Params, answer: str) -> tuple[Verdict, ...]:
    """The serial number on the disk that was chosen, which no other disk of the node may have too."""
    otherwise = "Look for that one, or begin again with another."
    return (_this_disk(facts, params, answer, "the disk that was chosen", otherwise),)


def the_disk_that_comes_out(facts: FleetFacts, params: Params, answer: str) -> tuple[Verdict, ...]:
    """The serial number on the disk that no light leads to, read in its place before anything is pulled."""
    about = {**params, "wwid": params.get("old_wwid", "")}
    return (_this_disk(facts, about, answer, "the disk that comes out", "Pull nothing, and look for that one."),)


def _this_disk(facts: FleetFacts, params: Params, answer: str, which: str, otherwise: str) -> Verdict:
    node = lookup.node(facts, params.get("node", ""))
    disk = lookup.disk(facts, params.get("node", ""), params.get("wwid", ""))
    if not known(node) or not known(node.disks):
        return unknown(f"The disks of {params.get('node', '')} are not known. Have it look again.")
    if not known(disk) or disk is None:
        return unknown(f"{params.get('node', '')} does not see {which}. Have it look again.")
    if not names(answer, disk):
        return refuse(f"{serial_of(answer)} is not {which}, {title(disk)}. {otherwise}")
    if other := next((each for each in node.disks if each.wwid != disk.wwid and names(answer, each)), None):
        return refuse(f"{serial_of(answer)} is {title(disk)} and {title(other)} alike. Take out the one that is not meant.")
    return ok(f"{serial_of(answer)} is {which}, {title(disk)}.")


def _is_the_old_disk(params: Params, answer: str) -> bool:
    wwid = wwid_of(answer)
    return same_serial(answer, params.get("old_serial", "")) or (bool(wwid) and wwid == params.get("old_wwid"))


def _disk_with(facts: FleetFacts, params: Params, answer: str) -> DiskFacts | None:
    node = lookup.node(facts, params.get("node", ""))
    disks = node.disks if known(node) and known(node.disks) else ()
    return next((disk for disk in disks if names(answer, disk)), None)

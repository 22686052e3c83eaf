"""Questions about the disk that comes into the bay of the one that went."""

from workflows.engine.core import Params, Verdict, guard, ok, refuse
from workflows.facts import DiskFacts, FleetFacts, known, need
from workflows.guards.bay import NOT_LIT, disks_in, has_no_bay, words
from workflows.guards.scanned import names
from workflows.guards.subject import name_of, the_disk


@guard
def the_new_disk_sits_where_the_old_one_was(facts: FleetFacts, params: Params) -> Verdict:
    disk = need(the_disk(facts, params))
    if has_no_bay(params):
        return _by_its_serial_number(disk, params)
    inside = need(disks_in(facts, params))
    if any(known(d.wwid) and d.wwid == params.get("wwid", "") for d in inside):
        return ok(f"{name_of(disk)} sits in {words(params)}.")
    return refuse(f"{name_of(disk)} is not in {words(params)}, which the old disk left. Choose the disk in that bay.")


def _by_its_serial_number(disk: DiskFacts, params: Params) -> Verdict:
    """No source says where either disk sits: it is the one that was scanned, or it is not taken."""
    if not names(params.get("spare_serial", ""), disk):
        return refuse(f"{name_of(disk)} is not the disk that was scanned. Choose that one.")
    return ok(f"{NOT_LIT}; {name_of(disk)} is known by the serial number that was scanned.")


@guard
def the_new_disk_is_the_one_planned(facts: FleetFacts, params: Params) -> Verdict:
    disk = need(the_disk(facts, params))
    serial = need(disk.serial, f"The serial number of {name_of(disk)} is not known")
    if not names(params.get("spare_serial", ""), disk):
        return refuse(
            f"{name_of(disk)} has the serial number {serial}; the disk planned is {params.get('spare_serial', '')}. "
            "Put that one in, or scan the new disk again."
        )
    return ok(f"{name_of(disk)} has the serial number that was planned.")


NEW_DISK_GUARDS = (the_new_disk_sits_where_the_old_one_was, the_new_disk_is_the_one_planned)

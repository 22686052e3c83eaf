"""What device-delete-reimport offers to choose from, fills into its orders, and shows beside a plan."""

from collections.abc import Mapping
from typing import Any

from agents.operations import zdb_without, zpool_import_writable
from workflows.engine.core import Option, Params, ask, unknown
from workflows.facts import FleetFacts, known, lookup, title
from workflows.facts.fleet.divergence import Row, rows
from workflows.guards.importing import IMPORT_GUARDS, the_pool_is_not_imported_here
from workflows.guards.rewinding import no_force_is_needed
from workflows.guards.subject import number
from workflows.guards.suspect import (
    MAY_BE_GUARDS,
    SUSPECT_GUARDS,
    it_is_gone_from_the_kernel,
    members_here,
    of_the_old_disk,
    the_difference,
    what_the_others_end_with,
)
from workflows.runbooks._orders import named
from workflows.runbooks._replacing import what_is_left_meanwhile

SUSPECT = tuple(map(of_the_old_disk, SUSPECT_GUARDS))
MAY_BE = tuple(map(of_the_old_disk, MAY_BE_GUARDS))
it_is_gone = of_the_old_disk(it_is_gone_from_the_kernel)
compared = of_the_old_disk(what_the_others_end_with)
WRITE_GUARDS = (*IMPORT_GUARDS, no_force_is_needed, it_is_gone)
write_params = named(*zpool_import_writable.PARAMS)


def delete_params(facts: FleetFacts, params: Params) -> Mapping[str, str]:
    return {"pool": params["pool"], "pool_guid": params["pool_guid"], "wwid": params.get("old_wwid", "")}


def from_the_trial(text: str) -> Mapping[str, str]:
    """One of three sentences; what is none of them proves nothing."""
    line = text.partition("\n")[0].rstrip(".")
    return {"tried": next((end for end in (zdb_without.OPENS, zdb_without.OPENS_ANYWAY, zdb_without.DOES_NOT) if line.endswith(end)), "")}


def what_speaks_against_it(facts: FleetFacts, params: Params) -> tuple[Option, ...]:
    tried = params.get("tried") or "was not tried without it"
    return (
        Option("delete", "Take the disk away from the kernel", f"{params.get('pool', '')} {tried}.", ask(SUSPECT, facts, params)),
        Option(
            "hand-over",
            "Take nothing away: hand over",
            "It is not this disk, or not known well enough. rewind-import shows what the disks still hold, and writes nothing either.",
            ask((the_pool_is_not_imported_here,), facts, params),
            leads_to="hand-over",
        ),
    )


def rescan_params(facts: FleetFacts, params: Params) -> Mapping[str, str]:
    bay = {name: params.get(name, "") for name in ("enclosure", "slot")}
    return {**delete_params(facts, params), **bay}


def every_member(facts: FleetFacts, params: Params) -> tuple[Option, ...]:
    """All disks that carry a label of the pool, the suspect first."""
    node, guid = lookup.node(facts, params.get("node", "")), number(params, "pool_guid")
    if not known(node) or not known(guid):
        return ()
    options = [_member(row, facts, params) for row in rows(node, guid)]
    return tuple(sorted(options, key=lambda option: sum(v.outcome != "pass" for v in option.verdicts)))


def _member(row: Row, facts: FleetFacts, params: Params) -> Option:
    disk = row.disk
    bay = f"bay {disk.bay.slot} of {disk.bay.enclosure_id}" if known(disk.bay) else "bay not known"
    text = f"{bay}; its label is of txg {row.label.txg}, written by {row.label.hostname}"
    if not known(disk.wwid):
        return Option(f"no-wwid:{' '.join(disk.names)}", title(disk), text, (unknown("It has no identity to be trusted."),))
    about = {**params, "old_wwid": disk.wwid}
    return Option(disk.wwid, title(disk), text, ask(MAY_BE, facts, about), fixes=_what_is_kept(row, facts, about))


def _what_is_kept(row: Row, facts: FleetFacts, params: Params) -> Mapping[str, str]:
    """What cannot be read any more once it is gone: its vdev, its serial number, its bay, and how much it holds more than the others."""
    disk, difference = row.disk, the_difference(facts, {**params, "wwid": params["old_wwid"]})
    serial = {"old_serial": disk.serial} if known(disk.serial) else {}
    place = {"enclosure": disk.bay.enclosure_id, "slot": str(disk.bay.slot)} if known(disk.bay) else {}
    loss = {"loss": difference.loss, "ends_with": str(difference.without)} if known(difference) else {}
    here = members_here(facts, {**params, "vdev_guid": str(row.label.guid)})
    others = {"others": str(len(here))} if known(here) else {}
    return {"vdev_guid": str(row.label.guid), **serial, **place, **loss, **others}


def what_goes_with_it(facts: FleetFacts, params: Params, plan: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"compared": compared(facts, params).reason}


def what_is_given_up(facts: FleetFacts, params: Params, plan: Mapping[str, Any]) -> Mapping[str, Any]:
    text = f"The pool goes on from txg {params.get('ends_with', '')}. What {params.get('old_wwid', '')} holds of {params.get('loss', '')} more is lost."
    return {"given_up": text}


def what_leaves(facts: FleetFacts, params: Params, plan: Mapping[str, Any]) -> Mapping[str, Any]:
    """The disk that was pulled: the node does not see it any more, and its serial number has to be typed."""
    disk = {"wwid": params.get("old_wwid", ""), "serial": params.get("old_serial", "")}
    place = {"bay": f"{params['enclosure']}/{params['slot']}"} if {"enclosure", "slot"} <= set(params) else {}
    return {"leaving": {**disk, **place}, **what_is_left_meanwhile(facts, params, plan)}


def what_was_compared(facts: FleetFacts, params: Params) -> tuple[Option, ...]:
    gives_up = f"It goes on without {params.get('old_wwid', '')}, whose last {params.get('loss', 'seconds')} no other disk knows of."
    keeps = "Nothing is written. The disk is pulled, so that no host imports with it, and a person goes on from there."
    return (
        Option("write", "Import it for writing without this disk, then replace the disk", gives_up, ask(WRITE_GUARDS, facts, params)),
        Option(
            "leave", "Write nothing: pull the disk and hand over", keeps, ask((the_pool_is_not_imported_here,), facts, params), "leave-find"
        ),
    )


def pool_and_loss(params: Params, plan: Mapping[str, Any]) -> str:
    return f"{params['pool']} loses {params.get('loss', '')}"


def serial_end_and_pool(params: Params, plan: Mapping[str, Any]) -> str:
    """By the WWID of the disk where it reported no serial number: an empty word could not be typed."""
    return f"{(params.get('old_serial') or params['old_wwid'])[-6:]} {params['pool']}"


def what_must_be_held(facts: FleetFacts, params: Params) -> tuple[str, ...]:
    """The pool, and one disk: the one that comes as soon as it is chosen."""
    return (f"pool:{params['pool_guid']}", *(f"disk:{wwid}" for wwid in filter(None, (params.get("wwid") or params.get("old_wwid"),))))

"""Bring a mode of one disk in line with others of its model: the write cache (WCE) or the background scan (EN_BMS).

    deviates -> chosen -> out of service -> confirmed -> approved -> switched -> read back -> in service again

One disk at a time, and only while it serves nothing. From `switch` on the mode counts and is saved; undoing it is another run with
the opposite value. A write cache is switched off here, never on.
"""

from collections.abc import Mapping
from typing import Any

from agents.operations import set_drive_mode, zpool_offline, zpool_online
from workflows.engine.core import CheckStep, ConfirmStep, DecideStep, Loop, Option, Params, Runbook, WaitStep
from workflows.facts import FleetFacts, known
from workflows.facts.fleet.mode_drift import MODES
from workflows.guards import modes
from workflows.guards.fate import nothing_of_the_pool_comes_first
from workflows.guards.policy import allowed
from workflows.guards.releases import released
from workflows.guards.returning import the_member_holds_its_share
from workflows.guards.target import (
    no_expansion_is_under_way,
    no_removal_is_under_way,
    the_pool_is_imported_here_and_nowhere_else,
    the_pool_is_not_suspended,
)
from workflows.runbooks._orders import named, order, verify
from workflows.runbooks._replacing import how_far_the_resilver_is, since_when_it_serves, what_is_left_without_it

CATCH_UP_SECONDS = 6 * 3600  # a member that was away for minutes catches up with what was written meanwhile
AUDIT_GUARDS = (
    *modes.AUDIT_GUARDS,
    the_pool_is_imported_here_and_nowhere_else,
    the_pool_is_not_suspended,
    no_removal_is_under_way,
    no_expansion_is_under_way,
    modes.the_vdev_can_spare_it,
    nothing_of_the_pool_comes_first,
)
SWITCH_GUARDS = (*AUDIT_GUARDS, modes.the_disk_rests, modes.the_switch_is_towards_its_like)
BACK_GUARDS = (modes.the_disk_is_the_one_meant, the_pool_is_imported_here_and_nowhere_else, the_pool_is_not_suspended)

member_params = named(*zpool_offline.PARAMS)


def changes_there_are(facts: FleetFacts, params: Params) -> tuple[Option, ...]:
    """Each mode to each value, and why it is refused: a value that is not offered is listed with the reason."""
    return tuple(_option(facts, params, mode, on) for mode in MODES for on in (False, True))


def _option(facts: FleetFacts, params: Params, mode: str, on: bool) -> Option:
    found = modes.the_deviation(facts, params, mode)
    now = f"now {found.switch.words}; {found.usual.words}" if known(found) else found.reason
    return Option(
        f"{mode} {int(on)}", f"Switch the {MODES[mode]} {'on' if on else 'off'} ({mode})", now, (modes.judged(facts, params, mode, on),)
    )


def switch_params(facts: FleetFacts, params: Params) -> Mapping[str, str]:
    mode, _, value = params.get("change", "").partition(" ")
    given = {name: params[name] for name in ("pool", "pool_guid", "vdev_guid")}
    return {**given, "wwid": params["old_wwid"], "mode": mode, "value": value}


def which_disk(facts: FleetFacts, params: Params, plan: Mapping[str, Any]) -> Mapping[str, Any]:
    """The disk as people know it, and what it has beside its like."""
    change = modes.the_change(params)
    found = modes.the_deviation(facts, params, change[0]) if known(change) else change
    text = f"{found.switch.words}; {found.usual.words}" if known(found) else found.reason
    return {"disk": {"wwid": params["old_wwid"], "serial": params["old_serial"], "mode": text}}


def serial_end_and_change(params: Params, plan: Mapping[str, Any]) -> str:
    return f"{params['old_serial'][-6:]} {params['change']}"


def what_must_be_held(facts: FleetFacts, params: Params) -> tuple[str, ...]:
    """The pool, the disk, and the modes of the node: one disk at a time."""
    return (f"pool:{params['pool_guid']}", f"disk:{params['old_wwid']}", f"modes:{params['node']}")


RESTING = Loop(
    slug="resting",
    what=lambda params: f"The member {params['vdev_guid']} of {params['pool']} (serial {params['old_serial']}) is out of service.",
    undo="Bring it back with `zpool online`, and wait until it has caught up.",
    over=modes.the_disk_is_in_service,
)

RUNBOOK = Runbook(
    slug="drive-mode-audit",
    title="Bring a mode of one disk in line with its model",
    purpose="One disk caches writes or scans itself where others of its model and firmware do not. This switches that mode on this one disk, "
    "while it serves nothing, saves it, and reads it back.",
    states="deviates -> chosen -> out of service -> confirmed -> approved -> switched -> read back -> in service again",
    point_of_no_return="switch",
    params={
        "node": "the node that has the pool imported",
        "pool": "the pool's name",
        "pool_guid": "the pool's guid",
        "vdev_guid": "the guid of the member or hot spare",
        "old_wwid": "the WWID of its disk",
        "old_serial": "the serial number of its disk",
    },
    locks=what_must_be_held,
    undo="plan-back",
    steps=(
        CheckStep(
            slug="check",
            title="Check disk and pool",
            why="Every guard must pass: which disk it is, and whether its vdev can do without it for some minutes.",
            guards=(*AUDIT_GUARDS, allowed(set_drive_mode), released(set_drive_mode)),
        ),
        DecideStep(
            slug="change",
            title="Choose what is switched",
            why="Only to the value that most disks of this model and firmware have. A mode is set per model; changing it repairs nothing.",
            guards=(modes.what_the_audit_reads_is_fresh,),
            param="change",
            options=changes_there_are,
        ),
        *order(
            "offline",
            "Take the member out of service",
            zpool_offline,
            member_params,
            AUDIT_GUARDS,
            "It is known again when it comes back, and catches up. A hot spare, or a member that is OFFLINE already, is left as it is.",
            also=(zpool_online,),
            approvals=1,
            needed=modes.the_disk_is_in_service,
            adds=what_is_left_without_it,
            opens=RESTING,
        ),
        CheckStep(
            slug="rests",
            title="Check that it serves nothing",
            why="No data may depend on what a disk acknowledges while its cache is switched.",
            guards=(modes.what_the_audit_reads_is_fresh, modes.the_disk_rests, modes.the_switch_is_towards_its_like),
        ),
        *order(
            "switch",
            "Switch the mode and save it",
            set_drive_mode,
            switch_params,
            SWITCH_GUARDS,
            "The disk is named by its WWID, takes the mode at once, and keeps it over a power cut.",
            confirm=ConfirmStep(
                slug="confirm",
                title="Confirm disk and mode",
                why="You type which disk gets which mode.",
                phrase=serial_end_and_change,
                phrase_hint="Type the last 6 characters of the disk's serial number, a space, the mode, a space, and 0 or 1.",
            ),
            approvals=1,
            adds=which_disk,
        ),
        verify(
            "read-back",
            "Read the mode back",
            "The node asks the disk again: what it has now, what it will have after a power cut, and what the kernel assumes.",
            (modes.the_mode_is_as_wanted, modes.the_kernel_flushes_what_the_disk_caches),
            ("drive_modes", "block", "zpool_status", "zpool_status_guid", "zdb_label"),
        ),
        *order(
            "back",
            "Bring the member back into service",
            zpool_online,
            member_params,
            BACK_GUARDS,
            "It catches up with what was written meanwhile.",
            undoes="resting",
        ),
        WaitStep(
            slug="catch-up",
            title="Wait until it has caught up",
            why="Until then the vdev survives one loss less. The resilver begins only after a pause.",
            until=the_member_holds_its_share,
            keeps=since_when_it_serves,
            learned=("serving",),
            progress=how_far_the_resilver_is,
            deadline_seconds=CATCH_UP_SECONDS,
            undoes="resting",
        ),
        verify(
            "whole",
            "Verify that the vdev is whole",
            "The run ends only when the member serves and holds its share.",
            (modes.the_member_has_caught_up,),
            undoes="resting",
            closes=("resting",),
        ),
    ),
)

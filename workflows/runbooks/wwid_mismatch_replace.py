"""Replace a lost pool member whose old name now belongs to another disk.

    lost -> disk chosen -> checked -> planned -> confirmed -> approved -> replacing -> resilvered -> verified

The lost member is known by its vdev guid alone: its old name and its devid prove nothing. The new disk is known by
its WWID and carries no label. Until `replace` nothing on the node has changed. From `replace` on there is only
forward: ZFS has started writing to the new disk.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workflows.core import Params, Runbook, Step
from workflows.facts import FleetFacts, known
from workflows.guards import CANDIDATE_GUARDS, TARGET_GUARDS, facts_are_fresh
from workflows.guards.replaced import REPLACED_GUARDS, the_new_disk_has_taken_over
from workflows.guards.subject import the_disk
from workflows.runbooks._replacing import (
    RESILVER_SECONDS_MAX,
    every_disk,
    how_far_the_resilver_is,
    plan_is_for_what_was_chosen,
    replace_params,
    what_is_left_meanwhile,
)


def what_must_be_held(facts: FleetFacts, params: Params) -> tuple[str, ...]:
    """The pool, the disk and its bay: two runs must not meet in any of them."""
    disk = the_disk(facts, params)
    if not known(disk) or not known(disk.bay):
        return ()
    return (f"pool:{params['pool_guid']}", f"disk:{params['wwid']}", f"bay:{disk.bay.enclosure_id}/{disk.bay.slot}")


def guid_end_and_pool(params: Params, plan: Mapping[str, Any]) -> str:
    return f"{params['vdev_guid'][-6:]} {params['pool']}"


RUNBOOK = Runbook(
    slug="wwid-mismatch-replace",
    title="Replace a lost member whose old name belongs to another disk",
    purpose="A pool has lost a member, and the name the pool remembers for it leads to a disk that is somebody else now. "
    "This puts a blank disk into the lost member's place, naming both by what cannot move: vdev guid and WWID.",
    states="lost -> disk chosen -> checked -> planned -> confirmed -> approved -> replacing -> resilvered -> verified",
    point_of_no_return="replace",
    params={
        "node": "the node that has the pool imported",
        "pool": "the pool's name",
        "pool_guid": "the pool's guid",
        "vdev_guid": "the guid of the lost member",
        "was": "the name the pool remembers for it; a string of the past",
    },
    locks=what_must_be_held,
    steps=(
        Step(
            slug="choose",
            title="Choose the new disk",
            kind="DECIDE",
            why="Every disk the node sees is listed, with what speaks for and against it. Only a blank disk of fitting size in a "
            "known bay can be chosen. Nothing changes on the node.",
            guards=(facts_are_fresh,),
            param="wwid",
            options=every_disk,
        ),
        Step(
            slug="check",
            title="Check pool, lost member and new disk",
            kind="CHECK",
            why="Each question must be answered with yes. What cannot be told counts as no.",
            guards=(*TARGET_GUARDS, *CANDIDATE_GUARDS),
        ),
        Step(
            slug="plan",
            title="Have the node plan it",
            kind="PLAN",
            why="The node reads everything again and says the exact command, what goes, what comes, and how the pool will look. "
            "It changes nothing, and holds itself to these facts when the command runs.",
            guards=(*TARGET_GUARDS, *CANDIDATE_GUARDS),
            operation="zpool_replace",
            params=replace_params,
            agrees=plan_is_for_what_was_chosen,
            adds=what_is_left_meanwhile,
        ),
        Step(
            slug="confirm",
            title="Confirm what is replaced",
            kind="CONFIRM",
            why="You type what you believe is being replaced. It is the guid and not a serial number, because the lost disk cannot "
            "be asked for its serial, and the disk that has its name today is another one.",
            phrase=guid_end_and_pool,
            phrase_hint="Type the last 6 digits of the lost member's guid, a space, and the pool's name.",
        ),
        Step(
            slug="approve",
            title="Have another person approve the plan",
            kind="APPROVE",
            why="Somebody who had no hand in this run reads the plan. The approval is for this plan only; a new plan needs a new one.",
            approvals=1,
        ),
        Step(
            slug="replace",
            title="Replace the disk",
            kind="EXECUTE",
            why="The node checks everything once more and runs the one command of the plan, at most once. All content of the new "
            "disk is overwritten; what the pool holds stays readable meanwhile.",
            guards=(*TARGET_GUARDS, *CANDIDATE_GUARDS),
            operation="zpool_replace",
            effect="at_most_once",
            destructive=True,
            params=replace_params,
        ),
        Step(
            slug="resilver",
            title="Wait for the resilver",
            kind="WAIT",
            why="ZFS fills the new disk and then lets the old member go. Until then the vdev survives no more losses than before.",
            until=the_new_disk_has_taken_over,
            sources=("zpool_status", "zpool_status_guid", "zdb_label"),
            progress=how_far_the_resilver_is,
            deadline_seconds=RESILVER_SECONDS_MAX,
        ),
        Step(
            slug="verify",
            title="Verify that the pool is whole",
            kind="VERIFY",
            why="The node looks again, and every answer rests on what it says after the command has ended.",
            guards=REPLACED_GUARDS,
            sources=("zpool_status", "zpool_status_guid", "zdb_label", "block"),
        ),
    ),
)

"""Destroy one snapshot in which data is damaged, when nothing needs it.

    damaged snapshot listed -> checked -> chosen -> planned -> confirmed -> approved -> destroyed -> verified

One snapshot, named with its guid and txg; never -r, -R or a range. What it alone holds is gone for good. A hold or a clone refuses.
"""

from collections.abc import Mapping
from typing import Any

from agents.operations import zfs_destroy_snapshot
from workflows.engine.core import CheckStep, ConfirmStep, DecideStep, Params, Runbook
from workflows.facts import FleetFacts
from workflows.guards import facts_are_fresh
from workflows.guards.mass import every_member_serves
from workflows.guards.policy import allowed
from workflows.guards.releases import released
from workflows.guards.target import the_pool_is_imported_here_and_nowhere_else, the_pool_is_not_suspended
from workflows.runbooks._orders import named, order, verify, what_must_be_held
from workflows.runbooks.destroy_damaged_snapshot.guards import (
    a_damaged_snapshot_is_known,
    snapshots_there_are,
    the_snapshot_is_gone,
    the_snapshot_is_the_chosen_one_and_free,
)

GUARDS = (
    facts_are_fresh,
    the_pool_is_imported_here_and_nowhere_else,
    the_pool_is_not_suspended,
    every_member_serves,
)


def what_goes(facts: FleetFacts, params: Params, plan: Mapping[str, Any]) -> Mapping[str, Any]:
    name, guid = params.get("snapshot", ""), params.get("snapshot_guid", "")
    return {"given_up": f"The snapshot {name} (guid {guid}) is destroyed. What only it holds is lost for good, the undamaged files too."}


def guid_end_and_pool(params: Params, plan: Mapping[str, Any]) -> str:
    return f"{plan['params']['snapshot_guid'][-6:]} {params['pool']}"


RUNBOOK = Runbook(
    slug="destroy-damaged-snapshot",
    title="Destroy one damaged snapshot that nothing needs",
    purpose="Nothing can be restored into a snapshot, so a damaged block that it holds stays listed for as long as it exists. This destroys one snapshot, "
    "which is chosen from the list with its guid, when it has no holds and no clones and another person agrees. Where a stream of it exists elsewhere, "
    "`zfs receive -c` mends it instead, in OpenZFS 2.2 and newer. Afterwards damaged-data scrubs until the list is empty.",
    states="damaged snapshot listed -> checked -> chosen -> planned -> confirmed -> approved -> destroyed -> verified",
    point_of_no_return="destroy",
    params={"node": "the node that has the pool imported", "pool": "the pool's name", "pool_guid": "the pool's guid"},
    locks=what_must_be_held,
    steps=(
        CheckStep(
            slug="check",
            title="Check that a snapshot is damaged and every member serves",
            why="While a member is away, data may only be out of reach. Every guard must pass. What is not known counts as a refusal.",
            guards=(*GUARDS, a_damaged_snapshot_is_known, allowed(zfs_destroy_snapshot), released(zfs_destroy_snapshot)),
        ),
        DecideStep(
            slug="snapshot",
            title="Choose the snapshot that goes",
            why="What only this snapshot holds is gone afterwards. Copy out first what is still wanted of it, from its .zfs/snapshot folder.",
            param="snapshot",
            options=snapshots_there_are,
            learned=("snapshot_guid", "createtxg"),
        ),
        *order(
            "destroy",
            "Destroy the snapshot",
            zfs_destroy_snapshot,
            named(*zfs_destroy_snapshot.PARAMS),
            (*GUARDS, the_snapshot_is_the_chosen_one_and_free),
            "The node reads its guid, its txg, holds and clones again right before. There is no way back.",
            confirm=ConfirmStep(
                slug="confirm",
                title="Confirm which snapshot is destroyed",
                why="Snapshots of a rotation differ in a date. You type the end of the guid of the one that goes.",
                phrase=guid_end_and_pool,
                phrase_hint="Type the last 6 digits of the snapshot's guid, a space, and the pool's name.",
            ),
            approvals=1,
            adds=what_goes,
        ),
        verify(
            "verify",
            "Verify that it is gone",
            "The node looks again at the list of damaged data and at the snapshots that it names.",
            (the_snapshot_is_gone,),
            ("zpool_status", "zpool_status_errors", "zfs_snapshots"),
        ),
    ),
)

"""End what a hot spare began: give the spare back, or let it stay for good.

    spare in use -> way chosen -> checked -> planned -> confirmed -> approved -> detached -> verified
                              \\-> (a new disk is on its way) waiting -> verified

Three ends: the member is healthy again and the spare is detached; the spare stays and the member is detached; or a new disk
replaces the member, and the spare goes back by itself. From `detach` on there is no way back: the label of what goes is wiped,
and it could only come in again as a new disk. The danger is detaching the wrong half. While the spare stands in, the expansion of its raidz
stands still (vdev_raidz_expand_child_replacing, module/zfs/vdev_raidz.c, 2.3.0), so an expansion is no reason to wait.
"""

from collections.abc import Mapping
from typing import Any

from agents.operations import zpool_detach
from workflows.engine.core import END, CheckStep, ConfirmStep, DecideStep, Option, Params, Runbook, WaitStep, ask, ok
from workflows.facts import FleetFacts, known
from workflows.guards import facts_are_fresh
from workflows.guards.fate import nothing_of_the_pool_comes_first
from workflows.guards.policy import allowed
from workflows.guards.releases import released
from workflows.guards.spares import (
    CANCEL,
    PROMOTE,
    RETURNED_GUARDS,
    the_last_scan_was_clean,
    the_member_is_whole_again,
    the_one_that_stays_is_whole,
    the_pair,
    the_spare_is_where_it_belongs,
    the_spare_is_whole,
    the_spare_stands_in_for_the_member,
)
from workflows.guards.target import (
    no_mass_event_is_under_way,
    nothing_blocks_attaching,
    the_pool_is_imported_here_and_nowhere_else,
    the_pool_is_not_suspended,
    the_vdev_can_still_rebuild,
)
from workflows.runbooks._orders import order, verify, what_must_be_held
from workflows.runbooks._replacing import RESILVER_SECONDS_MAX, how_far_the_resilver_is

REPLACE = "replace"
DETACH_GUARDS = (
    facts_are_fresh,
    the_pool_is_imported_here_and_nowhere_else,
    the_pool_is_not_suspended,
    the_spare_stands_in_for_the_member,
    the_one_that_stays_is_whole,
    the_last_scan_was_clean,
    no_mass_event_is_under_way,
    nothing_blocks_attaching,
    the_vdev_can_still_rebuild,
    nothing_of_the_pool_comes_first,
)


def three_ways(facts: FleetFacts, params: Params) -> tuple[Option, ...]:
    pair = the_pair(facts, params)
    if not known(pair):
        return ()
    member, spare = pair.children[0], pair.children[-1]
    back = ask((the_member_is_whole_again, the_last_scan_was_clean), facts, {**params, "way": CANCEL})
    stay = ask((the_spare_is_whole, the_last_scan_was_clean), facts, {**params, "way": PROMOTE})
    return (
        Option(CANCEL, "Give the spare back", f"The member {member.guid} serves again; the spare {spare.guid} is detached and free.", back),
        Option(
            PROMOTE,
            "Let the spare stay for good",
            f"The member {member.guid} ({member.state}) is detached and its label wiped; {spare.guid} takes its place and is no spare any more.",
            stay,
        ),
        Option(
            REPLACE,
            "Wait for a new disk",
            "Replace the member from its own situation. When the new disk is filled the spare goes back by itself, and this waits for it.",
            (ok("Waiting changes nothing."),),
            leads_to="wait",
        ),
    )


def detach_params(facts: FleetFacts, params: Params) -> Mapping[str, str]:
    member, spare = params.get("vdev_guid", ""), params.get("spare_guid", "")
    goes, stays = (member, spare) if params.get("way") == PROMOTE else (spare, member)
    return {"pool": params["pool"], "pool_guid": params["pool_guid"], "vdev_guid": goes, "keeps_guid": stays}


GIVEN_UP = {
    PROMOTE: "The member {vdev_guid} leaves {pool} for good: its label is wiped where it can be reached, and what only it holds is lost. "
    "{spare_guid} is a spare no more, so one spare less waits for the next failure.",
    CANCEL: "The spare {spare_guid} leaves the place of {vdev_guid}, and its copy is given up: {vdev_guid} alone stays there.",
}


def what_goes(facts: FleetFacts, params: Params, plan: Mapping[str, Any]) -> Mapping[str, Any]:
    named = {name: params.get(name, "") for name in ("vdev_guid", "spare_guid", "pool")}
    return {"given_up": GIVEN_UP.get(params.get("way", ""), "Which of the two is given up is not known: no way is chosen.").format(**named)}


def guid_end_and_pool(params: Params, plan: Mapping[str, Any]) -> str:
    return f"{plan['params']['vdev_guid'][-6:]} {params['pool']}"


RUNBOOK = Runbook(
    slug="spare-return",
    title="End what a hot spare began",
    purpose="A hot spare has taken over for a member. While it does, the next failure finds no spare. This gives it back, or makes it a "
    "member for good, and takes care that the half that holds the data is the one that stays.",
    states="spare in use -> way chosen -> checked -> planned -> confirmed -> approved -> detached -> verified",
    point_of_no_return="detach",
    params={
        "node": "the node that has the pool imported",
        "pool": "the pool's name",
        "pool_guid": "the pool's guid",
        "vdev_guid": "the guid of the member that the spare stands in for",
        "spare_guid": "the guid of the spare",
    },
    locks=what_must_be_held,
    steps=(
        DecideStep(
            slug="way",
            title="Choose how it ends",
            why="Reasons for and against each choice are listed. Only a half that is fully resilvered may stay alone.",
            guards=(facts_are_fresh, the_spare_stands_in_for_the_member, nothing_of_the_pool_comes_first),
            param="way",
            options=three_ways,
            branches=("wait",),
        ),
        CheckStep(
            slug="check",
            title="Check pool, member and spare",
            why="Every guard must pass. What is not known counts as a refusal.",
            guards=(*DETACH_GUARDS, allowed(zpool_detach), released(zpool_detach)),
        ),
        *order(
            "detach",
            "Detach the one that goes",
            zpool_detach,
            detach_params,
            DETACH_GUARDS,
            "The node asks once more which of the two is whole, and detaches the other one by its guid. Its label is wiped.",
            confirm=ConfirmStep(
                slug="confirm",
                title="Confirm what is detached",
                why="The two guids are easily confused. You type the last digits of the one that is detached.",
                phrase=guid_end_and_pool,
                phrase_hint="Type the last 6 digits of the guid that is detached, a space, and the pool's name.",
            ),
            approvals=1,
            adds=what_goes,
        ),
        verify(
            "verify",
            "Verify that the right one stayed",
            "The tree is as it was predicted, the spare is where it belongs, and the vdev has lost nothing.",
            RETURNED_GUARDS,
            then=END,
        ),
        WaitStep(
            slug="wait",
            title="Wait until the spare is back",
            why="The member is replaced in another run. ZFS returns the spare when the new disk is resilvered.",
            until=the_spare_is_where_it_belongs,
            progress=how_far_the_resilver_is,
            sources=("zpool_status", "zpool_status_guid"),
            deadline_seconds=RESILVER_SECONDS_MAX,
        ),
        verify("verify-back", "Verify that the spare is free", "The node looks again.", (the_spare_is_where_it_belongs,)),
    ),
)

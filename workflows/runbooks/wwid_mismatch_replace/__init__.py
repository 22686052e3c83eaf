"""Replace a lost pool member whose old name now belongs to another disk.

    lost -> disk chosen (-> scanned) -> checked -> planned -> confirmed -> approved -> replacing -> resilvered -> verified
                      \\-> (it is the lost member itself) brought back -> ZFS gets its new name where it does not find it -> caught up -> verified

The lost member is known by its vdev guid alone: its old name and its devid prove nothing. The new disk is known by
its WWID and carries no label. Until `replace` nothing on the node has changed. From `replace` on there is only
forward: ZFS has started writing to the new disk. A disk that carries the lost member's own label is never replaced with, nor wiped:
it is the member, under another name, and is brought back.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from agents.operations import zpool_online, zpool_replace, zpool_set_path
from workflows.engine.core import (
    END,
    ApproveStep,
    CheckStep,
    ConfirmStep,
    DecideStep,
    ExecuteStep,
    Option,
    Params,
    PlanStep,
    Runbook,
    Verdict,
    VerifyStep,
    WaitStep,
    ask,
    blockers,
)
from workflows.facts import FleetFacts, candidate_case, known
from workflows.guards import CANDIDATE_GUARDS, TARGET_GUARDS, facts_are_fresh, returning
from workflows.guards.candidate import (
    CHOICE_GUARDS,
    a_path_is_down,
    nothing_contradicts_who_the_disk_is,
    nothing_else_uses_the_disk,
    the_disk_answers_to_its_wwid,
    the_disk_is_seen_and_running,
)
from workflows.guards.fate import nothing_of_the_pool_comes_first
from workflows.guards.policy import allowed
from workflows.guards.releases import released
from workflows.guards.replaced import REPLACED_GUARDS, the_new_disk_has_taken_over
from workflows.guards.subject import number
from workflows.guards.target import (
    its_siblings_read_true,
    no_mass_event_is_under_way,
    the_lost_member_has_not_come_back,
    the_lost_member_is_not_being_replaced,
    the_lost_member_is_one_known_vdev,
    the_lost_member_is_out_of_service,
    the_pool_is_imported_here_and_nowhere_else,
    the_pool_is_not_suspended,
    the_running_resilver_begins_anew,
)
from workflows.runbooks._orders import POOL_SOURCES, named, order, verify
from workflows.runbooks._replacing import (
    RESILVER_SECONDS_MAX,
    every_disk,
    how_far_the_resilver_is,
    plan_is_for_what_was_chosen,
    pool_disk_and_bay,
    replace_params,
    scan_chosen,
    since_when_it_serves,
    what_is_left_meanwhile,
    whole_disk,
)

BACK = "plan-online"
CATCH_UP_SECONDS = 48 * 3600  # only what was written while it was away
REPLACE_GUARDS = (*TARGET_GUARDS, its_siblings_read_true, *CANDIDATE_GUARDS)
RETURN_GUARDS = (
    facts_are_fresh,
    the_pool_is_imported_here_and_nowhere_else,
    the_pool_is_not_suspended,
    the_lost_member_is_one_known_vdev,
    the_lost_member_is_out_of_service,
    the_lost_member_is_not_being_replaced,
    the_disk_is_seen_and_running,
    nothing_contradicts_who_the_disk_is,
    returning.the_disk_is_the_lost_member_itself,
    returning.zfs_did_not_give_it_up,
    nothing_else_uses_the_disk,
    no_mass_event_is_under_way,
)
PATH_GUARDS = (*RETURN_GUARDS, the_disk_answers_to_its_wwid)
member_params = named(*zpool_online.PARAMS)
path_params = whole_disk(zpool_set_path)


def disks_there_are(facts: FleetFacts, params: Params) -> tuple[Option, ...]:
    """Every disk; one that is the lost member itself stands first, and leads to bringing it back."""
    against = blockers(ask((the_lost_member_has_not_come_back, nothing_of_the_pool_comes_first), facts, params))
    options = [_itself(option, facts, params, against) for option in every_disk(facts, params, CHOICE_GUARDS)]
    return tuple(sorted(options, key=lambda option: option.leads_to != BACK))


def _itself(option: Option, facts: FleetFacts, params: Params, against: tuple[Verdict, ...]) -> Option:
    """The option as it is offered; `against` is what speaks against any disk but the lost member itself."""
    pool_guid, vdev_guid = number(params, "pool_guid"), number(params, "vdev_guid")
    if not known(pool_guid) or not known(vdev_guid):
        return option
    case = candidate_case(facts, params.get("node", ""), pool_guid, vdev_guid, option.value)
    if not known(case) or case.code != "A1":
        return replace(option, verdicts=(*option.verdicts, *against))
    text = f"It is the lost member {vdev_guid} itself. It is brought back by its guid, and nothing is replaced. {option.detail}"
    verdicts = ask(RETURN_GUARDS, facts, {**params, "wwid": option.value})
    return Option(option.value, option.title, text, verdicts, leads_to=BACK)


def guid_end_and_pool(params: Params, plan: Mapping[str, Any]) -> str:
    return f"{params['vdev_guid'][-6:]} {params['pool']}"


RUNBOOK = Runbook(
    slug="wwid-mismatch-replace",
    title="Replace a lost member, whatever its name is today",
    purpose="A pool has lost a member. The name the pool remembers for it may lead to a different disk now. "
    "This puts a blank disk into the lost member's place, naming both by what cannot move: vdev guid and WWID. Where the lost disk "
    "is there after all, under another name, it is brought back instead.",
    states="lost -> disk chosen -> checked -> planned -> confirmed -> approved -> replacing -> resilvered -> verified, or brought back",
    point_of_no_return="replace",
    params={
        "node": "the node that has the pool imported",
        "pool": "the pool's name",
        "pool_guid": "the pool's guid",
        "vdev_guid": "the guid of the lost member",
        "was": "the name the pool remembers for it; a string of the past",
    },
    locks=pool_disk_and_bay,
    steps=(
        DecideStep(
            slug="choose",
            title="Choose the new disk",
            why="Every disk the node sees is listed, with the checks it passes and fails. A disk that is the lost member itself is brought "
            "back; else only a blank disk of fitting size can be chosen. One whose bay no source gives is scanned at the rack next. Nothing "
            "changes on the node.",
            guards=(facts_are_fresh,),
            param="wwid",
            options=disks_there_are,
            branches=(BACK,),
        ),
        scan_chosen(),
        CheckStep(
            slug="check",
            title="Check pool, lost member and new disk",
            why="Every guard must pass. What is not known counts as a refusal.",
            guards=(*REPLACE_GUARDS, allowed(zpool_replace), released(zpool_replace)),
        ),
        PlanStep(
            slug="plan",
            title="Have the node plan it",
            why=(
                "The node reads everything again and shows the exact command, the member that leaves, the disk that joins, and the pool"
                " afterwards. It changes nothing. When the command runs, the node first checks that these facts still hold."
            ),
            guards=(*REPLACE_GUARDS, allowed(zpool_replace), released(zpool_replace)),
            operation="zpool_replace",
            params=replace_params,
            warns=(a_path_is_down,),
            agrees=plan_is_for_what_was_chosen,
            adds=what_is_left_meanwhile,
        ),
        ConfirmStep(
            slug="confirm",
            title="Confirm what is replaced",
            why=(
                "You type the guid of the lost member. It is the guid and not a serial number, because the lost disk cannot report its "
                "serial, and the disk that has its name today is another one."
            ),
            phrase=guid_end_and_pool,
            phrase_hint="Type the last 6 digits of the lost member's guid, a space, and the pool's name.",
        ),
        ApproveStep(
            slug="approve",
            title="Have another person approve the plan",
            why="A person who took no part in this run reads the plan. The approval is for this plan only; a new plan needs a new one.",
            approvals=1,
        ),
        ExecuteStep(
            slug="replace",
            title="Replace the disk",
            why=(
                "The node checks everything once more and runs the one command of the plan, at most once. All content of the new disk "
                "is overwritten. The pool stays readable meanwhile."
            ),
            guards=(*REPLACE_GUARDS, allowed(zpool_replace), released(zpool_replace)),
            operation="zpool_replace",
            effect="at_most_once",
            destructive=True,
            params=replace_params,
        ),
        WaitStep(
            slug="resilver",
            title="Wait for the resilver",
            why="ZFS resilvers the new disk and then detaches the old member. Until then the vdev survives no more losses than before.",
            until=the_new_disk_has_taken_over,
            sources=("zpool_status", "zpool_status_guid", "zdb_label"),
            progress=how_far_the_resilver_is,
            deadline_seconds=RESILVER_SECONDS_MAX,
        ),
        VerifyStep(
            slug="verify",
            title="Verify that the new disk has taken over",
            why="The node looks again, and every answer uses what it reports after the command has ended.",
            guards=REPLACED_GUARDS,
            sources=("zpool_status", "zpool_status_guid", "zdb_label", "block"),
            then=END,
        ),
        # the lost member itself is back
        *order(
            "online",
            "Bring the member back",
            zpool_online,
            member_params,
            RETURN_GUARDS,
            "ZFS opens the member again, and takes only the disk that carries its label. What it missed is resilvered; nothing is overwritten "
            "that another disk needs.",
            warns=(the_running_resilver_begins_anew,),
        ),
        verify(
            "look-online",
            "See whether ZFS found it",
            "`zpool online` says nothing of a member that it looks for under an old name; the tree does.",
            (facts_are_fresh,),
        ),
        *order(
            "path",
            "Give ZFS its present name",
            zpool_set_path,
            path_params,
            PATH_GUARDS,
            "ZFS looks for a member only under the name it has written down. It is given the name that is made of the disk's WWID, which no "
            "boot moves. Nothing is opened or written by that but the name.",
            needed=returning.the_member_is_still_away,
        ),
        verify(
            "look-path", "See how it stands", "Whether it still has to be brought back is judged by what is so now.", (facts_are_fresh,)
        ),
        *order(
            "online-again",
            "Bring it back under its new name",
            zpool_online,
            member_params,
            RETURN_GUARDS,
            "ZFS opens it under the new name, checks that it carries the member's label, and resilvers what it missed.",
            needed=returning.the_member_is_still_away,
            warns=(the_running_resilver_begins_anew,),
        ),
        WaitStep(
            slug="caught-up",
            title="Wait until it has caught up",
            why=(
                "Only what was written while it was away is resilvered. If it does not come back into service, end the run: nothing has"
                " been replaced or wiped."
            ),
            until=returning.the_member_holds_its_share,
            keeps=since_when_it_serves,
            learned=("serving",),
            sources=POOL_SOURCES,
            progress=how_far_the_resilver_is,
            deadline_seconds=CATCH_UP_SECONDS,
        ),
        verify(
            "verify-back",
            "Verify that it serves and missed nothing",
            "The node looks again.",
            (returning.the_member_holds_its_share, returning.it_caught_up_without_errors),
        ),
    ),
)

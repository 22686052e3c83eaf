"""End a replacement that does not end by itself: take the new disk out again, or let a disk go that is lost.

    unfinished -> way chosen -> checked -> planned -> confirmed -> approved -> new disk out -> verified
                            \\-> checked -> planned -> confirmed -> approved -> lost disk out -> verified
                            \\-> waiting -> verified

What `zpool replace` or a spare left behind is a vdev of two disks or more in one place. The new disk is taken out while the old one serves: nothing
is lost by it, as only the old one was known to be whole. The old one, or a spare that is lost, is let go when the one that stays is ONLINE, was
filled by a scan without errors, and misses nothing by its label. With no disk of the place serving, nothing is detached. From `detach` on there is
no way back: the label of what goes is wiped. The danger is detaching the half that holds the data. The expansion of a raidz stands still
while one of its places holds two disks (vdev_raidz_expand_child_replacing, module/zfs/vdev_raidz.c, 2.3.0): this ends that wait.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from agents.operations import zpool_detach, zpool_detach_new_half
from workflows.engine import plan_losses
from workflows.engine.core import (
    END,
    CheckStep,
    ConfirmStep,
    DecideStep,
    Guard,
    Option,
    Params,
    Runbook,
    WaitStep,
    ask,
    ok,
)
from workflows.facts import FleetFacts, VdevFacts, known, lookup
from workflows.guards import facts_are_fresh
from workflows.guards.fate import nothing_of_the_pool_comes_first
from workflows.guards.policy import allowed
from workflows.guards.releases import released
from workflows.guards.subject import the_target
from workflows.guards.target import (
    no_mass_event_is_under_way,
    nothing_blocks_attaching,
    the_pool_is_imported_here_and_nowhere_else,
    the_pool_is_not_suspended,
)
from workflows.runbooks._confirming import guid_and_pool
from workflows.runbooks._orders import order, verify, what_must_be_held
from workflows.runbooks._replacing import RESILVER_SECONDS_MAX, how_far_the_resilver_is
from workflows.runbooks.finish_replacement.guards import (
    LET_GO,
    OUT_GUARDS,
    UNDO,
    WAIT,
    a_replacement_is_unfinished,
    its_vdev_keeps_its_data,
    margin_after,
    one_of_its_disks_serves,
    only_the_newest_is_taken_out,
    serves,
    the_holder,
    the_one_that_stays_is_fit,
    the_one_that_stays_misses_nothing,
    the_replacement_is_finished,
    the_scan_that_filled_it_was_clean,
    what_is_filled_serves_meanwhile,
)

POOL_GUARDS = (
    facts_are_fresh,
    the_pool_is_imported_here_and_nowhere_else,
    the_pool_is_not_suspended,
    a_replacement_is_unfinished,
    one_of_its_disks_serves,
    no_mass_event_is_under_way,
    nothing_blocks_attaching,
    nothing_of_the_pool_comes_first,
)
UNDO_GUARDS = (*POOL_GUARDS, only_the_newest_is_taken_out, the_one_that_stays_is_fit, its_vdev_keeps_its_data)
WHOLE_GUARDS: tuple[Guard, ...] = (the_one_that_stays_is_fit, the_scan_that_filled_it_was_clean, the_one_that_stays_misses_nothing)
LET_GO_GUARDS = (*POOL_GUARDS, *WHOLE_GUARDS, its_vdev_keeps_its_data)
LEARNED = ("goes_guid", "keeps_guid", "keeps_wwid")


def ways_there_are(facts: FleetFacts, params: Params) -> tuple[Option, ...]:
    holder = the_holder(facts, params)
    if not known(holder):
        return ()
    leaves = [child for child in holder.children if not child.children]
    options = [_undo(facts, params, leaves)] if holder.kind == "replacing" and len(leaves) == len(holder.children) == 2 else []
    options += list(_let_go(facts, params, holder, leaves))
    title = "Wait until ZFS ends it" if holder.kind == "replacing" else "Wait until the spare goes back"
    detail = "Nothing is done. When the new disk is filled the old one leaves by itself. Where no resilver runs, none comes by waiting: begin-resilver begins it."
    return (*options, Option(WAIT, title, detail, (ok("Waiting changes nothing."),), leads_to="wait"))


def _undo(facts: FleetFacts, params: Params, leaves: list[VdevFacts]) -> Option:
    old, new = leaves
    fixes = _fixes(new, old)
    verdicts = ask(
        (only_the_newest_is_taken_out, the_one_that_stays_is_fit, its_vdev_keeps_its_data), facts, {**params, **fixes, "way": UNDO}
    )
    detail = f"The new disk {new.guid} ({new.state}) is detached, and the old disk {old.guid} ({old.state}) is the member it was. The resilver is given up."
    return Option(UNDO, "Take the new disk out again", detail, verdicts, fixes=fixes)


def _let_go(facts: FleetFacts, params: Params, holder: VdevFacts, leaves: list[VdevFacts]) -> Iterator[Option]:
    """The old disk of a replacement, and every other disk that serves nothing, but not the member that a spare stands in for: spare-return is about
    that one. The one that stays is the newest of those that serve."""
    for goes in leaves[:-1] if holder.kind == "replacing" else leaves[1:]:
        stays = next((leaf for leaf in reversed(leaves) if leaf is not goes and serves(leaf)), None)
        if stays is None or (serves(goes) and goes is not leaves[0]):
            continue
        fixes = _fixes(goes, stays)
        verdicts = ask((*WHOLE_GUARDS, its_vdev_keeps_its_data), facts, {**params, **fixes, "way": LET_GO})
        what = "old disk" if goes is leaves[0] else "spare" if holder.kind == "spare" else "disk"
        detail = f"The {what} {goes.guid} ({goes.state}) is detached, and its label wiped where it can be reached. {stays.guid} ({stays.state}) stays."
        yield Option(
            f"{LET_GO} {goes.guid}", f"Let the {what} {str(goes.guid)[-6:]} go", detail, verdicts, leads_to="check-detach", fixes=fixes
        )


def _fixes(goes: VdevFacts, stays: VdevFacts) -> Mapping[str, str]:
    return {"goes_guid": str(goes.guid), "keeps_guid": str(stays.guid), "keeps_wwid": lookup.wwid_of(stays) or ""}


def detach_params(facts: FleetFacts, params: Params) -> Mapping[str, str]:
    guids = {"vdev_guid": params.get("goes_guid", ""), "keeps_guid": params.get("keeps_guid", "")}
    return {"pool": params["pool"], "pool_guid": params["pool_guid"], **guids}


def what_is_given_up(facts: FleetFacts, params: Params) -> str:
    """What is lost, first of all."""
    goes, stays = params.get("goes_guid", ""), params.get("keeps_guid", "")
    wiped = "Its label is wiped where it can be reached, so it comes back only as a new disk that is filled from the start."
    if params.get("way") == UNDO:
        return f"The new disk {goes} leaves the pool, and what was filled of it is given up. {wiped} {stays} holds what it held before."
    return f"{goes} leaves {params.get('pool', '')} for good, and what only it holds is lost. {wiped} {stays} alone stays in its place."


def what_goes(facts: FleetFacts, params: Params, plan: Mapping[str, Any]) -> Mapping[str, Any]:
    """The disk that goes as the technician at the rack will meet it, what is given up, and what the vdev survives before and after."""
    return {"given_up": what_is_given_up(facts, params), **_leaving(facts, params), "redundancy": _redundancy(facts, params)}


def _leaving(facts: FleetFacts, params: Params) -> Mapping[str, Any]:
    holder = the_holder(facts, params)
    leaf = next((child for child in holder.children if str(child.guid) == params.get("goes_guid", "")), None) if known(holder) else None
    wwid = lookup.wwid_of(leaf) if leaf is not None else None
    disk = lookup.disk(facts, params["node"], wwid) if wwid else None
    if disk is None or not known(disk):
        return {"leaving": {"wwid": wwid}} if wwid else {}
    serial = {"serial": disk.serial} if known(disk.serial) else {}
    bay = {"bay": f"{disk.bay.enclosure_id}/{disk.bay.slot}"} if known(disk.bay) and disk.bay is not None else {}
    return {"leaving": {"wwid": wwid, **serial, **bay}}


def _redundancy(facts: FleetFacts, params: Params) -> Mapping[str, Any]:
    target, after = the_target(facts, params), margin_after(facts, params)
    if not known(target) or not known(after):
        return plan_losses.not_known(target.reason if not known(target) else after.reason if not known(after) else "", params)
    return plan_losses.redundancy_of(target.pool, target.top, target.leaf, target.node, after, after)


def confirm(slug: str) -> ConfirmStep:
    why = "The disks in this place differ in one number. You type the end of the one that goes."
    return guid_and_pool(slug, "Confirm what is detached", why, "is detached")


CHECK_WHY = "Every guard must pass. What is not known counts as a refusal."

RUNBOOK = Runbook(
    slug="finish-replacement",
    title="Finish or undo a replacement",
    purpose="A replacement does not end: the new disk is lost, or the old one, or it was called off; or one of several spares in one place is lost. "
    "This takes out the disk that is not needed, by its guid, and takes care that the one that holds the data is the one that stays.",
    states="unfinished -> way chosen -> checked -> planned -> confirmed -> approved -> detached -> verified",
    point_of_no_return="detach",
    params={
        "node": "the node that has the pool imported",
        "pool": "the pool's name",
        "pool_guid": "the pool's guid",
        "vdev_guid": "the guid of the old disk, the first one in the place",
        "new_guid": "the guid of the newest disk, the last one in the place",
    },
    locks=what_must_be_held,
    steps=(
        DecideStep(
            slug="way",
            title="Choose how it ends",
            why="Reasons for and against each end are listed. Only a disk that holds the data may stay alone. Nothing changes on the node.",
            guards=(facts_are_fresh, a_replacement_is_unfinished, one_of_its_disks_serves, nothing_of_the_pool_comes_first),
            param="way",
            options=ways_there_are,
            branches=("check-detach", "wait"),
            learned=LEARNED,
        ),
        CheckStep(
            slug="check-undo",
            title="Check pool, old disk and new disk",
            why=CHECK_WHY,
            guards=(*UNDO_GUARDS, allowed(zpool_detach_new_half), released(zpool_detach_new_half)),
            warns=(what_is_given_up,),
        ),
        *order(
            "undo",
            "Take the new disk out of the pool again",
            zpool_detach_new_half,
            detach_params,
            UNDO_GUARDS,
            "The node asks once more whether the old disk serves and the new one stands beside it, and detaches the new one by its guid.",
            confirm=confirm("confirm-undo"),
            approvals=1,
            adds=what_goes,
        ),
        verify(
            "verify-undo",
            "Verify that the old disk serves alone",
            "The node looks again: the new disk is out of the pool, and the old one is a member as before.",
            OUT_GUARDS,
            then=END,
        ),
        CheckStep(
            slug="check-detach",
            title="Check pool and disks",
            why=CHECK_WHY,
            guards=(*LET_GO_GUARDS, allowed(zpool_detach), released(zpool_detach)),
            warns=(what_is_given_up,),
        ),
        *order(
            "detach",
            "Detach the one that goes",
            zpool_detach,
            detach_params,
            LET_GO_GUARDS,
            "The node asks once more whether the one that stays is whole, and reads that in its label; then it detaches the other one by its guid.",
            confirm=confirm("confirm-detach"),
            approvals=1,
            adds=what_goes,
        ),
        verify(
            "verify",
            "Verify that the right one stayed",
            "The node looks again: what was to go is out of the pool, and the one that stays is ONLINE in its vdev.",
            OUT_GUARDS,
            then=END,
        ),
        WaitStep(
            slug="wait",
            title="Wait until it is over",
            why="ZFS lets the old disk go when the new one is filled. Leave both in. Another way can be chosen in a new run: end this one first.",
            until=the_replacement_is_finished,
            alarm=what_is_filled_serves_meanwhile,
            progress=how_far_the_resilver_is,
            sources=("zpool_status", "zpool_status_guid"),
            deadline_seconds=RESILVER_SECONDS_MAX,
        ),
        verify("verify-wait", "Verify that nothing is left over", "The node looks again.", (the_replacement_is_finished,)),
    ),
)

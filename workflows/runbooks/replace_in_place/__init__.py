"""Replace a member that still serves: the new disk is filled beside the old one, and the old one is pulled when it has left the pool.

    new disk chosen -> checked -> planned -> confirmed -> approved -> filling -> taken over -> lit -> bay named -> pulled -> scanned -> dark
                                                                        \\-> (called off) new half out -> its bay lit -> named -> pulled -> dark

A disk whose bay no source gives, or whose light none shows, is scanned by a person in its place before it is pulled, and the node says
afterwards which disk went; where the PCIe port above it has a light, that is switched on first. Where the bay of the new disk is not known, that one is scanned before anything is written to it.

Both disks are in the node. ZFS holds them in one `replacing` vdev: the old one serves until the new one is filled, so the vdev survives as many
losses meanwhile as before. Members are known by guid, disks by WWID and serial number, bays by enclosure and slot. Until the new disk is filled
everything can be taken back, as long as the old disk serves: the new half is detached by its guid. The danger is the wrong pull afterwards.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from agents.operations import locate_led, zpool_detach_new_half, zpool_replace_serving
from workflows.analysis.scrubs import the_last_scrub_is_long_ago
from workflows.engine.core import CheckStep, ConfirmStep, DecideStep, Loop, ManualStep, Option, Params, Runbook, WaitStep, ask, blockers
from workflows.facts import FleetFacts, known, lookup
from workflows.guards import CANDIDATE_GUARDS, facts_are_fresh
from workflows.guards.answers import the_bay_that_blinks, the_disk_that_comes_out, the_serial_that_was_pulled
from workflows.guards.bay import (
    a_bay_is_known_that_can_be_lit,
    bay_lock,
    exactly_this_bay_is_lit,
    no_other_bay_is_lit,
    nothing_else_was_pulled,
    the_bay_can_be_lit_and_is_dark,
    the_bay_is_dark,
    the_bay_is_empty,
    the_bay_is_lit,
    the_disk_is_found_by_its_serial_number,
    the_disk_sits_in_the_bay_meant,
)
from workflows.guards.candidate import CHOICE_GUARDS, a_path_is_down
from workflows.guards.fate import nothing_of_the_pool_comes_first
from workflows.guards.mapped import the_pool_is_not_encrypted_below
from workflows.guards.member import the_member_sits_on_the_disk_meant
from workflows.guards.partitioned import the_member_has_its_disk_alone
from workflows.guards.policy import allowed_with_light
from workflows.guards.protection import the_disk_has_the_protection_of_its_siblings
from workflows.guards.releases import released
from workflows.guards.replaced import REPLACED_GUARDS, the_new_disk_has_taken_over
from workflows.guards.spare import the_new_disk_is_the_one_planned
from workflows.guards.target import (
    its_siblings_read_true,
    no_expansion_is_under_way,
    no_mass_event_is_under_way,
    no_resilver_touches_the_vdev,
    nothing_blocks_attaching,
    the_lost_member_is_one_known_vdev,
    the_pool_asks_for_no_larger_blocks,
    the_pool_is_imported_here_and_nowhere_else,
    the_pool_is_not_suspended,
    the_vdev_can_still_rebuild,
)
from workflows.runbooks._orders import POOL_SOURCES, order, verify
from workflows.runbooks._other_lights import other_lights
from workflows.runbooks._replacing import (
    RESILVER_SECONDS_MAX,
    every_disk,
    how_far_the_resilver_is,
    plan_is_for_what_was_chosen,
    replace_params,
    scan_chosen,
    what_is_left_meanwhile,
)
from workflows.runbooks.blink_and_replace import (
    AT_THE_RACK_SECONDS,
    BAY_SOURCES,
    FIND_ASKS,
    FIND_WHY,
    LIGHT_SOURCES,
    LIT,
    leaving,
    light_off,
    light_on,
    what_is_in_the_bay,
)
from workflows.runbooks.replace_in_place.guards import (
    about_the_new_disk,
    both_disks_serve_meanwhile,
    no_replacement_holds_the_member,
    of_the_new_disk,
    the_bay_of_the_new_disk_that_blinks,
    the_disk_belongs_to_no_pool,
    the_disk_is_to_be_lit,
    the_disk_is_to_be_scanned,
    the_disk_is_to_come_out,
    the_halves,
    the_member_still_serves,
    the_new_disk_that_comes_out,
    the_new_half_can_be_taken_out,
    the_old_disk_is_the_only_copy,
    the_replacement_is_over,
    there_is_a_replacement_to_call_off,
)

OUTGOING_GUARDS = (
    facts_are_fresh,
    the_pool_is_imported_here_and_nowhere_else,
    the_pool_is_not_suspended,
    the_lost_member_is_one_known_vdev,
    the_member_has_its_disk_alone,
    the_pool_is_not_encrypted_below,
    the_member_still_serves,
    no_replacement_holds_the_member,
    the_member_sits_on_the_disk_meant,
    the_disk_sits_in_the_bay_meant,
    the_vdev_can_still_rebuild,
    no_mass_event_is_under_way,
    its_siblings_read_true,
    no_resilver_touches_the_vdev,
    nothing_blocks_attaching,
    no_expansion_is_under_way,
    the_pool_asks_for_no_larger_blocks,
    nothing_of_the_pool_comes_first,
)
INCOMING_GUARDS = (*CANDIDATE_GUARDS, the_disk_has_the_protection_of_its_siblings, the_new_disk_is_the_one_planned)
REPLACE_GUARDS = (*OUTGOING_GUARDS, *INCOMING_GUARDS)
CALL_OFF_GUARDS = (
    facts_are_fresh,
    the_pool_is_imported_here_and_nowhere_else,
    the_pool_is_not_suspended,
    the_new_half_can_be_taken_out,
    nothing_blocks_attaching,
)
PULL_GUARDS = (facts_are_fresh, the_disk_belongs_to_no_pool, the_disk_sits_in_the_bay_meant)
NEW_PULL_GUARDS = (facts_are_fresh, of_the_new_disk(the_disk_belongs_to_no_pool), of_the_new_disk(the_disk_sits_in_the_bay_meant))
new_is_to_come_out = of_the_new_disk(the_disk_is_to_come_out)
new_is_to_be_lit = of_the_new_disk(the_disk_is_to_be_lit)
new_is_to_be_scanned = of_the_new_disk(the_disk_is_to_be_scanned)
SPEND_NOTHING = "No redundancy is spent: the old disk serves until the new one is filled."


def disks_there_are(facts: FleetFacts, params: Params) -> tuple[Option, ...]:
    """Every disk of the node; one whose serial number is known settles what the steps at the rack are about."""
    return tuple(_with_its_place(option, facts, params) for option in every_disk(facts, params, CHOICE_GUARDS))


def _with_its_place(option: Option, facts: FleetFacts, params: Params) -> Option:
    disk = lookup.disk(facts, params.get("node", ""), option.value)
    if not known(disk) or disk is None or not known(disk.serial):
        return option
    verdicts = (*option.verdicts, *blockers(ask((the_disk_has_the_protection_of_its_siblings,), facts, {**params, "wwid": option.value})))
    place = lookup.bay_to_light(disk)
    fixes = {"spare_serial": disk.serial, "new_enclosure": place["enclosure"], "new_slot": place["slot"]}
    return replace(option, verdicts=verdicts, fixes=fixes)


def call_off_params(facts: FleetFacts, params: Params) -> Mapping[str, str]:
    """The new half goes and the old one stays, each by the guid that it has now."""
    halves = the_halves(facts, params)
    guids = {"vdev_guid": "", "keeps_guid": ""}
    if known(halves) and halves.old and halves.new:
        guids = {"vdev_guid": str(halves.new[-1].guid), "keeps_guid": str(halves.old[-1].guid)}
    return {"pool": params["pool"], "pool_guid": params["pool_guid"], **guids}


def new_light_on(facts: FleetFacts, params: Params) -> Mapping[str, str]:
    return light_on(facts, about_the_new_disk(params))


def other_lights_of_the_new_disk(facts: FleetFacts, params: Params) -> str:
    return other_lights(facts, about_the_new_disk(params))


def new_light_off(facts: FleetFacts, params: Params) -> Mapping[str, str]:
    return light_off(facts, about_the_new_disk(params))


def what_goes_and_what_comes(facts: FleetFacts, params: Params, plan: Mapping[str, Any]) -> Mapping[str, Any]:
    """The disk that goes as the person at the rack will meet it, and what the vdev survives while the new one is filled."""
    return {"leaving": leaving(params), "meanwhile": SPEND_NOTHING, **what_is_left_meanwhile(facts, params, plan)}


def what_is_taken_out_again(facts: FleetFacts, params: Params, plan: Mapping[str, Any]) -> Mapping[str, Any]:
    given_up = f"What was filled of the new disk {params['spare_serial']} is given up. {params['old_serial']} alone stays in its place."
    return {"leaving": leaving(about_the_new_disk(params)), "given_up": given_up}


def both_serial_ends_and_pool(params: Params, plan: Mapping[str, Any]) -> str:
    return f"{params['old_serial'][-6:]} {params['spare_serial'][-6:]} {params['pool']}"


def new_serial_end_and_pool(params: Params, plan: Mapping[str, Any]) -> str:
    return f"{params['spare_serial'][-6:]} {params['pool']}"


def what_must_be_held(facts: FleetFacts, params: Params) -> tuple[str, ...]:
    """The pool, the bays of both disks and the one that an order writes to."""
    places = [(params["enclosure"], params["slot"]), (params.get("new_enclosure", ""), params.get("new_slot", ""))]
    return (
        f"pool:{params['pool_guid']}",
        f"disk:{params.get('wwid') or params['old_wwid']}",
        *(key for place in places for key in bay_lock(params["node"], *place)),
    )


FILLING = Loop(
    slug="filling",
    what=lambda params: (
        f"The disk {params.get('spare_serial', '')} is being filled beside {params['old_serial']} in {params['pool']} on {params['node']}."
    ),
    undo="Let it be filled, which ends it; or, while the old disk serves, `zpool detach` with the pool and the guid of the new half, which "
    "`zpool status -g` shows as the second one in `replacing`. Then see that the bay of the new disk is dark.",
    over=the_replacement_is_over,
)
LIGHT_WHY = (
    "The node asks which disk is there in the very moment of lighting it, and reads the light back over every path, where it can be read."
)
DARK_WHY = "A light that stays on sends the next person to the wrong bay."
BLINKS_WHY = (
    "A light alone proves nothing. Read the number off the bay that blinks, or scan the disk in it; the page does not show the answer. Pull nothing "
    "before this is right."
)
BLINKS_ASKS = "Type the number of the bay that blinks, or scan the serial number on the disk in it."
PULL_WHY = (
    "The node is watched. When the right disk is out, the run goes on by itself. When another disk leaves, the page shows which one to put back. No pool uses "
    "this disk any more."
)

RUNBOOK = Runbook(
    slug="replace-in-place",
    title="Replace a disk that still serves",
    purpose="A disk is failing, slow, worn or counts errors, and still serves, and a blank disk sits in a free bay of the same node. ZFS fills the new "
    "disk while the old one serves on, so no redundancy is spent; then the old one leaves the pool, its bay is lit, and it is pulled.",
    states="new disk chosen -> checked -> planned -> filling -> taken over -> lit -> bay named -> pulled -> scanned -> dark, or called off",
    point_of_no_return="verify",
    params={
        "node": "the node that has the pool imported",
        "pool": "the pool's name",
        "pool_guid": "the pool's guid",
        "vdev_guid": "the guid of the member that is to go",
        "old_wwid": "the WWID of its disk",
        "old_serial": "the serial number of its disk",
        "enclosure": "the logical id of the enclosure it sits in; npem where the light of a PCIe port leads to it, ledctl, sas3ircu or storcli where that tool "
        "switches a light there, none where no light leads to it",
        "slot": "the number of its bay, or the place as that light names it; none where no light leads to it",
    },
    locks=what_must_be_held,
    undo="see",
    steps=(
        DecideStep(
            slug="choose",
            title="Choose the new disk",
            why="Every disk the node sees is listed, with the reasons for and against it. Only a blank, healthy disk of fitting size can be chosen. One "
            "whose bay no source gives is scanned at the rack next. Nothing changes on the node.",
            guards=(facts_are_fresh, the_member_still_serves, nothing_of_the_pool_comes_first),
            param="wwid",
            options=disks_there_are,
            learned=("spare_serial", "new_enclosure", "new_slot"),
        ),
        scan_chosen("scan-chosen", finds="spare_serial"),
        CheckStep(
            slug="check",
            title="Check pool, member and both disks",
            why="Every guard must pass. What is not known counts as a refusal.",
            guards=(
                *REPLACE_GUARDS,
                allowed_with_light(locate_led, zpool_replace_serving, zpool_detach_new_half),
                released(zpool_replace_serving, zpool_detach_new_half),
            ),
            warns=(the_old_disk_is_the_only_copy, the_last_scrub_is_long_ago),
        ),
        *order(
            "replace",
            "Have ZFS fill the new disk",
            zpool_replace_serving,
            replace_params,
            REPLACE_GUARDS,
            "All content of the new disk is overwritten. The old disk stays in the pool and serves until the new one is filled, so the vdev survives as "
            "many losses meanwhile as before. It can be called off until then, as long as the old disk serves.",
            also=(zpool_detach_new_half,),
            confirm=ConfirmStep(
                "confirm",
                "Confirm what is replaced by what",
                "You type both disks: the one that goes must be the one you mean, and so must the one that is overwritten.",
                phrase=both_serial_ends_and_pool,
                phrase_hint="Type the last 6 characters of the old disk's serial number, a space, those of the new disk's, a space, and the pool's name.",
            ),
            approvals=1,
            adds=what_goes_and_what_comes,
            agrees=plan_is_for_what_was_chosen,
            opens=FILLING,
            warns=(the_old_disk_is_the_only_copy, a_path_is_down),
        ),
        WaitStep(
            slug="resilver",
            title="Wait until the new disk is filled",
            why=(
                "ZFS resilvers the new disk and then detaches the old one by itself. Leave both in. Meanwhile the vdev survives as many"
                " losses as before. To call it off, end this run: the new disk is detached again, and the old one serves as before."
            ),
            until=the_new_disk_has_taken_over,
            alarm=both_disks_serve_meanwhile,
            sources=POOL_SOURCES,
            progress=how_far_the_resilver_is,
            deadline_seconds=RESILVER_SECONDS_MAX,
        ),
        verify(
            "verify",
            "Verify that the new disk has taken over",
            "The node looks again: the old member is out of the pool, and the new disk is ONLINE with its label.",
            REPLACED_GUARDS,
            sources=(*POOL_SOURCES, "block"),
            closes=(FILLING.slug,),
        ),
        *order(
            "light",
            "Light the bay of the old disk",
            locate_led,
            light_on,
            (*PULL_GUARDS, no_other_bay_is_lit),
            LIGHT_WHY,
            needed=the_bay_can_be_lit_and_is_dark,
            opens=LIT,
        ),
        verify(
            "verify-light",
            "Verify that exactly this bay is lit",
            "Two lit bays are how the wrong disk gets pulled.",
            (exactly_this_bay_is_lit, the_disk_sits_in_the_bay_meant),
            LIGHT_SOURCES,
        ),
        ManualStep(
            slug="blinks",
            title="Say which bay blinks",
            why=BLINKS_WHY,
            guards=(exactly_this_bay_is_lit, the_disk_sits_in_the_bay_meant, the_disk_belongs_to_no_pool),
            asks=BLINKS_ASKS,
            judges=the_bay_that_blinks,
            needed=a_bay_is_known_that_can_be_lit,
        ),
        ManualStep(
            slug="find",
            title="Find the disk that comes out",
            why=FIND_WHY,
            guards=PULL_GUARDS,
            asks=FIND_ASKS,
            judges=the_disk_that_comes_out,
            needed=the_disk_is_found_by_its_serial_number,
            finds="old_serial",
            warns=(other_lights,),
        ),
        WaitStep(
            slug="pull",
            title="Pull the old disk",
            why=PULL_WHY,
            until=the_bay_is_empty,
            takes_out="old_serial",
            alarm=nothing_else_was_pulled,
            progress=what_is_in_the_bay,
            sources=BAY_SOURCES,
            deadline_seconds=AT_THE_RACK_SECONDS,
        ),
        ManualStep(
            slug="scan",
            title="Scan the disk in your hand",
            why="The scan proves that the disk which was pulled is the one that was replaced. Mark the disk as removed.",
            guards=(the_bay_is_empty,),
            asks="Scan or type the serial number on the disk that was pulled.",
            judges=the_serial_that_was_pulled,
        ),
        *order("dark", "Switch the light off", locate_led, light_off, (facts_are_fresh,), DARK_WHY, needed=the_bay_is_lit),
        verify(
            "verify-dark", "Verify that the bay is dark", "The light is read back.", (the_bay_is_dark,), LIGHT_SOURCES, closes=(LIT.slug,)
        ),
        # the way back
        CheckStep(
            slug="see",
            title="See how far it is",
            why=(
                "Whether there is still a replacement to call off depends on the present state. If the new disk was resilvered "
                "completely meanwhile, it has taken over and nothing is detached."
            ),
            guards=(facts_are_fresh,),
            undoes=FILLING.slug,
        ),
        *order(
            "call-off",
            "Take the new disk out of the pool again",
            zpool_detach_new_half,
            call_off_params,
            CALL_OFF_GUARDS,
            "The new half is detached by its guid, while the old disk serves. What had been filled is given up; the tree is as it was before.",
            confirm=ConfirmStep(
                "confirm-call-off",
                "Confirm what is taken out",
                "The new disk goes, and the old one stays. You type the one that goes.",
                phrase=new_serial_end_and_pool,
                phrase_hint="Type the last 6 characters of the new disk's serial number, a space, and the pool's name.",
            ),
            approvals=1,
            needed=there_is_a_replacement_to_call_off,
            adds=what_is_taken_out_again,
            undoes=FILLING.slug,
        ),
        verify(
            "verify-call-off",
            "Verify that one disk serves alone",
            "The node looks again: nothing is being filled in this place any more.",
            (the_replacement_is_over,),
            sources=(*POOL_SOURCES, *BAY_SOURCES),
            undoes=FILLING.slug,
        ),
        *order(
            "light-new",
            "Light the bay of the new disk",
            locate_led,
            new_light_on,
            (*NEW_PULL_GUARDS, of_the_new_disk(no_other_bay_is_lit)),
            f"It is not blank any more, and no runbook takes it as it is: it comes out. {LIGHT_WHY}",
            needed=new_is_to_be_lit,
            undoes=FILLING.slug,
        ),
        verify("see-light-new", "See which bay is lit", "The light is read back.", (facts_are_fresh,), LIGHT_SOURCES, undoes=FILLING.slug),
        ManualStep(
            slug="blinks-new",
            title="Say which bay blinks now",
            why=BLINKS_WHY,
            guards=(*map(of_the_new_disk, (exactly_this_bay_is_lit, the_disk_sits_in_the_bay_meant, the_disk_belongs_to_no_pool)),),
            asks=BLINKS_ASKS,
            judges=the_bay_of_the_new_disk_that_blinks,
            needed=new_is_to_be_lit,
            undoes=FILLING.slug,
        ),
        ManualStep(
            slug="find-new",
            title="Find the new disk, which comes out again",
            why=FIND_WHY,
            guards=NEW_PULL_GUARDS,
            asks=FIND_ASKS,
            judges=the_new_disk_that_comes_out,
            needed=new_is_to_be_scanned,
            finds="spare_serial",
            undoes=FILLING.slug,
            warns=(other_lights_of_the_new_disk,),
        ),
        WaitStep(
            slug="pull-new",
            title="Pull the new disk",
            why=PULL_WHY,
            until=of_the_new_disk(the_bay_is_empty),
            takes_out="spare_serial",
            alarm=nothing_else_was_pulled,
            progress=lambda facts, params: what_is_in_the_bay(facts, about_the_new_disk(params)),
            sources=BAY_SOURCES,
            deadline_seconds=AT_THE_RACK_SECONDS,
            needed=new_is_to_come_out,
            undoes=FILLING.slug,
        ),
        *order(
            "dark-new",
            "Switch the light of that bay off",
            locate_led,
            new_light_off,
            (facts_are_fresh,),
            DARK_WHY,
            needed=of_the_new_disk(the_bay_is_lit),
            undoes=FILLING.slug,
        ),
        verify(
            "verify-dark-new",
            "Verify that the pool is as it is meant to be, and the bay dark",
            "The node looks again.",
            (the_replacement_is_over, of_the_new_disk(the_bay_is_dark)),
            sources=(*POOL_SOURCES, *LIGHT_SOURCES),
            undoes=FILLING.slug,
            closes=(FILLING.slug,),
        ),
        *order("undo-light", "Switch the light off", locate_led, light_off, (facts_are_fresh,), DARK_WHY, undoes=LIT.slug),
        verify(
            "verify-undo-light",
            "Verify that the bay is dark",
            "The light is read back.",
            (the_bay_is_dark,),
            LIGHT_SOURCES,
            undoes=LIT.slug,
            closes=(LIT.slug,),
        ),
    ),
)

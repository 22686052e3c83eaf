"""Replace a disk that is still in its bay: light the bay, pull it, put the new one in its place.

    spare scanned -> checked -> offline -> lit -> bay named -> pulled -> new disk in -> planned -> replacing -> resilvered -> dark

A disk whose bay no source gives, or whose light none shows, is scanned by a person in its place before it is pulled, and the node says
afterwards which disk went; where the PCIe port above it has a light, that is switched on first. The member is known by its guid and by its own label, its disk by WWID and serial number, its bay by the enclosure's id and
slot. Until `replace` the old disk can go back and catches up. From `replace` on there is only forward: ZFS has started
writing to the new disk. The danger on the way is the wrong pull; it is looked for all along and answered at once.
"""

from collections.abc import Mapping
from functools import wraps
from typing import Any

from agents.operations import fault_led_off, locate_led, zpool_offline, zpool_online, zpool_replace
from workflows.analysis.scrubs import of_the_last_scrub, the_last_scrub_is_long_ago
from workflows.engine.core import CheckStep, ConfirmStep, DecideStep, Loop, ManualStep, Option, Params, Progress, Runbook, Verdict, WaitStep
from workflows.facts import FleetFacts, known
from workflows.guards import CANDIDATE_GUARDS, TARGET_GUARDS, facts_are_fresh
from workflows.guards.answers import a_disk_from_the_shelf, the_bay_that_blinks, the_disk_that_comes_out
from workflows.guards.bay import (
    a_bay_is_known_that_can_be_lit,
    bay_lock,
    by_its_label,
    disks_in,
    exactly_this_bay_is_lit,
    has_no_bay,
    no_other_bay_is_lit,
    nothing_else_was_pulled,
    the_bay,
    the_bay_can_be_lit_and_is_dark,
    the_bay_is_dark,
    the_bay_is_empty,
    the_bay_is_lit,
    the_disk_is_found_by_its_serial_number,
    the_disk_sits_in_the_bay_meant,
    the_fault_light_is_off,
    the_fault_light_is_on,
    the_light_is_known_to_be_off,
    the_old_disk_is_in_its_bay,
    the_planned_disk_is_in_the_bay,
    words,
)
from workflows.guards.candidate import a_path_is_down, the_disk_sits_in_a_known_bay
from workflows.guards.fate import nothing_of_the_pool_comes_first
from workflows.guards.mapped import the_pool_is_not_encrypted_below
from workflows.guards.member import (
    nothing_replaces_by_itself,
    only_the_member_left,
    the_disk_that_goes_is_no_other,
    the_member_serves,
    the_member_serves_again,
    the_member_sits_on_the_disk_meant,
    the_member_stands_alone,
    the_vdev_can_do_without_the_member,
)
from workflows.guards.partitioned import the_member_has_its_disk_alone
from workflows.guards.policy import allowed_with_light
from workflows.guards.protection import the_disk_has_the_protection_of_its_siblings
from workflows.guards.releases import released
from workflows.guards.replaced import REPLACED_GUARDS, the_new_disk_has_taken_over, the_new_disk_is_in_service
from workflows.guards.scanned import serial_of
from workflows.guards.spare import NEW_DISK_GUARDS
from workflows.guards.target import (
    its_siblings_read_true,
    no_expansion_needs_the_member,
    no_mass_event_is_under_way,
    no_resilver_touches_the_vdev,
    nothing_blocks_attaching,
    the_lost_member_is_one_known_vdev,
    the_lost_member_is_out_of_service,
    the_pool_asks_for_no_larger_blocks,
    the_pool_is_imported_here_and_nowhere_else,
    the_pool_is_not_suspended,
)
from workflows.runbooks._orders import named, order, verify
from workflows.runbooks._other_lights import other_lights
from workflows.runbooks._replacing import (
    RESILVER_SECONDS_MAX,
    every_disk,
    how_far_the_resilver_is,
    plan_is_for_what_was_chosen,
    replace_params,
    what_is_left_meanwhile,
    what_is_left_without_it,
)

AT_THE_RACK_SECONDS = 2 * 3600
POOL_GUARDS = (
    facts_are_fresh,
    the_pool_is_imported_here_and_nowhere_else,
    the_pool_is_not_suspended,
    the_lost_member_is_one_known_vdev,
    the_member_has_its_disk_alone,
    the_pool_is_not_encrypted_below,
    no_resilver_touches_the_vdev,
    nothing_blocks_attaching,
    the_pool_asks_for_no_larger_blocks,
    nothing_of_the_pool_comes_first,
)
LEAVING_GUARDS = (
    *POOL_GUARDS,
    no_expansion_needs_the_member,
    the_member_stands_alone,
    the_member_sits_on_the_disk_meant,
    the_disk_that_goes_is_no_other,
    the_disk_sits_in_the_bay_meant,
    the_vdev_can_do_without_the_member,
    no_mass_event_is_under_way,
    its_siblings_read_true,
    nothing_replaces_by_itself,
)


@wraps(the_disk_sits_in_a_known_bay)
def the_scanned_disk_sits_in_a_known_bay(facts: FleetFacts, params: Params) -> Verdict:
    """In a run without a bay the serial number of the new disk, scanned in the first step, is what it is known by."""
    scanned = {"scanned_serial": params.get("spare_serial", "")} if has_no_bay(params) else {}
    return the_disk_sits_in_a_known_bay(facts, {**params, **scanned})


NEW_CANDIDATE_GUARDS = tuple(
    the_scanned_disk_sits_in_a_known_bay if each is the_disk_sits_in_a_known_bay else each for each in CANDIDATE_GUARDS
)
COMING_GUARDS = (*TARGET_GUARDS, *NEW_CANDIDATE_GUARDS, *NEW_DISK_GUARDS, the_disk_has_the_protection_of_its_siblings)
BAY_SOURCES = ("enclosure", "block")
LIGHT_SOURCES = (*BAY_SOURCES, "light_tools")
NEW_DISK_SOURCES = ("enclosure", "block", "disk_links", "zdb_label", "smart", "sas_phys", "mounts", "zpool_status", "zpool_status_guid")


def light_on(facts: FleetFacts, params: Params) -> Mapping[str, str]:
    """Lit for the disk that goes; which disk the bay holds is asked again on the node, in the moment of lighting."""
    return {**_bay_params(params), "wwid": params["old_wwid"], "light": "on"}


def light_off(facts: FleetFacts, params: Params) -> Mapping[str, str]:
    return {**_bay_params(params), "wwid": locate_led.ANY, "light": "off"}


def _bay_params(params: Params) -> dict[str, str]:
    return {name: params[name] for name in ("pool", "pool_guid", "enclosure", "slot")}


fault_light_off = named(*fault_led_off.PARAMS)
member_params = named(*zpool_offline.PARAMS)


def what_goes(facts: FleetFacts, params: Params, plan: Mapping[str, Any]) -> Mapping[str, Any]:
    """The disk as the person at the rack will meet it, what the vdev survives once it is out, and how long ago the rest was read."""
    scrub = of_the_last_scrub(facts, params)
    return {"leaving": leaving(params), "scrub": scrub, **what_is_left_without_it(facts, params, plan)}


def what_comes(facts: FleetFacts, params: Params, plan: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"leaving": leaving(params), **what_is_left_meanwhile(facts, params, plan)}


def disks_there_are(facts: FleetFacts, params: Params) -> tuple[Option, ...]:
    return every_disk(facts, params, NEW_CANDIDATE_GUARDS)


def serial_end_and_pool(params: Params, plan: Mapping[str, Any]) -> str:
    return f"{params['old_serial'][-6:]} {params['pool']}"


def what_must_be_held(facts: FleetFacts, params: Params) -> tuple[str, ...]:
    """The pool, the bay, and one disk, as an order touches one: the one that comes as soon as it is known. The pool stands for its own."""
    bays = bay_lock(params["node"], params["enclosure"], params["slot"])
    return (f"pool:{params['pool_guid']}", *bays, f"disk:{params.get('wwid') or params['old_wwid']}")


def leaving(params: Params) -> Mapping[str, str]:
    """The disk that goes, as a plan shows it; without a bay where no light leads to it."""
    place = "" if has_no_bay(params) else f"{params['enclosure']}/{params['slot']}"
    return {"wwid": params["old_wwid"], "serial": params["old_serial"], "bay": place}


def what_is_in_the_bay(facts: FleetFacts, params: Params) -> Progress:
    if has_no_bay(params):
        return Progress(the_old_disk_is_in_its_bay(facts, params).reason)
    bay = the_bay(facts, params)
    if not known(bay):
        return Progress(bay.reason)
    light = "lit" if known(bay.locate) and bay.locate else "dark" if known(bay.locate) else "light not known"
    status = bay.status if known(bay.status) else "not known"
    inside = disks_in(facts, params)
    held = f"holds {by_its_label(inside[0])}" if known(inside) and inside else "holds a disk" if bay.device else "no disk"
    return Progress(f"{words(params).capitalize()}: {light}, {status}, {held}.")


OFFLINE = Loop(
    slug="offline",
    what=lambda params: f"The member {params['vdev_guid']} of {params['pool']} on {params['node']} is OFFLINE.",
    undo="Put its own disk back and bring it online (`zpool online` with the pool and this guid), or replace it.",
    over=the_member_serves_again,
)
LIT = Loop(
    slug="lit",
    what=lambda params: f"The locate light of {words(params)} of {params['node']} is on.",
    undo="Switch the light off on the node: write 0 to `locate` of that slot below /sys/class/enclosure, or run `sg_ses --dev-slot-num=SLOT "
    "--clear=ident` on the enclosure's own /dev/sg device. Of a PCIe port: write 0 to /sys/class/leds/PORT:enclosure:locate/brightness. "
    "Of a place: switch it off with the tool that names it.",
    over=the_light_is_known_to_be_off,
)

FIND_WHY = (
    "No source numbers the bay of this disk. Find the one with this serial number on its sticker, and scan it where it sits; a light that was switched "
    "on, and what other sources call its place, are hints. Pull nothing before this is right."
)
FIND_ASKS = "Scan or type the serial number on the disk, before it is pulled."
CONFIRM_WHY = "You type the name of what is to be taken out: it must be the disk you mean, in the pool you mean."
CONFIRM_HINT = "Type the last 6 characters of the old disk's serial number, a space, and the pool's name."


def _confirm(slug: str, title: str) -> ConfirmStep:
    return ConfirmStep(slug, title, CONFIRM_WHY, phrase=serial_end_and_pool, phrase_hint=CONFIRM_HINT)


RUNBOOK = Runbook(
    slug="blink-and-replace",
    title="Replace a disk in its bay, with the bay lit",
    purpose="A disk is sick, or due, and still sits in its bay. This takes its member out of service, lights the bay, has the person at "
    "the rack say which bay blinks, watches that nothing else is pulled, checks the new disk, and has ZFS fill it.",
    states="spare scanned -> checked -> offline -> lit -> bay named -> pulled -> new disk in -> planned -> replacing -> resilvered -> dark",
    point_of_no_return="replace",
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
    undo="seat",
    steps=(
        ManualStep(
            slug="spare",
            title="Scan the new disk",
            why="The new disk is at hand before the old one is taken out of service. Only this disk will be accepted in the bay later.",
            guards=(facts_are_fresh, nothing_of_the_pool_comes_first),
            asks="Scan or type the serial number on the new disk.",
            judges=a_disk_from_the_shelf,
            param="spare_serial",
            reads=serial_of,
            again="insert",
        ),
        CheckStep(
            slug="check",
            title="Check pool, member, disk and bay",
            why="Every guard must pass. What is not known counts as a refusal.",
            guards=(
                *LEAVING_GUARDS,
                no_other_bay_is_lit,
                allowed_with_light(locate_led, zpool_replace),
                released(zpool_offline, zpool_replace),
            ),
            warns=(the_last_scrub_is_long_ago,),
        ),
        *order(
            "offline",
            "Take the member out of service",
            zpool_offline,
            member_params,
            LEAVING_GUARDS,
            "ZFS stops using the disk, so it can be pulled without errors. Until the new disk is filled the vdev does with one less. "
            "The old disk can come back at any time and catches up.",
            also=(zpool_online,),
            needed=the_member_serves,
            confirm=_confirm("confirm-offline", "Confirm what is taken out of service"),
            approvals=1,
            adds=what_goes,
            opens=OFFLINE,
            warns=(the_last_scrub_is_long_ago,),
        ),
        verify(
            "verify-offline",
            "Verify that only this member is out of service",
            "The node looks again: the member serves nothing any more, and its vdev still has what it needs.",
            (the_lost_member_is_out_of_service, only_the_member_left, the_disk_sits_in_the_bay_meant),
            sources=("zpool_status", "zpool_status_guid", "zdb_label", "block", "enclosure"),
        ),
        *order(
            "light",
            "Light the bay",
            locate_led,
            light_on,
            (facts_are_fresh, the_disk_sits_in_the_bay_meant, no_other_bay_is_lit),
            "The node asks which disk is there in the very moment of lighting it, and reads the light back over every path, where it can be read.",
            needed=the_bay_can_be_lit_and_is_dark,
            opens=LIT,
        ),
        verify(
            "verify-light",
            "Verify that exactly this bay is lit",
            "Two lit bays are how the wrong disk gets pulled.",
            (exactly_this_bay_is_lit, the_disk_sits_in_the_bay_meant),
            sources=LIGHT_SOURCES,
        ),
        ManualStep(
            slug="blinks",
            title="Say which bay blinks",
            why=(
                "A light alone proves nothing. Read the number off the bay that blinks, or scan the disk in it; the page does not show "
                "the answer. Pull nothing before this is right."
            ),
            guards=(exactly_this_bay_is_lit, the_disk_sits_in_the_bay_meant),
            asks="Type the number of the bay that blinks, or scan the serial number on the disk in it.",
            judges=the_bay_that_blinks,
            needed=a_bay_is_known_that_can_be_lit,
        ),
        ManualStep(
            slug="find",
            title="Find the disk that comes out",
            why=FIND_WHY,
            guards=(facts_are_fresh, the_disk_sits_in_the_bay_meant, the_lost_member_is_out_of_service),
            asks=FIND_ASKS,
            judges=the_disk_that_comes_out,
            needed=the_disk_is_found_by_its_serial_number,
            finds="old_serial",
            warns=(other_lights,),
        ),
        WaitStep(
            slug="pull",
            title="Pull the disk",
            why=(
                "The node is watched. When the right disk is out, the run goes on by itself. When another disk leaves, the page shows "
                "which one to put back."
            ),
            until=the_bay_is_empty,
            takes_out="old_serial",
            alarm=nothing_else_was_pulled,
            progress=what_is_in_the_bay,
            sources=BAY_SOURCES,
            deadline_seconds=AT_THE_RACK_SECONDS,
        ),
        WaitStep(
            slug="insert",
            title="Put the new disk into the same place",
            why="Only the disk that was scanned is accepted, and only in this bay where the bay is known. It may take a minute to spin up. Another disk can be "
            "scanned in its place at any moment.",
            until=the_planned_disk_is_in_the_bay,
            puts_in="spare_serial",
            alarm=nothing_else_was_pulled,
            progress=what_is_in_the_bay,
            sources=BAY_SOURCES,
            deadline_seconds=AT_THE_RACK_SECONDS,
        ),
        verify(
            "inspect",
            "Have the node look at the new disk",
            "Health, labels and link of a disk that has just come are not known until the node asks for them.",
            (the_planned_disk_is_in_the_bay,),
            sources=NEW_DISK_SOURCES,
        ),
        DecideStep(
            slug="take",
            title="Take the new disk",
            why=(
                "The disk in the bay is checked: blank, large enough, block size and protection type as its siblings, healthy, and not "
                "in use. Every other disk is listed with the reason why it is not the one."
            ),
            guards=(facts_are_fresh, nothing_else_was_pulled, *NEW_DISK_GUARDS, the_disk_has_the_protection_of_its_siblings),
            param="wwid",
            options=disks_there_are,
        ),
        *order(
            "replace",
            "Replace the disk",
            zpool_replace,
            replace_params,
            COMING_GUARDS,
            "The node checks everything once more and runs the one command of the plan, at most once. All content of the new disk is "
            "overwritten; what the pool holds stays readable meanwhile.",
            confirm=_confirm("confirm-replace", "Confirm what is replaced"),
            approvals=1,
            adds=what_comes,
            agrees=plan_is_for_what_was_chosen,
            closes=(OFFLINE.slug,),
            warns=(a_path_is_down,),
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
        verify(
            "verify",
            "Verify that the new disk has taken over",
            "The node looks again, and every answer uses what it reports after the resilver has ended.",
            REPLACED_GUARDS,
            sources=("zpool_status", "zpool_status_guid", "zdb_label", "block"),
        ),
        *order(
            "dark",
            "Switch the light off",
            locate_led,
            light_off,
            (facts_are_fresh,),
            "A light that stays on sends the next person to the wrong bay.",
            needed=the_bay_is_lit,
        ),
        verify(
            "verify-dark", "Verify that the bay is dark", "The light is read back.", (the_bay_is_dark,), LIGHT_SOURCES, closes=(LIT.slug,)
        ),
        *order(
            "fault-off",
            "Switch the fault light off",
            fault_led_off,
            fault_light_off,
            (facts_are_fresh, the_planned_disk_is_in_the_bay, the_new_disk_is_in_service),
            "ZED lit it for the disk that is gone, and does not always see the new one. A light left on leads to the pull of a good disk. The node "
            "asks once more which disk is in the bay.",
            needed=the_fault_light_is_on,
        ),
        verify(
            "verify-fault-off",
            "Verify that the fault light is off",
            "The light is read back; where it comes on again, a program on the node treats the new disk as faulty.",
            (the_fault_light_is_off,),
            BAY_SOURCES,
        ),
        # the way back
        WaitStep(
            slug="seat",
            title="Put the old disk back into its bay",
            why="The member comes back with its own disk and is resilvered. If the disk was never pulled, there is nothing to do here.",
            until=the_old_disk_is_in_its_bay,
            puts_in="old_serial",
            progress=what_is_in_the_bay,
            sources=BAY_SOURCES,
            deadline_seconds=AT_THE_RACK_SECONDS,
            undoes=OFFLINE.slug,
        ),
        *order(
            "online",
            "Bring the member back into service",
            zpool_online,
            member_params,
            (facts_are_fresh, the_pool_is_not_suspended, the_lost_member_is_one_known_vdev, the_old_disk_is_in_its_bay),
            "ZFS takes the disk back and resilvers only what was written meanwhile.",
            undoes=OFFLINE.slug,
        ),
        verify(
            "verify-online",
            "Verify that the member serves again",
            "`zpool online` says nothing of a disk that does not come back; the tree does.",
            (the_member_serves_again,),
            undoes=OFFLINE.slug,
            closes=(OFFLINE.slug,),
        ),
        *order(
            "undo-light",
            "Switch the light off",
            locate_led,
            light_off,
            (facts_are_fresh,),
            "A light that stays on sends the next person to the wrong bay.",
            undoes=LIT.slug,
        ),
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

"""Give a disk that stands alone a mirror: a top-level vdev of data that was added by itself, or a special, dedup or log vdev of one disk.

    alone -> new disk chosen (-> scanned) -> checked -> planned -> confirmed -> approved -> filling -> filled -> verified

When the one disk of a data, special or dedup vdev is lost, the whole pool is lost. A pool with a raidz or dRAID never lets such a disk go again, so a second
one beside it is what helps, and at once. The danger is attaching to the wrong vdev: to a raidz it would make that raidz wider for good, so the disk is
named by its guid and must be a disk. The old disk serves all the while; `zpool detach` with the guid of the new one undoes it.
"""

from collections.abc import Mapping
from typing import Any

from agents.operations import zpool_attach
from workflows.engine.core import CheckStep, ConfirmStep, DecideStep, Option, Params, Runbook, WaitStep
from workflows.facts import FleetFacts
from workflows.guards import CANDIDATE_GUARDS, facts_are_fresh
from workflows.guards.candidate import CHOICE_GUARDS, a_path_is_down
from workflows.guards.fate import nothing_of_the_pool_comes_first
from workflows.guards.mapped import the_pool_is_not_encrypted_below
from workflows.guards.partitioned import what_gets_a_mirror_has_its_disk_alone
from workflows.guards.policy import allowed
from workflows.guards.protection import the_disk_has_the_protection_of_its_siblings
from workflows.guards.releases import released
from workflows.guards.replaced import (
    the_new_disk_is_in_service,
    the_resilver_ended_without_errors,
    the_vdev_counts_the_new_disk,
)
from workflows.guards.target import (
    no_expansion_is_under_way,
    no_resilver_touches_the_vdev,
    nothing_blocks_attaching,
    the_pool_asks_for_no_larger_blocks,
    the_pool_is_imported_here_and_nowhere_else,
    the_pool_is_not_suspended,
)
from workflows.runbooks._orders import POOL_SOURCES, order, verify
from workflows.runbooks._replacing import (
    RESILVER_SECONDS_MAX,
    every_disk,
    how_far_the_resilver_is,
    pool_disk_and_bay,
    scan_chosen,
    takes_in,
    what_is_left_meanwhile,
    whole_disk,
)
from workflows.runbooks.add_redundancy.guards import (
    both_stand_in_one_mirror,
    it_is_one_disk_that_can_be_mirrored,
    the_first_disk_serves_meanwhile,
    the_new_disk_mirrors_it,
)

POOL_GUARDS = (
    facts_are_fresh,
    the_pool_is_imported_here_and_nowhere_else,
    the_pool_is_not_suspended,
    it_is_one_disk_that_can_be_mirrored,
    what_gets_a_mirror_has_its_disk_alone,
    the_pool_is_not_encrypted_below,
    no_resilver_touches_the_vdev,
    nothing_blocks_attaching,
    no_expansion_is_under_way,
    the_pool_asks_for_no_larger_blocks,
    nothing_of_the_pool_comes_first,
)
GUARDS = (*POOL_GUARDS, *CANDIDATE_GUARDS, the_disk_has_the_protection_of_its_siblings)
WAY_BACK = (
    "`zpool detach` with the pool and the guid of the new disk takes it out again, by hand; its label is wiped by that. While the first disk is lost or damaged "
    "nothing is detached."
)


def disks_there_are(facts: FleetFacts, params: Params) -> tuple[Option, ...]:
    return every_disk(facts, params, CHOICE_GUARDS)


def what_comes(facts: FleetFacts, params: Params, plan: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"way_back": WAY_BACK, **what_is_left_meanwhile(facts, params, plan)}


def both_ends_and_pool(params: Params, plan: Mapping[str, Any]) -> str:
    return f"{params['vdev_guid'][-6:]} {plan['incoming']['serial'][-6:]} {params['pool']}"


RUNBOOK = Runbook(
    slug="add-redundancy",
    title="Give a disk that stands alone a mirror",
    purpose="One disk is a vdev by itself: added by mistake, or made so as a special, dedup or log vdev, or left over from a mirror. This attaches a blank disk "
    "of the node to it, waits until it is filled, and verifies that the two are a mirror. It attaches to one disk by its guid, and never to a raidz.",
    states="alone -> new disk chosen -> checked -> planned -> confirmed -> approved -> filling -> filled -> verified",
    point_of_no_return="attach",
    params={
        "node": "the node that has the pool imported",
        "pool": "the pool's name",
        "pool_guid": "the pool's guid",
        "vdev_guid": "the guid of the disk that stands alone",
    },
    locks=pool_disk_and_bay,
    steps=(
        DecideStep(
            slug="choose",
            title="Choose the new disk",
            why="Every disk the node sees is listed, with the reasons for and against it. Only a blank, healthy disk of fitting size can be "
            "chosen. One whose bay no source gives is scanned at the rack next. Nothing changes on the node.",
            guards=(facts_are_fresh, it_is_one_disk_that_can_be_mirrored, nothing_of_the_pool_comes_first),
            param="wwid",
            options=disks_there_are,
        ),
        scan_chosen(),
        CheckStep(
            slug="check",
            title="Check pool and both disks",
            why="Every guard must pass. What is not known counts as a refusal.",
            guards=(*GUARDS, allowed(zpool_attach), released(zpool_attach)),
        ),
        *order(
            "attach",
            "Attach the new disk to it",
            zpool_attach,
            whole_disk(zpool_attach),
            GUARDS,
            "All content of the new disk is overwritten. The disk that is there serves on, and ZFS fills the new one from it.",
            confirm=ConfirmStep(
                slug="confirm",
                title="Confirm both disks",
                why="You type which disk gets a mirror, and which disk is overwritten.",
                phrase=both_ends_and_pool,
                phrase_hint="Type the last 6 digits of the guid that gets a mirror, the last 6 characters of the new disk's serial number, and the pool's name, "
                "with spaces.",
            ),
            approvals=1,
            agrees=takes_in(zpool_attach),
            adds=what_comes,
            warns=(a_path_is_down,),
        ),
        WaitStep(
            slug="filled",
            title="Wait until the new disk is filled",
            why="Take neither disk out meanwhile: until this ends the first one alone holds everything.",
            until=the_new_disk_mirrors_it,
            alarm=the_first_disk_serves_meanwhile,
            sources=POOL_SOURCES,
            progress=how_far_the_resilver_is,
            deadline_seconds=RESILVER_SECONDS_MAX,
        ),
        verify(
            "verify",
            "Verify that the two are a mirror",
            "The node looks again, and every answer uses what it reports after the resilver has ended.",
            (both_stand_in_one_mirror, the_new_disk_is_in_service, the_resilver_ended_without_errors, the_vdev_counts_the_new_disk),
        ),
    ),
)

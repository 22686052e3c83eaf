"""Give a pool a hot spare, a log or a cache device: a blank disk of the node, in that section and never among the data.

    wanted -> disk chosen (-> scanned) -> checked -> planned -> confirmed -> approved -> added -> verified

The danger is the one word: `zpool add POOL DISK` without `spare`, `log` or `cache` makes the disk a part of the data, which no release takes out of a
pool with a raidz again. So the node asks `zpool add -n` first, and compares the tree that it prints row by row with the one that is meant; any
difference refuses. What was added is taken out again by remove-auxiliary.
"""

from collections.abc import Mapping
from typing import Any

from agents.operations import zpool_add, zpool_remove
from workflows.engine.core import CheckStep, ConfirmStep, DecideStep, Option, Params, Runbook
from workflows.facts import FleetFacts
from workflows.guards import facts_are_fresh
from workflows.guards.candidate import (
    a_path_is_down,
    no_other_node_uses_the_disk,
    nothing_contradicts_who_the_disk_is,
    nothing_else_uses_the_disk,
    the_disk_answers_to_its_wwid,
    the_disk_has_no_partitions,
    the_disk_is_seen_and_running,
    the_disk_sits_in_a_known_bay,
    to_choose,
)
from workflows.guards.fate import nothing_of_the_pool_comes_first
from workflows.guards.healthy import the_disk_is_healthy, the_disk_link_is_as_fast_as_others
from workflows.guards.mapped import the_pool_is_not_encrypted_below
from workflows.guards.policy import allowed
from workflows.guards.releases import released
from workflows.guards.target import (
    no_expansion_is_under_way,
    no_removal_is_under_way,
    the_pool_is_imported_here_and_nowhere_else,
    the_pool_is_not_suspended,
)
from workflows.runbooks._orders import order, verify
from workflows.runbooks._replacing import every_disk, pool_disk_and_bay, scan_chosen, takes_in, whole_disk
from workflows.runbooks.add_auxiliary.guards import (
    it_can_be_removed_again,
    it_is_added_beside_the_data,
    the_data_is_as_it_was,
    the_disk_carries_no_label_at_all,
    the_disk_is_fit_for_its_role,
    the_pool_lists_it_in_its_role,
)

POOL_GUARDS = (
    facts_are_fresh,
    the_pool_is_imported_here_and_nowhere_else,
    the_pool_is_not_suspended,
    it_is_added_beside_the_data,
    it_can_be_removed_again,
    the_pool_is_not_encrypted_below,
    no_removal_is_under_way,
    no_expansion_is_under_way,
    nothing_of_the_pool_comes_first,
)
DISK_GUARDS = (
    the_disk_is_seen_and_running,
    the_disk_answers_to_its_wwid,
    nothing_contradicts_who_the_disk_is,
    the_disk_carries_no_label_at_all,
    no_other_node_uses_the_disk,
    nothing_else_uses_the_disk,
    the_disk_has_no_partitions,
    the_disk_is_fit_for_its_role,
    the_disk_is_healthy,
    the_disk_link_is_as_fast_as_others,
    the_disk_sits_in_a_known_bay,
)
GUARDS = (*POOL_GUARDS, *DISK_GUARDS)
MEANING: Mapping[str, str] = {
    "spare": "It waits as a hot spare, and holds nothing until a disk of the pool fails.",
    "log": "Synchronous writes go to it first. It is one disk: if it is lost while the node crashes too, the last seconds of synchronous writes are lost.",
    "cache": "It holds copies of what is read often. Its loss loses nothing.",
}


def disks_there_are(facts: FleetFacts, params: Params) -> tuple[Option, ...]:
    return every_disk(facts, params, to_choose(DISK_GUARDS))


def what_it_means(facts: FleetFacts, params: Params) -> str:
    return MEANING.get(params.get("role", ""), "What it means is not known before it is chosen what the disk is to be.")


def what_comes(facts: FleetFacts, params: Params, plan: Mapping[str, Any]) -> Mapping[str, Any]:
    return {
        "meaning": what_it_means(facts, params),
        "way_back": "Until a checkpoint is made, remove-auxiliary takes it out of the pool again.",
    }


def serial_end_role_and_pool(params: Params, plan: Mapping[str, Any]) -> str:
    return f"{plan['incoming']['serial'][-6:]} {params['role']} {params['pool']}"


RUNBOOK = Runbook(
    slug="add-auxiliary",
    title="Add a spare, a log or a cache device",
    purpose="A pool has no hot spare, log or cache device, or lost it, and a blank disk is in the node. This adds the disk in that section, by its WWID, after "
    "`zpool add -n` has printed the very tree that is meant.",
    states="wanted -> disk chosen -> checked -> planned -> confirmed -> approved -> added -> verified",
    point_of_no_return="add",
    params={
        "node": "the node that has the pool imported",
        "pool": "the pool's name",
        "pool_guid": "the pool's guid",
        "role": "what the disk is to be: spare, log or cache",
    },
    locks=pool_disk_and_bay,
    steps=(
        DecideStep(
            slug="choose",
            title="Choose the disk",
            why="Every disk the node sees is listed, with the reasons for and against it. Only a blank, healthy disk can be chosen; a spare is at least as "
            "large as the largest disk of the pool. One whose bay no source gives is scanned at the rack next. Nothing changes on the node.",
            guards=(facts_are_fresh, it_is_added_beside_the_data, nothing_of_the_pool_comes_first),
            param="wwid",
            options=disks_there_are,
        ),
        scan_chosen(),
        CheckStep(
            slug="check",
            title="Check pool and disk",
            why="Every guard must pass. What is not known counts as a refusal.",
            guards=(*GUARDS, allowed(zpool_add, zpool_remove), released(zpool_add, zpool_remove)),
            warns=(what_it_means,),
        ),
        *order(
            "add",
            "Add the disk to the pool",
            zpool_add,
            whole_disk(zpool_add),
            GUARDS,
            "All content of the disk is overwritten. The node asks `zpool add -n` once more, and adds the disk only when the tree it prints is the one that is meant.",
            also=(zpool_remove,),
            confirm=ConfirmStep(
                slug="confirm",
                title="Confirm what is added",
                why="You type which disk it is and what it is to be, as a disk that is added in the wrong place may never leave the pool.",
                phrase=serial_end_role_and_pool,
                phrase_hint="Type the last 6 characters of the disk's serial number, what it is to be (spare, log or cache), and the pool's name, with spaces.",
            ),
            approvals=1,
            agrees=takes_in(zpool_add),
            adds=what_comes,
            warns=(a_path_is_down,),
        ),
        verify(
            "verify",
            "Verify that the pool lists it in its role",
            "The node looks again: the disk is a spare, log or cache device of the pool, and the data vdevs are those that were there.",
            (the_pool_lists_it_in_its_role, the_data_is_as_it_was),
        ),
    ),
)

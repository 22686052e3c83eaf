"""Take a vdev that holds data out of a pool that can do without its room: a disk that was added by mistake, or a mirror that is not wanted any more.

    a disk or mirror of data, special or dedup -> checked -> planned -> confirmed -> approved -> its data is copied to the others -> gone -> verified

Only of mirrors and single disks with one ashift; a pool with a raidz gives no data vdev back. ZFS copies without a look at checksums, so a scrub
comes before where none ended lately. While the copy runs the removal can be called off, and the run's way back does not do that: a person
decides it. Afterwards the vdev is gone, and a table of what was moved stays in memory.
"""

from collections.abc import Mapping
from typing import Any

from agents.operations import zpool_remove_vdev
from workflows.engine.core import CheckStep, Params, Runbook, WaitStep
from workflows.facts import FleetFacts, known
from workflows.guards import facts_are_fresh
from workflows.guards.fate import nothing_of_the_pool_comes_first
from workflows.guards.modes import no_scan_runs_on_the_pool
from workflows.guards.policy import allowed
from workflows.guards.releases import released
from workflows.guards.subject import the_pool
from workflows.guards.target import no_removal_is_under_way, the_pool_is_imported_here_and_nowhere_else, the_pool_is_not_suspended
from workflows.runbooks._confirming import guid_and_pool
from workflows.runbooks._orders import POOL_SOURCES, named, order, verify, what_must_be_held
from workflows.runbooks.remove_auxiliary.guards import nothing_blocks_a_removal, the_pool_goes_on_without_it
from workflows.runbooks.remove_vdev.guards import (
    it_is_a_whole_data_vdev,
    it_left_the_pool,
    role_of,
    the_others_can_take_its_data,
    the_removal_goes_on,
    the_vdev,
)

COPY_SECONDS = 14 * 86400
GUARDS = (
    facts_are_fresh,
    the_pool_is_imported_here_and_nowhere_else,
    the_pool_is_not_suspended,
    no_scan_runs_on_the_pool,
    nothing_blocks_a_removal,
    no_removal_is_under_way,
    it_is_a_whole_data_vdev,
    the_others_can_take_its_data,
    nothing_of_the_pool_comes_first,
)
GIVEN_UP = (
    "{pool} loses the room of this vdev for good; the disk can be added again, and what was moved is not moved back. What is copied is not checked meanwhile: scrub "
    "before, where none ended lately, and afterwards. A table of what was moved stays in memory; `zpool remove -n {pool} {guid}` says how much that is."
)


OF_CLASS: Mapping[str, str] = {
    "special": " Metadata and small blocks are on the data vdevs from then on, which answer slower where they are disks that turn.",
    "dedup": " The table of duplicates is on the data vdevs from then on, and every write of a dataset with dedup waits for them.",
}


def what_is_given_up(facts: FleetFacts, params: Params) -> str:
    pool, top = the_pool(facts, params), the_vdev(facts, params)
    more = OF_CLASS.get(role_of(pool, top), "") if known(pool) and known(top) else ""
    return GIVEN_UP.format(pool=params.get("pool", ""), guid=params.get("vdev_guid", "")) + more


def what_goes(facts: FleetFacts, params: Params, plan: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"given_up": what_is_given_up(facts, params)}


RUNBOOK = Runbook(
    slug="remove-vdev",
    title="Remove a vdev that was added by mistake",
    purpose="A single disk or a mirror is a data, special or dedup vdev of the pool and is to leave it. Where ZFS can do that, this has its data copied to the others and waits until it is "
    "gone. A pool with a raidz or dRAID gives no data vdev back; add-redundancy attaches a second disk there.",
    states="among the data -> checked -> planned -> confirmed -> approved -> its data is copied to the others -> gone -> verified",
    point_of_no_return="remove",
    params={
        "node": "the node that has the pool imported",
        "pool": "the pool's name",
        "pool_guid": "the pool's guid",
        "vdev_guid": "the guid of the vdev; of a mirror the mirror's own",
    },
    locks=what_must_be_held,
    steps=(
        CheckStep(
            slug="check",
            title="Check that ZFS can take it out",
            why="Every guard must pass. What is not known counts as a refusal.",
            guards=(*GUARDS, allowed(zpool_remove_vdev), released(zpool_remove_vdev)),
            warns=(what_is_given_up,),
        ),
        *order(
            "remove",
            "Remove the vdev from the pool",
            zpool_remove_vdev,
            named(*zpool_remove_vdev.PARAMS),
            GUARDS,
            "The node asks once more what has this guid. The command returns soon, and the copy goes on. The kernel refuses where keys of encrypted datasets are not "
            "loaded or the feature device_removal is not enabled.",
            confirm=guid_and_pool(
                "confirm",
                "Confirm what is removed",
                "Two vdevs differ in one number. You type the end of the one that goes.",
                "is removed",
            ),
            approvals=1,
            adds=what_goes,
        ),
        WaitStep(
            slug="copied",
            title="Wait until its data is on the others",
            why="Pull none of its disks. The pool serves meanwhile, and replaces and attaches nothing. To call it off by hand: zpool remove -s POOL.",
            until=it_left_the_pool,
            alarm=the_removal_goes_on,
            sources=POOL_SOURCES,
            deadline_seconds=COPY_SECONDS,
        ),
        verify(
            "verify",
            "Verify that it is out of the pool",
            "The node looks again: nothing in the pool has that guid, and the pool serves. Scrub it then.",
            (it_left_the_pool, the_pool_goes_on_without_it),
        ),
    ),
)

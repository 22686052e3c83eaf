"""Take a cache device, a log or a hot spare out of a pool, by its guid: because it is lost, fails, or is not wanted.

    beside the data -> checked -> planned -> confirmed -> approved -> removed -> verified

None of the three holds data that is nowhere else while the pool serves: a cache holds copies, a spare nothing, and what a log holds is in memory too
and is written to the data disks before the log goes. What holds data, special or dedup is never removed here, nor one disk out of a log mirror.
`zpool add` gives a pool another one.
"""

from collections.abc import Mapping
from typing import Any

from agents.operations import zpool_remove
from workflows.engine.core import CheckStep, Params, Runbook
from workflows.facts import FleetFacts, known
from workflows.guards import facts_are_fresh
from workflows.guards.fate import nothing_of_the_pool_comes_first
from workflows.guards.policy import allowed
from workflows.guards.releases import released
from workflows.guards.target import the_pool_is_imported_here_and_nowhere_else, the_pool_is_not_suspended
from workflows.runbooks._confirming import guid_and_pool
from workflows.runbooks._orders import named, order, verify, what_must_be_held
from workflows.runbooks.remove_auxiliary.guards import (
    it_holds_no_data,
    it_is_out_of_the_pool,
    nothing_blocks_a_removal,
    the_device,
    the_pool_goes_on_without_it,
)

GUARDS = (
    facts_are_fresh,
    the_pool_is_imported_here_and_nowhere_else,
    the_pool_is_not_suspended,
    it_holds_no_data,
    nothing_blocks_a_removal,
    nothing_of_the_pool_comes_first,
)
GIVEN_UP: Mapping[str, str] = {
    "cache": "The cache device {guid} leaves {pool}. It held copies only, so no data is lost; reads that it served come from the disks, and are slower. Its "
    "label stays on it.",
    "log": "The log {guid} leaves {pool}, and its label is wiped where it can be reached. What it holds is written to the data disks first, so nothing is lost "
    "by it. Afterwards synchronous writes go to the data disks, and are slower. Only a crash before the end can lose the last seconds of synchronous "
    "writes that a lost log alone held.",
    "spare": "The spare {guid} leaves {pool}. It held no data. When a disk of {pool} fails, this spare does not stand in: the vdev waits without its "
    "redundancy for a person. Its label stays on it.",
}


def what_is_given_up(facts: FleetFacts, params: Params) -> str:
    device = the_device(facts, params)
    if not known(device):
        return f"What is given up is not known: {device.reason}"
    return GIVEN_UP[device.role].format(guid=params.get("vdev_guid", ""), pool=params.get("pool", ""))


def what_goes(facts: FleetFacts, params: Params, plan: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"given_up": what_is_given_up(facts, params)}


RUNBOOK = Runbook(
    slug="remove-auxiliary",
    title="Remove a cache device, a log or a spare",
    purpose="A cache device, a log or a hot spare is lost, fails, or is not wanted any more. This takes it out of the pool by its guid. No data is on it that is "
    "nowhere else; what is given up stands in the plan.",
    states="beside the data -> checked -> planned -> confirmed -> approved -> removed -> verified",
    point_of_no_return="remove",
    params={
        "node": "the node that has the pool imported",
        "pool": "the pool's name",
        "pool_guid": "the pool's guid",
        "vdev_guid": "the guid of the cache device, the spare, or the log; of a log mirror the mirror's own",
    },
    locks=what_must_be_held,
    steps=(
        CheckStep(
            slug="check",
            title="Check that it holds no data and may go",
            why="Every guard must pass. What is not known counts as a refusal.",
            guards=(*GUARDS, allowed(zpool_remove), released(zpool_remove)),
            warns=(what_is_given_up,),
        ),
        *order(
            "remove",
            "Remove it from the pool",
            zpool_remove,
            named(*zpool_remove.PARAMS),
            GUARDS,
            "The node asks once more what has this guid, and removes it. A log may take a minute: what it holds is written to the data disks first.",
            confirm=guid_and_pool(
                "confirm",
                "Confirm what is removed",
                "Two devices differ in one number. You type the end of the one that goes.",
                "is removed",
            ),
            approvals=1,
            adds=what_goes,
        ),
        verify(
            "verify",
            "Verify that it is out of the pool",
            "The node looks again: nothing in the pool has that guid, and the pool serves.",
            (it_is_out_of_the_pool, the_pool_goes_on_without_it),
        ),
    ),
)

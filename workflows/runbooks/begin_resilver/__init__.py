"""Begin a resilver that does not come by itself, and wait until nothing misses data.

    something misses data, nothing fills it -> checked -> planned -> resilvering -> filled -> verified

`zpool resilver` takes nothing out and overwrites nothing that is whole. It would end any scan that runs, a scrub too, so it is given only while
none runs. What it cannot do is fill a disk that comes and goes: that is looked for first.
"""

from collections.abc import Mapping

from agents.operations import zpool_resilver
from workflows.engine.core import CheckStep, Params, Runbook, WaitStep
from workflows.facts import FleetFacts
from workflows.guards import facts_are_fresh
from workflows.guards.fate import nothing_of_the_pool_comes_first
from workflows.guards.modes import no_scan_runs_on_the_pool
from workflows.guards.policy import allowed
from workflows.guards.releases import released
from workflows.guards.target import the_pool_is_imported_here_and_nowhere_else, the_pool_is_not_suspended
from workflows.runbooks._orders import POOL_SOURCES, named, order, verify, what_must_be_held
from workflows.runbooks._replacing import RESILVER_SECONDS_MAX, how_far_the_resilver_is, span
from workflows.runbooks.begin_resilver.guards import (
    NONE_BEGAN,
    no_disk_comes_and_goes,
    none_began,
    nothing_misses_data,
    something_may_miss_data,
    the_resilver_goes_well,
    zfs_begins_one_when_asked,
)

GUARDS = (
    facts_are_fresh,
    the_pool_is_imported_here_and_nowhere_else,
    the_pool_is_not_suspended,
    no_scan_runs_on_the_pool,
    no_disk_comes_and_goes,
    zfs_begins_one_when_asked,
    nothing_of_the_pool_comes_first,
)


def since_when_none_began(facts: FleetFacts, params: Params, at: float) -> Mapping[str, str]:
    return span(facts, params, at, NONE_BEGAN, none_began(facts, params))


RUNBOOK = Runbook(
    slug="begin-resilver",
    title="Begin a resilver that does not come",
    purpose="A disk of the pool misses data and nothing fills it: a resilver was cancelled, or never began. Until one has ended without errors the "
    "redundancy is less than the tree shows. This begins one when nothing speaks against it, and waits until nothing is missing.",
    states="something misses data -> checked -> planned -> resilvering -> filled -> verified",
    point_of_no_return="",
    params={"node": "the node that has the pool imported", "pool": "the pool's name", "pool_guid": "the pool's guid"},
    locks=what_must_be_held,
    steps=(
        CheckStep(
            slug="check",
            title="Check that something misses data and nothing fills it",
            why="Every guard must pass. What is not known counts as a refusal.",
            guards=(*GUARDS, something_may_miss_data, allowed(zpool_resilver), released(zpool_resilver)),
        ),
        *order(
            "resilver",
            "Begin the resilver",
            zpool_resilver,
            named(*zpool_resilver.PARAMS),
            GUARDS,
            "ZFS fills every disk of the pool that misses data, from the others. A replacement ends by itself when its new disk is filled. The pool serves meanwhile.",
            needed=something_may_miss_data,
        ),
        WaitStep(
            slug="filled",
            title="Wait until nothing misses data",
            why="Take no disk out meanwhile, the old one of a replacement least of all. Only a resilver that ended without errors fills a disk.",
            until=nothing_misses_data,
            alarm=the_resilver_goes_well,
            sources=POOL_SOURCES,
            progress=how_far_the_resilver_is,
            keeps=since_when_none_began,
            learned=(NONE_BEGAN,),
            deadline_seconds=RESILVER_SECONDS_MAX,
        ),
        verify(
            "verify",
            "Verify that nothing misses data",
            "The node looks again: the resilver ended without errors, no replacement is left over, and no label says that its disk misses data.",
            (nothing_misses_data,),
        ),
    ),
)

"""Scrub a pool that was not read through for long, and wait until it is.

    scrub overdue -> checked -> planned -> scrubbing -> read through -> verified

A scrub that runs already is not begun again. Nothing is written but what ZFS mends. It loads every disk of the pool for hours or days, so
it is not begun while a member is lost, or while anything else of the pool comes first.
"""

from __future__ import annotations

from agents.operations import zpool_scrub
from workflows.engine.core import CheckStep, Params, Runbook, WaitStep
from workflows.facts import FleetFacts
from workflows.guards import facts_are_fresh
from workflows.guards.fate import nothing_of_the_pool_comes_first
from workflows.guards.mass import every_member_serves, the_scrub_found_nothing, the_scrub_goes_well
from workflows.guards.modes import no_scan_runs_on_the_pool
from workflows.guards.policy import allowed
from workflows.guards.releases import released
from workflows.guards.target import the_pool_is_imported_here_and_nowhere_else, the_pool_is_not_suspended
from workflows.runbooks._orders import named, order, verify
from workflows.runbooks._replacing import how_far_the_scrub_is
from workflows.runbooks.scrub_due.guards import a_scrub_is_due, the_pool_was_read_through_lately

SCRUB_SECONDS = 21 * 24 * 3600
GUARDS = (
    facts_are_fresh,
    the_pool_is_imported_here_and_nowhere_else,
    the_pool_is_not_suspended,
    every_member_serves,
    no_scan_runs_on_the_pool,
    nothing_of_the_pool_comes_first,
    a_scrub_is_due,
)


def what_must_be_held(facts: FleetFacts, params: Params) -> tuple[str, ...]:
    return (f"pool:{params['pool_guid']}",)


RUNBOOK = Runbook(
    slug="scrub-due",
    title="Scrub a pool that was not read through for long",
    purpose="No scrub of the pool came to its end for more than 35 days. Blocks that went bad since are found while a failed disk is rebuilt "
    "from them, which is too late. This begins a scrub when nothing speaks against it, and waits until it has found nothing.",
    states="scrub overdue -> checked -> planned -> scrubbing -> read through -> verified",
    point_of_no_return="",
    params={"node": "the node that has the pool imported", "pool": "the pool's name", "pool_guid": "the pool's guid"},
    locks=what_must_be_held,
    steps=(
        CheckStep(
            slug="check",
            title="Check that a scrub is due and nothing speaks against it",
            why="Every question must be answered yes. What is not known counts as no.",
            guards=(*GUARDS, allowed(zpool_scrub), released(zpool_scrub)),
        ),
        *order(
            "scrub",
            "Scrub the pool",
            zpool_scrub,
            named(*zpool_scrub.PARAMS),
            GUARDS,
            "Everything the pool holds is read and checked. It takes a day or more on a large pool, which serves meanwhile.",
        ),
        WaitStep(
            slug="scrubbed",
            title="Wait for the scrub",
            why="Only a scrub that came to its end and found nothing shows that all can be read.",
            until=the_scrub_found_nothing,
            alarm=the_scrub_goes_well,
            sources=("zpool_status",),
            progress=how_far_the_scrub_is,
            deadline_seconds=SCRUB_SECONDS,
        ),
        verify(
            "verify",
            "Verify that the pool was read through",
            "The node looks again: the scrub ended now, it found nothing, and every member serves.",
            (the_pool_was_read_through_lately, the_scrub_found_nothing, every_member_serves),
        ),
    ),
)

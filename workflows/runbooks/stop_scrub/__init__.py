"""Stop a scrub for good, whether it runs or is paused: what it checked so far does not count, and the next one begins anew.

    a scrub runs or is paused -> checked -> planned -> approved -> stopped -> verified

A pause keeps its place and is mostly what is wanted; ending a run of scrub-due pauses. A stopped scrub leaves the list of damaged data as far as it
came: what the last whole scrub listed and this one had not read is listed no more, and is damaged all the same.
"""

from collections.abc import Mapping
from typing import Any

from agents.operations import zpool_scrub_stop
from workflows.engine.core import CheckStep, Params, Runbook
from workflows.facts import FleetFacts
from workflows.guards import facts_are_fresh
from workflows.guards.policy import allowed
from workflows.guards.releases import released
from workflows.guards.target import the_pool_is_imported_here_and_nowhere_else, the_pool_is_not_suspended
from workflows.runbooks._orders import named, order, verify, what_must_be_held
from workflows.runbooks.stop_scrub.guards import a_scrub_runs_or_is_paused, no_scrub_runs_or_is_paused, what_is_lost

GUARDS = (
    facts_are_fresh,
    the_pool_is_imported_here_and_nowhere_else,
    the_pool_is_not_suspended,
    a_scrub_runs_or_is_paused,
)


def what_is_given_up(facts: FleetFacts, params: Params, plan: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"given_up": what_is_lost(facts, params)}


RUNBOOK = Runbook(
    slug="stop-scrub",
    title="Stop a scrub for good",
    purpose="A scrub runs or is paused and is not to go on at all. This says what is lost with it, and has another person agree, before it is stopped. Where it only "
    "costs others too much, pause it: it keeps its place then.",
    states="a scrub runs or is paused -> checked -> planned -> approved -> stopped -> verified",
    point_of_no_return="stop",
    params={"node": "the node that has the pool imported", "pool": "the pool's name", "pool_guid": "the pool's guid"},
    locks=what_must_be_held,
    steps=(
        CheckStep(
            slug="check",
            title="Check that a scrub runs or is paused",
            why="Every guard must pass. What is not known counts as a refusal. A resilver is never stopped.",
            guards=(*GUARDS, allowed(zpool_scrub_stop), released(zpool_scrub_stop)),
            warns=(what_is_lost,),
        ),
        *order(
            "stop",
            "Stop the scrub for good",
            zpool_scrub_stop,
            named(*zpool_scrub_stop.PARAMS),
            GUARDS,
            "It loses its place. What it repaired stays repaired, and what it had not read stays unchecked.",
            approvals=1,
            adds=what_is_given_up,
        ),
        verify(
            "verify",
            "Verify that no scrub runs or is paused",
            "The node looks again.",
            (no_scrub_runs_or_is_paused,),
        ),
    ),
)

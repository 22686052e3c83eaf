"""No guard of any runbook takes not knowing for leave: a node that nobody knows, a run that names nothing, a fact that nobody read."""

from functools import cache

import pytest

from workflows.facts import FleetFacts
from workflows.runbooks import RUNBOOKS
from workflows.tests.blind import blinded
from workflows.tests.incident import BLANK_WWID, FLEET, PARAMS
from workflows.tests.moments import guards_of

EVERY = {name: guard for runbook in RUNBOOKS.values() for step in runbook.steps for name, guard in guards_of(step).items()}
NAMED = {
    **PARAMS,
    "old_wwid": BLANK_WWID,
    "old_serial": "ZA000070",
    "spare_serial": "ZA000070",
    "enclosure": "0x50050cc11ac016e2",
    "slot": "70",
    "spare_guid": "88",
    "txg": "100",
    "way": "cancel",
    "change": "WCE 0",
    "sick": BLANK_WWID,
}
WAITS = {  # whoever waits for something goes on waiting
    "it_may_be_put_back": "refuse",
    "its_signs_of_life_get_through": "refuse",
    "the_pool_is_imported_and_runs": "refuse",
}


@cache
def darkened() -> tuple[tuple[str, FleetFacts], ...]:
    return tuple(blinded(FLEET, NAMED["node"]))


@pytest.mark.parametrize("name", EVERY)
def test_of_a_node_that_nobody_knows_nothing_is_known(name):
    verdict = EVERY[name](FleetFacts({}), NAMED)
    assert (verdict.outcome, bool(verdict.reason)) == (WAITS.get(name, "unknown"), True)


@pytest.mark.parametrize("name", EVERY)
def test_for_a_run_that_names_nothing_nothing_is_known(name):
    verdict = EVERY[name](FLEET, {})
    assert (verdict.outcome, bool(verdict.reason)) == ("refuse" if name == "it_may_be_put_back" else "unknown", True)


@pytest.mark.parametrize("name", EVERY)
def test_a_fact_less_lets_nothing_through_that_was_not_before(name):
    before = EVERY[name](FLEET, NAMED).outcome
    for what, facts in darkened():
        after = EVERY[name](facts, NAMED).outcome
        assert after == before or after != "pass", what


@pytest.mark.parametrize("name", EVERY)
def test_a_word_less_in_the_run_lets_nothing_through_that_was_not_before(name):
    """Every run names its node and its pool."""
    before = EVERY[name](FLEET, NAMED).outcome
    for word in NAMED.keys() - {"node", "pool"}:
        after = EVERY[name](FLEET, {key: value for key, value in NAMED.items() if key != word}).outcome
        assert after == before or after != "pass", word

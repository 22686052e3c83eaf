"""Every question of every runbook, asked of nothing and of a node it is not about: it answers, in words, and never opens."""

from __future__ import annotations

import pytest

from workflows.engine.core import Verdict
from workflows.facts import FleetFacts
from workflows.runbooks import RUNBOOKS
from workflows.tests.incident import FLEET
from workflows.tests.walks import assert_readable

NO_NODES = FleetFacts({})
STRANGER = {"node": "oss01", "pool": "ost_0", "pool_guid": "1", "vdev_guid": "2", "old_wwid": "naa:5000000000000001", "old_serial": "none"}
PARAMS = {"nothing": {}, "a node": {"node": "oss01"}, "a stranger": STRANGER}


def questions(step):
    loops = (step.opens.over,) if step.opens else ()
    return (*step.guards, *filter(None, (getattr(step, "until", None), getattr(step, "alarm", None), step.needed)), *loops)


STEPS = [pytest.param(runbook, step, id=f"{slug}/{step.slug}") for slug, runbook in RUNBOOKS.items() for step in runbook.steps]


@pytest.mark.parametrize(("runbook", "step"), STEPS)
def test_it_answers_whatever_it_is_asked_of(runbook, step):
    for guard in questions(step):
        for facts in (NO_NODES, FLEET):
            for params in PARAMS.values():
                verdict = guard(facts, params)
                assert isinstance(verdict, Verdict)
                assert_readable(verdict.reason)


@pytest.mark.parametrize(("runbook", "step"), STEPS)
def test_of_nothing_it_never_opens_an_order(runbook, step):
    """One guard at least knows that it knows nothing."""
    if step.kind in ("PLAN", "EXECUTE"):
        for params in PARAMS.values():
            assert any(guard(NO_NODES, params).outcome != "pass" for guard in step.guards)


@pytest.mark.parametrize(("runbook", "step"), STEPS)
def test_what_a_page_shows_is_there_when_nothing_is_known(runbook, step):
    for facts in (NO_NODES, FLEET):
        for params in (PARAMS["a node"], STRANGER):
            if getattr(step, "progress", None):
                assert step.progress(facts, params).text
            for option in step.options(facts, params) if step.kind == "DECIDE" else ():
                assert option.verdicts

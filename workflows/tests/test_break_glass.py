"""What breaking the glass does to a run, and for whom, and for how long."""

from dataclasses import replace

import pytest

from workflows.engine import break_glass
from workflows.engine import events as ev
from workflows.engine.decide import Decision, Refused, decide
from workflows.engine.state import Approval, RunState
from workflows.tests.cast import ANN, BOB, RUNBOOK, at, facts


@pytest.fixture
def state() -> RunState:
    """A run that waits for its approval."""
    return at("approve").state


def break_it(state: RunState, by: str = ANN, reason: str = "Nobody answers.", **more) -> Decision | Refused:
    fields = {"plan_digest": state.plan_digest, "at": state.planned_at + 60, **more}
    return decide(RUNBOOK, state, ev.GlassBroken(by=by, reason=reason, **fields))


def test_it_leads_past_the_approval_and_says_so(state):
    broken = break_it(state)
    assert isinstance(broken, Decision)
    assert broken.state.step == "execute"
    assert broken.state.glass.by == ANN
    assert [e.type for e in broken.effects if isinstance(e, ev.Record)] == ["run.glass-broken"]


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"reason": " "}, "Say why"),
        ({"plan_digest": "0" * 64}, "has changed"),
        ({"by": ""}, "needs a person"),
        ({"at": 10**9}, "older than half an hour"),
    ],
)
def test_it_refuses(state, changes, why):
    refused = break_it(state, **changes)
    assert isinstance(refused, Refused)
    assert why in refused.reason


def test_who_approved_does_not_break_it(state):
    judged = replace(state, approvals=(Approval(BOB, state.plan_digest, 1.0),))
    assert "have approved" in break_it(judged, by=BOB).reason


@pytest.mark.parametrize(
    ("by", "later", "digest", "goes"),
    [
        (ANN, 600, "", True),
        (ANN, 601, "", False),
        (ANN, 0, "", True),
        (ANN, break_glass.SECONDS, "", True),
        (ANN, break_glass.SECONDS + 1, "", False),
        (ANN, -1, "", False),
        (BOB, 0, "", False),
        (ANN, 0, "x", False),
    ],
)
def test_it_is_for_one_person_one_plan_and_not_for_long(state, by, later, digest, goes):
    broken = break_it(state).state
    asked = ev.ExecuteAsked(at=broken.glass.at + later, by=by, facts=facts())
    if digest:
        broken = replace(broken, plan_digest=digest)
    assert (break_glass.missing(broken, asked, 0, 1) == "") is goes


def test_without_a_broken_glass_the_approvals_that_are_missing_are_counted(state):
    asked = ev.ExecuteAsked(at=state.planned_at, by=ANN, facts=facts())
    assert break_glass.missing(state, asked, 1, 2) == "1 of 2 people have approved this plan. Ask for the rest."

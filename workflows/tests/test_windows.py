"""Windows, looks that are kept, choices that settle more than one thing, and steps that need nobody."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace

import pytest

from workflows.engine import events as ev
from workflows.engine import lint
from workflows.engine.core import DecideStep, ExecuteStep, Loop, Option, PlanStep, Runbook, Step, WaitStep, ok
from workflows.engine.decide import Decision, Refused, decide
from workflows.engine.state import RunState
from workflows.tests.cast import ANN, facts, turned

OPERATIONS = {"raise": SimpleNamespace(EFFECT="idempotent", DESTRUCTIVE=False)}
RAISED = Loop("raised", lambda params: "It is raised.", "Put it back.", turned("back"))


def same(facts, params):
    return {"node": params["node"]}


def choices(facts, params):
    return (
        Option("short", "Short", "", (ok("Well."),), fixes={"seconds": "100"}),
        Option("strange", "Strange", "", (ok("Well."),), fixes={"other": "1"}),
    )


def looks(facts, params, at):
    return {"looks": f"{params.get('looks', '')}{int(at)} "}


def order(name: str, **more) -> tuple[Step, ...]:
    given = {"operation": "raise", "params": same, **{k: v for k, v in more.items() if k in ("unattended", "undoes")}}
    plan = PlanStep(f"plan-{name}", "Plan", "Why.", (turned("sound"),), **given)
    return (plan, ExecuteStep(name, "Do", "Why.", (turned("sound"),), effect="idempotent", **{**given, **more}))


RUNBOOK = Runbook(
    slug="windows",
    title="Windows",
    purpose="To try them.",
    states="a -> b",
    point_of_no_return="",
    params={"node": "the node"},
    locks=lambda facts, params: ("pool:1",),
    undo="plan-back",
    steps=(
        DecideStep("for", "For how long?", "Why.", param="window", options=choices, learned=("seconds",)),
        *order("raise", opens=RAISED),
        WaitStep(
            "keep",
            "Keep it",
            "Why.",
            until=turned("over"),
            keeps=looks,
            learned=("looks",),
            lasts=lambda params: int(params["seconds"]),
            deadline_seconds=900,
        ),
        *order("back", unattended=True, undoes="raised", closes=("raised",)),
    ),
)


class Walk:
    def __init__(self) -> None:
        self.state, self.clock, self.effects = RunState(params={"node": "oss01"}, requester=ANN), 1000.0, ()
        self.must(ev.Start, by=ANN)

    def send(self, kind, **fields):
        self.clock += 1
        outcome = decide(RUNBOOK, self.state, kind(at=self.clock, **fields))
        if isinstance(outcome, Decision):
            self.state = RunState.from_json(json.loads(json.dumps(outcome.state.to_json())))
            self.effects = outcome.effects
        return outcome

    def must(self, kind, **fields) -> Walk:
        outcome = self.send(kind, **fields)
        assert isinstance(outcome, Decision), outcome
        return self

    def ordered(self, by: str) -> Walk:
        self.must(ev.PlanAsked, by=by, facts=facts())
        plan = {"operation": "raise", "params": {"node": "oss01"}, "argv": ["tool", "word"], "preconditions": {"fact": "so"}}
        self.must(ev.PlanArrived, number=self.state.asked.number, plan=plan, facts=facts())
        self.must(ev.ExecuteAsked, by=by, facts=facts())
        for status in ("OFFERED", "CLAIMED", "STARTED", "SUCCEEDED"):
            self.must(ev.OrderMoved, plan_digest=self.state.plan_digest, status=status)
        return self

    def raised(self) -> Walk:
        return self.must(ev.Chosen, by=ANN, value="short", facts=facts()).ordered(ANN)

    def look(self, seconds: float, **over) -> Walk:
        self.clock += seconds - 1
        return self.must(ev.FactsArrived, facts=facts(age_seconds=0, **over))


def test_it_is_a_good_definition():
    assert lint.problems(RUNBOOK, OPERATIONS) == ()


def test_a_choice_settles_only_what_its_step_declares():
    walk = Walk()
    refused = walk.send(ev.Chosen, by=ANN, value="strange", facts=facts())
    assert isinstance(refused, Refused)
    assert "settles other, which this step does not declare" in refused.reason
    assert walk.must(ev.Chosen, by=ANN, value="short", facts=facts()).state.params["seconds"] == "100"


def test_going_back_forgets_what_a_choice_settled():
    walk = Walk().must(ev.Chosen, by=ANN, value="short", facts=facts())
    assert walk.must(ev.WentBack, by=ANN, step="for").state.params == {"node": "oss01"}


def test_a_window_ends_by_the_clock_and_each_look_is_kept():
    walk = Walk().raised()
    since = walk.state.since
    walk.look(40, over="refuse").look(40, over="refuse")
    assert walk.state.step == "keep"
    walk.look(40, over="refuse")
    assert (walk.state.step, walk.state.ending) == ("plan-back", "done")
    assert walk.state.params["looks"] == "".join(f"{int(since + n)} " for n in (40, 80, 120))


def test_a_window_ends_early_when_what_it_waits_for_is_so():
    assert Walk().raised().look(5).state.step == "plan-back"


def test_the_way_back_needs_nobody_and_rings_for_itself():
    walk = Walk().raised().look(5)
    assert any(isinstance(effect, ev.Ring) and effect.due_seconds == 1 for effect in walk.effects)
    walk.ordered("")
    assert (walk.state.status, walk.state.loops) == ("done", ())
    assert {f.by for f in walk.state.finished if f.step in ("plan-back", "back")} == {""}


def test_forward_nobody_is_not_enough():
    walk = Walk().must(ev.Chosen, by=ANN, value="short", facts=facts())
    assert isinstance(walk.send(ev.PlanAsked, by="", facts=facts()), Refused)


def changed(which: str, **over):
    return replace(RUNBOOK, steps=tuple(replace(s, **over) if s.slug == which else s for s in RUNBOOK.steps))


@pytest.mark.parametrize(
    ("runbook", "words"),
    [
        (changed("plan-raise", unattended=True), "only on the way back, is done without anybody"),
        (changed("keep", learned=()), "is named in `learned`"),
    ],
)
def test_a_definition_that_misuses_them_is_refused(runbook, words):
    assert any(words in why for why in lint.problems(runbook, OPERATIONS)), lint.problems(runbook, OPERATIONS)

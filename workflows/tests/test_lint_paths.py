"""Ways through a runbook: passing over, branching, answers that are judged, alarms, and the way back over an open loop."""

from __future__ import annotations

import dataclasses
import json
from types import SimpleNamespace

import pytest

from workflows.engine import events as ev
from workflows.engine import lint
from workflows.engine.core import (
    END,
    ApproveStep,
    CheckStep,
    DecideStep,
    ExecuteStep,
    Loop,
    ManualStep,
    Option,
    PlanStep,
    Runbook,
    Step,
    VerifyStep,
    WaitStep,
    ok,
    refuse,
)
from workflows.engine.decide import Decision, Refused, decide
from workflows.engine.state import RunState
from workflows.tests.cast import ANN, BOB, facts, turned

OPERATIONS = {
    "light": SimpleNamespace(EFFECT="idempotent", DESTRUCTIVE=False),
    "wipe": SimpleNamespace(EFFECT="at_most_once", DESTRUCTIVE=True, probe=lambda host, params, pre: None),
}
LIT = Loop("lit", lambda params: f"Bay 7 of {params['node']} is lit.", "Switch its LED off.", turned("dark"))
WARNED = "The pool was never scrubbed."
GONE = Loop("gone", lambda params: "The disk is gone.", "Put it back.", turned("back"))


def same(facts, params):
    return {"node": params["node"]}


def ways(facts, params):
    return (
        Option("wipe", "Wipe it", "", (ok("It may be wiped."),), leads_to="plan-wipe"),
        Option("leave", "Leave it", "", (ok("It may be left."),), leads_to="unlit"),
        Option("astray", "Somewhere", "", (ok("Well."),), leads_to="wipe"),
        Option("next", "The next step", "", (ok("It may be looked at."),)),
    )


def warned(facts, params):
    return WARNED


def without_warning(facts, params):
    return ""


def is_seven(facts, params, expected):
    return (
        ok("It is bay 7.")
        if expected == "7"
        else refuse(f"Bay {expected} was named and bay 7 was lit. Put the disk of bay {expected} back now."),
    )


def order(name: str, operation: str, more: tuple[Step, ...] = (), plan: dict | None = None, **execute) -> tuple[Step, ...]:
    of, guards = OPERATIONS[operation], (turned("sound"),)
    return (
        PlanStep(f"plan-{name}", "Plan", "Why.", guards, operation=operation, params=same, **(plan or {})),
        *more,
        ExecuteStep(name, "Do", "Why.", guards, operation=operation, effect=of.EFFECT, destructive=of.DESTRUCTIVE, params=same, **execute),
    )


RUNBOOK = Runbook(
    slug="ways",
    title="Ways",
    purpose="To try them.",
    states="a -> b",
    point_of_no_return="wipe",
    params={"node": "the node"},
    locks=lambda facts, params: ("pool:1",),
    undo="plan-dark",
    steps=(
        CheckStep("begin", "Begin", "Why.", (turned("sound"),)),
        *order("light", "light", plan={"needed": turned("unlit_yet")}, opens=LIT),
        ManualStep("which", "Which bay?", "Why.", asks="Type the bay that blinks.", judges=is_seven, param="bay"),
        DecideStep("way", "Which way?", "Why.", param="way", options=ways, branches=("plan-wipe", "unlit")),
        CheckStep("look", "Look at it", "Why.", (turned("sound"),), then=END),
        *order(
            "wipe",
            "wipe",
            (ApproveStep("approve", "Approve", "Why."),),
            plan={"warns": (warned, without_warning)},
            opens=GONE,
            learns=lambda text: {"word": text},
            learned=("word",),
        ),
        WaitStep("wait", "Wait", "Why.", until=turned("over"), alarm=turned("calm"), deadline_seconds=60),
        VerifyStep("verify", "Verify", "Why.", (turned("sound"),), sources=("zpool_status",), closes=("gone",)),
        ManualStep("unlit", "Switch it off by hand", "Why.", closes=("lit",)),
        *order("dark", "light", plan={"undoes": "lit"}, closes=("lit",)),
        ManualStep("back", "Put it back", "Why.", undoes="gone", closes=("gone",)),
    ),
)
PLAN = {"argv": ["tool", "word"], "preconditions": {"fact": "so"}}


class Walk:
    def __init__(self) -> None:
        self.state = RunState(params={"node": "oss01"}, requester=ANN)
        self.clock, self.records = 1000.0, []
        self.must(ev.Start, by=ANN)

    def send(self, kind, **fields):
        self.clock += 1
        outcome = decide(RUNBOOK, self.state, kind(at=self.clock, **fields))
        if isinstance(outcome, Decision):
            self.state = RunState.from_json(json.loads(json.dumps(outcome.state.to_json())))
            self.records += [(e.type, e.body) for e in outcome.effects if isinstance(e, ev.Record)]
        return outcome

    def must(self, kind, **fields) -> Walk:
        outcome = self.send(kind, **fields)
        assert isinstance(outcome, Decision), outcome
        return self

    def ordered(self, status="SUCCEEDED", approve=False, **fields) -> Walk:
        """From a PLAN through its order."""
        operation = RUNBOOK.step(self.state.step).operation
        self.must(ev.PlanAsked, by=ANN, facts=facts())
        asked = {"operation": operation, "params": {"node": "oss01"}}
        self.must(ev.PlanArrived, number=self.state.asked.number, plan={**PLAN, **asked}, facts=facts())
        if approve:
            self.must(ev.Approved, by=BOB, plan_digest=self.state.plan_digest)
        self.must(ev.ExecuteAsked, by=ANN, facts=facts())
        for moved in ("OFFERED", "CLAIMED", "STARTED"):
            self.must(ev.OrderMoved, plan_digest=self.state.plan_digest, status=moved)
        return self.must(ev.OrderMoved, plan_digest=self.state.plan_digest, status=status, **fields)

    def check(self, **over) -> Walk:
        return self.must(ev.CheckAsked, by=ANN, facts=facts(**over))

    def hands(self, reported="7", **over) -> Walk:
        return self.must(ev.HandsDone, by=ANN, evidence=reported, facts=facts(**over))

    def choose(self, value: str) -> Walk:
        return self.must(ev.Chosen, by=ANN, value=value, facts=facts())

    def types(self) -> list[str]:
        return [name for name, _ in self.records]


def test_it_is_a_good_runbook():
    assert lint.problems(RUNBOOK, OPERATIONS) == ()
    digest = lint.definition_digest(RUNBOOK)
    assert "0x" not in digest
    assert digest == lint.definition_digest(RUNBOOK)
    other = Loop("lit", LIT.what, "Otherwise.", LIT.over)
    assert digest != lint.definition_digest(changed("light", opens=other))


# --- passing over


def test_what_is_not_needed_is_passed_over_with_its_whole_order_and_says_why():
    walk = Walk().check(unlit_yet="refuse")
    assert walk.state.step == "which"
    assert [(f.step, f.passed_over) for f in walk.state.finished[1:]] == [("plan-light", True), ("light", True)]
    assert walk.records[-1] == ("run.passed-over", {"steps": ["plan-light", "light"], "reason": "unlit_yet was asked."})
    assert walk.state.loops == ()


@pytest.mark.parametrize("answer", ["pass", "unknown"])
def test_what_may_be_needed_is_not_passed_over(answer):
    assert Walk().check(unlit_yet=answer).state.step == "plan-light"


def test_nobody_goes_back_to_a_step_that_was_passed_over():
    walk = Walk().check(unlit_yet="refuse")
    assert isinstance(walk.send(ev.WentBack, by=ANN, step="plan-light"), Refused)
    walk.must(ev.WentBack, by=ANN, step="begin")


# --- answers that are judged


def test_the_wrong_answer_is_refused_with_what_to_do_now():
    walk = Walk().check(unlit_yet="refuse")
    outcome = walk.send(ev.HandsDone, by=ANN, evidence="12", facts=facts())
    assert outcome.verdicts[-1].reason == "Bay 12 was named and bay 7 was lit. Put the disk of bay 12 back now."
    assert walk.send(ev.HandsDone, by=ANN, evidence=" ", facts=facts()).reason == "Type the bay that blinks."
    assert isinstance(walk.send(ev.HandsDone, by=ANN, evidence="*", facts=facts()), Refused)


def test_the_right_answer_is_kept_and_forgotten_when_one_goes_back():
    walk = Walk().check(unlit_yet="refuse").hands("7")
    assert walk.state.params["bay"] == "7"
    walk.must(ev.WentBack, by=ANN, step="which")
    assert "bay" not in walk.state.params


# --- branches


def lit() -> Walk:
    return Walk().check().ordered().hands("7")


def test_a_choice_leads_where_it_says():
    assert lit().choose("wipe").state.step == "plan-wipe"
    assert lit().choose("leave").state.step == "unlit"
    assert lit().choose("next").state.step == "look"
    assert "does not declare" in lit().send(ev.Chosen, by=ANN, value="astray", facts=facts()).reason


def test_one_goes_back_over_a_branch_that_was_not_walked():
    walk = lit().choose("leave")
    walk.must(ev.WentBack, by=ANN, step="way")
    assert isinstance(walk.send(ev.WentBack, by=ANN, step="look"), Refused)
    assert isinstance(walk.send(ev.WentBack, by=ANN, step="begin"), Refused), "a command was given since"


def test_an_order_that_needs_no_approval_needs_none_after_one_that_did():
    walk = lit().choose("wipe").ordered(approve=True, output="fine")
    walk.must(ev.Aborted, by=ANN, reason="enough")
    assert walk.state.step == "plan-dark"
    walk.ordered()
    assert [open_.loop for open_ in walk.state.loops] == ["gone"]


# --- loops


def test_what_was_switched_on_stays_open_until_its_step_is_done():
    walk = lit()
    (open_,) = walk.state.loops
    assert (open_.what, open_.by, open_.step) == ("Bay 7 of oss01 is lit.", ANN, "light")
    walk.choose("leave").hands("I did")
    assert (walk.state.status, walk.state.loops) == ("done", ())
    assert [t for t in walk.types() if t.startswith("loop")] == ["loop.opened", "loop.closed"]


def test_a_failed_command_opens_nothing():
    walk = Walk().check().ordered(status="FAILED", reason="no LED")
    assert walk.state.loops == ()
    walk.must(ev.Aborted, by=ANN, reason="enough")
    assert walk.state.status == "aborted"


def test_an_abort_over_an_open_loop_begins_the_way_back():
    walk = lit().must(ev.Aborted, by=ANN, reason="wrong shelf")
    assert (walk.state.step, walk.state.status, walk.state.ending) == ("plan-dark", "open", "aborted")
    assert walk.types()[-1] == "run.turned-back"
    walk.ordered()
    assert (walk.state.status, walk.state.loops, walk.state.ending) == ("aborted", (), "")
    assert walk.state.note == "The run did not come to its end. What it had switched on is put back."
    assert walk.types()[-3:] == ["loop.closed", "run.passed-over", "run.aborted"]


def test_a_second_abort_leaves_it_open_and_says_so():
    walk = lit().must(ev.Aborted, by=ANN, reason="wrong shelf").must(ev.Aborted, by=BOB, reason="the node is dead")
    assert walk.state.status == "aborted"
    assert "Bay 7 of oss01 is lit." in walk.state.note
    assert walk.types()[-2:] == ["loop.left", "run.aborted"]
    assert len(walk.state.loops) == 1


def test_a_run_is_not_done_over_an_open_loop():
    walk = lit().choose("next").check()
    assert (walk.state.step, walk.state.ending) == ("plan-dark", "done")
    walk.ordered()
    assert walk.state.status == "done"


def left_open() -> Walk:
    return lit().must(ev.Aborted, by=ANN, reason="wrong shelf").must(ev.Aborted, by=BOB, reason="the node is dead")


def test_a_loop_that_was_left_is_closed_by_the_facts():
    walk = left_open()
    assert isinstance(walk.send(ev.LoopClosed, loop="lit", facts=facts(dark="unknown")), Refused)
    walk.must(ev.LoopClosed, loop="lit", facts=facts())
    assert (walk.state.status, walk.state.loops) == ("aborted", ())


def test_a_loop_that_was_left_is_closed_by_a_persons_word_unless_the_facts_are_against_it():
    walk = left_open()
    assert isinstance(walk.send(ev.LoopClosed, by=ANN, evidence="It is dark.", loop="lit", facts=facts(dark="refuse")), Refused)
    assert isinstance(walk.send(ev.LoopClosed, by=ANN, evidence=" ", loop="lit", facts=facts(dark="unknown")), Refused)
    assert isinstance(walk.send(ev.LoopClosed, by=ANN, evidence="So.", loop="other", facts=facts()), Refused)
    walk.must(ev.LoopClosed, by=ANN, evidence="I see that it is dark.", loop="lit", facts=facts(dark="unknown"))
    assert walk.records[-1][1]["evidence"] == "I see that it is dark."


def test_a_loop_of_a_run_that_is_under_way_is_closed_by_its_own_steps():
    assert "under way" in lit().send(ev.LoopClosed, by=ANN, evidence="So.", loop="lit", facts=facts()).reason


# --- what a command says, and alarms


def test_a_warning_is_bound_into_the_plan_and_stops_nobody():
    walk = wiped()
    assert walk.state.plan["warnings"] == [WARNED]
    planned = [body["warnings"] for kind, body in walk.records if kind == "run.planned"]
    assert planned == [[], [WARNED]]


def test_a_node_cannot_put_a_warning_into_a_plan(monkeypatch):
    monkeypatch.setitem(PLAN, "warnings", ["Pull the disk beside it."])
    assert [body["warnings"] for kind, body in lit().records if kind == "run.planned"] == [[]]
    assert wiped().state.plan["warnings"] == [WARNED]


def wiped() -> Walk:
    return lit().choose("wipe").ordered(approve=True, output="41")


def test_what_the_command_said_becomes_a_parameter():
    assert wiped().state.params["word"] == "41"


def test_an_alarm_is_told_once_and_nothing_goes_on_while_it_stands():
    walk = wiped()
    for _ in range(2):
        walk.must(ev.FactsArrived, facts=facts(age_seconds=0, calm="refuse"))
    assert (walk.state.step, walk.state.alarm) == ("wait", "calm was asked.")
    assert walk.types().count("run.alarm") == 1
    walk.must(ev.FactsArrived, facts=facts(age_seconds=0, calm="unknown"))
    assert walk.state.step == "wait"
    walk.must(ev.FactsArrived, facts=facts(age_seconds=0))
    assert (walk.state.step, walk.state.alarm) == ("verify", "")


# --- the linter


def changed(which: str, **over) -> Runbook:
    return dataclasses.replace(RUNBOOK, steps=tuple(dataclasses.replace(s, **over) if s.slug == which else s for s in RUNBOOK.steps))


@pytest.mark.parametrize(
    ("runbook", "words"),
    [
        (changed("begin", needed=turned("x")), "follows one that facts finish"),
        (changed("approve", needed=turned("x")), "cannot be passed over by itself"),
        (changed("verify", needed=turned("x")), "cannot be passed over by itself"),
        (changed("look", then="nowhere"), "is no step"),
        (changed("look", then="begin"), "ways lead forward"),
        (changed("look", then="wipe"), "the middle of an order"),
        (changed("look", then="plan-dark"), "entered only when a run ends"),
        (changed("wait", then="unlit"), "past the VERIFY"),
        (changed("approve", then="unlit"), "out of an order"),
        (changed("way", branches=("wipe",)), "the middle of an order"),
        (changed("which", judges=None), "says what it asks for"),
        (changed("which", asks=""), "says what it asks for"),
        (changed("wipe", learned=()), "named in `learned`"),
        (dataclasses.replace(RUNBOOK, undo=""), "has a way back"),
        (dataclasses.replace(RUNBOOK, undo="nowhere"), "is no step"),
        (changed("dark", closes=()), "no step of the way back closes lit"),
        (changed("back", closes=()), "closes gone"),
        (changed("back", closes=("gone", "other")), "other is no loop"),
        (changed("back", undoes=""), "says what it undoes"),
        (changed("unlit", undoes="lit"), "only its steps undo"),
        (changed("back", opens=GONE), "opens nothing"),
    ],
)
def test_it_refuses_a_definition_that_breaks_a_rule(runbook, words):
    assert any(words in why for why in lint.problems(runbook, OPERATIONS)), lint.problems(runbook, OPERATIONS)

"""Where the engine turns: each test here is the only one that notices some small mistake in it. Written against `./run bench mutants`."""

from __future__ import annotations

from dataclasses import replace

import pytest

from workflows.engine import events as ev
from workflows.engine import plans
from workflows.engine.core import Loop, ok, refuse
from workflows.engine.decide import Decision, Refused, approvals_needed, decide
from workflows.engine.state import Finished, Glass, RunState
from workflows.engine.transitions import RING_SECONDS, blocked, with_hand
from workflows.facts import FleetFacts
from workflows.tests import puppets, test_lint_paths
from workflows.tests.cast import ANN, BOB, EVE, RUNBOOK, at, facts, new, node_plan, ordered, turned

LIT = Loop("lit", lambda params: "Bay 7 is lit.", "Switch its LED off.", turned("dark"))


def with_step(slug, **over):
    return replace(RUNBOOK, steps=tuple(replace(step, **over) if step.slug == slug else step for step in RUNBOOK.steps))


def asked(runbook, state, kind, later=1.0, **fields):
    return decide(runbook, state, kind(at=state.since + later, **fields))


def why(outcome):
    assert isinstance(outcome, Refused), outcome
    return outcome.reason


def done(outcome):
    assert isinstance(outcome, Decision), outcome
    return outcome


def records(outcome):
    return [effect.type for effect in done(outcome).effects if isinstance(effect, ev.Record)]


def rings(outcome):
    return ev.Ring(RING_SECONDS) in done(outcome).effects


# --- what is no event of this run


def test_it_says_what_about_an_event_cannot_be_read():
    state = at("confirm").state
    assert "cannot be read" in why(decide(RUNBOOK, state, ev.Confirmed(at=state.since + 1, by=ANN, text=7)))


def test_it_says_whether_it_has_begun_has_ended_or_stands_at_a_step_that_is_gone():
    assert why(at("check").send(ev.Start, by=ANN)) == "This run has begun already."
    assert "has not begun yet" in why(new().send(ev.CheckAsked, by=ANN, facts=facts()))
    ended = done(at("check").send(ev.Aborted, by=ANN, reason="x")).state
    assert "This run is aborted. Start a new one" in why(asked(RUNBOOK, ended, ev.CheckAsked, by=ANN, facts=facts()))
    assert "has no step gone any more" in why(asked(RUNBOOK, replace(at("check").state, step="gone"), ev.CheckAsked, by=ANN, facts=facts()))


@pytest.mark.parametrize(("by", "requester"), [(BOB, ANN), ("", ANN), ("", "")])
def test_a_run_begins_with_whoever_asks_for_it(by, requester):
    state = replace(new().state, requester=requester)
    assert "begins with the person who asks" in why(decide(RUNBOOK, state, ev.Start(at=1.0, by=by)))


def test_a_step_does_only_what_its_kind_does():
    """A check whose guards pass is no reason to believe that hands did something."""
    assert "cannot do that now" in why(at("check").send(ev.HandsDone, by=ANN, evidence="seen", facts=facts()))
    assert "cannot do that now" in why(at("swap").send(ev.CheckAsked, by=ANN, facts=facts()))


# --- what people say


def test_a_choice_that_is_none_is_named():
    assert "“nowhere” is not among" in why(at("choose").send(ev.Chosen, by=ANN, value="nowhere", facts=facts()))
    assert "An empty choice is not among" in why(at("choose").send(ev.Chosen, by=ANN, value="", facts=facts()))


def at_swap():
    walk = at("verify")
    walk.must(ev.FactsArrived, facts=facts(), taken_after=walk.clock, number=walk.state.asked.number)
    return walk


def test_what_hands_say_is_kept_only_where_the_step_has_a_name_for_it():
    outcome = at_swap().send(ev.HandsDone, by=ANN, evidence="A * on the label.", facts=facts())
    assert set(done(outcome).state.params) == {"node", "pool", "wwid"}
    assert "what shows that this was done" in why(at_swap().send(ev.HandsDone, by=ANN, evidence=" ", facts=facts()))


def test_what_is_typed_with_a_wildcard_is_refused_beside_what_the_guards_say():
    outcome = asked(with_step("swap", param="serial"), at_swap().state, ev.HandsDone, by=ANN, evidence="2YK*", facts=facts())
    assert [v.outcome for v in outcome.verdicts] == ["pass", "refuse"]
    assert (
        "serial"
        in asked(with_step("swap", param="serial"), at_swap().state, ev.HandsDone, by=ANN, evidence="2YK", facts=facts()).state.params
    )


def test_nothing_is_confirmed_without_a_plan():
    here = replace(at("confirm").state, plan=None)
    assert "There is no plan to confirm" in why(asked(RUNBOOK, here, ev.Confirmed, by=ANN, text="ost_0 123456"))


# --- the plan


def test_to_ask_for_a_plan_lets_go_of_what_was_held_and_comes_back_to_look():
    outcome = at("plan").send(ev.PlanAsked, by=ANN, facts=facts())
    assert [type(effect).__name__ for effect in outcome.effects] == ["Unlock", "AskNode", "Ring", "Record"]
    assert rings(outcome)
    assert outcome.effects[1].number == 1


def planning():
    walk = at("plan")
    walk.must(ev.PlanAsked, by=ANN, facts=facts())
    return walk


def test_a_plan_that_the_runbook_does_not_agree_with_is_not_taken():
    runbook = with_step("plan", agrees=lambda facts, params, plan: (refuse("It names another disk."),))
    outcome = asked(runbook, planning().state, ev.PlanArrived, number=1, plan=node_plan(), facts=facts())
    assert (outcome.state.step, outcome.state.status, outcome.state.plan) == ("plan", "open", None)


def test_the_rounds_of_plans_are_counted_from_one():
    state = at("confirm").state
    assert (state.rounds, state.plan["round"]) == (1, "1")


@pytest.mark.parametrize("kind", [ev.PlanArrived, ev.PlanFailed])
def test_a_plan_or_its_failure_that_nobody_waits_for_is_refused(kind):
    fields = {"plan": node_plan(), "facts": facts()} if kind is ev.PlanArrived else {"reason": "x"}
    state = planning().state
    for here, number in ((replace(state, asked=None), 1), (state, 2), (replace(state, status="open"), 1)):
        assert "The run no longer waits for this plan" in why(asked(RUNBOOK, here, kind, number=number, **fields))


def test_a_plan_that_failed_is_recorded():
    assert records(planning().send(ev.PlanFailed, number=1, reason="The node is silent.")) == ["run.plan-failed"]


# --- approval


def test_two_people_approve_where_two_are_asked_for():
    runbook, state = with_step("approve", approvals=2), at("approve").state
    first = asked(runbook, state, ev.Approved, by=BOB, plan_digest=state.plan_digest)
    assert (first.state.step, first.state.note, records(first)) == ("approve", "1 of 2 people approved.", ["run.approved"])
    assert "approved this plan already" in why(asked(runbook, first.state, ev.Approved, by=BOB, plan_digest=state.plan_digest))
    second = asked(runbook, first.state, ev.Approved, by=EVE, plan_digest=state.plan_digest)
    assert (second.state.step, [a.by for a in second.state.approvals]) == ("execute", [BOB, EVE])


def test_the_requester_does_not_approve_even_when_no_hand_of_theirs_is_known():
    state = replace(at("approve").state, hands=())
    assert "cannot approve it" in why(asked(RUNBOOK, state, ev.Approved, by=ANN, plan_digest=state.plan_digest))


@pytest.mark.parametrize(("kind", "more"), [(ev.Approved, {}), (ev.Denied, {"reason": "x"}), (ev.GlassBroken, {"reason": "x"})])
def test_nothing_is_judged_where_there_is_no_plan(kind, more):
    state = replace(at("approve").state, plan_digest="")
    assert isinstance(asked(RUNBOOK, state, kind, by=BOB, plan_digest="", **more), Refused)


def test_a_plan_from_after_now_is_not_approved():
    state = at("approve").state
    approval = ev.Approved(at=state.planned_at - 1, by=BOB, plan_digest=state.plan_digest)
    assert "clock stands before" in why(decide(RUNBOOK, state, approval))


def test_a_denial_where_no_step_made_the_plan_ends_in_words():
    runbook = replace(RUNBOOK, steps=tuple(step for step in RUNBOOK.steps if step.kind != "PLAN"))
    state = at("approve").state
    assert "No step of this runbook made the plan" in why(
        asked(runbook, state, ev.Denied, by=BOB, plan_digest=state.plan_digest, reason="Wrong bay.")
    )


def test_who_denies_may_approve_the_next_plan_and_who_goes_back_may_not():
    state = at("approve").state
    denied = asked(RUNBOOK, state, ev.Denied, by=BOB, plan_digest=state.plan_digest, reason="Wrong bay.")
    assert denied.state.hands == (ANN,)
    assert asked(RUNBOOK, state, ev.WentBack, by=EVE, step="check").state.hands == (ANN, EVE)


def test_the_approvals_of_an_order_are_those_asked_for_since_the_last_order():
    two = puppets.SYNTHETIC[2]
    assert [approvals_needed(two, two.step(slug)) for slug in ("execute-2", "execute-8")] == [2, 1]
    first = puppets.runbook("first", puppets.step(1, "APPROVE", approvals=3), *puppets.order(2, "label", ()))
    assert approvals_needed(first, first.step("execute-2")) == 3


# --- the order


@pytest.mark.parametrize("locks", [(), ("pool:1", "disk:"), ("disk:", "pool:1"), ("pool:1", ":naa:5000"), ("pool:1", "disk"), ("pool:*",)])
def test_nothing_is_sent_when_it_cannot_be_told_what_to_hold(locks):
    runbook = replace(RUNBOOK, locks=lambda facts, params: locks)
    assert "Which pool, disk and bay to lock is not known" in why(
        asked(runbook, at("execute").state, ev.ExecuteAsked, by=ANN, facts=facts())
    )


@pytest.mark.parametrize("lost", [{"plan": None}, {"plan_digest": ""}])
def test_nothing_is_sent_without_a_plan(lost):
    state = replace(at("execute").state, **lost)
    approvals = tuple(replace(a, plan_digest=state.plan_digest) for a in state.approvals)
    assert "There is no plan" in why(asked(RUNBOOK, replace(state, approvals=approvals), ev.ExecuteAsked, by=ANN, facts=facts()))


def test_nothing_is_sent_when_the_plan_is_for_another_act():
    state = at("execute").state
    for other in (with_plan(state, operation="other"), replace(state, params={**state.params, "wwid": "another"})):
        assert "not for what this step would do now" in why(asked(RUNBOOK, other, ev.ExecuteAsked, by=ANN, facts=facts()))


def with_plan(state, **changes):
    plan = {**state.plan, **changes}
    return replace(
        state,
        plan=plan,
        plan_digest=plans.digest(plan),
        approvals=tuple(replace(one, plan_digest=plans.digest(plan)) for one in state.approvals),
    )


def test_nothing_is_sent_for_a_plan_that_was_changed_since_it_was_made():
    state = at("execute").state
    changed = replace(state, plan={**state.plan, "argv": ["zpool", "destroy", "ost_0"]})
    assert "was changed outside the portal" in why(asked(RUNBOOK, changed, ev.ExecuteAsked, by=ANN, facts=facts()))


def test_an_order_without_parameters_is_sent():
    state = at("execute").state
    bare = with_plan(state, params={})
    outcome = asked(with_step("execute", params=lambda facts, params: {}), bare, ev.ExecuteAsked, by=ANN, facts=facts())
    assert rings(outcome)
    assert records(outcome) == ["run.ordered"]


def test_no_plan_is_asked_for_behind_an_order():
    assert "No plan can be asked for" in why(at_swap().send(ev.PlanAsked, by=ANN, facts=facts()))


def test_an_order_under_way_is_under_way_and_each_move_is_recorded():
    walk = at("execute")
    walk.must(ev.ExecuteAsked, by=ANN, facts=facts())
    for status, expected in (("OFFERED", "offered"), ("CLAIMED", "taken"), ("STARTED", "started")):
        outcome = walk.order(status)
        assert (outcome.state.status, outcome.state.order.probe, records(outcome)) == ("ordered", "", ["run.order-moved"])
        assert expected in outcome.state.note
    doubt = walk.order("UNKNOWN", reason="It fell silent.")
    assert (records(doubt), rings(doubt)) == (["run.order-moved"], True)


def test_what_became_of_another_order_is_not_taken_for_this_one():
    state = ordered("STARTED").state
    assert "does not wait for that order" in why(asked(RUNBOOK, state, ev.OrderMoved, plan_digest="0" * 64, status="SUCCEEDED"))


def test_a_success_is_recorded_with_what_follows():
    assert "run.order-moved" in records(ordered("STARTED").order("SUCCEEDED"))


def test_a_failure_leads_where_the_runbook_says_and_is_behind_it():
    state = ordered("STARTED").state
    fields = {"plan_digest": state.order.plan_digest, "status": "FAILED", "reason": "no"}
    outcome = asked(with_step("execute", fails_to="swap"), state, ev.OrderMoved, **fields)
    assert (outcome.state.step, outcome.state.finished[-1].step) == ("swap", "execute")


@pytest.mark.parametrize(("effect", "ends"), [("idempotent", ("open", "swap")), ("at_most_once", ("stopped", "execute"))])
def test_a_refusal_leads_on_only_where_something_was_to_be_tried(effect, ends):
    state = ordered("CLAIMED").state
    fields = {"plan_digest": state.order.plan_digest, "status": "REFUSED", "reason": "This node's policy does not list it."}
    outcome = asked(with_step("execute", fails_to="swap", effect=effect, destructive=False), state, ev.OrderMoved, **fields)
    assert (outcome.state.status, outcome.state.step) == ends
    assert "refused and nothing was run: This node's policy does not list it." in outcome.state.note + outcome.state.finished[-1].note


@pytest.mark.parametrize("status", ["REFUSED", "EXPIRED"])
def test_what_did_not_run_stops_the_run_where_nothing_else_is_said(status):
    assert ordered("OFFERED").order(status, reason="no").state.status == "stopped"


def test_nobody_settles_what_is_not_in_doubt():
    walk = ordered("STARTED")
    for person in (ANN, BOB):
        assert "not in doubt" in why(walk.send(ev.Settled, by=person, outcome="did", reason="I saw it."))


def test_what_is_settled_is_said_by_somebody_and_recorded():
    walk = ordered("UNKNOWN")
    assert "how you know it" in why(walk.send(ev.Settled, by="", outcome="did_not", reason="No trace."))
    assert records(walk.send(ev.Settled, by=ANN, outcome="did_not", reason="No trace.")) == ["run.settled"]
    assert "run.settled" in records(walk.send(ev.Settled, by=BOB, outcome="did_not", reason="None."))


# --- waiting and verifying


def test_a_wait_counts_from_the_end_of_the_order_not_from_a_later_step():
    state = at("wait").state
    later = replace(state, order=replace(state.order, at=state.since - 100))
    assert asked(RUNBOOK, later, ev.FactsArrived, facts=facts(age_seconds=10)).state.step == "verify"


def test_a_wait_lasts_exactly_as_long_as_it_says():
    runbook, state = with_step("wait", until=turned("settled"), lasts=lambda params: 60), at("wait").state
    steps = [asked(runbook, state, ev.FactsArrived, later=later, facts=facts(settled="refuse")).state.step for later in (59.0, 60.0)]
    assert steps == ["wait", "verify"]


def test_a_wait_is_late_just_after_its_deadline():
    state = at("wait").state
    for later, late in ((3600.0, False), (3600.5, True)):
        outcome = asked(RUNBOOK, state, ev.FactsArrived, later=later, facts=facts(settled="refuse"))
        assert (outcome.state.overdue, rings(outcome)) == (late, True)


def test_a_node_that_is_gone_was_not_heard_after_the_command():
    runbook = with_step("wait", until=lambda facts, params: ok("It is so."))
    assert asked(runbook, at("wait").state, ev.FactsArrived, facts=FleetFacts({})).state.step == "wait"


def test_an_alarm_is_told_once_for_each_reason():
    runbook = with_step("wait", alarm=turned("calm"))
    first = asked(runbook, at("wait").state, ev.FactsArrived, facts=facts(age_seconds=0, calm="refuse"))
    assert (first.state.step, first.state.alarm, records(first), rings(first)) == ("wait", "calm was asked.", ["run.alarm"], True)
    again = asked(runbook, first.state, ev.FactsArrived, later=2, facts=facts(age_seconds=0, calm="refuse"))
    assert (records(again), rings(again)) == ([], True)


def test_a_verification_comes_back_to_look_and_tells_once_what_is_wrong():
    walk = at("verify")
    assert ev.Ring(RING_SECONDS) in walk.effects
    number = walk.state.asked.number
    assert rings(walk.send(ev.FactsArrived, facts=facts(), taken_after=walk.clock, number=number + 1))
    wrong = walk.send(ev.FactsArrived, facts=facts(verified="refuse"), taken_after=walk.clock, number=number)
    assert (records(wrong), rings(wrong)) == (["run.not-verified"], True)
    walk.must(ev.FactsArrived, facts=facts())
    again = walk.send(ev.FactsArrived, facts=facts(verified="refuse"), taken_after=walk.clock, number=walk.state.asked.number)
    assert (records(again), rings(again)) == ([], True)


def test_a_look_that_nobody_waits_for_cannot_fail():
    state = at("verify").state
    for here, number in (
        (replace(state, asked=None), state.asked.number),
        (state, 99),
        (replace(state, status="open"), state.asked.number),
    ):
        assert "The run no longer waits for that look" in why(asked(RUNBOOK, here, ev.LookFailed, number=number, reason="x"))


# --- turning


@pytest.mark.parametrize(("by", "reason"), [("", "x"), (ANN, ""), (ANN, "  "), ("", "")])
def test_a_run_is_ended_by_somebody_for_a_reason(by, reason):
    assert "Say why this run ends here" in why(at("check").send(ev.Aborted, by=by, reason=reason))


def test_whoever_ends_a_run_is_told_whether_the_command_was_given():
    given = "The command had been given before"
    assert given in done(at_swap().send(ev.Aborted, by=ANN, reason="x")).state.note
    assert given not in done(at("execute").send(ev.Aborted, by=ANN, reason="x")).state.note
    state = at_swap().state
    passed = tuple(replace(f, passed_over=f.step == "execute") for f in state.finished)
    assert given not in done(asked(RUNBOOK, replace(state, finished=passed), ev.Aborted, by=ANN, reason="x")).state.note


def test_a_loop_that_no_way_back_closes_stays_on_record():
    runbook = with_step("swap", opens=LIT)
    ended = done(asked(runbook, at_swap().state, ev.HandsDone, by=ANN, evidence="seen", facts=facts())).state
    assert (ended.status, [loop.loop for loop in ended.loops]) == ("done", ["lit"])
    broken = replace(at_swap().state, loops=ended.loops)
    aborted = done(asked(runbook, broken, ev.Aborted, by=ANN, reason="x")).state
    assert aborted.note.endswith("This stays as it is: Bay 7 is lit.")


def test_a_run_without_an_open_loop_does_not_walk_a_way_back():
    walk = test_lint_paths.Walk()
    walk.must(ev.Aborted, by=ANN, reason="x")
    assert "run.turned-back" not in walk.types()


def test_why_a_run_ends_is_on_record_before_its_way_back_and_what_stays_when_that_is_left_too():
    walk = test_lint_paths.Walk().check().ordered()
    walk.must(ev.Aborted, by=ANN, reason="The shelf is wet.")
    turned_back = next(body for name, body in walk.records if name == "run.turned-back")
    assert (walk.state.ending, turned_back["reason"]) == ("aborted", "ann ended the run: The shelf is wet.")
    walk.must(ev.Aborted, by=ANN, reason="The light cannot be reached.")
    assert walk.state.note == "ann ended the run: The light cannot be reached. This stays as it is: Bay 7 of oss01 is lit."


def vouched(over, by=ANN, evidence="I saw it dark.", runbook=None):
    runbook = runbook or with_step("swap", opens=LIT)
    ended = done(asked(with_step("swap", opens=LIT), at_swap().state, ev.HandsDone, by=ANN, evidence="seen", facts=facts())).state
    return asked(runbook, ended, ev.LoopClosed, by=by, loop="lit", evidence=evidence, facts=facts(dark=over))


def test_a_loop_is_closed_by_what_is_seen_or_by_who_vouches_against_nothing():
    assert done(vouched("pass", by="", evidence="")).state.loops == ()
    assert done(vouched("unknown")).state.loops == ()
    assert done(vouched("unknown", runbook=RUNBOOK)).state.loops == ()
    for refused in (vouched("refuse"), vouched("unknown", by=""), vouched("unknown", evidence=" ")):
        assert isinstance(refused, Refused)


@pytest.mark.parametrize(("step", "goes"), [("choose", True), ("check", True), ("plan", True), ("confirm", False), ("approve", False)])
def test_one_goes_back_to_what_chooses_checks_or_plans(step, goes):
    assert isinstance(at("execute").send(ev.WentBack, by=ANN, step=step), Decision) is goes


def test_one_goes_back_while_the_node_plans_and_not_while_an_order_is_out():
    assert done(planning().send(ev.WentBack, by=ANN, step="check")).state.asked is None
    assert "An order is under way" in why(ordered("OFFERED").send(ev.WentBack, by=ANN, step="check"))


# --- small things others stand on


def test_no_answers_are_no_pass_and_a_hand_is_known_once():
    assert blocked(())
    state = with_hand(with_hand(with_hand(new().state, ANN), ""), ANN)
    assert state.hands == (ANN,)


def test_a_step_that_was_done_was_not_passed_over():
    assert not Finished("check", ANN, 1.0, "").passed_over
    assert not any(f.passed_over for f in at("execute").state.finished)


def test_broken_glass_survives_the_database():
    state = replace(at("execute").state, glass=Glass(ANN, "0" * 64, "Nobody answers.", 5.0))
    assert RunState.from_json(state.to_json()) == state


def test_an_order_that_ended_is_not_out():
    state = ordered("STARTED").state
    assert state.order_is_out
    assert not replace(state, order=replace(state.order, status="FAILED")).order_is_out
    assert not replace(state, status="waiting").order_is_out

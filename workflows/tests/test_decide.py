import dataclasses

import pytest

from workflows.engine import events as ev
from workflows.engine.decide import PLAN_AGE_SECONDS_MAX, Decision, Refused, decide
from workflows.engine.state import ORDER_MOVES, RunState
from workflows.facts import FleetFacts, Unknown
from workflows.tests.cast import ANN, BOB, EVE, NODE, RUNBOOK, Walk, at, facts, new, node_plan, ordered

STEPS = [step.slug for step in RUNBOOK.steps[:-1]]


def test_it_walks_from_start_to_end():
    walk = at("verify")
    walk.must(ev.FactsArrived, facts=facts(), taken_after=walk.clock, number=walk.state.asked.number)
    walk.must(ev.HandsDone, by=ANN, evidence="Bay 68 lit; serial 2YKT1234.", facts=facts())
    assert walk.state.status == "done"
    assert [f.step for f in walk.state.finished] == [s.slug for s in RUNBOOK.steps]
    assert "Unlock" in walk.kinds()


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"node": "oss01", "pool": ""},
        {"node": "oss01", "pool": " "},
        {"node": "*", "pool": "ost_0"},
        {"node": "oss01", "pool": "ost_0", "x": "y"},
    ],
)
def test_it_refuses_to_begin_with_an_empty_wildcard_or_unknown_target(params):
    assert isinstance(decide(RUNBOOK, RunState(params=params, requester=ANN), ev.Start(by=ANN, at=1.0)), Refused)


def test_it_refuses_a_choice_whose_guards_do_not_pass_and_says_why():
    walk = at("choose")
    outcome = walk.send(ev.Chosen, by=ANN, value="bad", facts=facts())
    assert isinstance(outcome, Refused)
    assert "It is a member." in [v.reason for v in outcome.verdicts]
    assert isinstance(walk.send(ev.Chosen, by=ANN, value="nowhere", facts=facts()), Refused)
    assert "wwid" not in walk.state.params


@pytest.mark.parametrize("outcome", ["refuse", "unknown"])
@pytest.mark.parametrize(
    ("step", "event", "fields"),
    [
        ("choose", ev.Chosen, {"value": "good"}),
        ("check", ev.CheckAsked, {}),
        ("plan", ev.PlanAsked, {}),
        ("execute", ev.ExecuteAsked, {}),
        ("swap", ev.HandsDone, {"evidence": "seen"}),
    ],
)
def test_it_moves_only_when_every_guard_passes(step, event, fields, outcome):
    walk = at("verify") if step == "swap" else at(step)
    if step == "swap":
        walk.must(ev.FactsArrived, facts=facts(), taken_after=walk.clock, number=walk.state.asked.number)
    before = walk.state
    answer = walk.send(event, by=ANN, facts=facts(target=outcome, swapped=outcome), **fields)
    assert isinstance(answer, Refused)
    assert outcome in [v.outcome for v in answer.verdicts]
    assert walk.state == before


def test_it_shows_every_guards_answer_at_once():
    answer = at("check").send(ev.CheckAsked, by=ANN, facts=facts(target="refuse", candidate="unknown"))
    assert [(v.guard, v.outcome) for v in answer.verdicts] == [("target", "refuse"), ("candidate", "unknown")]


# --- the plan


@pytest.mark.parametrize(
    "over",
    [
        {"operation": "other"},
        {"params": {"pool": "ost_1", "wwid": "good"}},
        {"argv": []},
        {"argv": "zpool"},
        {"argv": ["zpool", "replace", "ost_0", "1", "/dev/sdcw"]},
        {"argv": ["zpool", "replace", "ost_0", "1", "sdfl1"]},
        {"argv": ["zpool", "replace", "ost_0", "1", "6:0:176:0"]},
        {"preconditions": {}},
        {"preconditions": {"label": "unknown: sdcw did not answer"}},
        {"preconditions": {"size": 12}},
    ],
)
def test_it_takes_no_plan_that_is_not_the_one_it_asked_for(over):
    walk = at("plan")
    walk.must(ev.PlanAsked, by=ANN, facts=facts())
    walk.must(ev.PlanArrived, number=1, plan=node_plan(**over), facts=facts())
    assert (walk.state.step, walk.state.status, walk.state.plan) == ("plan", "open", None)
    assert any(v.outcome == "refuse" for v in walk.state.verdicts)


def test_it_takes_no_answer_to_an_older_question():
    walk = at("plan")
    walk.must(ev.PlanAsked, by=ANN, facts=facts())
    walk.must(ev.PlanFailed, number=1, reason="The node did not answer.")
    walk.must(ev.PlanAsked, by=ANN, facts=facts())
    assert isinstance(walk.send(ev.PlanArrived, number=1, plan=node_plan(), facts=facts()), Refused)
    walk.must(ev.PlanArrived, number=2, plan=node_plan(), facts=facts())
    assert walk.state.step == "confirm"


@pytest.mark.parametrize("typed", ["", "yes", "ost_0 12345", "ost_0  123456", "OST_0 123456", "ost_0 123456 x"])
def test_it_takes_only_the_exact_words(typed):
    assert isinstance(at("confirm").send(ev.Confirmed, by=ANN, text=typed), Refused)


def test_it_trims_what_surrounds_the_words():
    walk = at("confirm")
    walk.must(ev.Confirmed, by=ANN, text="  ost_0 123456\n")
    assert walk.state.step == "approve"


# --- approval


def test_nobody_approves_who_had_a_hand_in_the_run():
    walk = at("confirm")
    walk.must(ev.Confirmed, by=EVE, text="ost_0 123456")
    for person in (ANN, EVE):
        assert isinstance(walk.send(ev.Approved, by=person, plan_digest=walk.state.plan_digest), Refused)
    walk.must(ev.Approved, by=BOB, plan_digest=walk.state.plan_digest)
    assert walk.state.step == "execute"


def test_an_approval_is_for_one_digest():
    walk = at("approve")
    assert isinstance(walk.send(ev.Approved, by=BOB, plan_digest="0" * 64), Refused)
    assert isinstance(walk.send(ev.Approved, by=BOB, plan_digest=""), Refused)


def test_a_new_plan_voids_approval_and_confirmation_even_when_it_says_the_same():
    walk = at("execute")
    old = walk.state.plan_digest
    walk.must(ev.PlanAsked, by=ANN, facts=facts())
    walk.must(ev.PlanArrived, number=2, plan=node_plan(), facts=facts())
    assert (walk.state.step, walk.state.approvals) == ("confirm", ())
    assert walk.state.plan_digest != old
    assert isinstance(walk.send(ev.ExecuteAsked, by=ANN, facts=facts()), Refused)


def test_a_denial_sends_the_run_back_for_another_plan():
    walk = at("approve")
    walk.must(ev.Denied, by=BOB, plan_digest=walk.state.plan_digest, reason="Wrong bay.")
    assert (walk.state.step, walk.state.status, walk.state.plan) == ("plan", "open", None)
    assert "Wrong bay." in walk.state.note


def test_the_approver_does_not_carry_it_out():
    walk = at("execute")
    assert isinstance(walk.send(ev.ExecuteAsked, by=BOB, facts=facts()), Refused)
    walk.must(ev.ExecuteAsked, by=EVE, facts=facts())


def test_an_old_plan_is_not_carried_out():
    walk = at("execute")
    walk.clock += PLAN_AGE_SECONDS_MAX
    assert isinstance(walk.send(ev.ExecuteAsked, by=ANN, facts=facts()), Refused)


def test_it_does_not_trust_a_state_that_says_open_without_approvals():
    walk = at("execute")
    walk.state = dataclasses.replace(walk.state, approvals=())
    assert isinstance(walk.send(ev.ExecuteAsked, by=ANN, facts=facts()), Refused)
    walk.state = dataclasses.replace(walk.state, hands=(ANN, BOB), approvals=at("execute").state.approvals)
    assert isinstance(walk.send(ev.ExecuteAsked, by=ANN, facts=facts()), Refused)


# --- the order


def test_what_is_sealed_is_what_was_approved():
    walk = at("execute")
    plan, digest = walk.state.plan, walk.state.plan_digest
    effects = walk.must(ev.ExecuteAsked, by=ANN, facts=facts())
    lock, seal = effects[0], effects[1]
    assert lock == ev.Lock(("disk:good", "pool:1"))
    assert (seal.argv, seal.preconditions, seal.plan_digest) == (tuple(plan["argv"]), plan["preconditions"], digest)


def test_a_second_click_seals_nothing():
    assert isinstance(ordered().send(ev.ExecuteAsked, by=ANN, facts=facts()), Refused)


@pytest.mark.parametrize("status", ["FAILED", "REFUSED"])
def test_an_order_without_effect_stops_the_run_and_a_retry_needs_everything_anew(status):
    walk = ordered("STARTED")
    walk.order(status, reason="exit code 1: device is too small.")
    assert walk.state.status == "stopped"
    assert "too small" in walk.state.note
    assert "Unlock" in walk.kinds()
    assert isinstance(walk.send(ev.ExecuteAsked, by=ANN, facts=facts()), Refused)
    walk.must(ev.PlanAsked, by=ANN, facts=facts())
    walk.must(ev.PlanArrived, number=2, plan=node_plan(), facts=facts())
    assert walk.state.approvals == ()


def test_after_a_failure_another_disk_can_be_chosen():
    walk = ordered("STARTED")
    walk.order("FAILED", reason="no")
    walk.must(ev.WentBack, by=ANN, step="choose")
    assert (walk.state.step, walk.state.status) == ("choose", "open")
    assert "wwid" not in walk.state.params


@pytest.mark.parametrize("status", ["SEALED", "OFFERED", "CLAIMED", "STARTED", "UNKNOWN"])
def test_nothing_is_taken_back_while_an_order_is_out(status):
    walk = ordered(status)
    for event, fields in [(ev.Aborted, {"reason": "stop"}), (ev.WentBack, {"step": "choose"}), (ev.PlanAsked, {"facts": facts()})]:
        assert isinstance(walk.send(event, by=ANN, **fields), Refused)


@pytest.mark.parametrize("there", ORDER_MOVES)
@pytest.mark.parametrize("here", ["SEALED", "OFFERED", "CLAIMED", "STARTED"])
def test_an_order_moves_only_along_its_life(here, there):
    outcome = ordered(here).order(there, reason="because")
    assert isinstance(outcome, Decision) == (there in ORDER_MOVES[here])


def test_silence_before_the_start_ends_in_expiry_and_after_it_never_does():
    assert "EXPIRED" in ORDER_MOVES["CLAIMED"]
    assert "EXPIRED" not in ORDER_MOVES["STARTED"]
    assert "FAILED" not in ORDER_MOVES["OFFERED"]


# --- not knowing


def test_a_probe_that_shows_it_took_effect_leads_on():
    walk = ordered("UNKNOWN")
    walk.order("UNKNOWN", probe="did", evidence=("a" * 64,), reason="replacing-3 holds the new disk.")
    assert (walk.state.step, walk.state.status) == ("wait", "waiting")


def test_a_probe_that_shows_it_did_not_leads_back_to_a_fresh_plan():
    walk = ordered("UNKNOWN")
    digest = walk.state.plan_digest
    walk.order("UNKNOWN", probe="did_not", evidence=("a" * 64,), reason="the vdev has no second child.")
    assert (walk.state.step, walk.state.status, walk.state.plan, walk.state.approvals) == ("plan", "open", None, ())
    assert digest in walk.state.sealed


@pytest.mark.parametrize(("probe", "evidence"), [("", ()), ("cannot_tell", ("a" * 64,)), ("did", ()), ("did_not", ())])
def test_a_probe_without_evidence_or_answer_leaves_it_unknown(probe, evidence):
    walk = ordered("UNKNOWN")
    walk.order("UNKNOWN", probe=probe, evidence=evidence)
    assert walk.state.status == "unknown"


def test_two_different_people_settle_it():
    walk = ordered("UNKNOWN")
    walk.must(ev.Settled, by=ANN, outcome="did", reason="zpool status shows replacing-3.")
    walk.must(ev.Settled, by=ANN, outcome="did", reason="I am sure.")
    assert walk.state.status == "unknown"
    walk.must(ev.Settled, by=BOB, outcome="did_not", reason="I see nothing.")
    assert walk.state.status == "unknown"
    walk.must(ev.Settled, by=BOB, outcome="did", reason="I see it now.")
    assert (walk.state.step, walk.state.status) == ("wait", "waiting")


def test_two_people_may_settle_that_nothing_happened():
    walk = ordered("UNKNOWN")
    walk.must(ev.Settled, by=ANN, outcome="did_not", reason="No trace.")
    walk.must(ev.Settled, by=BOB, outcome="did_not", reason="None.")
    assert (walk.state.step, walk.state.plan) == ("plan", None)
    assert "Unlock" in walk.kinds()


def test_a_late_word_from_the_node_ends_the_doubt():
    walk = ordered("UNKNOWN")
    walk.order("SUCCEEDED")
    assert walk.state.step == "wait"


# --- waiting and verifying


def test_it_waits_until_the_fact_holds_in_a_report_from_after_the_command():
    walk = at("wait")
    walk.must(ev.FactsArrived, facts=facts(age_seconds=60))
    assert walk.state.step == "wait", "a report from before the command proves nothing"
    walk.must(ev.FactsArrived, facts=facts(settled="unknown"))
    assert walk.state.progress.percent == 12.0
    walk.must(ev.FactsArrived, facts=facts(age_seconds=0))
    assert walk.state.step == "verify"


def test_it_waits_until_what_it_reads_was_asked_after_the_command():
    """A node that reports is not a node that was asked again: labels are read seldom."""
    walk = at("wait")
    waits = dataclasses.replace(RUNBOOK.step("wait"), sources=("zdb_label",))
    runbook = dataclasses.replace(RUNBOOK, steps=tuple(waits if step.slug == "wait" else step for step in RUNBOOK.steps))
    for ages, moves in (({"zdb_label": 60.0}, False), ({}, False), (Unknown("Nobody said."), False), ({"zdb_label": 0.0}, True)):
        fleet = FleetFacts({"oss01": dataclasses.replace(NODE, age_seconds=0, ages=ages)})
        outcome = decide(runbook, walk.state, ev.FactsArrived(at=walk.clock + 1, facts=fleet))
        assert (outcome.state.step == "verify") is moves, ages


def test_waiting_too_long_is_said_once_and_breaks_nothing_off():
    walk = at("wait")
    walk.clock += 4000
    walk.must(ev.FactsArrived, facts=facts(settled="refuse"))
    assert walk.state.overdue
    assert walk.state.status == "waiting"
    assert "Record" in walk.kinds()
    walk.must(ev.FactsArrived, facts=facts(settled="refuse"))
    assert "Record" not in walk.kinds()


def test_verifying_makes_the_node_look_and_reads_nothing_older():
    walk = at("verify")
    look = next(e for e in walk.effects if isinstance(e, ev.AskNode))
    assert look.operation == "look"
    assert look.params == {"sources": "zpool_status"}
    walk.must(ev.FactsArrived, facts=facts())
    assert walk.state.step == "verify"
    walk.must(ev.FactsArrived, facts=facts(), taken_after=walk.state.since, number=look.number - 1)
    assert walk.state.step == "verify"
    walk.must(ev.FactsArrived, facts=facts(), taken_after=walk.state.since, number=look.number)
    assert walk.state.step == "swap"


def test_a_verification_that_does_not_pass_stays_and_looks_again():
    walk = at("verify")
    number = walk.state.asked.number
    walk.must(ev.FactsArrived, facts=facts(verified="refuse"), taken_after=walk.clock, number=number)
    assert (walk.state.step, walk.state.status, walk.state.asked) == ("verify", "waiting", None)
    walk.must(ev.FactsArrived, facts=facts())
    assert walk.state.asked.number == number + 1
    walk.must(ev.LookFailed, number=number + 1, reason="The node did not answer.")
    assert walk.state.asked is None


# --- total


EVENTS = [
    ev.Start(at=1.0, by=ANN),
    ev.Chosen(at=1.0, by=ANN, value="good", facts=facts()),
    ev.CheckAsked(at=1.0, by=ANN, facts=facts()),
    ev.HandsDone(at=1.0, by=ANN, evidence="x", facts=facts()),
    ev.PlanAsked(at=1.0, by=ANN, facts=facts()),
    ev.PlanArrived(at=1.0, number=1, plan={}, facts=facts()),
    ev.PlanFailed(at=1.0, number=1, reason="x"),
    ev.LookFailed(at=1.0, number=1, reason="x"),
    ev.Confirmed(at=1.0, by=ANN, text="x"),
    ev.Approved(at=1.0, by=BOB, plan_digest="x"),
    ev.Denied(at=1.0, by=BOB, plan_digest="x", reason="x"),
    ev.ExecuteAsked(at=1.0, by=ANN, facts=facts()),
    ev.OrderMoved(at=1.0, plan_digest="x", status="NONSENSE"),
    ev.FactsArrived(at=1.0, facts=facts()),
    ev.Settled(at=1.0, by=ANN, outcome="maybe", reason="x"),
    ev.WentBack(at=1.0, by=ANN, step="nowhere"),
    ev.Aborted(at=1.0, by=ANN, reason=""),
    ev.Event(at=1.0),
]
STATES: list[Walk] = [new(), *(at(step) for step in STEPS), *(ordered(s) for s in ("SEALED", "STARTED", "UNKNOWN"))]


@pytest.mark.parametrize("event", EVENTS, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize("walk", STATES, ids=lambda w: f"{w.state.step or 'new'}-{w.state.status}")
def test_every_event_in_every_state_has_an_answer_for_a_person(walk, event):
    outcome = decide(RUNBOOK, walk.state, event)
    if isinstance(outcome, Refused):
        assert outcome.reason.endswith(".")
        assert "please" not in outcome.reason.lower()


@pytest.mark.parametrize("kind", [ev.CheckAsked, ev.PlanAsked, ev.ExecuteAsked])
def test_nobody_in_particular_cannot_do_what_a_person_must(kind):
    step = {ev.CheckAsked: "check", ev.PlanAsked: "plan", ev.ExecuteAsked: "execute"}[kind]
    assert isinstance(at(step).send(kind, facts=facts()), Refused)


def test_an_ended_run_stays_ended():
    walk = at("check")
    walk.must(ev.Aborted, by=ANN, reason="Another disk came.")
    for event in EVENTS:
        assert isinstance(decide(RUNBOOK, walk.state, event), Refused)


def test_a_plan_never_gets_a_second_order_whatever_the_state_says():
    walk = at("execute")
    walk.state = dataclasses.replace(walk.state, sealed=(walk.state.plan_digest,))
    assert isinstance(walk.send(ev.ExecuteAsked, by=ANN, facts=facts()), Refused)


def test_a_clock_that_was_set_back_is_named_and_no_look_is_waited_for_in_vain():
    """A look that was asked for before the step began by the clock of now proves nothing; another is asked for."""
    walk = at("verify")
    asked = walk.state.asked.number
    walk.must(ev.FactsArrived, facts=facts(), number=asked, taken_after=walk.state.since - 3600)
    assert (walk.state.step, walk.state.asked) == ("verify", None)
    assert "clock stands before" in walk.state.note
    walk.must(ev.FactsArrived, facts=facts())
    assert walk.state.asked.number == asked + 1
    walk.must(ev.FactsArrived, facts=facts(), number=asked + 1, taken_after=walk.state.since)
    assert walk.state.step == "swap"


def test_a_wait_under_a_clock_that_was_set_back_says_so():
    walk = at("wait")
    walk.clock -= 3600
    walk.must(ev.FactsArrived, facts=facts(age_seconds=0))
    assert walk.state.step == "wait"
    assert "clock stands before" in walk.state.note
    walk.clock += 7200
    walk.must(ev.FactsArrived, facts=facts(age_seconds=0))
    assert walk.state.step == "verify"

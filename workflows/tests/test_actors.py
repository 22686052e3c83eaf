"""Records say who did what: the giver of an order, not whoever happened to be the last hand; a failure stays one in the list of steps."""

from dataclasses import replace

from app.ledger.words import phrase
from workflows.engine import events as ev
from workflows.engine.state import OpenLoop
from workflows.engine.transitions import turn_back
from workflows.tests.cast import ANN, EVE, ordered
from workflows.tests.test_engine_edges import LIT, asked, done, with_step


def moved(runbook, state, status):
    return done(asked(runbook, state, ev.OrderMoved, plan_digest=state.order.plan_digest, status=status, reason="cannot import"))


def test_what_an_order_switches_on_is_by_who_gave_it():
    state = ordered("STARTED").state
    state = replace(state, hands=(*state.hands, EVE))  # somebody at the rack is the last hand
    outcome = moved(with_step("execute", opens=LIT), state, "SUCCEEDED")
    assert [one.by for one in outcome.state.loops] == [ANN]
    assert outcome.state.finished[-1].by == ANN
    assert [e.body["by"] for e in outcome.effects if isinstance(e, ev.Record) and e.type == "loop.opened"] == [ANN]


def test_what_the_portal_ordered_is_by_nobody_else():
    state = ordered("STARTED").state
    state = replace(state, hands=(ANN, EVE), order=replace(state.order, by=""))
    assert [one.by for one in moved(with_step("execute", opens=LIT), state, "SUCCEEDED").state.loops] == ["portal"]


def test_an_order_that_failed_is_behind_the_run_as_failed_and_the_next_step_says_what_it_means():
    runbook = with_step("execute", fails_to="swap", fails_means="The pool is not imported.")
    outcome = moved(runbook, ordered("STARTED").state, "FAILED")
    last = outcome.state.finished[-1]
    assert (last.step, last.failed, last.passed_over, last.by) == ("execute", True, False, ANN)
    assert "cannot import" in last.note
    assert outcome.state.step == "swap"
    assert outcome.state.note.endswith("did not succeed: cannot import. The pool is not imported.")


def test_a_run_that_a_person_ended_is_not_ended_by_the_node_that_shows_its_way_back():
    runbook = with_step("execute", opens=LIT)
    runbook = replace(runbook, undo="swap")
    state = replace(ordered("STARTED").state, loops=(OpenLoop("lit", "Lit.", "Dark.", "execute", ANN, 1.0),))
    turned = turn_back(runbook, state, ev.Aborted(by=ANN, reason="x", at=2.0), "aborted", ())
    assert turned.state.ended_by == ANN
    assert phrase("run.aborted", {"by": ANN, "reason": ""}) == "showed that all is put back in the run which ann ended"
    assert phrase("run.aborted", {"reason": "x"}) == "ended the run: x"

"""The list of a run's steps: those done, the one now, those that may come; what the run does not take is one line."""

from dataclasses import replace

import pytest

from app.runs.pages import phases, run_page
from app.runs.tests.cast import act, begin, walk_to
from workflows.engine import events as ev
from workflows.engine.state import Finished, RunState
from workflows.runbooks import RUNBOOKS

BOOK = RUNBOOKS["wwid-mismatch-replace"]
REPLACE = ["check", "plan", "confirm", "approve", "replace", "resilver", "verify"]
BACK = [step.slug for step in BOOK.steps if step.slug not in ("choose", "scan", *REPLACE)]  # the bay is known, so `scan` is passed over


def at(step: str, *finished: str, status: str = "open", passed: tuple[str, ...] = (), why: str = "It is so already.", **more) -> RunState:
    done = tuple(Finished(slug, "ann", 1.0, "Done.") for slug in finished)
    over = tuple(Finished(slug, "", 1.0, why, passed_over=True) for slug in passed)
    return RunState(params={"node": "oss01"}, requester="ann", step=step, status=status, finished=(*done, *over), **more)


def listed(state: RunState, book=BOOK) -> list:
    """Slugs, a tuple for what is folded away."""
    found = run_page.stepper(book, state)["parts"]
    return [part["line"]["step"].slug if "line" in part else tuple(line["step"].slug for line in part["folded"]) for part in found]


def test_before_a_way_is_chosen_every_step_may_come():
    assert listed(at("choose")) == ["choose", "scan", *REPLACE, *BACK]
    assert run_page.place(BOOK, at("choose")) == {"phase": "Look and check", "place": 1, "places": 4}


def test_on_one_way_the_other_is_one_line():
    assert listed(at("plan", "choose", "check", passed=("scan",))) == ["choose", "scan", *REPLACE, tuple(BACK)]
    assert run_page.place(BOOK, at("plan", "choose", "check", passed=("scan",))) == {"phase": "Make the change", "place": 2, "places": 4}


def test_on_the_other_way_it_is_the_first_that_is():
    state = at("online", "choose", "plan-online")
    assert listed(state) == ["choose", ("scan", "check"), ("plan", "confirm", "approve", "replace"), ("resilver", "verify"), *BACK]
    assert run_page.place(BOOK, state) == {"phase": "Go on and finish", "place": 4, "places": 4}
    folded = run_page.stepper(BOOK, state)["parts"][2]
    assert folded["no_return"], "what is folded away says that the point of no return is in it"


def test_what_a_run_that_ended_did_not_come_by_is_folded_wherever_it_ended():
    assert listed(at("verify", "choose", *REPLACE, passed=("scan",), status="done"))[-1] == tuple(BACK)
    assert listed(at("confirm", "choose", "check", "plan", passed=("scan",), status="aborted")) == [
        "choose",
        "scan",
        "check",
        "plan",
        "confirm",
        ("approve", "replace"),
        ("resilver", "verify"),
        tuple(BACK),
    ]


def test_an_order_that_was_not_needed_is_one_line_with_its_reason():
    book = RUNBOOKS["blink-and-replace"]
    order = ("plan-offline", "confirm-offline", "approve-offline", "offline")
    state = at("verify-offline", "spare", "check", passed=order)
    assert listed(state, book)[:4] == ["spare", "check", order, "verify-offline"]
    assert run_page.place(book, state)["phase"] == "Prepare"
    assert run_page.stepper(book, state)["parts"][2]["why"] == "It is so already."


def test_two_orders_that_were_not_needed_for_two_reasons_are_two_lines():
    book = RUNBOOKS["blink-and-replace"]
    state = at("verify-light", passed=("plan-offline", "confirm-offline", "approve-offline", "offline"))
    two = replace(state, finished=(*state.finished, *(Finished(slug, "", 2.0, "It is lit.", True) for slug in ("plan-light", "light"))))
    assert ("plan-light", "light") in listed(two, book)


@pytest.mark.parametrize("slug", RUNBOOKS)
def test_wherever_a_run_stands_its_step_is_listed_and_counted(slug):
    book = RUNBOOKS[slug]
    for step in book.steps:
        before = [s.slug for s in book.steps[: book.place(step.slug)]]
        for status in ("open", "aborted"):
            state = at(step.slug, *before[:1], status=status)
            shown = run_page.stepper(book, state)
            assert any("line" in part and part["line"]["step"] is step for part in shown["parts"]) or step in [
                line["step"] for line in shown["way_back"]
            ]
            counted = run_page.place(book, state)
            assert 1 <= counted["place"] <= counted["places"]


@pytest.mark.django_db
def test_the_page_folds_what_is_not_taken_and_says_how_much(oss01, ann, bob, client):
    run = walk_to("confirm", oss01, ann, bob)
    client.force_login(ann)
    shown = " ".join(client.get(run.get_absolute_url()).content.decode().split())
    assert "<summary>10 steps that this run does not take</summary>" in shown
    assert "Now · phase 2 of 4: Make the change" in shown


@pytest.mark.django_db
def test_nothing_is_folded_while_no_way_is_chosen(oss01, ann, client):
    run = begin(ann)
    client.force_login(ann)
    shown = client.get(run.get_absolute_url()).content.decode()
    assert "this run does not take" not in shown
    assert "Now · phase 1 of 4: Look and check" in shown


@pytest.mark.parametrize("slug", RUNBOOKS)
def test_phases_are_few_and_no_choice_changes_their_count(slug):
    book = RUNBOOKS[slug]
    forward = book.steps[: book.place(book.undo)] if book.undo else book.steps
    assert list(phases.of(book)) == [step.slug for step in forward]
    counts = {run_page.place(book, at(step.slug))["places"] for step in forward}
    assert len(counts) == 1
    assert max(counts) <= 7


def test_a_phase_says_how_far_it_is_and_that_an_order_in_it_failed():
    state = at("resilver", "choose", "check", "plan", "confirm", "approve", "replace")
    shown = {phase["name"]: phase for phase in run_page.stepper(BOOK, state)["phases"]}
    assert [phase["over"] for phase in shown.values()] == [True, True, False, False]
    assert shown["Wait and verify"]["now"]
    failed = replace(state, finished=tuple(replace(one, failed=one.step == "replace") for one in state.finished))
    assert [phase["failed"] for phase in run_page.stepper(BOOK, failed)["phases"]] == [False, True, False, False]


def test_the_phase_in_which_a_run_was_ended_is_not_done():
    shown = run_page.stepper(BOOK, at("confirm", "choose", "check", "plan", status="aborted"))["phases"]
    assert [(phase["over"], phase["ended"]) for phase in shown] == [(True, False), (False, True), (False, False), (False, False)]
    whole = run_page.stepper(BOOK, at("verify", "choose", *REPLACE, status="done"))["phases"]
    assert not any(phase["ended"] for phase in whole)
    book = RUNBOOKS["blink-and-replace"]
    forward = [step.slug for step in book.steps[: book.place(book.undo)]]
    back = at(book.undo, *forward[: forward.index("insert")], status="waiting", ending="aborted")
    rack = next(phase for phase in run_page.stepper(book, back)["phases"] if phase["name"] == phases.RACK)
    assert (rack["over"], rack["ended"]) == (False, True)


@pytest.mark.django_db
def test_the_end_shows_what_is_true_now_and_folds_the_old_plan_away(oss01, ann, bob, client):
    run = walk_to("approve", oss01, ann, bob)
    act(run, ev.Aborted, ann, reason="Enough.")
    client.force_login(ann)
    shown = " ".join(client.get(run.get_absolute_url()).content.decode().split())
    truth = shown[shown.index('id="truth"') :]
    assert "ost_0 is DEGRADED" in truth
    assert "survives the loss of 1 more disk." in truth
    assert truth.index("What is true now") < truth.index('id="old-plan"') < truth.index('id="plan"')
    run.refresh_from_db()
    run.state["params"]["pool_guid"] = "1"  # a pool that the node does not have any more
    run.save(update_fields=["state"])
    later = " ".join(client.get(run.get_absolute_url()).content.decode().split())
    assert "ost_0 is DEGRADED" not in later
    assert "not known" in later[later.index('id="truth"') :]

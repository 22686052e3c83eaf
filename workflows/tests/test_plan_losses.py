"""What a plan takes away is said, and accepted by name by the giver and by each approver; nothing weighty is accepted by silence."""

import dataclasses

import pytest

from agents.operations import OPERATIONS
from workflows.engine import events as ev
from workflows.engine import plan_losses, plans
from workflows.engine.core import Verdict
from workflows.engine.decide import Decision, Refused
from workflows.facts import FleetFacts
from workflows.guards.margin import left
from workflows.runbooks import RUNBOOKS
from workflows.tests.cast import ANN, BOB, at, facts

TAKES_AWAY = {name for name, one in OPERATIONS.items() if one.DESTRUCTIVE} | {"zpool_offline", "zpool_detach_new_half"}
TAKES_NOTHING = {
    "zpool_add": "the disk that it overwrites is blank",
    "set_drive_mode": "the member was taken out of service by an order before it, whose plan says what is left",
    "zpool_import_fenced": "it imports all that the dead head had written",
}
PARAMS = {
    "node": "oss01",
    "pool": "ost_0",
    **{name: "1" for book in RUNBOOKS.values() for step in book.steps for name in (step.param, *step.learned)},
}


def plan(now: str, during: str, **more: str) -> dict:
    return {"redundancy": {"margin_now": now, "margin_during": during, "vdev": "raidz2-0", "pool": "ost_0", "first": "", "why": ""} | more}


@pytest.mark.parametrize(
    ("now", "during", "weighty", "red"),
    [
        ("2", "1", False, False),
        ("1", "1", False, False),
        ("1", "0", True, True),
        ("2", "0", True, True),
        ("0", "0", False, True),  # there was none before: said in red, and not taken by this step
        ("unknown", "unknown", True, True),
    ],
)
def test_what_is_lost_and_what_must_be_accepted(now, during, weighty, red):
    assert bool(plan_losses.to_accept(plan(now, during))) == weighty
    assert bool(plan_losses.lost(plan(now, during))) == red


def test_a_plan_that_touches_no_vdev_takes_nothing():
    assert plan_losses.lost({"argv": ["x"]}) == ()
    assert plan_losses.not_accepted({"argv": ["x"]}, "") == ""


def test_another_lost_member_comes_first():
    reported = plan_losses.lost(plan("1", "0", first="disk-6 (bay 6, OFFLINE)"))
    assert reported[0].startswith("This step takes the last redundancy of raidz2-0")
    assert reported[1] == "Repair the other one first: disk-6 (bay 6, OFFLINE) does not hold its share of raidz2-0."


def test_a_rewind_and_what_is_given_up_are_losses():
    rewind = {"rewind": {"left_out": "the last 5 s"}}
    assert plan_losses.lost({"operation": "zpool_rewind", **rewind}) == ("What was written last is lost for good: the last 5 s",)
    assert plan_losses.lost({"operation": "zpool_import_rewind", **rewind}) == ()
    assert plan_losses.lost({"given_up": "The last 5 s are given up."}) == ("The last 5 s are given up.",)


def test_having_none_left_is_no_reason_why_a_step_is_safe():
    assert left(0, "raidz2-0") == Verdict(
        "pass", "raidz2-0 has no redundancy left: it does not survive the loss of 1 more disk.", costs=True
    )
    assert not left(1, "raidz2-0").costs


@pytest.mark.parametrize(
    ("book", "step"),
    [
        pytest.param(book, step, id=f"{book.slug}/{step.slug}")
        for book in RUNBOOKS.values()
        for step in book.steps
        if step.kind == "PLAN" and step.operation in TAKES_AWAY - TAKES_NOTHING.keys()
    ],
)
def test_every_plan_that_takes_something_away_says_what(book, step):
    """Also of a node that nobody knows: then it says that it is not known."""
    assert step.adds is not None
    stated = step.adds(FleetFacts({}), {**PARAMS, **dict.fromkeys(book.params, "1"), "node": "oss01"}, {})
    assert {"accept", "redundancy", "given_up", "rewind"} & set(stated), stated


def weighty(walk):
    """The same walk with a plan that takes the last redundancy."""
    heavy = {**walk.state.plan, **plan("1", "0")}
    digest = plans.digest(heavy)
    approvals = tuple(dataclasses.replace(a, plan_digest=digest) for a in walk.state.approvals)
    walk.state = dataclasses.replace(walk.state, plan=heavy, plan_digest=digest, approvals=approvals)
    return plan_losses.to_accept(heavy)


@pytest.mark.parametrize(
    ("step", "kind", "by", "fields", "record"),
    [
        ("approve", ev.Approved, BOB, ("plan_digest",), "run.approved"),
        ("approve", ev.GlassBroken, ANN, ("plan_digest", "reason"), "run.glass-broken"),
        ("execute", ev.ExecuteAsked, ANN, ("facts",), "run.ordered"),
    ],
)
def test_the_giver_and_the_approver_each_accept_it_by_name_and_it_is_recorded(step, kind, by, fields, record):
    walk = at(step)
    wanted = weighty(walk)
    body = {"plan_digest": walk.state.plan_digest, "reason": "Nobody answers.", "facts": facts()}
    body = {name: body[name] for name in fields}
    for accepted in ("", "yes", wanted[:-1]):
        refused = walk.send(kind, by=by, accepted=accepted, **body)
        assert isinstance(refused, Refused)
        assert wanted in refused.reason
    done = walk.send(kind, by=by, accepted=wanted, **body)
    assert isinstance(done, Decision), done
    assert [e.body["accepts"] for e in done.effects if isinstance(e, ev.Record) and e.type == record] == [wanted]

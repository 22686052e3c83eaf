"""Two people, two workers, two beats, two messages: whatever meets in the same moment, one of them counts. Commits are real."""

import json
from datetime import timedelta

import pytest
from django.utils import timezone

from agents.orders.receipts import receipt
from app.ledger.models import LedgerChain, LedgerEvent
from app.ledger.services import number_waiting
from app.nodes import sessions
from app.nodes.models import NodeKey
from app.runs import services, tasks
from app.runs.models import Approval, BrokenGlass, Order, ResourceLock, Run
from app.runs.ordering import break_glass_review, locks, orders, sealing
from app.runs.people import takeover
from app.runs.tests.cast import RUNBOOK, Oss01, act, at_once, incident, person, walk_to
from workflows.engine import events as ev


@pytest.fixture
def cast(committed_db, tmp_path, two_on_one):
    oss01 = Oss01(tmp_path)
    oss01.report()
    yield oss01, person("ann", "operator"), person("bob", "approver")
    number_waiting()
    assert LedgerEvent.objects.count() == LedgerChain.objects.count(), "what was recorded is sealed"


def count(came: list, kind: type) -> int:
    return sum(isinstance(c, kind) for c in came)


def judge(run: Run, user, kind, **more):
    fields = {"plan_digest": run.here.plan_digest, "proved_at": timezone.now(), **more}
    return lambda: services.act(run.pk, run.version, kind, user, **fields)


def ordered(cast) -> Order:
    oss01, ann, bob = cast
    act(walk_to("replace", oss01, ann, bob), ev.ExecuteAsked, ann)
    return Order.objects.get(operation="zpool_replace")


def test_a_yes_and_a_no_at_once(cast):
    """AWX let both through: it looked at the state, then saved."""
    oss01, ann, bob = cast
    run, cid = walk_to("approve", oss01, ann, bob), person("cid", "approver")
    came = at_once(judge(run, bob, ev.Approved), judge(run, cid, ev.Denied, reason="Wrong shelf."))
    assert (count(came, Run), count(came, services.RunMoved)) == (1, 1)
    run.refresh_from_db()
    assert (run.step, Approval.objects.count()) in (("replace", 1), ("plan", 0))


def test_two_people_say_yes_at_once(cast):
    oss01, ann, bob = cast
    run, cid = walk_to("approve", oss01, ann, bob), person("cid", "approver")
    came = at_once(judge(run, bob, ev.Approved), judge(run, cid, ev.Approved))
    assert (count(came, Run), count(came, services.RunMoved)) == (1, 1)
    assert Approval.objects.count() == LedgerEvent.objects.filter(type="run.approved").count() == 1


def test_an_order_is_withdrawn_or_claimed_and_never_both(cast):
    order, ann = ordered(cast), cast[1]
    orders.next_for("oss01")
    run = Run.objects.get()
    withdrawn, claimed = at_once(
        lambda: takeover.withdraw(run.pk, run.version, ann, "Stop."), lambda: orders.claim("oss01", order.pk, order.digest)
    )
    order.refresh_from_db()
    assert (withdrawn is None) == (claimed != "") == (order.status == "REFUSED")
    assert ResourceLock.objects.exists() == (order.status == "CLAIMED")


def test_what_is_started_is_not_taken_over_in_the_same_moment(cast):
    oss01, ann, bob = cast
    holder, eve = walk_to("replace", oss01, ann, bob), person("eve", "operator")
    Run.objects.filter(pk=holder.pk).update(situation_key="another")
    run = walk_to("replace", oss01, eve, bob)
    act(holder, ev.ExecuteAsked, ann)
    order = Order.objects.get(operation="zpool_replace")
    orders.next_for("oss01")
    assert orders.claim("oss01", order.pk, order.digest) == ""
    taken, started = at_once(
        lambda: takeover.take_over(run.pk, run.version, holder.pk, eve, "ann is away.", timezone.now()),
        lambda: orders.start("oss01", order.pk, order.digest),
    )
    order.refresh_from_db()
    owners = set(ResourceLock.objects.values_list("run_id", flat=True))
    if started == "":
        assert (order.status, owners) == ("STARTED", {holder.pk})
        assert "may be running" in str(taken)
    else:
        assert (taken, order.status, owners) == (None, "REFUSED", {run.pk})


def test_two_runs_that_want_the_same_pool_at_once(cast):
    oss01, ann, bob = cast
    first = walk_to("replace", oss01, ann, bob)
    Run.objects.filter(pk=first.pk).update(situation_key="another")
    second = walk_to("replace", oss01, ann, bob)
    now = timezone.now()
    came = at_once(*(lambda r=r: services.act(r.pk, r.version, ev.ExecuteAsked, ann, proved_at=now) for r in (first, second)))
    assert (count(came, Run), count(came, services.RunRefused)) == (1, 1)
    assert Order.objects.filter(operation="zpool_replace").count() == 1
    assert len(set(ResourceLock.objects.values_list("run_id", flat=True))) == 1


def test_the_fleet_limit_holds_for_all_who_come_at_once(cast, settings):
    _, ann, _ = cast
    settings.POOLS_IN_REPAIR_MAX = 2
    params = incident().data["answers"][0]["params"]
    runs = [services.start_run(ann, RUNBOOK, params, f"situation {n}") for n in range(5)]

    def take(run):
        try:
            return locks.take(run, (f"pool:{run.pk}",), timezone.now())
        except locks.Held as held:
            return held

    came = at_once(*(lambda run=run: take(run) for run in runs))
    assert (count(came, int), count(came, locks.Held)) == (2, 3)
    assert ResourceLock.objects.count() == 2


def test_one_person_breaks_one_glass(cast, settings):
    oss01, ann, bob = cast
    settings.BREAK_GLASS = ("zpool_replace",)
    ann.memberships.create(role="glass-breaker")
    first = walk_to("approve", oss01, ann, bob)
    Run.objects.filter(pk=first.pk).update(situation_key="another")
    second = walk_to("approve", oss01, ann, bob)
    came = at_once(*(judge(run, ann, ev.GlassBroken, reason="Nobody is here.") for run in (first, second)))
    assert (count(came, Run), count(came, services.RunRefused)) == (1, 1)
    broken = BrokenGlass.objects.get()
    cid = person("cid", "approver")
    came = at_once(lambda: break_glass_review.review(broken.pk, bob, "Right."), lambda: break_glass_review.review(broken.pk, cid, "Right."))
    assert (count(came, BrokenGlass), count(came, services.RunRefused)) == (1, 1)
    assert LedgerEvent.objects.filter(type="run.glass-reviewed").count() == 1


def test_the_same_receipt_many_times_at_once(cast):
    order = ordered(cast)
    orders.next_for("oss01")
    for go in (orders.claim, orders.start):
        assert go("oss01", order.pk, order.digest) == ""
    answer = json.loads(receipt(order.pk, order.digest, "succeeded", "it exited 0."))
    assert set(at_once(lambda: orders.receipt("oss01", order.pk, answer))) == {""}
    assert LedgerEvent.objects.filter(type="order.receipt").count() == 2, "of the plan, and of the order"


def test_a_beat_that_runs_twice_ends_an_order_once(cast, monkeypatch):
    order = ordered(cast)
    late = timezone.now() + timedelta(seconds=sealing.ORDER_SECONDS + 1)
    monkeypatch.setattr(orders.timezone, "now", lambda: late)
    at_once(tasks.sweep)
    order.refresh_from_db()
    assert order.status == "EXPIRED"
    moved = [e.parsed["body"]["status"] for e in LedgerEvent.objects.filter(type="run.order-moved")]
    assert moved.count("EXPIRED") == 1


def test_a_message_that_is_delivered_again_and_again_moves_a_run_once(cast):
    ordered(cast)
    cast[0].work()
    run = Run.objects.get()
    at_once(
        lambda: tasks.tick(run.pk), lambda: tasks.facts_arrived("oss01"), lambda: tasks.tick(run.pk), lambda: tasks.facts_arrived("oss01")
    )
    before = LedgerEvent.objects.count()
    at_once(lambda: tasks.tick(run.pk))
    run.refresh_from_db()
    assert (run.step, LedgerEvent.objects.count()) == ("resilver", before)


def test_two_machines_are_told_of_once(cast):
    key = NodeKey.objects.get()
    sessions.report_received(key.pk, "z" * 43, timezone.now())
    answers = at_once(lambda: sessions.report_received(key.pk, key.nonce, timezone.now()))
    assert len(set(answers)) == 1
    assert "Two machines" in answers[0]
    assert LedgerEvent.objects.filter(type="node.duplicate").count() == 1


def test_two_people_who_begin_on_one_member_at_once_begin_one_run(committed_db, tmp_path):
    oss01, ann, eve = Oss01(tmp_path), person("ann", "operator"), person("eve", "operator")
    oss01.report()
    found = incident()
    answer = found.data["answers"][0]

    def start(user, key):
        return lambda: services.start_run(user, answer["runbook"], answer["params"], key)

    came = at_once(*(start(user, f"{found.key}:{n}") for n, user in enumerate((ann, eve, ann, eve))))
    assert sorted(type(one).__name__ for one in came) == ["Run", "RunRefused", "RunRefused", "RunRefused"]
    assert Run.objects.count() == 1

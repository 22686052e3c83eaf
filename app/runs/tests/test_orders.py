"""The life of an order, whoever tries to move it."""

import itertools
import json
from datetime import timedelta

import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from agents.orders.receipts import receipt
from app.fleet.models import Node
from app.ledger.models import Blob, LedgerEvent
from app.runs import services
from app.runs.models import Order, ResourceLock, Run
from app.runs.ordering import orders, sealing
from app.runs.tests.cast import act, offers, walk_to
from workflows.engine import events as ev
from workflows.engine.state import ORDER_MOVES, PURE_ORDER_MOVES

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(oss01, ann, bob) -> Run:
    """A run whose order is sealed."""
    run = walk_to("replace", oss01, ann, bob)
    return act(run, ev.ExecuteAsked, ann)


def the_order() -> Order:
    return Order.objects.get(operation="zpool_replace")


def came_as_far_as(status: str) -> Order:
    """The order, moved on by the node as far as `status`."""
    order = the_order()
    if status != "SEALED":
        offers()
    if status in ("CLAIMED", "STARTED"):
        assert orders.claim("oss01", order.pk, order.digest) == ""
    if status == "STARTED":
        assert orders.start("oss01", order.pk, order.digest) == ""
    order.refresh_from_db()
    assert order.status == status
    return order


def receipt_of(order: Order, outcome: str, reason: str = "", **more) -> dict:
    return json.loads(receipt(order.pk, order.digest, outcome, reason, **more))


def later(seconds: float, monkeypatch) -> None:
    now = timezone.now() + timedelta(seconds=seconds)
    monkeypatch.setattr(orders.timezone, "now", lambda: now)


# --- the database holds the life


@pytest.mark.parametrize("moves", [ORDER_MOVES, PURE_ORDER_MOVES], ids=["writing", "pure"])
def test_the_database_knows_the_same_life_as_the_engine(moves):
    with connection.cursor() as cursor:
        cursor.execute("SELECT before, after FROM runs_order_move WHERE pure = %s", [moves is PURE_ORDER_MOVES])
        assert set(cursor.fetchall()) == {(before, after) for before, there in moves.items() for after in there}


def test_the_database_refuses_every_move_that_is_not_of_this_life(run):
    for here, there in itertools.product(("SEALED", "OFFERED", "CLAIMED", "STARTED"), ORDER_MOVES):
        with transaction.atomic():
            came_as_far_as(here)
            try:
                with transaction.atomic():
                    Order.objects.filter(pk=the_order().pk).update(status=there)
                allowed = True
            except IntegrityError:
                allowed = False
            transaction.set_rollback(True)
        assert allowed == (there in ORDER_MOVES[here] or here == there), (here, there)


@pytest.mark.parametrize("column", ["canonical", "digest", "node", "operation", "step"])
def test_what_was_sealed_is_not_edited(run, column):
    with pytest.raises(IntegrityError, match="is sealed"), transaction.atomic():
        Order.objects.update(**{column: "another"})


def test_nothing_destructive_is_sealed_without_anothers_approval(oss01, ann, bob):
    run = walk_to("approve", oss01, ann, bob)
    seal = ev.Seal("replace", "zpool_replace", "at_most_once", {"a": "b"}, ("zpool",), {"c": "d"}, run.here.plan_digest)
    step = services.RUNBOOKS[run.runbook].step("replace")
    with pytest.raises(sealing.CannotSeal, match="0 of 1 people"):
        sealing.execute(run, step, seal, 1, ann, timezone.now(), timezone.now())
    act(run, ev.Approved, bob, plan_digest=run.here.plan_digest)
    with pytest.raises(sealing.CannotSeal, match="bob has a hand"):
        sealing.execute(run, step, seal, 1, bob, timezone.now(), timezone.now())


def test_a_plan_has_one_order(run, ann):
    seal = ev.Seal("replace", "zpool_replace", "at_most_once", {}, ("zpool",), {}, the_order().plan_id)
    now, step = timezone.now(), services.RUNBOOKS[run.runbook].step("replace")
    with pytest.raises(IntegrityError, match="one_order_per_plan"), transaction.atomic():
        sealing.execute(run, step, seal, the_order().fence, ann, now, now)


# --- the node


def test_it_gives_the_node_exactly_what_was_sealed(run):
    [offer] = offers()
    order = the_order()
    assert (offer["order"], offer["digest"]) == (order.canonical, order.digest)
    assert order.status == "OFFERED"
    assert bytes(Blob.objects.get(pk=order.digest).bytes).decode() == order.canonical
    assert [again["order"] for again in offers()] == [offer["order"]], "it is offered until it is claimed"
    assert offers("mds01") == []


def test_asking_again_after_a_lost_answer_gets_the_same_answer(run):
    order = came_as_far_as("STARTED")
    assert orders.start("oss01", order.pk, order.digest) == ""
    assert orders.claim("oss01", order.pk, order.digest) != "", "what was started is not claimed again"
    assert LedgerEvent.objects.filter(type="run.order-moved").count() == 3
    assert offers() == []


def test_another_node_or_digest_gets_nothing(run):
    order = came_as_far_as("OFFERED")
    assert "no such order" in orders.claim("mds01", order.pk, order.digest)
    assert "no such order" in orders.claim("oss01", order.pk, "0" * 64)
    assert "OFFERED" in orders.start("oss01", order.pk, order.digest), "nothing starts unclaimed"


@pytest.mark.parametrize("who", ["ann", "bob"])
@pytest.mark.parametrize("status", ["SEALED", "OFFERED", "CLAIMED"])
def test_rights_are_asked_again_until_the_start(run, ann, bob, who, status):
    order = came_as_far_as(status)
    {"ann": ann, "bob": bob}[who].memberships.all().delete()
    if status == "SEALED":
        assert offers() == []
    else:
        go = orders.claim if status == "OFFERED" else orders.start
        assert who in go("oss01", order.pk, order.digest)
    order.refresh_from_db()
    run.refresh_from_db()
    assert (order.status, run.status) == ("REFUSED", "stopped")
    assert not ResourceLock.objects.exists()


def test_the_same_receipt_twice_is_one_and_another_is_refused_and_kept(run):
    order = came_as_far_as("STARTED")
    first = receipt_of(order, "succeeded", "it exited 0.")
    assert orders.receipt("oss01", order.pk, first) == ""
    assert orders.receipt("oss01", order.pk, first) == ""
    assert "another receipt" in orders.receipt("oss01", order.pk, receipt_of(order, "failed", "it exited 1."))
    order.refresh_from_db()
    assert (order.status, order.receipt["outcome"]) == ("SUCCEEDED", "succeeded")
    second = LedgerEvent.objects.get(type="order.second-receipt").parsed
    assert len(second["evidence"]) == 3, "order and both receipts are evidence"
    with pytest.raises(IntegrityError, match="has its receipt"), transaction.atomic():
        Order.objects.filter(pk=order.pk).update(receipt_digest="0" * 64)


def test_a_failure_the_node_cannot_vouch_for_is_unknown(run):
    order = came_as_far_as("STARTED")
    answer = receipt_of(order, "failed", "it exited 1.") | {"probe": {"result": "cannot_tell", "reason": "zpool hangs."}}
    assert orders.receipt("oss01", order.pk, answer) == ""
    run.refresh_from_db()
    assert run.status == "unknown"


@pytest.mark.parametrize(
    "spoiled",
    [
        {"outcome": "great"},
        {"order": "another"},
        {"digest": "0" * 64},
        {"probe": {"result": "maybe"}},
        {"argv": "zpool"},
        {"reason": 5},
        {"result": []},
    ],
)
def test_a_receipt_that_is_none_is_not_taken(run, spoiled):
    order = came_as_far_as("STARTED")
    assert orders.receipt("oss01", order.pk, receipt_of(order, "succeeded") | spoiled) != ""
    order.refresh_from_db()
    assert order.status == "STARTED"


def test_captures_that_do_not_hold_are_no_evidence(run):
    order = came_as_far_as("STARTED")
    captures = [{"source": "zpool_status", "key": "", "digest": "0" * 64, "seconds": "0"}]
    answer = receipt_of(order, "unknown", "died.") | {"probe": {"result": "did", "reason": "x"}, "captures": captures}
    assert orders.receipt("oss01", order.pk, answer) == ""
    run.refresh_from_db()
    assert run.status == "unknown"
    assert "without their text" in LedgerEvent.objects.filter(type="order.receipt").last().parsed["body"]["problem"]


def test_what_is_said_too_late_is_kept_and_changes_nothing(run, monkeypatch):
    order = came_as_far_as("CLAIMED")
    later(sealing.ORDER_SECONDS + 1, monkeypatch)
    orders.sweep()
    assert orders.receipt("oss01", order.pk, receipt_of(order, "succeeded", "it exited 0.")) == ""
    order.refresh_from_db()
    run.refresh_from_db()
    assert (order.status, order.receipt["outcome"], run.status) == ("EXPIRED", "succeeded", "stopped")
    assert LedgerEvent.objects.get(type="order.receipt-out-of-turn").parsed["body"]["stands"] == "EXPIRED"


# --- time


@pytest.mark.parametrize("status", ["SEALED", "OFFERED", "CLAIMED"])
def test_what_was_not_started_in_time_expires(run, status, monkeypatch):
    order = came_as_far_as(status)
    later(sealing.ORDER_SECONDS + 1, monkeypatch)
    assert offers() == []
    orders.sweep()
    order.refresh_from_db()
    run.refresh_from_db()
    assert (order.status, run.status) == ("EXPIRED", "stopped")
    assert "EXPIRED" in orders.start("oss01", order.pk, order.digest)


def test_an_expired_order_is_not_started_even_before_the_sweep(run, monkeypatch):
    order = came_as_far_as("CLAIMED")
    later(sealing.ORDER_SECONDS + 1, monkeypatch)
    assert "expired" in orders.start("oss01", order.pk, order.digest)
    order.refresh_from_db()
    assert order.status == "EXPIRED"


def test_silence_after_the_start_is_unknown_and_never_failed(run, monkeypatch):
    order = came_as_far_as("STARTED")
    orders.sweep()
    order.refresh_from_db()
    assert order.status == "STARTED"
    later(900, monkeypatch)
    orders.sweep()
    order.refresh_from_db()
    run.refresh_from_db()
    assert (order.status, run.status) == ("UNKNOWN", "unknown")
    assert ResourceLock.objects.count() == 3, "what may be under way stays held"


def test_a_silent_node_is_given_up_sooner(run, monkeypatch):
    came_as_far_as("STARTED")
    later(orders.SILENCE_SECONDS + 1, monkeypatch)
    Node.objects.update(last_report_at=orders.timezone.now())
    orders.sweep()
    assert the_order().status == "STARTED"
    Node.objects.update(last_report_at=timezone.now() - timedelta(seconds=600))
    orders.sweep()
    assert the_order().status == "UNKNOWN"


def test_the_nodes_late_word_ends_the_doubt(run, oss01, monkeypatch):
    order = came_as_far_as("STARTED")
    later(900, monkeypatch)
    orders.sweep()
    assert orders.receipt("oss01", order.pk, receipt_of(order, "succeeded", "it exited 0.")) == ""
    run.refresh_from_db()
    assert (the_order().status, run.step) == ("SUCCEEDED", "resilver")


def test_the_probe_of_an_agent_that_died_ends_the_doubt(run, oss01):
    """The agent wrote INTENT, ran the command and died; after the restart it probes."""
    order = oss01.offered()[0]
    orders.claim("oss01", order.id, order.digest)
    orders.start("oss01", order.id, order.digest)
    oss01.journal.claim(order.id, order.digest, order.canonical, "2026-11-21T10:00:00.000000Z", order.params["pool_guid"], int(order.fence))
    oss01.journal.intend(order.id, "2026-11-21T10:00:00.000000Z")
    oss01.host.run(order.argv, 10)
    oss01.executor.recover()
    oss01.work()
    run.refresh_from_db()
    assert (the_order().status, run.step, run.status) == ("UNKNOWN", "resilver", "waiting")
    assert len(oss01.commands()) == 1


def test_the_probe_of_an_agent_that_died_before_the_command_leads_to_a_fresh_plan(run, oss01):
    order = oss01.offered()[0]
    orders.claim("oss01", order.id, order.digest)
    orders.start("oss01", order.id, order.digest)
    oss01.journal.claim(order.id, order.digest, order.canonical, "2026-11-21T10:00:00.000000Z", order.params["pool_guid"], int(order.fence))
    oss01.journal.intend(order.id, "2026-11-21T10:00:00.000000Z")
    oss01.executor.recover()
    oss01.work()
    run.refresh_from_db()
    assert (run.step, run.status, run.here.plan, run.here.approvals) == ("plan", "open", None, ())
    assert oss01.commands() == []
    assert not ResourceLock.objects.exists()


def test_two_people_settle_what_nobody_knows(run, ann, eve, monkeypatch):
    came_as_far_as("STARTED")
    later(900, monkeypatch)
    orders.sweep()
    monkeypatch.undo()
    act(run, ev.Settled, ann, outcome="did_not", reason="No trace in zpool history.")
    with pytest.raises(services.RunRefused):
        act(run, ev.Aborted, ann, reason="enough")
    act(run, ev.Settled, eve, outcome="did_not", reason="None in zpool status.")
    run.refresh_from_db()
    assert (run.step, run.status) == ("plan", "open")


def test_a_question_the_node_does_not_answer_ends_the_waiting(oss01, ann, bob, monkeypatch):
    run = walk_to("plan", oss01, ann, bob)
    act(run, ev.PlanAsked, ann)
    later(sealing.PURE_SECONDS + 1, monkeypatch)
    orders.sweep()
    run.refresh_from_db()
    assert (run.step, run.status) == ("plan", "open")
    assert "did not answer in time" in run.here.note

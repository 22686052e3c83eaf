"""Several hands at the same moment, with real commits."""

import time

import pytest
from django.utils import timezone

from app.ledger.models import LedgerChain, LedgerEvent
from app.ledger.services import number_waiting
from app.runs import services
from app.runs.models import Order, ResourceLock, Run
from app.runs.ordering import orders
from app.runs.tests.cast import HANDS, RESILVER_SECONDS, Oss01, act, at_once, begin, person, walk_to
from workflows.engine import events as ev


@pytest.fixture
def cast(committed_db, tmp_path):
    oss01 = Oss01(tmp_path)
    oss01.report()
    return oss01, person("ann", "operator"), person("bob", "approver")


def test_of_several_clicks_one_counts(cast):
    oss01, ann, bob = cast
    run = walk_to("replace", oss01, ann, bob)
    came = at_once(lambda: services.act(run.pk, run.version, ev.ExecuteAsked, ann, proved_at=timezone.now()))
    assert sum(isinstance(c, Run) for c in came) == 1
    assert sum(isinstance(c, services.RunMoved) for c in came) == HANDS - 1
    assert Order.objects.filter(operation="zpool_replace").count() == 1
    assert ResourceLock.objects.count() == 3
    number_waiting()
    assert LedgerEvent.objects.count() == LedgerChain.objects.count()


def test_of_several_starts_one_run_comes(cast):
    _, ann, _ = cast
    came = at_once(lambda: begin(ann))
    assert {run.pk for run in came} == {Run.objects.get().pk}


def test_several_polls_and_claims_move_an_order_once(cast):
    oss01, ann, bob = cast
    run = walk_to("replace", oss01, ann, bob)
    act(run, ev.ExecuteAsked, ann)
    order = Order.objects.get(operation="zpool_replace")
    offers = at_once(lambda: orders.next_for("oss01"))
    assert {(o["order"], o["digest"], o["signature"]) for [o] in offers} == {(order.canonical, order.digest, order.signature)}
    assert set(at_once(lambda: orders.claim("oss01", order.pk, order.digest))) == {""}
    assert set(at_once(lambda: orders.start("oss01", order.pk, order.digest))) == {""}
    assert LedgerEvent.objects.filter(type="run.order-moved").count() == 3
    assert oss01.work() == 0


def test_several_workers_advance_a_run_once(cast):
    oss01, ann, bob = cast
    run = walk_to("replace", oss01, ann, bob)
    act(run, ev.ExecuteAsked, ann)
    oss01.work()
    time.sleep(RESILVER_SECONDS * 1.5)
    oss01.report()
    at_once(lambda: services.tick(run.pk))
    run.refresh_from_db()
    assert run.step == "verify"
    assert Order.objects.filter(operation="look").count() == 1
    assert LedgerEvent.objects.filter(type="run.waited").count() == 1

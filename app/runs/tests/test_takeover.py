"""An order nobody took is withdrawn; what a run holds is taken over; what was started is not touched."""

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from app.ledger.models import LedgerEvent
from app.runs import services
from app.runs.models import Order, ResourceLock, Run
from app.runs.ordering import locks, orders
from app.runs.people import takeover
from app.runs.tests.cast import RUNBOOK, act, incident, offers, walk_to
from workflows.engine import events as ev

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("two_on_one")]


@pytest.fixture
def both(oss01, ann, bob, eve) -> tuple[Run, Run]:
    """Ann's run and eve's, both before their orders for the same pool and disk; ann's has sealed hers and holds them."""
    first = walk_to("replace", oss01, ann, bob)
    Run.objects.filter(pk=first.pk).update(situation_key="another")
    second = walk_to("replace", oss01, eve, bob)
    act(first, ev.ExecuteAsked, ann)
    first.refresh_from_db()
    return first, second


@pytest.fixture
def holder(both) -> Run:
    return both[0]


@pytest.fixture
def run(both) -> Run:
    return both[1]


def the_order(run: Run) -> Order:
    return Order.objects.get(operation="zpool_replace", run=run)


def take_over(run: Run, holder: Run, user, **more) -> None:
    run.refresh_from_db()
    takeover.take_over(run.pk, run.version, holder.pk, user, more.get("reason", "ann went home."), more.get("proved_at", timezone.now()))


# --- withdrawing


def test_an_order_nobody_took_is_withdrawn(holder, ann):
    holder.refresh_from_db()
    takeover.withdraw(holder.pk, holder.version, ann, "The technician is at the other shelf.")
    holder.refresh_from_db()
    order = the_order(holder)
    assert (order.status, holder.status) == ("REFUSED", "stopped")
    assert "ann withdrew it" in order.reason
    assert not ResourceLock.objects.exists()
    assert LedgerEvent.objects.get(type="order.withdrawn").actor == "ann"
    assert offers() == []
    with pytest.raises(services.RunRefused):
        act(holder, ev.ExecuteAsked, ann)


@pytest.mark.parametrize("go", [("claim",), ("claim", "start")], ids=["claimed", "started"])
def test_what_the_node_took_is_not_withdrawn(holder, ann, go):
    order = the_order(holder)
    offers()
    for step in go:
        assert getattr(orders, step)("oss01", order.pk, order.digest) == ""
    holder.refresh_from_db()
    with pytest.raises(services.RunRefused, match="has not claimed"):
        takeover.withdraw(holder.pk, holder.version, ann, "too late")


def test_withdrawing_needs_a_reason_the_right_and_a_fresh_page(holder, ann, client):
    from app.accounts.models import User

    holder.refresh_from_db()
    with pytest.raises(services.RunRefused, match="Say why"):
        takeover.withdraw(holder.pk, holder.version, ann, " ")
    with pytest.raises(services.RunMoved):
        takeover.withdraw(holder.pk, holder.version - 1, ann, "x")
    with pytest.raises(services.NotAllowed):
        takeover.withdraw(holder.pk, holder.version, User.objects.create_user("dan"), "x")


# --- taking over


def test_the_holder_is_named(run, holder, eve):
    with pytest.raises(services.RunRefused, match=f"Run {holder.pk} of ann holds"):
        act(run, ev.ExecuteAsked, eve)
    assert {lock.run_id for lock in takeover.in_the_way(run)} == {holder.pk}


def test_what_it_holds_goes_to_the_other_run_under_a_higher_fence(run, holder, eve, oss01):
    old = the_order(holder)
    before = {lock.key: lock.fence for lock in ResourceLock.objects.all()}
    take_over(run, holder, eve)
    after = {lock.key: (lock.run_id, lock.fence) for lock in ResourceLock.objects.all()}
    assert after.keys() == before.keys()
    assert all(owner == run.pk and fence > before[key] for key, (owner, fence) in after.items())
    holder.refresh_from_db()
    assert (the_order(holder).status, holder.status) == ("REFUSED", "stopped")
    assert "took over" in orders.claim("oss01", old.pk, old.digest)
    lines = LedgerEvent.objects.filter(type="locks.taken-over")
    assert {event.run for event in lines} == {str(run.pk), str(holder.pk)}
    act(run, ev.ExecuteAsked, eve)
    assert oss01.work() == 1
    assert len(oss01.commands()) == 1


def test_the_old_run_seals_nothing_while_the_other_holds(run, holder, ann, bob, eve, oss01):
    take_over(run, holder, eve)
    act(holder, ev.PlanAsked, ann)
    oss01.work()
    act(holder, ev.Confirmed, ann, text="581455 ost_0")
    holder.refresh_from_db()
    act(holder, ev.Approved, bob, plan_digest=holder.here.plan_digest)
    with pytest.raises(services.RunRefused, match=f"Run {run.pk} of eve holds"):
        act(holder, ev.ExecuteAsked, ann)


def test_an_order_whose_lock_is_gone_is_not_started_even_in_the_table(holder):
    """The portal's own check aside: the database asks too."""
    order = the_order(holder)
    offers()
    locks.give_back(holder)
    with pytest.raises(IntegrityError, match="does not hold what it touches"), transaction.atomic():
        Order.objects.filter(pk=order.pk).update(status="CLAIMED")
    assert "does not hold the pool" in orders.claim("oss01", order.pk, order.digest)


@pytest.mark.parametrize("status", ["STARTED", "UNKNOWN"])
def test_a_command_that_may_be_running_is_not_taken_over(run, holder, eve, status, monkeypatch):
    order = the_order(holder)
    offers()
    for go in (orders.claim, orders.start):
        assert go("oss01", order.pk, order.digest) == ""
    if status == "UNKNOWN":
        monkeypatch.setattr(orders, "SILENCE_SECONDS", -1000)
        orders.sweep()
    with pytest.raises(services.RunRefused, match=f"is {status}: its command may be running"):
        take_over(run, holder, eve)
    assert set(ResourceLock.objects.values_list("run_id", flat=True)) == {holder.pk}


def test_taking_over_needs_a_reason_a_password_and_something_to_take(run, holder, eve, ann):
    with pytest.raises(services.RunRefused, match="Say why"):
        take_over(run, holder, eve, reason="")
    with pytest.raises(services.SignInIsOld):
        take_over(run, holder, eve, proved_at=None)
    with pytest.raises(services.RunRefused, match="does not stand before its order"):
        take_over(holder, run, eve)
    with pytest.raises(services.RunMoved):
        take_over(run, run, eve)
    params = incident().data["answers"][0]["params"]
    idle = services.start_run(ann, RUNBOOK, params, "a third")
    with pytest.raises(services.RunRefused, match="does not hold anything"):
        take_over(run, idle, eve)


def test_the_page_shows_who_is_in_the_way_and_takes_over(run, holder, eve, client):
    client.force_login(eve)
    run.refresh_from_db()
    text = client.get(f"/runs/{run.pk}/").content.decode()
    assert f"Run {holder.pk} of ann is in the way" in text
    form = {"act": "take-over", "version": run.version, "holder": holder.pk, "reason": "ann went home."}
    assert client.post(f"/runs/{run.pk}/act/", form).status_code == 302
    assert set(ResourceLock.objects.values_list("run_id", flat=True)) == {run.pk}
    assert f"run {run.pk}" in client.get("/runs/").content.decode()

"""On the way back the portal goes on by itself: it plans, gives the order and looks again, and it can do nothing else so."""

import json
from dataclasses import asdict
from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from app.ledger.models import LedgerEvent
from app.runs import open_loops, services, tasks
from app.runs.models import OpenLoop, Order, ResourceLock, Run
from app.runs.ordering import locks, orders, unattended
from app.runs.tests.cast import Played, act
from app.runs.tests.walks import event_types
from twin import demo, stories
from twin.store import Store
from workflows.engine import events as ev
from workflows.engine.lint import definition_digest
from workflows.engine.state import RunState
from workflows.runbooks import RUNBOOKS

pytestmark = pytest.mark.django_db
RUNBOOK = RUNBOOKS["resilver-tuning"]
KNOB = "zfs_vdev_scrub_max_active"
MEASURED = {"setting": f"{KNOB} 3 6", "measured": "now", "baseline": "524288 1000000 2000000 60000000", "window_seconds": "3600"}


@pytest.fixture
def node(db, tmp_path) -> Played:
    state = tmp_path / "crawling.json"
    Store(state).create(stories.crawling(timezone.now().timestamp()))
    node = Played(tmp_path, "oss01", state, demo.WRITING)
    node.report()
    return node


def standing_at(node: Played, user, step: str) -> Run:
    """A run that has come to `step`, as if somebody had chosen and measured. The measuring itself takes half an hour."""
    pool = next(p for p in services.facts_near(["oss01"]).nodes["oss01"].pools if p.name == "ost_0")
    params = {"node": "oss01", "pool": "ost_0", "pool_guid": str(pool.guid)}
    now = timezone.now()
    state = RunState(params | MEASURED, user.username, step, "open", now.timestamp(), hands=(user.username,))
    return Run.objects.create(
        runbook=RUNBOOK.slug,
        definition_digest=definition_digest(RUNBOOK),
        params=params,
        node="oss01",
        requester=user,
        state=json.loads(json.dumps(asdict(state))),
        step=step,
        status="open",
        created_at=now,
    )


@pytest.fixture
def raised(node, ann) -> Run:
    """A run that has given the tunable another value, by ann's order, and measures what that does."""
    run = standing_at(node, ann, "plan")
    act(run, ev.PlanAsked, ann)
    node.work()
    act(run, ev.ExecuteAsked, ann)
    node.work()
    node.report()
    tasks.tick.delay(run.pk)
    node.work()
    run.refresh_from_db()
    assert (run.step, run.status, value_of(node)) == ("compare", "waiting", "6"), run.here
    return run


def value_of(node: Played) -> str:
    return node.host.store.view().node.parameters.get(KNOB, "3")


def sweep(run: Run) -> Run:
    """A beat after the moment it was to be looked at again."""
    Run.objects.filter(pk=run.pk, due_at__isnull=False).update(due_at=timezone.now() - timedelta(seconds=1))
    tasks.sweep.delay()
    run.refresh_from_db()
    return run


def end(run: Run, person) -> Run:
    act(run, ev.Aborted, person, reason="enough")
    run.refresh_from_db()
    assert (run.step, run.status) == ("plan-back", "open")
    return run


def test_what_was_raised_is_put_back_by_itself(raised, node, ann):
    run = end(raised, ann)
    assert "The portal does this by itself" in page(run, ann)
    assert sweep(run).status == "planning"
    node.work()
    run.refresh_from_db()
    assert (run.step, run.status) == ("put-back", "open")
    assert sweep(run).status == "ordered"
    order = Order.objects.get(run=run, step="put-back")
    assert (order.sealed_by, order.proved_at, order.effect) == (None, None, "idempotent")
    assert ResourceLock.objects.filter(run=run, key="tunables:oss01", fence=order.fence).exists()
    node.work()
    assert value_of(node) == "3"
    run.refresh_from_db()
    assert run.step == "verify-back"
    node.report()
    sweep(run)
    node.work()
    run.refresh_from_db()
    assert (run.status, run.ended_at is not None) == ("aborted", True), run.here
    assert not OpenLoop.objects.exists()
    assert not ResourceLock.objects.exists()
    assert LedgerEvent.objects.get(type="run.ordered", run=str(run.pk), actor="portal")


def test_the_open_loop_says_by_when_it_is_put_back_at_the_latest(raised, node, ann):
    one = OpenLoop.objects.get(run=raised)
    raised.refresh_from_db()
    measuring, window = RUNBOOK.step("compare").lasts(raised.here.params), 3600
    assert (open_loops.line(one)["back_by"] - one.at).total_seconds() == measuring + window
    end(raised, ann)
    assert open_loops.line(OpenLoop.objects.get(pk=one.pk))["back_by"] is None, "it is put back now, and not by the clock"


def page(run: Run, reader) -> str:
    from django.test import Client

    client = Client()
    client.force_login(reader)
    return " ".join(client.get(run.get_absolute_url()).content.decode().split())


def test_a_beat_that_runs_twice_gives_one_order(raised, node, ann):
    run = end(raised, ann)
    for _ in range(3):
        sweep(run)
    assert Order.objects.filter(run=run, operation="plan", step="plan-back").count() == 1
    node.work()
    for _ in range(3):
        sweep(run)
        tasks.go_on.delay(run.pk)
    assert Order.objects.filter(run=run, step="put-back").count() == 1


def test_while_the_node_is_silent_it_waits_and_says_why(raised, node, ann):
    run = end(raised, ann)
    node.node.refresh_from_db()
    node.node.last_report_at = timezone.now() - timedelta(hours=1)
    node.node.save()
    before = LedgerEvent.objects.count()
    for _ in range(3):
        assert sweep(run).status == "open"
    assert run.due_at is not None
    assert LedgerEvent.objects.count() == before, "a try that was refused is no event"
    assert "Now it cannot:" in page(run, ann)
    node.report()
    assert sweep(run).status == "planning"


def test_a_plan_that_failed_is_asked_for_again_but_not_at_once(raised, node, ann, monkeypatch):
    run = end(raised, ann)
    sweep(run)
    order = Order.objects.get(run=run, step="plan-back")
    now = order.expires_at + timedelta(seconds=1)
    monkeypatch.setattr(orders.timezone, "now", lambda: now)
    orders.sweep()
    run.refresh_from_db()
    assert (run.status, run.due_at) == ("open", None)
    assert run.pk not in unattended.due(now)
    assert run.pk in unattended.due(now + unattended.AFTER_A_FAILURE)


def test_somebody_elses_lock_is_waited_for(raised, node, ann):
    run = end(raised, ann)
    sweep(run)
    node.work()
    other = standing_at(node, ann, "plan")
    locks.take(other, ("tunables:oss01",), timezone.now())
    assert sweep(run).status == "open"
    assert f"Run {other.pk} of ann is in the way" in page(run, ann)
    locks.give_back(other)
    assert sweep(run).status == "ordered"


def test_it_does_nothing_for_a_step_that_needs_a_person(node, ann):
    run = standing_at(node, ann, "plan")
    assert unattended.due(timezone.now() + timedelta(days=1)) == []
    tasks.go_on.delay(run.pk)
    run.refresh_from_db()
    assert (run.status, Order.objects.filter(run=run).count()) == ("open", 0)


def test_it_does_nothing_under_a_runbook_that_has_changed(raised, node, ann, monkeypatch):
    run = end(raised, ann)
    monkeypatch.setattr(services, "definition_digest", lambda runbook: "0" * 64)
    assert sweep(run).status == "open"
    assert Order.objects.filter(run=run, step="plan-back").count() == 0


# --- what the database lets nobody order


def forged(raised: Run, node: Played, ann, **changes) -> Order:
    """The put-back order as the portal would seal it, with something else in it."""
    run = end(raised, ann)
    sweep(run)
    node.work()
    sweep(run)
    good = Order.objects.get(run=run, step="put-back")
    orders.end_unstarted(good, "so that another can take its place", "test", timezone.now())
    fence = locks.take(run, ("tunables:oss01",), timezone.now())
    return remade(good, fence, **changes)


def remade(good: Order, fence: int, **changes) -> Order:
    import hashlib

    from agents.portal.wire import canonical
    from app.runs.models import Plan

    answer = json.loads(good.canonical)
    plan = Plan.objects.create(digest="d" * 64, run=good.run, round=99, body=good.plan.body, made_at=timezone.now())
    params = {**answer["params"], **changes.pop("params", {})}
    answer |= {"id": "f" * 32, "fence": str(fence), "plan_digest": plan.pk, "params": params}
    row = {f.attname: getattr(good, f.attname) for f in Order._meta.concrete_fields} | {"id": "f" * 32, "status": "SEALED", "reason": ""}
    row |= {"fence": fence, "plan_id": plan.pk, "ended_at": None} | changes
    answer |= {name: str(row[name]) for name in ("operation", "effect")}
    text = canonical(answer).decode()
    row |= {"canonical": text, "digest": hashlib.sha256(text.encode()).hexdigest()}
    with transaction.atomic():
        return Order.objects.create(**row)


def test_the_portals_own_order_is_let_in_as_it_is(raised, node, ann):
    """So that the next tests refuse for their own reason."""
    assert forged(raised, node, ann).sealed_by is None


@pytest.mark.parametrize(
    "changes",
    [
        {"params": {"value": "12"}},
        {"params": {"name": "zfs_scan_mem_lim_fact"}},
        {"destructive": True},
        {"effect": "at_most_once"},
        {"operation": "set_drive_mode"},
        {"proved_at": timezone.now()},
        {"nonce": ""},
    ],
    ids=lambda changes: next(iter(changes.get("params", changes))),
)
def test_nobody_orders_anything_else(raised, node, ann, changes):
    with pytest.raises(IntegrityError, match=r"sealed by a person|say what its text says"):
        forged(raised, node, ann, **changes)


def test_an_order_that_nobody_gave_does_not_leave_when_no_person_ordered_before(raised, node, ann):
    order = forged(raised, node, ann)
    assert unattended.why_not_allowed(order) == ""
    order.operation = "set_drive_mode"
    assert "No person gave this order" in unattended.why_not_allowed(order)
    order.operation, order.effect = "set_tunable", "at_most_once"
    assert "No person gave this order" in unattended.why_not_allowed(order)


@pytest.mark.parametrize(("name", "value"), [("value", "12"), ("name", "zfs_scan_mem_lim_fact"), ("value", None), ("name", None)])
def test_an_order_that_nobody_gave_writes_only_what_was_there_before(raised, node, ann, name, value):
    """Asked again when it is offered: the database asked when it was sealed, and both ask the same."""
    order = forged(raised, node, ann)
    answer = json.loads(order.canonical)
    answer["params"] = {key: kept for key, kept in (answer["params"] | {name: value}).items() if kept is not None}
    order.canonical = json.dumps(answer)
    assert "No person gave this order" in unattended.why_not_allowed(order)


def test_every_unattended_step_of_a_shipped_runbook_is_known_to_the_database(raised):
    """The rule reads `name`, `before` and `value`: an operation that says it otherwise needs a rule of its own."""
    steps = [step for runbook in RUNBOOKS.values() for step in runbook.steps if step.unattended]
    assert steps
    assert {step.operation for step in steps} == {"set_tunable"}


def test_the_ledger_tells_of_every_move(raised, node, ann):
    run = end(raised, ann)
    sweep(run)
    node.work()
    sweep(run)
    since = event_types(run)[event_types(run).index("run.turned-back") :]
    assert [kind for kind in since if kind in ("run.plan-asked", "run.planned", "run.ordered")] == [
        "run.plan-asked",
        "run.planned",
        "run.ordered",
    ]
    assert since.count("order.sealed") == 2

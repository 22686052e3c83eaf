"""Doorbells: rung twice, late or never, nothing breaks."""

import time
from datetime import timedelta

import pytest
from django.utils import timezone

from app.ledger.models import LedgerEvent
from app.runs import tasks
from app.runs.models import Order, Run
from app.runs.tests.cast import RESILVER_SECONDS, act, walk_to
from app.runs.tests.test_walk import wait_until_resilvered
from workflows.engine import events as ev

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(oss01, ann, bob) -> Run:
    """A run that waits for the resilver."""
    run = walk_to("replace", oss01, ann, bob)
    act(run, ev.ExecuteAsked, ann)
    oss01.work()
    run.refresh_from_db()
    assert run.step == "resilver"
    return run


def test_a_tick_delivered_again_and_again_changes_nothing(run, oss01):
    version, events_before = run.version, LedgerEvent.objects.count()
    for _ in range(5):
        tasks.tick.delay(run.pk)
    run.refresh_from_db()
    assert (run.step, run.version) == ("resilver", version), "a page open meanwhile does not grow old"
    assert LedgerEvent.objects.count() == events_before
    wait_until_resilvered(oss01, run)
    for _ in range(3):
        tasks.tick.delay(run.pk)
    assert Order.objects.filter(operation="look").count() == 1


def test_a_tick_for_a_run_that_is_not_there_or_not_waiting_does_nothing(run, ann, bob, oss01):
    tasks.tick.delay(run.pk + 1000)
    oss01.work()
    Run.objects.filter(pk=run.pk).update(status="open")
    tasks.tick.delay(run.pk)


def test_the_sweep_rings_what_is_due(run):
    before = timezone.now() - timedelta(seconds=1)
    Run.objects.filter(pk=run.pk).update(due_at=before)
    tasks.sweep.delay()
    run.refresh_from_db()
    assert run.due_at > before


def test_a_run_whose_node_lost_its_key_waits_on(run, oss01):
    oss01.node.keys.update(revoked_at=timezone.now())
    time.sleep(RESILVER_SECONDS * 1.5)
    oss01.report()
    tasks.tick.delay(run.pk)
    run.refresh_from_db()
    assert (run.step, run.status) == ("resilver", "waiting"), "nobody can be asked to look, so nothing is verified"


def test_a_report_of_the_node_moves_the_run_at_once(run, oss01):
    time.sleep(RESILVER_SECONDS * 1.5)
    oss01.report()
    tasks.facts_arrived.delay("mds01")
    run.refresh_from_db()
    assert run.step == "resilver"
    tasks.facts_arrived.delay("oss01")
    run.refresh_from_db()
    assert run.step == "verify"


def test_beat_names_tasks_that_exist():
    from app.celery import celery

    celery.loader.import_default_modules()
    assert {entry["task"] for entry in celery.conf.beat_schedule.values()} <= set(celery.tasks)

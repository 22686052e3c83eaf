"""What the worker does for runs. Messages carry ids; a lost, late or repeated one does no harm, because `sweep` rings again."""

from functools import partial

from celery import Task, shared_task
from django.db import transaction
from django.utils import timezone

from app.realtime.publish import ring
from app.runs import open_loops, services
from app.runs.models import Order, Run
from app.runs.ordering import answers_from_recording, orders, unattended


@shared_task
def tick(run_id: int) -> None:
    services.tick(run_id)


@shared_task
def go_on(run_id: int) -> None:
    """A step that needs no person. Harmless however often it is rung: each ring finds the run where the last one left it."""
    if services.ledger_is_well():
        with transaction.atomic():
            run = Run.objects.select_for_update().filter(pk=run_id, ended_at__isnull=True).first()
            if run is not None:
                unattended.go_on(run, timezone.now())


@shared_task
def facts_arrived(node: str) -> None:
    """A node reported: look at the runs that wait for it, and at what ended runs left switched on there."""
    services.advance_from_facts(node)
    open_loops.close_by_facts(node)


@shared_task
def ring_due() -> None:
    """Every 2 s: ring what waits and is due. A run with hands in the rack is due every few seconds."""
    for run_id in Run.objects.filter(ended_at__isnull=True, status="waiting", due_at__lte=timezone.now()).values_list("pk", flat=True):
        tick.delay(run_id)


@shared_task
def answer_from_archives() -> None:
    """Every 5 s, and apart from `sweep`: reading an archive takes seconds, which nothing else waits for."""
    answers_from_recording.answer_all()


@shared_task
def sweep() -> None:
    """Every 15 s: end what ran out of time, ring every due run, and wake every agent that has an order waiting."""
    orders.sweep()
    ring_due()
    for run_id in unattended.due(timezone.now()):
        go_on.delay(run_id)
    for node in Order.objects.filter(status__in=("SEALED", "OFFERED")).values_list("node", flat=True).distinct():
        ring(f"orders:{node}")


def soon(task: Task, *ids: int | str) -> None:
    """Ring a task once the transaction has committed. A broker that is down costs time, nothing else: `sweep` comes."""
    transaction.on_commit(partial(task.delay, *ids), robust=True)

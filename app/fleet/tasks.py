"""What the worker does for the fleet. Beat rings every 15 seconds, and every minute for situations."""

from datetime import timedelta

from celery import shared_task
from django.db import transaction
from django.utils import timezone

from app.fleet import situations
from app.fleet.ingest import report_ledger_batching
from app.fleet.models import Node
from app.fleet.pages.rows import STALE_SECONDS
from app.realtime.publish import ring

EVERY_SECONDS = 15
SETTLE_SECONDS = 20  # of each minute; the worker has more to do


@shared_task
def notice_silence() -> None:
    """A node that falls silent rings for nothing itself; its pages must say so all the same. Twice is harmless."""
    since = timezone.now() - timedelta(seconds=STALE_SECONDS)
    silent = Node.objects.filter(last_report_at__lte=since, last_report_at__gt=since - timedelta(seconds=2 * EVERY_SECONDS))
    for name in silent.values_list("name", flat=True):
        ring(f"node:{name}")
        ring("fleet")


@shared_task
def record_moves() -> None:
    """Write into the ledger what has waited for its minute and was followed by nothing. Twice is harmless."""
    waiting = Node.objects.filter(report__pending_since__lte=timezone.now() - timedelta(seconds=report_ledger_batching.TOGETHER_SECONDS))
    for pk in waiting.values_list("pk", flat=True):
        with transaction.atomic():
            # Who takes a report in holds the node, and records what waits itself.
            mine = waiting.select_for_update(of=["self"], no_key=True, skip_locked=True).select_related("report").filter(pk=pk).first()
            if mine is not None:
                report_ledger_batching.record_waiting(mine.report)


@shared_task
def settle_situations() -> None:
    situations.settle_all(timezone.now(), SETTLE_SECONDS)

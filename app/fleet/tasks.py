"""What the worker does for the fleet. Beat rings every 15 seconds."""

from datetime import timedelta

from celery import shared_task
from django.utils import timezone

from app.doorbell import ring
from app.fleet.models import Node
from app.fleet.rows import STALE_SECONDS

EVERY_SECONDS = 15


@shared_task
def notice_silence() -> None:
    """A node that falls silent rings for nothing itself; its pages must say so all the same. Twice is harmless."""
    since = timezone.now() - timedelta(seconds=STALE_SECONDS)
    silent = Node.objects.filter(last_report_at__lte=since, last_report_at__gt=since - timedelta(seconds=2 * EVERY_SECONDS))
    for name in silent.values_list("name", flat=True):
        ring(f"node:{name}")
        ring("fleet")

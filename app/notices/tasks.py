"""What the worker does for notices. Beat rings every ten seconds; a ring lost, late or repeated does no harm."""

from datetime import datetime, timedelta

from celery import shared_task
from django.utils import timezone

from app.notices import delivering, spreading, watching
from app.notices.models import Happening, Notice

KEPT_DAYS = 90  # the ledger keeps who was told what for ever


@shared_task
def sweep() -> None:
    now = timezone.now()
    watching.look(now)
    spreading.spread(now)
    spreading.release(now)
    for pk in delivering.due(now):
        deliver.delay(pk)
    _forget(now)


@shared_task
def deliver(notice: int) -> None:
    delivering.deliver(notice)


def _forget(now: datetime) -> None:
    """What is long past. What has lasted for all that time is told of once more."""
    old = now - timedelta(days=KEPT_DAYS)
    Notice.objects.filter(ended_at__lt=old).delete()
    Happening.objects.filter(spread_at__lt=old).delete()

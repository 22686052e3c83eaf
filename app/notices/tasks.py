"""What the worker does for notices. Beat rings every ten seconds; a ring lost, late or repeated does no harm."""

from datetime import datetime, timedelta

from celery import shared_task
from django.db.models import Exists, OuterRef, Value
from django.db.models.functions import Concat
from django.utils import timezone

from app import readiness
from app.notices import delivering, spreading, watching
from app.notices.kinds import ASKED
from app.notices.models import Happening, Incident, Notice

KEPT_DAYS = 90  # the ledger keeps who was sent what for ever


@shared_task
def sweep() -> None:
    now = timezone.now()
    readiness.parts()  # what `watching` then reports, as this process finds it
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
    """What is long past. What has lasted for all that time is sent once more, under the same key."""
    old = now - timedelta(days=KEPT_DAYS)
    lasting = Incident.objects.filter(channel=OuterRef("channel"), key=OuterRef("incident"))
    Notice.objects.filter(~Exists(lasting), ended_at__lt=old).delete()
    asked = Incident.objects.filter(about=Concat(Value(f"{ASKED}:"), OuterRef("key")))
    Happening.objects.filter(~Exists(asked), spread_at__lt=old).delete()

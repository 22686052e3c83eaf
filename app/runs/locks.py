"""What a run holds while it changes a node. Taken when an order is sealed, all or none; there is no time-out."""

from datetime import datetime

from django.conf import settings
from django.db import IntegrityError, connection, transaction

from app.runs.models import ResourceLock, Run

TAKING = 0x510754  # advisory lock: counting pools and taking one more must not interleave


class Held(Exception):
    """Somebody else holds it. The message says what, who, and what to do."""


def take(run: Run, keys: tuple[str, ...], now: datetime) -> int:
    """Hold all `keys`; returns the fencing number. Raises Held and holds nothing."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [TAKING])
        _keep_to_the_fleet_limit(run, keys)
        cursor.execute("SELECT nextval('runs_fence')")
        fence = cursor.fetchone()[0]
    try:
        with transaction.atomic():
            ResourceLock.objects.bulk_create(ResourceLock(key=key, run=run, fence=fence, taken_at=now) for key in sorted(keys))
    except IntegrityError:
        raise Held(_who_holds(keys)) from None
    return fence


def give_back(run: Run) -> None:
    ResourceLock.objects.filter(run=run).delete()


def _keep_to_the_fleet_limit(run: Run, keys: tuple[str, ...]) -> None:
    if not any(key.startswith("pool:") for key in keys):
        return
    busy = ResourceLock.objects.filter(key__startswith="pool:").exclude(run=run).exclude(key__in=keys).count()
    if busy >= settings.POOLS_IN_REPAIR_MAX:
        raise Held(
            f"{busy} pools of the fleet are in repair, and {settings.POOLS_IN_REPAIR_MAX} are allowed at once. Wait until one is done."
        )


def _who_holds(keys: tuple[str, ...]) -> str:
    held = ResourceLock.objects.filter(key__in=keys).select_related("run__requester").first()
    if held is None:
        return "Another run held what this one needs until just now. Try again."
    return f"Run {held.run_id} of {held.run.requester} holds {held.key}. Wait until it has ended."

"""What a run holds while it changes a node. Taken when an order is sealed, all or none; there is no time-out.

A person may take it over for another run. Then the fence rises, and what the first run had sealed can be neither claimed nor
started; see `takeover`.
"""

import re
from collections.abc import Collection
from datetime import datetime

from django.conf import settings
from django.db import IntegrityError, connection, transaction
from django.db.models import QuerySet

from app.realtime.publish import ring
from app.runs.models import ResourceLock, Run

TAKING = 0x510754  # advisory lock: counting pools and taking one more must not interleave
ONE_THING = re.compile(r"(?P<kind>[a-z]+):[^*?\s]+")
ONE_OF_EACH = ("pool", "disk")  # an order touches one at most; several disks only where its own parameters name each
OF_A_NODE = ("tunables", "modes")  # held of a node as a whole: two who change them at once learn nothing


class Held(Exception):
    """Another run holds it, or it cannot be held. The message says what, who, and what to do."""

    def __init__(self, message: str, keys: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.keys = keys


@transaction.atomic
def take(run: Run, keys: tuple[str, ...], now: datetime, several: Collection[str] = ()) -> int:
    """Hold all `keys`; returns the fencing number. `several`: WWIDs that the plan names together. Raises Held and holds nothing more than before."""
    check(keys, several)
    alone()
    _keep_to_the_fleet_limit(run, keys)
    fence = next_fence()
    try:
        with transaction.atomic():
            ResourceLock.objects.filter(run=run, key__in=keys).delete()  # what was taken over for it, under an older fence
            ResourceLock.objects.bulk_create(ResourceLock(key=key, run=run, fence=fence, taken_at=now) for key in sorted(keys))
    except IntegrityError:
        raise Held(_who_holds(run, keys), keys) from None
    ring(f"node:{run.node}")
    return fence


def alone() -> None:
    """No other process takes locks until this transaction ends. Asked for before any lock is touched, else two takers wait for each other."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [TAKING])


def next_fence() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT nextval('runs_fence')")
        (fence,) = cursor.fetchone()
    return int(fence)


def check(keys: tuple[str, ...], several: Collection[str] = ()) -> None:
    """Raises Held for an empty or wildcard target, and for an order that would touch two pools, or a second disk that is not one of `several`."""
    found = [match for key in keys if (match := ONE_THING.fullmatch(key))]
    if not keys or len(found) < len(keys) or len(set(keys)) != len(keys):
        raise Held("What exactly this order touches is not known, so nothing is locked and nothing sealed. Have the node look again.")
    named = all(key.removeprefix("disk:") in several for key in keys if key.startswith("disk:"))
    for kind in ONE_OF_EACH:
        if not (kind == "disk" and named) and sum(match["kind"] == kind for match in found) > 1:
            raise Held(f"One order touches one {kind}, and this one would touch several. Make a run for each.")


def give_back(run: Run) -> None:
    if ResourceLock.objects.filter(run=run).delete()[0]:
        ring(f"node:{run.node}")


def _keep_to_the_fleet_limit(run: Run, keys: tuple[str, ...]) -> None:
    if not any(key.startswith("pool:") for key in keys):
        return
    others = (
        ResourceLock.objects.filter(key__startswith="pool:")
        .exclude(run=run)
        .exclude(key__in=keys)
        .select_related("run")
        .order_by("taken_at")
    )
    if len(others) >= settings.POOLS_IN_REPAIR_MAX:
        who = ", ".join(f"run {lock.run_id} ({lock.run.params.get('pool', lock.key)})" for lock in others[:5])
        raise Held(
            f"{len(others)} pools of the fleet are in repair, and {settings.POOLS_IN_REPAIR_MAX} are allowed at once: {who}. "
            "Wait until one is done."
        )


def _who_holds(run: Run, keys: tuple[str, ...]) -> str:
    held = holders(run, keys).first()
    if held is None:
        return "Another run held what this one needs until just now. Try again."
    return f"Run {held.run_id} of {held.run.requester} holds {held.key} since {held.taken_at:%H:%M:%S} UTC. Wait until it has ended, or take over from it."


def holders(run: Run, keys: tuple[str, ...]) -> QuerySet[ResourceLock]:
    """What of `keys` other runs hold."""
    return ResourceLock.objects.filter(key__in=keys).exclude(run=run).select_related("run__requester")

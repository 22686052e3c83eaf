"""The life of a notice: taken, sent, and delivered, tried again later, or given up in the open.

It is taken in one transaction and ended in another, with the sending between them: who dies in the middle leaves a notice that is
taken again when its time is up. So it may come twice, under the same reference, and it is never lost.
"""

import logging
from datetime import datetime, timedelta

from django.conf import settings
from django.db import DatabaseError, transaction
from django.utils import timezone

from app.doorbell import ring
from app.ledger import services as ledger
from app.notices import sending
from app.notices.models import Notice

LEASE_SECONDS = 120  # longer than any sending takes
AGAIN_SECONDS = (30, 120, 600, 1800, 3600, 7200)  # after each try that failed; then it is given up
log = logging.getLogger(__name__)


def due(now: datetime) -> list[int]:
    States = Notice.State
    return list(
        Notice.objects.filter(state__in=(States.WAITING, States.SENDING), next_at__lte=now).order_by("pk").values_list("pk", flat=True)
    )


def deliver(pk: int) -> None:
    """Harmless however often it is rung: only who takes the notice sends it."""
    notice = _take(pk, timezone.now())
    if notice is None:
        return
    if notice.attempts > len(AGAIN_SECONDS) + 1:
        tried = sending.Tried(False, "Whoever sent it died in the middle, each time. The worker's log says why.")
    elif notice.channel.is_on:
        tried = sending.send(notice.channel, notice.title, text(notice), notice.severity)
    else:
        tried = sending.Tried(False, "The channel is switched off.")
    _end(notice, tried, timezone.now())


def _take(pk: int, now: datetime) -> Notice | None:
    with transaction.atomic():
        mine = Notice.objects.select_for_update(of=["self"], skip_locked=True).select_related("channel")
        notice = mine.filter(pk__in=due(now)).filter(pk=pk).first()
        if notice is not None:
            notice.state, notice.attempts = Notice.State.SENDING, notice.attempts + 1
            notice.next_at = now + timedelta(seconds=LEASE_SECONDS)
            notice.save(update_fields=["state", "attempts", "next_at"])
        return notice


def text(notice: Notice) -> str:
    return f"{notice.body}\n\n{link(notice.path)}\nSlotlight notice {notice.pk}".strip()


def link(path: str) -> str:
    """Where it stands. A portal that was not told its own address says so, and does not guess."""
    return f"{settings.PORTAL_URL}{path}" if settings.PORTAL_URL else f"In the portal: {path} (set SLOTLIGHT_URL and this becomes a link)"


def _end(notice: Notice, tried: sending.Tried, now: datetime) -> None:
    States = Notice.State
    again = not tried.sent and notice.channel.is_on and notice.attempts <= len(AGAIN_SECONDS)
    notice.state = States.SENT if tried.sent else States.WAITING if again else States.FAILED
    notice.reason = tried.reason
    notice.next_at = now + timedelta(seconds=AGAIN_SECONDS[notice.attempts - 1]) if again else None
    notice.ended_at = None if again else now
    notice.save(update_fields=["state", "reason", "next_at", "ended_at"])
    if not again:
        _record(notice)
    ring("notices")


def _record(notice: Notice) -> None:
    """Who was told what, and when. A notice that the ledger is broken is sent all the same."""
    what = "notice.delivered" if notice.state == Notice.State.SENT else "notice.not-delivered"
    said = {"notice": notice.pk, "channel": notice.channel.name, "kind": notice.kind, "title": notice.title, "reason": notice.reason}
    try:
        with transaction.atomic():
            ledger.record(what, said | {"tries": notice.attempts}, "portal", run=str(notice.run or ""), node=notice.node)
    except (ledger.LedgerDown, DatabaseError):
        log.exception("The ledger could not be told of notice %s.", notice.pk)

"""The life of a notice: taken, sent, and delivered, tried again later, or given up in the open.

It is taken in one transaction and ended in another, with the sending between them: who dies in the middle leaves a notice that is
taken again when its time is up. So it may come twice, under the same reference, and it is never lost.
"""

import logging
from datetime import datetime, timedelta

from django.conf import settings
from django.db import DatabaseError, transaction
from django.utils import timezone

from app.fleet.severity import SEVERITY_WORDS
from app.ledger import services as ledger
from app.notices import lasting, sending
from app.notices.models import Channel, Notice
from app.realtime.publish import ring

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
    stands = lasting.standing(notice)
    state = lasting.state(notice, stands)
    if notice.attempts > len(AGAIN_SECONDS) + 1:
        tried = sending.Tried(False, "Each time, the process that sent it ended before it was done. The reason is in the worker's log.")
    elif notice.channel.is_on:
        letter = sending.Letter(_title(notice, state), text(notice, state, len(stands)), notice.severity, state, notice.incident)
        tried = sending.send(notice.channel, letter)
    else:
        tried = sending.Tried(False, "The channel is switched off.")
    _end(notice, tried, timezone.now(), state)


def _take(pk: int, now: datetime) -> Notice | None:
    """One at a time of what is sent under one key: else what was worded earlier could arrive later, and end what has begun anew."""
    with transaction.atomic():
        list(Channel.objects.select_for_update(no_key=True).filter(notices=pk))
        mine = Notice.objects.select_for_update(of=["self"], skip_locked=True).select_related("channel")
        notice = mine.filter(pk__in=due(now)).filter(pk=pk).first()
        if notice is not None and notice.incident:
            same = Notice.objects.filter(channel=notice.channel_id, incident=notice.incident, state=Notice.State.SENDING, next_at__gt=now)
            if same.exclude(pk=pk).exists():
                return None
        if notice is not None:
            notice.state, notice.attempts = Notice.State.SENDING, notice.attempts + 1
            notice.next_at = now + timedelta(seconds=LEASE_SECONDS)
            notice.save(update_fields=["state", "attempts", "next_at"])
        return notice


def _title(notice: Notice, state: str) -> str:
    """An end names itself; what comes so late that it is over says so."""
    word = "over" if state == lasting.RESOLVED else SEVERITY_WORDS[notice.severity]
    return notice.title if notice.ends and state == lasting.RESOLVED else f"[{word}] {notice.title}"


def text(notice: Notice, state: str = "", stands: int = 0) -> str:
    more = ""
    if notice.ends and state == lasting.FIRING:
        more = f"\n{stands} more of what was sent with it still stand{'s' if stands == 1 else ''}."
    elif state == lasting.RESOLVED and not notice.ends:
        more = "\nIt is over by now."
    return f"{notice.body}{more}\n\n{link(notice.path)}\nSlotlight notice {notice.pk}".strip()


def link(path: str) -> str:
    """Where it stands. A portal that is not configured with its own address says so, and does not guess."""
    return f"{settings.PORTAL_URL}{path}" if settings.PORTAL_URL else f"In the portal: {path} (set SLOTLIGHT_URL and this becomes a link)"


def _end(notice: Notice, tried: sending.Tried, now: datetime, state: str) -> None:
    States = Notice.State
    again = not tried.sent and notice.channel.is_on and notice.attempts <= len(AGAIN_SECONDS)
    notice.state = States.SENT if tried.sent else States.WAITING if again else States.FAILED
    notice.reason = tried.reason
    notice.next_at = now + timedelta(seconds=AGAIN_SECONDS[notice.attempts - 1]) if again else None
    notice.ended_at = None if again else now
    notice.save(update_fields=["state", "reason", "next_at", "ended_at"])
    if not again:
        _record(notice, state)
    ring("notices")


def _record(notice: Notice, state: str) -> None:
    """Who was sent what, and when. A notice that the ledger is broken is sent all the same."""
    what = "notice.delivered" if notice.state == Notice.State.SENT else "notice.not-delivered"
    fields = {"notice": notice.pk, "channel": notice.channel.name, "kind": notice.kind, "title": notice.title, "reason": notice.reason}
    fields |= {"state": state, "incident": notice.incident} if state else {}
    try:
        with transaction.atomic():
            ledger.record(what, fields | {"tries": notice.attempts}, "portal", run=str(notice.run or ""), node=notice.node)
    except (ledger.LedgerDown, DatabaseError):
        log.exception("Notice %s could not be recorded in the ledger.", notice.pk)

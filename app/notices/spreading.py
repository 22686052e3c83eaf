"""From the outbox to notices: happenings are read, folded and addressed. One at a time, however many workers there are."""

import logging
from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime, timedelta

from django.db import DatabaseError, connection, transaction

from app.doorbell import ring
from app.fleet.models import Node
from app.fleet.severity import rank
from app.notices.folding import Before, Message, Told, messages, together
from app.notices.kinds import KINDS, Said, when
from app.notices.models import Channel, Happening, Notice
from app.notices.quiet import Quiet, next_digest

LOCK = 0x510_4E07
GATHER_SECONDS = 10  # a storm is let come in before it is told of
AT_ONCE = 2000
log = logging.getLogger(__name__)


def spread(now: datetime) -> None:
    with transaction.atomic():
        if not _mine():
            return
        waiting = list(Happening.objects.filter(spread_at__isnull=True)[:AT_ONCE])
        if not waiting or waiting[0].at > now - timedelta(seconds=GATHER_SECONDS):
            return
        told = [one for happening in waiting if (one := _read(happening))]
        teams = dict(Node.objects.filter(name__in={one.node for one in told}).values_list("name", "team_id"))
        for channel in Channel.objects.filter(is_on=True):
            address(channel, [one for one in told if _concerns(channel, one, teams)], now)
        Happening.objects.filter(pk__in=[happening.pk for happening in waiting]).update(spread_at=now)
        ring("notices")


def _mine() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [LOCK])
        return cursor.fetchone()[0]


def _read(happening: Happening) -> Told | None:
    """In words, if it is still so. One that cannot be worded is told of as it is, and silences no other."""
    try:
        said = KINDS[happening.kind](happening)
    except DatabaseError:
        raise
    except Exception:
        log.exception("There are no words for %s.", happening.key)
        lines = (f"The portal has no words for it. It came at {when(happening.at)}. The worker's log says more.",)
        said = Said(f"Something happened: {happening.kind}", lines, "/", fold=happening.key)
    return Told(happening.kind, happening.key, happening.node, happening.run, said) if said else None


def _concerns(channel: Channel, told: Told, teams: Mapping[str, int | None]) -> bool:
    """What belongs to no node concerns everybody."""
    is_near = channel.team_id is None or not told.node or teams.get(told.node) == channel.team_id
    return is_near and rank(told.said.severity) <= rank(channel.severity)


def address(channel: Channel, told: list[Told], now: datetime) -> None:
    for message in messages(told, _before(channel)):
        _keep(channel, message, now)


def _before(channel: Channel) -> Before:
    def before(fold: str) -> tuple[int, str] | None:
        bad = Notice.objects.filter(channel=channel, fold=fold).exclude(kind="situation-closed")
        return bad.order_by("-pk").values_list("pk", "severity").first()

    return before


def _keep(channel: Channel, message: Message, now: datetime) -> Notice:
    folded = message.into is not None
    until = None if folded else _held_until(channel, message, now)
    notice, made = Notice.objects.get_or_create(
        channel=channel,
        key=message.key,
        defaults={
            **{name: getattr(message, name) for name in ("kind", "fold", "severity", "urgent", "title", "path", "node", "run")},
            "body": "\n".join(line for line in message.lines if line),
            "at": now,
            "state": Notice.State.FOLDED if folded else Notice.State.WAITING,
            "next_at": None if folded else until or now,
            "held": until is not None,
            "into_id": message.into,
            "ended_at": now if folded else None,
        },
    )
    for carried in message.carried if made else ():
        _carry(_keep(channel, carried, now), notice, now)
    return notice


def _carry(notice: Notice, into: Notice, now: datetime) -> None:
    notice.state, notice.into, notice.next_at, notice.held, notice.ended_at = Notice.State.FOLDED, into, None, False, now
    notice.save(update_fields=["state", "into", "next_at", "held", "ended_at"])


def _held_until(channel: Channel, message: Message, now: datetime) -> datetime | None:
    if message.daily:
        return next_digest(channel.zone, now)
    if not (channel.quiet_from and channel.quiet_until) or (channel.urgent_passes and message.urgent and message.severity == "act"):
        return None
    return Quiet(channel.quiet_from, channel.quiet_until, channel.zone).until(now)


def release(now: datetime) -> None:
    """What quiet hours held back is told as one message when they are over, and what keeps until the day's digest with it."""
    with transaction.atomic():
        if not _mine():
            return
        held: dict[Channel, list[Notice]] = defaultdict(list)
        due = Notice.objects.filter(state=Notice.State.WAITING, held=True, next_at__lte=now)
        for notice in due.select_related("channel").order_by("pk"):
            held[notice.channel].append(notice)
        for channel, notices in held.items():
            _release(channel, notices, now)


def _release(channel: Channel, notices: list[Notice], now: datetime) -> None:
    if len(notices) > 1:
        how = "from the quiet hours" if channel.quiet_from else "of the day"
        one = _keep(channel, together([_again(notice) for notice in notices], how), now)
        for notice in notices:
            _carry(notice, one, now)
    Notice.objects.filter(pk__in=[notice.pk for notice in notices]).update(held=False)


def _again(notice: Notice) -> Message:
    said = {name: getattr(notice, name) for name in ("kind", "key", "fold", "severity", "urgent", "title", "path", "node", "run")}
    return Message(**said, lines=())

"""From the outbox to notices: happenings are read, folded and addressed. One at a time, however many workers there are."""

import logging
from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime, timedelta

from django.db import DatabaseError, connection, transaction

from app.fleet.models import Node
from app.fleet.severity import rank
from app.notices import lasting, pagers
from app.notices.folding import Before, Entry, Message, goes_alone, messages, together
from app.notices.kinds import KINDS, Content, when
from app.notices.models import Channel, Happening, Incident, Notice
from app.notices.quiet import Quiet, next_digest
from app.realtime.publish import ring

LOCK = 0x510_4E07
GATHER_SECONDS = 10  # a storm is let come in before it is sent
AT_ONCE = 2000
log = logging.getLogger(__name__)


def spread(now: datetime) -> None:
    with transaction.atomic():
        if not _mine():
            return
        waiting = list(Happening.objects.filter(spread_at__isnull=True)[:AT_ONCE])
        if not waiting:
            return settle(now)
        if waiting[0].at > now - timedelta(seconds=GATHER_SECONDS):
            return
        entries = [one for happening in waiting if (one := _read(happening))]
        teams = dict(Node.objects.filter(name__in={one.node for one in entries}).values_list("name", "team_id"))
        for channel in Channel.objects.filter(is_on=True):
            address(channel, [one for one in entries if one.content.ends or _concerns(channel, one, teams)], now)
        Happening.objects.filter(pk__in=[happening.pk for happening in waiting]).update(spread_at=now)
        ring("notices")


def _mine() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [LOCK])
        (locked,) = cursor.fetchone()
    return bool(locked)


def _read(happening: Happening) -> Entry | None:
    """In words, if it is still so. One that cannot be worded is sent as it is, and silences no other."""
    try:
        content = KINDS[happening.kind](happening)
    except DatabaseError:
        raise
    except Exception:
        log.exception("There are no words for %s.", happening.key)
        lines = (f"The portal has no words for it. It came at {when(happening.at)}. The worker's log has more.",)
        content = Content(f"Something happened: {happening.kind}", lines, "/", fold=happening.key)
    return Entry(happening.kind, happening.key, happening.node, happening.run, content) if content else None


def _concerns(channel: Channel, entry: Entry, teams: Mapping[str, int | None]) -> bool:
    """What belongs to no node concerns everybody."""
    is_near = channel.team_id is None or not entry.node or teams.get(entry.node) == channel.team_id
    return is_near and rank(entry.content.severity) <= rank(channel.severity)


class Book(lasting.Book):
    """With the notices themselves, for folding."""

    def folded(self, fold: str) -> Before | None:
        return _before(Notice.objects.filter(channel=self.channel, fold=fold, ends=False).order_by("-pk").first())

    def last(self, incident: str) -> Before | None:
        return _before(Notice.objects.filter(channel=self.channel, incident=incident, ends=False).order_by("-pk").first())


def _before(notice: Notice | None) -> Before | None:
    return Before(notice.pk, notice.severity, notice.incident) if notice else None


def address(channel: Channel, entries: list[Entry], now: datetime) -> None:
    """An end goes to whoever got the beginning, also where the severity or the team has changed since."""
    service = pagers.of(channel)
    book = Book(channel, service.keeps_incidents)
    for message in messages(entries, book):
        if not (message.ends and service.only_opens):
            _keep(channel, message, now, book.alone)
    ended = {book.known[one.content.about] for one in entries if one.content.ends and one.content.about in book.known}
    Incident.objects.filter(channel=channel, key__in=ended - book.lasts).delete()


def settle(now: datetime) -> None:
    """End what has no end of its own: a wish for an approval that was judged, a word that was only in a digest. A person needs no message of
    that; a service that keeps incidents does, or they stay open."""
    books = [
        Book(channel, pagers.of(channel).keeps_incidents)
        for channel in Channel.objects.filter(is_on=True, incidents__isnull=False).distinct()
    ]
    if Happening.objects.filter(spread_at__isnull=True).exists():
        return  # what came between may report such an end itself
    for book in books:
        ended = set(book.known.values()) - book.lasts
        for key in sorted(ended) if book.alone else ():
            _keep(book.channel, _silent_end(book, key, now), now, book.alone)
        Incident.objects.filter(channel=book.channel, key__in=ended).delete()


def _silent_end(book: Book, key: str, now: datetime) -> Message:
    last = Notice.objects.filter(channel=book.channel, incident=key, ends=False).order_by("-pk").first()
    title, severity, path, node, run = (last.title, last.severity, last.path, last.node, last.run) if last else (key, "info", "/", "", None)
    lines = ("What this notice reported is over.",)
    first = ("over", f"over:{key}:{now.isoformat()}", "", severity, False, f"Over: {title}", lines, path, node, run)
    return Message(
        *first, ends=True, incident=key, members=tuple(about for about, known in book.known.items() if known == key), is_known=True
    )


COPIED = ("kind", "fold", "severity", "urgent", "title", "path", "node", "run", "incident", "members", "ends")


def _keep(channel: Channel, message: Message, now: datetime, alone: bool) -> Notice:
    folded = message.into is not None
    until = None if folded or (alone and message.ends) else _held_until(channel, message, now)
    notice, made = Notice.objects.get_or_create(
        channel=channel,
        key=message.key,
        defaults={
            **{name: getattr(message, name) for name in COPIED},
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
        _carry(_keep(channel, carried, now, alone), notice, carried.incident, now)
    if not message.ends and not message.carried:
        lasting.keep(channel, message.members, message.incident)
    return notice


def _carry(notice: Notice, into: Notice, incident: str, now: datetime) -> None:
    notice.state, notice.into, notice.next_at, notice.held, notice.ended_at = Notice.State.FOLDED, into, None, False, now
    notice.incident = incident
    notice.save(update_fields=["state", "into", "next_at", "held", "ended_at", "incident"])


def _held_until(channel: Channel, message: Message, now: datetime) -> datetime | None:
    if message.daily:
        return next_digest(channel.zone, now)
    if not (channel.quiet_from and channel.quiet_until) or (channel.urgent_passes and message.urgent and message.severity == "act"):
        return None
    return Quiet(channel.quiet_from, channel.quiet_until, channel.zone).until(now)


def release(now: datetime) -> None:
    """What quiet hours held back is sent as one message when they are over, and what keeps until the day's digest with it."""
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
    alone = pagers.of(channel).keeps_incidents
    again = [_again(notice, notices) for notice in notices]
    carried = [message for message in again if not goes_alone(message, alone)]
    if len(carried) > 1:
        one = _keep(channel, together(carried, "from the quiet hours" if channel.quiet_from else "of the day"), now, alone)
        new = [message.incident for message in carried if not message.is_known]
        Incident.objects.filter(channel=channel, key__in=new).update(key=one.incident)
    Notice.objects.filter(pk__in=[notice.pk for notice in notices]).update(held=False)


def _again(notice: Notice, held: list[Notice]) -> Message:
    others = Notice.objects.filter(channel=notice.channel, incident=notice.incident).exclude(pk__in=[one.pk for one in held])
    again = {name: getattr(notice, name) for name in COPIED} | {"members": tuple(notice.members)}
    return Message(**again, key=notice.key, lines=(), is_known=bool(notice.incident) and others.exists())

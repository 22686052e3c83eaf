"""What administrators do with channels and hooks, each recorded in the ledger with everything but the secret."""

import hashlib
import secrets
import uuid
from typing import Any

from django.db import transaction
from django.utils import timezone

from app.accounts.models import User
from app.ledger import services as ledger
from app.notices import sending
from app.notices.models import Channel, Hook, Notice
from app.realtime.publish import ring

SHOWN = ("name", "severity", "service", "zone", "urgent_passes", "is_on")


def keep(channel: Channel, url: str, user: User) -> Channel:
    """A new channel, or a changed one; an empty `url` keeps the one there is. Raises sending.BadURL, LedgerDown."""
    ledger.refuse_if_broken()
    is_new = channel.pk is None
    if is_new:
        channel.mark, channel.created_at, channel.created_by = uuid.uuid4().hex, timezone.now(), user
    if url:
        channel.service, channel.url = sending.shown(url), sending.seal(url, channel.mark)
    with transaction.atomic():
        channel.save()
        ring("notices")
        described_as = described(channel) | {"url": "new" if url else "kept"}
        ledger.record("channel.added" if is_new else "channel.changed", described_as, user.username)
    return channel


def described(channel: Channel) -> dict[str, Any]:
    """A channel as the ledger may know it."""
    quiet = f"{channel.quiet_from:%H:%M} to {channel.quiet_until:%H:%M}" if channel.quiet_from else ""
    values = {name: str(getattr(channel, name)) for name in SHOWN}
    return {"channel": channel.pk, **values, "team": str(channel.team or ""), "quiet": quiet}


def remove(channel: Channel, user: User) -> None:
    """With its notices. Who was sent what through it stays in the ledger."""
    ledger.refuse_if_broken()
    with transaction.atomic():
        described_as = described(channel)
        channel.delete()
        ring("notices")
        ledger.record("channel.removed", described_as, user.username)


def try_out(channel: Channel, user: User) -> Notice:
    """Send a test through the worker, as every notice goes; what comes back stands on the channel's page."""
    ledger.refuse_if_broken()
    now = timezone.now()
    with transaction.atomic():
        notice = Notice.objects.create(
            channel=channel,
            kind="test",
            key=f"test:{uuid.uuid4().hex}",
            severity="info",
            title=f"A test of the channel {channel.name}",
            body=f"{user.username} asked for it at {now:%Y-%m-%d %H:%M} UTC. Nothing is wrong, and nothing is to be done.",
            path=channel.get_absolute_url(),
            at=now,
            next_at=now,
        )
        ring("notices")
        ledger.record("channel.tested", {"channel": channel.pk, "name": channel.name, "notice": notice.pk}, user.username)
    return notice


def send_again(notice: Notice, user: User) -> None:
    """A notice that was given up, from the first try on."""
    ledger.refuse_if_broken()
    with transaction.atomic():
        given_up = Notice.objects.select_for_update().filter(pk=notice.pk, state=Notice.State.FAILED)
        if given_up.update(state=Notice.State.WAITING, attempts=0, next_at=timezone.now(), ended_at=None):
            ring("notices")
            ledger.record("notice.sent-again", {"notice": notice.pk, "channel": notice.channel.name}, user.username, node=notice.node)


# --- hooks


def hashed(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def add_hook(hook: Hook, user: User) -> str:
    """The token, which is shown once."""
    ledger.refuse_if_broken()
    token = secrets.token_urlsafe(32)
    hook.token_hash, hook.created_at, hook.created_by = hashed(token), timezone.now(), user
    with transaction.atomic():
        hook.save()
        ledger.record("hook.added", {"hook": hook.pk, "name": hook.name, "team": str(hook.team or "")}, user.username)
    return token


def revoke_hook(hook: Hook, user: User) -> None:
    """Its token opens nothing any more, and what came through it and was not resolved is over: no end would ever come."""
    ledger.refuse_if_broken()
    now = timezone.now()
    with transaction.atomic():
        hook.revoked_at = now
        hook.save(update_fields=["revoked_at"])
        ended = hook.alerts.filter(resolved_at=None).update(resolved_at=now)
        for topic in ("fleet", "notices"):
            ring(topic)
        ledger.record("hook.revoked", {"hook": hook.pk, "name": hook.name, "ended": ended}, user.username)

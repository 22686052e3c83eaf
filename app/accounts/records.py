"""Signing in and out, and what proves a person, as the ledger keeps it.

Looking must stay possible when the ledger cannot be written, so a sign-in does not fail with it. Changing what proves a person does:
those views run in one transaction with their record, see `app.accounts.changing`.
"""

import logging
from typing import Any

from allauth.core import context
from allauth.mfa.models import Authenticator
from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.models import Session
from django.db import DatabaseError, transaction
from django.http import HttpRequest

from app.accounts import encrypted_sessions, known, throttle
from app.accounts.models import User
from app.ledger import services as ledger
from app.realtime.publish import ring, sessions_of

log = logging.getLogger(__name__)


def signed_in(sender: object, request: HttpRequest | None, user: User, **_: object) -> None:
    name = user.get_username()
    throttle.forget(name, *throttle.where(name, request))
    if request is not None:
        known.remember(name, request)
    _record("person.signed-in", user.get_username(), request)


def signed_out(sender: object, request: HttpRequest | None, user: User | None, **_: object) -> None:
    if user is not None:
        _record("person.signed-out", user.get_username(), request)


def session_ended(sender: object, instance: Session, **_: object) -> None:
    """However it ended: the pages it left open must not go on hearing what changes."""
    if person := encrypted_sessions.read(instance.session_data).get(SESSION_KEY):
        ring(sessions_of(int(person)))


def proved(name: str, request: HttpRequest) -> None:
    """The password, a code or a passkey once more, for something that asks for it."""
    _record("person.proved", name, request)


def failed(sender: object, credentials: dict[str, Any], request: HttpRequest | None = None, **_: object) -> None:
    """Only names that exist: what else is typed into that field is sometimes a password."""
    name = str(credentials.get("username", ""))
    if User.objects.filter(username=name).exists():
        _record("person.sign-in-failed", name, request)


def factor_failed(sender: object, request: HttpRequest, user: User, authenticator: Authenticator, **_: object) -> None:
    """A wrong code after a right password: another person has that password."""
    throttle.failed(user.get_username(), *throttle.where(user.get_username(), request))
    _record("person.sign-in-failed", user.get_username(), request, {"at": authenticator.type})


def factor_saved(sender: object, instance: Authenticator, created: bool, **_: object) -> None:
    """With the row, not after COMMIT: a factor that the ledger does not know of must not come to be."""
    if created:
        _change("person.factor-added", instance)


def factor_deleted(sender: object, instance: Authenticator, **_: object) -> None:
    _change("person.factor-removed", instance)


def password_changed(sender: object, request: HttpRequest, user: User, **_: object) -> None:
    ledger.record("person.password-changed", {"of": user.get_username(), "from": address(request)}, request.user.get_username())
    ring(sessions_of(user.pk))  # every other session of this person is worth nothing now


def _change(what: str, factor: Authenticator) -> None:
    """By whom, which may be an administrator; raises LedgerDown, and the change is undone with it."""
    request = context.request
    who = getattr(request, "user", None)
    body = {"of": factor.user.get_username(), "type": factor.type, "name": factor.data.get("name", ""), "from": address(request)}
    ledger.record(what, body, (who.get_username() if who else "") or "portal")


def address(request: HttpRequest | None) -> str:
    found: str = request.META.get("REMOTE_ADDR", "") if request is not None else ""
    return found


def _record(what: str, name: str, request: HttpRequest | None, more: dict[str, Any] | None = None) -> None:
    try:
        with transaction.atomic():
            ledger.record(what, {"from": address(request), **(more or {})}, name)
    except (ledger.LedgerDown, DatabaseError):
        log.exception("The ledger could not record that of %s: %s.", name, what)

"""Signing in and out, as the ledger keeps it.

Looking must stay possible when the ledger cannot be written, so a sign-in does not fail with it; acting does.
"""

import logging

from django.db import DatabaseError, transaction

from app.accounts.models import User
from app.ledger import services as ledger

log = logging.getLogger(__name__)


def signed_in(sender, request, user, **_) -> None:
    _record("person.signed-in", user.get_username(), request)


def signed_out(sender, request, user, **_) -> None:
    if user is not None:
        _record("person.signed-out", user.get_username(), request)


def proved(name: str, request) -> None:
    """The password was typed again, for something that asks for it."""
    _record("person.proved", name, request)


def failed(sender, credentials, request=None, **_) -> None:
    """Only names that exist: what else is typed into that field is sometimes a password."""
    name = str(credentials.get("username", ""))
    if User.objects.filter(username=name).exists():
        _record("person.sign-in-failed", name, request)


def _record(what: str, name: str, request) -> None:
    address = request.META.get("REMOTE_ADDR", "") if request is not None else ""
    try:
        with transaction.atomic():
            ledger.record(what, {"from": address}, name)
    except (ledger.LedgerDown, DatabaseError):
        log.exception("The ledger could not be told that of %s: %s.", name, what)

"""Making, finding and revoking tokens. Making, first using and revoking stand in the ledger; so does every act a token is used for (`app.api.acting`).

A row that this portal did not write opens nothing; see `app.accounts.seals`.
"""

import re
import secrets
from datetime import datetime, timedelta
from hashlib import sha256

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from app.accounts import sealing, seals
from app.accounts.models import User
from app.accounts.proof import FRESH_SECONDS, is_fresh
from app.accounts.signed_in import people
from app.api.models import Token
from app.api.scopes import ACTING, why_not
from app.core.compiled_queries import ModelsWrittenOnce
from app.ledger import looking
from app.ledger import services as ledger

FIELDS = ("id", "person_id", "name", "prefix", "digest", "scopes", "bound", "made_at", "proved_at", "expires_at", "revoked_at")
(KIND,) = seals.register(seals.Kind(Token, "token", "person_id", FIELDS))
FORM = re.compile(r"slt_([0-9a-f]{12})_[A-Za-z0-9_-]{43}")
SEEN_EVERY = timedelta(minutes=1)
OPEN_MAX = 20  # of one person; more are forgotten ones
HERE = "Make one on the page Account, tokens."


class NotMade(Exception):
    """No token was made; the text says why."""


class NotBelieved(Exception):
    """What was sent opens nothing; the text says why, and nothing about tokens of others."""


def make(person: User, name: str, scopes: list[str], lasts: timedelta, proved_at: datetime | None) -> tuple[Token, str]:
    """A new token and its text, which is never to be had again. Raises NotMade, LedgerDown."""
    ledger.refuse_if_broken()
    now = timezone.now()
    if why := why_not(scopes, lasts) or _why_no_more(person, now):
        raise NotMade(why)
    if proved_at is None or not is_fresh(proved_at, now):
        raise NotMade(f"Making a token needs your password, typed within the last {FRESH_SECONDS // 60} minutes.")
    prefix = secrets.token_hex(6)
    text = f"slt_{prefix}_{secrets.token_urlsafe(32)}"
    with transaction.atomic():
        token = Token.objects.create(
            person=person,
            name=name,
            prefix=prefix,
            digest=digest(text),
            scopes=sorted(set(scopes)),
            bound=_password(person) if ACTING & set(scopes) else "",
            made_at=now,
            proved_at=proved_at,
            expires_at=now + lasts,
        )
        body = {"identity": KIND.name(token.pk), "token": prefix, "name": name, "scopes": token.scopes, "expires_at": token.expires_at}
        ledger.record("token.made", body, person.username)
        sealing.bind(token)
    return token, text


def _why_no_more(person: User, now: datetime) -> str:
    if open_ones(person, now).count() < OPEN_MAX:
        return ""
    return f"You have {OPEN_MAX} tokens that open something. Revoke those you do not use any more."


def open_ones(person: User, now: datetime) -> QuerySet[Token]:
    return Token.objects.filter(person=person, revoked_at=None, expires_at__gt=now)


def listed(person: User) -> list[Token]:
    """Those that open something first, the rest of the last days after them."""
    now = timezone.now()
    found = list(Token.objects.filter(person=person).filter(Q(revoked_at=None) | Q(revoked_at__gt=now - timedelta(days=30)))[:100])
    return sorted(found, key=lambda token: (state(token, now) != "open", -token.made_at.timestamp()))


def is_open(token: Token) -> bool:
    return state(token, timezone.now()) == "open"


def state(token: Token, now: datetime) -> str:
    return "revoked" if token.revoked_at else "open" if token.expires_at > now else "expired"


def revoke(token: Token, by: User) -> None:
    """From now on it opens nothing. A broken ledger does not stop it: shutting out must always be possible."""
    with transaction.atomic():
        found = Token.objects.select_for_update().filter(pk=token.pk, revoked_at=None).first()
        if found is not None:
            found.revoked_at = timezone.now()
            found.save(update_fields=["revoked_at"])
            body = {"token": token.prefix, "name": token.name, "of": token.person.username}
            looking.record_if_possible("token.revoked", body, by.username)


@ModelsWrittenOnce
def _with_prefix(prefix: str) -> QuerySet[Token]:
    return seals.with_seals(Token.objects.filter(prefix=prefix), KIND)


def find(text: str) -> Token:
    """The token that was sent, and used now. Raises NotBelieved."""
    shaped = FORM.fullmatch(text)
    token = next(iter(_with_prefix(shaped.group(1))), None) if shaped else None
    if token is None or not secrets.compare_digest(token.digest, digest(text)):
        raise NotBelieved(f"This token is not known here. {HERE}")
    _not_forged(token)
    now = timezone.now()
    if token.revoked_at is not None:
        raise NotBelieved(f"The token {token.name} was revoked at {token.revoked_at:%Y-%m-%d %H:%M} UTC. {HERE}")
    if token.expires_at <= now:
        raise NotBelieved(f"The token {token.name} expired at {token.expires_at:%Y-%m-%d %H:%M} UTC. {HERE}")
    if not token.person.is_active:
        raise NotBelieved(f"The account {token.person.username} is switched off, and its tokens with it.")
    if token.bound and not secrets.compare_digest(token.bound, _password(token.person)):
        raise NotBelieved(
            f"The password of {token.person.username} was changed since the token {token.name} was made, and that ended it. {HERE}"
        )
    _seen(token, now)
    return token


def _not_forged(token: Token) -> None:
    """Token and person were both written by this portal. Raises NotBelieved; the alarm learns of it."""
    if seals.fault(KIND, seals.of_model(token)) and (why := seals.why_not(Token, pk=token.pk) or "It was changed just now."):
        raise NotBelieved(f"The token {token.name} is not accepted. {why}")
    person = seals.first_accepted(lambda: people(token.person_id))
    if person is None:
        raise NotBelieved(f"The account behind the token {token.name} is not accepted. {seals.HOW}")
    token.person = person


def _password(person: User) -> str:
    """Another value for each password, from which none is to be had."""
    return person.get_session_auth_hash()


def _seen(token: Token, now: datetime) -> None:
    """Its first use is an event, and so is each act by it (`app.api.acting`). A ledger that takes nothing does not stop looking."""
    if token.last_used_at is None:
        with transaction.atomic():
            if Token.objects.filter(pk=token.pk, last_used_at=None).update(last_used_at=now):
                looking.record_if_possible("token.first-used", {"token": token.prefix, "name": token.name}, token.person.username)
    elif now - token.last_used_at >= SEEN_EVERY:
        Token.objects.filter(pk=token.pk).update(last_used_at=now)


def digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()

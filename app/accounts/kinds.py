"""The tables of this app, and of those it builds on, whose rows are sealed. Groups and permissions of Django give nothing here, so they are not."""

from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.models import Session
from django.db.models import QuerySet
from django.utils import timezone

from app.accounts import encrypted_sessions
from app.accounts.models import Membership, User
from app.accounts.seals import Kind, register
from app.core.compiled_queries import Row


def has_person(values: Row) -> bool:
    """A session of a person, and not over by itself. What a browser does before a sign-in is no event."""
    _key, data, ends = values
    return ends > timezone.now() and SESSION_KEY in encrypted_sessions.read(data)


def open_sessions(rows: QuerySet[Session]) -> QuerySet[Session]:
    return rows.filter(expire_date__gt=timezone.now())


USER, MEMBERSHIP, FACTOR, LINK, SESSION = register(
    Kind(
        User,
        "account",
        "id",
        ("id", "username", "password", "is_active", "is_superuser", "is_staff", "factors", "changed", "counts_at"),
        later=2,
    ),
    Kind(Membership, "role", "user_id", ("id", "user_id", "team_id", "role", "from_groups", "given_by_id", "counts_at"), later=2),
    Kind(Authenticator, "factor", "user_id", ("id", "user_id", "type", "data", "created_at")),
    Kind(SocialAccount, "link to the identity provider", "user_id", ("id", "user_id", "provider", "uid")),
    Kind(Session, "session", "", ("session_key", "session_data", "expire_date"), hidden=True, is_event=has_person, live=open_sessions),
)

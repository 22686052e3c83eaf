"""A fresh proof: when the person in this browser last typed the password or a code, or used a passkey. Approving and giving orders ask
for a recent one.

It belongs to the session, so an unlocked screen somewhere else does not get fresh because its owner typed here.
"""

from datetime import UTC, datetime, timedelta

from allauth.mfa.models import Authenticator
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.utils import timezone

from app.accounts import believing, records, throttle
from app.accounts.asking import user_of
from app.accounts.models import User

FRESH_SECONDS = 900
PROVED = "proved_at"
ELSEWHERE = "proved_elsewhere_at"  # on the request, by app.accounts.sso: when the identity provider last saw the person prove it


def signed_in(sender: object, request: HttpRequest | None, user: User, **_: object) -> None:
    """Signing in is a proof, as old as whoever took it says."""
    if request is not None and hasattr(request, "session"):
        _note(request, getattr(request, ELSEWHERE, timezone.now()))


def step_completed(sender: object, request: HttpRequest, user: User, method: str, **fields: object) -> None:
    """A person who is signed in proved it once more on a page of django-allauth."""
    if fields.get("reauthenticated"):
        if why := believing.why_not(user):
            raise PermissionDenied(why)
        _note(request, timezone.now())
        records.proved(user.get_username(), request)


def proved_at(request: HttpRequest) -> datetime | None:
    """When this browser's person last proved who it is; None when nothing says so."""
    proved = request.session.get(PROVED)
    return datetime.fromtimestamp(proved, UTC) if isinstance(proved, int | float) else None


def is_fresh(at: datetime | None, now: datetime) -> bool:
    """A proof from the future is none: the clock was set."""
    return at is not None and timedelta(0) <= now - at <= timedelta(seconds=FRESH_SECONDS)


def prove(request: HttpRequest, typed: str) -> str:
    """Take the password, or a code of the authenticator app, once more; "" when it was right, else what to do. Wrong ones count like
    failed sign-ins."""
    user = user_of(request)
    name = user.get_username()
    where = throttle.where(name, request)
    if throttle.blocked(name, *where):
        return f"There were too many wrong passwords for {name} from here. Wait {throttle.PAUSE_SECONDS // 60} minutes."
    if why := believing.why_not(user):
        return why
    if not user.check_password(typed) and not _is_code(user, typed):
        throttle.failed(name, *where)
        records.failed(None, {"username": name}, request)
        return f"{_wanted(user)} Nothing was done."
    throttle.forget(name, *where)
    # The session keeps its key: this page's other requests are under way with it, and would come back as signed out.
    _note(request, timezone.now())
    records.proved(name, request)
    return ""


def lacks(request: HttpRequest, typed: str) -> str:
    """Empty when this browser's person has proved who it is just now, by `typed`, or lately; else what to do."""
    if typed:
        return prove(request, typed)
    return "" if is_fresh(proved_at(request), timezone.now()) else "Type your password once more. Nothing else is lost."


def _is_code(user: User, typed: str) -> bool:
    """A code of the app, which counts once. Recovery codes are for getting in, not for this."""
    app = Authenticator.objects.filter(user=user, type=Authenticator.Type.TOTP).first()
    return app is not None and bool(app.wrap().validate_code(typed))


def _wanted(user: User) -> str:
    has_app = Authenticator.objects.filter(user=user, type=Authenticator.Type.TOTP).exists()
    return "That is neither your password nor a code of your authenticator." if has_app else "That is not your password."


def _note(request: HttpRequest, at: datetime) -> None:
    request.session[PROVED] = at.timestamp()

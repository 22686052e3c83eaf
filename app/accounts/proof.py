"""A fresh sign-in: when the person in this browser last typed the password. Approving and giving orders ask for a recent one.

It belongs to the session, so an unlocked screen somewhere else does not get fresh because its owner typed here.
"""

from datetime import UTC, datetime, timedelta

from django.http import HttpRequest
from django.utils import timezone

from app.accounts import records, throttle

FRESH_SECONDS = 900
PROVED = "proved_at"


def signed_in(sender, request, user, **_) -> None:
    """Signing in is typing the password."""
    if request is not None and hasattr(request, "session"):
        _note(request)


def proved_at(request: HttpRequest) -> datetime | None:
    """When this browser's person last proved who it is; None when nothing says so."""
    said = request.session.get(PROVED)
    return datetime.fromtimestamp(said, UTC) if isinstance(said, int | float) else None


def is_fresh(at: datetime | None, now: datetime) -> bool:
    """A proof from the future is none: somebody set the clock."""
    return at is not None and timedelta(0) <= now - at <= timedelta(seconds=FRESH_SECONDS)


def prove(request: HttpRequest, password: str) -> str:
    """Take the password once more; "" when it was right, else what to do. Wrong ones count like failed sign-ins."""
    name, address = request.user.get_username(), request.META.get("REMOTE_ADDR", "")
    if throttle.blocked(name, address):
        return f"There were too many wrong passwords for {name} from here. Wait {throttle.PAUSE_SECONDS // 60} minutes."
    if not request.user.check_password(password):
        throttle.failed(name, address)
        records.failed(None, {"username": name}, request)
        return "That is not your password. Nothing was done."
    throttle.forget(name, address)
    # The session keeps its key: this page's other requests are under way with it, and would come back as somebody signed out.
    _note(request)
    records.proved(name, request)
    return ""


def _note(request: HttpRequest) -> None:
    request.session[PROVED] = timezone.now().timestamp()

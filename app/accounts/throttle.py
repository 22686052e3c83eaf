"""Slows down whoever guesses passwords or codes: some failures, then a pause.

What comes from a browser in which the person has signed in before is counted by itself, and the failures of others do not stop it. All else is
counted for the name at the address, for the address, and for the name: the last two stop who goes through many names, or comes from many
addresses. The counts live in Valkey. When that is down no person is locked out: the page must work at 3 a.m., and a guess is slow by itself.
"""

import hashlib
import logging
from collections.abc import Callable
from typing import TypeVar

import redis
from django.http import HttpRequest

from app.accounts import known
from app.core.valkey import valkey

FAILURES_MAX = 10
MANY_MAX = 100  # for one address over all names, and for one name over all addresses
PAUSE_SECONDS = 600
TEXT = (
    f"There were too many failed sign-ins for this name or from this address. Wait {PAUSE_SECONDS // 60} minutes, use a browser in which you"
    " have signed in before, or ask another operator."
)
log = logging.getLogger(__name__)
T = TypeVar("T")


def where(name: str, request: HttpRequest | None) -> tuple[str, str]:
    """(address, known browser or "") of a request under the name `name`."""
    return (request.META.get("REMOTE_ADDR", "") if request is not None else "", known.browser(name, request))


def blocked(name: str, address: str, browser: str = "") -> bool:
    limits = _limits(name, address, browser)
    none: list[bytes | str | None] = [None] * len(limits)
    counts = _ask(lambda db: db.mget(list(limits)), none)
    return any(int(count or 0) >= most for count, most in zip(counts, limits.values(), strict=True))


def failed(name: str, address: str, browser: str = "") -> None:
    def count(db: redis.Redis) -> None:
        line = db.pipeline()
        for key in _limits(name, address, browser):
            line.incr(key)
            line.expire(key, PAUSE_SECONDS)
        line.execute()

    _ask(count, None)


def forget(name: str, address: str, browser: str = "") -> None:
    """After a success. What came from this address for other names stays counted."""
    keys = [_key(name, address), _key(name, ""), *([_key(name, "browser", browser)] if browser else [])]
    _ask(lambda db: db.delete(*keys), None)


def _limits(name: str, address: str, browser: str) -> dict[str, int]:
    """Key of each count that bears on it -> how far it may go."""
    if browser:
        return {_key(name, "browser", browser): FAILURES_MAX}
    return {_key(name, address): FAILURES_MAX, _key("", address): MANY_MAX, _key(name, ""): MANY_MAX}


def _key(name: str, *parts: str) -> str:
    return "sign-in:" + hashlib.sha256("\0".join((name.lower(), *parts)).encode()).hexdigest()


def _ask(question: Callable[[redis.Redis], T], otherwise: T) -> T:
    try:
        return question(valkey())
    except redis.RedisError as error:
        log.warning("Failed sign-ins are not counted: Valkey reports %s.", error)
        return otherwise

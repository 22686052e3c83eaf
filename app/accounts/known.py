"""Browsers in which a person has signed in before. Guesses made elsewhere do not count against them, so that no stranger locks a person out."""

import secrets
from hashlib import sha256
from typing import TypedDict

from django.core import signing
from django.http import HttpRequest, HttpResponse

from app.core.handlers import Respond

COOKIE, SALT = "slotlight-known", "slotlight.known-browser"
KEPT_SECONDS = 180 * 24 * 3600
NAMES_MAX = 5  # people who share a browser
TO_KEEP = "known_browser"  # on the request: what its answer writes into the cookie


class Known(TypedDict):
    id: str
    names: list[str]


def browser(name: str, request: HttpRequest | None) -> str:
    """The id of this browser if this person has signed in with it before, else ""."""
    answer = _read(request)
    return answer["id"] if _mark(name) in answer["names"] else ""


def remember(name: str, request: HttpRequest) -> None:
    answer = _read(request)
    names = [mark for mark in answer["names"] if mark != _mark(name)]
    setattr(request, TO_KEEP, Known(id=answer["id"] or secrets.token_urlsafe(12), names=[_mark(name), *names][:NAMES_MAX]))


def middleware(get_response: Respond) -> Respond:
    def answer(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        if known_browser := getattr(request, TO_KEEP, None):
            value = signing.dumps(known_browser, salt=SALT)
            response.set_cookie(COOKIE, value, KEPT_SECONDS, secure=request.is_secure(), httponly=True, samesite="Lax")
        return response

    return answer


def _read(request: HttpRequest | None) -> Known:
    try:
        found: Known = signing.loads(request.COOKIES.get(COOKIE, "") if request else "", salt=SALT, max_age=KEPT_SECONDS)
    except signing.BadSignature:
        return Known(id="", names=[])
    return found


def _mark(name: str) -> str:
    return sha256(name.lower().encode()).hexdigest()[:16]

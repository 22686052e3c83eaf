"""The pages for what went wrong. That of 500 needs neither the database nor a person: it must show when nothing else does."""

import json
import logging
import secrets
from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string

from app.core import limits
from app.core.handlers import Respond
from app.core.pages import render_page, wants_partial
from app.ledger.forms import KeyLost

log = logging.getLogger(__name__)
UNSAID = ("No ", "matches the given query.")  # how Django says that a row is not there: nothing for a reader


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return render(request, "403.html", {"why": str(exception or "")}, status=403)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    text = exception.args[0] if exception.args and isinstance(exception.args[0], str) else ""
    why = "" if text.startswith(UNSAID[0]) and text.endswith(UNSAID[1]) else text
    return render(request, "404.html", {"why": why, "path": request.path}, status=404)


class KeysLost:
    """Middleware: what cannot be done without a key of the data folder is refused with what to do, and is no fault of the program."""

    def __init__(self, get_response: Respond) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self._get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if not isinstance(error, KeyLost):
            return None
        log.error("%s %s: %s", request.method, request.path, error)
        return render_page(request, "409.html", {"reason": str(error)}, partial="refusal", status=503)


def failed(request: HttpRequest) -> HttpResponse:
    """The reference stands in the log beside what went wrong."""
    reference = secrets.token_hex(4)
    log.error("Reference %s: %s %s failed.", reference, request.method, request.path, exc_info=True)
    if hasattr(request, "htmx") and wants_partial(request):  # what failed may have come before that was known
        return HttpResponse(f"Failed. Reference {reference}.", content_type="text/plain", status=500)
    return HttpResponse(render_to_string("500.html", {"reference": reference}), status=500)


def away(path: str, alarms: Sequence[Any]) -> tuple[list[tuple[bytes, bytes]], bytes]:
    """Headers and body of the answer 503 while the database does not answer, made of nothing that is in it."""
    first = alarms[0]
    if path.startswith("/api/"):
        kind = "application/problem+json"
        fields = {
            "type": "urn:slotlight:database-down",
            "title": first.title,
            "detail": f"ALARM: {first.title}. {first.text}",
            "do": first.do,
        }
        content = json.dumps(fields | {"verdicts": [], "status": 503})
    elif path == "/healthz":
        kind, content = "text/plain", "The database does not answer.\n"
    else:
        kind, content = "text/html; charset=utf-8", render_to_string("503.html", {"alarms": alarms})
    return [(b"content-type", kind.encode()), (b"cache-control", b"no-store"), (b"retry-after", b"5")], content.encode()


def too_large(path: str) -> tuple[list[tuple[bytes, bytes]], bytes]:
    """Headers and body of the answer 413, in the form that whoever asks at this address reads: a page, or JSON."""
    why = limits.too_large(path)
    if path.startswith(limits.AGENTS):
        kind, content = "application/json", json.dumps({"reason": why})
    elif path.startswith("/api/"):
        kind = "application/problem+json"
        fields = {"type": "urn:slotlight:too-large", "title": "The request is too large.", "detail": why, "do": "Send less at a time."}
        content = json.dumps(fields | {"verdicts": [], "status": 413})
    else:
        kind, content = "text/html; charset=utf-8", render_to_string("413.html", {"why": why})
    return [(b"content-type", kind.encode()), (b"cache-control", b"no-store"), (b"connection", b"close")], content.encode()

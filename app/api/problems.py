"""The one shape of every error (RFC 9457), with what to do next; and how each refusal of the portal becomes one."""

import json
import logging
from collections.abc import Callable, Iterable
from typing import Any

from django.core.exceptions import RequestDataTooBig
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse
from ninja import NinjaAPI, Schema
from ninja.errors import AuthenticationError, HttpError, ValidationError
from pydantic import Field

from app.core.limits import too_large
from app.ledger.forms import KeyLost
from app.ledger.services import LedgerDown
from app.runs import services
from workflows.engine.core import Verdict

log = logging.getLogger(__name__)
MEDIA = "application/problem+json"
STATUSES = frozenset({400, 401, 403, 404, 409, 413, 422, 429, 503})


class VerdictOut(Schema):
    guard: str
    outcome: str = Field(description="pass, refuse or unknown; unknown refuses too")
    reason: str


class ProblemOut(Schema):
    type: str = Field(description="urn:slotlight: and a short name of the kind, for programs", examples=["urn:slotlight:run-moved"])
    title: str = Field(description="The kind, in words")
    status: int
    detail: str = Field(description="What is so, about which thing")
    do: str = Field(description="What to do next")
    verdicts: list[VerdictOut] = Field(description="The verdict of each guard, where guards refused; else empty")


# kind -> status, title, what to do next
KINDS: dict[str, tuple[int, str, str]] = {
    "unreadable": (400, "The request cannot be read.", "Send JSON as /api/v1/openapi.json describes it, with its content type."),
    "no-token": (401, "A token is needed.", "Send `Authorization: Bearer slt_…`. Tokens are made on the page Account, tokens."),
    "token-not-believed": (401, "This token opens nothing.", "Make a new token on the page Account, tokens."),
    "scope": (403, "This token is not for this.", "Make a token with the scope that is named, or do it in the pages."),
    "not-allowed": (403, "This person may not do this.", "Ask a person who may, or an administrator for the right."),
    "password-is-old": (403, "The password behind this token was typed too long ago.", "Make a new token and use it within 15 minutes, or do it in the pages."),
    "not-found": (404, "There is no such thing.", "Read the list that it would be in."),
    "method": (405, "This address does not take this method.", "Read /api/v1/openapi.json for what it takes."),
    "run-moved": (409, "The run has moved on.", "Read the run again; send the version it has now if you still mean it."),
    "refused": (409, "Refused. Nothing was changed.", "Read the reason, and the present state of the run."),
    "too-large": (413, "The request is too large.", "Send less at a time."),
    "not-taken": (422, "The archive was not taken. Nothing was stored.", "Read the reason; it names what to do. The archive itself is still yours."),
    "stopped": (422, "Reading was stopped at a limit.", "Send less at a time: one command's output first."),
    "busy": (503, "Other texts are being read.", "Send it again after the seconds given in Retry-After."),
    "invalid": (422, "A value is not what is asked for.", "Mend what is named and send it again."),
    "too-many": (429, "Too many requests with this token.", "Wait for the seconds given in Retry-After."),
    "broken": (500, "The portal failed.", "Whether it was done is not known: read it again. The reason is in the portal's log."),
    "ledger-down": (503, "The ledger cannot be written, so nothing is changed.", "Looking goes on. Run `ledger verify` on the portal."),
    "key-lost": (503, "A key of the portal cannot be used, so nothing is changed.", "On the portal's machine, put the file that is named back from its backup."),
    "database-down": (503, "The database does not answer.", "Try again in a minute; /readyz lists what is down."),
}  # fmt: skip


class Problem(Exception):
    """A request that gets no further. `kind` is one of KINDS."""

    def __init__(self, kind: str, detail: str, *, verdicts: Iterable[Verdict] = (), headers: dict[str, str] | None = None) -> None:
        super().__init__(detail)
        self.kind, self.detail, self.verdicts, self.headers = kind, detail, tuple(verdicts), headers or {}


def answer(kind: str, detail: str, verdicts: Iterable[Verdict] = (), headers: dict[str, str] | None = None) -> HttpResponse:
    status, title, do = KINDS[kind]
    lines = [{"guard": v.guard, "outcome": v.outcome, "reason": v.reason} for v in verdicts]
    fields = {"type": f"urn:slotlight:{kind}", "title": title, "detail": detail, "do": do, "verdicts": lines, "status": status}
    body = json.dumps(fields, ensure_ascii=False)
    response = HttpResponse(body, status=status, content_type=MEDIA, headers={"Cache-Control": "no-store"} | (headers or {}))
    if status == 401:
        response.headers["WWW-Authenticate"] = 'Bearer realm="slotlight"'
    return response


def _problem(request: HttpRequest, problem: Problem) -> HttpResponse:
    return answer(problem.kind, problem.detail, problem.verdicts, problem.headers)


def _refused(request: HttpRequest, refused: services.RunRefused) -> HttpResponse:
    kinds = {services.RunMoved: "run-moved", services.NotAllowed: "not-allowed", services.SignInIsOld: "password-is-old"}
    return answer(kinds.get(type(refused), "refused"), refused.reason, refused.verdicts)


def _invalid(request: HttpRequest, error: ValidationError) -> HttpResponse:
    words = "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors[:5])
    return answer("invalid", clean(words))


def clean(words: str) -> str:
    """Text that goes into JSON whatever was sent to us."""
    return words.encode("utf-8", "backslashreplace").decode()[:1000]


def _http(request: HttpRequest, error: HttpError) -> HttpResponse:
    if isinstance(error.__cause__, Problem):  # the library reads the body, and calls whatever stops it its own
        return _problem(request, error.__cause__)
    return answer("unreadable" if error.status_code == 400 else "invalid", clean(str(error)))


def _broken(request: HttpRequest, error: Exception) -> HttpResponse:
    log.exception("The API failed at %s %s.", request.method, request.path, exc_info=error)
    return answer("broken", "The portal met an error of its own while it answered this.")


# exception -> how it is answered; the nearest class counts.
HANDLERS: dict[type[Exception], Callable[[HttpRequest, Any], HttpResponse]] = {
    Problem: _problem,
    services.RunRefused: _refused,
    ValidationError: _invalid,
    HttpError: _http,
    AuthenticationError: lambda request, error: answer("no-token", "No token came with this request. Session cookies open no address of the API."),
    Http404: lambda request, error: answer("not-found", clean(str(error)) or "There is nothing at this address."),
    LedgerDown: lambda request, down: answer("ledger-down", str(down)),
    KeyLost: lambda request, lost: answer("key-lost", str(lost)),
    OperationalError: lambda request, error: answer("database-down", "The database does not answer."),
    InterfaceError: lambda request, error: answer("database-down", "The database does not answer."),
    Exception: _broken,
    RequestDataTooBig: lambda request, error: answer("too-large", too_large(request.path)),
}  # fmt: skip


def handle_all(api: NinjaAPI) -> None:
    for kind, handler in HANDLERS.items():
        api.add_exception_handler(kind, handler)

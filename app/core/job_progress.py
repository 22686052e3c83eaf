"""How far long work has come, for the one who waits for it: a copy that is made takes its time before its first byte.

The browser makes up a name and sends it along; the work reports its progress under that name; the browser asks. It is optional: work
without a name says nothing, and a Valkey that is down leaves the work as it was. Kept for a minute, and shown to no other person.
"""

import json
import logging
import re
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import TypeVar

import redis
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_GET

from app.core.valkey import valkey

NAME = re.compile(r"[A-Za-z0-9-]{8,40}")
PARAMETER = "progress"
EVERY_SECONDS = 0.2
KEPT_SECONDS = 60
T = TypeVar("T")
Report = Callable[[str, int, int], None]  # what is done now, how many of it are through, of how many

_report: ContextVar[Report | None] = ContextVar("tell", default=None)
log = logging.getLogger(__name__)


@contextmanager
def reported_to(report: Report) -> Iterator[None]:
    """What `over` and `begin` say in here goes to `tell`."""
    token = _report.set(report)
    try:
        yield
    finally:
        _report.reset(token)


@contextmanager
def reported_as_asked(request: HttpRequest) -> Iterator[None]:
    """To the browser that asks, if it gave a name."""
    name = request.GET.get(PARAMETER, "")
    if not NAME.fullmatch(name):
        yield
        return
    with reported_to(partial(_keep, _key(request, name))):
        yield


def over(things: Collection[T], doing: str) -> Iterator[T]:
    """The same things, and how far they are said now and then."""
    return over_many(things, doing, len(things))


def over_many(things: Iterable[T], doing: str, of: int) -> Iterator[T]:
    """For what comes one by one and was counted before."""
    report, last = _report.get(), 0.0
    for number, thing in enumerate(things):
        if report is not None and time.monotonic() - last >= EVERY_SECONDS:
            report(doing, number, of)
            last = time.monotonic()
        yield thing


def begin(doing: str) -> None:
    """Something that has no parts to count."""
    if (report := _report.get()) is not None:
        report(doing, 0, 0)


def _key(request: HttpRequest, name: str) -> str:
    return f"progress:{request.user.pk}:{name}"


def _keep(key: str, doing: str, through: int, of: int) -> None:
    try:
        valkey().set(key, json.dumps({"doing": doing, "through": through, "of": of}), ex=KEPT_SECONDS)
    except redis.RedisError as error:
        log.warning("The progress of a copy is not known: Valkey reports %s.", error)


@login_required
@require_GET
def progress(request: HttpRequest, name: str) -> HttpResponse:
    """How far one's own work of that name is; nothing yet, where it has not said."""
    try:
        stored = valkey().get(_key(request, name))
    except redis.RedisError:
        stored = None
    return JsonResponse(json.loads(stored) if stored else {}, headers={"Cache-Control": "no-store"})

"""Whether the portal can do all its work, part by part: for a load balancer and for whoever is called because it cannot."""

import time
from collections.abc import Callable, Mapping
from types import SimpleNamespace

import redis
from django.contrib.auth.decorators import login_not_required
from django.db import DatabaseError, connection
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from app import pulse
from app.ledger import services as ledger
from app.valkey import valkey

SILENT_SECONDS = 60  # beat sends something every ten
BELIEVED_SECONDS = 1.0
last = SimpleNamespace(at=0.0, said={})


def database() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return "The database does not answer. Nothing works until it does."
    return ""


def doorbell() -> str:
    try:
        valkey().ping()
    except redis.RedisError:
        return "Valkey does not answer. Pages look by themselves and are slower; the worker stands still."
    return ""


def writing() -> str:
    try:
        ledger.refuse_if_broken()
    except ledger.LedgerDown:  # its words may name roles and triggers, which are nobody's business here
        return "The ledger cannot be written. Nothing is changed until it can; looking goes on. Run `ledger check` and `ledger verify`."
    return ""


def heard(who: str, name: str, command: str) -> str:
    try:
        age = pulse.age_seconds(who)
    except redis.RedisError:
        return f"Whether {name} lives is not known: Valkey does not answer."
    if age is None:
        return f"{name.capitalize()} was never heard. Start it: {command}."
    return f"{name.capitalize()} was last heard {age:.0f} s ago. Look at its log." if age > SILENT_SECONDS else ""


# part -> what is wrong with it; "" is nothing
PARTS: Mapping[str, Callable[[], str]] = {
    "database": database,
    "valkey": doorbell,
    "ledger": writing,
    "worker": lambda: heard(pulse.WORKER, "the worker", "celery -A app.celery:celery worker"),
    "beat": lambda: heard(pulse.BEAT, "beat", "celery -A app.celery:celery beat"),
}


def parts() -> dict[str, str]:
    """Asked at most once a second, however often somebody wants to know."""
    now = time.monotonic()
    if not last.said or now - last.at > BELIEVED_SECONDS:
        last.said, last.at = {name: ask() for name, ask in PARTS.items()}, now
    return last.said


@login_not_required
@never_cache
@require_safe
def ready(request: HttpRequest) -> JsonResponse:
    """200 when every part is well, else 503; each part by name. It says nothing about the fleet."""
    said = parts()
    body = {"ready": not any(said.values()), "parts": {name: why or "ok" for name, why in said.items()}}
    return JsonResponse(body, status=200 if body["ready"] else 503, json_dumps_params={"indent": 2})

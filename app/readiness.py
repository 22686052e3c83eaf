"""Whether the portal can do all its work, part by part: for a load balancer and for whoever is called because it cannot.

Each part is asked in a thread of its own and is given up on soon, so that a database that hangs hides neither itself nor another part.
"""

import json
import logging
import shutil
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path

import redis
from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db import DatabaseError, connection, transaction
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from app import outages
from app.core.threads import with_database
from app.core.valkey import valkey
from app.ledger import services as ledger
from app.ledger.keys import key_path, load, order_key_path
from app.ledger.models import LedgerCheckpoint
from app.nodes import vault
from app.nodes.models import NodeKey
from app.realtime import heartbeats

SILENT_SECONDS = 60  # beat sends something every ten
BELIEVED_SECONDS = 1.0
ANSWER_SECONDS_MAX = 1.5
FREE_BYTES_LEAST = 64 * 1024 * 1024
FREE_BYTES_NEARLY = 1024 * 1024 * 1024  # there is time to make room, if a person is notified now
ANSWER_AGE_SECONDS_MAX = 20.0  # what was found longer ago is not known any more
ILL_SECONDS = 8.0
# More than `work_mem` holds, so the server must put it on its disk, and nothing of it stays there. A disk that is full or hangs shows here,
# while a trial write that is taken back never leaves the server's memory.
SPILL = "SELECT count(*) FROM (SELECT n FROM generate_series(1, 20000) AS n ORDER BY n DESC) AS spilled"
UNREADABLE = "is gone or cannot be read by the user that the portal runs as. Put it back from the backup of the data folder"


@dataclass
class Last:
    at: float = 0.0
    found: dict[str, str] = field(default_factory=dict)
    ill: dict[str, float] = field(default_factory=dict)  # part -> since when it has been found ill without a pause


last = Last()
asking: dict[str, Future[str]] = {}
lock = threading.Lock()
log = logging.getLogger(__name__)


def database() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return "The database does not answer. Nothing works until it does."
    return ""


def disk() -> str:
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET LOCAL work_mem = '64kB'")
            cursor.execute(SPILL)
    except DatabaseError:
        return "The database cannot write to its disk: it is full, or failing. Make room there; PostgreSQL's log has more."
    try:
        free = free_bytes()
    except OSError as error:
        return f"The portal's data folder cannot be reached: {error.strerror}."
    return f"The disk of the portal's data folder is full: {free // 1024} KiB are free. Make room." if free < FREE_BYTES_LEAST else ""


def doorbell() -> str:
    try:
        valkey().ping()
    except redis.RedisError:
        return "Valkey does not answer. Pages look by themselves and are slower; the worker stands still."
    return ""


def writing() -> str:
    try:
        ledger.refuse_if_broken()
        is_signed = LedgerCheckpoint.objects.exists()
    except (ledger.LedgerDown, DatabaseError):  # its words may name roles and triggers, which are not shown here
        return "The ledger cannot be written. Nothing is changed until it can; looking goes on. Run `ledger check` and `ledger verify`."
    try:
        if is_signed or key_path().exists():  # else it is made at its first use
            load(key_path())
    except (OSError, ValueError):
        return "The ledger's key is gone or cannot be read, so no checkpoint is signed and no change is ordered. Put it back from the backup of the data folder."
    return ""


def keys() -> str:
    """Those that agents are known by and check orders with. The ledger's own is asked for with the ledger."""
    if vault.fault():
        return f"nodes.key {UNREADABLE}, and until then every agent is answered 503."
    try:
        load(order_key_path())
    except (OSError, ValueError):
        if order_key_path().exists() or NodeKey.objects.exists():  # the first agent has it made
            return f"order.key {UNREADABLE}, and until then no order goes out."
    return ""


def lives(who: str, name: str, command: str) -> str:
    try:
        age = heartbeats.age_seconds(who)
    except redis.RedisError:
        return f"Whether {name} lives is not known: Valkey does not answer."
    if age is None:
        return f"{name.capitalize()} has never reported. Start it: {command}."
    return f"{name.capitalize()} last reported {age:.0f} s ago. Look at its log." if age > SILENT_SECONDS else ""


# part -> what is wrong with it; "" is nothing
PARTS: Mapping[str, Callable[[], str]] = {
    "database": database,
    "disk": disk,
    "valkey": doorbell,
    "ledger": writing,
    "keys": keys,
    "worker": lambda: lives(heartbeats.WORKER, "the worker", "celery -A app.celery:celery worker"),
    "beat": lambda: lives(heartbeats.BEAT, "beat", "celery -A app.celery:celery beat"),
}


POOL = ThreadPoolExecutor(len(PARTS) + 1, "ready")  # the one more writes down that the database does not answer


def parts() -> dict[str, str]:
    """Asked at most once a second, however often it is called; answered within ANSWER_SECONDS_MAX, whatever is ill."""
    with lock:
        if not last.found or time.monotonic() - last.at > BELIEVED_SECONDS:
            begun = {name: _asked(name) for name in PARTS}
            wait(begun.values(), timeout=ANSWER_SECONDS_MAX)
            last.found, last.at = {name: _state_of(name, asked) for name, asked in begun.items()}, time.monotonic()
            last.ill = {name: last.ill.get(name, last.at) for name, why in last.found.items() if why}
            if last.found["database"]:
                POOL.submit(outages.note)
        return last.found


def stays_ill(part: str) -> str:
    """What is wrong with it, once that was found again and again for a while: one answer that came late under load is no alarm. "" too when
    this process has not asked lately. Asks nothing."""
    now = time.monotonic()
    is_known = now - last.at <= ANSWER_AGE_SECONDS_MAX and now - last.ill.get(part, now) >= ILL_SECONDS
    return last.found.get(part, "") if is_known else ""


def nearly_full() -> str:
    """Of the disk under the data folder: what is to be reported before it is full."""
    try:
        free = free_bytes()
    except OSError as error:
        return f"The portal's data folder cannot be reached: {error.strerror}."
    return f"The disk under the portal's data folder has {free // 1024**2} MiB left." if free < FREE_BYTES_NEARLY else ""


def free_bytes() -> int:
    return shutil.disk_usage(Path(settings.SLOTLIGHT_LEDGER_KEY).parent).free


def _asked(name: str) -> Future[str]:
    """One question for each part at a time: what hangs is not asked again before it has answered."""
    if name not in asking:
        asking[name] = POOL.submit(with_database, PARTS[name])
    return asking[name]


def _state_of(name: str, asked: Future[str]) -> str:
    if not asked.done():
        return f"No answer within {ANSWER_SECONDS_MAX} s: {name} hangs."
    del asking[name]
    if error := asked.exception():
        log.error("The question how %s is failed.", name, exc_info=error)
        return f"How {name} is could not be read. The reason is in the portal's log."
    return asked.result()


def answer() -> tuple[int, bytes]:
    """Status and body: 200 when every part is well, else 503; each part by name. It says nothing about the fleet."""
    found = parts()
    body = {"ready": not any(found.values()), "parts": {name: why or "ok" for name, why in found.items()}}
    return 200 if body["ready"] else 503, json.dumps(body, indent=2).encode()


@login_not_required
@never_cache
@require_safe
def ready(request: HttpRequest) -> HttpResponse:
    """For a server that does not come through `app.asgi`, which answers without a page's thread: a hung database has them all."""
    status, body = answer()
    return HttpResponse(body, status=status, content_type="application/json")

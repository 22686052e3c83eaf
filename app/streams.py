"""Connections that wait: server-sent events for pages, the long poll of agents. Neither holds a thread while it waits.

Both only learn that something changed. A page then fetches its own partial; a poll reads the order queue again.
"""

import asyncio
import logging
import re
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from typing import Any
from urllib.parse import parse_qs

from django.conf import settings
from django.contrib.auth import get_user
from django.http import HttpRequest, parse_cookie
from django.utils import timezone

from agents.portal.wire import BadSignature, canonical, sign_answer
from app.accounts.models import User
from app.core import access_log
from app.core.access_log import Receive, Scope, Send
from app.core.threads import Threads
from app.ledger import checkpoints
from app.ledger import services as ledger
from app.nodes.door import TROUBLE, trouble
from app.nodes.keys import Caller, Repeat, authenticate
from app.nodes.sessions import session_fault
from app.realtime.publish import sessions_of
from app.realtime.subscribe import FANOUT, Ear
from app.runs.ordering import key_rotation, order_envelope, orders

TOPIC = re.compile(r"fleet|approvals|alarms|ledger|loops|notices|(node|run|looks):[A-Za-z0-9._-]{1,64}")
TOPICS_MAX = 20
STREAMS_MAX, POLLS_MAX = 4000, 2000  # per process; app.asgi asks for the descriptors
HEARTBEAT_SECONDS = 15
STREAM_SECONDS_MAX = 900  # then the browser connects again, and its session is asked for again
WAIT_SECONDS_MAX = 30
DEAF_SECONDS = 2  # how often a poll looks by itself while no changes are received
JSON = {"Content-Type": "application/json", "Cache-Control": "no-store"}

log = logging.getLogger(__name__)
THREADS = Threads(4, "door")
LOG_SECONDS = 60  # how often an agent that gets no orders is shown how the ledger grew
_open = {"streams": 0, "polls": 0}
_shown: dict[str, float] = {}  # node -> when it was last shown the ledger without orders


async def events(scope: Scope, receive: Receive, send: Send) -> None:
    """`GET /events?topics=a,b`: says the name of each topic that changed, as event name and data."""
    topics = _first(scope, "topics").split(",")
    if len(topics) > TOPICS_MAX or not all(TOPIC.fullmatch(topic) for topic in topics):
        return await _refuse(send, 400, f"topics must be 1 to {TOPICS_MAX} names such as fleet or node:oss01, divided by commas.")
    cookies = _headers(scope).get("cookie", "")
    try:
        person = await THREADS.run(_who_looks, cookies)
    except TROUBLE as own:
        return await _refuse(send, 503, trouble(own))
    if person is None:
        return await _refuse(send, 403, "Sign in to follow what changes.")
    scope[access_log.WHO] = person.username
    with _room("streams", STREAMS_MAX) as room:
        if not room:
            return await _refuse(send, 503, "Too many pages are open. Close some and reload.")
        await _stream(topics, sessions_of(person.pk), partial(THREADS.run, _who_looks, cookies), receive, send)


def _who_looks(cookies: str) -> User | None:
    """Whose session is in the cookie, if that is a person who may sign in now."""
    request = HttpRequest()
    store = import_module(settings.SESSION_ENGINE).SessionStore
    request.session = store(parse_cookie(cookies).get(settings.SESSION_COOKIE_NAME))
    person = get_user(request)
    return person if person.is_authenticated else None


async def _stream(topics: list[str], own: str, who: Callable[[], Awaitable[User | None]], receive: Receive, send: Send) -> None:
    """`own` is rung when a session of this person ends; then `who` is asked, and a stream whose session it was ends with it, as one does
    of which that is not known: the browser comes again."""
    until = _now() + STREAM_SECONDS_MAX
    with FANOUT.listen([*topics, own]) as ear, _watched(receive, ear):
        await _start(send, 200, {"Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        await _body(send, b"retry: 2000\n\n", more=True)
        while not ear.closed and _now() < until:
            changed = await ear.next(HEARTBEAT_SECONDS)
            if own in changed and not await _is_signed_in(who):
                break
            text = "".join(f"event: {topic}\ndata: {topic}\n\n" for topic in changed if topic != own)
            await _body(send, (text or ": still here\n\n").encode(), more=True)
        await _body(send, b"")


async def _is_signed_in(who: Callable[[], Awaitable[User | None]]) -> bool:
    try:
        return await who() is not None
    except TROUBLE as own:
        log.error("Whether a session still counts is not known: %s", own)
        return False


async def orders_poll(scope: Scope, receive: Receive, send: Send) -> None:
    """`GET /agent/v1/orders?wait=25&size=N&nonce=...&key=...`: the node's orders as soon as there are any, or 204.

    With them, or now and then without: the ledger's newest checkpoint and that it continues the one over `size` events, and the
    portal's next order key for an agent that has an older one.
    """
    try:
        caller, why, beside = await THREADS.run(_who, scope)
    except Repeat as repeat:
        return await _answer(send, repeat.caller, 401, repeat.answer)
    except BadSignature as error:
        return await _refuse(send, 401, str(error))
    except TROUBLE as own:
        return await _refuse(send, 503, trouble(own))
    scope[access_log.WHO] = caller.node
    if why:
        return await _answer(send, caller, 409, {"reason": why, "duplicate": True})
    with _room("polls", POLLS_MAX) as room:
        if not room:
            return await _refuse(send, 503, "Too many agents are waiting. Try again later.")
        try:
            found, shown = await _orders(caller.node, _size(scope), 0 if beside else _wait_seconds(scope), receive)
            beside |= shown if found else await THREADS.run(_log, caller.node, found, _size(scope))
        except TROUBLE as own:
            return await _answer(send, caller, 503, {"reason": trouble(own)})
    answer = {"orders": found, "at": timezone.now().isoformat(), **beside} if found or beside else {}
    await _answer(send, caller, 200 if answer else 204, answer)


async def _answer(send: Send, caller: Caller, status: int, answer: dict[str, Any]) -> None:
    body = canonical(answer) if answer else b""
    await _start(send, status, JSON | sign_answer(caller.secret, status, body, caller.signed.nonce))
    await _body(send, body)


def _who(scope: Scope) -> tuple[Caller, str, dict[str, Any]]:
    """Who polls, why it is not accepted, and what it must hear first. Raises BadSignature."""
    now, query = timezone.now(), scope["query_string"].decode("latin-1")
    caller = authenticate("GET", scope["path"], query, _headers(scope), b"", now)
    why = session_fault(caller, _first(scope, "nonce"), now)
    return caller, why, {} if why else _beside(_first(scope, "key"))


def _beside(pinned: str) -> dict[str, Any]:
    """What an agent must hear before any order: the key that signs them now."""
    newer = key_rotation.next_keys(pinned) if pinned else None
    return {"next_keys": newer} if newer else {}


def _log(node: str, found: list[order_envelope.Offer], size: int) -> dict[str, Any]:
    """The checkpoint that the offers rest on; without offers the newest one, if the agent does not hold it and has not just been given one."""
    grown = order_envelope.log(found, size)
    if not found and _now_shown(node) and (newest := checkpoints.newest()) is not None and newest.size != size:
        _shown[node] = time.monotonic()
        grown = ledger.log_since(size)
    return {"log": grown} if grown else {}


def _now_shown(node: str) -> bool:
    return time.monotonic() - _shown.get(node, -LOG_SECONDS) >= LOG_SECONDS


def _size(scope: Scope) -> int:
    given = _first(scope, "size")
    return int(given) if re.fullmatch(r"[0-9]{1,12}", given) else 0


async def _orders(node: str, size: int, wait_seconds: float, receive: Receive) -> tuple[list[order_envelope.Offer], dict[str, Any]]:
    """Listen first, then look: an order sealed between the two rings and is seen."""
    until = _now() + wait_seconds
    with FANOUT.listen([f"orders:{node}"]) as ear, _watched(receive, ear):
        found, shown = await THREADS.run(_offers, node, size)
        while not found and not ear.closed and _now() < until:
            left_seconds = until - _now()
            rung = await ear.next(left_seconds if FANOUT.connected else min(DEAF_SECONDS, left_seconds))
            # A node that hung up is offered nothing: what it did not hear would wait for its next poll.
            if not ear.closed and (rung or not FANOUT.connected):
                found, shown = await THREADS.run(_offers, node, size)
    return found, shown


def _offers(node: str, size: int) -> tuple[list[order_envelope.Offer], dict[str, Any]]:
    """The node's orders, and with them the ledger they rest on."""
    found = orders.next_for(node)
    return found, _log(node, found, size) if found else {}


def _wait_seconds(scope: Scope) -> int:
    given = _first(scope, "wait")
    return min(int(given), WAIT_SECONDS_MAX) if re.fullmatch(r"[0-9]{1,3}", given) else 0


@contextmanager
def _watched(receive: Receive, ear: Ear) -> Iterator[None]:
    """Close the ear as soon as whoever waits hangs up."""
    watch = asyncio.create_task(_until_gone(receive, ear))
    try:
        yield
    finally:
        watch.cancel()


async def _until_gone(receive: Receive, ear: Ear) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    ear.close()


@contextmanager
def _room(kind: str, most: int) -> Iterator[bool]:
    """Whether there is room for one more; it is taken until the block ends."""
    if _open[kind] >= most:
        yield False
        return
    _open[kind] += 1
    try:
        yield True
    finally:
        _open[kind] -= 1


def waiting() -> dict[str, int]:
    """How many connections wait in this process: `streams` of pages, `polls` of agents."""
    return dict(_open)


def _now() -> float:
    return asyncio.get_running_loop().time()


def _headers(scope: Scope) -> dict[str, str]:
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}


def _first(scope: Scope, name: str) -> str:
    query: str = scope["query_string"].decode("latin-1")
    return parse_qs(query).get(name, [""])[0]


async def _refuse(send: Send, status: int, reason: str) -> None:
    await _start(send, status, JSON)
    await _body(send, canonical({"reason": reason}))


async def _start(send: Send, status: int, headers: dict[str, str]) -> None:
    pairs = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": pairs})


async def _body(send: Send, data: bytes, more: bool = False) -> None:
    await send({"type": "http.response.body", "body": data, "more_body": more})

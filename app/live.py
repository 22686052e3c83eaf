"""Connections that wait: server-sent events for pages, the long poll of agents. Neither holds a thread while it waits.

Both only learn that something changed. A page then fetches its own partial; a poll reads the order queue again.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any
from urllib.parse import parse_qs

from django.conf import settings
from django.contrib.auth import get_user
from django.http import HttpRequest, parse_cookie
from django.utils import timezone

from agents.wire import BadSignature, canonical, sign_answer
from app.fanout import FANOUT, Ear
from app.nodes.keys import Caller, authenticate
from app.runs import orders
from app.threads import Threads

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[dict]]
Send = Callable[[dict], Awaitable[None]]

TOPIC = re.compile(r"fleet|approvals|ledger|(node|run|looks):[A-Za-z0-9._-]{1,64}")
TOPICS_MAX = 20
STREAMS_MAX, POLLS_MAX = 500, 2000  # per process
HEARTBEAT_SECONDS = 15
STREAM_SECONDS_MAX = 900  # then the browser connects again, and its session is asked for again
WAIT_SECONDS_MAX = 30
DEAF_SECONDS = 2  # how often a poll looks by itself while the doorbell is not heard
JSON = {"Content-Type": "application/json", "Cache-Control": "no-store"}

THREADS = Threads(4, "door")
_open = {"streams": 0, "polls": 0}


async def events(scope: Scope, receive: Receive, send: Send) -> None:
    """`GET /events?topics=a,b`: says the name of each topic that changed, as event name and data."""
    topics = _first(scope, "topics").split(",")
    if len(topics) > TOPICS_MAX or not all(TOPIC.fullmatch(topic) for topic in topics):
        return await _refuse(send, 400, f"topics must be 1 to {TOPICS_MAX} names such as fleet or node:oss01, divided by commas.")
    if not await THREADS.run(_may_look, _headers(scope).get("cookie", "")):
        return await _refuse(send, 403, "Sign in to follow what changes.")
    with _room("streams", STREAMS_MAX) as room:
        if not room:
            return await _refuse(send, 503, "Too many pages are open. Close some and reload.")
        await _stream(topics, receive, send)


def _may_look(cookies: str) -> bool:
    """Whether the session in the cookie belongs to somebody who may sign in now."""
    request = HttpRequest()
    store = import_module(settings.SESSION_ENGINE).SessionStore
    request.session = store(parse_cookie(cookies).get(settings.SESSION_COOKIE_NAME))
    return get_user(request).is_authenticated


async def _stream(topics: list[str], receive: Receive, send: Send) -> None:
    until = _now() + STREAM_SECONDS_MAX
    with FANOUT.listen(topics) as ear, _watched(receive, ear):
        await _start(send, 200, {"Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        await _body(send, b"retry: 2000\n\n", more=True)
        while not ear.closed and _now() < until:
            changed = await ear.next(HEARTBEAT_SECONDS)
            text = "".join(f"event: {topic}\ndata: {topic}\n\n" for topic in changed)
            await _body(send, (text or ": still here\n\n").encode(), more=True)
        await _body(send, b"")


async def orders_poll(scope: Scope, receive: Receive, send: Send) -> None:
    """`GET /agent/v1/orders?wait=25`: the node's orders as soon as there are any, or 204."""
    query = scope["query_string"].decode("latin-1")
    try:
        caller = await THREADS.run(_authenticate, scope["path"], query, _headers(scope))
    except BadSignature as error:
        return await _refuse(send, 401, str(error))
    with _room("polls", POLLS_MAX) as room:
        if not room:
            return await _refuse(send, 503, "Too many agents are waiting. Try again later.")
        found = await _orders(caller, _wait_seconds(scope), receive)
    body = canonical({"orders": found}) if found else b""
    status = 200 if found else 204
    await _start(send, status, JSON | sign_answer(caller.secret, status, body, caller.signed.nonce))
    await _body(send, body)


def _authenticate(path: str, query: str, headers: dict[str, str]) -> Caller:
    return authenticate("GET", path, query, headers, b"", timezone.now())


async def _orders(caller: Caller, wait_seconds: float, receive: Receive) -> list[dict[str, str]]:
    """Listen first, then look: an order sealed between the two rings and is seen."""
    until = _now() + wait_seconds
    with FANOUT.listen([f"orders:{caller.node}"]) as ear, _watched(receive, ear):
        found = await THREADS.run(orders.next_for, caller.node)
        while not found and not ear.closed and _now() < until:
            left_seconds = until - _now()
            rung = await ear.next(left_seconds if FANOUT.connected else min(DEAF_SECONDS, left_seconds))
            # A node that hung up is offered nothing: what it did not hear would wait for its next poll.
            if not ear.closed and (rung or not FANOUT.connected):
                found = await THREADS.run(orders.next_for, caller.node)
    return found


def _wait_seconds(scope: Scope) -> int:
    said = _first(scope, "wait")
    return min(int(said), WAIT_SECONDS_MAX) if re.fullmatch(r"[0-9]{1,3}", said) else 0


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


def _now() -> float:
    return asyncio.get_running_loop().time()


def _headers(scope: Scope) -> dict[str, str]:
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}


def _first(scope: Scope, name: str) -> str:
    return parse_qs(scope["query_string"].decode("latin-1")).get(name, [""])[0]


async def _refuse(send: Send, status: int, reason: str) -> None:
    await _start(send, status, JSON)
    await _body(send, canonical({"reason": reason}))


async def _start(send: Send, status: int, headers: dict[str, str]) -> None:
    pairs = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": pairs})


async def _body(send: Send, data: bytes, more: bool = False) -> None:
    await send({"type": "http.response.body", "body": data, "more_body": more})

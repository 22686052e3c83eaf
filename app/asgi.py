"""The door: connections that wait go to `app.streams`, heartbeats to `app.nodes.heartbeats`, everything else to Django, and nobody sends
more than is allowed."""

import asyncio
import os
import resource
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import FrameType
from typing import IO, Any

import django
from django.conf import settings
from django.core import signals
from django.core.exceptions import RequestAborted
from django.core.handlers.asgi import ASGIHandler, get_script_prefix
from django.core.handlers.exception import convert_exception_to_response
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.middleware.common import CommonMiddleware
from django.middleware.security import SecurityMiddleware
from django.urls import set_script_prefix

from app.core import access_log, gc_tuning, proxies
from app.core.access_log import Receive, Scope, Send
from app.core.limits import AGENTS, body_bytes_max
from app.core.request_metrics import measured
from app.core.threads import Threads

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "app.settings")
os.environ.setdefault("SLOTLIGHT_KEEP_CONNECTIONS_SECONDS", "600")
django.setup(set_prefix=False)
sys.setswitchinterval(0.0005)  # the loop only passes bytes on; it must not wait 5 ms for a thread that renders a page


Header = tuple[bytes, bytes]


class Pages(ASGIHandler):
    """Django with a whole request in one of a few threads: as an async stack, each of its ten middlewares changes threads twice,
    and each request starts a thread of its own."""

    def __init__(self, threads: Threads) -> None:
        super().__init__()
        self._threads = threads

    def load_middleware(self, is_async: bool = False) -> None:
        super().load_middleware(is_async=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            body = await self.read_body(receive)
        except RequestAborted:
            return
        status, headers, content = await self._threads.run(self._answer, scope, body)
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": content})

    def _answer(self, scope: Scope, body: IO[bytes]) -> tuple[int, list[Header], bytes]:
        """All of one request: what the browser said to (status, headers, content)."""
        set_script_prefix(get_script_prefix(scope))
        signals.request_started.send(sender=self.__class__, scope=scope)
        request, refused = self.create_request(scope, body)
        response = self.get_response(request) if request is not None else refused
        if request is not None:
            scope[access_log.WHO] = access_log.who(request)
        assert isinstance(response, HttpResponse | StreamingHttpResponse), "Django answers with nothing else"
        content = b"".join(response)
        vars(response)["_handler_class"] = self.__class__  # who sends the signal that the request is over
        response.close()  # and with it the request, and what it holds
        body.close()
        return response.status_code, list(_headers(response)), content


class Doors(Pages):
    """The agents' doors: no cookie, no session, no page. The caller is known by a signature, so of what stands before a page there is
    only what turns requests away: plain HTTP where HTTPS is asked for, and a host that is not ours."""

    _get_response: Callable[[HttpRequest], HttpResponseBase]  # of BaseHandler; django-stubs leaves it out

    def load_middleware(self, is_async: bool = False) -> None:
        self._view_middleware: list[Callable[..., Any]] = []
        self._template_response_middleware: list[Callable[..., Any]] = []
        self._exception_middleware: list[Callable[..., Any]] = []
        chain = convert_exception_to_response(self._get_response)
        before: tuple[Callable[[Any], Any], ...] = (CommonMiddleware, SecurityMiddleware, measured)
        for middleware in before:
            chain = convert_exception_to_response(middleware(chain))
        self._middleware_chain = chain


def _headers(response: HttpResponseBase) -> Iterator[Header]:
    for name, value in response.items():
        yield name.encode("ascii"), value.encode("latin-1")
    for cookie in response.cookies.values():
        yield b"Set-Cookie", cookie.OutputString().encode("ascii")


_threads = Threads(16, "page")
pages, doors = Pages(_threads), Doors(_threads)
# A report that changes something is almost all computing: of more at a time none is done sooner, and pages wait among them.
reports = Doors(Threads(3, "report"))

_asked = ThreadPoolExecutor(2, "readiness")

from app import readiness as ready  # noqa: E402
from app import streams  # noqa: E402  (they read settings and models, which exist only from here on)
from app.core import errors  # noqa: E402
from app.nodes import heartbeats  # noqa: E402
from app.notices import alarms  # noqa: E402
from app.realtime.subscribe import FANOUT  # noqa: E402

DESCRIPTORS_BESIDE = 1000  # requests, databases, files
DROPPED_TIMES = 4
ASKED_SECONDS = 5
WITHOUT_DATABASE = ("/static/", "/metrics", AGENTS)  # agents get an answer of their own format, and keep what they have
WAITING = {"/events": streams.events, f"{AGENTS}orders": streams.orders_poll}


@access_log.logged
async def application(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "lifespan":
        return await lifespan(receive, send)
    proxies.behind(scope, settings.TRUSTED_PROXIES)
    if scope["type"] == "http" and scope["path"] == "/readyz" and scope["method"] in ("GET", "HEAD"):
        return await readiness(send, scope["method"])
    if scope["type"] == "http" and (answer := _away(scope["path"])):
        return await stand_in(send, scope, answer)
    waits = WAITING.get(scope["path"]) if scope["type"] == "http" and scope["method"] == "GET" else None
    if waits is not None:
        return await waits(scope, receive, send)
    most = body_bytes_max(scope["path"])
    try:
        await _answer(scope, bounded(receive, scope, most), send)
    except TooLarge:
        await turn_away(scope, receive, send, most)


async def readiness(send: Send, method: str) -> None:
    """In no page's thread: those may all wait for the database that this is asked about."""
    status, body = await asyncio.get_running_loop().run_in_executor(_asked, ready.answer)
    headers = [(b"content-type", b"application/json"), (b"cache-control", b"no-store"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if method == "HEAD" else body})


def _away(path: str) -> list[alarms.Alarm]:
    """The alarms to show in place of what needs the database, while that does not answer: in a page's thread it would wait, and keep others."""
    return alarms.away() if ready.stays_ill("database") and not path.startswith(WITHOUT_DATABASE) else []


async def stand_in(send: Send, scope: Scope, answer: list[alarms.Alarm]) -> None:
    headers, body = await asyncio.to_thread(errors.away, scope["path"], answer)
    await send({"type": "http.response.start", "status": 503, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})


async def keep_asking() -> None:
    """So that it is known before the first request."""
    while True:
        await asyncio.sleep(ASKED_SECONDS)
        await asyncio.get_running_loop().run_in_executor(_asked, ready.parts)


async def _answer(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "http" and scope["path"] == f"{AGENTS}reports" and scope["method"] == "POST":
        return await heartbeats.reports(scope, receive, send, reports)
    return await (doors if scope["path"].startswith(AGENTS) else pages)(scope, receive, send)


class TooLarge(Exception):
    """The body of a request has more bytes than its address takes."""


def bounded(receive: Receive, scope: Scope, most: int) -> Receive:
    """`receive` that raises TooLarge for a body of more than `most` bytes; Django would spool them to disk first."""
    left = most
    announced = dict(scope["headers"]).get(b"content-length", b"") if scope["type"] == "http" else b""

    async def bounded_receive() -> Mapping[str, Any]:
        nonlocal left
        if announced.isdigit() and int(announced[:20]) > most:
            raise TooLarge
        message = await receive()
        left -= len(message.get("body", b""))
        if left < 0:
            raise TooLarge
        return message

    return bounded_receive


async def turn_away(scope: Scope, receive: Receive, send: Send, most: int) -> None:
    """413 in words. A browser shows an answer only once it has sent what it had, so a body up to some times too large is taken and dropped."""
    left = DROPPED_TIMES * most
    while left > 0 and (message := await receive())["type"] == "http.request" and message.get("more_body", False):
        left -= len(message.get("body", b""))
    headers, content = await asyncio.to_thread(errors.too_large, scope["path"])
    await send({"type": "http.response.start", "status": 413, "headers": headers})
    await send({"type": "http.response.body", "body": content})


async def lifespan(receive: Receive, send: Send) -> None:
    asking: asyncio.Task[None] | None = None
    while True:
        message = await receive()
        if message["type"] == "lifespan.startup":
            let_many_wait()
            gc_tuning.settle()
            hang_up_on_signals(asyncio.get_running_loop())
            asking = asyncio.create_task(keep_asking())
        else:
            if asking is not None:
                asking.cancel()
            await FANOUT.stop()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return


def let_many_wait() -> None:
    """A descriptor for everybody who may wait; a login shell's limit would turn the thousandth page away."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = streams.STREAMS_MAX + streams.POLLS_MAX + DESCRIPTORS_BESIDE
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard))


def hang_up_on_signals(loop: asyncio.AbstractEventLoop) -> None:
    """Let waiting connections end when the server stops; it would give them all its patience first, and then cut them."""
    if threading.current_thread() is not threading.main_thread():
        return
    for number in (signal.SIGINT, signal.SIGTERM):
        if callable(server := signal.getsignal(number)):
            signal.signal(number, partial(hang_up, loop, server))


def hang_up(loop: asyncio.AbstractEventLoop, server: Callable[[int, FrameType | None], Any], number: int, frame: FrameType | None) -> None:
    loop.call_soon_threadsafe(FANOUT.hang_up)
    server(number, frame)

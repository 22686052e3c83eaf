"""One line for each request when it has ended: from where, what for, how it was answered, how long that took, and who asked.

No query is logged, and no token that stands in a path (`app.core.logs`). What agents, load balancers and pages ask all the time is logged only
when it did not go well.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any
from urllib.parse import quote

from django.http import HttpRequest
from django.utils.functional import LazyObject, empty

from app.core.limits import AGENTS

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Mapping[str, Any]]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

WHO = "slotlight.who"
ALWAYS_ASKED = ("/healthz", "/readyz", "/metrics", "/static/", f"{AGENTS}reports")
ENDING = b"The portal is stopping. Ask again in a moment.\n"
log = logging.getLogger("access")


def logged(application: App) -> App:
    async def door(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await application(scope, receive, send)
        answer, began = Answer(send), time.perf_counter()
        try:
            await application(scope, receive, answer)
        except asyncio.CancelledError:  # the server has waited for it as long as it may, and is ending
            await answer.end()
        finally:
            write_line(scope, answer.status or 500, time.perf_counter() - began)

    return door


class Answer:
    """`send`, and how far the answer has come."""

    def __init__(self, send: Send) -> None:
        self._send, self.status, self._is_whole = send, 0, False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
        elif message["type"] == "http.response.body":
            self._is_whole = not message.get("more_body", False)
        await self._send(message)

    async def end(self) -> None:
        """Where it had not begun, say why there is none; where it had, end it in good order."""
        if not self.status:
            headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"retry-after", b"5"), (b"connection", b"close")]
            await self({"type": "http.response.start", "status": 503, "headers": headers})
            await self({"type": "http.response.body", "body": ENDING})
        elif not self._is_whole:
            await self({"type": "http.response.body", "body": b""})


def write_line(scope: Scope, status: int, seconds: float) -> None:
    path = scope["path"]
    if status < 400 and (path.startswith(ALWAYS_ASKED) or path == f"{AGENTS}orders"):
        return
    address = (scope.get("client") or ["-"])[0]
    # Encoded again, so that no path writes a line of its own.
    log.info("%s %s %s %s %.0f ms %s", address, scope["method"], quote(path), status, seconds * 1000, scope.get(WHO) or "-")


def asked_by(request: HttpRequest, who: str) -> None:
    """For `who`: the sender of a request that has no session."""
    vars(request)["who"] = who


def who(request: HttpRequest) -> str:
    """The person or the node, as far as answering the request has asked for it already."""
    named: str = vars(request).get("who", "")
    user = vars(request).get("user")
    if named or user is None or (isinstance(user, LazyObject) and user._wrapped is empty):
        return named
    return str(user.get_username())

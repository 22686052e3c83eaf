"""One keep-alive connection to the portal: every request signed, every answer checked.

An answer without a good signature is treated like no answer at all, whatever its status: neither "go" nor "no" may
come from a proxy in between. Plain http is for loopback only.
"""

from __future__ import annotations

import http.client
import json
import os
import secrets
import socket
import ssl
import threading
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Any, Optional
from urllib.parse import urlsplit

from agents import VERSION
from agents.portal.relay import RelayConnection
from agents.portal.wire import ENROL_NONCE, BadSignature, canonical_pieces, fingerprint, sign_request, verify_answer
from agents.trust.clock import Clock

TIMEOUT_SECONDS = 15.0
ANSWER_BYTES_MAX = 16 * 1024 * 1024
GZIP_FROM_BYTES = 2048
GZIP_BITS = 16 + zlib.MAX_WBITS  # zlib's way to say: with gzip's header
COUNTER_DIGITS_MAX = 18
LOOPBACK = ("127.0.0.1", "::1", "localhost")


class PortalDown(Exception):
    """The portal did not give an answer that can be trusted. Nothing is known about what it did with the request."""


class PortalRefused(PortalDown):
    """The portal looked at what was asked and said no; it did nothing with it."""


@dataclass(frozen=True)
class Reply:
    status: int
    value: dict[str, Any]

    @property
    def reason(self) -> str:
        return str(self.value.get("reason") or f"The portal answered {self.status} without a reason.")


class Counter:
    """The request counter of one key, shared by its connections.

    `lock` is held from taking a number until the request is on the wire, because the portal refuses a number that
    arrives after a higher one.
    """

    def __init__(self, take: Callable[[], int], follow: Callable[[int, bool], None] = lambda highest, ahead: None) -> None:
        self.lock = threading.Lock()
        self.take = take
        self.follow = follow  # takes the highest number the portal took, and whether ours was too far ahead of it


class Portal:
    """Belongs to one thread, except for `interrupt`. What an answer says of the time goes to `clock`."""

    def __init__(
        self, url: str, key: bytes, counter: Counter, now: Callable[[], float], ca_file: str = "", clock: Optional[Clock] = None,
        relay: str = "",
    ) -> None:  # fmt: skip
        self._connect = connector(url, ca_file, relay)
        self._key, self._counter, self._now = key, counter, now
        self._clock = clock or Clock(now)
        self._connection: http.client.HTTPConnection | None = None
        self._ended = False

    def ask(
        self, method: str, path: str, value: dict[str, Any] | str | None = None, *, query: str = "", timeout: float = TIMEOUT_SECONDS
    ) -> Reply:
        """The portal's signed answer; what is asked is canonical JSON, or will be. Raises PortalDown."""
        body, headers = _body(value)
        for last_try in (False, True):
            kept_alive, begun = self._connection is not None, self._clock.begun()
            try:
                status, answer_headers, answer, nonce = self._exchange(method, path, query, body, headers, timeout)
            except (OSError, http.client.HTTPException) as error:
                self.close()
                # A server may close an idle connection just as we use it; on a fresh one there is no such excuse.
                if kept_alive and not last_try and not self._ended and not isinstance(error, socket.timeout):
                    continue
                raise PortalDown(f"{method} {path}: {error or type(error).__name__}") from error
            if status == 401 and not last_try:
                self._follow(answer_headers, answer, nonce)
                continue  # another connection's number may have overtaken ours
            reply = self._checked(f"{method} {path}", status, answer_headers, answer, nonce)
            if status == 401:
                raise PortalDown(f"{method} {path} was answered 401. {_excerpt(answer)}")
            self._clock.take_portal_time(reply.value.get("at"), begun)
            return reply
        raise AssertionError("the last try returns or raises")

    def _follow(self, headers: dict[str, str], answer: bytes, nonce: str) -> None:
        """A number that was not taken: go on from the one the portal names, if it is the portal that names it."""
        try:
            verify_answer(self._key, 401, headers, answer, nonce)
        except BadSignature:
            return  # it does not know this key, or it is not the portal; the next try says so
        reply = _value("401", answer)
        highest = str(reply.get("counter", ""))
        if highest.isascii() and highest.isdigit() and len(highest) <= COUNTER_DIGITS_MAX:
            with self._counter.lock:
                self._counter.follow(int(highest), "ahead" in reply)

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def interrupt(self) -> None:
        """Make whoever waits for an answer, now or later, get PortalDown. The only method for another thread."""
        self._ended = True
        sock = getattr(self._connection, "sock", None)
        if sock is not None:
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # it was not connected any more

    def _exchange(
        self, method: str, path: str, query: str, body: bytes, headers: dict[str, str], timeout: float
    ) -> tuple[int, dict[str, str], bytes, str]:
        if self._connection is None:
            self._connection = self._connect(timeout)
        connection = self._connection
        if connection.sock is None:
            connection.connect()
        if self._ended:  # asked once there is a socket: whoever ends us later finds it
            raise ConnectionAbortedError("the agent is stopping")
        connection.sock.settimeout(timeout)
        nonce = secrets.token_urlsafe(18)
        with self._counter.lock:
            number = self._counter.take()
            signed = sign_request(self._key, fingerprint(self._key), method, path, query, body, int(self._now()), nonce, number)
            connection.request(method, f"{path}?{query}" if query else path, body or None, {**headers, **signed})
        response = connection.getresponse()
        return response.status, dict(response.headers.items()), _read(response), nonce

    def _checked(self, what: str, status: int, headers: dict[str, str], answer: bytes, nonce: str) -> Reply:
        try:
            verify_answer(self._key, status, headers, answer, nonce)
        except BadSignature as error:
            self.close()
            raise PortalDown(f"{what} was answered {status}, and not verifiably by the portal: {error} {_excerpt(answer)}") from error
        if status >= 500:
            raise PortalDown(f"{what} was answered {status}. {_excerpt(answer)}")
        return Reply(status, _value(what, answer))


def connector(url: str, ca_file: str = "", relay: str = "") -> Callable[[float], http.client.HTTPConnection]:
    """How to open a connection to `url`, through the `relay` at a socket file if there is one. Raises ValueError for a URL that must
    not be used."""
    parts = urlsplit(url)
    host = parts.hostname
    if parts.path not in ("", "/") or parts.query or not host or parts.username:
        raise ValueError(f"{url!r} must be scheme, host and port only, such as https://portal.example:8443.")
    if relay and (parts.scheme == "https" or (parts.scheme == "http" and host in LOOPBACK)):
        return lambda timeout: RelayConnection(host, parts.port, timeout, relay, url, ca_file)
    if parts.scheme == "https":
        context = _trust(ca_file)
        return lambda timeout: http.client.HTTPSConnection(host, parts.port, timeout=timeout, context=context)
    if parts.scheme == "http" and host in LOOPBACK:
        return lambda timeout: http.client.HTTPConnection(host, parts.port, timeout=timeout)
    raise ValueError(f"{url!r} must start with https://; plain http is for loopback only.")


def _trust(ca_file: str) -> ssl.SSLContext:
    """Who may sign the portal's certificate: the site's file, else whom the system trusts. It is read again when it has changed."""
    paths = ssl.get_default_verify_paths()
    files = (ca_file,) if ca_file else (paths.cafile, paths.capath)
    return _read_trust(ca_file, tuple(os.stat(path).st_mtime_ns for path in files if path))


@lru_cache(maxsize=1)
def _read_trust(ca_file: str, changed: tuple[int, ...]) -> ssl.SSLContext:
    """A system's 140 authorities cost a fast CPU 45 ms, and the relay opens a connection as often as the portal closes an idle one."""
    return ssl.create_default_context(cafile=ca_file or None)


def enrol(url: str, key: bytes, request: dict[str, Any], ca_file: str = "", relay: str = "") -> dict[str, Any]:
    """Hand a new key to the portal with a one-time token. Raises PortalDown; PortalRefused when it looked at them and said no."""
    connection = connector(url, ca_file, relay)(TIMEOUT_SECONDS)
    body, headers = _body(request)
    try:
        connection.request("POST", "/agent/v1/enrol", body, headers)
        response = connection.getresponse()
        status, answer = response.status, _read(response)
    except (OSError, http.client.HTTPException) as error:
        raise PortalDown(f"{url} does not answer: {error or type(error).__name__}") from error
    finally:
        connection.close()
    if status == 403:
        raise PortalRefused(f"The portal refuses to enrol this node ({status}). {_excerpt(answer)}")
    if status != 200:
        raise PortalDown(f"The portal cannot enrol this node now ({status}). {_excerpt(answer)}")
    try:
        verify_answer(key, status, dict(response.headers.items()), answer, ENROL_NONCE)
    except BadSignature as error:
        raise PortalDown(f"The answer is not from who received the key: {error}") from error
    return _value("POST /agent/v1/enrol", answer)


def _body(value: dict[str, Any] | str | None) -> tuple[bytes, dict[str, str]]:
    headers = {"User-Agent": f"slotlight-agent/{VERSION}"}
    if value is None:
        return b"", headers
    headers["Content-Type"] = "application/json"
    body, pieces = b"", iter((value.encode(),)) if isinstance(value, str) else canonical_pieces(value)
    for piece in pieces:
        body += piece
        if len(body) >= GZIP_FROM_BYTES:
            headers["Content-Encoding"] = "gzip"
            return _packed(chain((body,), pieces)), headers
    return body, headers


def _packed(pieces: Iterable[bytes]) -> bytes:
    packer = zlib.compressobj(1, zlib.DEFLATED, GZIP_BITS)
    return b"".join([*map(packer.compress, pieces), packer.flush()])


def _read(response: http.client.HTTPResponse) -> bytes:
    answer = response.read(ANSWER_BYTES_MAX + 1)
    if len(answer) > ANSWER_BYTES_MAX:
        raise http.client.HTTPException(f"the answer is longer than {ANSWER_BYTES_MAX} bytes")
    return answer


def _value(what: str, answer: bytes) -> dict[str, Any]:
    if not answer:
        return {}
    try:
        value = json.loads(answer)
    except (ValueError, RecursionError) as error:
        raise PortalDown(f"{what} was answered with something that is not JSON.") from error
    if not isinstance(value, dict):
        raise PortalDown(f"{what} was answered with JSON that is not an object.")
    return value


def _excerpt(answer: bytes) -> str:
    return answer[:200].decode("utf-8", "replace").strip()

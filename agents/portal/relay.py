"""The process that has the network: it carries bytes between the agent, which has none, and the portal, and understands none of them.

The agent is root and connects only to this, over a socket file; this runs as the user `nobody` and has no device, no file and no right. It does the
TLS, so whatever the network can do to a TLS library it does here. What passes is signed at both ends: who takes this process over
can read reports and keep silent, and can neither forge an order nor an answer.

One line opens a connection, {"portal": URL, "ca": file or ""}; "ok" or a reason answers; from then on it is a pipe.
"""

from __future__ import annotations

import http.client
import json
import logging
import os
import select
import socket
import ssl
import struct
import threading
from collections.abc import Callable
from typing import Any, Tuple

LINE_BYTES_MAX = 4096
CHUNK_BYTES = 65536
CONNECTIONS_MAX = 16
CONNECT_SECONDS = 15.0
IDLE_SECONDS = 300.0  # no poll waits that long
log = logging.getLogger("slotlight.relay")
Opener = Callable[[str, str], Callable[[float], http.client.HTTPConnection]]


class RelayConnection(http.client.HTTPConnection):
    """An HTTP connection to the portal through the relay at `path`."""

    def __init__(self, host: str, port: Any, timeout: float, path: str, url: str, ca_file: str) -> None:
        super().__init__(host, port, timeout=timeout)
        self._path, self._hello = path, json.dumps({"portal": url, "ca": ca_file}).encode() + b"\n"

    def connect(self) -> None:
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            sock.settimeout(self.timeout)
            sock.connect(self._path)
            sock.sendall(self._hello)
            status_line = _line(sock).decode("utf-8", "replace")
            if status_line != "ok":
                raise ConnectionRefusedError(status_line or "the relay hung up")
        except FileNotFoundError as error:
            sock.close()
            raise ConnectionRefusedError(f"there is no {self._path}: the relay does not run") from error
        except OSError:
            sock.close()
            raise
        self.sock = sock


def serve(path: str, opener: Opener, ready: Callable[[], None] = lambda: None) -> None:
    """Carry until the process ends. `opener` makes connections as the agent itself would."""
    if os.path.lexists(path):
        os.unlink(path)
    room = threading.BoundedSemaphore(CONNECTIONS_MAX)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as door:
        door.bind(path)
        os.chmod(path, 0o600)
        door.listen(CONNECTIONS_MAX)
        ready()
        while True:
            inside, _ = door.accept()
            room.acquire()
            threading.Thread(target=_one, args=(inside, opener, room), daemon=True).start()


def _one(inside: socket.socket, opener: Opener, room: threading.BoundedSemaphore) -> None:
    try:
        with inside:
            inside.settimeout(CONNECT_SECONDS)
            outside = _open(inside, opener)
            if outside is not None:
                with outside:
                    carry(inside, outside)
    except OSError as error:
        log.info("a connection ended: %s", error)
    finally:
        room.release()


def _open(inside: socket.socket, opener: Opener) -> Any:
    """A socket to the portal; None when it cannot be, and the other side got the reason."""
    try:
        if _peer(inside) not in (0, os.geteuid()):
            raise ValueError("only root and the relay's own user are served")
        request = json.loads(_line(inside))
        connection = opener(str(request["portal"]), str(request["ca"]))(CONNECT_SECONDS)
        connection.connect()
    except (OSError, ValueError, KeyError, TypeError, http.client.HTTPException) as error:
        inside.sendall(" ".join((str(error) or type(error).__name__).split()).encode()[: LINE_BYTES_MAX - 1] + b"\n")
        return None
    inside.sendall(b"ok\n")
    return connection.sock


def carry(inside: socket.socket, outside: Any) -> None:
    """Bytes in both directions until either side is done or nothing passed for long. Never more in hand than a few chunks.

    One thread for both directions: a TLS connection must not be read and written at once.
    """
    inside.setblocking(False)
    outside.setblocking(False)
    waiting = {inside: bytearray(), outside: bytearray()}  # what is still to be sent to each
    other = {inside: outside, outside: inside}
    while True:
        readable = [sock for sock in waiting if len(waiting[other[sock]]) < CHUNK_BYTES]
        writable = [sock for sock in waiting if waiting[sock]]
        ready, free, _ = select.select(readable, writable, [], IDLE_SECONDS)
        if not ready and not free:
            return
        for sock in ready:
            data, open_still = _read(sock)
            waiting[other[sock]] += data
            if not open_still:
                _flush(other[sock], waiting[other[sock]])
                return
        for sock in writable:
            _write(sock, waiting[sock])


def _read(sock: Any) -> Tuple[bytes, bool]:
    """What there is now, and whether there may be more later. TLS may hold bytes that `select` does not see."""
    data = b""
    while True:
        try:
            chunk = sock.recv(CHUNK_BYTES)
        except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
            return data, True
        data += chunk
        if not chunk:
            return data, False
        if not isinstance(sock, ssl.SSLSocket) or not sock.pending():
            return data, True


def _write(sock: Any, waiting: bytearray) -> None:
    try:
        del waiting[: sock.send(bytes(waiting))]
    except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
        pass  # there will be room


def _flush(sock: Any, waiting: bytearray) -> None:
    sock.settimeout(CONNECT_SECONDS)
    sock.sendall(bytes(waiting))


def _peer(sock: socket.socket) -> int:
    """The user at the other end."""
    return int(struct.unpack("3i", sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")))[1])


def _line(sock: socket.socket) -> bytes:
    line = b""
    while len(line) < LINE_BYTES_MAX:
        byte = sock.recv(1)
        if byte in (b"", b"\n"):
            return line
        line += byte
    raise ValueError("the line is too long")

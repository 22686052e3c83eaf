"""The HTTPS proxy that a site puts before its portal, as small as it can be: the agent takes nothing else from another machine.

To the portal it says by X-Forwarded-Proto that the outside is HTTPS, as docs say a proxy must, and passes everything else on.
"""

import contextlib
import re
import select
import socket
import ssl
import subprocess
import threading
from pathlib import Path

CHUNK = 65536
LOOK_SECONDS = 1.0  # how soon an outage is noticed
END, OUTSIDE = b"\r\n\r\n", b"\r\nX-Forwarded-Proto: https"
DAYS = "30"


def certificate(folder: Path, name: str) -> tuple[Path, Path]:
    """A certificate for `name`, which is its own authority, and its key. Made once per folder."""
    cert, key = folder / "portal.crt", folder / "portal.key"
    if not cert.exists():
        what = ["-subj", f"/CN={name}", "-addext", f"subjectAltName=DNS:{name}", "-days", DAYS, "-keyout", str(key), "-out", str(cert)]
        made = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", *what]
        subprocess.run(made, check=True, capture_output=True)
    return cert, key


class Front:
    """Listens on a port of its own until `close`; `outage` makes it drop everybody, as a network that is gone does."""

    def __init__(self, cert: Path, key: Path, portal_port: int) -> None:
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(cert, key)
        self._portal_port = portal_port
        self._door = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port = self._door.getsockname()[1]
        self.outage = False
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._door.close()

    def _accept(self) -> None:
        while True:
            try:
                sock, _ = self._door.accept()
            except OSError:
                return  # closed
            threading.Thread(target=self._carry, args=(sock,), daemon=True).start()

    def _carry(self, raw: socket.socket) -> None:
        """One thread for both directions: OpenSSL does not let two threads use one connection, and with bad luck ends the process."""
        with contextlib.suppress(OSError), raw:
            if self.outage:
                return
            raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            portal = ("127.0.0.1", self._portal_port)
            with self._context.wrap_socket(raw, server_side=True) as outside, socket.create_connection(portal) as inside:
                inside.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                requests = Requests()
                while not self.outage and self._pass_on(outside, inside, requests):
                    pass

    def _pass_on(self, outside: ssl.SSLSocket, inside: socket.socket, requests: "Requests") -> bool:
        """What has come from either side; False when one of them has hung up."""
        ready = [outside] if outside.pending() else select.select([outside, inside], [], [], LOOK_SECONDS)[0]
        if inside in ready:
            received = inside.recv(CHUNK)
            outside.sendall(received)
            return bool(received)
        if outside in ready:
            outside.settimeout(0)
            try:
                received = outside.recv(CHUNK)
            except ssl.SSLWantReadError:  # half a record, or one of TLS's own
                return True
            finally:
                outside.settimeout(None)
            inside.sendall(requests.fed(received))
            return bool(received)
        return True


class Requests:
    """One request after the other: its head with our header in it, then as much body as the head announces."""

    def __init__(self) -> None:
        self._head, self._body_left = b"", 0

    def fed(self, received: bytes) -> bytes:
        """What of it goes to the portal now."""
        out = b""
        while received:
            if self._body_left:
                out, received, self._body_left = (
                    out + received[: self._body_left],
                    received[self._body_left :],
                    max(0, self._body_left - len(received)),
                )
                continue
            self._head += received
            if END not in self._head:
                break
            head, received = self._head.split(END, 1)
            out, self._head = out + head + OUTSIDE + END, b""
            length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
            self._body_left = int(length[1]) if length else 0
        return out

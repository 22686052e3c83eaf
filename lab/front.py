"""The HTTPS proxy that a site puts before its portal, as small as it can be: the agent takes nothing else from another machine.

To the portal it says by X-Forwarded-Proto that the outside is HTTPS, as docs say a proxy must, and passes everything else on.
"""

import contextlib
import re
import socket
import ssl
import subprocess
import threading
from pathlib import Path

CHUNK = 65536
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
        with contextlib.suppress(OSError), raw:
            if self.outage:
                return
            raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            portal = ("127.0.0.1", self._portal_port)
            with self._context.wrap_socket(raw, server_side=True) as outside, socket.create_connection(portal) as inside:
                inside.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                threading.Thread(target=self._back, args=(inside, outside), daemon=True).start()
                self._requests(outside, inside)

    def _requests(self, outside: ssl.SSLSocket, inside: socket.socket) -> None:
        """One request after the other: its head with our header in it, then as much body as the head announces."""
        pending = b""
        while not self.outage:
            while b"\r\n\r\n" not in pending:
                more = outside.recv(CHUNK)
                if not more:
                    inside.shutdown(socket.SHUT_WR)
                    return
                pending += more
            head, pending = pending.split(b"\r\n\r\n", 1)
            inside.sendall(head + b"\r\nX-Forwarded-Proto: https\r\n\r\n")
            length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
            left = int(length[1]) if length else 0
            while left:
                if not pending:
                    pending = outside.recv(min(CHUNK, left))
                if not pending:
                    return
                inside.sendall(pending[:left])
                left, pending = left - len(pending[:left]), pending[left:]

    def _back(self, inside: socket.socket, outside: ssl.SSLSocket) -> None:
        with contextlib.suppress(OSError, ValueError):
            while said := inside.recv(CHUNK):
                if self.outage:
                    break
                outside.sendall(said)
        with contextlib.suppress(OSError):
            outside.shutdown(socket.SHUT_RDWR)

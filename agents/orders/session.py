"""What this agent keeps in memory-backed files: it outlives the agent, and not a reboot, a copy of the disk or a restored backup.

`nonce` names this stay of this node: the portal puts it into every order, so an order never reaches another stay. `journal-…` says how far
the journal had come, so that one which was put back is noticed.
"""

from __future__ import annotations

import base64
import os
import re
import secrets
from hashlib import sha256
from typing import Optional, Tuple

NONCE = "nonce"
NONCE_BYTES = 32
_NONCE = re.compile(r"([A-Za-z0-9_-]{43}) (\S+)\n")
_STAMP = re.compile(r"([0-9a-f]{16}) ([0-9]{1,18})\n")
Height = Tuple[str, int]  # a journal's generation, and how often it was written


class Session:
    """The files in `folder`, for an agent that lives in `home`. Raises OSError where they cannot be kept."""

    def __init__(self, folder: str, home: str, boot_id: str) -> None:
        self.folder, self._boot_id = folder, boot_id or "-"
        os.makedirs(folder, mode=0o700, exist_ok=True)
        self._stamp = os.path.join(folder, f"journal-{sha256(os.path.realpath(home).encode()).hexdigest()[:16]}")
        self._make_nonce()

    @property
    def nonce(self) -> str:
        """As the file says now; another process may have renewed it."""
        return self._read_nonce() or self._make_nonce()

    def renew(self) -> None:
        """Every order that was sealed before now is void."""
        os.unlink(os.path.join(self.folder, NONCE))
        self._make_nonce()

    def _read_nonce(self) -> str:
        """The one of this boot; a folder that is not in memory may hold one of an earlier boot."""
        found = _NONCE.fullmatch(_text(os.path.join(self.folder, NONCE)))
        return found.group(1) if found is not None and found.group(2) == self._boot_id else ""

    def _make_nonce(self) -> str:
        """The nonce there is, or a new one. Two agents of one node that start together agree on it."""
        there = self._read_nonce()
        if there:
            return there
        path = os.path.join(self.folder, NONCE)
        nonce = base64.urlsafe_b64encode(secrets.token_bytes(NONCE_BYTES)).rstrip(b"=").decode("ascii")
        draft = f"{path}.{os.getpid()}-{secrets.token_hex(4)}"
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
            file.write(f"{nonce} {self._boot_id}\n")
        try:
            os.link(draft, path)
        except FileExistsError:
            first = self._read_nonce()
            if first:
                return first
            os.replace(draft, path)
            return nonce
        finally:
            if os.path.exists(draft):
                os.unlink(draft)
        return nonce

    def read_stamp(self) -> Optional[Height]:
        """How far the journal had come; None when nothing says so."""
        found = _STAMP.fullmatch(_text(self._stamp))
        return (found.group(1), int(found.group(2))) if found is not None else None

    def write_stamp(self, height: Height) -> None:
        """A lost stamp is no harm: it then stands lower than the journal."""
        try:
            with open(f"{self._stamp}.new", "w", encoding="ascii") as file:
                file.write(f"{height[0]} {height[1]}\n")
            os.replace(f"{self._stamp}.new", self._stamp)
        except OSError:
            pass


def in_memory(mounts: Tuple[Tuple[str, str, str], ...], folder: str) -> bool:
    """Whether the mount that holds `folder` is gone after a reboot."""
    holding = [m for m in mounts if folder == m[1] or folder.startswith(m[1].rstrip("/") + "/")]
    return bool(holding) and max(holding, key=lambda mount: len(mount[1]))[2] in ("tmpfs", "ramfs")


def _text(path: str) -> str:
    try:
        with open(path, encoding="ascii") as file:
            return file.read(256)
    except (OSError, ValueError):
        return ""

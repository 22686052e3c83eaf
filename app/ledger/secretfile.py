"""A secret of 32 random bytes in a file of the data folder, in hex, mode 0600: one that the database does not hold."""

import secrets
from functools import lru_cache
from pathlib import Path

from app.ledger.keys import appear

BYTES = 32


def read(path: Path) -> bytes:
    """The secret, read anew whenever the file has changed. Raises OSError and ValueError."""
    found = path.stat()
    return _read(path, found.st_ino, found.st_mtime_ns)


@lru_cache(maxsize=8)
def _read(path: Path, _which: int, _changed: int) -> bytes:
    secret = bytes.fromhex(path.read_text("ascii").strip())
    if len(secret) != BYTES:
        raise ValueError(f"it holds {len(secret)} bytes and must hold {BYTES}")
    return secret


def make(path: Path) -> None:
    """It appears whole or not at all, and the first one stays."""
    appear(path, f"{secrets.token_hex(BYTES)}\n".encode("ascii"))

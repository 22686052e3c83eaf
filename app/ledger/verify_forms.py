"""The forms of what a bundle holds: canonical JSON, numbers, digests, keys. None, or 0, when a text has another. A part of `verify.py`."""

from __future__ import annotations

import base64
import binascii
import json
import re
from typing import Any, Optional


def canonical(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode("utf-8", "surrogatepass")


def read_json(raw: bytes, fields: set[str]) -> Optional[dict[str, Any]]:
    """An object with exactly these fields, or None when the bytes are not its canonical form."""
    try:
        value = json.loads(raw.decode("utf-8"))
        return value if isinstance(value, dict) and set(value) == fields and canonical(value) == raw else None
    except (ValueError, RecursionError):
        return None


def number(text: object) -> int:
    """A positive decimal number as text, or 0."""
    return int(text) if isinstance(text, str) and re.fullmatch(r"[1-9][0-9]{0,17}", text) else 0


def unhex(text: object, form: str) -> Optional[bytes]:
    return bytes.fromhex(text) if isinstance(text, str) and re.fullmatch(form, text) else None


def digest(text: object) -> Optional[bytes]:
    return unhex(text, r"[0-9a-f]{64}")


def spki_of(text: object) -> Optional[bytes]:
    return unhex(text, r"([0-9a-f]{2}){80,100}")


def unbase64(text: str) -> Optional[bytes]:
    try:
        raw = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return raw if base64.b64encode(raw).decode() == text else None


def is_digests(value: object) -> bool:
    return isinstance(value, list) and all(digest(item) for item in value) and value == sorted(set(value))


def read_path(items: list[Any]) -> Optional[list[bytes]]:
    """The hashes of a proof."""
    found = [digest(item) for item in items]
    path = [item for item in found if item is not None]
    return path if len(path) == len(found) else None

"""How agent and portal speak: canonical bytes and signed requests. Used on both sides.

Canonical bytes are RFC 8785 for the values we allow: objects, lists, strings, booleans and null. Numbers are
refused, because a vdev guid does not survive a double: whoever sends a number sends it as a decimal string.
"""

from __future__ import annotations

import json
from typing import Any


def canonical(value: Any) -> bytes:
    """The one way to write `value` as bytes. Raises TypeError for a number or anything JSON does not have."""
    _refuse_numbers(value, "$")
    # Keys sort by UTF-16 code units in RFC 8785; `_refuse_numbers` holds keys to ASCII, where both orders agree.
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode("utf-8")


def _refuse_numbers(value: Any, where: str) -> None:
    if value is None or isinstance(value, (str, bool)):
        return
    if isinstance(value, (list, tuple)):
        for i, item in enumerate(value):
            _refuse_numbers(item, f"{where}[{i}]")
    elif isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str) or not key.isascii():
                raise TypeError(f"{where}: the key {key!r} is not ASCII text")
            _refuse_numbers(item, f"{where}.{key}")
    else:
        raise TypeError(f"{where}: {type(value).__name__} has no canonical form; send it as a string")

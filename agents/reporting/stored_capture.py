"""The last word of every source and key, kept small: 800 disks' texts would be tens of megabytes as they came."""

from __future__ import annotations

import hashlib
import json
import zlib
from typing import Any

from agents.collectors.base import Capture
from agents.portal.wire import canonical


class Kept:
    """A capture with its body packed and its digest reckoned once. Stands wherever a report needs a capture."""

    __slots__ = ("_packed", "digest", "key", "outcome", "reason", "seconds", "size_bytes", "source", "taken")

    def __init__(self, capture: Capture, taken: float, last: Kept | None = None) -> None:
        """`taken` is when it was asked, by the schedule's clock. `last` is what was said before, often the same."""
        self.source, self.key, self.outcome = capture.source, capture.key, capture.outcome
        self.reason, self.seconds, self.taken = capture.reason, capture.seconds, taken
        body = canonical(capture.body())
        self.size_bytes = len(body)
        self.digest = hashlib.sha256(body).hexdigest()
        self._packed: bytes = last._packed if last is not None and last.digest == self.digest else zlib.compress(body, 1)

    def repeated(self, taken: float, key: str) -> Kept:
        """The same text, known to hold at another time or for another key."""
        copy = object.__new__(Kept)
        for name in Kept.__slots__:
            setattr(copy, name, getattr(self, name))
        copy.taken, copy.key = taken, key
        return copy

    def body(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(zlib.decompress(self._packed))
        return found

    @property
    def text(self) -> str:
        return str(self.body()["text"])

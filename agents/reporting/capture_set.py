"""The set of captures a node stands by, and its digest. Agent and portal compute it alike, so that the digest alone can say "as before".

A changed set travels as a difference. It is checked by its result: whoever applies one compares the digest of what came
out with the digest that came along, so it does not matter from which older set the other side started.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from agents.portal.wire import digest_of

TENTHS_BELOW_SECONDS = 60.0


def place(source: str, key: str) -> str:
    """Where a capture stands in a set: "zdb_label/sda1", or the source alone."""
    return f"{source}/{key}" if key else source


def set_digest(boot_id: str, version: str, mode: str, captures: Mapping[str, str]) -> str:
    """Names everything that would make a report differ from the one before. Times do not: they pass by themselves."""
    return digest_of([boot_id, version, mode, dict(captures)])


def spoken(ages: Mapping[str, float]) -> dict[str, str]:
    """Ages as they travel: rounded up, because a text must never look younger than it is."""
    return {source: _rounded_up(max(0.0, seconds)) for source, seconds in ages.items()}


def _rounded_up(seconds: float) -> str:
    if seconds >= TENTHS_BELOW_SECONDS:
        return str(math.ceil(seconds))
    return f"{math.ceil(seconds * 10) / 10:g}"

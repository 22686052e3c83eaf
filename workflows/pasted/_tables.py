"""Tables whose cells stand under a heading, some flush left and some flush right, some of them empty."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence


def cells(heading: Sequence[tuple[str, int]], row: str, right: frozenset[str]) -> Mapping[str, str]:
    """Column -> what stands under it; a cell that is empty is missing. `right` names the columns that are flush right."""
    words = [(found.group(), found.start(), found.end()) for found in re.finditer(r"\S+", row)]
    owner = [_flush_right(heading, start, end, right) for _, start, end in words]
    found: dict[str, str] = {}
    for (word, start, _), name in zip(words, owner, strict=False):
        name = name or _flush_left(heading, start, right)
        if name:
            found[name] = f"{found[name]} {word}" if name in found else word
    return found


def _flush_right(heading: Sequence[tuple[str, int]], start: int, end: int, right: frozenset[str]) -> str:
    """The column at whose right edge a word ends."""
    return next((name for name, at in heading if name in right and end == at + len(name) and start < at + len(name)), "")


def _flush_left(heading: Sequence[tuple[str, int]], start: int, right: frozenset[str]) -> str:
    """The last column that begins at or before a word."""
    return next((name for name, at in reversed(heading) if at <= start and name not in right), "")

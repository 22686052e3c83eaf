"""Which of several readings of one output is used when none of them understands every line, and which of its lines were not understood."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from agents.collectors import COLLECTORS
from agents.collectors._rows import CROOKED, UNDER_WAY
from agents.collectors.base import Reading, UnreadLine
from workflows.facts.status_reasons import reason_of

T = TypeVar("T")

CUT_WITHIN = "... (cut here)"  # stands in place of a row, and of those that stood below it
SOUGHT_MAX = 100  # lines that are looked for within others; a text with more is hardly an output


def reading(source: str, text: str) -> Reading | None:
    """What the text says as far as it can be read; None for a source that is read as a whole or not at all."""
    collector = COLLECTORS[source]
    return collector.read(text) if hasattr(collector, "read") else None


def best(readings: Iterable[tuple[T, Reading | None]]) -> tuple[T, Reading] | None:
    """The reading that told something and left the fewest lines, with what it was made from. The first of equal ones. What is only missing counts less."""
    useful = [(made, found) for made, found in readings if found is not None and _is_useful(found.value)]
    return min(useful, key=lambda pair: _left(pair[1].every_unread), default=None)


def _left(unread: Sequence[UnreadLine]) -> tuple[int, int]:
    return sum(not line.missing for line in unread), len(unread)


def _is_useful(pools: Sequence[Any]) -> bool:
    """Whether any pool shows its state, a vdev, damaged data or what is under way: words that only look like a field are no output. A tree that
    lost its shape is none."""
    return any(pool.state or pool.vdevs.children or getattr(pool, "errors", None) or _is_under_way(pool) for pool in pools) and not any(
        _shapeless(pool) for pool in pools
    )


def _is_under_way(pool: Any) -> bool:
    """Whether a reason, a scan, a removal or an expansion is told of: somebody kept that line alone."""
    return (
        reason_of(getattr(pool, "status", "")) is not None
        or any(scan.function != "none" for scan in getattr(pool, "scans", ()))
        or any(UNDER_WAY.match(getattr(pool, field, "")) for field in ("remove", "expand"))
    )


def _shapeless(pool: Any) -> bool:
    """Whether most rows are not indented: what hangs below what is then not told, and anything else would be guessed."""
    lost: int = sum(line.reason == CROOKED for line in pool.unread)
    return lost > 1 and 2 * lost > sum(_rows(top) for top in (pool.vdevs, *(top for _, tops in pool.sections for top in tops)))


def _rows(vdev: Any) -> int:
    return 1 + sum(_rows(child) for child in vdev.children)


def placed(unread: Iterable[UnreadLine], lines: Sequence[str], first: int) -> tuple[tuple[int, str], ...]:
    """(line number, why) of each; of one that is missing, or that was mended, the number is that of the first line of its output.

    A cut within the last row is that row's.
    """
    end = max((number for number, line in enumerate(lines, first) if line.strip()), default=first)
    places: dict[str, list[int]] = {}
    for number, line in enumerate(lines, first):
        places.setdefault(" ".join(line.split()), []).append(number)
    found = []
    for index, odd in enumerate(unread):
        at = [end] if odd.line == CUT_WITHIN else places.get(" ".join(odd.line.split()), [])
        found.append(
            (at.pop(0) if len(at) > 1 else at[0] if at else _holding(odd.line, lines, first) if index < SOUGHT_MAX else first, odd.reason)
        )
    return tuple(found)


def _holding(text: str, lines: Sequence[str], first: int) -> int:
    """The line that holds what was not understood, as the value of its field."""
    return next((number for number, line in enumerate(lines, first) if text and text in line), first)


def rounded(unread: Iterable[UnreadLine]) -> tuple[str, ...]:
    """What to tell the reader of numbers that are not exact."""
    names = [odd.line.split()[0] for odd in unread if odd.rounded and odd.field == "counters" and odd.line]
    note = f"The error counters of {', '.join(names)} are rounded and are known no better; ask with -p." if names else ""
    others = any(odd.rounded and odd.field != "counters" for odd in unread)
    return tuple(filter(None, (note, "Its amounts are rounded, so how far a scan is cannot be computed; ask with -p." if others else "")))

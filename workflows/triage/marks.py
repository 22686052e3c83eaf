"""Where in a paste the evidence of a situation stands, so that a reader sees the very lines it was read from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from workflows.core import Evidence

LINES_EACH = 3
SPECIFIC_LETTERS = 6  # a word this long names something: a disk, a guid, a state


@dataclass(frozen=True)
class Mark:
    """One line that bears out what was said, by its number in the text of this name."""

    name: str
    line: int


@dataclass(frozen=True)
class Stretch:
    """Lines that were read as one output of one node. `first` counts from 1."""

    name: str
    first: int
    lines: Sequence[str]
    node: str
    source: str


def marks(evidence: Iterable[Evidence], stretches: Sequence[Stretch]) -> tuple[Mark, ...]:
    """The lines of the same node that say what the evidence says, in their order. None when the words are nowhere as such."""
    found = {mark for each in evidence for mark in _of(each, stretches)}
    return tuple(sorted(found, key=lambda mark: (mark.name, mark.line)))


def _of(evidence: Evidence, stretches: Sequence[Stretch]) -> list[Mark]:
    words = _words(evidence.line)
    specific = {word for word in words if len(word) >= SPECIFIC_LETTERS}
    mine = [stretch for stretch in stretches if stretch.node == evidence.node]
    same = [stretch for stretch in mine if _family(stretch.source) == _family(evidence.source)] or mine
    as_it_stands = [
        Mark(stretch.name, stretch.first + place)
        for stretch in same
        for place, line in enumerate(stretch.lines)
        if evidence.line and line.strip() == evidence.line.strip()
    ]
    if as_it_stands:
        return as_it_stands[:LINES_EACH]
    scored = [
        (score, Mark(stretch.name, stretch.first + place))
        for stretch in same
        for place, line in enumerate(stretch.lines)
        if (score := _score(words, specific, line))
    ]
    best = max((score for score, _ in scored), default=0)
    return [mark for score, mark in scored if score == best][:LINES_EACH]


def _score(words: set[str], specific: set[str], line: str) -> int:
    """How many words of the evidence a line has; nothing when it has none that names something."""
    here = _words(line)
    return len(words & here) if specific & here else 0


def _words(text: str) -> set[str]:
    """Words as both spell them: a path by its last part, and a setting by its name too."""
    words = {word.rsplit("/", 1)[-1].strip(".,:;'\"()") for word in re.split(r"\s+", text)}
    return (words | {found.group(1) for word in words if (found := _SETTING.fullmatch(word))}) - {""}


_SETTING = re.compile(r"([a-z][\w.]{5,}):\S+")


def _family(source: str) -> str:
    return re.sub(r"_(guid|slow|json)$", "", source.partition("/")[0])

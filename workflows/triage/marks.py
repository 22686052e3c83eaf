"""Where in a paste the evidence of a situation stands, so that a reader sees the very lines it was read from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from workflows.engine.core import Evidence

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


Place = tuple[Mark, frozenset[str]]  # a line, and its words


@dataclass
class _Lines:
    """The lines of some stretches: by all they say, and by each word that names something."""

    exact: dict[str, list[Mark]] = field(default_factory=dict)
    by_word: dict[str, list[Place]] = field(default_factory=dict)

    def add(self, stretch: Stretch) -> None:
        for number, line in enumerate(stretch.lines, stretch.first):
            mark, words = Mark(stretch.name, number), frozenset(_words(line))
            self.exact.setdefault(line.strip(), []).append(mark)
            for word in words:
                if len(word) >= SPECIFIC_LETTERS:
                    self.by_word.setdefault(word, []).append((mark, words))


class Finder:
    """Finds lines by what evidence says. The lines are looked through once, however many situations ask."""

    def __init__(self, stretches: Iterable[Stretch]) -> None:
        self._lines: dict[tuple[str, str], _Lines] = {}  # by node and source, and by node alone, where the source is ""
        self._order: dict[Mark, int] = {}
        for stretch in stretches:
            for kind in dict.fromkeys((_family(stretch.source), "")):
                self._lines.setdefault((stretch.node, kind), _Lines()).add(stretch)
            for number in range(stretch.first, stretch.first + len(stretch.lines)):
                self._order.setdefault(Mark(stretch.name, number), len(self._order))

    def marks(self, evidence: Iterable[Evidence]) -> tuple[Mark, ...]:
        """The lines of the same node that say what the evidence says, in their order. None when the words are nowhere as such."""
        found = {mark for each in evidence for mark in self._of(each)}
        return tuple(sorted(found, key=lambda mark: (mark.name, mark.line)))

    def _of(self, evidence: Evidence) -> list[Mark]:
        """The line as it stands there; else those that share most words with it, and one that names something."""
        lines = self._lines.get((evidence.node, _family(evidence.source))) or self._lines.get((evidence.node, ""), _Lines())
        if evidence.line and (as_it_stands := lines.exact.get(evidence.line.strip())):
            return as_it_stands[:LINES_EACH]
        words = _words(evidence.line)
        shared = {mark: len(words & here) for word in words for mark, here in lines.by_word.get(word, ())}
        best = max(shared.values(), default=0)
        return sorted((mark for mark, score in shared.items() if score == best), key=self._order.__getitem__)[:LINES_EACH]


def _words(text: str) -> set[str]:
    """Words as both spell them: a path by its last part, and a setting by its name too."""
    words = {word.rsplit("/", 1)[-1].strip(".,:;'\"()") for word in re.split(r"\s+", text)}
    return (words | {found.group(1) for word in words if (found := _SETTING.fullmatch(word))}) - {""}


_SETTING = re.compile(r"([a-z][\w.]{5,}):\S+")


def _family(source: str) -> str:
    return re.sub(r"_(guid|slow|json)$", "", source.partition("/")[0])

"""What one word of a source means: good, neutral, or explained by a situation. What is in no table is none of these."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Meaning:
    """`past` is a record of something that happened: it is over once the pool it names is good again by its own rows."""

    kind: Literal["good", "neutral", "explained"]
    slugs: frozenset[str] = frozenset()
    past: bool = False

    @property
    def is_well(self) -> bool:
        """Whether nothing needs to explain it."""
        return self.kind != "explained"


GOOD = Meaning("good")  # says that the thing is as it should be
NEUTRAL = Meaning("neutral")  # says nothing of how the thing is


def by(*slugs: str | frozenset[str], past: bool = False) -> Meaning:
    """Not well, and one of these situations says what it is."""
    found = frozenset(slug for one in slugs for slug in ((one,) if isinstance(one, str) else one))
    return Meaning("explained", found, past)


@dataclass(frozen=True)
class Form:
    """Words that hold a number, a date or a name. `example` is what the documentation prints."""

    pattern: re.Pattern[str]
    example: str
    meaning: Meaning


def form(pattern: str, example: str, meaning: Meaning) -> Form:
    """Matches from the first character to the last; `.` matches line breaks, too."""
    return Form(re.compile(pattern, re.DOTALL), example, meaning)


@dataclass(frozen=True)
class Vocabulary:
    """Every word that one source can say in one position."""

    source: str  # "zpool_status"
    position: str  # "state of a leaf"
    words: Mapping[str, Meaning]
    forms: tuple[Form, ...] = ()
    note: str = ""  # what is left out, and why

    def meaning(self, text: str) -> Meaning | None:
        """None for a word that is not in the table."""
        found = self.words.get(text)
        if found is not None or not self.forms:
            return found
        return next((one.meaning for one in self.forms if one.pattern.fullmatch(text)), None)

    def name(self, text: str) -> str:
        """What the documentation calls this word: the same for every date and number in it."""
        found = next((one.example for one in self.forms if one.pattern.fullmatch(text)), None) if text not in self.words else None
        return found or text

    def rows(self) -> tuple[tuple[str, Meaning], ...]:
        """Every entry, as the documentation prints it."""
        return (*self.words.items(), *((one.example, one.meaning) for one in self.forms))

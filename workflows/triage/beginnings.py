"""What all lines of a text begin with, whichever program wrote it there: a level and a task's name, a nick, a bullet, a stamp of its own form.

`wrappers` knows the common ones by their forms. These are found by comparing the lines: the same characters, with numbers that may differ.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

HEAD = 160  # characters in which a beginning ends
CUTS_MAX = 8  # places of one line at which its beginning could end
TRIED_MAX = 8
LINES_MIN = 3
_ENDS = re.compile(r"(?<!^)[^\w\s\[({<\"'](?=\s|$)|^[-*%\u2022\u203a\u00bb](?=\s)")  # a mark alone is that of a list or a shell
_DIGITS = re.compile(r"[0-9]+")


def shared(lines: Sequence[str]) -> Iterator[re.Pattern[str]]:
    """Patterns of beginnings that at least LINES_MIN lines have, the most frequent first and of those the shortest; at most TRIED_MAX.

    A beginning ends with a mark that a blank, a tab or the line's end follows. Group 1 of a pattern is what stands behind it.
    """
    found = Counter(shape for line in lines if line.strip() for shape in _shapes(line))
    often = sorted((shape for shape, count in found.items() if count >= LINES_MIN), key=lambda shape: (-found[shape], len(shape)))
    for shape in often[:TRIED_MAX]:
        yield re.compile(f"{re.escape(shape).replace('0', '[0-9]{1,40}')}(.*)")


def _shapes(line: str) -> Iterator[str]:
    """The beginnings of one line, with 0 for each number."""
    head = _DIGITS.sub("0", line[:HEAD])
    for place, end in enumerate(_ENDS.finditer(head)):
        if place == CUTS_MAX:
            return
        yield head[: end.end()]

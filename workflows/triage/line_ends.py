"""Line ends that are not the output's own: put in by a terminal at its last column, or doubled by the page from which a text was copied."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise

WIDTHS = (80, 100, 120, 132)  # columns of a terminal
ROW_ENDS = 8  # columns: blanks before a counter, which a copy loses at the end of a line
CUT_MIN = 3  # lines that end at the last column
SPACED_MIN = 8  # lines, each with an empty one below
_HEADING = re.compile(r"\s{0,200}NAME {1,300}STATE {1,40}READ(?: {1,20}WRITE)? {0,20}([WRITECKSUM]{0,5})\s{0,8}")
_COUNTS = re.compile(r"\s{0,12}[0-9.]{1,12}[KMGT]?(?: {1,12}[0-9.]{1,12}[KMGT]?){0,2}")


def joined(lines: list[str], is_a_beginning: Callable[[str], bool]) -> tuple[list[str], int]:
    """The lines that a terminal has cut, in one piece again, and how many were cut.

    A text counts as cut where at least CUT_MIN lines end at the last column with the rest of a word or row below, and none between them is longer.
    """
    heading = next((place for place, (line, below) in enumerate(pairwise(lines)) if _is_torn_heading(line, below)), -1)
    if heading >= 0:
        width = len(lines[heading])
        cut = [
            place
            for place, (line, below) in enumerate(pairwise(lines))
            if place == heading or (width - ROW_ENDS < len(line) <= width and _COUNTS.fullmatch(below.rstrip()))
        ]
        return _pieces(lines, frozenset(cut)), len(cut)
    for width in WIDTHS:
        full = [
            place
            for place, (line, below) in enumerate(pairwise(lines))
            if len(line) == width and not line[-1].isspace() and 0 < len(below.rstrip()) < width and not is_a_beginning(below)
        ]
        if len(full) >= CUT_MIN and max(map(len, lines[full[0] : full[-1] + 1])) <= width and not _is_a_table(lines, full, width):
            return _pieces(lines, frozenset(full)), len(full)
    return lines, 0


def _is_torn_heading(line: str, below: str) -> bool:
    """Whether the names of a tree's columns go on below, within a word or with the blank before it. A mail program breaks between words and takes the blank."""
    found = _HEADING.fullmatch(line)
    if found is None or not (found.group(1) or line[-1].isspace() or below[:1].isspace()):
        return False
    return (found.group(1) + below.strip()) in ("CKSUM", "WRITECKSUM", "WRITE CKSUM")


def _is_a_table(lines: Sequence[str], full: Sequence[int], width: int) -> bool:
    """Whether rows of one length follow each other, as in a table that is as wide as that."""
    return any(len(lines[place + 1].rstrip()) == width and len(lines[place - 1].rstrip()) == width for place in full if place)


def _pieces(lines: Sequence[str], full: frozenset[int]) -> list[str]:
    out: list[str] = []
    for place, line in enumerate(lines):
        if place - 1 in full:
            out[-1] += line.rstrip()
        else:
            out.append(line)
    return out


def single(lines: list[str]) -> tuple[list[str], int]:
    """The lines without the empty ones that double their distance, and how many those were."""
    out: list[str] = []
    start = 0
    for end in [*(place for place in range(1, len(lines)) if lines[place].strip() and lines[place - 1].strip()), len(lines)]:
        out += _closed_up(lines[start:end])
        start = end
    return out, len(lines) - len(out)


def _closed_up(lines: list[str]) -> list[str]:
    """Of lines no two of which follow each other: an empty line that was the output's own has one more on either side."""
    if sum(bool(line.strip()) for line in lines) < SPACED_MIN:
        return lines
    out: list[str] = []
    empty = 0
    for line in lines:
        if not line.strip():
            empty += 1
            continue
        out += [""] * ((empty - 1) // 2 if out else empty)
        out.append(line)
        empty = 0
    return out + [""] * empty

"""Lines of the kernel's log within the text of a pool, as a console shows them: each of the two is read by itself.

The lines keep their numbers: in each of the two texts an empty line stands in the place of the other's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from agents.collectors import kernel_log
from agents.collectors._log_stamps import stamped
from workflows.triage import split
from workflows.triage.commands import asked
from workflows.triage.fields import HEADER, KEY, ROW
from workflows.triage.piece import Piece

LINES_MAX = 400  # that the text of one pool has; what stands further below belongs to another
POOLS = ("zpool_status", "zpool_import")


def cut(lines: Sequence[str], turns: Mapping[int, str] | None = None) -> list[Piece]:
    """As `split.cut`, of a text whose lines may be mixed."""
    turns = turns or {}
    mixed = _mixed(lines)
    if not mixed:
        return split.cut(lines, turns)
    ends = {place + 1 for place in mixed}  # where a log ended, the text of the pool goes on
    pool_turns = {place: host for place, host in turns.items() if place not in mixed and place not in ends}
    pieces = split.cut(["" if place in mixed else line for place, line in enumerate(lines)], pool_turns)
    return sorted((*pieces, *_logs(lines, sorted(mixed))), key=lambda piece: piece.first)


def _logs(lines: Sequence[str], places: Sequence[int]) -> Iterator[Piece]:
    """Each run of lines of the log."""
    piece: Piece | None = None
    for place in places:
        if piece is None or place != piece.last:  # the next line has this place: a piece counts from 1
            if piece is not None:
                yield piece
            piece = Piece("kernel_log", place + 1)
        piece.add(lines[place])
    if piece is not None:
        yield piece


def _mixed(lines: Sequence[str]) -> set[int]:
    """Places of the lines of the log that stand within the text of a pool."""
    found: set[int] = set()
    place = 0
    while place < len(lines):
        if lines[place].lstrip().startswith("pool: ") and split.begins(lines, place)[0] in POOLS:
            inside = _inside(lines, place)
            found |= inside
            place = max(inside, default=place)
        place += 1
    return found


def _inside(lines: Sequence[str], start: int) -> set[int]:
    """Of the text that begins here; those behind its last line are not within it."""
    ours: list[int] = []
    within: list[int] = []
    for place in range(start + 1, min(start + LINES_MAX, len(lines))):
        line = lines[place]
        if _is_of_log(line):
            ours.append(place)
        elif line.lstrip().startswith("pool: ") or asked(line) is not None:
            break
        elif KEY.match(line) or HEADER.match(line) or ROW.match(line):
            within += ours
            ours = []
            if line.startswith("errors:"):
                break
    return set(within)


def _is_of_log(line: str) -> bool:
    """Whether it is the kernel's beyond doubt, by its stamp."""
    return stamped(line) is not None and kernel_log.begins(line)

"""A table of pools as people and scripts write it in Markdown: one column names the pool, another has its state in the words of ZFS.

A table of disks, datasets or hosts is none: its first column has another heading. ONLINE in it is never good, as it says nothing of members and errors.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from agents.collectors.base import Unparsed
from workflows.pasted import pool_states
from workflows.pasted.base import Reader, refused
from workflows.pasted.pool_states import HEALTH, State, States

_ROW = r" {0,4}(?:\|(?:[^|\n]{0,80}\|){2,16}|\+(?:-{2,80}\+){2,16})\s{0,8}$"
_RULE = re.compile(r" {0,4}(?:\|(?:\s{0,4}:?-{2,80}:?\s{0,4}\|){2,16}|\+(?:[-=]{2,80}\+){2,16})\s{0,8}")
_COUNTS = (("read", "read errors"), ("write", "write errors"), ("cksum", "checksum", "cksum errors", "checksum errors"))
_COUNT = re.compile(r"[0-9]{1,20}|>1K")  # as the report writes more than a thousand
MANY = 1000
HEADINGS_MAX = 4  # lines of a heading that goes on below its first line
_NAMES = frozenset(("pool", "zpool", "zfs pool", "pool name", "storage pool"))
_STATES = frozenset(("health", "state", "status", "pool state", "pool health"))
_MARKS = "*_`~ "
_WORD = re.compile(r"[A-Z]{6,9}")
_POOL = re.compile(r"([A-Za-z][\w.:-]{0,254})(?: {1,40}[?!])?")  # with the mark of a report for what is to be looked at


def _cells(line: str) -> list[str]:
    return [cell.strip().strip(_MARKS) for cell in line.strip().strip("|").split("|")]


def _columns(heading: str) -> tuple[int, int] | None:
    """Where the name and the state of the pool stand; None where the table is of something else."""
    cells = [cell.lower() for cell in _cells(heading)]
    name = next((i for i, cell in enumerate(cells) if cell in _NAMES), -1)
    state = next((i for i, cell in enumerate(cells) if cell in _STATES), -1)
    return (name, state) if name >= 0 and state >= 0 else None


def parse(lines: Sequence[str]) -> States | Unparsed:
    rows = [line for line in lines if line.strip()]
    columns = _columns(rows[0]) if rows else None
    if columns is None:
        return refused("a table of pools", rows[0] if rows else "")
    states: list[State] = []
    stray: list[str] = []
    counts = _counted(rows[0])
    for line in rows[1:]:
        if _goes_on(line) and not states:
            continue
        state = _state(line, *columns, counts)
        if state is not None:
            states.append(state)
        elif not _RULE.fullmatch(line):
            stray.append(line)
    return States(tuple(states), tuple(stray)) if states else refused("a table of pools", rows[0])


def _counted(heading: str) -> tuple[int, ...]:
    """Where the counts of errors stand, where there are three columns of them."""
    cells = [cell.lower() for cell in _cells(heading)]
    found = [next((i for i, cell in enumerate(cells) if cell in names), -1) for names in _COUNTS]
    return tuple(found) if min(found) >= 0 else ()


def _goes_on(line: str) -> bool:
    """Whether a heading goes on in this line: the words of some columns stand below each other."""
    cells = _cells(line)
    return bool(cells) and not cells[0] and not any(word in HEALTH for cell in cells for word in _WORD.findall(cell))


def _state(line: str, name: int, state: int, counts: Sequence[int] = ()) -> State | None:
    """None of a row whose cells are no pool and no state of ZFS: another word may mean anything."""
    cells = _cells(line)
    pool = _POOL.fullmatch(cells[name]) if len(cells) > max(name, state, *counts) else None
    words = [word for word in _WORD.findall(cells[state]) if word in HEALTH] if pool else []
    if not pool or len(words) != 1:
        return None
    counted = [cells[i] for i in counts]
    whole = all(map(_COUNT.fullmatch, counted))
    return State(pool.group(1), words[0], line, errors=tuple(int(each) if each.isdecimal() else MANY for each in counted) if whole else ())


def _begins(lines: Sequence[str], i: int) -> bool:
    """A heading with its rule below, and at least one row that is read."""
    columns = _columns(lines[i])
    if columns is None:
        return False
    below = lines[i + 1 : i + 2 + HEADINGS_MAX]
    rule = next((at for at, line in enumerate(below) if _RULE.fullmatch(line)), -1)
    return 0 <= rule < len(below) - 1 and all(map(_goes_on, below[:rule])) and _state(below[rule + 1], *columns) is not None


READER = Reader(
    name="pool_table",
    first=_ROW,
    confirm=_begins,
    goes_on=_ROW,
    inside=frozenset(("pool_table",)),
    strict=True,
    open_ended=True,
    parse=parse,
    situations=pool_states.situations,
    silent=lambda value: True,
    notes=lambda value: (
        "A table says how each pool was when it was written, and ONLINE in it says nothing of errors; `zpool status -P -p` shows how each is.",
    ),
    again="zpool status -P -p",
)

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

_ROW = r" {0,4}\|(?:[^|\n]{0,80}\|){2,16}\s{0,8}$"
_RULE = re.compile(r" {0,4}\|(?:\s{0,4}:?-{2,80}:?\s{0,4}\|){2,16}\s{0,8}")
_NAMES = frozenset(("pool", "zpool", "zfs pool", "pool name", "storage pool"))
_STATES = frozenset(("health", "state", "status", "pool state", "pool health"))
_MARKS = "*_`~ "
_WORD = re.compile(r"[A-Z]{6,9}")
_POOL = re.compile(r"[A-Za-z][\w.:-]{0,254}")


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
    for line in rows[1:]:
        state = _state(line, *columns)
        if state is not None:
            states.append(state)
        elif not _RULE.fullmatch(line):
            stray.append(line)
    return States(tuple(states), tuple(stray)) if states else refused("a table of pools", rows[0])


def _state(line: str, name: int, state: int) -> State | None:
    """None of a row whose cells are no pool and no state of ZFS: another word may mean anything."""
    cells = _cells(line)
    if len(cells) <= max(name, state) or not _POOL.fullmatch(cells[name]):
        return None
    words = [word for word in _WORD.findall(cells[state]) if word in HEALTH]
    return State(cells[name], words[0], line) if len(words) == 1 else None


def _begins(lines: Sequence[str], i: int) -> bool:
    """A heading with its rule below, and at least one row that is read."""
    return (
        _columns(lines[i]) is not None
        and i + 2 < len(lines)
        and _RULE.fullmatch(lines[i + 1]) is not None
        and _state(lines[i + 2], *(_columns(lines[i]) or (0, 0))) is not None
    )


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

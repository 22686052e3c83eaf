"""The vdev tree of a text whose indentation was changed or lost: put back where the words allow one tree, refused where they allow two.

What the words say (OpenZFS, module/zfs/vdev.c and cmd/zpool/zpool_main.c): a top-level vdev is named by its kind and its number in the
pool, `replacing-2` and `spare-2` by their number among the members of their parent, a dRAID by how many members it has. A mirror has two
members or as many as its like; a raidz at least one more than its parity. A spare that stands in is listed as INUSE below `spares`.
Neither `zpool create` nor `zpool add` puts a single disk beside a raidz without -f, so the last rows below the only raidz are taken for
its members; the note says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from workflows.triage.fields import HEADING, ROW

NOTE = "The indentation was lost and rebuilt."
CHANGED = "The indentation was changed and rebuilt: rows nest as they stand."
CUT = "The text ends behind the row of {0}: its members are not here, and it was left out."
DOUBT = "Every row below {0} was taken for its member; whether the last is a vdev of its own, only an indented text says."
AGAIN = "Paste `zpool status -P -p` with its indentation, as a file or as code."
_TOP = re.compile(r"(mirror|raidz([1-3]?)|draid([1-3]?)(?::[0-9a-z:]{1,40})?|indirect)(?:-([0-9]{1,9}))?")
_INNER = re.compile(r"(replacing|spare)(?:-([0-9]{1,9}))?")
_DRAID_MEMBERS = re.compile(r":([0-9]{1,4})c")
_HALVES = 2


class Rebuilt(NamedTuple):
    """The rows with two blanks for each level; `refused` says why there are none to trust."""

    rows: list[str]
    notes: tuple[str, ...] = ()
    rebuilt: bool = False
    refused: str = ""


class _Two(Exception):
    """The words allow more than one tree. Does not leave this file."""


class _Row(NamedTuple):
    name: str
    text: str  # the whole row without its indentation
    indent: int

    @property
    def at_work(self) -> bool:
        """Whether a half of `replacing` would look like this one, and a member beside it would not."""
        state = ROW.match(self.text)
        return state is None or state.group(2) != "ONLINE" or "resilvering" in self.text or "was /" in self.text


_Nested = tuple[int, _Row]  # level, row


def rebuilt(lines: Sequence[str]) -> Rebuilt:
    """The rows of one pool, from that of the pool itself on."""
    rows = [_Row(line.split()[0], line.strip(), len(line) - len(line.lstrip())) for line in lines]
    if not rows or _is_regular(rows):
        return Rebuilt(list(lines))
    if len(rows) > 1 and _must_have_members(rows[-1]) and _is_regular(rows[:-1]):
        return Rebuilt(list(lines[:-1]), (CUT.format(rows[-1].name),))
    levels = _by_indentation(rows)
    if levels is not None:
        return Rebuilt(_printed(levels), (CHANGED,), True)
    try:
        nested, notes = _by_words(rows)
    except _Two as two:
        return Rebuilt([row.text for row in rows], refused=f"The indentation of the tree was lost, and {two}. {AGAIN}")
    return Rebuilt(_printed(nested), (NOTE, *notes), True)


def _printed(nested: Sequence[_Nested]) -> list[str]:
    return ["  " * level + row.text for level, row in nested]


def _is_heading(row: _Row) -> bool:
    return HEADING.match(row.text) is not None


def is_top(name: str) -> bool:
    return _TOP.fullmatch(name) is not None


def may_have_members(name: str) -> bool:
    return bool(_TOP.fullmatch(name) or _INNER.fullmatch(name)) or name.isdigit()


def _is_regular(rows: Sequence[_Row]) -> bool:
    """Two blanks a level, and no disk with members: so ZFS prints it."""
    base = rows[0].indent
    return _is_sound([((row.indent - base) // 2, row) for row in rows], rows) and all((row.indent - base) % 2 == 0 for row in rows)


def _is_sound(nested: Sequence[_Nested], rows: Sequence[_Row]) -> bool:
    if nested[0][0] != 0 or len(rows) < 2:
        return len(rows) == 1 and nested[0][0] == 0
    section = False
    for (level, row), (below, after) in zip(nested, [*nested[1:], (0, rows[0])], strict=False):
        section = section or _is_heading(row)
        last = after is rows[0]
        if level < 0 or (not last and below > level + 1) or (not last and level == 0 and not _is_heading(row) and row is not rows[0]):
            return False
        holds = not last and below == level + 1
        if level and holds and not may_have_members(row.name):
            return False
        if level and not holds and not row.name.isdigit() and _must_have_members(row):
            return False
        if level == 0 and not last and not holds:
            return False
    return True


def _must_have_members(row: _Row) -> bool:
    top = _TOP.fullmatch(row.name)
    return (top is not None and top.group(1) != "indirect") or _INNER.fullmatch(row.name) is not None


def _by_indentation(rows: Sequence[_Row]) -> list[_Nested] | None:
    """Where rows are still deeper than their parents, only by other steps. None where they are not, or where that makes no tree."""
    stack = [rows[0].indent]
    nested: list[_Nested] = []
    flat = False  # spares and caches have no members, so however deep they stand, they are those of their heading
    for row in rows:
        flat = row.text in ("spares", "cache") if _is_heading(row) else flat
        if flat and not _is_heading(row):
            nested.append((1, row))
            continue
        while stack and row.indent < stack[-1]:
            stack.pop()
        if not stack:
            return None
        if row.indent > stack[-1]:
            stack.append(row.indent)
        nested.append((len(stack) - 1, row))
    return nested if _is_sound(nested, rows) else None


def _by_words(rows: Sequence[_Row]) -> tuple[list[_Nested], tuple[str, ...]]:
    root, *rest = rows
    if rest and all(row.name.isdigit() or _is_heading(row) for row in rest):
        raise _Two("rows that are named by guid do not say which of them has members")
    sections: list[tuple[_Row | None, list[_Row]]] = [(None, [])]
    for row in rest:
        if _is_heading(row):
            sections.append((row, []))
        else:
            sections[-1][1].append(row)
    spares = frozenset(row.name for heading, members in sections if heading and heading.name == "spares" for row in members)
    numbers = [int(top.group(4)) for row in rest if (top := _TOP.fullmatch(row.name)) and top.group(4)]
    if len(set(numbers)) < len(numbers):
        raise _Two("two vdevs have one number")
    nested: list[_Nested] = [(0, root)]
    notes: list[str] = []
    for heading, members in sections:
        if heading is not None:
            nested.append((0, heading))
        if heading is not None and heading.name in ("cache", "spares"):
            nested += [(1, row) for row in members]
        else:
            nested += _tops(members, frozenset(numbers), spares, notes, alone=heading is None)
    return nested, tuple(notes)


def _tops(rows: Sequence[_Row], numbers: frozenset[int], spares: frozenset[str], notes: list[str], alone: bool) -> Iterator[_Nested]:
    """The top-level vdevs of one section, and below each its members."""
    starts = [place for place, row in enumerate(rows) if _TOP.fullmatch(row.name)]
    first = starts[0] if starts else len(rows)
    yield from _members(rows[:first], None, spares)
    widths: dict[str, set[int]] = {}
    for _place, (start, end) in enumerate(zip(starts, [*starts[1:], len(rows)], strict=False)):
        top = rows[start]
        kind = _TOP.fullmatch(top.name)
        assert kind is not None
        after = _TOP.fullmatch(rows[end].name) if end < len(rows) else None
        alike = widths.setdefault(kind.group(1), set())
        all_its_own = _is_followed(kind.group(4), after.group(4) if after else None, numbers)
        width = _width(top.name, alike)
        yield 0 + 1, top
        members = list(_members(rows[start + 1 : end], width, spares))
        count = sum(level == 1 for level, _ in members)
        if kind.group(1) == "indirect":
            if count:
                raise _Two(f"a row follows {top.name}, which has no members")
            continue
        _check(top.name, kind, count, width, all_its_own, len(starts) == 1, notes)
        alike.add(count)
        yield from ((level + 1, row) for level, row in members)


def _is_followed(number: str | None, after: str | None, numbers: frozenset[int]) -> bool:
    """Whether no vdev without a number of its own can stand between two: the numbers leave no room."""
    if not number or not after or int(after) - int(number) > len(numbers) + 1:
        return False
    return all(between in numbers for between in range(int(number) + 1, int(after))) and int(after) > int(number)


def _width(name: str, alike: set[int]) -> int | None:
    """How many members it has, if its name or those of its kind say so."""
    draid = _DRAID_MEMBERS.search(name)
    if draid:
        return int(draid.group(1))
    return next(iter(alike)) if len(alike) == 1 else None


def _check(name: str, kind: re.Match[str], count: int, width: int | None, all_its_own: bool, alone: bool, notes: list[str]) -> None:
    parity = kind.group(2) or kind.group(3)
    least = 2 if kind.group(1) == "mirror" else int(parity or 1) + 1
    if count < least:
        raise _Two(f"{name} has {count} rows below it, which are fewer than it needs")
    if name.startswith("draid") and width is not None and count != width:
        raise _Two(f"{name} says that it has {width} members, and {count} rows follow it")
    if all_its_own or count in (width, least):
        return
    if kind.group(1) != "mirror" and alone and width is None:
        notes.append(DOUBT.format(name))
        return
    raise _Two(f"the {count} rows below {name} may be its members or vdevs of their own")


def _members(rows: Sequence[_Row], width: int | None, spares: frozenset[str]) -> Iterator[_Nested]:
    """The members of one vdev at level 1, and the halves of `replacing` and `spare` among them at level 2 and 3."""
    place = index = 0
    while place < len(rows):
        row = rows[place]
        inner = _INNER.fullmatch(row.name)
        yield 1, row
        place += 1
        index += 1
        if inner is None:
            continue
        if inner.group(2) and int(inner.group(2)) != index - 1 and width is not None:
            raise _Two(f"{row.name} is not the member of that number")
        count = _halves(rows, place, index, width, spares if inner.group(1) == "spare" else frozenset())
        for half in rows[place : place + count]:
            nested = _INNER.fullmatch(half.name)
            if nested:
                raise _Two(f"{half.name} may be a half of {row.name} or stand beside it")
            yield 2, half
        place += count


def _halves(rows: Sequence[_Row], place: int, index: int, width: int | None, spares: frozenset[str]) -> int:
    """How many of the rows from `place` on are halves of the `replacing` or `spare` above them, which is member `index`, counted from 1."""
    after = next((n for n in range(place, len(rows)) if _INNER.fullmatch(rows[n].name)), None)
    found = _INNER.fullmatch(rows[after].name) if after is not None else None
    if after is not None and found is not None and found.group(2):
        count = after - place - (int(found.group(2)) - index)
    elif after is None and width is not None:
        count = len(rows) - place - (width - index)
    else:
        standing_in = [n for n in range(place + 1, min(place + 4, len(rows))) if rows[n].name in spares]
        count = standing_in[-1] - place + 1 if standing_in else _HALVES
        third = rows[place + count] if place + count < len(rows) else None
        if not standing_in and ((third is not None and third.at_work) or not any(row.at_work for row in rows[place : place + count])):
            raise _Two(f"what follows {rows[place - 1].name} may be its half or stand beside it")
    if not _HALVES <= count <= len(rows) - place or count > _HALVES + 2:
        raise _Two(f"{rows[place - 1].name} has not two halves")
    return count

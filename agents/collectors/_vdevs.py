"""What `zpool status` and `zpool import` share: fields, and a vdev tree nested by indentation, then its sections.

A node prints this again every few seconds, so expressions read all lines of a kind at once. Only a tree that does not fit is
looked at line by line, to say which line it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from itertools import permutations
from typing import NamedTuple

from agents.collectors.base import Unparsed

STATES = frozenset(["ONLINE", "DEGRADED", "OFFLINE", "REMOVED", "FAULTED", "UNAVAIL", "SPLIT", "AVAIL", "INUSE", "SUSPENDED", "UNKNOWN"])
COLUMNS = ("NAME", "STATE", "READ", "WRITE", "CKSUM")
COUNTER = re.compile(r"[0-9]{1,20}")  # a uint64 as it is; "1.2K" must not pass as 1
INTERIOR = re.compile(r"(?:mirror|raidz[1-3]?|draid[1-3]?(?::\S+)?|replacing|spare)(?:-[0-9]+)?|[0-9]{1,20}")  # or a guid, with -g
INDENT_MAX = 16  # root, top, replacing, spare and leaf need 8; the bound keeps a mangled text from nesting without end


class Vdev(NamedTuple):
    """One row. `errors` are read, write, checksum; None where the row prints none (spares, `zpool import`) or no whole numbers."""

    name: str
    state: str  # as printed; "" where a row could not be read, or prints none (spares and caches in `zpool import`)
    errors: tuple[int, int, int] | None = None
    slow: int | None = None
    note: str = ""
    children: tuple[Vdev, ...] = ()
    printed: tuple[str, ...] = ()  # the counters as printed where they are no whole numbers: "0", "0", "1.21K"
    columns: tuple[
        tuple[str, str], ...
    ] = ()  # name and value of what -c adds, and of POWER, DIO and a rounded SLOW where they show trouble
    guid: int | None = None  # only the JSON says it beside the name

    @property
    def was(self) -> str | None:
        """Where this absent leaf was last seen. A string of the past: another disk may have that name today."""
        return self.note[4:].split("  ")[0] if self.note.startswith("was ") else None

    @property
    def resilvering(self) -> bool:
        return "(resilvering)" in self.note

    @property
    def awaiting_resilver(self) -> bool:
        return "(awaiting resilver)" in self.note


Sections = tuple[tuple[str, tuple[Vdev, ...]], ...]
Tree = tuple[Vdev, Sections]
Block = list[tuple[str, list[str]]]  # one pool: each field's key, and in pieces what stands behind its colon and below
Fields = dict[str, str]


class Layout(NamedTuple):
    """How a command prints the fields of a pool."""

    keys: dict[str, str]  # as printed, with the colon -> as we say it
    line: re.Pattern[str]  # one that is blank, or how one begins a field; from the line break before it


def layout(keys: Sequence[str], below: str) -> Layout:
    """`below` is what a line begins with that belongs to the field above it."""
    return Layout({f"{key}:": key for key in keys}, re.compile(rf"\n(?!{below})(?:[^\S\n]*$| *(?! )([^:\n]*:?))", re.MULTILINE))


_ANYTHING = ("errors", "dedup")  # a damaged file's name may hold anything, even a line break; and -D prints a table without indentation


def read_fields(text: str, form: Layout) -> list[Block] | Unparsed:
    """Cut into pools, and each pool into its fields."""
    blocks: list[Block] = []
    block: Block = []
    below: list[str] = []  # texts of more than one line, but for the tree
    key, pieces = "", [""]
    before, *rest = form.line.split("\n" + text)
    if before.strip():
        return Unparsed("a line stands before the first pool", before.strip("\n").partition("\n")[0])
    parts = iter(rest)
    for start, value in zip(parts, parts):
        if start is None:
            pieces.append(value)  # a blank line parts nothing
        else:
            name = form.keys.get(start)
            if name == "pool":
                block = []
                blocks.append(block)
            if key in _ANYTHING and name not in ("pool", "dedup"):
                pieces.append(f"\n{start}{value}")
            elif name is None or not blocks:
                return Unparsed("no version we know prints such a line", first_line(start + value))
            else:
                key, pieces = name, [value]
                block.append((key, pieces))
        if "\n\t" in value and key != "config":
            below.append(value)
    return _stray_row(below) or blocks or Unparsed("there is no pool in this text")


_STRAY = re.compile(
    rf"\n(\t *\S+ {{2,}}(?:{'|'.join(sorted(STATES))})(?: [^\n]*)?|\t(?:logs|cache|spares|special|dedup)[^\S\n]*)$", re.MULTILINE
)


def _stray_row(texts: Sequence[str]) -> Unparsed | None:
    """A row of the tree, or a heading in it, below another field. Left where it is, the tree would lack that vdev and look whole."""
    found = next(filter(None, map(_STRAY.search, texts)), None)
    return Unparsed("a row of the vdev tree stands outside of it", found.group(1)) if found else None


def first_line(text: str) -> str:
    return text.partition("\n")[0]


def first_of_each(block: Block) -> Fields:
    return {key: "".join(pieces).strip() for key, pieces in reversed(block)}


def lines_of(fields: Fields, key: str) -> str:
    return stripped(fields.get(key, ""), "\n")


def prose_of(fields: Fields, key: str) -> str:
    return stripped(fields.get(key, ""), " ")


def stripped(value: str, joint: str) -> str:
    return joint.join(map(str.strip, value.split("\n"))) if "\n" in value else value.strip()


def read_tree(text: str, pool: str) -> Tree | Unparsed:
    """The root vdev and the sections below it. `text` starts with the NAME STATE header."""
    header = first_line(text)
    columns = tuple(header.split())
    if columns not in _COLUMNS_KNOWN:
        return Unparsed(f"the vdev tree of {pool} has not the columns we know", header)
    parts = ["", *_HEADING.split(text)]
    blocks = list(zip(parts[::2], parts[1::2]))
    try:
        (_, root), *sections = _trees(blocks, columns)
    except _Odd as odd:
        return _first_refusal(blocks, columns) or Unparsed(odd.reason, odd.line)
    if len(root) != 1 or root[0].name != pool:
        return Unparsed(f"the vdev tree does not begin with {pool}", root[0].name if root else "")
    if not root[0].children:
        return Unparsed(TOO_FEW, root[0].name)
    return root[0], tuple(sections)


def _trees(blocks: Sequence[tuple[str, str]], columns: tuple[str, ...]) -> list[tuple[str, tuple[Vdev, ...]]]:
    extra = columns[5:]
    return [(heading, _nest(_rows(rows, heading, columns), extra, 2 if heading else 0)) for heading, rows in blocks]


class _Odd(Exception):
    """No pool prints such a tree. Does not leave this file."""

    def __init__(self, reason: str, line: str = "") -> None:
        super().__init__(reason, line)
        self.reason, self.line = reason, line


_EXTRA = [columns for count in range(4) for columns in permutations(("SLOW", "POWER", "DIO"), count)]  # what -s, --power and -d add
_COLUMNS_KNOWN = frozenset([COLUMNS[:2], *(COLUMNS + columns for columns in _EXTRA)])
_HEADING = re.compile(r"\n\t(logs|cache|spares|special|dedup)[^\S\n]*$", re.MULTILINE)
_ROW = re.compile(r"\n\t( *)([^ ]+) +([^ \n].*)")  # indentation, name, rest. Were two lines matched as one, there would be too few rows
_BARE_ROW = re.compile(r"\n\t(  (?=\S+$)| *(?=\S+[^\S\n]))(\S+)(?:[^\S\n]+(\S.*)|$)", re.MULTILINE)  # or two blanks and a name

_Row = tuple[str, str, str]
_Tail = tuple[str, "tuple[int, int, int] | None", "int | None", str]  # state, errors, slow, note


def _row_pattern(heading: str, columns: tuple[str, ...]) -> re.Pattern[str]:
    """`zpool import` gives spares and caches no state."""
    return _BARE_ROW if heading in ("cache", "spares") and columns == COLUMNS[:2] else _ROW


def _rows(text: str, heading: str, columns: tuple[str, ...]) -> list[_Row]:
    rows: list[_Row] = _row_pattern(heading, columns).findall(text)
    if len(rows) != text.count("\n"):
        raise _Odd("a line of the vdev tree cannot be read")
    return rows


def _first_refusal(blocks: Sequence[tuple[str, str]], columns: tuple[str, ...]) -> Unparsed | None:
    """The first line that is no row at all, and why."""
    for heading, rows in blocks:
        for line in rows.split("\n")[1:]:
            try:
                (row,) = _rows("\n" + line, heading, columns)
                _tail(row[2], columns[5:])
            except _Odd as odd:
                return Unparsed(odd.reason, line)
    return None


def _tail(text: str, extra: tuple[str, ...]) -> _Tail:
    """What a row says after its name. `extra` are the columns after CKSUM."""
    state, *more = text.split(None, 4) or [""]
    if state not in STATES:
        raise _Odd(f"{state} is not a vdev state" if state else "a line of the vdev tree cannot be read")
    if not more or more[0][0] not in "0123456789-":
        return state, None, None, text[len(state) :].strip()
    errors = (0, 0, 0) if more[:3] == _CLEAN else _counters(more[:3])
    note = more[3].rstrip() if len(more) > 3 else ""
    return (state, errors, *_slow_and_note(note, extra)) if extra else (state, errors, None, note)


@cache
def _usual(extra: tuple[str, ...]) -> dict[str, _Tail]:
    """As a row is printed that has no errors, no note, and nothing slow where that is counted."""
    ends: dict[str, int | None] = {"": None} if not extra else {"     0": 0, "     -": None} if extra == ("SLOW",) else {}
    clean = {f"{state:8}     0     0     0{end}": (state, (0, 0, 0), slow, "") for state in STATES for end, slow in ends.items()}
    return {"": ("", None, None, ""), **clean}


_CLEAN = ["0", "0", "0"]


def _counters(printed: list[str]) -> tuple[int, int, int]:
    """A row that begins to count must count in every column."""
    if len(printed) < 3 or not all(map(COUNTER.fullmatch, printed)):
        raise _Odd("the error counters are not three whole numbers; ask with -p")
    return int(printed[0]), int(printed[1]), int(printed[2])


def _slow_and_note(text: str, extra: tuple[str, ...]) -> tuple[int | None, str]:
    values = text.split(None, len(extra))
    columns = dict(zip(extra, values))
    slow = columns.pop("SLOW", "-")
    if len(values) < len(extra) or not (slow == "-" or COUNTER.fullmatch(slow)):
        raise _Odd("a column of the vdev tree is missing or not a whole number")
    if not USUAL.issuperset(columns.values()):
        raise _Odd("a column of the vdev tree shows trouble")  # _rows.py keeps it
    return None if slow == "-" else int(slow), "".join(values[len(extra) :])  # interior vdevs print a dash, and 0 with -p


USUAL = frozenset(("0", "-", "on"))  # of POWER and DIO where nothing is wrong

TOO_FEW = "a vdev shows fewer members than it must have, so rows are missing"
_SURE_OF_ALL = 4  # raidz3 and draid3 have at least so many


def members_least(name: str) -> int:
    """How many members a vdev of this name has at least, whether they serve or not."""
    kind = name.partition("-")[0].partition(":")[0]
    named = _MADE_OF.match(name)
    return max(_LEAST.get(kind, 1), int(named.group(1)) if named else 0)


_MADE_OF = re.compile(r"draid[1-3]?:(?:[0-9]{1,4}[a-z]:){0,3}([0-9]{1,4})c")  # a dRAID is named by how many disks it was made of


_LEAST = {
    "mirror": 2,
    "replacing": 2,
    "spare": 2,
    "raidz": 2,
    "draid": 2,
    **{f"{k}{n}": n + 1 for k in ("raidz", "draid") for n in (1, 2, 3)},
}


_Siblings = tuple[int, list[Vdev]]  # how far they are indented, and they themselves from the last to the first


def _nest(rows: Sequence[_Row], extra: tuple[str, ...], least: int) -> tuple[Vdev, ...]:
    """Read from the last row up: a row takes the deeper ones that follow it and have no parent yet."""
    orphans: list[_Siblings] = []
    siblings: list[Vdev] = []
    below = None
    usual = _usual(extra)
    for pad, name, rest in reversed(rows):
        children: tuple[Vdev, ...] = ()
        if pad != below:
            children = _adopt(orphans, len(pad), name)
            below, siblings = pad, orphans[-1][1]
        state, errors, slow, note = usual.get(rest) or _tail(rest, extra)
        siblings.append(_new(Vdev, (name, state, errors, slow, note, children, (), (), None)))
    if rows and (len(orphans) > 1 or orphans[0][0] != least):
        raise _crooked(orphans[-1])
    return tuple(siblings[::-1])


_new = tuple.__new__  # Vdev() does the same, through a call in Python for every row


def _adopt(orphans: list[_Siblings], depth: int, name: str) -> tuple[Vdev, ...]:
    """The children of the row `name`, no longer orphans; the last of `orphans` are then the siblings it joins."""
    children: tuple[Vdev, ...] = ()
    if orphans and orphans[-1][0] > depth:
        indent, deeper = orphans.pop()
        if indent != depth + 2:
            raise _crooked((indent, deeper))
        if orphans and orphans[-1][0] > depth:
            raise _crooked(orphans[-1])
        if depth and not INTERIOR.fullmatch(name):
            raise _Odd("a leaf cannot have children", name)
        if depth and (len(deeper) < _SURE_OF_ALL or ":" in name) and len(deeper) < members_least(name):
            raise _Odd(TOO_FEW, name)
        children = tuple(deeper[::-1])
    if depth > INDENT_MAX:
        raise _Odd("the vdev tree is deeper than any pool", name)
    if not orphans or orphans[-1][0] < depth:
        orphans.append((depth, []))
    return children


def _crooked(siblings: _Siblings) -> _Odd:
    return _Odd("the vdev tree is not indented by two spaces a level", siblings[1][-1].name)

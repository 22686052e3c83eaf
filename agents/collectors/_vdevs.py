"""What `zpool status` and `zpool import` share: fields, and a vdev tree nested by indentation, then its sections.

A node prints the same rows again every few seconds, so rows once read are remembered; what is left is nesting them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from agents.collectors.base import Unparsed

STATES = frozenset(["ONLINE", "DEGRADED", "OFFLINE", "REMOVED", "FAULTED", "UNAVAIL", "SPLIT", "AVAIL", "INUSE", "SUSPENDED", "UNKNOWN"])
SECTIONS = frozenset(("logs", "cache", "spares", "special", "dedup"))
COLUMNS = ("NAME", "STATE", "READ", "WRITE", "CKSUM")
COUNTER = re.compile(r"[0-9]{1,20}")  # a uint64 as it is; "1.2K" must not pass as 1
INTERIOR = re.compile(r"(?:mirror|raidz[1-3]?|draid[1-3]?(?::\S+)?|replacing|spare)(?:-[0-9]+)?|[0-9]{1,20}")  # or a guid, with -g
_CLEAN = ["0", "0", "0"]
INDENT_MAX = 16  # root, top, replacing, spare and leaf need 8; the bound keeps a mangled text from nesting without end
ROWS_REMEMBERED = 16384  # a hundred full nodes


@dataclass(frozen=True, init=False)
class Vdev:
    """One row. `errors` are read, write, checksum; None where the row prints none (spares, `zpool import`)."""

    name: str
    state: str
    errors: tuple[int, int, int] | None
    slow: int | None
    note: str
    children: tuple[Vdev, ...]

    def __init__(
        self,
        name: str,
        state: str,
        errors: tuple[int, int, int] | None = None,
        slow: int | None = None,
        note: str = "",
        children: tuple[Vdev, ...] = (),
    ) -> None:
        # The generated one sets each field through object.__setattr__; that alone was a third of a parse.
        self.__dict__.update(name=name, state=state, errors=errors, slow=slow, note=note, children=children)

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
Block = dict[str, list[list[str]]]  # key -> one list of lines for each time it was printed
_Row = tuple[int, Vdev]


def read_fields(text: str, keys: frozenset[str], spaces_continue: bool = True) -> list[Block] | Unparsed:
    """Cut into pools, and each pool into its fields. A line that begins with a tab belongs to the field above it."""
    blocks: list[Block] = []
    block: Block = {}
    field: list[str] = []
    key = ""
    for line in text.split("\n"):
        if line[:1] == "\t" or (spaces_continue and line[:4] == "    "):
            field.append(line)
            continue
        if not line or line.isspace():
            continue
        name, colon, value = line.partition(":")
        name = name.strip()
        if name == "pool" and colon:
            block = {}
            blocks.append(block)
        elif key == "errors" and (name != "dedup" or not colon):
            field.append(line)  # a damaged file's name may hold anything, even a line break
            continue
        if name not in keys or not colon or not blocks:
            return Unparsed("no version we know prints such a line", line)
        key, field = name, [value[1:]]
        block.setdefault(key, []).append(field)
    return blocks or Unparsed("there is no pool in this text")


def lines_of(block: Block, key: str) -> str:
    return "\n".join(map(str.strip, block[key][0])) if key in block else ""


def prose_of(block: Block, key: str) -> str:
    return " ".join(map(str.strip, block[key][0])) if key in block else ""


def read_tree(lines: Sequence[str], pool: str) -> Tree | Unparsed:
    """The root vdev and the sections below it. `lines` start with the NAME STATE header."""
    columns = tuple(lines[0].split()) if lines else ()
    extra = columns[5:]
    if columns[:5] not in (COLUMNS[:2], COLUMNS) or not {"SLOW", "POWER", "DIO"}.issuperset(extra):
        return Unparsed(f"the vdev tree of {pool} has not the columns we know", lines[0] if lines else "")
    blocks: list[tuple[str, list[_Row]]] = [("", [])]
    heading, rows = blocks[0]
    for line in lines[1:]:
        row = _row(line, extra) if extra else _row(line)
        if type(row) is tuple:
            rows.append(row)
        elif line.strip() in SECTIONS and line[1:2].isalpha():
            heading, rows = line.strip(), []
            blocks.append((heading, rows))
        elif columns == COLUMNS[:2] and heading in ("cache", "spares") and re.fullmatch(r"\t  \S+", line):
            rows.append((2, Vdev(line.strip(), "")))  # `zpool import` gives these no state
        else:
            return row
    return _assemble(blocks, pool)


@lru_cache(maxsize=ROWS_REMEMBERED)
def _row(line: str, extra: tuple[str, ...] = ()) -> _Row | Unparsed:
    """How far a row is indented, and its vdev without children. `extra` names the columns after CKSUM."""
    body = line[1:].lstrip(" ")
    fields = body.split(None, 5)
    if line[:1] != "\t" or body[:1].isspace() or len(fields) < 2:
        return Unparsed("a line of the vdev tree cannot be read", line)
    name, state = fields[:2]
    counters = fields[2:5]
    note = fields[5].rstrip() if len(fields) > 5 else ""
    if state not in STATES:
        return Unparsed(f"{state} is not a vdev state", line)
    errors: tuple[int, int, int] | None = None
    slow: int | None = None
    if counters == _CLEAN or (len(counters) == 3 and all(map(COUNTER.fullmatch, counters))):
        errors = (int(counters[0]), int(counters[1]), int(counters[2]))
        if extra:
            values, note = _split(note, len(extra))
            shown = dict(zip(extra, values)).get("SLOW", "-")
            if len(values) < len(extra) or not (shown == "-" or COUNTER.fullmatch(shown)):
                return Unparsed("a column of the vdev tree is missing or not a whole number", line)
            slow = None if shown == "-" else int(shown)  # interior vdevs print a dash
    elif counters and counters[0][0] in "0123456789-":
        return Unparsed("the error counters are not three whole numbers; ask with -p", line)
    else:
        note = body.split(None, 2)[2].rstrip() if counters else ""
    return len(line) - 1 - len(body), Vdev(name, state, errors, slow, note)


def _split(text: str, count: int) -> tuple[list[str], str]:
    parts = text.split(None, count)
    return parts[:count], "".join(parts[count:])


def _assemble(blocks: Sequence[tuple[str, list[_Row]]], pool: str) -> Tree | Unparsed:
    root: tuple[Vdev, ...] = ()
    sections = []
    for heading, rows in blocks:
        vdevs = _nest(rows, 2 if heading else 0)
        if isinstance(vdevs, Unparsed):
            return vdevs
        if heading:
            sections.append((heading, vdevs))
        else:
            root = vdevs
    if len(root) != 1 or root[0].name != pool:
        return Unparsed(f"the vdev tree does not begin with {pool}", root[0].name if root else "")
    return root[0], tuple(sections)


def _nest(rows: Sequence[_Row], least: int) -> tuple[Vdev, ...] | Unparsed:
    """Read from the last row up: a row takes the deeper ones that follow it and have no parent yet."""
    orphans: list[_Row] = []
    for indent, row in reversed(rows):
        vdev = row
        if orphans and orphans[-1][0] > indent:
            children = []
            while orphans and orphans[-1][0] > indent:
                depth, child = orphans.pop()
                if depth != indent + 2:
                    return Unparsed("the vdev tree is not indented by two spaces a level", child.name)
                children.append(child)
            if indent and not INTERIOR.fullmatch(vdev.name):
                return Unparsed("a leaf cannot have children", vdev.name)
            vdev = Vdev(vdev.name, vdev.state, vdev.errors, vdev.slow, vdev.note, tuple(children))
        orphans.append((indent, vdev))
        if indent > INDENT_MAX:
            return Unparsed("the vdev tree is deeper than any pool", vdev.name)
    if any(depth != least for depth, _ in orphans):
        return Unparsed("the vdev tree is not indented by two spaces a level", orphans[-1][1].name)
    return tuple(vdev for _, vdev in reversed(orphans))

"""Reading `zpool status` and `zpool import` line by line, for texts that `_vdevs` cannot read in one go.

What is understood is read, and each line that is not is named and hides nothing else. It is slow, and only asked for texts that are odd.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from agents.collectors._vdevs import (
    COLUMNS,
    COUNTER,
    INDENT_MAX,
    INTERIOR,
    STATES,
    TOO_FEW,
    USUAL,
    Block,
    Layout,
    Sections,
    Vdev,
    members_least,
)
from agents.collectors.base import UnreadLine

NOTES_MAX, AT_END_MAX = 4, 2  # in one row: one of the vdev, of its space, of a scan; one of -i and one of -t
SHOWN_AGAIN = "device details"  # below it Solaris 11 shows rows that stand in the tree as well
NO_NAME, NO_CONFIG = "the line that names the pool is missing", "the line config: is missing"
NOT_READ = "(not read)"  # the name of a vdev whose row is missing
CROOKED = "it is not indented like a row of the vdev tree"
ROUNDED = "the error counters are not three whole numbers; ask with -p"

_KEY = re.compile(r" {0,8}([A-Za-z][A-Za-z _-]{0,24}):(?: |$)(.*)")
_HEADINGS = ("logs", "cache", "spares", "special", "dedup")
_STATE_WORD = re.compile(r"[A-Z][A-Z_]{2,15}")
_FIGURE = re.compile(r"[0-9]+(?:[.,][0-9]+)?[KMGTPEZ]?|-")
_WHOLE = COUNTER
_ROW = re.compile(rf"\s+\S+(?: \S+)? {{2,}}(?:{'|'.join(sorted(STATES))})(?:\s|$)")
_HEADERS = frozenset(COLUMNS)
_AGAIN = frozenset(("scan", "scrub"))  # fields that one pool may have several of
_BEGINS = frozenset(("state", "status", "scan", "scrub", "config"))  # below the errors of one pool, these are of the next


GAP_MAX = 60  # characters
GAP = "rows were left out of the text here"
_GAP_WORDS = re.compile(
    r"(?:\b(?:snip\w*|truncated|omitted|elided|skipp(?:ed|ing)|shortened|cut|etc)\b|\b[0-9]+ (?:more|others?|similar|further|other)\b|\bmore (?:disks|drives|vdevs|rows|lines)\b)",
    re.IGNORECASE,
)
_GAP_MARK = re.compile(r"[\[(<{#*~.…-]")  # what sets the words of a person apart from the name of a device
_GAP_ALONE = re.compile(r"[\[(<{ ]*(?:\.{2,}|…|(?:\. ){2,}\.|\.|:|snip\w{0,5})[\])>} ]*")


def is_gap(line: str) -> bool:
    """Whether a person wrote this in place of rows that were taken out: "...", "[...]", "<snip>", "(20 more disks)"."""
    stripped = line.strip()[: GAP_MAX + 1]
    if not stripped or len(stripped) > GAP_MAX:
        return False
    if stripped[0] in "<[" and stripped[-1] in ">]":
        return True  # no vdev and no note of ZFS is printed so
    return _GAP_ALONE.fullmatch(stripped) is not None or (_GAP_MARK.match(stripped) is not None and _GAP_WORDS.search(stripped) is not None)


UNDER_WAY = re.compile(r"(?:Removal|Evacuation) of \S|[Ee]xpansion of \S|[Ee]xpanded \S")  # print_removal_status, print_raidz_expand_status


class Lines(NamedTuple):
    """One pool as it stands: its fields, and the lines that are no part of any."""

    block: Block
    unread: list[UnreadLine]


def blocks_by_line(text: str, form: Layout) -> tuple[list[Lines], list[UnreadLine]]:
    """The pools of `text`, and the lines that belong to none."""
    reader = _Reader(form)
    for line in text.split("\n"):
        reader.take(line)
    return reader.pools, reader.stray


class _Reader:
    """Takes one line after the other and knows to which field of which pool it belongs."""

    def __init__(self, form: Layout) -> None:
        self._form = form
        self.pools: list[Lines] = []
        self.stray: list[UnreadLine] = []
        self._key, self._pieces = "", [""]
        self._fields: dict[str, list[str]] = {}  # of the pool at hand, the first of each

    def take(self, line: str) -> None:
        if not line.strip():
            return
        if self._key == "config" and is_gap(line):
            self.pools[-1].unread.append(UnreadLine(line.strip(), "config", GAP, missing=True))
            return
        found = None if line.startswith("\t") else _KEY.fullmatch(line.rstrip())
        key = self._form.keys.get(f"{found.group(1)}:", "") if found else ""
        if key and self._is_field(key, found.group(2) if found else ""):
            self._begin(key, line.partition(":")[2])
        elif self._is_of_the_tree(line) and self._key != SHOWN_AGAIN:
            self._row(line)
        elif self._key == "config" and line.split()[1:2] and line.split()[1] in STATES:
            self._pieces.append(f"\n{line}")
        elif self._key in ("errors", "dedup"):
            self._pieces.append(f"\n{line}")  # a damaged file's name may hold anything, and -D prints a table without indentation
        elif line[0] == "\t" or line.startswith("    "):
            self._below(line)
        else:
            self._odd(line, self._key if not found else "", "no release we know prints such a line")
            if found and self._key != "config":
                self._key, self._pieces = "", [""]  # what goes on below it is part of it

    def _is_field(self, key: str, value: str) -> bool:
        """Whether this begins a field here: below the errors of a pool it may be a damaged file, and before any pool anything."""
        if self._key == "errors":
            return key in ("pool", "dedup", SHOWN_AGAIN) or key in _BEGINS
        if key in ("remove", "expand") and not self.pools:
            return UNDER_WAY.match(value.strip()) is not None
        return bool(self.pools) or key in ("pool", "errors") or (key in _BEGINS and (key != "state" or value.strip() in STATES))

    def _begin(self, key: str, value: str) -> None:
        again = key in self._fields and key not in _AGAIN
        if key == "pool":
            self._next([])
        elif not self.pools or (again and key in ("id", "state")) or (self._key == "errors" and key in _BEGINS):
            self._next([UnreadLine("", "pool", NO_NAME)])
        elif again:
            self._odd(f"{key}:{value}", key, f"{key}: is printed twice for one pool")
            return
        self._key, self._pieces = key, [value]
        self._fields.setdefault(key, self._pieces)
        self.pools[-1].block.append((key, self._pieces))

    def _next(self, unread: list[UnreadLine]) -> None:
        self.pools.append(Lines([], unread))
        self._fields = {}

    def _is_of_the_tree(self, line: str) -> bool:
        if self._key == "errors" and not line.startswith("\t"):
            return False
        return bool(_is_header(line) or _ROW.match(line) or (line.startswith("\t") and line.strip() in _HEADINGS))

    def _row(self, line: str) -> None:
        """A row counts wherever it stands; below another field than `config:` something is missing or out of place."""
        if self._key != "config":
            tree = self._fields.get("config")
            why = "a row of the vdev tree stands outside of it" if tree else NO_CONFIG
            if tree:
                self._key, self._pieces = "config", tree
            else:
                self._begin("config", "")
            self.pools[-1].unread.append(UnreadLine(line.strip(), "config", why, missing=not tree))
        self._pieces.append(f"\n{line}")

    def _below(self, line: str) -> None:
        if self._key:
            self._pieces.append(f"\n{line}")
        else:
            self._odd(line, "", "it belongs to no line above it")

    def _odd(self, line: str, of: str, why: str) -> None:
        odd = UnreadLine(line.strip(), of, why)
        if self.pools:
            self.pools[-1].unread.append(odd)
        else:
            self.stray.append(odd)


@dataclass
class _Node:
    """One row while its children are still to come."""

    depth: int
    name: str
    state: str = ""
    errors: tuple[int, int, int] | None = None
    slow: int | None = None
    note: str = ""
    printed: tuple[str, ...] = ()
    columns: tuple[tuple[str, str], ...] = ()
    children: list[_Node] = field(default_factory=list)

    def vdev(self) -> Vdev:
        children = tuple(child.vdev() for child in self.children)
        return Vdev(self.name, self.state, self.errors, self.slow, self.note, children, self.printed, self.columns)


class _Columns(NamedTuple):
    counted: bool  # whether rows have the three counters
    ours: tuple[str, ...]  # SLOW, POWER, DIO, in their order
    commands: tuple[str, ...]  # what -c adds
    strange: int = 0  # columns that no release we know prints


def tree_by_row(text: str, pool: str, counted: bool = True) -> tuple[Vdev, Sections, list[UnreadLine]]:
    """The tree as far as it can be read. `text` is what stands below `config:`; `counted` says whether rows have counters."""
    tree = _Tree(pool, counted)
    for line in text.split("\n"):
        if line.strip():
            tree.take(line)
    return tree.read()


def is_cut_header(names: Sequence[str]) -> bool:
    """Whether these are the first columns, and the last one of them ends within its word: a text that ends there."""
    *whole, last = names
    return len(names) < len(COLUMNS) and tuple(whole) == COLUMNS[: len(whole)] and COLUMNS[len(whole)].startswith(last)


class _Tree:
    """Rows, each put below the one it is a child of."""

    def __init__(self, pool: str, counted: bool) -> None:
        self._pool = pool
        self._columns = _Columns(counted, (), ())
        self._headed = not counted
        self._tops: list[tuple[str, list[_Node]]] = [("", [])]
        self._trail: list[_Node] = []
        self._unread: list[UnreadLine] = []

    def take(self, line: str) -> None:
        if _is_header(line):
            self._head(line)
        elif line.strip() in _HEADINGS and line.startswith(("\t", " ")):
            self._tops.append((line.strip(), []))
            self._trail = []
        else:
            self._take_row(line)

    def read(self) -> tuple[Vdev, Sections, list[UnreadLine]]:
        if not self._headed:
            self._miss("", "the line with the names of the columns is missing")
        (_, roots), *sections = self._tops
        if not roots:
            self._miss("", "the row of the pool itself is missing")
        root = roots[0] if roots else _Node(0, self._pool)
        if roots and not root.children:
            self._miss(root.name, TOO_FEW)
        for top in (*root.children, *(top for _, tops in sections for top in tops)):
            self._count(top)
        if self._pool and root.name != self._pool:
            self._miss(root.name, f"the vdev tree does not begin with {self._pool}")
        return root.vdev(), tuple((heading, tuple(top.vdev() for top in tops)) for heading, tops in sections), self._unread

    def _count(self, node: _Node) -> None:
        if INTERIOR.fullmatch(node.name) and not node.name.isdigit() and len(node.children) < members_least(node.name):
            self._miss(node.name, TOO_FEW)
        for child in node.children:
            self._count(child)

    def _miss(self, line: str, why: str, of: str = "config") -> None:
        self._unread.append(UnreadLine(line.strip(), of, why))

    def _head(self, line: str) -> None:
        self._headed = True
        names = line.split()
        if tuple(names[:5]) != COLUMNS:
            counted = len(names) > 2
            self._columns = _Columns(counted, (), (), 0)
            if is_cut_header(names):
                self._unread.append(
                    UnreadLine(line.strip(), "config", "the line with the names of the columns is cut within", missing=True)
                )
            elif counted:
                self._miss(line, "the columns are not the ones we know")
            return
        extra = names[5:]
        ours = tuple(name for name in extra if name in ("SLOW", "POWER", "DIO"))
        commands = tuple(name for name in extra if name not in ours and name == name.lower())
        strange = len(extra) - len(ours) - len(commands)
        if strange:
            self._miss(line, "the columns are not the ones we know")
        self._columns = _Columns(True, ours, commands, strange)

    def _take_row(self, line: str) -> None:
        body = line[1:] if line.startswith("\t") else line
        depth: int | None = len(body) - len(body.lstrip(" "))
        if not line.startswith("\t") or (depth or 0) % 2 or (depth or 0) > INDENT_MAX:
            depth = None
            self._miss(line, CROOKED)
        node = self._node(self._words(body), line)
        if node is not None:
            self._put(node, depth, line)

    def _words(self, body: str) -> list[str]:
        """The words of a row. The name of a pool may have blanks in it (zpool_namecheck, module/zcommon/zfs_namecheck.c), and then is one word here."""
        text = body.strip()
        if " " in self._pool and text.startswith(f"{self._pool} "):
            return [self._pool, *text[len(self._pool) :].split()]
        return text.split()

    def _node(self, words: list[str], line: str) -> _Node | None:
        name, *rest = words
        if len(rest) > 1 and rest[0] not in STATES and rest[1] in STATES:
            name, rest = f"{name} {rest[0]}", rest[1:]
            self._miss(line, "a name with a blank in it cannot be distinguished from a column")
        node = _Node(0, name)
        if not rest:
            if self._tops[-1][0] not in ("cache", "spares") or self._columns.counted:
                self._miss(line, "a line of the vdev tree cannot be read")
                return node if line.startswith("\t") else None
            return node
        if rest[0] not in STATES:
            if not (_STATE_WORD.fullmatch(rest[0]) or (len(rest) > 3 and all(map(_FIGURE.fullmatch, rest[1:4])))):
                self._miss(line, "a line of the vdev tree cannot be read")
                return node if INTERIOR.fullmatch(name) or name.startswith("/") else None
            self._miss(line, f"{rest[0]} is not a vdev state", "state")
        node.state = rest[0]
        before = len(name.split()) + 1  # the words of the name, and the state
        self._fill(node, line.split(None, before)[-1].strip() if len(rest) > 1 else "", line)
        return node

    def _fill(self, node: _Node, text: str, line: str) -> None:
        """What stands behind the state: counters, the other columns, the note."""
        if not self._columns.counted or not _FIGURE.fullmatch(text.split(None, 1)[0] if text else ""):
            node.note = text
            return
        words = text.split(None, 3)
        figures = [word for word in words[:3] if _FIGURE.fullmatch(word)]
        text = text.split(None, len(figures))[len(figures)] if len(words) > len(figures) else ""
        if len(figures) == 3 and all(map(_WHOLE.fullmatch, figures)):
            node.errors = (int(figures[0]), int(figures[1]), int(figures[2]))
        elif len(figures) == 3 and "-" not in figures:
            node.printed = tuple(figures)
            self._unread.append(UnreadLine(line.strip(), "counters", ROUNDED, rounded=True))
        else:
            self._miss(line, "the error counters are not three numbers", "counters")
        node.note = self._further(node, text, line).rstrip()

    def _further(self, node: _Node, text: str, line: str) -> str:
        """The note, once what stands in further columns is taken off."""
        for column in self._columns.ours:
            value, _, rest = text.partition(" ")
            if not (_FIGURE.fullmatch(value) or value in ("on", "off")):
                self._miss(line, f"the column {column} has no value", "counters")
                break
            if column == "SLOW" and _WHOLE.fullmatch(value):
                node.slow = int(value)
            elif value not in USUAL:
                node.columns += ((column, value),)
                if column == "SLOW":
                    self._unread.append(UnreadLine(line.strip(), "counters", ROUNDED, rounded=True))
            text = rest.strip()
        for _ in range(self._columns.strange or (0 if self._headed else 3)):
            value, _, rest = text.partition(" ")
            if not _FIGURE.fullmatch(value):
                break
            text = rest.strip()
        if self._columns.strange:
            return _parted(text)[0]  # what else stands there belongs to an unknown column
        if not self._columns.commands:
            return text
        note, values = _parted(text)
        cut = values.split() if len(values.split()) == len(self._columns.commands) else re.split(r" {2,}", values)
        if len(cut) == len(self._columns.commands):
            node.columns += tuple(zip(self._columns.commands, cut))
        return note

    def _put(self, node: _Node, depth: int | None, line: str) -> None:
        least = 2 if self._tops[-1][0] else 0
        if depth is None or (depth <= 0 < least) or (depth == 0 and self._tops[0][1] and not least):
            if depth is not None:
                self._miss(line, CROOKED)
            depth = self._trail[-1].depth if self._trail else least
            if self._tops[0][1] and not least:
                depth = max(depth, 2)  # a pool has one row of its own
        while self._trail and self._trail[-1].depth >= depth:
            self._trail.pop()
        while self._trail and self._trail[-1].depth and not INTERIOR.fullmatch(self._trail[-1].name) and self._trail[-1].name != NOT_READ:
            depth = self._trail.pop().depth  # a leaf has no children
            self._miss(line, "the vdev tree is not indented by two spaces a level")
        above = self._trail[-1].depth if self._trail else least - 2
        while depth > above + 2:
            above += 2
            self._miss(line, "the row above it in the vdev tree is missing")
            self._add(_Node(above, self._pool if above == 0 else NOT_READ))
        node.depth = depth
        self._add(node)

    def _add(self, node: _Node) -> None:
        (self._trail[-1].children if self._trail else self._tops[-1][1]).append(node)
        self._trail.append(node)


_NOTES = (
    r"was \S+",
    "cannot open",
    "missing device",
    "insufficient replicas",
    "newer version",
    r"unsupported feature\(s\)",
    "unsupported minimum blocksize",
    "currently in use",
    "in use by pool '[^']*'",
    "too many errors",
    "too many slow I/Os",
    "experienced I/O failures",
    "bad intent log",
    "external device fault",
    "split into new pool",
    "all children offline",
    "invalid label",
    "corrupted data",
    "block size: [0-9]+B configured, [0-9]+B native",
    r"\([a-z -]+\)",
)  # print_status_config() of cmd/zpool/zpool_main.c, 0.6.5 to 2.4
_NOTE = re.compile(rf"(?:{'|'.join(_NOTES)})(?=  |$)")
_AT_END = re.compile(r"\((?:[0-9]+% (?:initialized|trimmed)[^()]*|uninitialized|untrimmed|trim unsupported|trimming|initializing)\)$")


def _parted(text: str) -> tuple[str, str]:
    """The note, and what the columns of -c say: they stand between the notes of print_status_config and those of -i and -t."""
    notes: list[str] = []
    after: list[str] = []
    for _ in range(NOTES_MAX):
        if found := _NOTE.match(text):
            notes.append(found.group())
            text = text[found.end() :].strip()
    for _ in range(AT_END_MAX):
        if not (found := _AT_END.search(text)):
            break
        after.insert(0, found.group())
        text = text[: found.start()].rstrip()
    return "  ".join((*notes, *after)), text


def _is_header(line: str) -> bool:
    """Whether it names the columns; one of the names may be damaged."""
    return len(_HEADERS.intersection(line.split())) > 1


def root_name(text: str) -> str:
    """The name of the pool by its own row, where the line that names it is missing; "" where that is not printed."""
    rows: Iterator[str] = (line for line in text.split("\n") if line.startswith("\t") and line.strip() and not _is_header(line))
    first = next(rows, "")
    words: Sequence[str] = first.split()
    is_root = first[:1] == "\t" and first[1:2] not in ("", " ") and len(words) > 1 and words[1] in STATES
    return words[0] if is_root else ""

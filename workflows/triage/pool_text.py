"""The text of `zpool status` and `zpool import` in ZFS's own layout: a tab before what goes on below a field, and two blanks for each level
of the tree."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from agents.collectors._rows import is_gap
from agents.collectors.zpool_status import NO_TREE
from workflows.triage import tree
from workflows.triage.fields import HEADER, HEADING, KEY, ODD_KEY, STATE
from workflows.triage.partly import CUT_WITHIN


class Text(NamedTuple):
    """The text, and what was done to it. `refused` says why a tree was not put back."""

    text: str
    notes: tuple[str, ...]
    rebuilt: bool
    refused: str


_ROW = re.compile(r"\s*\S+\s+[A-Z][A-Z_]{3,15}(?=\s|$)")  # a state, also one of a release not yet written
_UNCOUNTED = re.compile(rf"\s*\S{{1,255}}\s+{STATE}(?:\s{{2,}}[a-z].{{0,200}})?$")  # a row of `zpool import`
_STARTS_WITH_STATE = re.compile(rf"\s*{STATE}(?=\s|$)")
_ONE_WORD = re.compile(r"\s*[^\s:]+\s*\Z")
_COLUMNS = re.compile(r"(?:\s*(?:STATE|READ|WRITE|CKSUM|SLOW|POWER|DIO))+\s*")
_DELAY = re.compile(r"(?<=CKSUM ) {0,8}DELAY(?=\s|$)")  # how an early ZFS on Linux called the column of slow I/Os
_FIGURE = r"(?:[0-9]{1,9}(?:[.,][0-9]{1,3})?[KMGTPE]?|-)"
_CUT_ROW = re.compile(rf"\s*\S+\s+{STATE}(?:\s+{_FIGURE}){{0,2}}\s*")  # cut behind its state or among its counters
_COUNTERS = re.compile(rf"\s*{_FIGURE}(?:\s+{_FIGURE}){{0,2}}(?:\s{{2,}}\S.*)?")
_AFTER_ROWS = ("Additional devices are known", "exact configuration cannot be determined")
_STATED_HEADING = re.compile(rf"\s*(logs|cache|spares)\s+{STATE}(?=\s|$)")
_PROSE = frozenset(("status", "action", "comment"))


_STATES = tuple(STATE.removeprefix("(?:").removesuffix(")").split("|"))
_STATELESS = ("cache", "spares")  # their rows have no state in `zpool import`


def _is_cut_state(line: str) -> bool:
    """Whether it is a name and the beginning of a state, as where a text ends."""
    words = line.split()
    return len(words) == 2 and line[0] in " \t" and any(state.startswith(words[1]) for state in _STATES)


def cut_row(row: str, counted: bool, section: str) -> str:
    """The last row of a text, so far as it is sure: "" where its state is not; without the counters where one is missing."""
    name, *rest = row.split()
    if not rest:
        return row if HEADING.match(row) or (section in _STATELESS and not counted) else ""
    if rest[0] not in _STATES and len(rest) == 1:
        meant = [state for state in _STATES if state.startswith(rest[0])]
        return f"{row[: row.index(name)]}{name}  {meant[0]}" if len(meant) == 1 else "" if meant else row
    figures = [word for word in rest[1:] if _COUNTERS.fullmatch(word)]
    if counted and rest[0] in _STATES and figures == rest[1:] and 0 < len(figures) < 3:
        return f"{row[: row.index(name)]}{name}  {rest[0]}"
    return row


def put_back(lines: Sequence[str]) -> Text:
    """The same words in ZFS's own layout."""
    writer = _Writer()
    for line in lines:
        writer.take(line)
    writer.end_text()
    notes = (f"{writer.joined} wrapped lines were joined.",) if writer.joined else ()
    text = "\n".join(writer.out) + "\n"
    return Text(text, (*notes, *dict.fromkeys(writer.notes)), writer.rebuilt, " ".join(dict.fromkeys(writer.refused)))


@dataclass
class _Writer:
    out: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    joined: int = 0
    rebuilt: bool = False
    _key: str = ""
    _pool: str = ""
    _state: str = ""  # of the pool, as its state: line has it
    _rows: list[str] = field(default_factory=list)
    _section: str = ""
    _drawn_up: bool = False  # whether the first row stands behind config: itself
    _left_out: str = ""  # what stands in place of rows that somebody took out
    _counted: bool = False  # whether its rows have counters
    _empty: bool = False  # whether an empty line stands above, below the last row

    def take(self, line: str) -> None:
        found = KEY.match(line)
        if found:
            self._begin(found.group(1), line)
        elif self._key == "config":
            self._take_row(line)
        elif not line.strip():
            self.out.append("")
        elif self._key != "errors" and HEADER.match(line):
            self._key = "config"  # the line above it that says so is missing
            self._take_row(line)
        elif not self._key and not self.out and _UNCOUNTED.match(line):
            self.out += ["config:", ""]  # all that stands above the tree of `zpool import` is missing
            self._key = "config"
            self._take_row(line)
        elif self._key not in ("errors", "comment") and ODD_KEY.match(line):
            self._key = ""  # a field we do not know, and what goes on below it is part of it
            self.out.append(line)
        elif line[0] != " " and self._key in _PROSE:
            self.out[-1] += " " + line.strip()
            self.joined += 1
        else:
            self.out.append("\t" + line.strip())

    def _begin(self, key: str, line: str) -> None:
        self.end_tree()
        self._key = key
        self._counted = False
        if key == "pool":
            self._pool, self._state = line.partition(":")[2].strip(), ""
        if key == "state":
            self._state = line.partition(":")[2].strip()
        text = line.partition(":")[2].strip()
        if key == "config" and text and text != NO_TREE:  # the first row was drawn up to it
            self.out += [line.partition(":")[0] + ":", ""]
            self._rows = [text] if not HEADER.match(text) else []
            self._drawn_up = bool(self._rows)
            if HEADER.match(text):
                self.out.append("\t" + text)
        else:
            self.out.append(line.lstrip() if line.startswith("    ") else line)  # four blanks would make it go on below another

    def _take_row(self, line: str) -> None:
        stated = _STATED_HEADING.match(line)
        if stated and self._rows:  # before 2010 the log's heading had a state, and its devices stood below it
            line = " " * (len(self._rows[0]) - len(self._rows[0].lstrip())) + stated.group(1)
        if not line.strip():
            self._empty = True
            if not self._rows and self.out[-1]:
                self.out.append("")
            return
        if HEADER.match(line):
            line = _DELAY.sub("SLOW", line)
            self._counted = len(line.split()) > 2
            self.out.append("\t" + line.strip())
        elif [row.strip() for row in self._rows[:2]] == ["NAME"] and _COLUMNS.fullmatch(line):
            self._rows = []  # it was the heading, cut behind its first column
            self.out.append("\tNAME  " + line.strip())
            self.joined += 1
        elif not self._rows and _COLUMNS.fullmatch(line) and HEADER.match(self.out[-1]):
            self.out[-1] += "  " + line.strip()
            self.joined += 1
        elif line.strip().startswith(_AFTER_ROWS):
            self.end_tree()
            self._key = "config"
            self.out.append("\t" + line.strip())
        elif is_gap(line):
            self._left_out = line.strip()
        elif self._rows and _COUNTERS.fullmatch(line) and _CUT_ROW.fullmatch(self._rows[-1]):
            self._rows[-1] += "  " + line.strip()
            self.joined += 1
        elif self._is_row(line):
            self._rows += [*self._root_above(line), line]
        elif self._rows and not HEADING.match(self._rows[-1]) and not self._empty:
            within = self._rows[-1][-1].islower() and line.strip()[0] in "/abcdefghijklmnopqrstuvwxyz"  # one note, cut between its words
            self._rows[-1] += (" " if within else "  ") + line.strip()
            self.joined += 1
        else:
            self._rows.append(line)
        self._empty = False

    def _root_above(self, line: str) -> list[str]:
        """The row of the pool, by its fields, where somebody took out all that stood above this top-level vdev."""
        indent, name = len(line) - len(line.lstrip()), line.split()[0]
        if self._rows or not self._left_out or not self._pool or self._state not in _STATES or not tree.is_top(name) or indent < 2:
            return []
        return [f"{' ' * (indent - 2)}{self._pool}  {self._state}"]

    def _is_row(self, line: str) -> bool:
        if HEADING.match(line):
            self._section = line.strip()
            return True
        if self._rows and _STARTS_WITH_STATE.match(line) and _ONE_WORD.match(self._rows[-1]) and not HEADING.match(self._rows[-1]):
            return False  # the rest of a row that was cut behind its name
        return bool(_ROW.match(line)) or _is_cut_state(line) or (bool(_ONE_WORD.match(line)) and line[0] in " \t")

    def end_text(self) -> None:
        """The last row of a text that ends in its tree may be cut within: of it counts what is beyond doubt."""
        if self._key == "config" and len(self._rows) == 1 and self._is_cut_head(self._rows[0]):
            self._rows = []
            self.out.append(CUT_WITHIN)
            self.notes.append("Its last row is cut within.")
        if self._rows and self._key == "config" and not self._empty and len(self._rows) > 1:
            last = self._rows[-1]
            whole = cut_row(last, self._counted, self._section)
            if whole != last:
                self._rows[-1:] = [whole] if whole else []
                self._left_out = self._left_out or CUT_WITHIN
                self.notes.append("Its last row is cut within.")
        self.end_tree()

    def _is_cut_head(self, row: str) -> bool:
        """Whether the text ends within the names of the columns, or within the name of the pool below them."""
        return not self._empty and row[:1] in " \t" and ("NAME".startswith(row.strip()) or (self._counted and len(row.split()) == 1))

    def _name_root(self, rows: list[str]) -> None:
        """Somebody hid the name of the pool in one place and not in the other: the row above all others is that of the pool."""
        name, found = self._pool, _ROW.match(rows[0])
        if not name or found is None or rows[0].split()[0] == name or tree.may_have_members(rows[0].split()[0]) or len(rows) < 2:
            return
        root, *others = (len(row) - len(row.lstrip()) for row in rows if not HEADING.match(row))
        if others and min(others) > root:
            self.notes.append(f"Its tree begins with {rows[0].split()[0]} and not with {name}; it was taken for the tree of this pool.")
            rows[0] = " " * root + name + rows[0].strip()[len(rows[0].split()[0]) :]

    def end_tree(self) -> None:
        rows, self._rows, self._section = self._rows, [], ""
        if self._drawn_up and len(rows) > 1:
            rows[0] = " " * max(len(rows[1]) - len(rows[1].lstrip()) - 2, 0) + rows[0]
        self._drawn_up = False
        if rows:
            self._name_root(rows)
            found = tree.rebuilt(rows) if rows[0].split()[0] == self._pool or not self._pool else tree.Rebuilt(rows)
            self.notes += found.notes
            self.rebuilt |= found.rebuilt
            self.refused += [found.refused] if found.refused else []
            tree_rows = found.rows[:1] if found.refused else found.rows  # below the pool's own row nothing says what belongs to what
            least = len(found.rows[0]) - len(found.rows[0].lstrip())
            self.out += ["\t" + " " * max(len(row) - len(row.lstrip()) - least, 0) + row.strip() for row in tree_rows]
            if self._left_out:
                self.out.append(self._left_out)
            if self._empty:
                self.out.append("")
        self._empty, self._left_out = False, ""
        self._key = ""

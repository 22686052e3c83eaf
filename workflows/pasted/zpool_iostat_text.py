"""`zpool iostat` as people ask for it, with or without -v, -l and -q: rounded numbers, one block for each interval.

The first block is the average since the pool was imported (or since boot); the last one is what happens now. Only disks of one
top-level vdev are compared with each other, and only by the time the disk itself took (`disk_wait`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agents.collectors.base import Unparsed
from workflows.engine.core import Situation
from workflows.pasted import _peers
from workflows.pasted._peers import Wait
from workflows.pasted._rounded import about, milliseconds
from workflows.pasted.base import Reader, Where, median, refused, unread

NARROW = ("scrub", "trim", "rebuild")  # groups of one column with -l
INTERIOR = re.compile(r"(?:mirror|raidz[123]?|draid[123]?(?::\S+)?|replacing|spare|root|indirect)(?:-[0-9]+)?$")
SECTIONS = frozenset(("logs", "log", "cache", "special", "dedup", "spares", "spare"))
CELL = re.compile(r"-|[0-9]+(?:[.,][0-9]+)?(?:[BKMGTPE]|ns|us|ms|s)?")


@dataclass(frozen=True)
class Row:
    """One vdev. `waits` is (group, direction, milliseconds) of every cell with a time; None where a dash is printed."""

    name: str
    depth: int  # blanks before its name; 0 is a pool, or a text that has lost them
    top: str  # the top-level vdev it stands below; "" for a pool, or a top-level vdev itself
    section: str
    read_ops: float | None
    write_ops: float | None
    read_bytes: float | None
    write_bytes: float | None
    waits: tuple[tuple[str, str, float | None], ...]
    line: str

    def wait(self, group: str, direction: str) -> float | None:
        return next((ms for g, d, ms in self.waits if (g, d) == (group, direction)), None)

    @property
    def is_leaf(self) -> bool:
        return bool(self.top) and not INTERIOR.match(self.name)


@dataclass(frozen=True)
class Iostat:
    """Blocks in the order they were printed."""

    blocks: tuple[tuple[Row, ...], ...]
    unread: tuple[str, ...] = ()


@dataclass
class _Tree:
    """Where in the tree a row stands, told from the rows before it. Lost indentation: a bare vdev type at depth 0 says so."""

    pool: str = ""
    shallow: int = 0  # depth of the top-level vdevs of this pool
    top: str = ""
    flat: bool = False
    count: int = 0
    section: str = ""

    def enter(self, name: str, depth: int) -> str:
        """The top-level vdev above this row; "" for a pool and a top-level vdev that is no disk."""
        self.count += 1
        interior = bool(INTERIOR.match(name))
        if depth == 0 and self.pool and (interior or self.flat):
            self.flat = True
            self.top = f"{name}@{self.count}" if interior else self.top
            return "" if interior else self.top
        if depth == 0:
            self.pool, self.shallow, self.top, self.flat, self.section = name, 0, "", False, ""
            return ""
        self.shallow = self.shallow or depth
        if depth > self.shallow:
            return self.top
        self.top = f"{name}@{self.count}"
        return "" if interior else self.pool


def parse(lines: Sequence[str]) -> Iostat | Unparsed:
    """Every block with its rows; Unparsed without any row."""
    groups: list[tuple[str, str]] = _columns(SHORT, ("alloc", "free", "read", "write", "read", "write")) if _is_bare(lines) else []
    titles: list[str] = []
    blocks: list[list[Row]] = []
    stray: list[str] = []
    tree = _Tree()
    for line in filter(str.strip, lines):
        words = line.split()
        if "capacity" in words and "operations" in words:
            titles = [word for word in words if word not in ("pool", "vdev")]
            blocks.append([])
            tree = _Tree()
        elif {"alloc", "free"} <= set(words) or {"used", "avail"} <= set(words):
            groups = _columns(titles or SHORT, [word for word in words if word not in ("pool", "vdev")])
        elif set(line) <= {"-", " "} or line.startswith("--"):
            continue
        elif words[0] in SECTIONS and set(words[1:]) <= {"-"}:
            tree.section = words[0]
        elif (row := _row(groups, words, line, tree)) is None:
            stray.append(line)
        else:
            if not blocks or (blocks[-1] and row.depth == 0 and not row.top and row.name == blocks[-1][0].name):
                blocks.append([])  # the heading is printed once, and the first pool comes again
            blocks[-1].append(row)
    found = tuple(tuple(block) for block in blocks if block)
    return Iostat(found, tuple(stray)) if found else refused("zpool iostat", (stray or [""])[0])


SHORT = ("capacity", "operations", "bandwidth")
_RULE = re.compile(r"-{3,}(?: {1,3}-{5}){6} *$")
_SIZED = r"[0-9]{1,4}(?:[.,][0-9]{1,3})?[BKMGTPE]"
_BARE_POOL = re.compile(
    rf"[A-Za-z]\S{{0,255}}(?: +{_SIZED}){{2}}(?: +[0-9]{{1,4}}(?:[.,][0-9]{{1,3}})?K?){{2}}(?: +(?:0|{_SIZED})){{2}} *$"
)


def _is_bare(lines: Sequence[str]) -> bool:
    """Whether the headings are not here: rows of a pool alone, in the columns that it has without an option."""
    first = next((line for line in lines if line.strip()), "")
    return _RULE.match(first) is not None or _BARE_POOL.match(first) is not None


def _columns(titles: Sequence[str], words: Sequence[str]) -> list[tuple[str, str]]:
    """(group, column) of each cell: groups of two, but for the narrow ones, whose column is called `wait`."""
    found, left = [], list(words)
    for title in titles:
        take = 1 if title in NARROW and left[:1] == ["wait"] else 2
        found += [(title, word) for word in left[:take]]
        left = left[take:]
    return found + [("", word) for word in left]


def _row(groups: Sequence[tuple[str, str]], words: Sequence[str], line: str, tree: _Tree) -> Row | None:
    cells = words[1:]
    if not groups or len(cells) != len(groups) or not all(CELL.fullmatch(cell) for cell in cells):
        return None
    depth = len(line) - len(line.lstrip())
    top = tree.enter(words[0], depth)
    cells_by_name = dict(zip(groups, cells, strict=False))
    read_ops, write_ops, read_bytes, write_bytes = (about(cells_by_name.get(key, "-")) for key in RATES)
    waits = tuple(
        (group, column, milliseconds(cell)) for (group, column), cell in cells_by_name.items() if group.endswith("_wait") or group in NARROW
    )
    return Row(words[0], depth, top, tree.section, read_ops, write_ops, read_bytes, write_bytes, waits, line)


RATES = (("operations", "read"), ("operations", "write"), ("bandwidth", "read"), ("bandwidth", "write"))


def situations(value: Iostat, where: Where) -> tuple[Situation, ...]:
    """Of the last block; where there is one alone, it is an average over a long time and less sure."""
    block, now = value.blocks[-1], len(value.blocks) > 1
    found = []
    for rows in _tops(block):
        outliers = _peers.outliers([wait for row in rows if (wait := _wait(row)).milliseconds])
        text = (
            "That is what happens now. "
            if now
            else "That is the average since the pool was imported; a second block shows what happens now. "
        )
        found += [_peers.situation(one, where, text, alone=len(outliers) == 1, sure=now) for one in outliers]
    return tuple(found)


def _wait(row: Row) -> Wait:
    waits = {direction: ms for direction in ("read", "write") if (ms := row.wait("disk_wait", direction)) is not None}
    return Wait(row.name, waits, row.line)


def _tops(block: Sequence[Row]) -> Iterator[list[Row]]:
    """The leaves of each top-level vdev; narrow mirrors, and disks that are tops themselves, together."""
    by_top: dict[str, list[Row]] = {}
    for row in block:
        if row.is_leaf and row.section == "":
            kind = "mirror" if row.top.startswith("mirror") else row.top
            by_top.setdefault(kind, []).append(row)
    yield from by_top.values()


def notes(value: Iostat) -> tuple[str, ...]:
    """What the numbers say where nothing stands out, so that nobody takes silence for an answer."""
    block = value.blocks[-1]
    leaves = [row for row in block if row.is_leaf]
    timed = [ms for row in leaves for ms in _wait(row).milliseconds.values()]
    if not leaves:
        text = "It shows no single disks; `zpool iostat -v -l 5 2` does."
    elif not timed:
        text = "It does not say how long each disk takes; `zpool iostat -v -l 5 2` does."
    elif any(_peers.outliers([_wait(row) for row in rows]) for rows in _tops(block)):
        text = "It says how long each disk takes; what stands out is told."
    else:
        text = (
            f"None of {len(leaves)} disks stands out: the disks themselves take {median(timed):g} ms (median), {max(timed):g} ms at most "
            f"(disk_wait).{_queued(leaves)}"
        )
    one = "" if len(value.blocks) > 1 else " One block alone is the average since the import."
    return (*unread(value.unread), text + one, *_filled(block))


def _queued(leaves: Sequence[Row]) -> str:
    """Where the time goes that the disks do not take."""
    waits = {
        group: [ms for row in leaves for g, d, ms in row.waits if g == group and d == "write" and ms]
        for group in ("asyncq_wait", "syncq_wait")
    }
    worst = max(waits, key=lambda group: median(waits[group]) if waits[group] else 0.0)
    if not waits[worst] or median(waits[worst]) < 50:
        return ""
    return f" Writes wait {median(waits[worst]):g} ms in ZFS's own queue ({worst}) before that: there is more to write than the disks take."


def _filled(block: Sequence[Row]) -> Iterator[str]:
    """The new half of a replacement, and how fast it is filled."""
    for place, row in enumerate(block):
        if row.name.startswith("replacing") and row.depth:
            halves = [each for each in block[place + 1 :] if each.depth > row.depth][:2]
            new = max(halves, key=lambda half: half.write_bytes or 0.0, default=None)
            if new is not None and new.write_bytes:
                yield f"{new.name} is being filled with {new.write_bytes / 2**20:.1f} MiB/s ({new.write_ops or 0:g} writes a second)."


READER = Reader(
    name="zpool_iostat_text",
    first=rf" *(?:(?:pool|vdev) +)?capacity +operations +bandwidth|pool +alloc +free +read +write|{_RULE.pattern}|{_BARE_POOL.pattern}",
    confirm=lambda lines, i: not _RULE.match(lines[i]) or any(map(_BARE_POOL.match, lines[i + 1 : i + 2])),
    tools=("zpool",),
    asks=lambda tool, rest: tuple(rest[:1]) == ("iostat",) and not any(re.fullmatch(r"-\w*[wr]\w*", word) for word in rest),
    goes_on=r" *(?:(?:pool|vdev) +)?capacity|-{3,}|(?: *\S+ +)(?:-|[0-9][0-9.,]*[BKMGTPE]?) +(?:-|[0-9])| *(?:(?:pool|vdev) *)?(?:alloc|used) |\S+ +-",
    parse=parse,
    situations=situations,
    notes=notes,
    again="zpool iostat -v -l 5 2",
)  # fmt: skip

"""What `zpool add -n` would make of a pool, read row by row and compared with what is meant.

`zpool add -n -P POOL …` opens the disks, refuses what it would refuse without -n, labels nothing, and prints the tree that the pool would have
(zpool_do_add and print_vdev_tree in cmd/zpool/zpool_main.c, make_root_vdev in cmd/zpool/zpool_vdev.c; seen so on a node with 2.1.11):

    would update 'tank' to the following configuration:

    <tab>tank
    <tab>  mirror-0
    <tab>    /dev/disk/by-id/…-part1
    <tab>logs
    <tab>  /dev/disk/by-id/…

Data stands below the pool's name, then come dedup, special, logs, cache and spares. A vdev that is there has the name that `zpool status -P` prints; the
new disk has the name as it was given, as it has no partition yet. Outside of the data a mirror is printed as `mirror`, without the number that
`zpool status` gives it: the tree of the data alone is asked for with VDEV_NAME_TYPE_ID. What is left of a removed vdev is printed here and by no `zpool status`. From 2.0.2 on
the whole tree is printed; before, spares are missing, and a first log stands below no heading.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Tuple

from agents.operations._tree import Member, PoolTree
from agents.operations.base import Unread

HEADINGS = {
    "dedup": "dedup",
    "special": "special",
    "log": "logs",
    "cache": "cache",
    "spare": "spares",
}  # role -> heading, in the order of print
_HEAD = re.compile(r"would update '([^']{1,255})' to the following configuration:")
_ROW = re.compile(r"\t((?:  ){0,8})(\S.{0,4095}?)[\t ]{0,8}")
_REMOVED = re.compile(r"indirect-[0-9]{1,9}")
AS_MEANT = "as meant"


class Row(NamedTuple):
    depth: int
    name: str


Rows = Tuple[Row, ...]


def parse(text: str, pool: str) -> Rows:
    """Every row; Raises Unread for what is no such text, or one line of which is not understood."""
    lines = text.splitlines()
    head = _HEAD.fullmatch(lines[0].strip()) if lines else None
    if head is None or head.group(1) != pool:
        raise Unread(f"zpool add -n prints no configuration of {pool}")
    rows = []
    for line in lines[1:]:
        match = _ROW.fullmatch(line)
        if match is None and line.strip():
            raise Unread(f"zpool add -n prints a line that is not understood: {line[:200]!r}")
        if match is not None:
            rows.append(Row(len(match.group(1)) // 2, match.group(2)))
    return tuple(row for row in rows if _REMOVED.fullmatch(row.name) is None)


def tree(pool: PoolTree, role: str = "", *paths: str) -> Rows:
    """The rows of the pool as it is; with a role, the new disk, or a mirror of several, at the end of its section. Raises Unread."""
    strange = next((top for top in pool.tops if top.role not in ("data", *HEADINGS)), None)
    if strange is not None:
        raise Unread(f"{pool.name} has a section {strange.role}, which is not known here")
    rows = [Row(0, pool.name), *_section(pool, "data")]
    for one, heading in HEADINGS.items():
        found = (*_section(pool, one), *(_new(paths) if one == role else ()))
        rows += [Row(0, heading), *found] if found else []
    return tuple(rows)


def shown(rows: Rows) -> list[str]:
    return [f"{'  ' * row.depth}{row.name}" for row in rows]


def compared(printed: Rows, meant: Rows) -> str:
    """ "as meant", or the first row that differs."""
    for number, (one, other) in enumerate(zip(printed, meant), 1):
        if one != other:
            return f"row {number} would be {_quoted(one)}, and {_quoted(other)} is meant"
    if len(printed) != len(meant):
        return f"{len(printed)} rows would be printed, and {len(meant)} are meant"
    return AS_MEANT


def _new(paths: Sequence[str]) -> list[Row]:
    return [Row(1, path) for path in paths] if len(paths) == 1 else [Row(1, "mirror"), *(Row(2, path) for path in paths)]


def _section(pool: PoolTree, role: str) -> Rows:
    return tuple(row for top in pool.tops if top.role == role for row in _rows(top, 1))


def _rows(member: Member, depth: int, role: str = "") -> Iterator[Row]:
    """Only among the data a mirror or a raidz is printed with its number."""
    role = role or member.role
    yield Row(depth, member.kind if member.children and role != "data" else member.name)
    for child in member.children:
        yield from _rows(child, depth + 1, role)


def _quoted(row: Row) -> str:
    return f"{row.name!r} at depth {row.depth}"

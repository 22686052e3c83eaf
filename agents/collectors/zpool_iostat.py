"""How long each vdev lets I/O wait, from `zpool iostat -l`: averages since the pool was imported, then of a few seconds now.

The first block that zpool prints is an average over the pool's whole life here: a disk that went bad an hour ago hides in it.
So two blocks are asked, and the second is what happens now. A pool at rest prints dashes there, and then nothing is known.
"""

from __future__ import annotations

from dataclasses import dataclass

from agents.collectors._figures import NO_POOLS, Rounded, ask_pools, whole
from agents.collectors._lines import whole_lines
from agents.collectors.base import Capture, Unparsed
from agents.host.host import Host

NAME = "zpool_iostat"
EVERY_SECONDS = 60
VOLATILE = True  # they move with every I/O
INTERVAL_SECONDS = 6  # a txg is written every five, so one of them falls into it
ARGV = ("zpool", "iostat", "-v", "-l", "-H", "-p", "-g", str(INTERVAL_SECONDS), "2")
TIMEOUT_SECONDS = 20 + INTERVAL_SECONDS
COLUMNS = (16, 17, 18)  # 0.8 added trim, 2.2 added rebuild


@dataclass(frozen=True)
class Waits:
    """One row. Waits are averages in nanoseconds, None where there was no such I/O. A leaf's alloc and free are 0.

    zpool computes them from a histogram whose buckets double, taking each I/O for the middle of its bucket: an average may be
    off by a half of itself, so only factors say something.
    """

    name: str  # a pool; a vdev's guid, or its name where -g was not asked
    alloc_bytes: int | None
    free_bytes: int | None
    read_ops: int
    write_ops: int
    read_bytes: int
    write_bytes: int
    total_read_ns: int | None
    total_write_ns: int | None
    disk_read_ns: int | None
    disk_write_ns: int | None
    syncq_read_ns: int | None
    syncq_write_ns: int | None
    asyncq_read_ns: int | None
    asyncq_write_ns: int | None
    scrub_ns: int | None
    trim_ns: int | None = None
    rebuild_ns: int | None = None


@dataclass(frozen=True)
class Iostat:
    """The rows of all pools in the order of the tree; `now` is None when only one block was printed."""

    since_import: tuple[Waits, ...]
    now: tuple[Waits, ...] | None = None


def collect(host: Host) -> tuple[Capture, ...]:
    return (ask_pools(host, NAME, ARGV, TIMEOUT_SECONDS),)


def parse(text: str) -> Iostat | Unparsed:
    """One or two blocks of rows, or the first line that made no sense. Never raises."""
    rows: list[Waits] = []
    lines = whole_lines(text)
    if isinstance(lines, Unparsed):
        return lines
    for line in lines:
        if not line or line == NO_POOLS:
            continue  # zpool prints an empty line before each class of vdevs
        columns = line.split("\t")
        try:
            numbers = [whole(column) for column in columns[1:]]
        except Rounded:
            return Unparsed("a column of zpool iostat is no whole number; ask with -p", line)
        counts = [number for number in numbers[2:6] if number is not None]
        if len(columns) not in COLUMNS or not columns[0] or len(counts) < 4:
            return Unparsed("a row of zpool iostat has not the columns we know", line)
        alloc_bytes, free_bytes, *_ = numbers
        rows.append(Waits(columns[0], alloc_bytes, free_bytes, *counts, *numbers[6:]))
    return _blocks(rows)


def _blocks(rows: list[Waits]) -> Iostat | Unparsed:
    """The first row is a pool's, and no vdev has a pool's name: where it comes again, the second block begins."""
    names = [row.name for row in rows]
    again = names.index(names[0], 1) if names and names[0] in names[1:] else None
    if again is None:
        return Iostat(tuple(rows))
    if names[:again] != names[again:]:
        return Unparsed("the two blocks of zpool iostat are not about the same vdevs", names[0])
    return Iostat(tuple(rows[:again]), tuple(rows[again:]))

"""Sizes and fill of pools and their vdevs, as `zpool list -v` prints them for scripts: bytes and whole percents.

The rows carry guids for names (-g) and no indentation: which vdev stands where is known from `zpool status`.
"""

from __future__ import annotations

from dataclasses import dataclass

from agents.collectors._figures import NO_POOLS, Rounded, ask_pools, whole
from agents.collectors._lines import whole_lines
from agents.collectors.base import Capture, Unparsed
from agents.host.host import Host

NAME = "zpool_list"
EVERY_SECONDS = 60
VOLATILE = True  # what of it is a state, `zpool status` says too
ARGV = ("zpool", "list", "-v", "-p", "-H", "-g")
TIMEOUT_SECONDS = 20
HEADINGS = frozenset(("dedup", "special", "log", "logs", "cache", "spare", "spares"))
POOL_COLUMNS = 11  # NAME SIZE ALLOC FREE CKPOINT EXPANDSZ FRAG CAP DEDUP HEALTH ALTROOT
VDEV_COLUMNS = 10  # the same, without ALTROOT; since 2.4.1 with a dash for it (cmd/zpool/zpool_main.c:collect_list_stats)


@dataclass(frozen=True)
class Space:
    """One row. None where a dash is printed: a leaf has a size and nothing else, a spare hardly that."""

    name: str  # a vdev: its guid, or its name where -g was not asked
    size_bytes: int | None
    alloc_bytes: int | None
    free_bytes: int | None
    checkpoint_bytes: int | None
    expand_bytes: int | None
    fragmentation_percent: int | None
    capacity_percent: int | None
    health: str
    section: str = ""  # "special", "logs", "cache", "spare"; "" for data


@dataclass(frozen=True)
class PoolSpace:
    pool: Space
    vdevs: tuple[Space, ...]


def collect(host: Host) -> tuple[Capture, ...]:
    return (ask_pools(host, NAME, ARGV, TIMEOUT_SECONDS),)


def parse(text: str) -> tuple[PoolSpace, ...] | Unparsed:
    """Every pool with its rows, or the first line that made no sense. Never raises."""
    if text.strip() in ("", NO_POOLS):
        return ()
    pools: list[tuple[Space, list[Space]]] = []
    section = ""
    lines = whole_lines(text)
    if isinstance(lines, Unparsed):
        return lines
    for line in lines:
        words = line.split()
        columns = line.split("\t")
        if words and words[0] in HEADINGS and set(words[1:]) == {"-"} and len(columns) == 1:
            section = words[0]
            continue
        is_vdev = columns[0] == ""
        row = columns[1:] if is_vdev else columns
        if is_vdev and len(row) == POOL_COLUMNS and row[-1] == "-":
            row = row[:-1]
        if len(row) != (VDEV_COLUMNS if is_vdev else POOL_COLUMNS) or not row[0] or (is_vdev and not pools):
            return Unparsed("a row of zpool list has not the columns we know", line)
        try:
            if is_vdev:
                pools[-1][1].append(_space(row, section))
            else:
                section = ""
                pools.append((_space(row, ""), []))
        except Rounded:
            return Unparsed("a column of zpool list is no whole number; ask with -p", line)
    return tuple(PoolSpace(pool, tuple(vdevs)) for pool, vdevs in pools)


def _space(row: list[str], section: str) -> Space:
    size, alloc, free, checkpoint, expand, fragmentation, capacity = map(whole, row[1:8])
    return Space(row[0], size, alloc, free, checkpoint, expand, fragmentation, capacity, row[9], section)

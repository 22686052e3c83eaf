"""How many I/Os waited how long since the pool was imported, for each vdev: the histograms of `zpool iostat -w`.

Counts only grow, so the difference of two texts is exactly what happened between them. Buckets double: each is named by the
longest wait that falls into it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Optional, Tuple

from agents.collectors._figures import NO_POOLS, ask_pools
from agents.collectors._lines import whole_lines
from agents.collectors.base import Capture, Unparsed
from agents.host.host import Host

NAME = "zpool_iostat_w"
EVERY_SECONDS = 600
VOLATILE = True  # they move with every I/O
ARGV = ("zpool", "iostat", "-w", "-v", "-H", "-p", "-g")
TIMEOUT_SECONDS = 20
KINDS = (
    *("total_read", "total_write", "disk_read", "disk_write", "syncq_read", "syncq_write", "asyncq_read", "asyncq_write"),
    *("scrub", "trim", "rebuild"),  # 0.8 added trim, 2.2 added rebuild
)
KINDS_MIN = 9
BUCKETS = 37  # the last one ends at 137 s
ROWS_REMEMBERED = 8192  # most buckets of most vdevs count nothing, or what they counted before


Row = Tuple[Optional[int], ...]


@dataclass(frozen=True)
class Histogram:
    """`counts[kind][i]` I/Os waited no longer than 2^(i+1)-1 ns, and longer than the bucket before.

    None is a count that was printed rounded, as `zpool iostat -w` does without -p.
    """

    name: str  # a pool; a vdev's guid, or its name where -g was not asked
    counts: dict[str, tuple[int | None, ...]]

    def above(self, kind: str, nanoseconds: int) -> int | None:
        """How many I/Os certainly waited longer than this: whole buckets only. None when one of them is rounded."""
        counts = [count for i, count in enumerate(self.counts.get(kind, ())) if (1 << i) >= nanoseconds]
        return None if None in counts else sum(count or 0 for count in counts)


def collect(host: Host) -> tuple[Capture, ...]:
    return (ask_pools(host, NAME, ARGV, TIMEOUT_SECONDS),)


def parse(text: str) -> tuple[Histogram, ...] | Unparsed:
    """Every histogram, or the first line that made no sense. Reads the table for people too. Never raises."""
    blocks: list[tuple[str, list[Row]]] = []
    lines = whole_lines(text)
    if isinstance(lines, Unparsed):
        return lines
    for line in lines:
        words = line.split(None, 1)
        row = _counts(words[1]) if blocks and len(words) == 2 and _is_bucket(words[0]) else None
        if row is not None:  # most lines are one, so it is tried first
            blocks[-1][1].append(row)
            continue
        words = line.split()
        if not words or line == NO_POOLS or set(line) <= {"-", " "} or words[0] == "latency":
            continue
        name = _name(words, line)
        if name:
            blocks.append((name, []))
            continue
        return Unparsed("a row of zpool iostat -w is no bucket with counts", line)
    return _histograms(blocks)


def _name(words: list[str], line: str) -> str:
    """The name that heads a block; "" when the line is something else. For scripts it stands alone, without a tab."""
    if len(words) == 1 and "\t" not in line:
        return words[0]
    return words[0] if words[1:3] == ["total_wait", "disk_wait"] else ""


@lru_cache(maxsize=64)
def _is_bucket(word: str) -> bool:
    return _BUCKET.fullmatch(word) is not None


@lru_cache(maxsize=ROWS_REMEMBERED)
def _counts(tail: str) -> Row | None:
    """What stands behind the name of a bucket: None inside is a count that was printed rounded. None when it is no row of counts."""
    words = tail.split()
    if not KINDS_MIN <= len(words) <= len(KINDS) or not all(_COUNT.fullmatch(word) for word in words):
        return None
    return tuple(int(word) if word.isdigit() else None for word in words)


_BUCKET = re.compile(r"[0-9]{1,12}(?:|ns|us|ms|s)")
_COUNT = re.compile(r"[0-9]{1,20}|[0-9]{1,4}(?:\.[0-9]{1,2})?[KMGTPE]|-")


def _histograms(blocks: list[tuple[str, list[Row]]]) -> tuple[Histogram, ...] | Unparsed:
    found = []
    for name, rows in blocks:
        if len(rows) != BUCKETS or len({len(row) for row in rows}) != 1:
            return Unparsed(f"the histogram of {name} has not {BUCKETS} whole rows")
        found.append(Histogram(name, dict(zip(KINDS, zip(*rows)))))
    return tuple(found)

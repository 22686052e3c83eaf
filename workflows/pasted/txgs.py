"""Rows of the kernel statistic `txgs` without the name of their pool: how each transaction group was filled and written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agents.collectors.base import Unparsed
from agents.collectors.kstat_txgs import TXG_COLUMNS, TXG_STATES
from workflows.core import Situation
from workflows.pasted.base import Reader, Where, median, refused, unread

LONG_SYNC_S = 15.0  # a transaction group is meant to be written in about zfs_txg_timeout (5 s); three times that stalls every writer


@dataclass(frozen=True)
class Txg:
    """One transaction group; times in seconds, sizes in bytes."""

    txg: int
    state: str
    dirty: int
    read: int
    written: int
    reads: int
    writes: int
    open_s: float
    quiesce_s: float
    wait_s: float
    sync_s: float
    line: str


@dataclass(frozen=True)
class Txgs:
    rows: tuple[Txg, ...]
    unread: tuple[str, ...] = ()


def parse(lines: Sequence[str]) -> Txgs | Unparsed:
    found, stray = [], []
    for line in filter(str.strip, lines):
        words = line.split()
        row = _row(words, line)
        if row is not None:
            found.append(row)
        elif words != TXG_COLUMNS and not re.match(r"[0-9]+ [0-9]+ 0x", line):
            stray.append(line)
    return Txgs(tuple(found), tuple(stray)) if found else refused("the kernel statistic txgs", lines[0] if lines else "")


def _row(words: Sequence[str], line: str) -> Txg | None:
    if (
        len(words) != len(TXG_COLUMNS)
        or words[2] not in TXG_STATES
        or not all(w.isdigit() and len(w) <= 20 for i, w in enumerate(words) if i != 2)
    ):
        return None
    dirty, read, written, reads, writes, *times = (int(word) for word in words[3:])
    return Txg(int(words[0]), TXG_STATES[words[2]], dirty, read, written, reads, writes, *(ns / 1e9 for ns in times), line)


def situations(value: Txgs, where: Where) -> tuple[Situation, ...]:
    return tuple(_long(value, where))


def _long(value: Txgs, where: Where) -> Iterator[Situation]:
    long = [row for row in value.rows if row.sync_s >= LONG_SYNC_S]
    if long:
        worst = max(long, key=lambda row: row.sync_s)
        yield Situation(
            "writers-throttled", f"txg-sync-long:{where.node}", where.node, "watch",
            f"A transaction group took {worst.sync_s:.0f} s to be written",
            f"{len(long)} of {len(value.rows)} transaction groups took {LONG_SYNC_S:.0f} s or longer to be written, {worst.sync_s:.0f} s at most; about "
            "5 s are usual. Meanwhile writers fill the next group and then stop. Which disk takes the time: `zpool iostat -v -l 5 2`.",
            where.evidence(worst.line),
            subject={"node": where.node},
        )  # fmt: skip


def notes(value: Txgs) -> tuple[str, ...]:
    done = [row for row in value.rows if row.state == "committed"]
    if not done:
        return unread(value.unread)
    sync, opened = [row.sync_s for row in done], [row.open_s for row in done]
    written, read = median([row.written for row in done]), median([row.read for row in done])
    said = (
        f"{len(done)} transaction groups: written in {median(sync):.2f} s (median), {max(sync):.2f} s at most; open for {median(opened):.1f} s. "
        f"Each wrote {written / 2**20:.0f} MiB and read {read / 2**20:.0f} MiB meanwhile."
    )
    reading = (
        " It reads many times what it writes: the disks are busy with reads, of a scrub, a resilver, a deletion or the deduplication table."
        if read > 4 * max(written, 1)
        else ""
    )
    return (*unread(value.unread), said + reading, "The rows do not say of which pool they are.")


READER = Reader(
    name="txgs",
    first=r"[0-9]{1,20} +[0-9]{1,20} +[BOQWSC] +(?:[0-9]{1,20} +){8}[0-9]{1,20}$|txg +birth +state +ndirty +nread",
    goes_on=r"[0-9]{1,20} +[0-9]{1,20} +[BOQWSC] ",
    parse=parse,
    situations=situations,
    notes=notes,
    again="cat /proc/spl/kstat/zfs/POOL/txgs",
)

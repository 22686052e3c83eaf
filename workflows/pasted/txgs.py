"""Rows of the kernel statistic `txgs` without the name of their pool: how each transaction group was filled and written."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agents.collectors._lines import decimal
from agents.collectors.base import Unparsed
from agents.collectors.kstat_txgs import TXG_COLUMNS, TXG_STATES
from workflows.pasted.base import Reader, median, refused, unread

LONG_SYNC_S = 15.0  # a transaction group is meant to be written in about zfs_txg_timeout (5 s); three times that stalls every writer
NEWEST = 5  # groups that are looked at


@dataclass(frozen=True)
class Txg:
    """One transaction group; times in seconds, sizes in bytes."""

    state: str
    read: int
    written: int
    open_s: float
    sync_s: float


@dataclass(frozen=True)
class Txgs:
    rows: tuple[Txg, ...]
    unread: tuple[str, ...] = ()


def parse(lines: Sequence[str]) -> Txgs | Unparsed:
    found, stray, has_heading = [], [], False
    for line in filter(str.strip, lines):
        words = line.split()
        row = _row(words)
        if row is not None:
            found.append(row)
        elif words == TXG_COLUMNS:
            has_heading = True
        elif not re.match(r"[0-9]+ [0-9]+ 0x", line):
            stray.append(line)
    return Txgs(tuple(found), tuple(stray)) if found or has_heading else refused("the kernel statistic txgs", lines[0] if lines else "")


def _row(words: Sequence[str]) -> Txg | None:
    if len(words) != len(TXG_COLUMNS) or words[2] not in TXG_STATES:
        return None
    numbers = [decimal(word) for word in (words[0], *words[3:])]
    if None in numbers:
        return None
    figures = dict(zip((TXG_COLUMNS[0], *TXG_COLUMNS[3:]), (figure or 0 for figure in numbers), strict=True))
    return Txg(TXG_STATES[words[2]], figures["nread"], figures["nwritten"], figures["otime"] / 1e9, figures["stime"] / 1e9)


def notes(value: Txgs) -> tuple[str, ...]:
    done = [row for row in value.rows if row.state == "committed"]
    if not done:
        return (*unread(value.unread), "No transaction group is kept: zfs_txg_history is 0, or the pool has just been imported.")
    sync, opened = [row.sync_s for row in done], [row.open_s for row in done]
    written, read = median([row.written for row in done]), median([row.read for row in done])
    text = (
        f"{len(done)} transaction groups: written in {median(sync):.2f} s (median), {max(sync):.2f} s at most; open for {median(opened):.1f} s. "
        f"Each wrote {written / 2**20:.0f} MiB and read {read / 2**20:.0f} MiB meanwhile."
    )
    reading = (
        " It reads many times what it writes: the disks are busy with reads, of a scrub, a resilver, a deletion or the deduplication table."
        if read > 4 * max(written, 1)
        else ""
    )
    newest = median(sync[-NEWEST:])
    long = f" The last ones take {newest:.0f} s, where about 5 s are usual: writers stop meanwhile." if newest >= LONG_SYNC_S else ""
    return (*unread(value.unread), text + reading + long, "The rows do not say of which pool they are.")


READER = Reader(
    name="txgs",
    first=r"[0-9]{1,20} +[0-9]{1,20} +[BOQWSC] +(?:[0-9]{1,20} +){8}[0-9]{1,20}$|txg +birth +state +ndirty +nread",
    strict=True,
    goes_on=r"txg +birth|[0-9]{1,20} +[0-9]{1,20} +[BOQWSC] ",
    parse=parse,
    notes=notes,
    again="cat /proc/spl/kstat/zfs/POOL/txgs",
)

"""How each pool writes: its last transaction groups, its multihost writes, and how long writers waited to be let in.

Per pool, from the kernel's own histories, which answer when `zpool` hangs. A history that is switched off is a heading only.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from agents.collectors import _disks
from agents.collectors._lines import decimal, hexadecimal, newest, whole_lines
from agents.collectors._sysfs import attribute
from agents.collectors.base import Capture, Unparsed
from agents.collectors.kstat_pools import ROOT, pool_names
from agents.host.host import Host

T = TypeVar("T")
NAME = "kstat_txgs"
EVERY_SECONDS = 60
VOLATILE = True  # counters and rows of every transaction group
ROWS = {"txgs": 24, "multihost": 48, "dmu_tx_assign": 64}  # the newest; a txg is five seconds, a multihost write a fraction of one

TXG_COLUMNS = ["txg", "birth", "state", "ndirty", "nread", "nwritten", "reads", "writes", "otime", "qtime", "wtime", "stime"]
MMP_COLUMNS = ["id", "txg", "timestamp", "error", "duration", "mmp_delay", "vdev_guid", "vdev_label", "vdev_path"]
TXG_STATES = {"B": "birth", "O": "open", "Q": "quiescing", "W": "waiting", "S": "syncing", "C": "committed"}
SKIPPED = {1: "no disk can be written to", 2: "a write to every disk is still pending", 3: "none writable, some pending"}


@dataclass(frozen=True)
class Txg:
    """One transaction group. Times are nanoseconds; a time of what is not over yet is 0."""

    txg: int
    birth: int  # nanoseconds since boot
    state: str  # one of TXG_STATES' words
    dirty_bytes: int
    written_bytes: int
    open_ns: int
    quiesce_ns: int
    wait_ns: int
    sync_ns: int


@dataclass(frozen=True)
class MultihostWrite:
    """One write of the multihost protection; or, with `skipped`, a row of writes that could not even be tried."""

    txg: int
    at: int  # Unix time, seconds
    error: int  # errno of a write; SKIPPED's number for skipped ones
    duration_ns: int
    delay_ns: int  # the interval the pool promises other hosts
    vdev_guid: int | None  # None: skipped
    path: str | None
    skipped: int = 0  # how many writes in a row


@dataclass(frozen=True)
class PoolWrites:
    """None: the node does not say."""

    pool: str
    txgs: tuple[Txg, ...] | None
    multihost: tuple[MultihostWrite, ...] | None
    waits: tuple[tuple[int, int], ...] | None  # (at most so many nanoseconds, how often a writer waited that long)


keys = pool_names


def collect_one(host: Host, key: str) -> Capture:
    lines = [line for name, kept in ROWS.items() for line in newest(attribute(host, f"{ROOT}/{key}/{name}"), 1, kept)]
    if not lines:
        return Capture(NAME, key, "nothing", "", f"the kernel has no pool {key} any more")
    return Capture(NAME, key, "data", "".join(f"{line}\n" for line in lines))


collect = _disks.every(collect_one, keys)


_LINE = re.compile(re.escape(ROOT) + r"/([^/]+)/(txgs|multihost|dmu_tx_assign):(.*)")


def parse(text: str) -> PoolWrites | Unparsed:
    """What one pool writes, or the first line that made no sense. Never raises."""
    lines = whole_lines(text)
    if isinstance(lines, Unparsed):
        return lines
    tables: dict[str, list[str]] = {}
    pools: set[str] = set()
    for line in lines:
        found = _LINE.fullmatch(line)
        if found is None:
            return Unparsed("a line about the writes of a pool cannot be read", line)
        pools.add(found.group(1))
        tables.setdefault(found.group(2), []).append(found.group(3))
    if len(pools) != 1:
        return Unparsed(f"the text names {len(pools)} pools, not one", ", ".join(sorted(pools))[:200])
    return _tables(pools.pop(), tables)


def _tables(pool: str, tables: dict[str, list[str]]) -> PoolWrites | Unparsed:
    txgs = _rows(tables.get("txgs"), TXG_COLUMNS, _txg)
    multihost = _rows(tables.get("multihost"), MMP_COLUMNS, _write)
    waits = _waits(tables.get("dmu_tx_assign"))
    if isinstance(txgs, Unparsed) or isinstance(multihost, Unparsed) or isinstance(waits, Unparsed):
        return next(read for read in (txgs, multihost, waits) if isinstance(read, Unparsed))
    return PoolWrites(pool, txgs, multihost, waits)


def _rows(lines: list[str] | None, columns: list[str], read: Callable[[str], T | None]) -> tuple[T, ...] | Unparsed | None:
    """Every row of a table whose heading is `columns`; None without the table."""
    if lines is None:
        return None
    if lines[0].split() != columns:
        return Unparsed("the heading of a kernel history cannot be read", lines[0])
    rows: list[T] = []
    for line in lines[1:]:
        row = read(line)
        if row is None:
            return Unparsed("a row of a kernel history cannot be read", line)
        rows.append(row)
    return tuple(rows)


def _txg(line: str) -> Txg | None:
    columns = line.split()
    if len(columns) != len(TXG_COLUMNS) or columns[2] not in TXG_STATES:
        return None
    numbers = [decimal(c) for i, c in enumerate(columns) if i != 2]
    if None in numbers:
        return None
    txg, birth, dirty, _, written, _, _, opened, quiesced, waited, synced = (n or 0 for n in numbers)
    return Txg(txg, birth, TXG_STATES[columns[2]], dirty, written, opened, quiesced, waited, synced)


def _write(line: str) -> MultihostWrite | None:
    """A skipped row prints its error in hex, and the number of skipped writes where a guid stands otherwise."""
    columns = line.split(None, 8)
    if len(columns) != len(MMP_COLUMNS):
        return None
    why = hexadecimal(columns[3])
    error = decimal(columns[3]) if why is None else why
    txg, at, duration, delay, guid = (decimal(columns[i]) for i in (1, 2, 4, 5, 6))
    if None in (decimal(columns[0]), error, txg, at, duration, delay, guid):
        return None
    name = columns[8].strip()
    path = None if name == "-" else name
    if why is not None:
        return MultihostWrite(txg or 0, at or 0, why, duration or 0, delay or 0, None, path, skipped=guid or 0)
    return MultihostWrite(txg or 0, at or 0, error or 0, duration or 0, delay or 0, guid, path)


def _waits(lines: list[str] | None) -> tuple[tuple[int, int], ...] | Unparsed | None:
    """`256 ns  4  17` after the two headings of a named kstat; empty before 0.7 writers ever waited."""
    if lines is None or lines == [""]:
        return None if lines is None else ()
    if len(lines) < 2 or lines[1].split() != ["name", "type", "data"]:
        return Unparsed("the heading of dmu_tx_assign cannot be read", lines[0])
    rows = []
    for line in lines[2:]:
        found = re.fullmatch(r"([0-9]{1,19}) ns +4 +([0-9]{1,20}) *", line)
        if found is None:
            return Unparsed("a row of dmu_tx_assign cannot be read", line)
        rows.append((int(found.group(1)), int(found.group(2))))
    return tuple(rows)

"""What this agent promised and did, on disk before it counts. One SQLite file, off any pool under repair.

    (unknown) -> CLAIMED -> INTENT -> RESULT -> ACKED        refused orders go straight to RESULT

INTENT is the line between "nothing ran" and "it may have run": a command starts only after its INTENT is on the disk,
and an INTENT without RESULT is never run again. Order ids are kept for ever. WAL with synchronous=FULL, because a
rollback journal at FULL may lose the last commit in a power cut, and a lost INTENT would make the agent say that
nothing ran.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Sequence
from dataclasses import dataclass

COUNTER_BLOCK = 1000  # request counters are reserved in blocks, so that a look costs no fsync

_SCHEMA = """
CREATE TABLE IF NOT EXISTS orders(
    order_id TEXT PRIMARY KEY,
    digest TEXT NOT NULL,
    canonical TEXT NOT NULL,
    phase TEXT NOT NULL CHECK (phase IN ('CLAIMED', 'INTENT', 'RESULT', 'ACKED')),
    claimed_at TEXT NOT NULL DEFAULT '',
    started_at TEXT NOT NULL DEFAULT '',
    receipt TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS fences(pool_guid TEXT PRIMARY KEY, fence INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS counters(name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
"""


class JournalError(Exception):
    """The journal does not allow this move, or cannot be written. Nothing may run."""


@dataclass(frozen=True)
class Entry:
    order_id: str
    digest: str
    canonical: str
    phase: str
    claimed_at: str
    started_at: str
    receipt: str  # canonical text; "" until there is one


_COLUMNS = "order_id, digest, canonical, phase, claimed_at, started_at, receipt"


class Journal:
    """Safe to share between threads; every method that writes has committed when it returns."""

    def __init__(self, path: str) -> None:
        self._lock = threading.Lock()
        self._counter = self._counter_end = 0
        try:
            # check_same_thread: the lock above is what keeps threads apart. isolation_level None: we say BEGIN ourselves.
            self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=10)
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = FULL")
            self._db.executescript(_SCHEMA)
        except sqlite3.Error as error:
            raise JournalError(f"The journal {path} cannot be opened: {error}. Nothing runs without it.") from error

    def close(self) -> None:
        with self._lock:
            self._db.close()

    def find(self, order_id: str) -> Entry | None:
        found = self._select("order_id = ?", (order_id,))
        return found[0] if found else None

    def unfinished(self) -> tuple[Entry, ...]:
        """Orders that an earlier agent left without a result."""
        return self._select("phase IN ('CLAIMED', 'INTENT')")

    def unsent(self) -> tuple[Entry, ...]:
        return self._select("phase = 'RESULT'")

    def pending(self) -> tuple[Entry, ...]:
        return self._select("phase <> 'ACKED'")

    def fence(self, pool_guid: str) -> int:
        """The highest fence ever accepted for this pool; 0 when there is none."""
        with self._lock:
            row = self._db.execute("SELECT fence FROM fences WHERE pool_guid = ?", (pool_guid,)).fetchone()
        return row[0] if row else 0

    def refuse(self, order_id: str, digest: str, canonical: str, receipt: str) -> None:
        """Remember an order that never came near running."""
        insert = "INSERT INTO orders(order_id, digest, canonical, phase, receipt) VALUES (?, ?, ?, 'RESULT', ?)"
        self._write((insert, (order_id, digest, canonical, receipt)))

    def claim(self, order_id: str, digest: str, canonical: str, at: str, pool_guid: str, fence: int) -> None:
        insert = "INSERT INTO orders(order_id, digest, canonical, phase, claimed_at) VALUES (?, ?, ?, 'CLAIMED', ?)"
        raise_fence = "INSERT INTO fences VALUES (?, ?) ON CONFLICT(pool_guid) DO UPDATE SET fence = max(fence, excluded.fence)"
        self._write((insert, (order_id, digest, canonical, at)), (raise_fence, (pool_guid, fence)))

    def intend(self, order_id: str, at: str) -> None:
        """Write that the command is about to start. When this returns it may start, and never again."""
        self._write(("UPDATE orders SET phase = 'INTENT', started_at = ? WHERE order_id = ? AND phase = 'CLAIMED'", (at, order_id)))

    def result(self, order_id: str, receipt: str) -> None:
        done = "UPDATE orders SET phase = 'RESULT', receipt = ? WHERE order_id = ? AND phase IN ('CLAIMED', 'INTENT')"
        self._write((done, (receipt, order_id)))

    def amend(self, order_id: str, receipt: str) -> None:
        """Replace a receipt that has not been acknowledged, to add evidence to it."""
        self._write(("UPDATE orders SET receipt = ? WHERE order_id = ? AND phase = 'RESULT'", (receipt, order_id)))

    def acknowledge(self, order_id: str) -> None:
        self._write(("UPDATE orders SET phase = 'ACKED' WHERE order_id = ? AND phase IN ('RESULT', 'ACKED')", (order_id,)))

    def send_again(self, order_id: str) -> None:
        """The portal asks for a receipt it had acknowledged, or never got."""
        self._write(("UPDATE orders SET phase = 'RESULT' WHERE order_id = ? AND phase IN ('RESULT', 'ACKED')", (order_id,)))

    def next_counter(self, now: float) -> int:
        """A number above every one given before, also by an agent that died.

        Numbers start at the clock's milliseconds, so that a node whose disk is full can still report it.
        """
        with self._lock:
            if self._counter >= self._counter_end:
                self._reserve(int(now * 1000))
            self._counter += 1
            return self._counter

    def _reserve(self, now_ms: int) -> None:
        self._counter = max(self._counter, now_ms)
        sql = "INSERT INTO counters VALUES ('request', ?) ON CONFLICT(name) DO UPDATE SET value = max(value, ?) + ?"
        try:
            self._db.execute(sql, (self._counter + COUNTER_BLOCK, self._counter, COUNTER_BLOCK))
            self._counter_end = self._db.execute("SELECT value FROM counters WHERE name = 'request'").fetchone()[0]
            self._counter = self._counter_end - COUNTER_BLOCK
        except sqlite3.Error:
            self._counter_end = self._counter + COUNTER_BLOCK

    def _select(self, where: str, values: Sequence[str] = ()) -> tuple[Entry, ...]:
        with self._lock:
            rows = self._db.execute(f"SELECT {_COLUMNS} FROM orders WHERE {where} ORDER BY claimed_at, order_id", values).fetchall()
        return tuple(Entry(*row) for row in rows)

    def _write(self, *statements: tuple[str, tuple]) -> None:
        """All statements or none; each must change exactly one row."""
        with self._lock:
            try:
                self._db.execute("BEGIN IMMEDIATE")
                for sql, values in statements:
                    if self._db.execute(sql, values).rowcount != 1:
                        raise JournalError(f"The journal has no order {values} in the phase this needs.")
                self._db.execute("COMMIT")
            except sqlite3.Error as error:
                raise JournalError(f"The journal could not be written: {error}.") from error
            finally:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")

"""What this agent promised and did, on disk before it counts. One SQLite file, off any pool under repair.

    (unknown) -> CLAIMED -> INTENT -> RESULT -> ACKED        refused orders go straight to RESULT

INTENT is the line between "nothing ran" and "it may have run": a command starts only after its INTENT is on the disk,
and an INTENT without RESULT is never run again. Order ids are kept for ever. WAL with synchronous=FULL, because a
rollback journal at FULL may lose the last commit in a power cut, and a lost INTENT would make the agent say that
nothing ran.

A journal has a generation, made with it, and a height, which every write raises. Whoever remembers both elsewhere notices when an
older copy was put in its place. A journal that cannot be opened is never replaced by itself: the agent goes on without it,
reports, and changes nothing, until a person has looked.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Optional, Tuple

FILE = "journal.sqlite"
COUNTER_BLOCK = 1000  # request counters are reserved in blocks, so that a look costs no fsync
ROOM_BYTES_LEAST = 16 * 1024 * 1024  # a command must not start where its end may not fit

_SCHEMA = """
CREATE TABLE IF NOT EXISTS orders(
    order_id TEXT PRIMARY KEY,
    digest TEXT NOT NULL,
    canonical TEXT NOT NULL,
    phase TEXT NOT NULL CHECK (phase IN ('CLAIMED', 'INTENT', 'RESULT', 'ACKED')),
    claimed_at TEXT NOT NULL DEFAULT '',
    started_at TEXT NOT NULL DEFAULT '',
    receipt TEXT NOT NULL DEFAULT '',
    minder TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS fences(pool_guid TEXT PRIMARY KEY, fence INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS counters(name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS holds(name TEXT PRIMARY KEY, reason TEXT NOT NULL, at TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS kept(name TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID;
INSERT OR IGNORE INTO counters VALUES ('height', 0);
INSERT OR IGNORE INTO kept VALUES ('generation', lower(hex(randomblob(8))));
"""
_RAISE = ("UPDATE counters SET value = value + 1 WHERE name = 'height'", ())


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
    minder: str  # who minds the command, if it runs outside of the agent; see agents/host/command_supervisor.py


_COLUMNS = "order_id, digest, canonical, phase, claimed_at, started_at, receipt, minder"
Height = Tuple[str, int]


class Journal:
    """Safe to share between threads; every method that writes has committed when it returns.

    With `anyway` a journal that cannot be opened gives an empty one in memory; `broken` then says why, and `trouble` refuses.
    """

    def __init__(self, path: str, stamp: Callable[[Height], None] = lambda height: None, anyway: bool = False) -> None:
        self._path, self._stamp = path, stamp
        self._lock = threading.RLock()
        self._counter = self._counter_end = 0
        self.broken = ""
        try:
            self._db, self._inode = _open(path)
        except JournalError as error:
            if not anyway:
                raise
            self.broken, self._inode = str(error), None
            self._db = _connect(":memory:")
            self._db.executescript(_SCHEMA)

    def mended(self) -> bool:
        """Whether a journal that could not be opened now is."""
        try:
            db, inode = _open(self._path)
        except JournalError as error:
            self.broken = str(error)
            return False
        with self._lock:
            self._db.close()
            self._db, self._inode, self.broken = db, inode, ""
        return True

    def trouble(self) -> str:
        """Why nothing may run with this journal now; "" after a write that went through."""
        if self.broken:
            return self.broken
        try:
            if self._inode != _inode(self._path):
                return f"The journal {self._path} was removed or replaced under the running agent. Restart the agent."
            room = os.statvfs(os.path.dirname(self._path) or ".")
            if room.f_bavail * room.f_frsize < ROOM_BYTES_LEAST:
                return f"The disk of the journal {self._path} is full: {room.f_bavail * room.f_frsize // 1024} KiB are free. Make room."
            self._write()
        except OSError as error:
            return f"The journal {self._path} cannot be reached ({error.strerror})."
        except JournalError as error:
            return str(error)
        return ""

    def height(self) -> Height:
        """(generation, how often it was written)."""
        return self.text("generation"), self._rows("SELECT value FROM counters WHERE name = 'height'")[0][0]

    def begin_generation(self) -> None:
        """What others remember of this journal counts no more."""
        self.keep("generation", secrets.token_hex(8))

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
        rows = self._rows("SELECT fence FROM fences WHERE pool_guid = ?", (pool_guid,))
        return rows[0][0] if rows else 0

    def refuse(self, order_id: str, digest: str, canonical: str, receipt: str) -> None:
        """Remember an order that never came near running."""
        insert = "INSERT INTO orders(order_id, digest, canonical, phase, receipt) VALUES (?, ?, ?, 'RESULT', ?)"
        self._write((insert, (order_id, digest, canonical, receipt)))

    def claim(self, order_id: str, digest: str, canonical: str, at: str, pool_guid: str, fence: int) -> None:
        insert = "INSERT INTO orders(order_id, digest, canonical, phase, claimed_at) VALUES (?, ?, ?, 'CLAIMED', ?)"
        raise_fence = "INSERT INTO fences VALUES (?, ?) ON CONFLICT(pool_guid) DO UPDATE SET fence = max(fence, excluded.fence)"
        self._write((insert, (order_id, digest, canonical, at)), (raise_fence, (pool_guid, fence)))

    def intend(self, order_id: str, at: str, minder: str = "") -> None:
        """Write that the command is about to start, and who minds it. When this returns it may start, and never again."""
        start = "UPDATE orders SET phase = 'INTENT', started_at = ?, minder = ? WHERE order_id = ? AND phase = 'CLAIMED'"
        self._write((start, (at, minder, order_id)))

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

    def hold(self, name: str, reason: str, at: str) -> None:
        """Change nothing on this node from now on, for this reason, until a person releases it. The first reason stays."""
        if name not in self.holds():
            self._write(("INSERT INTO holds VALUES (?, ?, ?)", (name, reason, at)))

    def holds(self) -> dict[str, str]:
        """name -> why."""
        return dict(self._rows("SELECT name, reason FROM holds ORDER BY at"))

    def release(self, name: str) -> None:
        if name in self.holds():
            self._write(("DELETE FROM holds WHERE name = ?", (name,)))

    def text(self, name: str) -> str:
        """What was kept by this name; "" when nothing was."""
        rows = self._rows("SELECT text FROM kept WHERE name = ?", (name,))
        return rows[0][0] if rows else ""

    def keep(self, name: str, text: str) -> None:
        insert = "INSERT INTO kept VALUES (?, ?) ON CONFLICT(name) DO UPDATE SET text = excluded.text"
        self._write((insert, (name, text)))

    def next_counter(self, now: float) -> int:
        """A number above every one given before, also by an agent that died.

        Numbers start at the clock's milliseconds, so that a node whose disk is full can still report it.
        """
        with self._lock:
            if self._counter >= self._counter_end:
                self._reserve(int(now * 1000))
            self._counter += 1
            return self._counter

    def follow_counter(self, highest: int, ahead: bool) -> bool:
        """Go on from the highest number the portal took. Whether it is above every one given here: another machine counted that far.

        Where ours are too far `ahead`, as after a wrong clock, none of them was taken, and the portal's is gone back to.
        """
        with self._lock:
            beyond = highest > self._counter
            if beyond or ahead:
                self._counter = self._counter_end = highest
                try:
                    self._db.execute("UPDATE counters SET value = ? WHERE name = 'request'", (highest,))
                except sqlite3.Error:
                    pass  # a journal that cannot be written says so elsewhere; numbers are then given from memory
            return beyond

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
        return tuple(
            Entry(*row) for row in self._rows(f"SELECT {_COLUMNS} FROM orders WHERE {where} ORDER BY claimed_at, order_id", values)
        )

    def _rows(self, sql: str, values: Sequence[str] = ()) -> list[Any]:
        with self._lock:
            try:
                return self._db.execute(sql, values).fetchall()
            except sqlite3.Error as error:
                raise JournalError(f"The journal {self._path} cannot be read: {error}. Nothing runs without it.") from error

    def _write(self, *statements: tuple[str, tuple[Any, ...]]) -> None:
        """All statements or none; each must change exactly one row."""
        with self._lock:
            try:
                self._db.execute("BEGIN IMMEDIATE")
                for sql, values in (*statements, _RAISE):
                    if self._db.execute(sql, values).rowcount != 1:
                        raise JournalError(f"The journal has no order {values} in the phase this needs.")
                self._db.execute("COMMIT")
            except sqlite3.Error as error:
                raise JournalError(f"The journal could not be written: {error}.") from error
            finally:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
            if not self.broken:
                self._stamp(self.height())


def _connect(path: str) -> sqlite3.Connection:
    # check_same_thread: the journal's lock is what keeps threads apart. isolation_level None: we say BEGIN ourselves.
    return sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=10)


def _open(path: str) -> tuple[sqlite3.Connection, Optional[tuple[Any, ...]]]:
    """A journal that was read through and found whole, and which file it is. Raises JournalError."""
    db = None
    try:
        db = _connect(path)
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")
        found = db.execute("PRAGMA quick_check(1)").fetchall()
        if found != [("ok",)]:
            raise JournalError(f"The journal {path} is damaged: {found[0][0]}. {_DO}")
        db.executescript(_SCHEMA)
        if "minder" not in [row[1] for row in db.execute("PRAGMA table_info(orders)")]:
            db.execute("ALTER TABLE orders ADD COLUMN minder TEXT NOT NULL DEFAULT ''")
        return db, _inode(path)
    except sqlite3.DatabaseError as error:
        _close(db)
        raise JournalError(f"The journal {path} cannot be opened: {error}. {_DO}") from error
    except (JournalError, OSError):
        _close(db)
        raise


_DO = "Nothing runs without it. Free or mend its disk; if the file itself is lost, `slotlight-agent journal --start-new --accept` begins another."


def _close(db: Optional[sqlite3.Connection]) -> None:
    if db is not None:
        db.close()


def _inode(path: str) -> tuple[Any, ...]:
    if path == ":memory:":
        return (0, 0)
    status = os.stat(path)
    return status.st_dev, status.st_ino


def start_new(folder: str) -> str:
    """Put a journal that cannot be opened aside, whole, and make another; what was done. Raises JournalError when there is no need."""
    path = os.path.join(folder, FILE)
    try:
        _open(path)[0].close()
    except JournalError:
        aside = f"{path}.{secrets.token_hex(4)}.lost"
        for suffix in ("", "-wal", "-shm"):
            if os.path.exists(path + suffix):
                os.replace(path + suffix, aside + suffix)
        Journal(path).close()
        return f"The old journal is kept as {aside}."
    raise JournalError(f"The journal {path} can be read; nothing was changed.")

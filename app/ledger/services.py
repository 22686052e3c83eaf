"""How the rest of the portal writes to the ledger: `record` what was done, `keep` what was seen, `refuse_if_broken` before acting.

Call `record` last inside the transaction that changes the state it records, so that both commit or neither does.
The database gives the event its place in the chain at COMMIT (in a lane, when others commit in the same moment; see
`number_waiting`). Writers stay at READ COMMITTED.
"""

import time
from collections.abc import Collection, Iterable
from datetime import UTC, datetime
from hashlib import sha256
from types import SimpleNamespace
from typing import Any

from django.db import DatabaseError, connection, transaction
from django.db.backends.utils import CursorWrapper

from agents.portal.wire import canonical
from app.core.request_metrics import LEDGER_FAILURES
from app.ledger import grants
from app.ledger.checkpoints import checkpoint_now, number_waiting
from app.ledger.forms import LedgerDown, Plain, digests, moment, plain
from app.ledger.models import Blob, LedgerEvent
from app.ledger.proving import consistency, inclusion, log_since, proofs_and_log, proofs_for, public_keys

__all__ = [
    "LedgerDown",
    "Redacted",
    "blob",
    "checkpoint_now",
    "consistency",
    "inclusion",
    "keep",
    "keep_all",
    "kept",
    "log_since",
    "moment",
    "number_waiting",
    "proofs_and_log",
    "proofs_for",
    "public_keys",
    "record",
    "refuse_if_broken",
]

FOUND_WELL_FOR_SECONDS = 5.0
RUN_LOCKS = 0x510751  # the namespace of our advisory locks, one lock per run

well = SimpleNamespace(until=0.0)  # by this process's monotonic clock


def record(
    type: str,
    body: dict[str, Any],
    actor: object,
    *,
    run: object = "",
    node: object = "",
    at: datetime | None = None,
    known: Iterable[str] = (),
) -> LedgerEvent:
    """Add one event. Whole numbers and times in `body` become text; a float is refused.

    Every string in `body` that is the digest of a kept blob makes that blob evidence of this event: keep first, then record. `known` are
    digests that the caller has kept, or found kept, in this transaction: the database is asked only about others.
    Two transactions that record for the same run follow each other.
    """
    plain_body = plain(body)
    fields: dict[str, Any] = {
        "v": "1",
        "type": type,
        "at": moment(at or datetime.now(UTC)),
        "actor": plain(str(actor)),
        "run": str(run),
        "node": str(node),
        "run_seq": "",
        "run_prev": "",
        "body": plain_body,
        "evidence": evidence(plain_body, frozenset(known)),
    }
    with transaction.atomic(savepoint=False), connection.cursor() as cursor:
        if run:
            fields["run_seq"], fields["run_prev"] = next_of_run(cursor, str(run))
        return insert(cursor, fields)


def insert(cursor: CursorWrapper, fields: dict[str, Any]) -> LedgerEvent:
    body = canonical(fields)
    cursor.execute("INSERT INTO ledger_event (body) VALUES (%s) RETURNING id, leaf, run_seq", [body])
    pk, leaf, run_seq = cursor.fetchone()
    copied = {name: fields[name] for name in ("at", "actor", "type", "run", "node")}
    return LedgerEvent(id=pk, body=body, leaf=bytes(leaf), run_seq=run_seq, **copied)


KEEP = "INSERT INTO ledger_blob (sha256, size, media, bytes) VALUES (%s, %s, %s, %s) ON CONFLICT DO NOTHING"
SENT_AT_ONCE_BYTES = 64 * 1024  # asking first whether it is there costs more than sending it


def next_of_run(cursor: CursorWrapper, run: str) -> tuple[str, str]:
    """The number of the run's next event and the leaf of its last. Holds the run until this transaction ends."""
    cursor.execute("SELECT pg_advisory_xact_lock(%s, hashtext(%s))", [RUN_LOCKS, run])
    cursor.execute("SELECT run_seq, leaf FROM ledger_event WHERE run = %s ORDER BY run_seq DESC LIMIT 1", [run])
    last = cursor.fetchone()
    return (str(last[0] + 1), bytes(last[1]).hex()) if last else ("1", "")


def evidence(body: Plain, known: frozenset[str]) -> list[str]:
    """The kept blobs that `body` names, sorted."""
    named = set(digests(body))
    return sorted(named & known | kept(named - known))


def kept(named: Collection[str]) -> set[str]:
    """Those of these digests whose bytes are kept, or were."""
    if not named:
        return set()
    with connection.cursor() as cursor:
        cursor.execute("SELECT sha256 FROM ledger_blob WHERE sha256 = ANY(%s)", [list(named)])
        return {digest for (digest,) in cursor}


def keep(data: bytes, media: str) -> str:
    """Keep `data` as evidence and say its SHA-256. Keeping the same bytes again changes nothing."""
    digest = sha256(data).hexdigest()
    if len(data) <= SENT_AT_ONCE_BYTES or not Blob.objects.filter(pk=digest).exists():
        with connection.cursor() as cursor:
            cursor.execute(KEEP, [digest, len(data), media, data])
    return digest


def keep_all(bodies: Iterable[bytes], media: str) -> list[str]:
    """Keep many in one transaction. Always in the order of their digests, so that two nodes sending the same bytes cannot deadlock."""
    named = sorted((sha256(data).hexdigest(), data) for data in bodies)
    if named:
        with connection.cursor() as cursor:
            cursor.executemany(KEEP, [(digest, len(data), media, data) for digest, data in named])
    return [digest for digest, _ in named]


class Redacted(KeyError):
    """The evidence was erased by a person, and the ledger says by whom and why."""


def blob(digest: str) -> bytes:
    """The kept bytes. Raises KeyError when there are none (Redacted when they were erased), LedgerDown when they are not what was kept."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT bytes FROM ledger_blob WHERE sha256 = %s", [digest])
        row = cursor.fetchone()
    if row is None:
        raise KeyError(digest)
    if row[0] is None:
        raise Redacted(digest)
    data = bytes(row[0])
    if sha256(data).hexdigest() != digest:
        raise LedgerDown(f"The evidence {digest} is not what was kept. Run `ledger verify`.")
    return data


def refuse_if_broken(*, fresh: bool = False) -> None:
    """Raise LedgerDown unless triggers and rights are as they were made and a write goes through. A good answer is kept for 5 s.

    Ask before anything else in the transaction: the trial write takes the head row for a moment.
    """
    if not fresh and time.monotonic() < well.until:
        return
    well.until = 0.0
    try:
        with transaction.atomic():
            found = grants.faults()
        if not found:
            try_a_write()
    except DatabaseError as error:
        LEDGER_FAILURES.inc()
        raise LedgerDown(f"The ledger cannot be written, so nothing is changed: {error}") from error
    if found:
        LEDGER_FAILURES.inc()
        raise LedgerDown(f"The ledger is not as it was made, so nothing is changed. {' '.join(found)}")
    well.until = time.monotonic() + FOUND_WELL_FOR_SECONDS


class _TakenBack(Exception):
    pass


def try_a_write() -> None:
    """Write and seal an event, then take both back. Only the number of the event is lost."""
    fields = {"v": "1", "type": "trial", "at": moment(datetime.now(UTC)), "actor": "system", "run": "", "node": "", "run_seq": ""}
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT ledger_number()")  # so that it is the head that is tried, and not a lane
            insert(cursor, fields)
            cursor.execute("SET CONSTRAINTS ledger_event_seal IMMEDIATE")
            raise _TakenBack
    except _TakenBack:
        pass

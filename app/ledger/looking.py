"""What must go on when the ledger cannot be written: looking. And who looked at which evidence.

A look that could not be recorded goes to the log instead, as an error; it is never the reason why a page stays empty.
"""

import logging
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import DatabaseError, connection, transaction

from app.core.request_metrics import LEDGER_FAILURES
from app.ledger import terms
from app.ledger.forms import LedgerDown, moment
from app.ledger.models import LedgerEvent
from app.ledger.services import number_waiting, record

LOOKED = "evidence.looked"
ONCE_PER = timedelta(hours=1)
log = logging.getLogger(__name__)


def record_if_possible(type: str, body: dict[str, Any], actor: object, **where: Any) -> LedgerEvent | None:
    """Like `record`, for what changes nothing on a node. None when the ledger took nothing; the transaction around it goes on.

    Sealing is tried at once and not at COMMIT, where it would take the caller's transaction down with it.
    """
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            event = record(type, body, actor, **where)
            cursor.execute("SET CONSTRAINTS ledger_event_seal IMMEDIATE; SET CONSTRAINTS ledger_event_seal DEFERRED")
            return event
    except (LedgerDown, DatabaseError) as error:
        LEDGER_FAILURES.inc()
        log.error("Not in the ledger: %s by %s %s %s. %s", type, actor, where, body, error)
        return None


def number_if_possible() -> None:
    """What was committed in the same moment as something else gets its number before it is shown; a page never fails for it."""
    try:
        with transaction.atomic():
            number_waiting()
    except DatabaseError as error:
        log.error("Events that wait for their number are not shown: %s", error)


def take_words_if_possible() -> None:
    """What was recorded a moment ago is found too; a page never fails for it."""
    try:
        terms.catch_up()
    except DatabaseError as error:
        log.error("The newest events cannot be found by their words yet: %s", error)


def looked(person: str, digest: str, at: datetime | None = None) -> LedgerEvent | None:
    """Record that `person` looked at this evidence: once an hour, however often the page is opened again."""
    now = at or datetime.now(UTC)
    try:
        known = lately(person, digest, now)
    except DatabaseError:
        known = False
    return None if known else record_if_possible(LOOKED, {"digest": digest}, person, at=now)


def lately(person: str, digest: str, now: datetime) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT EXISTS (SELECT FROM ledger_event WHERE type = 'evidence.looked' AND actor = %s AND at > %s"
            " AND convert_from(body, 'UTF8')::json -> 'body' ->> 'digest' = %s)",
            [person, moment(now - ONCE_PER), digest],
        )
        known: bool = cursor.fetchone()[0]
    return known

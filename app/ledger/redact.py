"""Erasing what must not be kept, such as a name or a secret that came in with a capture: recorded first, and only then erased.

The leaf of an event and the digest of a blob stand, and so do chain, tree and every signature. What was said is gone from this
database; a copy of it in a backup, in an older export or on a printed page is not.
"""

from typing import TypeVar

from django.db import connection, transaction

from app.ledger import terms
from app.ledger.models import Blob, LedgerChain
from app.ledger.services import record

T = TypeVar("T")
NEVER = (".redacted", ".key-rotated", ".exported")  # what the rest is proven with; the database refuses it too


class NotRedacted(ValueError):
    """Nothing was erased. The message says why."""


def redact_event(seq: int, why: str, actor: str) -> None:
    """Erase what event `seq` says. Needs the rights of the ledger's owner."""
    place = need(why, LedgerChain.objects.filter(seq=seq).select_related("event").first(), f"The ledger has no event {seq}.")
    if place.event.body is None:
        raise NotRedacted(f"Event {seq} is redacted already.")
    if place.event.type.endswith(NEVER):
        raise NotRedacted(f"Event {seq} is {place.event.type}: the ledger is proven with it, so it stays.")
    with transaction.atomic(), connection.cursor() as cursor:
        fields = {"event": seq, "leaf": bytes(place.event.leaf).hex(), "why": why}
        record("event.redacted", fields, actor)
        cursor.execute("UPDATE ledger_event SET body = NULL WHERE id = %s", [place.event_id])
        terms.forget(place.event_id)


def redact_evidence(digest: str, why: str, actor: str) -> None:
    """Erase the kept bytes with this SHA-256. Needs the rights of the ledger's owner."""
    kept = need(why, Blob.objects.defer("bytes").filter(pk=digest).first(), f"There is no evidence {digest}.")
    if Blob.objects.filter(pk=digest, bytes=None).exists():
        raise NotRedacted(f"The evidence {digest} is redacted already.")
    with transaction.atomic(), connection.cursor() as cursor:
        record("evidence.redacted", {"digest": digest, "size": kept.size, "why": why}, actor)
        cursor.execute("UPDATE ledger_blob SET bytes = NULL WHERE sha256 = %s", [digest])


def need(why: str, found: T | None, missing: str) -> T:
    if not why.strip():
        raise NotRedacted("Say why (--why); whoever reads the ledger will ask.")
    if found is None:
        raise NotRedacted(missing)
    return found

"""What an agent pins of the portal, and how it learns of a new order key from the old one.

    made -> next to the key in use -> told of by the old key, in the ledger -> in use

A new key is on disk before the old one vouches for it, and takes its place only after that is committed; a portal that dies in
between goes on where it was (`settle`). The statement stays: an agent that was away for months walks from the key it knows to
today's. An old key that leaked is another matter: nodes then enrol again.
"""

import os
from datetime import datetime
from pathlib import Path

from django.db import transaction

from agents.wire import canonical
from app.ledger import keys
from app.ledger import services as ledger
from app.once import WrittenOnce
from app.runs.models import KeyRotation

PURPOSE = "next_keys"  # stands in what is signed, so that no other text under this key passes for it


def next_keys(pinned: str) -> dict[str, str] | None:
    """What brings an agent that knows the order key `pinned` one step nearer to today's; None when it is there, or nothing can."""
    return next(({"keys": said, "signature": signature} for said, signature in told_by(pinned)), None)


@WrittenOnce
def told_by(key):
    return KeyRotation.objects.filter(key=key).values_list("said", "signature")


def rotate(by: str, now: datetime) -> str:
    """Put a new order key in place of the one in use; returns its id."""
    settle()
    old, path = keys.order_key(), _next()
    path.unlink(missing_ok=True)
    keys.make(path, keys.new_order_key)
    new = keys.OrderKey(keys.load(path))
    said = canonical({"purpose": PURPOSE, **ledger.public_keys(), "portal_key": new.public_pem, "at": ledger.moment(now)})
    with transaction.atomic():
        KeyRotation.objects.create(said=said.decode(), key=old.key_id, signature=old.sign_text(said), at=now)
        ledger.record("keys.rotated", {"from": old.key_id, "to": new.key_id, "statement": ledger.keep(said, "application/json")}, by)
    settle()
    return new.key_id


def settle() -> None:
    """Finish a hand-over that was committed: the key the old one vouched for takes its place."""
    if _next().exists() and KeyRotation.objects.filter(key=keys.order_key().key_id).exists():
        os.replace(_next(), keys.order_key_path())


def _next() -> Path:
    path = keys.order_key_path()
    return path.with_name(f"{path.name}.next")

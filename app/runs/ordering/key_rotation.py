"""What an agent pins of the portal, and how it learns of a new order key from the old one.

    made -> next to the key in use -> announced by the old key, in the ledger -> in use

A new key is on disk before the old one vouches for it, and takes its place only after that is committed; a portal that dies in
between goes on where it was (`app.ledger.checkpoints.finish_key_change`, which every checkpoint calls). The statement stays: an agent that was away for months walks from the key it has to
today's. An old key that leaked is another matter: nodes then enrol again.
"""

from datetime import datetime
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
from django.db.models import QuerySet

from agents.portal.wire import canonical
from app.core.compiled_queries import WrittenOnce
from app.ledger import key_change, keys
from app.ledger import services as ledger
from app.runs.models import KeyRotation

PURPOSE = "next_keys"  # stands in what is signed, so that no other text under this key passes for it


def next_keys(pinned: str) -> dict[str, str] | None:
    """What brings an agent that has pinned the order key `pinned` one step nearer to today's; None when it is there, or nothing can."""
    return next(({"keys": statement, "signature": signature} for statement, signature in statements_by(pinned)), None)


@WrittenOnce
def statements_by(key: str) -> QuerySet[KeyRotation, Any]:
    return KeyRotation.objects.filter(key=key).values_list("statement", "signature")


def rotate(by: str, now: datetime, why: str = "It was time.") -> str:
    """Put a new order key in place of the one in use; returns its id. Call it outside a transaction.

    The ledger's own record of the change, which bundles are verified with, and what the agents follow are committed together.
    """
    old = keys.order_key()

    def hand_over(new: EllipticCurvePrivateKey) -> dict[str, str]:
        public = {**ledger.public_keys(), "portal_key": keys.OrderKey(new).public_pem}
        statement = canonical({"purpose": PURPOSE, **public, "at": ledger.moment(now)})
        KeyRotation.objects.create(statement=statement.decode(), key=old.key_id, signature=old.sign_text(statement), at=now)
        return {"handed_over": ledger.keep(statement, "application/json")}

    key_change.rotate("order", why, by, hand_over)
    return keys.order_key().key_id

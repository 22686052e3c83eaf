"""Which ledger key signed when. A change of key is an event of the ledger, signed for by the key it replaces."""

from app.ledger.models import LedgerChain

ROTATED = "ledger.key-rotated"


def changes() -> list[tuple[int, dict]]:
    """(place in the ledger, what was recorded) of every change of the ledger key, oldest first."""
    rows = LedgerChain.objects.filter(event__type=ROTATED).select_related("event").order_by("seq")
    return [(row.seq, row.event.said["body"]) for row in rows]


def public_at(size: int, current: bytes) -> bytes:
    """The public key that a checkpoint over `size` events must be signed with: the old one up to the event that replaced it."""
    for seq, said in changes():
        if size <= seq:
            return bytes.fromhex(said["old"])
    return current

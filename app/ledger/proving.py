"""What the ledger proves to others: that an event is in it, and that a later checkpoint continues an earlier one.

Everything is proven against a signed checkpoint, and is checked here before it leaves. Call these outside a transaction that has
written: what is not committed has no place in the ledger yet.
"""

from collections.abc import Iterable
from typing import Any

from app.ledger import checkpoints, keys, stored
from app.ledger.forms import LedgerDown
from app.ledger.models import LedgerChain, LedgerCheckpoint, LedgerEvent


def public_keys() -> dict[str, str]:
    """What a node pins when it enrols: `portal_key` (the order key, PEM), `log_key` (C2SP verifier key) and `origin`."""
    signer = checkpoints.signing_key()
    return {"portal_key": keys.order_key().public_pem, "log_key": signer.verifier_key, "origin": signer.name}


def inclusion(event: LedgerEvent, checkpoint: LedgerCheckpoint | None = None) -> dict[str, Any]:
    """One event with its proof: body, index counted from 0, path. Against the first checkpoint that covers it, made now if need be."""
    seq = place_of(event)
    against = checkpoint or covering(seq)
    if against.size < seq:
        raise LedgerDown(f"The checkpoint over {against.size} events does not cover event {seq}.")
    if event.body is None:
        raise LedgerDown(f"Event {seq} was redacted; its leaf stands, its content is gone.")
    path = stored.inclusion(seq - 1, against.size, bytes(event.leaf), bytes(against.root))
    return {"body": bytes(event.body).decode(), "index": str(seq - 1), "path": [node.hex() for node in path]}


def place_of(event: LedgerEvent) -> int:
    places = LedgerChain.objects.filter(event_id=event.pk).values_list("seq", flat=True)
    seq = places.first() or (checkpoints.number_waiting() and places.first())
    if not seq:
        raise LedgerDown("The event has no place in the ledger yet. Prove it after its transaction has committed.")
    return seq


def covering(seq: int) -> LedgerCheckpoint:
    found = LedgerCheckpoint.objects.filter(size__gte=seq).order_by("size").first() or checkpoints.checkpoint_now()
    if found is None:
        raise LedgerDown("The ledger is empty; there is nothing to prove.")
    return found


def consistency(old: int, new: int) -> list[bytes]:
    """The proof that the checkpoint over `new` events continues the tree of the first `old`. `new` is the size of a checkpoint."""
    signed = LedgerCheckpoint.objects.filter(size=new).first()
    if signed is None:
        raise LedgerDown(f"No checkpoint is signed over {new} events.")
    earlier = LedgerCheckpoint.objects.filter(size=old).first()
    root = bytes(earlier.root) if earlier else stored.root_of(old)
    return stored.consistency(old, root, new, bytes(signed.root))


def proofs_for(events: Iterable[LedgerEvent]) -> dict[str, Any]:
    """The proofs of an offer: a checkpoint that covers all of `events`, and each of them with its path."""
    return proofs_and_log(events, 0)[0]


def proofs_and_log(events: Iterable[LedgerEvent], size: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """The proofs of an offer, and the way from the agent's checkpoint over `size` events to the one they rest on.

    Both rest on one checkpoint. An agent takes the log first and then accepts proofs against just that checkpoint.
    """
    listed = list(events)
    newest = max([place_of(event) for event in listed], default=0)
    against = checkpoints.newest()
    if against is None or against.size < newest:
        against = covering(newest)
    proofs = {"checkpoint": against.note, "events": [inclusion(event, against) for event in listed]}
    return proofs, since(size, against)


def log_since(size: int) -> dict[str, Any] | None:
    """What a witness that holds the checkpoint over `size` events is shown: the newest checkpoint, and that it continues its own.

    None while nothing is signed. A witness that holds more than we have gets our smaller checkpoint, by which it finds the difference.
    """
    newest = checkpoints.newest()
    return since(size, newest) if newest else None


def since(size: int, checkpoint: LedgerCheckpoint) -> dict[str, Any]:
    path = consistency(size, checkpoint.size) if 0 < size < checkpoint.size else []
    return {"checkpoint": checkpoint.note, "consistency": [node.hex() for node in path]}

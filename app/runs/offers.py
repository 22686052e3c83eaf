"""An order as the node gets it: the exact text, the signature over it, and proof that it and its approvals stand in the ledger."""

import json
from typing import Any

from app.ledger import merkle
from app.ledger import services as ledger
from app.ledger.models import LedgerChain, LedgerCheckpoint, LedgerEvent
from app.runs.models import Order

PROVEN = ("order.sealed", "run.approved", "run.glass-broken")
Offer = dict[str, Any]


def offer(order: Any, proofs: dict[str, Any]) -> Offer:
    return {"order": order.canonical, "digest": order.digest, "signature": order.signature, "key": order.signed_by, "proofs": proofs}


def proofs(order: Order, checkpoint: LedgerCheckpoint) -> dict[str, Any]:
    """Inclusion of each approval and of the sealing, in this checkpoint. Raises LedgerDown when the ledger does not tell of one."""
    approvals = json.loads(order.canonical)["approvals"]
    wanted = _wanted(order, approvals)
    places = dict(LedgerChain.objects.filter(event__in=wanted, seq__lte=checkpoint.size).values_list("event_id", "seq"))
    if len(places) != len(approvals) + 1:
        raise ledger.LedgerDown(f"The ledger does not tell of order {order.id} and its approvals. Run `ledger verify`; it is not offered.")
    tree = merkle.Tree(_leaves(checkpoint.size))
    events = [
        {
            "body": bytes(event.body).decode(),
            "index": str(places[event.pk] - 1),
            "path": [step.hex() for step in tree.path(places[event.pk] - 1)],
        }
        for event in wanted
    ]
    return {"checkpoint": checkpoint.note, "events": events}


def _wanted(order: Order, approvals: list[str]) -> list[LedgerEvent]:
    found = LedgerEvent.objects.filter(run=str(order.run_id), type__in=PROVEN).order_by("run_seq")
    return [event for event in found if bytes(event.leaf).hex() in approvals or _seals(event, order)]


def _seals(event: LedgerEvent, order: Order) -> bool:
    return event.type == "order.sealed" and event.said["body"].get("digest") == order.digest


def _leaves(size: int) -> list[bytes]:
    return [bytes(leaf) for leaf in LedgerChain.objects.filter(seq__lte=size).order_by("seq").values_list("event__leaf", flat=True)]

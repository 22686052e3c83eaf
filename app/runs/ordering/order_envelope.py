"""An order as the node gets it: the exact text, the signature over it, and proof that it and its approvals stand in the ledger."""

import json
from typing import Any

from app.ledger import services as ledger
from app.ledger.models import LedgerCheckpoint, LedgerEvent
from app.ledger.proving import since
from app.runs.models import Order

PROVEN = ("order.sealed", "run.approved", "run.glass-broken")
Offer = dict[str, Any]


def offer(order: Any, proofs: dict[str, Any]) -> Offer:
    return {"order": order.canonical, "digest": order.digest, "signature": order.signature, "key": order.signed_by, "proofs": proofs}


def proofs(order: Order, checkpoint: LedgerCheckpoint) -> dict[str, Any]:
    """Inclusion of each approval and of the sealing, in this checkpoint. Raises LedgerDown when the ledger does not hold one."""
    approvals = json.loads(order.canonical)["approvals"]
    wanted = _wanted(order, approvals)
    if len(wanted) != len(approvals) + 1:
        raise ledger.LedgerDown(f"The ledger does not hold order {order.id} and its approvals. Run `ledger verify`; it is not offered.")
    return {"checkpoint": checkpoint.note, "events": [ledger.inclusion(event, checkpoint) for event in wanted]}


def log(found: list[Offer], size: int) -> dict[str, Any] | None:
    """The way from the checkpoint over `size` events, which the agent holds, to the one these offers rest on; None when they rest on none."""
    notes = {offer["proofs"]["checkpoint"] for offer in found if offer.get("proofs")}
    checkpoint = LedgerCheckpoint.objects.filter(note__in=notes).order_by("-size").first() if notes else None
    return since(size, checkpoint) if checkpoint else None


def _wanted(order: Order, approvals: list[str]) -> list[LedgerEvent]:
    found = LedgerEvent.objects.filter(run=str(order.run_id), type__in=PROVEN).order_by("run_seq")
    return [event for event in found if bytes(event.leaf).hex() in approvals or _seals(event, order)]


def _seals(event: LedgerEvent, order: Order) -> bool:
    return event.type == "order.sealed" and event.parsed["body"].get("digest") == order.digest

"""Looks that a run asks for again and again, as with hands in the rack every few seconds: how few events of the ledger record them.

Recorded one by one: the first look of a stay at a step, and each that said something else than the one before. Those in between are
folded: one event records how many they were, from when until when, names the last one with its receipt and its captures, and binds the
receipts of all of them by one digest. It is written before the next look that is recorded, and when the run leaves the step. The orders
and receipts of folded looks are kept like any other.
"""

from datetime import UTC, datetime
from typing import Any

from django.db.models import QuerySet

from agents.portal.wire import sha256_hex
from app.ledger import services as ledger
from app.runs.models import Order, Run
from app.runs.ordering.receipts import Receipt
from workflows.engine.state import RunState


def is_first(run: Run, state: RunState) -> bool:
    """Whether no look was asked for yet in this stay at this step."""
    return not _of_stay(run, state).exists()


def is_folded(order: Order, receipt: Receipt) -> bool:
    """Whether the answer to this look says nothing that the one before it, in the same stay, did not say."""
    if order.run is None or order.operation != "look" or order.step != order.run.here.step:
        return False
    before = _of_stay(order.run, order.run.here).filter(number__lt=order.number).exclude(receipt_digest="").order_by("number").last()
    return before is not None and _result_of(before.receipt or {}) == _result_of(receipt.shown)


def record_folded(run: Run, state: RunState) -> None:
    """One event for the folded looks of this stay that no event records yet; none where there are none."""
    answered = _of_stay(run, state).exclude(receipt_digest="").order_by("number")
    alone = answered.filter(folded=False).last()
    folded = answered.filter(folded=True, number__gt=alone.number if alone else -1)
    receipts = list(folded.values_list("receipt_digest", flat=True))
    if receipts and (first := folded.first()) and (last := folded.last()):
        body = {
            "step": state.step,
            "looks": len(receipts),
            "since": ledger.moment(first.sealed_at),
            "until": ledger.moment(last.sealed_at),
            "order": last.id,
            "digest": last.digest,
            "receipt": last.receipt_digest,
            "captures": sorted(digest for _, _, digest in _captured(last.receipt or {})),
            "receipts": sha256_hex("".join(receipts).encode()),
        }
        ledger.record("order.looks", body, f"node:{run.node}", run=str(run.pk), node=run.node)


def _of_stay(run: Run, state: RunState) -> QuerySet[Order]:
    since = datetime.fromtimestamp(state.since, UTC)
    return Order.objects.filter(run=run, step=state.step, operation="look", sealed_at__gte=since)


def _result_of(receipt: dict[str, Any]) -> tuple[Any, ...]:
    """How it ended and what was captured, without when and how long it took."""
    return receipt.get("outcome"), receipt.get("reason"), _captured(receipt)


def _captured(receipt: dict[str, Any]) -> set[tuple[str, str, str]]:
    """A receipt whose captures were no good has been recorded by itself; here it has captured nothing."""
    listed = receipt.get("captures")
    each = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    return {(str(one.get("source")), str(one.get("key")), str(one.get("digest"))) for one in each}

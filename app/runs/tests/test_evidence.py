"""A run that really was walked leaves what the verifier asks of a bundle: its orders with text and signature, approved by somebody else."""

import pytest

from app.ledger import notes, verify
from app.ledger.bundle import events_of
from app.runs.models import Order
from app.runs.tests.cast import offers
from app.runs.tests.test_proven_at_the_node import walk

__all__ = ["walk"]
pytestmark = pytest.mark.django_db


def test_the_event_that_seals_an_order_keeps_its_signature_and_its_text(walk):
    offers(walk.node.name)
    order = Order.objects.get(operation="zpool_import_readonly")
    sealed = next(event for event in events_of(str(walk.run.pk)) if event.parsed["body"].get("order") == order.id)
    assert (sealed.parsed["body"]["signature"], sealed.parsed["body"]["key"]) == (order.signature, order.signed_by)
    assert sealed.parsed["evidence"] == [order.digest]
    report = verify.Report()
    events = [(event.parsed, bytes(event.leaf)) for event in events_of(str(walk.run.pk))]
    texts = {f"blobs/{each.digest}": each.canonical.encode() for each in Order.objects.filter(run=walk.run)}
    verify.check_orders(events, texts, [notes.signer().order.spki], verify.signature_verdict, report)
    assert (report.broken, report.unchecked) == ([], [])
    assert ("orders", str(len(texts))) in report.facts

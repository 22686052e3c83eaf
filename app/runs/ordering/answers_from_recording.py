"""What a run asks of a node without an agent is answered by the archive that was brought of it, or by the next one."""

import json
import logging
from datetime import timedelta

from django.utils import timezone

from app.fleet import triage_process
from app.fleet.models import Node
from app.fleet.services import blobs
from app.runs.models import Order
from app.runs.ordering import orders
from confined import Stopped
from workflows.facts.read.source_states import BROUGHT_SECONDS
from workflows.snapshot.answering import DIGEST, ORDER, answer

log = logging.getLogger(__name__)


def answer_open(name: str) -> None:
    """Every question that is open and that the archive at hand is recent enough for. Twice is harmless."""
    node = Node.objects.filter(name=name, state=Node.State.BROUGHT).first()
    if node is None or not node.recording or node.last_report_at is None:
        return
    asked = Order.objects.filter(node=name, effect="pure", status__in=("SEALED", "OFFERED"), expires_at__gt=timezone.now())
    for order in asked.order_by("sealed_at"):
        if _serves(node, order):
            _answer(node, order)


def _serves(node: Node, order: Order) -> bool:
    """A plan is read from what is fresh; what a look is to show was taken after it was asked for."""
    assert node.last_report_at is not None
    if order.operation == "plan":
        return timezone.now() - node.last_report_at <= timedelta(seconds=BROUGHT_SECONDS)
    return node.last_report_at >= order.sealed_at


def _answer(node: Node, order: Order) -> None:
    parts = blobs(set(node.recording.values()))
    files = [(part, parts[digest]) for part, digest in node.recording.items()]
    files += [(ORDER, order.canonical.encode()), (DIGEST, order.digest.encode())]
    try:
        receipt = triage_process.run(answer, files)
    except (triage_process.Busy, Stopped) as why:
        log.warning("Order %s is not answered from the archive yet: %s", order.id, why)
        return
    Order.objects.filter(pk=order.pk, status="SEALED").update(status="OFFERED")
    if refused := orders.receipt(node.name, order.id, json.loads(receipt), archive=node.report_digest):
        log.warning("The archive's answer to order %s was not taken: %s", order.id, refused)


def answer_all() -> None:
    """Of every brought node that is asked something."""
    waiting = Order.objects.filter(effect="pure", status__in=("SEALED", "OFFERED")).values("node")
    for name in Node.objects.filter(state=Node.State.BROUGHT, name__in=waiting).values_list("name", flat=True):
        answer_open(name)

"""Sealing: freezing what a node is asked to do into exact bytes under a digest."""

import uuid
from collections.abc import Mapping
from datetime import datetime, timedelta

from agents.wire import canonical, sha256_hex
from app.accounts.models import User
from app.fleet.models import Node
from app.ledger import services as ledger
from app.once import WrittenOnce
from app.runs.models import Order, Run
from workflows import events as ev
from workflows.core import Step

PURE_SECONDS = 90  # a node that does not answer a question in this time is not answering
ORDER_SECONDS = 300  # to be taken and started; the command itself may take longer
NO_FENCE = 0


class NotEnrolled(Exception):
    """The node has no live key, so no order can be made out to it."""


def ask(run: Run, effect: ev.AskNode, now: datetime) -> Order:
    """A pure order whose answer the run waits for."""
    said = {"operation": effect.operation, "effect": "pure", "params": dict(effect.params)}
    return _seal(run.node, said, now, PURE_SECONDS, run=run, step=run.step, number=effect.number, destructive=False)


def look(node: str, sources: str, person: User | None, now: datetime) -> Order:
    """A pure order from a page."""
    said = {"operation": "look", "effect": "pure", "params": {"sources": sources}}
    return _seal(node, said, now, PURE_SECONDS, destructive=False, sealed_by=person)


def execute(run: Run, step: Step, effect: ev.Seal, fence: int, person: User, now: datetime) -> Order:
    """The one order of a plan."""
    said = {
        "operation": effect.operation,
        "effect": effect.effect,
        "params": dict(effect.params),
        "argv": list(effect.argv),
        "preconditions": dict(effect.preconditions),
        "plan_digest": effect.plan_digest,
    }
    more = {"destructive": step.destructive, "plan_id": effect.plan_digest, "fence": fence, "sealed_by": person}
    return _seal(run.node, said, now, ORDER_SECONDS, run=run, step=effect.step, **more)


def _seal(node: str, said: Mapping, now: datetime, seconds: int, **row) -> Order:
    order = Order(id=uuid.uuid4().hex, node=node, operation=said["operation"], effect=said["effect"], sealed_at=now, **row)
    order.expires_at = now + timedelta(seconds=seconds)
    text = canonical(
        {
            "v": "1",
            "id": order.id,
            "node": node,
            "key_id": _key_of(node),
            "run": str(order.run_id or ""),
            "step": order.step,
            "argv": [],
            "plan_digest": "",
            "preconditions": {},
            "fence": str(order.fence or NO_FENCE),
            "sealed_at": ledger.moment(now),
            "expires_at": ledger.moment(order.expires_at),
            **said,
        }
    )
    order.canonical, order.digest = text.decode(), sha256_hex(text)
    ledger.keep(text, "application/json")
    order.save(force_insert=True)
    return order


@WrittenOnce
def live_keys(name):
    return Node.objects.filter(name=name, keys__revoked_at__isnull=True).values_list("keys__key_id")


def _key_of(node: str) -> str:
    for (key_id,) in live_keys(node):
        return key_id
    raise NotEnrolled(f"{node} has no enrolled agent, so nothing can be asked of it. Enrol it first.")

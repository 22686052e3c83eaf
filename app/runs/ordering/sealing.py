"""Sealing: freezing what a node is asked to do into exact bytes, under a digest and the portal's signature."""

import uuid
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db.models import QuerySet

from agents.operations.base import needs_approval
from agents.portal.wire import canonical, sha256_hex
from app.accounts import seals
from app.accounts.models import User
from app.accounts.sealing import seal_anew
from app.core.compiled_queries import Row, WrittenOnce, add
from app.fleet.models import Node
from app.ledger import keys
from app.ledger import services as ledger
from app.runs.models import Order, Plan, Run
from app.runs.ordering import plan_approvals
from workflows.engine import events as ev
from workflows.engine.core import Step

PURE_SECONDS = 90  # a node that does not answer a question in this time is not answering
BROUGHT_SECONDS = 3600  # what a node without an agent is asked is answered by what a person brings of it
ORDER_SECONDS = 300  # to be taken and started; the command itself may take longer
NO_FENCE = 0


class CannotSeal(Exception):
    """No order can be made out. The message says why, and what to do."""


class NotEnrolled(CannotSeal):
    """The node has no live key, so no order can be made out to it."""


class Key(NamedTuple):
    """The node's live key, and which stay of the machine uses it."""

    id: str
    nonce: str
    doubled: str


NO_AGENT = Key("none", "", "")  # a question to a node that was brought goes to no agent: an archive answers it


def ask(run: Run, effect: ev.AskNode, now: datetime) -> Order:
    """A pure order whose answer the run waits for."""
    fields: dict[str, Any] = {"operation": effect.operation, "effect": "pure", "params": dict(effect.params)}
    brought = Node.objects.filter(name=run.node, state=Node.State.BROUGHT).exists()
    until = now + timedelta(seconds=BROUGHT_SECONDS if brought else PURE_SECONDS)
    key = NO_AGENT if brought else None
    return _seal(run.node, fields, now, until, run=run, step=run.step, number=effect.number, destructive=False, key=key)


def look(key: Key | None, node: str, sources: str, person: User | None, now: datetime, *, keep: bool = True) -> Order:
    """A pure order from a page, to whoever has that key."""
    fields = {"operation": "look", "effect": "pure", "params": {"sources": sources}}
    until = now + timedelta(seconds=PURE_SECONDS)
    return _seal(node, fields, now, until, key=_good(key, node), keep=keep, destructive=False, sealed_by=person)


def execute(run: Run, step: Step, effect: ev.Seal, fence: int, person: User | None, now: datetime, proved_at: datetime | None) -> Order:
    """The one order of a plan, for as long as what stands behind it holds. An order of no person only on the way back; see `unattended`."""
    if person is None and not step.unattended:
        raise CannotSeal(f"No person gave the order for “{step.title}”, and that step needs one.")
    _names_one_thing(effect)
    behind = (
        plan_approvals.of(effect.plan_digest, person, now) if needs_approval(effect.effect, step.destructive) else plan_approvals.NOTHING
    )
    if why := behind.why_not or seals.why_not(Plan, pk=effect.plan_digest):
        raise CannotSeal(why)
    fields = {
        "operation": effect.operation,
        "effect": effect.effect,
        "params": dict(effect.params),
        "argv": list(effect.argv),
        "preconditions": dict(effect.preconditions),
        "plan_digest": effect.plan_digest,
        "approvals": list(behind.leaves),
        "nonce": _stay(run.node),
    }
    until = min([now + timedelta(seconds=ORDER_SECONDS), *behind.until])
    given: dict[str, Any] = {"plan_id": effect.plan_digest, "fence": fence, "sealed_by": person, "proved_at": proved_at}
    return _seal(run.node, fields, now, until, run=run, step=effect.step, nonce=fields["nonce"], destructive=step.destructive, **given)


def show(run: Run, step: Step, effect: ev.Show, person: User | None, now: datetime) -> None:
    """Whether all that an order needs is behind a command that a person is to be shown. Raises CannotSeal where it is not."""
    if person is None:
        raise CannotSeal(f"“{step.title}” is given by hand, and that needs a person.")
    if needs_approval(effect.effect, step.destructive) and (why := plan_approvals.of(effect.plan_digest, person, now).why_not):
        raise CannotSeal(why)
    if why := seals.why_not(Plan, pk=effect.plan_digest):
        raise CannotSeal(why)


def _names_one_thing(effect: ev.Seal) -> None:
    """An empty or wildcard target must never come to mean "everything"."""
    for name, value in effect.params.items():
        if not value.strip() or set(value) & set("*?"):
            raise CannotSeal(f"{name} of {effect.operation} is {value!r}, which names no one thing. Nothing was sealed. Make a new plan.")


def _stay(node: str) -> str:
    nonce = _key_of(node).nonce
    if not nonce:
        raise CannotSeal(
            f"The agent of {node} has not reported which session of the node it runs in. Update it, and wait for its next report."
        )
    return nonce


def _seal(
    node: str, fields: Mapping[str, Any], now: datetime, until: datetime, *, key: Key | None = None, keep: bool = True, **row: Any
) -> Order:
    key = key or _key_of(node)
    order = Order(
        id=uuid.uuid4().hex, node=node, operation=fields["operation"], effect=fields["effect"], sealed_at=now, expires_at=until, **row
    )
    text = canonical(
        {
            "v": "1",
            "id": order.id,
            "node": node,
            "key_id": key.id,
            "run": str(order.run_id or ""),
            "step": order.step,
            "argv": [],
            "approvals": [],
            "plan_digest": "",
            "preconditions": {},
            "nonce": "",
            "fence": str(order.fence or NO_FENCE),
            "sealed_at": ledger.moment(now),
            "not_before": ledger.moment(now),
            "expires_at": ledger.moment(until),
            **fields,
        }
    )
    ours = keys.order_key()
    order.canonical, order.digest = text.decode(), sha256_hex(text)
    order.signature, order.signed_by = ours.sign_text(text), ours.key_id
    if keep:
        ledger.keep(text, "application/json")
    add(order)
    if order.effect != "pure":
        seal_anew(order)
    return order


@WrittenOnce
def live_keys(name: str) -> QuerySet[Node, Any]:
    return Node.objects.filter(name=name, keys__revoked_at__isnull=True).values_list("keys__key_id", "keys__nonce", "keys__doubled_why")


def key_of(node: str) -> Key | None:
    return key_in(live_keys(node))


def key_in(rows: list[Row]) -> Key | None:
    """The one that `live_keys` found."""
    return next((Key(*row) for row in rows), None)


def _key_of(node: str) -> Key:
    return _good(key_of(node), node)


def _good(key: Key | None, node: str) -> Key:
    if key is None or not key.id:
        raise NotEnrolled(
            f"{node} has no enrolled agent, so nothing can be asked of it. Enrol it, or bring it: `slotlight collect {node}`."
        )
    if key.doubled:
        raise CannotSeal(key.doubled)
    return key

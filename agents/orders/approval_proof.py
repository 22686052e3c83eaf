"""What stands behind an order: the ledger's events that it was sealed and approved, each proven to be in the log.

An order that destroys, or that must not happen twice, does not run on the portal's word alone. The events come with it as they are written in the ledger; each is
hashed here, shown to be in the tree of a checkpoint that the log's own key signed, and read: same run, same node, same plan, same
order, and approved by another person than the one who sealed it. With break glass there is no approver, and the log records that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Optional

from agents.operations import OPERATIONS
from agents.operations.base import needs_approval
from agents.orders.order import Order
from agents.orders.policy import Policy
from agents.trust.transparency_log import BadProof, Checkpoint, proven

SEALED, APPROVED, GLASS_BROKEN = "order.sealed", "run.approved", "run.glass-broken"
EVENTS_MAX = 32
Believed = Callable[[str], Optional[Checkpoint]]


class NotBacked(Exception):
    """What came with the order does not prove what it must. The message says what is missing."""


@dataclass(frozen=True)
class Event:
    """A ledger event that is proven to be in the log."""

    leaf: str
    type: str
    actor: str
    run: str
    node: str
    body: Mapping[str, Any]


def check(order: Order, believed: Believed, rule: Policy) -> str:
    """Why this order has not behind it what it needs; "" when it has. `believed` gives the checkpoint of a note the witness accepted."""
    try:
        events = _proven(order, believed)
        sealed = _sealed(order, events)
        if needs_approval(OPERATIONS[order.operation].EFFECT, OPERATIONS[order.operation].DESTRUCTIVE):
            _approved(order, events, sealed, rule)
    except (NotBacked, BadProof) as why:
        return str(why)
    return ""


def _proven(order: Order, believed: Believed) -> tuple[Event, ...]:
    note, listed = order.proofs.get("checkpoint"), order.proofs.get("events")
    if not isinstance(note, str) or not isinstance(listed, list) or len(listed) > EVENTS_MAX:
        raise NotBacked("The order came without proof that it, and who approved it, are in the ledger. Update the portal.")
    checkpoint = believed(note)
    if checkpoint is None:
        raise NotBacked("The order's proofs are against a checkpoint of the ledger that this agent was not shown. Plan again.")
    return tuple(_event(leaf, body) for leaf, body in proven(checkpoint, listed).items())


def _event(leaf: str, leaf_body: Mapping[str, Any]) -> Event:
    texts, body = [leaf_body.get(name) for name in ("type", "actor", "run", "node")], leaf_body.get("body")
    kind, actor, run, node = (text if isinstance(text, str) else None for text in texts)
    if kind is None or actor is None or run is None or node is None or not isinstance(body, dict):
        raise NotBacked(f"The event {leaf[:16]} that came with the order is no event of a ledger.")
    return Event(leaf, kind, actor, run, node, body)


def _sealed(order: Order, events: tuple[Event, ...]) -> Event:
    found = [event for event in events if event.type == SEALED and event.body.get("digest") == order.digest]
    if not found:
        raise NotBacked("The ledger does not show that this order was sealed.")
    _is_of(order, found[0])
    return found[0]


def _approved(order: Order, events: tuple[Event, ...], sealed: Event, rule: Policy) -> None:
    by_leaf = {event.leaf: event for event in events}
    if not order.approvals:
        raise NotBacked(
            f"{order.operation} needs another person's approval, and the order names none. Make a new plan and have it approved;"
            " where the portal does not ask for approval, update the portal first, then plan again."
        )
    for leaf in order.approvals:
        event = by_leaf.get(leaf)
        if event is None:
            raise NotBacked(f"The order names the approval {leaf[:16]} and brings no proof that it is in the ledger.")
        _judge(order, event, sealed, rule)


def _judge(order: Order, event: Event, sealed: Event, rule: Policy) -> None:
    _is_of(order, event)
    if event.type not in (APPROVED, GLASS_BROKEN):
        raise NotBacked(f"The order calls an event {event.type!r} of the ledger an approval.")
    if event.body.get("plan_digest") != order.plan_digest:
        raise NotBacked(f"{event.actor} approved another plan than this order carries out. Plan again.")
    if event.type == APPROVED and event.actor == sealed.actor:
        raise NotBacked(f"{event.actor} approved the plan and sealed the order. Another person must approve it.")
    if event.type == GLASS_BROKEN and not rule.break_glass:
        raise NotBacked(f"{event.actor} broke the glass, and this node's policy does not allow that: {rule.why}")


def _is_of(order: Order, event: Event) -> None:
    if (event.run, event.node) != (order.run, order.node) or not order.run:
        raise NotBacked(f"The ledger's {event.type} is of run {event.run} on {event.node}, and the order of {order.run} on {order.node}.")

"""What an order is, and everything that can be said against it before looking at the machine."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from agents.operations import OPERATIONS
from agents.policy import Policy
from agents.times import seconds_of
from agents.wire import read_canonical, sha256_hex

ORDER_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
FENCE = re.compile(r"[0-9]{1,18}")
TEXTS = (
    *("v", "id", "node", "key_id", "run", "step", "operation", "effect", "plan_digest", "fence"),
    *("nonce", "sealed_at", "not_before", "expires_at"),
)
FIELDS = {*TEXTS, "params", "argv", "preconditions", "approvals"}


@dataclass(frozen=True)
class Order:
    """One operation sealed for one node. `canonical` is the exact text that was sealed."""

    canonical: str
    digest: str
    id: str
    node: str
    key_id: str
    run: str
    step: str
    operation: str
    effect: str
    params: dict[str, str]
    argv: tuple[str, ...]
    plan_digest: str
    preconditions: dict[str, str]
    fence: str
    nonce: str
    approvals: tuple[str, ...]
    sealed_at: str
    not_before: str
    expires_at: str


class BadOrder(Exception):
    """The text is no order. `order_id` is what it calls itself, when that much can be read."""

    def __init__(self, reason: str, order_id: str = "") -> None:
        super().__init__(reason)
        self.order_id = order_id


def read(canonical: str, digest: str) -> Order:
    """The order in canonical text whose SHA-256 is `digest`. Raises BadOrder."""
    try:
        value = read_canonical(canonical)
    except ValueError as error:
        raise BadOrder(str(error)) from None
    order_id = value.get("id") if isinstance(value, dict) else None
    if not isinstance(order_id, str) or ORDER_ID.fullmatch(order_id) is None:
        raise BadOrder("The order has no id.")
    if sha256_hex(canonical.encode("utf-8")) != digest:
        raise BadOrder("The order's bytes are not the ones its digest names.", order_id)
    _check_shape(value, order_id)
    texts = {name: value[name] for name in TEXTS if name != "v"}
    lists = {name: tuple(value[name]) for name in ("argv", "approvals")}
    return Order(canonical, digest, params=value["params"], preconditions=value["preconditions"], **lists, **texts)


def _check_shape(value: dict[str, Any], order_id: str) -> None:
    if set(value) != FIELDS:
        raise BadOrder(f"The order has other fields than it must: {', '.join(sorted(set(value) ^ FIELDS))}.", order_id)
    texts = [value[name] for name in TEXTS]
    for part in (value["params"], value["preconditions"]):
        texts += part.values() if isinstance(part, dict) else [None]
    for part in (value["argv"], value["approvals"]):
        texts += part if isinstance(part, list) else [None]
    if not all(isinstance(text, str) for text in texts):
        raise BadOrder("A field of the order is not of the kind it must be.", order_id)
    if value["v"] != "1":
        raise BadOrder(f"The order is of version {value['v']}; this agent reads version 1. Update the agent.", order_id)


@dataclass(frozen=True)
class Here:
    """What this agent is, for judging an order."""

    node: str
    key_id: str
    policy: Policy
    now: float
    fence: Callable[[str], int]  # pool guid -> highest fence accepted


def refusal(order: Order, here: Here) -> str:
    """The first reason why this order may not run on this node; empty when none is known yet."""
    for check in (_catalogue, _address, _policy, _expiry, _fence, _argv):
        reason = check(order, here)
        if reason:
            return reason
    return ""


def _catalogue(order: Order, here: Here) -> str:
    operation = OPERATIONS.get(order.operation)
    if operation is None:
        return f"{order.operation!r} is not in this agent's catalogue."
    if order.effect != operation.EFFECT:
        return f"The order calls {order.operation} {order.effect!r}; here it is {operation.EFFECT}."
    return operation.check(order.params)


def _address(order: Order, here: Here) -> str:
    if order.node != here.node:
        return f"The order is for {order.node} and this is {here.node}."
    if order.key_id != here.key_id:
        return f"The order is for the key {order.key_id} and this agent has {here.key_id}."
    return ""


def _policy(order: Order, here: Here) -> str:
    return here.policy.refusal(order.operation, order.effect, order.params)


def _expiry(order: Order, here: Here) -> str:
    try:
        left = seconds_of(order.expires_at) - here.now
    except ValueError:
        return f"The order's expiry {order.expires_at!r} is not a moment."
    return "" if left > 0 else f"The order expired at {order.expires_at}. Plan again."


def _fence(order: Order, here: Here) -> str:
    if order.effect == "pure":
        return ""
    if FENCE.fullmatch(order.fence) is None:
        return f"The order's fence {order.fence!r} is not a number."
    pool_guid = order.params["pool_guid"]
    highest = here.fence(pool_guid)
    if int(order.fence) < highest:
        return f"The order's fence is {order.fence} and this node has seen {highest} for pool {pool_guid}: a newer run holds it."
    return ""


def _argv(order: Order, here: Here) -> str:
    mine = OPERATIONS[order.operation].argv(order.params)
    if order.argv != mine:
        return f"The order says {list(order.argv)} and this agent would run {list(mine)}."
    return ""

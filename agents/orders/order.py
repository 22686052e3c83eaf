"""What an order is, and everything that can be said against it before looking at the machine.

What counts is the exact text that was sealed. Beside it travel its signature and the proofs of what stands behind it; they are judged
by `agents.trust.order_signature` and `agents.orders.approval_proof`, in their place among the gates below.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from agents.domain.times import seconds_of
from agents.operations import OPERATIONS
from agents.orders.policy import Policy
from agents.portal.wire import read_canonical, sha256_hex
from agents.trust.clock import AGREE_SECONDS

ORDER_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
FENCE = re.compile(r"[0-9]{1,18}")
LEAF = re.compile(r"[0-9a-f]{64}")
APPROVALS_MAX = 20
SLACK_SECONDS = AGREE_SECONDS  # how much later than ours the portal's clock may be
TEXTS = (
    *("v", "id", "node", "key_id", "run", "step", "operation", "effect", "plan_digest", "fence"),
    *("nonce", "sealed_at", "not_before", "expires_at"),
)
FIELDS = {*TEXTS, "params", "argv", "preconditions", "approvals"}


@dataclass(frozen=True)
class Order:
    """One operation sealed for one node. `canonical` is the exact text that was sealed; `signature`, `key` and `proofs` came with it."""

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
    signature: str = ""
    key: str = ""
    proofs: Mapping[str, Any] = field(default_factory=dict)


class BadOrder(Exception):
    """The text is no order. `order_id` is what it calls itself, when that much can be read."""

    def __init__(self, reason: str, order_id: str = "") -> None:
        super().__init__(reason)
        self.order_id = order_id


def read_offer(offer: Mapping[str, Any]) -> Order:
    """The order in one entry of the portal's answer, with what came beside it. Raises BadOrder."""
    canonical, digest, signature, key = (offer.get(name, "") for name in ("order", "digest", "signature", "key"))
    proofs = offer.get("proofs", {})
    if not all(isinstance(text, str) for text in (canonical, digest, signature, key)) or not isinstance(proofs, dict):
        raise BadOrder("The portal offers something that is no order.")
    return read(canonical, digest, signature, key, proofs)


def read(canonical: str, digest: str, signature: str = "", key: str = "", proofs: Mapping[str, Any] | None = None) -> Order:
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
    parts = {name: value[name] for name in FIELDS - {"v", "argv", "approvals"}}
    argv, approvals = tuple(value["argv"]), tuple(value["approvals"])
    return Order(canonical, digest, signature=signature, key=key, proofs=proofs or {}, argv=argv, approvals=approvals, **parts)


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
    if len(value["approvals"]) > APPROVALS_MAX or not all(LEAF.fullmatch(leaf) for leaf in value["approvals"]):
        raise BadOrder("The order's approvals are not leaf hashes.", order_id)
    if value["v"] != "1":
        raise BadOrder(f"The order is of version {value['v']}; this agent reads version 1. Update the agent.", order_id)


def nothing(order: Order) -> str:
    """Nothing is to be said against it."""
    return ""


@dataclass(frozen=True)
class Here:
    """What this agent is, for judging an order. `signed` and `backed` say what is wrong with signature and proofs, or ""."""

    node: str
    key_id: str
    policy: Policy
    earliest: float  # no earlier moment can be now,
    latest: float  # and no later one
    fence: Callable[[str], int]  # pool guid -> highest fence accepted
    nonce: str = ""
    signed: Callable[[Order], str] = nothing
    backed: Callable[[Order], str] = nothing
    clock_doubt: str = ""


def refusal(order: Order, here: Here) -> str:
    """The first reason why this order may not run on this node; empty when none is known yet."""
    for check in (_catalogue, _signature, _address, _session, _proofs, _policy, _time, _fence, _argv):
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
    return str(operation.check(order.params))


def _signature(order: Order, here: Here) -> str:
    """A question needs none: it came in an answer that only the portal could sign, and is harmless."""
    return "" if order.effect == "pure" else here.signed(order)


def _address(order: Order, here: Here) -> str:
    if order.node != here.node:
        return f"The order is for {order.node} and this is {here.node}."
    if order.key_id != here.key_id:
        return f"The order is for the key {order.key_id} and this agent has {here.key_id}."
    return ""


def _session(order: Order, here: Here) -> str:
    if order.effect == "pure" or (here.nonce and order.nonce == here.nonce):
        return ""
    if not here.nonce:
        return "This node cannot keep a session, so whether an order was meant for its present session is not known."
    return "The order was sealed for another session of this node: it has been restarted, copied or restored since. Plan again."


def _proofs(order: Order, here: Here) -> str:
    return "" if order.effect == "pure" else here.backed(order)


def _policy(order: Order, here: Here) -> str:
    return here.policy.refusal(order.operation, order.effect, order.params) or _hours(order, here)


def _hours(order: Order, here: Here) -> str:
    """Neither end of what the time may be lies outside the hours of this operation."""
    return here.policy.outside_hours(order.operation, here.earliest) or here.policy.outside_hours(order.operation, here.latest)


def _time(order: Order, here: Here) -> str:
    try:
        begins, ends = seconds_of(order.not_before), seconds_of(order.expires_at)
    except ValueError:
        return f"Of the order's times {order.not_before!r} and {order.expires_at!r} one is not a moment."
    if order.effect == "pure":
        return "" if here.latest < ends else f"The question expired at {order.expires_at}."
    if here.clock_doubt:
        return here.clock_doubt
    if here.latest >= ends:
        return f"The order expired at {order.expires_at}. Plan again."
    if here.earliest + SLACK_SECONDS < begins:
        return f"The order counts from {order.not_before} on, which is not yet. Check the clocks of portal and node."
    return ""


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

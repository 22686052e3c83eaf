"""The life of an order, as the node's agent and time move it. `app.nodes` calls the first four; `sweep` is rung by beat.

Every move takes the run's row first and the order's second, and gives the run the event in the same transaction. Claim and start
answer "" for go and else why not; asking again after a lost answer gets the same answer. Silence ends an order only
before it was started: from then on it is UNKNOWN until the node or two people say what became of it.
"""

import json
import logging
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db import connection, transaction
from django.db.models import QuerySet
from django.utils import timezone

from agents.operations import OPERATIONS
from agents.operations.base import needs_approval
from app.accounts import seals
from app.accounts.proof import FRESH_SECONDS
from app.core.compiled_queries import ModelsWrittenOnce, in_one_go, save
from app.core.database import UNHURRIED
from app.fleet.models import Node
from app.ledger import services as ledger
from app.ledger.forms import digests
from app.ledger.models import LedgerCheckpoint
from app.realtime.publish import ring
from app.runs import folded_reads, rights, services
from app.runs.models import Order, ResourceLock, Run
from app.runs.ordering import order_envelope, plan_approvals, sealing, unattended
from app.runs.ordering.receipts import BadReceipt, Receipt, keep_captures, read, take_captures
from workflows.engine import by_hand
from workflows.engine import events as ev
from workflows.engine.state import ORDER_IS_OUT, ORDER_MOVES, PURE_ORDER_MOVES

SILENCE_SECONDS = 120  # past the command's own time limit
NODE_SILENT_SECONDS = 90  # a node that does not even report is not at work we could wait for
log = logging.getLogger(__name__)


@contextmanager
def _in_hand(order_id: str, node: str = "") -> Iterator[Order | None]:
    """The order and its run, both locked, run first; None when this node has no such order."""
    with transaction.atomic():
        yield next((order for order in _alone(order_id) if node in ("", order.node)), None) or _behind_its_run(order_id, node)


@ModelsWrittenOnce
def _alone(order_id: str) -> QuerySet[Order]:
    return Order.objects.filter(pk=order_id, run=None).select_for_update()


def _behind_its_run(order_id: str, node: str) -> Order | None:
    found = Order.objects.filter(pk=order_id, **({"node": node} if node else {}))
    run_id = found.values_list("run_id", flat=True).first()
    run = Run.objects.select_for_update().filter(pk=run_id).first() if run_id is not None else None
    order = found.select_for_update().first()
    if order is not None:
        order.run = run
    return order


# --- what the agent asks


class Out(NamedTuple):
    """What the node needs of an order that is out, and we to hand it over."""

    id: str
    effect: str
    canonical: str
    digest: str
    signature: str
    signed_by: str


# A question may be put any number of times, also one that has just ended: so nothing is locked for it, and it is put as it is read.
# One that another poll puts in this moment is read all the same: that poll's node may have hung up.
TO_BE_TAKEN = f"""
WITH put AS (
    UPDATE runs_order SET status = 'OFFERED' FROM {UNHURRIED}
    WHERE node = %s AND status = 'SEALED' AND effect = 'pure' AND expires_at > %s RETURNING runs_order.*
)
SELECT {", ".join(Out._fields)} FROM (
    SELECT * FROM put UNION ALL
    SELECT * FROM runs_order WHERE node = %s AND status IN ('SEALED', 'OFFERED') AND expires_at > %s AND id NOT IN (SELECT id FROM put)
) AS out ORDER BY sealed_at
"""


def next_for(node: str) -> list[order_envelope.Offer]:
    """Every order this node may take now, oldest first. One that changes anything comes with its proofs, or not at all."""
    now = timezone.now()
    with connection.cursor() as cursor:
        cursor.execute(TO_BE_TAKEN, (node, now, node, now))
        found = [Out(*row) for row in cursor.fetchall()]
    checkpoint = _ledger_signs() if any(order.effect != "pure" for order in found) else None
    offered = [order_envelope.offer(order, {}) if order.effect == "pure" else _offer(order.id, now, checkpoint) for order in found]
    return [offer for offer in offered if offer]


def _ledger_signs() -> LedgerCheckpoint | None:
    """Sign what has been recorded before an order that destroys leaves the house. Without it nothing is offered."""
    try:
        ledger.refuse_if_broken()
        return ledger.checkpoint_now()
    except ledger.LedgerDown as down:
        log.error("No order is offered: %s", down)
        return None


def _offer(order_id: str, now: datetime, checkpoint: LedgerCheckpoint | None) -> order_envelope.Offer | None:
    if checkpoint is None:
        return None
    with _in_hand(order_id) as order:
        if order is None or order.status not in ("SEALED", "OFFERED"):
            return None
        if why := _not_allowed(order, now):
            _move(order, "REFUSED", now, "portal", why)
            return None
        if order.status == "SEALED":
            _move(order, "OFFERED", now, "portal")
    try:
        return order_envelope.offer(order, order_envelope.proofs(order, checkpoint))
    except ledger.LedgerDown as down:
        log.error("Order %s is not offered: %s", order.id, down)
        return None


def claim(node: str, order_id: str, digest: str, proven: object = None) -> str:
    """The node takes the order. "" is go. `proven` are the approvals that it has checked for itself, where it says so."""
    return _go(node, order_id, digest, "CLAIMED", "claimed_at", proven)


def start(node: str, order_id: str, digest: str) -> str:
    """The node is about to run the command. "" is go, and from here on silence proves nothing."""
    return _go(node, order_id, digest, "STARTED", "started_at")


def _go(node: str, order_id: str, digest: str, status: str, moment: str, proven: object = None) -> str:
    """Move the order for the node; or say why not, and let the ledger know that it was held back. Raises LedgerDown."""
    ledger.refuse_if_broken()
    now = timezone.now()
    with _in_hand(order_id) as order:
        if order is None:
            return f"The portal has sealed no such order for {node}."
        why = _why_held_back(order, node, digest, status, now)
        if why is None:
            return ""
        if not why and status == "CLAIMED":
            why = _not_proven(order, proven)
        if why:
            _record_held_back(order, node, status, why)
            return why
        setattr(order, moment, now)
        _move(order, status, now, f"node:{node}")
    return ""


def _why_held_back(order: Order, node: str, digest: str, status: str, now: datetime) -> str | None:
    """Empty is go, None that it went already. What has run out or lost its backing ends here."""
    if order.node != node or order.digest != digest:
        return f"The portal has sealed no such order for {node}."
    if order.status == status:
        return None
    if status not in ORDER_MOVES[order.status] or order.effect == "pure":
        return f"The order is {order.status}. {order.reason}".strip()
    if order.expires_at <= now:
        _move(order, "EXPIRED", now, "portal", f"It was not started before {ledger.moment(order.expires_at)}.")
        return f"The order expired at {ledger.moment(order.expires_at)}."
    if why := _not_allowed(order, now):
        _move(order, "REFUSED", now, "portal", why)
        return why
    return ""


def _record_held_back(order: Order, node: str, status: str, why: str) -> None:
    """Once for each reason: an agent that asks again and again fills no ledger."""
    text = f"{node}, {status}: {why}"
    if order.held_back != text:
        order.held_back = text
        order.save(update_fields=["held_back"])
        _record(order, "order.held-back", "", {"asked": status, "by": f"node:{node}", "reason": why})


def _not_allowed(order: Order, now: datetime) -> str:
    """Whether all that an order was sealed on still holds: who gave it, who stands behind it, the node's stay, the locks. "" is yes."""
    if order.effect == "pure":
        return ""
    if why := seals.why_not(Order, pk=order.pk):
        return f"Who gave this order was changed in the database. {why}"
    if why := _giver_may_not(order, now):
        return why
    if needs_approval(order.effect, order.destructive):
        behind = plan_approvals.of(order.plan_id or "", order.sealed_by, now)
        if behind.why_not or not set(json.loads(order.canonical)["approvals"]) <= set(behind.leaves):
            return behind.why_not or "Other people stand behind this plan than when the order was sealed. Ask for a new plan."
    key = sealing.key_of(order.node)
    if key is None or key.doubled:
        return key.doubled if key else f"The key of {order.node} was revoked."
    if key.nonce != order.nonce:
        return f"{order.node} was restarted, copied or restored since this order was sealed. Make a new plan."
    if order.run_id is None or not ResourceLock.objects.filter(run_id=order.run_id, fence=order.fence).exists():
        return "The run does not hold the pool any more."
    return ""


def _not_proven(order: Order, proven: object) -> str:
    """Whether the node has seen for itself who approved the order. Older agents look only where one destroys, and do not say so. "" is yes."""
    if order.destructive or not needs_approval(order.effect, order.destructive) or proven == json.loads(order.canonical)["approvals"]:
        return ""
    return (
        f"The agent of {order.node} is older than this portal and does not check who approved {order.operation}. Nothing ran. Update the"
        " agent first (run the install line again on the node), then make a new plan."
    )


def _giver_may_not(order: Order, now: datetime) -> str:
    if order.sealed_by is None:
        return unattended.why_not_allowed(order)
    if not rights.may(order.sealed_by, rights.OPERATE, order.node):
        return rights.rests(order.sealed_by, rights.OPERATE, order.node) or f"{order.sealed_by} may not operate any more."
    if order.proved_at is None or now - order.proved_at > timedelta(seconds=FRESH_SECONDS + sealing.ORDER_SECONDS):
        return f"{order.sealed_by} typed the password too long ago. Give the order again."
    return ""


def end_unstarted(order: Order, why: str, actor: str, now: datetime) -> None:
    """A person takes back what the node has not started. The caller has the run's row and the order's."""
    _move(order, "REFUSED", now, actor, why)


def receipt(node: str, order_id: str, body: dict[str, Any], archive: str = "") -> str:
    """How an order ended, as the node says; or, of a node without an agent, as that archive of it does. "" is taken. The same bytes again are
    taken again; other bytes never.

    The answer to a look is taken also while the ledger cannot be written: looking never stops. All else then raises LedgerDown.
    """
    now = timezone.now()
    try:
        taken = read(order_id, body)
    except BadReceipt as bad:
        return str(bad)
    is_well = services.ledger_is_well()
    with _in_hand(order_id, node) as order:
        if order is None or taken.order_digest != order.digest:
            return f"The portal has sealed no such order for {node}."
        if order.receipt_digest == taken.digest:
            return ""
        if not is_well and archive:
            return "The ledger cannot be written."
        if not is_well:
            _take_unrecorded(order, taken, node, now)
            return ""
        known = _keep(order, taken)
        if order.receipt_digest:
            _record(order, "order.second-receipt", node, {"receipt": taken.digest, "first": order.receipt_digest})
            return "This order has another receipt already. Both are kept; a person must look at them."
        _take(order, taken, node, now, known, archive)
    return ""


def _keep(order: Order, taken: Receipt) -> set[str]:
    """Keep the receipt; which of it, its order and what it names are kept. Captures that are kept only now are asked for again."""
    with in_one_go():
        ledger.keep(taken.raw, "application/json")
        return ledger.kept({taken.digest, order.digest, *digests(taken.shown)})


def _take_unrecorded(order: Order, taken: Receipt, node: str, now: datetime) -> None:
    if order.run is not None or order.effect != "pure" or order.receipt_digest:
        raise ledger.LedgerDown("The ledger cannot be written. Keep this receipt and send it again.")
    status = taken.status(order.effect)
    if status in PURE_ORDER_MOVES[order.status]:
        order.receipt, order.receipt_digest = taken.shown, taken.digest
        _, problem = take_captures(node, taken, now)
        _move(order, status, now, f"node:{node}", taken.reason or problem, taken)
        log.error("The answer to look %s was taken and the ledger does not know it.", order.id)


def _take(order: Order, taken: Receipt, node: str, now: datetime, known: set[str], archive: str = "") -> None:
    order.receipt, order.receipt_digest = taken.shown, taken.digest
    evidence, problem = (keep_captures(taken), "") if archive else take_captures(node, taken, now)
    status = taken.status(order.effect)
    moves = PURE_ORDER_MOVES if order.effect == "pure" else ORDER_MOVES
    fits = status == order.status or status in moves[order.status]
    body = {"receipt": taken.digest, "outcome": taken.outcome, "reason": taken.reason, "argv": taken.argv, "exit_code": taken.exit_code}
    body |= {"captures": list(evidence), "problem": problem}
    body |= {"archive": archive} if archive else {}
    if fits:
        order.folded = not problem and folded_reads.is_folded(order, taken)
        if not order.folded:
            if order.run is not None and order.operation == "look":
                folded_reads.record_folded(order.run, order.run.here)
            _record(order, "order.receipt", "" if archive else node, body, known)
        _move(order, status, now, f"node:{node}", taken.reason, taken, evidence, problem)
    else:
        # Said too late, or without having been let start. It is kept for people to see; the order's own end stands.
        order.save(update_fields=["receipt", "receipt_digest"])
        _record(order, "order.receipt-out-of-turn", node, body | {"stands": order.status})
        log.warning("Order %s is %s and the node reports %s: %s", order.id, order.status, status, taken.reason)


# --- what time does


def sweep() -> None:
    """Expire what was not started in time; call unknown what was started and fell silent."""
    now, is_well = timezone.now(), services.ledger_is_well()
    late = Order.objects.filter(status__in=("SEALED", "OFFERED", "CLAIMED"), expires_at__lte=now)
    for pk in (late if is_well else late.filter(run=None)).values_list("pk", flat=True):
        _expire(pk, now, is_well)
    if not is_well:
        return
    for pk in Order.objects.filter(status="STARTED").values_list("pk", flat=True):
        _give_up(pk, now)


def _expire(order_id: str, now: datetime, is_well: bool) -> None:
    with _in_hand(order_id) as order:
        if order is not None and order.status in ("SEALED", "OFFERED", "CLAIMED"):
            _move(order, "EXPIRED", now, "portal", _why_expired(order))
            if order.run is None and is_well:
                _record(order, "order.expired", "", {"reason": order.reason})


def _why_expired(order: Order) -> str:
    if order.effect != "pure":
        return f"{order.node} did not start it in time. Check its agent."
    if Node.objects.filter(name=order.node, state=Node.State.BROUGHT).exists():
        return f"{order.node} has no agent, and no archive that answers this was brought in time. Collect one and bring it."
    return f"{order.node} did not answer in time. Check its agent."


def _give_up(order_id: str, now: datetime) -> None:
    with _in_hand(order_id) as order:
        if order is not None and order.status == "STARTED" and (why := _silent(order, now)):
            _move(order, "UNKNOWN", now, "portal", why)


def _silent(order: Order, now: datetime) -> str:
    limit = OPERATIONS[order.operation].TIMEOUT_SECONDS + SILENCE_SECONDS
    age = now - (order.started_at or order.sealed_at)
    if age > timedelta(seconds=limit):
        return f"{order.node} started the command {age.total_seconds():.0f} s ago and has not reported how it ended."
    last_report_at = Node.objects.filter(name=order.node).values_list("last_report_at", flat=True).first()
    silent = last_report_at is None or now - last_report_at > timedelta(seconds=NODE_SILENT_SECONDS)
    return f"{order.node} started the command and has fallen silent." if silent and age > timedelta(seconds=SILENCE_SECONDS) else ""


# --- moving


def _move(
    order: Order,
    status: str,
    now: datetime,
    actor: str,
    reason: str = "",
    taken: Receipt | None = None,
    evidence: tuple[str, ...] = (),
    problem: str = "",
) -> None:
    """Store the order's new status and give its run the event."""
    order.status, order.reason = status, reason
    if status not in ORDER_IS_OUT:
        order.ended_at = now
    save(order, "status", "reason", "claimed_at", "started_at", "ended_at", *(("receipt", "receipt_digest", "folded") if taken else ()))
    if order.run is None:
        if status not in ORDER_IS_OUT:  # that it was offered changes no page
            ring(f"looks:{order.node}")
        return
    if order.effect != "pure":
        fields = {"plan_digest": order.plan_id, "status": status, "reason": reason, "evidence": evidence}
        from_receipt = {"probe": taken.probe, "output": taken.output} if taken else {}
        services.apply_event(order.run, ev.OrderMoved, actor, now, **fields, **from_receipt)
    elif status not in ORDER_IS_OUT:
        _answer(order, order.run, now, actor, taken if status == "SUCCEEDED" and not problem else None, evidence, problem)


def _answer(order: Order, run: Run, now: datetime, actor: str, good: Receipt | None, evidence: tuple[str, ...], problem: str) -> None:
    """The end of a pure order, for the run that asked. `good` is the receipt of one that succeeded."""
    why = problem or order.reason or "The node gave no reason."
    if order.operation == "plan":
        if good is not None and good.result is not None:
            services.apply_event(run, ev.PlanArrived, actor, now, number=order.number, plan=_of_its_run(order, good.result))
        else:
            services.apply_event(run, ev.PlanFailed, actor, now, number=order.number, reason=why)
    elif good is not None:
        kind, shown = _looked(order, good, evidence)
        services.apply_event(run, kind, actor, now, number=order.number, taken_after=order.sealed_at.timestamp(), **shown)
    else:
        services.apply_event(run, ev.LookFailed, actor, now, number=order.number, reason=why)


def _looked(order: Order, taken: Receipt, evidence: tuple[str, ...]) -> tuple[type[ev.Event], dict[str, Any]]:
    """What the answer to a look is to its run, and what more it says."""
    if order.operation != by_hand.PROBE:
        return ev.FactsArrived, {}
    return ev.ByHandSeen, {"result": taken.result or {}, "evidence": evidence}


def _record(order: Order, type: str, node: str, body: dict[str, Any], known: Collection[str] = ()) -> None:
    fields = {"order": order.id, "digest": order.digest, "operation": order.operation, **body}
    ledger.record(type, fields, f"node:{node}" if node else "portal", run=str(order.run_id or ""), node=order.node, known=known)


def _of_its_run(order: Order, plan: dict[str, Any]) -> dict[str, Any]:
    """The plan says which run it is for: its digest is then no other run's, and nor is an approval of it."""
    return {**plan, "run": str(order.run_id)}

"""What becomes of a run as its order moves, fails, or leaves everybody in doubt. Part of `engine.decide`.

An outcome that is not known stays UNKNOWN until the node shows evidence or two people agree.
"""

from dataclasses import replace

from workflows.by_hand.snippet import CLOCK_SECONDS
from workflows.engine import events as ev
from workflows.engine.core import ExecuteStep, Runbook, Step
from workflows.engine.state import ORDER_HAD_NO_EFFECT, ORDER_MOVES, RunState, Statement
from workflows.engine.transitions import RING_SECONDS, Decision, Refused, back, failed, finish, plan_behind

SETTLERS = 2

Outcome = Decision | Refused


def reported(runbook: Runbook, state: RunState, event: ev.OrderMoved) -> Outcome:
    """The node reports on an order."""
    if state.is_by_hand:
        return Refused(
            "No order was made of this plan: a person gives the command. What became of it is known by a look of the node alone."
        )
    return order_moved(runbook, state, event)


def order_moved(runbook: Runbook, state: RunState, event: ev.OrderMoved) -> Outcome:
    order = state.order
    if order is None or not state.order_is_out or event.plan_digest != order.plan_digest:
        return Refused("This run does not wait for that order.")
    again = event.status == order.status == "UNKNOWN"
    if not again and event.status not in ORDER_MOVES.get(order.status, ()):
        return Refused(f"An order that is {order.status} cannot become {event.status}.")
    probe = event.probe if event.evidence else "cannot_tell" if event.probe else ""  # a probe that shows nothing proves nothing
    moved = replace(state, order=replace(order, status=event.status, reason=event.reason, probe=probe, at=event.at))
    record = ev.Record(
        "run.order-moved",
        {"step": state.step, "plan_digest": order.plan_digest, "status": event.status, "reason": event.reason, "probe": probe},
    )
    if event.status == "SUCCEEDED":
        return finish(runbook, _learnt(runbook, moved, event.output), event, "The command succeeded.", state.verdicts, record)
    if _goes_on_without(runbook.step(state.step), event.status):
        return failed(runbook, _learnt(runbook, moved, event.output), event, record)
    if event.status in ORDER_HAD_NO_EFFECT:
        return _stop(moved, event, record)
    if event.status == "UNKNOWN":
        return _unknown(runbook, moved, event, probe, record)
    return Decision(replace(moved, note=_UNDER_WAY[event.status]), (record, ev.Ring(RING_SECONDS)))


def _goes_on_without(step: Step, status: str) -> bool:
    """A failed command may lead elsewhere. So may a refused one that only tries: a node's owner may never have allowed it by name."""
    if not isinstance(step, ExecuteStep) or not step.fails_to:
        return False
    return status == "FAILED" or (status == "REFUSED" and step.effect == "idempotent")


def _learnt(runbook: Runbook, state: RunState, output: str) -> RunState:
    """With what the command printed. A later guard refuses where it printed nothing of use."""
    step = runbook.step(state.step)
    learns = step.learns if isinstance(step, ExecuteStep) else None
    return replace(state, params={**state.params, **learns(output)}) if learns else state


_UNDER_WAY = {
    "OFFERED": "The order is offered to the node.",
    "CLAIMED": "The node has taken the order and makes its last checks.",
    "STARTED": "The node has started the command.",
}


def _stop(state: RunState, event: ev.OrderMoved, record: ev.Record) -> Decision:
    fields = {
        "FAILED": "The command failed",
        "REFUSED": "The order was refused and nothing was run",
        "EXPIRED": "The node did not take the order in time and nothing was run",
    }
    note = f"{fields[event.status]}: {event.reason}" if event.reason else f"{fields[event.status]}."
    return Decision(replace(state, status="stopped", since=event.at, note=note), (ev.Unlock(), record))


def _unknown(runbook: Runbook, state: RunState, event: ev.OrderMoved, probe: str, record: ev.Record) -> Outcome:
    if probe == "did":
        return finish(runbook, state, event, f"The node shows that it took effect: {event.reason}", state.verdicts, record)
    if probe == "did_not":
        return _did_not(runbook, state, event, f"The node shows that it did not take effect: {event.reason}", record)
    note = f"Whether the command took effect is not known: {event.reason} Look at the node; two people settle it."
    return Decision(replace(state, status="unknown", since=event.at, note=note), (record, ev.Ring(RING_SECONDS)))


def _did_not(runbook: Runbook, state: RunState, event: ev.Event, note: str, record: ev.Record) -> Decision:
    plan_step = plan_behind(runbook, state) or runbook.step(state.step)  # lint: an EXECUTE follows a PLAN
    return back(runbook, state, plan_step, event, note, (record,))


def settled(runbook: Runbook, state: RunState, event: ev.Settled) -> Outcome:
    if state.status != "unknown" or state.order is None:
        return Refused("There is nothing to settle: the outcome is not in doubt.")
    if event.outcome not in ("did", "did_not") or not event.reason.strip() or not event.by:
        return Refused("Say whether the command took effect and how you know it.")
    if state.is_by_hand and state.shown and event.outcome == "did_not" and event.at <= state.shown.until + CLOCK_SECONDS:
        return Refused(_MAY_STILL_RUN)
    others = tuple(s for s in state.statements if s.by != event.by)
    statements = (*others, Statement(event.by, event.outcome, event.reason.strip()))
    agreed = sorted(s.by for s in statements if s.outcome == event.outcome)
    record = ev.Record(
        "run.settled", {"plan_digest": state.order.plan_digest, "outcome": event.outcome, "reason": event.reason.strip(), "agreed": agreed}
    )
    after = replace(state, statements=statements)
    if len(agreed) < SETTLERS:
        return Decision(
            replace(after, note=f"{event.by} says: {_OUTCOME_TEXTS[event.outcome]}. A second person must say the same."), (record,)
        )
    note = f"{' and '.join(agreed)} settled it: {_OUTCOME_TEXTS[event.outcome]}."
    if event.outcome == "did":
        return finish(runbook, after, event, note, state.verdicts, record)
    return _did_not(runbook, after, event, note, record)


_MAY_STILL_RUN = "Whoever has the snippet may still run it. It runs nothing once its time is over; settle it then."
_OUTCOME_TEXTS = {"did": "the command took effect", "did_not": "the command did not take effect"}

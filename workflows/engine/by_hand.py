"""A plan that a person carries out by hand: its snippet is shown once, and only the node settles what became of it. Part of `engine.decide`.

From the showing on the outcome is UNKNOWN, as of an order whose node fell silent: whoever has the snippet may run it, and may say nothing. The
node settles it by a look that was taken later and shows three things: the nonce of this showing, the very boot of the very host, and the effect.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from workflows.by_hand import grounds, snippet
from workflows.engine import events as ev
from workflows.engine import order_outcomes, plan_losses
from workflows.engine.core import ExecuteStep, Params, PlanStep, Runbook, Verdict
from workflows.engine.state import Asked, OrderSeen, RunState, Shown
from workflows.engine.transitions import NOT_TAKEN, RING_SECONDS, Decision, Refused, blocked, command_of, lines
from workflows.facts import FleetFacts, Known, derived, need

IN_PLAN = grounds.IN_PLAN
PROBE = "probe_by_hand"

Outcome = Decision | Refused


@derived
def grounds_of(facts: FleetFacts, params: Params, plan: Mapping[str, Any]) -> Known[dict[str, Any]]:
    """What a plan by hand has more than one for an order; Unknown where it is not known, or where there is no command for a person."""
    found = need(grounds.of(facts, params.get("node", ""), plan))
    return {IN_PLAN: found.to_plan()}


def order_was_not_taken(runbook: Runbook, state: RunState, step: PlanStep, verdicts: tuple[Verdict, ...]) -> bool:
    """Whether the node refused the last order of this plan's step, or never took it, and no check of the portal refuses the command."""
    stopped = state.status == "stopped" and state.order is not None and state.order.status in NOT_TAKEN
    went_back = state.status == "open" and state.not_taken == command_of(runbook, step)
    return (stopped or went_back) and not blocked(verdicts)


def show(state: RunState, step: ExecuteStep, event: ev.ByHandAsked, locks: tuple[str, ...], verdicts: tuple[Verdict, ...]) -> Outcome:
    """All that an order would need is there: hold the pool and show the snippet, once for this plan."""
    plan: Mapping[str, Any] = state.plan or {}
    shown = Shown(state.plan_digest, event.nonce, event.by, event.at, event.at + snippet.SECONDS)
    try:
        text = snippet.make(plan, event.nonce, int(shown.until))
    except snippet.CannotMake as cannot:
        return Refused(f"{cannot} Nothing is shown.", verdicts)
    order = OrderSeen(state.plan_digest, "UNKNOWN", "It is given by hand.", at=event.at, by=event.by)
    shown_state = replace(state, status="unknown", since=event.at, verdicts=verdicts, sealed=(*state.sealed, state.plan_digest))
    shown_state = replace(
        shown_state, shown=shown, order=order, asked=None, note=f"{event.by} was shown the command, to give it by hand. {_UNTIL_THEN}"
    )
    body = {"step": step.slug, "plan_digest": state.plan_digest, "argv": list(plan["argv"]), "nonce": event.nonce, "locks": list(locks)}
    body |= {"snippet": hashlib.sha256(text.encode()).hexdigest()}
    record = ev.Record("run.by-hand-shown", body | {"verdicts": lines(verdicts)} | plan_losses.on_record(plan))
    showing = ev.Show(step.slug, step.operation, step.effect, state.plan_digest, text)
    return Decision(shown_state, (ev.Lock(locks), showing, record))


_UNTIL_THEN = "Until the node shows its outcome, it is not known."


def snippet_of(state: RunState) -> str:
    """The snippet that was shown; "" where none was. The same plan and showing give the same text."""
    if not state.is_by_hand or state.shown is None or state.plan is None:
        return ""
    return snippet.make(state.plan, state.shown.nonce, int(state.shown.until))


def look_asked(runbook: Runbook, state: RunState, event: ev.ByHandLookAsked) -> Outcome:
    if not state.is_by_hand or state.shown is None or state.plan is None:
        return Refused("No command of this run is being given by hand, so there is nothing to look for.")
    if state.asked is not None and event.at - state.asked_at < RING_SECONDS:
        return Refused("The node is looking already. Wait for its answer.")
    plan = state.plan
    params = {
        "operation": str(plan["operation"]),
        "params": json.dumps(plan["params"], sort_keys=True),
        "preconditions": json.dumps(plan["preconditions"], sort_keys=True),
        "nonce": state.shown.nonce,
    }
    asked = Asked(state.asks + 1, PROBE, params)
    record = ev.Record("run.by-hand-look", {"step": state.step, "plan_digest": state.plan_digest, "nonce": state.shown.nonce})
    return Decision(replace(state, asks=asked.number, asked=asked, asked_at=event.at), (ev.AskNode(PROBE, params, asked.number), record))


def seen(runbook: Runbook, state: RunState, event: ev.ByHandSeen) -> Outcome:
    """What the node shows becomes the order's outcome, or leaves it UNKNOWN and says why."""
    if not state.is_by_hand or state.asked is None or state.asked.number != event.number:
        return Refused("The run no longer waits for that look.")
    here = replace(state, asked=None)
    if why := _shows_nothing(state, event):
        return Decision(replace(here, note=f"{why} {_UNTIL_THEN}"), (_record(state, why),))
    moved = _outcome(event)
    return order_outcomes.order_moved(runbook, here, replace(moved, plan_digest=state.plan_digest))


def look_failed(state: RunState, event: ev.LookFailed) -> Decision:
    why = f"The node did not look: {event.reason}"
    return Decision(replace(state, asked=None, note=f"{why} {_UNTIL_THEN}"), (_record(state, why),))


def _record(state: RunState, why: str) -> ev.Record:
    return ev.Record("run.by-hand-not-shown", {"step": state.step, "plan_digest": state.plan_digest, "reason": why})


def _shows_nothing(state: RunState, event: ev.ByHandSeen) -> str:
    """Why this look says nothing of the command that was shown; "" when it does."""
    record, plan = event.result.get("record"), grounds.Grounds.from_plan(state.plan or {})
    if state.shown is None or plan is None or not event.taken_after >= state.shown.at:
        return "The look was taken before the command was shown."
    if not event.evidence:
        return "The look came without what it rests on."
    if not isinstance(record, Mapping) or record.get("nonce") != state.shown.nonce:
        return "The node shows no command that was run under the nonce of this showing."
    for name, value in (("hostid", plan.hostid), ("boot_id", plan.boot_id)):
        if record.get(name) != value or event.result.get(name) != value:
            return f"The {name} of the node or of its record is not the one that was planned ({value})."
    if record.get("ended") not in ("well", "badly"):
        return "The command was begun, and its end is not recorded: it is at work, or it was broken off."
    return ""


def _outcome(event: ev.ByHandSeen) -> ev.OrderMoved:
    """Only an exit code and an effect that agree settle it."""
    record, probe, reason = event.result["record"], str(event.result.get("probe", "")), str(event.result.get("reason", ""))
    code, well = str(record.get("exit_code", ""))[:3], record["ended"] == "well"
    reason = reason if ev.can_be_kept(reason) else ""
    output = record.get("output", "")
    status = "SUCCEEDED" if well and probe == "did" else "FAILED" if not well and probe == "did_not" else "UNKNOWN"
    why = f"Given by hand, it ended with exit code {code if code.isdigit() else 'unknown'}. {reason}".strip()
    # What a command did that exited 0 and shows no effect, or failed and shows one, is not known.
    return ev.OrderMoved(
        at=event.at, plan_digest="", status=status, reason=why, probe="" if status != "UNKNOWN" else "cannot_tell",
        evidence=event.evidence, output=output if ev.can_be_kept(output) else "",
    )  # fmt: skip

"""Applying a decision: state, plan, approvals, orders, locks and ledger, in the caller's one transaction."""

from dataclasses import replace
from datetime import datetime, timedelta

from agents.wire import canonical
from app.accounts.models import User
from app.doorbell import ring
from app.ledger import services as ledger
from app.runs import locks, sealing
from app.runs.models import Approval, Plan, Run
from workflows import events as ev
from workflows.core import Runbook
from workflows.engine import Decision, Refused, decide
from workflows.runbooks import RUNBOOKS
from workflows.state import ENDED, RunState


def apply(run: Run, event: ev.Event, actor: str, person: User | None, now: datetime) -> Refused | None:
    """Decide `event` on `run`, whose row the caller has locked, and do what was decided. Returns the refusal, if it is one.

    May raise locks.Held or sealing.NotEnrolled; the caller then rolls back to before this call.
    """
    runbook = RUNBOOKS.get(run.runbook)
    before = run.here
    if runbook is None or (before.step and before.step not in {step.slug for step in runbook.steps}):
        return Refused(f"The runbook {run.runbook} of this portal has no such step any more. What is under way on the node goes on.")
    outcome = decide(runbook, before, event)
    if isinstance(outcome, Refused):
        return outcome
    _keep_plan(run, before, outcome.state, now)
    _keep_approvals(before, outcome.state, person, now)
    run.step = outcome.state.step
    records = _do(run, runbook, outcome, person, now)
    _store(run, before, outcome.state, now)
    for record in records:
        ledger.record(record.type, dict(record.body), actor, run=str(run.pk), node=run.node)
    _ring(run, runbook, before, outcome.state)
    return None


def _do(run: Run, runbook: Runbook, decision: Decision, person: User | None, now: datetime) -> list[ev.Record]:
    """The effects in their order; returns what the ledger must hear, last."""
    records: list[ev.Record] = []
    fence = sealing.NO_FENCE
    run.due_at = None
    for effect in decision.effects:
        match effect:
            case ev.Lock(keys):
                fence = locks.take(run, keys, now)
            case ev.Unlock():
                locks.give_back(run)
            case ev.Seal():
                records.append(_sealed(sealing.execute(run, runbook.step(effect.step), effect, fence, person, now)))
            case ev.AskNode():
                records.append(_sealed(sealing.ask(run, effect, now)))
            case ev.Ring(due_seconds):
                run.due_at = now + timedelta(seconds=due_seconds)
            case ev.Record():
                records.append(effect)
    return records


def _sealed(order) -> ev.Record:
    ring(f"orders:{order.node}")
    return ev.Record("order.sealed", {"order": order.id, "operation": order.operation, "digest": order.digest, "fence": str(order.fence)})


def _keep_plan(run: Run, before: RunState, after: RunState, now: datetime) -> None:
    if after.plan is not None and after.plan_digest != before.plan_digest:
        ledger.keep(canonical(dict(after.plan)), "application/json")
        Plan.objects.create(digest=after.plan_digest, run=run, round=after.rounds, body=after.plan, made_at=now)


def _keep_approvals(before: RunState, after: RunState, person: User | None, now: datetime) -> None:
    for approval in after.approvals:
        if approval not in before.approvals:
            Approval.objects.create(plan_id=approval.plan_digest, approver=person, at=now)


def _store(run: Run, before: RunState, after: RunState, now: datetime) -> None:
    run.state, run.status = after.to_json(), after.status
    if _decided_on(after) != _decided_on(before):
        run.version += 1
    if after.status in ENDED:
        run.ended_at = now
    run.save(update_fields=["state", "step", "status", "version", "due_at", "ended_at"])


def _decided_on(state: RunState) -> RunState:
    """The state without what changes by itself while a page is open, such as how far a resilver is."""
    return replace(state, progress=None, verdicts=(), asks=0, asked=None, overdue=False, note="")


def _ring(run: Run, runbook: Runbook, before: RunState, after: RunState) -> None:
    ring(f"run:{run.pk}")
    if {"APPROVE"} & {runbook.step(s.step).kind for s in (before, after) if s.step}:
        ring("approvals")
    if before.status != after.status and {before.status, after.status} & {"new", *ENDED}:
        ring(f"node:{run.node}")
        ring("fleet")

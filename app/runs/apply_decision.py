"""Applying a decision: state, plan, approvals, orders, locks and ledger, in the caller's one transaction."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from agents.portal.wire import canonical
from app.accounts.models import User
from app.ledger import services as ledger
from app.ledger.models import LedgerEvent
from app.realtime.publish import ring
from app.runs import folded_reads, notifications
from app.runs.models import Approval, BrokenGlass, Hand, OpenLoop, Order, Plan, Run
from app.runs.ordering import locks, sealing
from workflows.engine import break_glass, plan_losses
from workflows.engine import events as ev
from workflows.engine.core import Runbook
from workflows.engine.decide import PLAN_AGE_SECONDS_MAX, Decision, Refused, approvals_needed, decide
from workflows.engine.state import ENDED, RunState
from workflows.runbooks import RUNBOOKS


class Asker(NamedTuple):
    """Whose doing it is: a name for the ledger and, when it is a person's, who and when it last typed its password."""

    name: str
    person: User | None = None
    proved_at: datetime | None = None


def apply(run: Run, event: ev.Event, asker: Asker, now: datetime) -> Refused | None:
    """Decide `event` on `run`, whose row the caller has locked, and do what was decided. Returns the refusal, if it is one.

    May raise locks.Held or sealing.CannotSeal; the caller then rolls back to before this call.
    """
    runbook = RUNBOOKS.get(run.runbook)
    before = run.here
    gone = before.step and before.step not in {step.slug for step in runbook.steps} if runbook else False
    if runbook is None or (gone and not isinstance(event, ev.LoopClosed)):
        return Refused(f"The runbook {run.runbook} of this portal has no such step any more. What is under way on the node goes on.")
    outcome = decide(runbook, before, event)
    if isinstance(outcome, Refused):
        return outcome
    _keep_plan(run, runbook, before, outcome.state, now)
    _keep_hands(run, before, outcome.state)
    run.step = outcome.state.step
    records = _do(run, runbook, outcome, asker, now)
    _store(run, before, outcome.state, now)
    _keep_loops(run, before, outcome.state)
    notifications.send_notices(run, runbook, before, outcome.state, by_person=asker.person is not None)
    if before.status == "waiting" and (before.step, before.since) != (outcome.state.step, outcome.state.since):
        folded_reads.record_folded(run, before)
    for record in records:
        recorded = ledger.record(record.type, dict(record.body), asker.name, run=str(run.pk), node=run.node)
        _keep_consent(run, record, recorded, asker, now)
    _ring(run, runbook, before, outcome.state)
    return None


def _do(run: Run, runbook: Runbook, decision: Decision, asker: Asker, now: datetime) -> list[ev.Record]:
    """The effects in their order; returns what the ledger must hear, last."""
    records: list[ev.Record] = []
    fence = sealing.NO_FENCE
    run.due_at = None
    for effect in decision.effects:
        match effect:
            case ev.Lock(keys):
                fence = locks.take(run, keys, now, several(decision.state))
            case ev.Unlock():
                locks.give_back(run)
            case ev.Seal():
                order = sealing.execute(run, runbook.step(effect.step), effect, fence, asker.person, now, asker.proved_at)
                ring(f"orders:{order.node}")
                records.append(_sealed(order))
            case ev.AskNode():
                again = effect.operation == "look" and not folded_reads.is_first(run, decision.state)
                order = sealing.ask(run, effect, now)
                ring(f"orders:{order.node}")
                records += [] if again else [_sealed(order)]
            case ev.Ring(due_seconds):
                run.due_at = now + timedelta(seconds=due_seconds)
            case ev.Record():
                records.append(effect)
            case ev.Show():
                sealing.show(run, runbook.step(effect.step), effect, asker.person, now)
                ledger.keep(effect.snippet.encode(), "text/plain")
    return records


def several(state: RunState) -> tuple[str, ...]:
    """The disks that the plan takes in together."""
    return tuple((state.plan or {}).get("params", {}).get("wwids", "").split())


def _sealed(order: Order) -> ev.Record:
    fields = {"order": order.id, "operation": order.operation, "digest": order.digest, "fence": str(order.fence)}
    return ev.Record("order.sealed", {**fields, "signature": order.signature, "key": order.signed_by})


def _keep_plan(run: Run, runbook: Runbook, before: RunState, after: RunState, now: datetime) -> None:
    if after.plan is not None and after.plan_digest != before.plan_digest:
        ledger.keep(canonical(dict(after.plan)), "application/json")
        fields = {"approvals_needed": _needed(runbook, before.step), "accepts": plan_losses.to_accept(after.plan)}
        Plan.objects.create(digest=after.plan_digest, run=run, round=after.rounds, body=after.plan, made_at=now, **fields)


def _needed(runbook: Runbook, plan_step: str) -> int:
    """How many must approve what is planned at this step: as many as its EXECUTE asks for."""
    later = runbook.steps[runbook.place(plan_step) :]
    return next((approvals_needed(runbook, step) for step in later if step.kind == "EXECUTE"), 1)


def _keep_hands(run: Run, before: RunState, after: RunState) -> None:
    new = [name for name in after.hands if name not in before.hands]
    Hand.objects.bulk_create([Hand(run=run, person=person) for person in User.objects.filter(username__in=new)])


def _keep_consent(run: Run, record: ev.Record, event: LedgerEvent, asker: Asker, now: datetime) -> None:
    """An approval and a broken glass are kept under the leaf of the event that records them; the database looks it up."""
    if record.type not in ("run.approved", "run.glass-broken"):
        return
    if asker.person is None:
        raise sealing.CannotSeal("The request has no signed-in person to approve the plan. Sign in, and try again.")
    digest = str(record.body.get("plan_digest", ""))
    known = {"at": now, "proved_at": asker.proved_at, "leaf": bytes(event.leaf).hex(), "plan_id": digest}
    if record.type == "run.approved":
        made_at = Plan.objects.values_list("made_at", flat=True).get(pk=digest)
        until = min(now, made_at) + timedelta(seconds=PLAN_AGE_SECONDS_MAX)
        Approval.objects.create(approver=asker.person, expires_at=until, **known)
    else:
        until = now + timedelta(seconds=break_glass.SECONDS)
        BrokenGlass.objects.create(run=run, person=asker.person, reason=record.body["reason"], expires_at=until, **known)
        ring("approvals")


def _store(run: Run, before: RunState, after: RunState, now: datetime) -> None:
    run.state, run.status = after.to_json(), after.status
    if _decided_on(after) != _decided_on(before):
        run.version += 1
    if after.status in ENDED and run.ended_at is None:  # a loop that is closed later does not end it again
        run.ended_at = now
    run.save(update_fields=["state", "step", "status", "version", "due_at", "ended_at"])


def _keep_loops(run: Run, before: RunState, after: RunState) -> None:
    """What stands open, in a table of its own: it outlives the run and is asked for on every page."""
    if before.loops == after.loops:
        return
    OpenLoop.objects.filter(run=run).exclude(loop__in=[one.loop for one in after.loops]).delete()
    known = set(OpenLoop.objects.filter(run=run).values_list("loop", flat=True))
    OpenLoop.objects.bulk_create(
        OpenLoop(run=run, node=run.node, loop=one.loop, what=one.what, undo=one.undo, by=one.by, at=datetime.fromtimestamp(one.at, UTC))
        for one in after.loops
        if one.loop not in known
    )
    ring("loops")
    ring("fleet")  # its head counts them


def _decided_on(state: RunState) -> RunState:
    """The state without what changes by itself while a page is open, such as how far a resilver is."""
    return replace(state, progress=None, verdicts=(), asks=0, asked=None, overdue=False, note="")


def _ring(run: Run, runbook: Runbook, before: RunState, after: RunState) -> None:
    ring(f"run:{run.pk}")
    if {"APPROVE"} & {runbook.step(s.step).kind for s in (before, after) if s.step}:
        ring("approvals")
    if before.alarm != after.alarm:
        ring("alarms")
    if before.status != after.status and {before.status, after.status} & {"new", *ENDED}:
        ring(f"node:{run.node}")
        ring("fleet")

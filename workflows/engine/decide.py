"""decide(runbook, state, event): the only place that says what may happen next in a run.

Pure and total: the same three values always give the same answer, and an event that cannot happen here is
`Refused` with a reason. Only a guard that passes lets a run move; not knowing is a refusal. A plan gets at most
one order, for ever. An outcome that is not known stays UNKNOWN until the node shows evidence or two people agree.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from workflows.engine import break_glass, by_hand, going_back, locks, manual_answers, order_outcomes, plan_losses, plans
from workflows.engine import events as ev
from workflows.engine.core import (
    ApproveStep,
    CheckStep,
    ConfirmStep,
    DecideStep,
    ExecuteStep,
    ManualStep,
    PlanStep,
    Runbook,
    Step,
    Verdict,
    VerifyStep,
    WaitStep,
    ask,
    blockers,
    goes_by_hand,
    refuse,
    warnings,
)
from workflows.engine.manual_answers import bad_param
from workflows.engine.state import ENDED, Approval, Asked, OrderSeen, RunState
from workflows.engine.transitions import (
    RING_SECONDS,
    Decision,
    Refused,
    back,
    blocked,
    blocked_by_hand,
    enter,
    finish,
    lines,
    look,
    plan_behind,
    still_waiting,
    trim,
    void,
    with_hand,
)
from workflows.facts import known

__all__ = ["Decision", "Refused", "decide"]

WARNINGS = "warnings"  # of a plan: whoever approves it has read them
S = TypeVar("S", bound=Step)
PLAN_AGE_SECONDS_MAX = 1800  # an older plan was made from a pool that was not read since


Outcome = Decision | Refused


def decide(runbook: Runbook, state: RunState, event: ev.Event) -> Outcome:
    """What `event` makes of `state`."""
    handler = _HANDLERS.get(type(event))
    if handler is None:
        return Refused(f"A run has no use for {type(event).__name__}. Nothing was done.")
    if bad := ev.misfit(event):
        return Refused(f"{type(event).__name__} came with a {bad} that cannot be read. Nothing was done; send it again as it is meant.")
    if state.status in ENDED and not isinstance(event, ev.LoopClosed):
        return Refused(f"This run is {state.status}. Start a new one if there is more to do.")
    if state.status != "new" and all(step.slug != state.step for step in runbook.steps):
        return Refused(
            f"This runbook has no step {state.step} any more. What is under way on the node goes on; inform the person who changed the runbook."
        )
    if (state.status == "new") != isinstance(event, ev.Start):
        return Refused("This run has begun already." if state.status != "new" else "This run has not begun yet. Start it first.")
    return handler(runbook, state, event)


# --- the beginning and the end


def _start(runbook: Runbook, state: RunState, event: ev.Start) -> Outcome:
    for name, meaning in runbook.params.items():
        if bad := bad_param(state.params.get(name)):
            return Refused(f"{name} ({meaning}) {bad}. Start the run from its situation.")
    if extra := sorted(set(state.params) - set(runbook.params)):
        return Refused(f"This runbook has no parameter {', '.join(extra)}. Start the run from its situation.")
    if not event.by or event.by != state.requester:
        return Refused("A run begins with the person who asks for it.")
    begun = replace(state, hands=(event.by,))
    return enter(runbook, begun, runbook.steps[0], event, ev.Record("run.started", {"runbook": runbook.slug, "params": dict(state.params)}))


# --- steps a person does


def _chosen(runbook: Runbook, state: RunState, event: ev.Chosen) -> Outcome:
    step = _open_step(runbook, state, DecideStep, event)
    if isinstance(step, Refused):
        return step
    picked = next((o for o in step.options(event.facts, state.params) if o.value == event.value), None)
    if picked is None:
        text = f"“{event.value}”" if event.value else "An empty choice"
        return Refused(f"{text} is not among the options. Reload to see what the node has now.")
    if picked.leads_to and picked.leads_to not in step.branches:
        return Refused(
            f"{picked.title} leads to {picked.leads_to}, which this step does not declare. Report this as a fault of the runbook."
        )
    if strange := sorted(set(picked.fixes) - set(step.learned)):
        return Refused(
            f"{picked.title} settles {', '.join(strange)}, which this step does not declare. Report this as a fault of the runbook."
        )
    params = {**state.params, **picked.fixes, step.param: picked.value}
    verdicts = picked.verdicts + ask(step.guards, event.facts, params)
    if _stops(verdicts, event):
        return Refused(f"{picked.title} cannot be chosen.", verdicts)
    chosen = replace(with_hand(state, event.by), params=params)
    return finish(
        runbook,
        chosen,
        event,
        f"{picked.title}",
        verdicts,
        ev.Record("run.chosen", {"param": step.param, "value": picked.value, "title": picked.title, "verdicts": lines(verdicts)}),
        leads_to=picked.leads_to,
    )


def _check_asked(runbook: Runbook, state: RunState, event: ev.CheckAsked) -> Outcome:
    step = _open_step(runbook, state, CheckStep, event)
    if isinstance(step, Refused):
        return step
    verdicts = ask(step.guards, event.facts, state.params)
    if _stops(verdicts, event):
        return Refused(f"{step.title}: not everything needed is known to be so.", verdicts)
    return finish(
        runbook,
        state,
        event,
        f"{len(verdicts)} checks passed." if not blocked(verdicts) else _GOES_BY_HAND,
        verdicts,
        ev.Record("run.checked", {"step": step.slug, "verdicts": lines(verdicts)}),
    )


_GOES_BY_HAND = "All checks passed that are about the command itself. No order is made of it here; it is given by hand."


def _stops(verdicts: tuple[Verdict, ...], event: ev.Chosen | ev.CheckAsked) -> bool:
    return blocked_by_hand(verdicts) if event.by_hand else blocked(verdicts)


def _hands_done(runbook: Runbook, state: RunState, event: ev.HandsDone) -> Outcome:
    step = _open_step(runbook, state, ManualStep, event)
    if isinstance(step, Refused):
        return step
    return manual_answers.hands_done(runbook, state, step, event)


def _confirmed(runbook: Runbook, state: RunState, event: ev.Confirmed) -> Outcome:
    step = _open_step(runbook, state, ConfirmStep, event)
    if isinstance(step, Refused):
        return step
    if state.plan is None:
        return Refused("There is no plan to confirm. Ask the node for one.")
    if event.text.strip() != step.phrase(state.params, state.plan):
        return Refused(f"What was typed is not what the plan says. {step.phrase_hint}")
    record = ev.Record("run.confirmed", {"step": step.slug, "typed": event.text.strip(), "plan_digest": state.plan_digest})
    return finish(runbook, with_hand(state, event.by), event, f"Typed: {event.text.strip()}", (), record)


# --- the plan


def _plan_asked(runbook: Runbook, state: RunState, event: ev.PlanAsked | ev.PlanByHandAsked) -> Outcome:
    step = plan_behind(runbook, state)
    if step is None or not (event.by or step.unattended):
        return Refused("No plan can be asked for at this step.")
    if state.status == "planning":
        return Refused("The node is making a plan already. Wait for its answer.")
    if why := going_back.cannot_go_back(state):
        return Refused(why)
    verdicts, for_a_person = ask(step.guards, event.facts, state.params), isinstance(event, ev.PlanByHandAsked)
    if not for_a_person and blocked(verdicts):
        return Refused("No plan is asked for while a check refuses it.", verdicts)
    if for_a_person and not (goes_by_hand(verdicts) or by_hand.order_was_not_taken(runbook, state, step, verdicts)):
        return Refused(_not_by_hand(verdicts), verdicts)
    params = dict(step.params(event.facts, state.params))
    if bad := [f"{name} {why}" for name, value in sorted(params.items()) if (why := bad_param(value))]:
        return Refused(f"{', '.join(bad)}, so the node cannot be asked for a plan. Go back and choose again.", verdicts)
    before = void(trim(runbook, state, step))
    asked = Asked(before.asks + 1, step.operation, params, for_a_person)
    planning = replace(
        with_hand(before, event.by), step=step.slug, status="planning", since=event.at, asks=asked.number, asked=asked, verdicts=verdicts
    )
    planning = replace(planning, note="The node is making the plan. It changes nothing.")
    record = ev.Record("run.plan-asked", {"step": step.slug, "operation": step.operation, "params": params, "verdicts": lines(verdicts)})
    wanted = plans.ask_params(step.operation, params, for_a_person)
    return Decision(planning, (ev.Unlock(), ev.AskNode("plan", wanted, asked.number), ev.Ring(RING_SECONDS), record))


def _not_by_hand(verdicts: tuple[Verdict, ...]) -> str:
    if blockers(verdicts):
        return "A check refuses the command itself, so it is not given by hand either."
    return "The portal may order this, so the command need not be given by hand. Ask the node for a plan."


def _plan_arrived(runbook: Runbook, state: RunState, event: ev.PlanArrived) -> Outcome:
    if state.status != "planning" or state.asked is None or state.asked.number != event.number:
        return Refused("The run no longer waits for this plan.")
    step = runbook.step(state.step)
    if not isinstance(step, PlanStep):
        return Refused("The run no longer waits for this plan.")
    verdicts = tuple(refuse(why) for why in plans.problems(event.plan, state.asked.operation, state.asked.params))
    if not verdicts and step.agrees is not None:
        verdicts = step.agrees(event.facts, state.params, event.plan)
    if blockers(verdicts):
        return _plan_is_no_good(state, event, "The node's plan cannot be used.", verdicts)
    added = dict(step.adds(event.facts, state.params, event.plan)) if step.adds else {}
    if state.asked.by_hand:
        grounds = by_hand.grounds_of(event.facts, state.params, event.plan)
        if not known(grounds):
            return _plan_is_no_good(state, event, f"It cannot be done by hand: {grounds.reason}", ())
        added |= grounds
    sentences = list(warnings(step, event.facts, state.params))
    ours = (WARNINGS, by_hand.IN_PLAN)
    from_node = {name: value for name, value in event.plan.items() if name not in ours}  # the node says nothing in our words
    # the round keeps approvals of an equal older plan from counting
    plan = {**from_node, **added, **({WARNINGS: sentences} if sentences else {}), "round": str(state.rounds + 1)}
    planned = replace(state, rounds=state.rounds + 1, plan=plan, plan_digest=plans.digest(plan), planned_at=event.at, asked=None)
    record = ev.Record("run.planned", {"step": step.slug, "plan_digest": planned.plan_digest, "argv": plan["argv"], WARNINGS: sentences})
    return finish(runbook, planned, event, "The node made the plan.", state.verdicts + verdicts, record)


def _plan_failed(runbook: Runbook, state: RunState, event: ev.PlanFailed) -> Outcome:
    if state.status != "planning" or state.asked is None or state.asked.number != event.number:
        return Refused("The run no longer waits for this plan.")
    return _plan_is_no_good(state, event, f"There is no plan: {event.reason}", ())


def _plan_is_no_good(state: RunState, event: ev.Event, why: str, verdicts: tuple[Verdict, ...]) -> Decision:
    back = replace(state, status="open", asked=None, note=why, verdicts=verdicts, since=event.at)
    return Decision(back, (ev.Record("run.plan-failed", {"step": state.step, "reason": why, "verdicts": lines(verdicts)}),))


# --- approval


def _approved(runbook: Runbook, state: RunState, event: ev.Approved) -> Outcome:
    step = _open_step(runbook, state, ApproveStep, event)
    if isinstance(step, Refused):
        return step
    if why := _may_not_judge(state, event.by, event.plan_digest) or _plan_is_old(state, event.at):
        return Refused(why)
    if any(a.by == event.by for a in state.approvals):
        return Refused("You have approved this plan already. Another person must be the next.")
    if why := plan_losses.not_accepted(state.plan or {}, event.accepted):
        return Refused(why)
    judged = replace(state, approvals=(*state.approvals, Approval(event.by, event.plan_digest, event.at)))
    record = ev.Record("run.approved", {"step": step.slug, "plan_digest": event.plan_digest, **plan_losses.on_record(state.plan or {})})
    if len(judged.approvals) < max(step.approvals, 1):
        return Decision(replace(judged, note=f"{len(judged.approvals)} of {step.approvals} people approved."), (record,))
    return finish(runbook, judged, event, "Approved by " + ", ".join(a.by for a in judged.approvals) + ".", (), record)


def _denied(runbook: Runbook, state: RunState, event: ev.Denied) -> Outcome:
    step = _open_step(runbook, state, ApproveStep, event)
    if isinstance(step, Refused):
        return step
    if why := _may_not_judge(state, event.by, event.plan_digest):
        return Refused(why)
    if not event.reason.strip():
        return Refused("Say why the plan is denied, so that the next one can be better.")
    plan_step = plan_behind(runbook, state)
    if plan_step is None:
        return Refused("No step of this runbook made the plan that is judged here. End this run.")
    record = ev.Record("run.denied", {"step": step.slug, "plan_digest": event.plan_digest, "reason": event.reason.strip()})
    return back(runbook, state, plan_step, event, f"{event.by} denied the plan: {event.reason.strip()}", (record,))


def _glass_broken(runbook: Runbook, state: RunState, event: ev.GlassBroken) -> Outcome:
    step = _open_step(runbook, state, ApproveStep, event)
    if isinstance(step, Refused):
        return step
    why = _plan_is_old(state, event.at) or plan_losses.not_accepted(state.plan or {}, event.accepted)
    return Refused(why) if why else break_glass.broken(runbook, state, step, event)


def _may_not_judge(state: RunState, person: str, plan_digest: str) -> str:
    if person in state.hands or person == state.requester:
        return "Who asked for or shaped this run cannot approve it. Ask another person."
    if not state.plan_digest or plan_digest != state.plan_digest:
        return "The plan has changed since it was shown. Reload and read the new one."
    return ""


def _plan_is_old(state: RunState, at: float) -> str:
    if at < state.planned_at:
        return "The portal's clock stands before the moment this plan was made. Set the clock, then ask the node for a new plan."
    return "The plan is older than half an hour. Ask the node for a new one." if at - state.planned_at > PLAN_AGE_SECONDS_MAX else ""


# --- the order


def _execute_asked(runbook: Runbook, state: RunState, event: ev.ExecuteAsked) -> Outcome:
    step = _open_step(runbook, state, ExecuteStep, event)
    if isinstance(step, Refused):
        return step
    if by_hand.IN_PLAN in (state.plan or {}):
        return Refused("This plan is to be carried out by hand, and no order is made of it. Ask for the command, or for a new plan.")
    if why := _not_ready(runbook, state, step, event):
        return Refused(why)
    verdicts = ask(step.guards, event.facts, state.params)
    if blocked(verdicts):
        return Refused(f"{step.title}: not everything needed is known to be so now. Nothing was sent.", verdicts)
    keys = locks.needed(runbook, state, event.facts)
    if not keys:
        return Refused("Which pool, disk and bay to lock is not known, so nothing was sent. Have the node look again.", verdicts)
    plan: Mapping[str, Any] = state.plan or {}
    seal = ev.Seal(
        step.slug, step.operation, step.effect, dict(plan["params"]), tuple(plan["argv"]), dict(plan["preconditions"]), state.plan_digest
    )
    ordered = replace(
        with_hand(state, event.by), status="ordered", since=event.at, verdicts=verdicts, sealed=(*state.sealed, state.plan_digest)
    )
    ordered = replace(
        ordered, order=OrderSeen(state.plan_digest, "SEALED", at=event.at, by=event.by), note="The order is sealed and waits for the node."
    )
    record = ev.Record(
        "run.ordered",
        {"step": step.slug, "plan_digest": state.plan_digest, "argv": list(seal.argv), "locks": list(keys), "verdicts": lines(verdicts)}
        | plan_losses.on_record(plan),
    )
    return Decision(ordered, (ev.Lock(keys), seal, ev.Ring(RING_SECONDS), record))


def _by_hand_asked(runbook: Runbook, state: RunState, event: ev.ByHandAsked) -> Outcome:
    """The same as for an order, without what refuses an order alone."""
    step = _open_step(runbook, state, ExecuteStep, event)
    if isinstance(step, Refused):
        return step
    if why := _not_ready(runbook, state, step, event):
        return Refused(why)
    verdicts = ask(step.guards, event.facts, state.params)
    if blocked_by_hand(verdicts):
        return Refused(f"{step.title}: not everything needed is known to be so now. Nothing is shown.", verdicts)
    keys = locks.needed(runbook, state, event.facts)
    if not keys:
        return Refused("Which pool, disk and bay to lock is not known, so nothing is shown. Have the node look again.", verdicts)
    return by_hand.show(with_hand(state, event.by), step, event, keys, verdicts)


def _not_ready(runbook: Runbook, state: RunState, step: ExecuteStep, event: ev.ExecuteAsked | ev.ByHandAsked) -> str:
    """Everything but the guards that must be so before an order is sealed."""
    if state.plan is None or not state.plan_digest:
        return "There is no plan. Ask the node for one."
    if plans.digest(state.plan) != state.plan_digest:
        return "The plan was changed outside the portal since it was made. Nothing was sent. Ask for a new plan."
    if state.plan_digest in state.sealed:
        return "This plan has had its one order. Ask for a new plan."
    if why := _plan_is_old(state, event.at):
        return why
    if state.plan["operation"] != step.operation or state.plan["params"] != dict(step.params(event.facts, state.params)):
        return "The plan is not for what this step would do now. Ask for a new plan."
    judges = {a.by for a in state.approvals if a.plan_digest == state.plan_digest} - set(state.hands)
    if event.by in judges:
        return "Who approved the plan cannot also carry it out. Ask the requester or a third person."
    needed = approvals_needed(runbook, step)
    missing = break_glass.missing(state, event, len(judges), needed) if len(judges) < needed else ""
    return missing or plan_losses.not_accepted(state.plan, event.accepted)


def approvals_needed(runbook: Runbook, step: Step) -> int:
    """Those asked for since the last order: what was approved before was another plan."""
    before = runbook.steps[: runbook.place(step.slug)]
    since = max((i + 1 for i, s in enumerate(before) if s.kind == "EXECUTE"), default=0)
    asked = [s.approvals for s in before[since:] if isinstance(s, ApproveStep)]
    return max([*asked, 1 if step.needs_approval else 0])


# --- waiting on facts


def _facts_arrived(runbook: Runbook, state: RunState, event: ev.FactsArrived) -> Outcome:
    if state.status != "waiting":
        return Refused("This run does not wait for facts.")
    step = runbook.step(state.step)
    if isinstance(step, VerifyStep):
        return _verify(runbook, state, step, event)
    if isinstance(step, WaitStep):
        return _wait(runbook, state, step, event)
    return Refused("This run does not wait for facts.")


def _wait(runbook: Runbook, state: RunState, step: WaitStep, event: ev.FactsArrived) -> Outcome:
    if step.keeps is not None:
        state = replace(state, params={**state.params, **step.keeps(event.facts, state.params, event.at)})
    progress = step.progress(event.facts, state.params) if step.progress else None
    verdicts = ask((step.until,), event.facts, state.params)
    after = state.order.at if state.order else state.since
    seen = replace(state, progress=progress, verdicts=verdicts, note=_CLOCK_WENT_BACK if event.at < after else state.note)
    if step.alarm is not None and (against := blockers(ask((step.alarm,), event.facts, state.params))):
        return going_back.alarmed(seen, step, against, event.number)
    seen = replace(seen, alarm="")
    looked = state.asked is not None and event.number == state.asked.number and event.taken_after >= after
    if not blockers(verdicts) and (looked or _asked_after(event, state.params, after, step.sources)):
        return finish(
            runbook, seen, event, verdicts[0].reason, verdicts, ev.Record("run.waited", {"step": step.slug, "verdicts": lines(verdicts)})
        )
    if step.lasts is not None and event.at - state.since >= step.lasts(state.params):
        record = ev.Record("run.waited", {"step": step.slug, "verdicts": lines(verdicts)})
        return finish(runbook, seen, event, "The time for this is over.", verdicts, record)
    records: tuple[ev.Record, ...] = ()
    late = event.at - state.since > step.deadline_seconds
    if late and not state.overdue:
        seen = replace(seen, overdue=True, note="This takes longer than expected. Nothing is broken off; look at the node.")
        records = (ev.Record("run.overdue", {"step": step.slug, "verdicts": lines(verdicts)}),)
    waiting = still_waiting(seen, step, event.number)
    return Decision(waiting.state, (*waiting.effects, *records))


_CLOCK_WENT_BACK = "The portal's clock stands before the moment this step began, so whether a report is newer is not known. Set the clock; the run then goes on by itself."


def _asked_after(event: ev.FactsArrived, params: Mapping[str, str], moment: float, sources: tuple[str, ...]) -> bool:
    """Whether the node reported, and every one of `sources` was read, after this moment."""
    node = event.facts.nodes.get(params.get("node", ""))
    if node is None or not event.at - node.age_seconds > moment:
        return False
    ages = node.ages if known(node.ages) else {}
    return all(source in ages and event.at - ages[source] > moment for source in sources)


def _verify(runbook: Runbook, state: RunState, step: VerifyStep, event: ev.FactsArrived) -> Outcome:
    if state.asked is None:
        return look(state, step)
    if event.number != state.asked.number:
        return Decision(state, (ev.Ring(RING_SECONDS),))
    if event.taken_after < state.since:  # the clock was set back; that look is over, so another is asked for
        return Decision(replace(state, asked=None, note=_CLOCK_WENT_BACK), (ev.Ring(RING_SECONDS),))
    verdicts = ask(step.guards, event.facts, state.params)
    seen = replace(state, asked=None, verdicts=verdicts)
    record = ev.Record("run.verified", {"step": step.slug, "verdicts": lines(verdicts)})
    if blocked(verdicts):
        unverified = replace(seen, note="Not everything is as it should be afterwards. The node looks again every few seconds.")
        recorded = () if verdicts == state.verdicts else (ev.Record("run.not-verified", record.body),)
        return Decision(unverified, (ev.Ring(RING_SECONDS), *recorded))
    return finish(runbook, seen, event, "All is as it should be.", verdicts, record)


def _look_failed(runbook: Runbook, state: RunState, event: ev.LookFailed) -> Outcome:
    if state.is_by_hand and state.asked is not None and state.asked.number == event.number:
        return by_hand.look_failed(state, event)
    if state.status != "waiting" or state.asked is None or state.asked.number != event.number:
        return Refused("The run no longer waits for that look.")
    note = f"The node did not look again: {event.reason} It is asked again."
    return Decision(replace(state, asked=None, note=note), (ev.Ring(RING_SECONDS),))


def _open_step(runbook: Runbook, state: RunState, kind: type[S], event: ev.Event) -> S | Refused:
    step = runbook.step(state.step)
    if not event.by and not step.unattended:
        return Refused("This step needs a person.")
    if not isinstance(step, kind) or state.status != "open":
        return Refused(f"This run is at the step “{step.title}” and cannot do that now. Reload to see what it asks for.")
    return step


_HANDLERS: Mapping[type, Callable[[Runbook, RunState, Any], Outcome]] = {
    ev.Start: _start,
    ev.Chosen: _chosen,
    ev.CheckAsked: _check_asked,
    ev.HandsDone: _hands_done,
    ev.Corrected: manual_answers.corrected,
    ev.PlanAsked: _plan_asked,
    ev.PlanByHandAsked: _plan_asked,
    ev.PlanArrived: _plan_arrived,
    ev.PlanFailed: _plan_failed,
    ev.LookFailed: _look_failed,
    ev.Confirmed: _confirmed,
    ev.Approved: _approved,
    ev.Denied: _denied,
    ev.GlassBroken: _glass_broken,
    ev.ExecuteAsked: _execute_asked,
    ev.ByHandAsked: _by_hand_asked,
    ev.ByHandLookAsked: by_hand.look_asked,
    ev.ByHandSeen: by_hand.seen,
    ev.OrderMoved: order_outcomes.reported,
    ev.FactsArrived: _facts_arrived,
    ev.Settled: order_outcomes.settled,
    ev.WentBack: going_back.went_back,
    ev.Aborted: going_back.aborted,
    ev.LoopClosed: going_back.loop_closed,
}

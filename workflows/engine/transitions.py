"""Moving a run from step to step: what is kept, what is forgotten, what the next step asks of the node at once."""

from dataclasses import dataclass, replace

from workflows.engine import events as ev
from workflows.engine.core import ExecuteStep, PlanStep, Runbook, Step, Verdict, ask, blockers
from workflows.engine.state import Asked, Ending, Finished, OpenLoop, RunState, Status

RING_SECONDS = 15
NOT_TAKEN = ("REFUSED", "EXPIRED")  # ends of an order after which the command certainly did not run
LOOK_SECONDS = 4  # from the answer to one look to the next, while a technician works at the rack
UNATTENDED_SECONDS = 1  # until the portal takes a step that needs no person


@dataclass(frozen=True)
class Decision:
    state: RunState
    effects: tuple[ev.Effect, ...]


@dataclass(frozen=True)
class Refused:
    """Nothing changed. `verdicts` holds every answer that was asked for, passes included."""

    reason: str
    verdicts: tuple[Verdict, ...] = ()


def look(state: RunState, step: Step) -> Decision:
    asked = Asked(state.asks + 1, "look", {"sources": ",".join(step.sources)})
    return Decision(replace(state, asks=asked.number, asked=asked), (ev.AskNode("look", asked.params, asked.number), ev.Ring(RING_SECONDS)))


def still_waiting(state: RunState, step: Step, number: int = 0) -> Decision:
    """Come back for what the node says; with hands in the rack have it look every few seconds. `number` is the look just answered."""
    if not step.at_the_rack:
        return Decision(state, (ev.Ring(RING_SECONDS),))
    if state.asked is None:
        return look(state, step)
    if number == state.asked.number:
        return Decision(replace(state, asked=None), (ev.Ring(LOOK_SECONDS),))
    return Decision(state, (ev.Ring(RING_SECONDS),))


def finish(
    runbook: Runbook,
    state: RunState,
    event: ev.Event,
    note: str,
    verdicts: tuple[Verdict, ...],
    record: ev.Record,
    leads_to: str = "",
) -> Decision:
    """Put this step behind us and enter the one that follows, or end."""
    step = runbook.step(state.step)
    done = replace(
        state, finished=(*state.finished, Finished(state.step, _actor(state, event), event.at, note)), verdicts=verdicts, note=note
    )
    done, records = _loops_moved(done, step, event)
    return _onward(runbook, done, runbook.following(step, leads_to), event, (record, *records))


def failed(runbook: Runbook, state: RunState, event: ev.OrderMoved, record: ev.Record) -> Decision:
    """The command had no effect, and the runbook has a step to go on with. It opened and closed nothing."""
    step = runbook.step(state.step)
    text = "The command failed and changed nothing" if event.status == "FAILED" else "The order was refused and nothing was run"
    note = f"{text}: {event.reason}"
    done = replace(state, finished=(*state.finished, Finished(step.slug, _actor(state, event), event.at, note, failed=True)), note=note)
    onward = _onward(runbook, done, runbook.step(step.fails_to), event, (record,))
    consequence = step.fails_means if isinstance(step, ExecuteStep) else ""
    means = f"“{step.title}” did not succeed: {(event.reason or 'no reason was given').rstrip('.')}. {consequence}"
    return replace(onward, state=replace(onward.state, note=means))


def _actor(state: RunState, event: ev.Event) -> str:
    """Who acted: the person of this event, or whoever gave the order that a node reports on. Empty where no person acted."""
    return event.by or (state.order.by if isinstance(event, ev.OrderMoved) and state.order else "")


def enter(runbook: Runbook, state: RunState, step: Step, event: ev.Event, *records: ev.Record) -> Decision:
    """Stand at `step`, or behind it when it is not needed. Not knowing whether it is needed means that it is."""
    there = replace(state, step=step.slug, since=event.at, note="", verdicts=(), asked=None, progress=None, overdue=False, alarm="")
    if why := _not_needed(there, step, event):
        return _pass_over(runbook, there, step, event, why, records)
    if step.kind == "PLAN":
        there = void(there)  # the plan of an earlier order is no plan for this one
    if step.kind == "VERIFY":
        looking = look(replace(there, status="waiting"), step)
        return Decision(looking.state, (*records, *looking.effects))
    if step.kind == "WAIT":
        waiting = still_waiting(replace(there, status="waiting"), step)
        return Decision(waiting.state, (*records, *waiting.effects))
    ring = (ev.Ring(UNATTENDED_SECONDS),) if step.unattended else ()
    return Decision(replace(there, status="open"), (*records, *ring))


def _onward(runbook: Runbook, state: RunState, step: Step | None, event: ev.Event, records: tuple[ev.Record, ...]) -> Decision:
    if step is not None:
        return enter(runbook, state, step, event, *records)
    if state.loops and runbook.undo and not state.ending:
        return turn_back(runbook, state, event, "done", records)
    return end(replace(state, note=_put_back(state)) if state.ending == "aborted" else state, event, state.ending or "done", records)


def _put_back(state: RunState) -> str:
    """Of the last step of the way back "all is as it should be" holds; of a run that was ended before its end it does not."""
    left = (
        f"This stays as it is: {' '.join(open_.what for open_ in state.loops)}" if state.loops else "What it had switched on is put back."
    )
    return f"The run did not come to its end. {left}"


def _not_needed(state: RunState, step: Step, event: ev.Event) -> str:
    """Why `step` may be passed over; "" when it may not."""
    if step.undoes and all(open_.loop != step.undoes for open_ in state.loops):
        return "There is nothing to put back."
    facts = getattr(event, "facts", None)
    if step.needed is None or facts is None:
        return ""
    verdict = ask((step.needed,), facts, state.params)[0]
    return verdict.reason if verdict.outcome == "refuse" else ""


def _pass_over(runbook: Runbook, state: RunState, step: Step, event: ev.Event, why: str, records: tuple[ev.Record, ...]) -> Decision:
    order = runbook.order_of(step)
    passed = tuple(Finished(s.slug, "", event.at, why, passed_over=True) for s in order)
    record = ev.Record("run.passed-over", {"steps": [s.slug for s in order], "reason": why})
    behind = replace(state, step=order[-1].slug, finished=(*state.finished, *passed), note=why)
    return _onward(runbook, behind, runbook.following(order[-1]), event, (*records, record))


def _loops_moved(state: RunState, step: Step, event: ev.Event) -> tuple[RunState, tuple[ev.Record, ...]]:
    """What this step opened, and what it closed."""
    closed = tuple(open_ for open_ in state.loops if open_.loop in step.closes)
    kept = tuple(open_ for open_ in state.loops if open_.loop not in step.closes)
    records = [ev.Record("loop.closed", {"loop": open_.loop, "what": open_.what, "step": step.slug}) for open_ in closed]
    if step.opens and all(open_.loop != step.opens.slug for open_ in kept):
        opened = OpenLoop(
            step.opens.slug, step.opens.what(state.params), step.opens.undo, step.slug, _actor(state, event) or "portal", event.at
        )
        kept = (*kept, opened)
        records.append(
            ev.Record("loop.opened", {"loop": opened.loop, "what": opened.what, "undo": opened.undo, "step": step.slug, "by": opened.by})
        )
    return replace(state, loops=kept), tuple(records)


def turn_back(runbook: Runbook, state: RunState, event: ev.Event, ending: Ending, records: tuple[ev.Record, ...]) -> Decision:
    """The run ends only when what it switched on is off again."""
    going = void(replace(state, ending=ending, ended_by=event.by if ending == "aborted" else ""))
    fields = {"step": state.step, "ending": ending, "reason": state.note, "open": [open_.what for open_ in state.loops]}
    record = ev.Record("run.turned-back", fields)  # the note is that of the next step from now on, so the reason stands here
    back_there = enter(runbook, going, runbook.step(runbook.undo), event, *records, record)
    return replace(back_there, effects=(ev.Unlock(), *back_there.effects))


def end(state: RunState, event: ev.Event, status: Status, records: tuple[ev.Record, ...]) -> Decision:
    """What is still open stays on record, and with the run, until a person closes it."""
    ended = replace(state, status=status, since=event.at, asked=None, ending="", alarm="")
    left = tuple(ev.Record("loop.left", {"loop": open_.loop, "what": open_.what, "undo": open_.undo}) for open_ in state.loops)
    body = {"step": state.step, "reason": state.note} | ({"by": state.ended_by} if state.ended_by not in ("", event.by) else {})
    return Decision(ended, (ev.Unlock(), *records, *left, ev.Record(f"run.{status}", body)))


def back(runbook: Runbook, state: RunState, step: Step, event: ev.Event, note: str, records: tuple[ev.Record, ...]) -> Decision:
    there = replace(void(trim(runbook, state, step)), step=step.slug, status="open", since=event.at, note=note, verdicts=())
    if event.by and isinstance(event, ev.WentBack):
        there = with_hand(there, event.by)
    return Decision(there, (ev.Unlock(), *records))


def trim(runbook: Runbook, state: RunState, step: Step) -> RunState:
    """Forget that `step` and what follows it were ever finished, and what was chosen there."""
    undone = {s.slug for s in runbook.steps[runbook.place(step.slug) :]}
    chosen = {name for s in runbook.steps if s.slug in undone for name in (s.param, *s.learned)}
    params = {name: value for name, value in state.params.items() if name not in chosen}
    return replace(state, params=params, finished=tuple(f for f in state.finished if f.step not in undone))


def void(state: RunState) -> RunState:
    """No plan, no approvals, no order in view. `sealed` and the ledger remember."""
    return replace(
        state,
        not_taken=_not_taken(state),
        plan=None,
        plan_digest="",
        planned_at=0.0,
        approvals=(),
        glass=None,
        asked=None,
        order=None,
        statements=(),
        progress=None,
        overdue=False,
        shown=None,
    )


def _not_taken(state: RunState) -> str:
    if state.order is None:
        return state.not_taken
    return state.step if state.order.status in NOT_TAKEN else ""


def with_hand(state: RunState, person: str) -> RunState:
    return state if not person or person in state.hands else replace(state, hands=(*state.hands, person))


def blocked(verdicts: tuple[Verdict, ...]) -> bool:
    """No answers at all is not a pass."""
    return not verdicts or bool(blockers(verdicts))


def blocked_by_hand(verdicts: tuple[Verdict, ...]) -> bool:
    """As `blocked`, where a person gives the command: what refuses an order alone does not count."""
    return not verdicts or not all(v.by_hand for v in blockers(verdicts))


def lines(verdicts: tuple[Verdict, ...]) -> list[list[str]]:
    return [[v.guard, v.outcome, v.reason] for v in verdicts]


def command_of(runbook: Runbook, step: PlanStep) -> str:
    """The EXECUTE step that a plan is for."""
    return next(s.slug for s in runbook.steps[runbook.place(step.slug) :] if s.kind == "EXECUTE")


def plan_behind(runbook: Runbook, state: RunState) -> PlanStep | None:
    """The PLAN step a plan asked for now would belong to: this one, or the last before it with no EXECUTE between."""
    for step in reversed(runbook.steps[: runbook.place(state.step) + 1]):
        if isinstance(step, PlanStep):
            return step
        if step.kind == "EXECUTE" and step.slug != state.step:
            return None
    return None

"""Moving a run from step to step: what is kept, what is forgotten, what the next step asks of the node at once."""

from __future__ import annotations

from dataclasses import dataclass, replace

from workflows import events as ev
from workflows.core import Runbook, Step, Verdict, blockers
from workflows.state import Asked, Finished, RunState

RING_SECONDS = 15


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


def finish(runbook: Runbook, state: RunState, event: ev.Event, note: str, verdicts: tuple[Verdict, ...], record: ev.Record) -> Decision:
    """Put this step behind us and enter the next, or end."""
    done = replace(state, finished=(*state.finished, Finished(state.step, event.by, event.at, note)))
    here = runbook.place(state.step)
    if here + 1 < len(runbook.steps):
        return enter(runbook, done, runbook.steps[here + 1], event, record)
    ended = replace(done, status="done", since=event.at, verdicts=verdicts, note=note, asked=None)
    return Decision(ended, (ev.Unlock(), record, ev.Record("run.done", {"step": state.step})))


def enter(runbook: Runbook, state: RunState, step: Step, event: ev.Event, record: ev.Record) -> Decision:
    there = replace(state, step=step.slug, since=event.at, note="", verdicts=(), asked=None, progress=None, overdue=False)
    if step.kind == "VERIFY":
        looking = look(replace(there, status="waiting"), step)
        return Decision(looking.state, (record, *looking.effects))
    if step.kind == "WAIT":
        return Decision(replace(there, status="waiting"), (record, ev.Ring(RING_SECONDS)))
    return Decision(replace(there, status="open"), (record,))


def back(runbook: Runbook, state: RunState, step: Step, event: ev.Event, note: str, records: tuple[ev.Record, ...]) -> Decision:
    there = replace(void(trim(runbook, state, step)), step=step.slug, status="open", since=event.at, note=note, verdicts=())
    if event.by and isinstance(event, ev.WentBack):
        there = with_hand(there, event.by)
    return Decision(there, (ev.Unlock(), *records))


def trim(runbook: Runbook, state: RunState, step: Step) -> RunState:
    """Forget that `step` and what follows it were ever finished, and what was chosen there."""
    undone = {s.slug for s in runbook.steps[runbook.place(step.slug) :]}
    chosen = {s.param for s in runbook.steps if s.slug in undone and s.param}
    params = {name: value for name, value in state.params.items() if name not in chosen}
    return replace(state, params=params, finished=tuple(f for f in state.finished if f.step not in undone))


def void(state: RunState) -> RunState:
    """No plan, no approvals, no order in view. `sealed` and the ledger remember."""
    return replace(
        state,
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
    )


def with_hand(state: RunState, person: str) -> RunState:
    return state if not person or person in state.hands else replace(state, hands=(*state.hands, person))


def blocked(verdicts: tuple[Verdict, ...]) -> bool:
    """No answers at all is not a pass."""
    return not verdicts or bool(blockers(verdicts))


def lines(verdicts: tuple[Verdict, ...]) -> list[list[str]]:
    return [[v.guard, v.outcome, v.reason] for v in verdicts]

"""What a person at the rack answers to a MANUAL step, and how an answer is corrected while no command rests on it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from workflows.engine import events as ev
from workflows.engine.core import ManualStep, Runbook, Verdict, ask, blockers, refuse
from workflows.engine.state import ENDED, RunState
from workflows.engine.transitions import Decision, Refused, enter, finish, lines, trim, void, with_hand

LINE_CHARS_MAX = 500  # of what is typed or scanned where no text is asked for


def bad_param(value: str | None) -> str:
    """An empty or wildcard target must never come to mean "everything"."""
    if not isinstance(value, str) or not value.strip():
        return "is empty"
    return "holds a wildcard" if set(value) & set("*?") else ""


def hands_done(runbook: Runbook, state: RunState, step: ManualStep, event: ev.HandsDone) -> Decision | Refused:
    event = _line_or_text(step, event)
    problem, params = _read(step, state.params, event)
    if not problem:
        return Refused(step.asks or "Say what shows that this was done: the serial on the disk, or the bay that lit.")
    verdicts = ask(step.guards, event.facts, params) + _judged(step, event, params, problem)
    if blockers(verdicts):
        return Refused(f"{step.title}: {'it is not so.' if step.judges else 'the node does not show it.'}", verdicts)
    record = ev.Record("run.done-by-hand", {"step": step.slug, "evidence": problem, "verdicts": lines(verdicts)})
    return finish(runbook, with_hand(replace(state, params=params), event.by), event, problem, verdicts, record)


def corrected(runbook: Runbook, state: RunState, event: ev.Corrected) -> Decision | Refused:
    """Judged as it was when it was asked for; the steps that come are asked with it, and what was walked with the old answer is again."""
    step = correctable(runbook, state)
    if step is None or step.slug != event.step or not event.by:
        return Refused("What was answered there cannot be corrected now: nothing was, or a command rests on it.")
    event = _line_or_text(step, event)
    problem, params = _read(step, state.params, event)
    if not problem:
        return Refused(step.asks)
    verdicts = _judged(step, event, params, problem)
    if blockers(verdicts):
        return Refused(f"{step.title}: it is not so.", verdicts)
    before = state.params.get(step.param, "")
    record = ev.Record("run.corrected", {"step": step.slug, "evidence": problem, "before": before, "verdicts": lines(verdicts)})
    noted = with_hand(replace(state, params=params), event.by)
    again = runbook.step(step.again)
    if runbook.place(state.step) < runbook.place(again.slug):
        return Decision(noted, (record,))
    return enter(runbook, void(trim(runbook, noted, again)), again, event, record)


def correctable(runbook: Runbook, state: RunState) -> ManualStep | None:
    """The step whose answer may still be corrected; None when there is none, or when a command rests on it."""
    step = next((step for step in runbook.steps if isinstance(step, ManualStep) and step.again and step.param in state.params), None)
    if step is None or state.ending or state.status in ENDED:
        return None
    since = runbook.steps[runbook.place(step.again) : runbook.place(state.step) + 1]
    walked = {one.step for one in state.finished if not one.passed_over}
    given = any(one.kind == "EXECUTE" and (one.slug in walked or (one.slug == state.step and state.order_is_out)) for one in since)
    return None if given else step


E = TypeVar("E", ev.HandsDone, ev.Corrected)


def _line_or_text(step: ManualStep, event: E) -> E:
    return event if step.takes_a_text else replace(event, evidence=event.evidence[:LINE_CHARS_MAX])


def _read(step: ManualStep, params: Mapping[str, str], event: ev.HandsDone | ev.Corrected) -> tuple[str, Mapping[str, str]]:
    answer = step.reads(event.evidence) if step.reads else event.evidence.strip()
    kept = step.keeps(event.facts, params, event.evidence, event.at) if step.keeps else {}
    return answer, {**params, **kept, step.param: answer} if step.param else params


def _judged(step: ManualStep, event: ev.HandsDone | ev.Corrected, params: Mapping[str, str], answer: str) -> tuple[Verdict, ...]:
    verdicts = step.judges(event.facts, params, event.evidence.strip()) if step.judges else ()
    if step.param and (bad := bad_param(answer)):
        return (*verdicts, refuse(f"What was typed {bad}. Type it as it is printed."))
    return verdicts

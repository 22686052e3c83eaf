"""Turning from the way forward: a person ends a run or goes back a step, and what was left open is closed later."""

from dataclasses import replace

from workflows.engine import events as ev
from workflows.engine.core import Runbook, Step, Verdict, ask
from workflows.engine.lint_paths import ahead
from workflows.engine.state import ENDED, RunState
from workflows.engine.transitions import Decision, Refused, back, end, lines, still_waiting, turn_back


def aborted(runbook: Runbook, state: RunState, event: ev.Aborted) -> Decision | Refused:
    if state.order_is_out:
        return Refused("An order is under way, and what becomes of it must be known first. Wait for its end.")
    if not event.by or not event.reason.strip():
        return Refused("Say why this run ends here; whoever reads the ledger will ask.")
    ended = replace(state, note=_last_words(runbook, state, event), asked=None)
    if state.loops and runbook.undo and not state.ending:
        return turn_back(runbook, ended, event, "aborted", ())
    return end(ended, event, "aborted", ())


def _last_words(runbook: Runbook, state: RunState, event: ev.Aborted) -> str:
    note = f"{event.by} ended the run: {event.reason.strip()}"
    if any(f.step == runbook.point_of_no_return and not f.passed_over for f in state.finished):
        note += " The command had been given before, and what it began on the node goes on."
    if state.loops and (state.ending or not runbook.undo):
        note += f" This stays as it is: {' '.join(open_.what for open_ in state.loops)}"
    return note


def went_back(runbook: Runbook, state: RunState, event: ev.WentBack) -> Decision | Refused:
    if why := cannot_go_back(state):
        return Refused(why)
    step = next((s for s in runbook.steps[: runbook.place(state.step)] if s.slug == event.step), None)
    if step is None or not event.by or step.kind not in ("DECIDE", "CHECK", "PLAN", "MANUAL"):
        return Refused("A person can go back to an earlier step that chooses, checks or plans; this is none.")
    walked = {f.step for f in state.finished if not f.passed_over}
    if step.slug not in walked:
        return Refused(f"This run has not been at the step “{step.title}”, so it cannot go back there.")
    between = runbook.steps[runbook.place(step.slug) : runbook.place(state.step)]
    if any(s.kind == "EXECUTE" and s.slug in walked for s in between):
        return Refused("A command was given since that step. From here there is only forward.")
    record = ev.Record("run.went-back", {"from": state.step, "to": event.step})
    return back(runbook, state, step, event, f"{event.by} went back to this step.", (record,))


def cannot_go_back(state: RunState) -> str:
    if state.order_is_out:
        return "An order is under way. Wait for its end."
    return "" if state.status in ("open", "planning", "stopped") else "Nothing can be taken back while the node is at work. Wait."


def alarmed(state: RunState, step: Step, against: tuple[Verdict, ...], number: int) -> Decision:
    """A check refuses to go on. It is recorded once, and again when its reason changes."""
    reason = against[0].reason
    recorded = () if reason == state.alarm else (ev.Record("run.alarm", {"step": step.slug, "verdicts": lines(against)}),)
    waiting = still_waiting(replace(state, alarm=reason), step, number)
    return Decision(waiting.state, (*waiting.effects, *recorded))


def loop_closed(runbook: Runbook, state: RunState, event: ev.LoopClosed) -> Decision | Refused:
    """Only after the run's end: before it, the run's own steps close what they opened."""
    open_ = next((open_ for open_ in state.loops if open_.loop == event.loop), None)
    if open_ is None or state.status not in ENDED:
        return Refused("This run has no such loop to close." if open_ is None else "The run is under way. Its own steps close this.")
    loop = runbook.loops.get(event.loop)
    verdicts = ask((loop.over,), event.facts, state.params) if loop else ()
    shown = bool(verdicts) and verdicts[0].outcome == "pass"
    vouched = bool(event.by and event.evidence.strip()) and not any(v.outcome == "refuse" for v in verdicts)
    if not shown and not vouched:
        return Refused(f"{open_.what} {verdicts[0].reason if verdicts else 'Say what shows that this is over.'}", verdicts)
    left = tuple(other for other in state.loops if other is not open_)
    body = {"loop": open_.loop, "what": open_.what, "evidence": event.evidence.strip(), "verdicts": lines(verdicts)}
    return Decision(replace(state, loops=left), (ev.Record("loop.closed", body),))


def needs_the_rack(runbook: Runbook, state: RunState) -> bool:
    """Whether this run asks for hands at the rack, or may yet: on the way that it walks, or putting back what stands open."""
    if state.status in ENDED:
        return False
    open_ = {one.loop for one in state.loops}
    back = runbook.steps[runbook.place(runbook.undo) :] if runbook.undo and not state.ending else ()
    slugs = {state.step, *ahead(runbook, state.step), *(step.slug for step in back if step.undoes in open_)}
    return any(runbook.step(slug).at_the_rack for slug in slugs)

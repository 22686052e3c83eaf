"""Which moves of a run are sent as notices: that it waits for an approver, for a person, or that its outcome is not known."""

from collections.abc import Iterator

from app.core import outbox
from app.core.outbox import Happening
from app.runs.models import Run
from workflows.engine.core import Runbook, Step
from workflows.engine.state import RunState


def send_notices(run: Run, runbook: Runbook, before: RunState, after: RunState, by_person: bool) -> None:
    outbox.put(_happened(run, runbook, before, after, by_person))


def _happened(run: Run, runbook: Runbook, before: RunState, after: RunState, by_person: bool) -> Iterator[Happening]:
    moved = (before.step, before.status) != (after.step, after.status)
    step = runbook.step(after.step) if after.step else None
    if step is not None and step.kind == "APPROVE" and after.status == "open":
        if moved:
            yield Happening(
                "approval-wanted", f"approval-wanted:{run.pk}:{after.plan_digest}", run.node, run.pk, {"plan": after.plan_digest}
            )
    elif moved and after.status == "unknown":
        yield Happening("order-unknown", f"order-unknown:{run.pk}:{after.plan_digest}", run.node, run.pk)
    elif moved and _needs_a_person(after, step) and (not by_person or _was_judged(runbook, before)):
        yield Happening("run-needs-person", f"run-needs-person:{run.pk}:{run.version}", run.node, run.pk, {"version": run.version})
    if after.alarm and not before.alarm:
        yield Happening("run-alarm", f"run-alarm:{run.pk}:{run.version}", run.node, run.pk)
    if after.overdue and not before.overdue:
        yield Happening("run-overdue", f"run-overdue:{run.pk}:{after.step}:{after.rounds}", run.node, run.pk, {"step": after.step})


def _was_judged(runbook: Runbook, before: RunState) -> bool:
    """Whoever moves a run has its page open; but who judges a plan is another than who goes on with it."""
    return bool(before.step) and runbook.step(before.step).kind == "APPROVE"


def _needs_a_person(after: RunState, step: Step | None) -> bool:
    return after.status == "stopped" or (after.status == "open" and step is not None and not step.unattended)

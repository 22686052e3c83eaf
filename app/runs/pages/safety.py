"""Why the step that a run stands at is safe: every question with its answer of this moment and the captures behind it, what will be true
afterwards, and what it means to stop here.
"""

import difflib
from collections.abc import Mapping
from typing import Any

from app.ledger.models import LedgerEvent
from app.runs import services
from app.runs.models import Order, Run
from workflows.analysis import verdict_evidence
from workflows.engine import plan_losses
from workflows.engine.core import Guard, PlanStep, Runbook, Step, warnings
from workflows.engine.decide import WARNINGS
from workflows.engine.state import RunState
from workflows.runbooks import RUNBOOKS

BEFORE_THE_ORDER = ("PLAN", "CONFIRM", "APPROVE")  # they have few questions of their own: what is asked is what the order will be asked
AT_THE_BUTTON = "asked again when you press the button."
AT_THE_ORDER = "evaluated again when the order is given, and the node evaluates its own right before it acts."
SHOWN_OF_ONE = 6  # captures beside an answer
MARKS = {" ": "", "-": "gone", "+": "new"}


def answers(run: Run, state: RunState, step: Step) -> dict[str, Any]:
    """Asked for showing, at this moment; acting asks again. Empty where a person is asked nothing that facts could answer."""
    if state.status != "open" or step.kind == "DECIDE":  # each option shows its own
        return {}
    guards = _questions(RUNBOOKS[run.runbook], step)
    if not guards:
        return {}
    found = [_line(one) for one in verdict_evidence.answered(guards, services.facts_for(run), state.params)]
    against = [line for line in found if line["outcome"] != "pass"]
    fine = [line for line in found if line["outcome"] == "pass"]
    again = AT_THE_ORDER if step.kind in ("CONFIRM", "APPROVE") else AT_THE_BUTTON
    return {
        "asked_again": f"{'It is' if len(found) == 1 else 'They are'} {again}",
        "answers_against": against,
        "answers_cost": [line for line in fine if line["costs"]],
        "answers_for": [line for line in fine if not line["costs"]],
        "answers_count": len(found),
    }


def warned(run: Run, state: RunState, step: Step) -> list[str]:
    """What must be read before the step, and forbids nothing: of this moment until there is a plan, then as the plan binds it."""
    if state.status != "open":
        return []
    if step.kind in ("CONFIRM", "APPROVE", "EXECUTE"):
        return list((state.plan or {}).get(WARNINGS, ()))
    return list(warnings(step, services.facts_for(run), state.params)) if step.warns else []


def lost(run: Run, state: RunState, step: Step) -> list[str]:
    """What this step takes away: as its plan binds it; before there is a plan, as the facts of this moment show it."""
    if state.status not in ("open", "planning", "ordered", "unknown", "stopped"):
        return []
    if step.kind in ("CONFIRM", "APPROVE", "EXECUTE"):
        return list(plan_losses.lost(state.plan or {}))
    plan = _plan_that_comes(RUNBOOKS[run.runbook], step)
    if plan is None or plan.adds is None:
        return []
    return list(plan_losses.lost({"operation": plan.operation, **plan.adds(services.facts_for(run), state.params, {})}))


def _plan_that_comes(runbook: Runbook, step: Step) -> PlanStep | None:
    """The PLAN that this step is, or leads to at once: then all that the plan adds is known already."""
    after = runbook.following(step) if step.kind == "CHECK" else None
    return step if step.kind == "PLAN" else after if after is not None and after.kind == "PLAN" else None


def _questions(runbook: Runbook, step: Step) -> tuple[Guard, ...]:
    """Those of this step; before an order also those that the order itself will be asked."""
    if step.kind not in BEFORE_THE_ORDER:
        return step.guards
    later = runbook.steps[runbook.place(step.slug) :]
    order = next((one for one in later if one.kind == "EXECUTE"), None)
    return tuple(dict.fromkeys((*step.guards, *(order.guards if order else ()))))


def _line(one: verdict_evidence.Answered) -> dict[str, Any]:
    shown = one.grounds[:SHOWN_OF_ONE]
    return {
        "outcome": one.verdict.outcome,
        "costs": one.verdict.costs,
        "reason": one.verdict.reason,
        "grounds": shown,
        "more": len(one.grounds) - len(shown),
        "nodes": len({ground.node for ground in one.grounds}),
    }


def afterwards(plan: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    """The vdev as the node says it will be, with what is gone and what is new in it: (mark, line)."""
    before, after = ((plan or {}).get(name) or [] for name in ("topology_before", "topology_after"))
    lines = difflib.ndiff(before, after) if after else ()
    return [(MARKS[line[0]], line[2:]) for line in lines if line[0] in MARKS]


def stopping(run: Run, state: RunState, step: Step) -> str:
    """What has happened so far on the node, what happens if everybody walks away now, and what can still be called off."""
    if state.order_is_out and state.status == "ordered":
        return _while_ordered(run, state)
    if state.status == "unknown":
        return "It cannot be stopped now: whether the command took effect is not known. Settle that first. The command is not sent again."
    if state.status == "planning":
        return f"The node only works out a plan and changes nothing. Leave this page or end the run: nothing has happened on {run.node}."
    return _between(run, state, step)


def _while_ordered(run: Run, state: RunState) -> str:
    status = state.order.status if state.order else ""
    if status in ("SEALED", "OFFERED"):
        return f"{run.node} has not taken the order. Withdraw it, and nothing has happened. Left alone, it is carried out or expires."
    if status == "CLAIMED":
        return (
            f"{run.node} has taken the order, and it cannot be recalled. It checks once more before it starts. The run goes on by itself to "
            "read what became of it."
        )
    return (
        f"The command has been started on {run.node}. It cannot be recalled, and this page cannot stop it. The run goes on by itself to read "
        "what became of it; you may leave."
    )


def commands_ran(run_id: int) -> bool:
    """Whether a node has begun any command of this run, or a person was shown one to give."""
    given = Order.objects.filter(run=run_id, started_at__isnull=False).exclude(effect="pure").exists()
    return given or LedgerEvent.objects.filter(run=str(run_id), type="run.by-hand-shown").exists()


def _between(run: Run, state: RunState, step: Step) -> str:
    given = commands_ran(run.pk)
    text = "Nothing has been changed" if not given else "What was ordered so far is done and stays as it is"
    words = [f"{text} on {run.node}, and nothing more is done without a person."]
    if state.status == "waiting":
        words = [f"The run watches {run.node} and goes on by itself; leaving this page stops nothing."]
        if step.at_the_rack:
            words.append("It waits until what is asked here has been done at the rack.")
        elif given:
            words.append("Ending the run stops only the watching, not what the node does.")
    if state.loops:
        open_now = " ".join(one.what for one in state.loops)
        ending = (
            "Ending the run now leaves it so, among the open loops"
            if state.ending
            else "Ending the run leads back over switching that off first"
        )
        words.append(f"Still switched on: {open_now} {ending}.")
    elif state.status != "waiting":
        words.append("Leave it here for a person to go on later, or end the run.")
    return " ".join(words)

"""What the page of a run shows where no order is made: the way by hand, the snippet that was shown, and what was pasted of it."""

from datetime import UTC, datetime
from typing import Any

from django.utils import timezone

from app.accounts.models import User
from app.ledger.models import LedgerEvent
from app.runs import services
from app.runs.models import Run
from app.runs.pages import look_again
from app.runs.pasted import CHARS_MAX
from app.runs.rights import OPERATE, may
from workflows.engine import by_hand
from workflows.engine.core import PlanStep, Step, ask, goes_by_hand
from workflows.engine.state import RunState
from workflows.engine.transitions import plan_behind
from workflows.runbooks import RUNBOOKS

WAY = "The same checks, plan, confirmation and approvals come first. Then you are shown the command, and no order is made."

NODE_RUNS = "The node checks everything once more and runs the one command of the plan"
SNIPPET_RUNS = "The snippet checks the node once more and runs the one command of the plan"
NOTHING: dict[str, Any] = {"by_hand_way": "", "plan_is_by_hand": False, "hand": None}  # of a run whose runbook has no such step any more


def shown(run: Run, state: RunState, step: Step, user: User) -> dict[str, Any]:
    """`by_hand_way`: what the button says that leads there, "" where it does not; `hand`: of a command that was shown; `why` of the step."""
    return {
        "by_hand_way": WAY if _leads_there(run, state, step) else "",
        "plan_is_by_hand": by_hand.IN_PLAN in (state.plan or {}),
        "why": step.why.replace(NODE_RUNS, SNIPPET_RUNS) if by_hand.IN_PLAN in (state.plan or {}) else step.why,
        "fold_answers": state.status in ("ordered", "unknown"),  # what is to be done now stands before what was asked then
        "hand": _hand(run, state, user) if state.is_by_hand else None,
    }


def _leads_there(run: Run, state: RunState, step: Step) -> bool:
    """Whether something refuses an order here, and nothing refuses the command."""
    plan = step if isinstance(step, PlanStep) else plan_behind(RUNBOOKS[run.runbook], state) if state.status == "stopped" else None
    asked = plan or (step if step.kind == "CHECK" else None)
    if asked is None or state.status not in ("open", "stopped"):
        return False
    verdicts = ask(asked.guards, services.facts_for(run), state.params)
    not_taken = plan is not None and by_hand.order_was_not_taken(RUNBOOKS[run.runbook], state, plan, verdicts)
    return goes_by_hand(verdicts) or not_taken


def _hand(run: Run, state: RunState, user: User) -> dict[str, Any]:
    assert state.shown is not None
    until = datetime.fromtimestamp(state.shown.until, UTC)
    over = timezone.now() > until
    return {
        "by": state.shown.by,
        "until": until,
        "over": over,
        "snippet": by_hand.snippet_of(state) if not over and user.get_username() == state.shown.by and may(user, OPERATE, run.node) else "",
        "looking": state.asked is not None,
        "bring": look_again.to_bring(run) if state.asked is not None else "",
        "pasted": _pasted(run, state.shown.plan_digest),
        "chars_max": CHARS_MAX,
    }


def _pasted(run: Run, plan_digest: str) -> list[dict[str, Any]]:
    """What was pasted of this showing, newest first."""
    found = LedgerEvent.objects.filter(run=str(run.pk), type="run.by-hand-pasted").order_by("-run_seq")[:5]
    mine = (event for event in found if event.parsed["body"].get("plan_digest") == plan_digest)
    return [{"by": e.actor, "at": e.at, "when": e.at[11:19], "reads": e.parsed["body"].get("reads", [])} for e in mine]

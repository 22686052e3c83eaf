"""What the portal does by itself: on a run's way back, plan and give the order that puts back what the run switched on.

Only steps that the runbook calls unattended. One move per ring, each by the same `decide` as a person's, and the database lets such an
order write only a value that an order of this run, given by a person, had taken away. What is in the way is shown on the run's page
and tried again; a person may press the same button meanwhile.
"""

import json
import logging
from datetime import UTC, datetime, timedelta

from app.accounts import seals
from app.runs import services
from app.runs.models import Order, Run
from workflows.engine import by_hand
from workflows.engine import events as ev
from workflows.engine.core import Step, Verdict, ask, blockers
from workflows.engine.decide import PLAN_AGE_SECONDS_MAX
from workflows.engine.transitions import RING_SECONDS
from workflows.runbooks import RUNBOOKS

STATUSES = ("open", "stopped")
NO_PERSON = "No person gave this order, and it does not put back what a person had ordered."
AFTER_A_FAILURE = timedelta(minutes=5)  # each try is a handful of events in the ledger
log = logging.getLogger(__name__)


def step_of(run: Run) -> Step | None:
    """The step this run stands at, if the portal goes on from there by itself."""
    steps = RUNBOOKS[run.runbook].steps if run.runbook in RUNBOOKS else ()
    here = next((step for step in steps if step.slug == run.step), None)
    return here if here is not None and here.unattended and run.status in STATUSES else None


def due(now: datetime) -> list[int]:
    """The runs that wait for the portal itself."""
    slugs = {step.slug for runbook in RUNBOOKS.values() for step in runbook.steps if step.unattended}
    found = Run.objects.filter(ended_at__isnull=True, status__in=STATUSES, step__in=slugs)
    return [run.pk for run in found if step_of(run) is not None and when(run) <= now]


def when(run: Run) -> datetime:
    """The next try. After a plan or an order that failed nothing rings, and it is not tried again at once."""
    return run.due_at or datetime.fromtimestamp(run.here.since, UTC) + AFTER_A_FAILURE


def go_on(run: Run, now: datetime) -> None:
    """One move of a run whose row the caller has locked; nothing when it does not wait for that."""
    if step_of(run) is None or when(run) > now or by_hand.IN_PLAN in (run.here.plan or {}):
        return
    why = services.CHANGED if services.definition_changed(run) else ""
    if not why:
        refused = services.apply_event(run, _move(run, now), "portal", now)
        why = refused.reason if refused else ""
    if why:
        log.info("Run %s does not go on by itself: %s", run.pk, why)
        run.due_at = now + timedelta(seconds=RING_SECONDS)
        run.save(update_fields=["due_at"])


def _move(run: Run, now: datetime) -> type[ev.Event]:
    """The order, when there is a plan that may still have one; else a plan."""
    state, step = run.here, step_of(run)
    usable = state.plan_digest and state.plan_digest not in state.sealed and now.timestamp() - state.planned_at <= PLAN_AGE_SECONDS_MAX
    return ev.ExecuteAsked if step is not None and step.kind == "EXECUTE" and state.status == "open" and usable else ev.PlanAsked


def why_not_allowed(order: Order) -> str:
    """Whether an order that no person gave may go to the node: the rule of the database's `runs_puts_back`, asked again when it is offered and
    started. It writes only the value that an order of this run, given by a person and started, had taken away from the same thing."""
    if order.run_id is None:
        return NO_PERSON
    given = Order.objects.filter(run_id=order.run_id, node=order.node, operation=order.operation, effect="idempotent")
    repeatable = order.effect == "idempotent" and not order.destructive and order.plan_id is not None and order.proved_at is None
    taken_away = (other for other in given.exclude(sealed_by=None).filter(started_at__isnull=False) if _takes_back(order, other))
    if repeatable and any(not seals.why_not(Order, pk=other.pk) for other in taken_away):
        return ""
    return NO_PERSON


def _takes_back(order: Order, given: Order) -> bool:
    back, before = (json.loads(each.canonical)["params"] for each in (order, given))
    names = (back.get("name"), back.get("value"))
    return None not in names and names == (before.get("name"), before.get("before"))


def in_the_way(run: Run) -> tuple[Verdict, ...] | None:
    """What refuses the next move at this moment, for the page; None when the run does not wait for the portal."""
    step = step_of(run)
    return blockers(ask(step.guards, services.facts_for(run), run.here.params)) if step is not None else None

"""Who stands behind a plan at this moment: approvals that count, or a glass broken by who carries it out.

Asked when the order is sealed, when it is offered and when the node starts it. An approval counts while it is fresh, while its
giver may approve, and only if its giver had no hand in the run; the database asks the same of the rows when the order comes. Rows that this
portal did not write count for nothing, and stop the plan.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from django.conf import settings

from app.accounts import seals
from app.accounts.models import User
from app.ledger.models import LedgerEvent
from app.runs.models import Approval, BrokenGlass, Hand, Plan
from app.runs.rights import APPROVE, BREAK_GLASS, may, rests

# What makes whoever did it one of the run's hands; see `workflows.engine.transitions.with_hand`.
BY_HAND = (
    *("run.started", "run.chosen", "run.confirmed", "run.plan-asked", "run.done-by-hand", "run.corrected", "run.went-back"),
    *("run.ordered", "run.by-hand-shown", "run.glass-broken", "technician-link.made"),
)


class Backing(NamedTuple):
    """`why_not` is empty when enough stand behind it; `leaves` are their events in the ledger."""

    why_not: str
    leaves: tuple[str, ...] = ()
    until: tuple[datetime, ...] = ()  # when each of them ends


NOTHING = Backing("")


def of(plan_digest: str, sealer: User | None, now: datetime) -> Backing:
    plan = Plan.objects.select_related("run").filter(pk=plan_digest).first()
    if plan is None:
        return Backing("There is no such plan. Ask the node for one.")
    if why := _forged(plan.pk):
        return Backing(f"Who approved this plan was changed in the database. {why}")
    glass = BrokenGlass.objects.filter(plan=plan).first()
    if glass is not None:
        return _behind_glass(glass, plan, sealer, now)
    given = list(Approval.objects.filter(plan=plan).select_related("approver").order_by("pk"))
    counting = [a for a in given if not _why_not(a, plan, sealer, now)]
    needed = max(plan.approvals_needed, 1)
    if len(counting) < needed:
        return Backing(_too_few(len(counting), needed, (_why_not(a, plan, sealer, now) for a in given)))
    return Backing("", tuple(a.leaf for a in counting), tuple(a.expires_at for a in counting))


def _forged(plan_digest: str) -> str:
    asked = ((Plan, {"pk": plan_digest}), (Approval, {"plan_id": plan_digest}), (BrokenGlass, {"plan_id": plan_digest}))
    return next((why for model, which in asked if (why := seals.why_not(model, **which))), "")


def had_a_hand(run_id: int, person: User) -> bool:
    """By the rows of `Hand`, and by the ledger, from which nothing can be taken away."""
    acted = LedgerEvent.objects.filter(run=str(run_id), actor=person.username, type__in=BY_HAND)
    return Hand.objects.filter(run_id=run_id, person=person).exists() or acted.exists()


def _why_not(approval: Approval, plan: Plan, sealer: User | None, now: datetime) -> str:
    """Why this approval does not count; empty when it does."""
    who = approval.approver
    if not may(who, APPROVE, plan.run.node):
        return rests(who, APPROVE, plan.run.node) or f"{who} may not approve any more."
    if who == sealer or had_a_hand(plan.run_id, who):
        return f"{who} has a hand in this run since."
    if not approval.at <= now < approval.expires_at:
        return f"The approval of {who} ended at {approval.expires_at:%H:%M:%S} UTC."
    return "" if approval.leaf else f"The ledger has no approval of {who}."


def _too_few(counting: int, needed: int, reasons: Iterable[str]) -> str:
    words = " ".join(reason for reason in reasons if reason)
    return f"{words} {counting} of {needed} people stand behind this plan. Ask for a new plan and another approval.".strip()


def _behind_glass(glass: BrokenGlass, plan: Plan, sealer: User | None, now: datetime) -> Backing:
    if glass.person != sealer:
        return Backing(f"{glass.person} broke the glass for this plan, and no other person may use that. Ask for a new plan.")
    if not glass.at <= now < glass.expires_at:
        return Backing(f"The broken glass held until {glass.expires_at:%H:%M:%S} UTC. Ask for a new plan.")
    if why := why_no_glass(glass.person, str(plan.body.get("operation")), plan.run.node):
        return Backing(why)
    return Backing("", (glass.leaf,), (glass.expires_at,))


def why_no_glass(person: User, operation: str, node: str) -> str:
    """Why this person may not go on alone with this operation; empty when it may."""
    if operation not in settings.BREAK_GLASS:
        return f"This portal does not run {operation} without another person's approval (SLOTLIGHT_BREAK_GLASS)."
    if not may(person, BREAK_GLASS, node):
        return rests(person, BREAK_GLASS, node) or f"{person} may not break the glass on {node}. It takes the role glass-breaker there."
    return ""


def open_glass_of(person: User) -> BrokenGlass | None:
    return BrokenGlass.objects.filter(person=person, reviewed_at__isnull=True).first()

"""Who stands behind a plan at this moment: approvals that count, or a glass broken by who carries it out.

Asked when the order is sealed, when it is offered and when the node starts it. An approval counts while it is fresh, while its
giver may approve, and only if its giver had no hand in the run; the database asks the same of the rows when the order comes.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from django.conf import settings

from app.accounts.models import User
from app.runs.models import Approval, BrokenGlass, Hand, Plan
from app.runs.rights import APPROVE, BREAK_GLASS, may


class Backing(NamedTuple):
    """`why_not` is empty when enough stand behind it; `leaves` are their events in the ledger."""

    why_not: str
    leaves: tuple[str, ...] = ()
    until: tuple[datetime, ...] = ()  # when each of them ends


NOTHING = Backing("")


def of(plan_digest: str, sealer: User, now: datetime) -> Backing:
    plan = Plan.objects.select_related("run").filter(pk=plan_digest).first()
    if plan is None:
        return Backing("There is no such plan. Ask the node for one.")
    glass = BrokenGlass.objects.filter(plan=plan).first()
    if glass is not None:
        return _behind_glass(glass, plan, sealer, now)
    given = list(Approval.objects.filter(plan=plan).select_related("approver").order_by("pk"))
    counting = [a for a in given if not _why_not(a, plan, sealer, now)]
    needed = max(plan.approvals_needed, 1)
    if len(counting) < needed:
        return Backing(_too_few(len(counting), needed, (_why_not(a, plan, sealer, now) for a in given)))
    return Backing("", tuple(a.leaf for a in counting), tuple(a.expires_at for a in counting))


def _why_not(approval: Approval, plan: Plan, sealer: User, now: datetime) -> str:
    """Why this approval does not count; empty when it does."""
    who = approval.approver
    if not may(who, APPROVE, plan.run.node):
        return f"{who} may not approve any more."
    if who == sealer or Hand.objects.filter(run=plan.run, person=who).exists():
        return f"{who} has a hand in this run since."
    if not approval.at <= now < approval.expires_at:
        return f"The approval of {who} ended at {approval.expires_at:%H:%M:%S} UTC."
    return "" if approval.leaf else f"The ledger does not tell of the approval of {who}."


def _too_few(counting: int, needed: int, reasons: Iterable[str]) -> str:
    words = " ".join(reason for reason in reasons if reason)
    return f"{words} {counting} of {needed} people stand behind this plan. Ask for a new plan and another approval.".strip()


def _behind_glass(glass: BrokenGlass, plan: Plan, sealer: User, now: datetime) -> Backing:
    if glass.person != sealer:
        return Backing(f"{glass.person} broke the glass for this plan, and nobody else may use that. Ask for a new plan.")
    if not glass.at <= now < glass.expires_at:
        return Backing(f"The broken glass held until {glass.expires_at:%H:%M:%S} UTC. Ask for a new plan.")
    if why := why_no_glass(sealer, str(plan.body.get("operation")), plan.run.node):
        return Backing(why)
    return Backing("", (glass.leaf,), (glass.expires_at,))


def why_no_glass(person: User, operation: str, node: str) -> str:
    """Why this person may not go on alone with this operation; empty when it may."""
    if operation not in settings.BREAK_GLASS:
        return f"This portal lets nobody run {operation} without another person's approval (SLOTLIGHT_BREAK_GLASS)."
    if not may(person, BREAK_GLASS, node):
        return f"{person} may not break the glass on {node}. It takes the role glass-breaker there."
    return ""


def open_glass_of(person: User) -> BrokenGlass | None:
    return BrokenGlass.objects.filter(person=person, reviewed_at__isnull=True).first()

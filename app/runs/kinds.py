"""What of a run lends authority, sealed like what says who a person is: how many must approve a plan, who approved it, who broke the glass, who
gave the order and when that person last proved who it was, and the links to the rack. See `app.accounts.seals`.

A row of `Hand` only ever takes a right away. One that was deleted would give it back, so the ledger is asked too who acted in a run
(`app.runs.ordering.plan_approvals`). A run's state gives no order that differs from its plan, whose digest is sealed here and approved by people.
"""

from django.db.models import QuerySet
from django.utils import timezone

from app.accounts.seals import Kind, register
from app.runs.models import Approval, BrokenGlass, Order, Plan, TechnicianLink
from workflows.engine.state import ORDER_IS_OUT


def of_open_runs(rows: QuerySet[Plan]) -> QuerySet[Plan]:
    return rows.filter(run__ended_at=None)


def out(rows: QuerySet[Order]) -> QuerySet[Order]:
    """A question (`pure`) lends nothing: anybody who may look may ask it, and so it carries no seal."""
    return rows.filter(status__in=ORDER_IS_OUT, expires_at__gt=timezone.now()).exclude(effect="pure")


def usable(rows: QuerySet[TechnicianLink]) -> QuerySet[TechnicianLink]:
    return rows.filter(revoked_at=None, left_at=None, expires_at__gt=timezone.now())


ORDERED = ("id", "node", "run_id", "step", "operation", "effect", "destructive", "plan_id", "digest", "fence", "nonce")
GIVEN = ("sealed_by_id", "sealed_at", "proved_at", "expires_at")
VISIT = ("id", "run_id", "token_hash", "made_by_id", "made_at", "expires_at", "browser_hash", "name", "opened_at", "revoked_at", "left_at")
APPROVAL, GLASS, PLAN, ORDER, LINK = KINDS = register(
    Kind(Approval, "approval", "approver_id", ("id", "plan_id", "approver_id", "at", "proved_at", "expires_at", "leaf")),
    Kind(BrokenGlass, "broken glass", "person_id", ("id", "run_id", "plan_id", "person_id", "at", "proved_at", "expires_at", "leaf")),
    Kind(Plan, "plan", "", ("digest", "run_id", "round", "made_at", "approvals_needed", "accepts"), live=of_open_runs),
    Kind(Order, "order", "sealed_by_id", (*ORDERED, *GIVEN), live=out),
    Kind(TechnicianLink, "technician's link", "made_by_id", VISIT, live=usable),
)

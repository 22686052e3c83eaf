"""The review after a break glass: another person looks at what was done alone, and says so."""

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from app.accounts.models import User
from app.core.compiled_queries import ModelsWrittenOnce
from app.ledger import services as ledger
from app.realtime.publish import ring
from app.runs import services
from app.runs.models import BrokenGlass
from app.runs.ordering import plan_approvals
from app.runs.rights import APPROVE, may, rests

WORDS_MAX = 2000


@ModelsWrittenOnce
def unreviewed() -> QuerySet[BrokenGlass]:
    return BrokenGlass.objects.filter(reviewed_at__isnull=True).select_related("person", "run")


def why_not(glass: BrokenGlass, user: User) -> str:
    """Why this person cannot review it; empty when it can."""
    if not may(user, APPROVE, glass.run.node):
        return rests(user, APPROVE, glass.run.node) or "Reviewing needs the approver's right on this node."
    if glass.person == user or plan_approvals.had_a_hand(glass.run_id, user):
        return "You took part in this run. Another person must review it."
    return ""


def review(glass_id: int, user: User, words: str) -> BrokenGlass:
    """Raises RunRefused, LedgerDown, BrokenGlass.DoesNotExist."""
    ledger.refuse_if_broken()
    text = words.strip()[:WORDS_MAX]
    with transaction.atomic():
        glass = BrokenGlass.objects.select_for_update(of=["self"]).select_related("person", "run").get(pk=glass_id)
        if glass.reviewed_at is not None:
            raise services.RunRefused(f"{glass.reviewer} has reviewed this already.")
        if why := why_not(glass, user):
            raise services.NotAllowed(why)
        if not text:
            raise services.RunRefused("Say what you looked at and what you make of it.")
        glass.reviewer, glass.reviewed_at, glass.review = user, timezone.now(), text
        glass.save(update_fields=["reviewer", "reviewed_at", "review"])
        for topic in ("approvals", f"run:{glass.run_id}"):
            ring(topic)
        body = {"by": glass.person.username, "plan_digest": glass.plan_id, "broken": glass.leaf, "review": text}
        ledger.record("run.glass-reviewed", body, user.username, run=str(glass.run_id), node=glass.run.node)
    return glass

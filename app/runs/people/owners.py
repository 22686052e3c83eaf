"""Who sees to a run: handing it over to a colleague, who says "I have it"; and what people say beside its steps.

Seeing to a run gives no right and takes none: who may act and who may approve is asked of rights and hands, as before.
"""

from django.db import transaction
from django.db.models import Q, QuerySet

from app.accounts.models import User
from app.core.compiled_queries import ModelsWrittenOnce
from app.ledger import services as ledger
from app.realtime.publish import ring
from app.runs import services
from app.runs.models import Run
from app.runs.rights import MANUAL, OPERATE, holders
from workflows.engine.events import can_be_kept

COMMENT_MAX = 2000


def colleagues(run: Run) -> QuerySet[User]:
    """Who can take it: everybody who may act on its node, but for who has it."""
    return holders(OPERATE, run.node).exclude(pk=run.minder.pk)


def hand_over(run_id: int, user: User, to: str, words: str) -> None:
    """Give a run to a colleague, or take it oneself. Raises RunRefused, LedgerDown."""
    ledger.refuse_if_broken()
    text = _kept(words)
    with transaction.atomic():
        run = Run.objects.select_for_update(of=["self"]).select_related("owner", "requester").get(pk=run_id)
        services.need(user, OPERATE, run.node)
        if run.ended_at is not None:
            raise services.RunRefused("This run has ended. There is nothing left to hand over.")
        colleague = colleagues(run).filter(username=to).first()
        if colleague is None:
            raise services.RunRefused(
                f"{to or 'This person'} cannot take this run. Choose a colleague who may act and does not have it already."
            )
        before, run.owner = run.minder, colleague
        run.handed_by = None if colleague == user else user
        run.save(update_fields=["owner", "handed_by"])
        _ring(run)
        body = {"from": before.username, "to": colleague.username, "words": text}
        ledger.record("run.handed-over", body, user.username, run=str(run.pk), node=run.node)


def have_it(run_id: int, user: User) -> None:
    """The colleague has read it and is responsible for it. Raises RunRefused, LedgerDown."""
    ledger.refuse_if_broken()
    with transaction.atomic():
        run = Run.objects.select_for_update().get(pk=run_id)
        services.need(user, OPERATE, run.node)
        if run.owner_id != user.pk or run.handed_by_id is None:
            raise services.RunRefused("This run no longer waits for your answer.")
        run.handed_by = None
        run.save(update_fields=["handed_by"])
        _ring(run)
        ledger.record("run.taken", {}, user.username, run=str(run.pk), node=run.node)


def comment(run_id: int, user: User, words: str) -> None:
    """Kept in the ledger, of a run that has ended too. Raises RunRefused, LedgerDown."""
    ledger.refuse_if_broken()
    reported = _kept(words)
    if not reported:
        raise services.RunRefused("The comment is empty. Write what the next reader should know.")
    with transaction.atomic():
        run = Run.objects.get(pk=run_id)
        services.need(user, MANUAL, run.node)  # whoever does anything here, if only with the hands
        ring(f"run:{run_id}")
        ledger.record("run.comment", {"text": reported}, user.username, run=str(run.pk), node=run.node)


def _kept(words: str) -> str:
    if not can_be_kept(words):
        raise services.RunRefused("What was typed holds a character that cannot be kept. Type it again without it.")
    return words.strip()[:COMMENT_MAX]


def _ring(run: Run) -> None:
    for topic in (f"run:{run.pk}", "alarms", "fleet"):
        ring(topic)


def of(user: User) -> Q:
    """The runs this person sees to."""
    return Q(owner=user) | Q(owner=None, requester=user)


@ModelsWrittenOnce
def handed_to(person: int) -> QuerySet[Run]:
    """Runs that a colleague gave to the person of this key, who has not yet said "I have it"."""
    found = Run.objects.filter(owner=person, handed_by__isnull=False, ended_at=None)
    return found.select_related("handed_by").only("pk", "node", "handed_by__username").order_by("pk")

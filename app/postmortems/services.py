"""Beginning, collecting, editing, commenting: each in one transaction with its event in the ledger.

What people wrote is kept as evidence by its digest, so every version can be proven, and who wrote it when.
"""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta

from django.db import transaction
from django.utils import timezone

from agents.portal.wire import canonical
from app.accounts.models import User
from app.accounts.rights import OPERATE, may
from app.fleet.models import Situation
from app.ledger import services as ledger
from app.ledger.forms import moment
from app.ledger.looking import record_if_possible
from app.ledger.models import LedgerEvent
from app.postmortems import collecting, narrative
from app.postmortems.models import Comment, Postmortem, Version
from app.runs.models import Run

TITLE_MAX = 200
RUNS_MAX = 20
LONGEST = timedelta(days=31)
LOOKED = "postmortem.looked"
ONCE_PER = timedelta(hours=1)
LOOKS_READ = 200


class Refused(Exception):
    """Nothing was changed. The message says why and what to do."""


class Conflict(Exception):
    """Another person saved the same sections meanwhile. Nothing was saved, and both texts are here."""

    def __init__(self, newest: Version, merged: narrative.Merged) -> None:
        super().__init__(f"{newest.by} saved version {newest.number} while you were writing.")
        self.newest, self.merged = newest, merged


def may_write(user: User, runs: Iterable[Run], situation: Situation | None) -> bool:
    """Whoever may operate one of the nodes it is about."""
    nodes = {run.node for run in runs} | ({situation.node.name} if situation else set())
    return any(may(user, OPERATE, node) for node in nodes)


def may_edit(user: User, postmortem: Postmortem) -> bool:
    return may_write(user, postmortem.runs.all(), postmortem.situation)


def need(allowed: bool) -> None:
    if not allowed:
        raise Refused("You may not write about this: it takes the operator's right for one of its nodes. You may read and comment.")


def begin(user: User, title: str, runs: Iterable[Run], situation: Situation | None) -> Postmortem:
    """Raises Refused and LedgerDown."""
    runs, title = list(runs), title.strip()[:TITLE_MAX]
    if not runs and situation is None:
        raise Refused("Nothing is chosen. Choose at least one run.")
    need(may_write(user, runs, situation))
    ledger.refuse_if_broken()
    if len(runs) > RUNS_MAX:
        raise Refused(f"These are {len(runs)} runs. One postmortem takes up to {RUNS_MAX}.")
    if not title:
        raise Refused("It has no title. Say in a few words what happened.")
    now = timezone.now()
    since, until = collecting.window(runs, situation, now)
    with transaction.atomic():
        made = Postmortem.objects.create(title=title, situation=situation, since=since, until=until, begun_by=user, begun_at=now)
        made.runs.set(runs)
        body = {
            "postmortem": made.pk,
            "title": title,
            "runs": [str(run.pk) for run in runs],
            "situation": situation.key if situation else "",
        }
        _collect(made, now)
        ledger.record("postmortem.begun", body | {"collected": made.collected_digest}, user.username)
    return made


def collect_again(user: User, postmortem: Postmortem, since: datetime, until: datetime) -> None:
    """Read everything once more, over this time. Raises Refused and LedgerDown."""
    need(may_edit(user, postmortem))
    ledger.refuse_if_broken()
    if not timedelta() < until - since <= LONGEST:
        raise Refused(f"The time must end after it begins, and be no longer than {LONGEST.days} days.")
    with transaction.atomic():
        made = Postmortem.objects.select_for_update().get(pk=postmortem.pk)
        made.since, made.until = since, until
        _collect(made, timezone.now())
        fields = {"postmortem": made.pk, "title": made.title, "since": since, "until": until, "collected": made.collected_digest}
        ledger.record("postmortem.collected", fields, user.username)


def _collect(postmortem: Postmortem, now: datetime) -> None:
    postmortem.collected = collecting.collect(postmortem, now)
    postmortem.collected_digest = ledger.keep(canonical(postmortem.collected), "application/json")
    postmortem.collected_at = now
    postmortem.save()


def edit(user: User, pk: int, seen: int, sections: Mapping[str, str]) -> Version:
    """Save the narrative that was written upon version `seen`. Raises Conflict, Refused and LedgerDown.

    Sections that only one of two editors touched go together by themselves.
    """
    need(may_edit(user, Postmortem.objects.select_related("situation__node").get(pk=pk)))
    ledger.refuse_if_broken()
    mine = {slug: narrative.tidy(sections.get(slug, "")) for slug in narrative.EMPTY}
    with transaction.atomic():
        made = Postmortem.objects.select_for_update().get(pk=pk)
        newest, base = text_of(made, made.version), text_of(made, seen)
        if base is None or newest is None:
            raise Refused(f"There is no version {seen} of this postmortem. Copy what you wrote and open the page again.")
        merged = narrative.merge(base.sections, newest.sections, mine)
        if merged.conflicts:
            raise Conflict(newest, merged)
        if merged.sections == newest.sections:
            return newest
        return _save(user, made, merged.sections)


def _save(user: User, postmortem: Postmortem, sections: dict[str, str]) -> Version:
    postmortem.version += 1
    postmortem.save(update_fields=["version"])
    digest = ledger.keep(canonical(sections), "application/json")
    now = timezone.now()
    saved = Version.objects.create(postmortem=postmortem, number=postmortem.version, sections=sections, digest=digest, by=user, at=now)
    body = {"postmortem": postmortem.pk, "title": postmortem.title, "version": saved.number, "text": digest}
    ledger.record("postmortem.edited", body, user.username)
    return saved


def text(postmortem: Postmortem) -> Version:
    """The narrative as it stands. Raises Version.DoesNotExist when its row is gone."""
    found = text_of(postmortem, postmortem.version)
    if found is None:
        raise Version.DoesNotExist(f"The postmortem {postmortem.pk} has no version {postmortem.version}.")
    return found


def text_of(postmortem: Postmortem, number: int) -> Version | None:
    """The narrative as it stood in this version; before the first edit it is empty."""
    if number == 0:
        return Version(postmortem=postmortem, number=0, sections=dict(narrative.EMPTY), by=postmortem.begun_by, at=postmortem.begun_at)
    return postmortem.versions.select_related("by").filter(number=number).first()


def comment(user: User, postmortem: Postmortem, words: str) -> Comment:
    """Raises Refused and LedgerDown."""
    ledger.refuse_if_broken()
    words = narrative.tidy(words)[: narrative.COMMENT_MAX]
    if not words.strip():
        raise Refused("The comment is empty.")
    with transaction.atomic():
        made = Comment.objects.create(postmortem=postmortem, text=words, by=user, at=timezone.now())
        body = {"postmortem": postmortem.pk, "title": postmortem.title, "text": words}
        ledger.record("postmortem.commented", body, user.username)
    return made


def exported(user: User, postmortem: Postmortem, form: str, data: bytes) -> None:
    """A copy was taken: which form of which version, and the digest of exactly these bytes. Raises LedgerDown."""
    ledger.refuse_if_broken()
    with transaction.atomic():
        digest = ledger.keep(data, MEDIA[form])
        body = {"postmortem": postmortem.pk, "title": postmortem.title, "form": form, "version": postmortem.version, "copy": digest}
        ledger.record("postmortem.exported", body | {"collected": postmortem.collected_digest}, user.username)


MEDIA: Mapping[str, str] = {"markdown": "text/markdown", "json": "application/json", "pdf": "application/pdf"}


def looked(user: User, postmortem: Postmortem) -> None:
    """The page shows lines of kept evidence: once an hour it is recorded who saw them. The digest names all of them."""
    now = datetime.now(UTC)
    since = moment(now - ONCE_PER)
    recent = LedgerEvent.objects.filter(type=LOOKED).order_by("-id")[:LOOKS_READ]
    mine = (event.parsed["body"] for event in recent if event.actor == user.username and event.at > since)
    if all(body.get("collected") != postmortem.collected_digest for body in mine):
        body = {"postmortem": postmortem.pk, "title": postmortem.title, "collected": postmortem.collected_digest}
        record_if_possible(LOOKED, body, user.username)

"""Words that nothing explains, reviewed by an administrator: who looked, why it is no trouble, and until when that holds.

A reviewed word is shown grey and never green, and goes into no digest. When its time is over it is raised again as before.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django import forms
from django.db import transaction
from django.db.models import Case, Count, F, QuerySet, When
from django.db.models.fields.json import KT
from django.utils import timezone

from app.core.compiled_queries import Row, WrittenOnce
from app.fleet.models import ReviewedWord, Situation
from app.fleet.severity import SEVERITY_ORDER, SEVERITY_TONES, SEVERITY_WORDS
from app.ledger import services as ledger
from app.realtime.publish import ring
from workflows.analysis.unexplained import SLUG as UNEXPLAINED

if TYPE_CHECKING:
    from app.accounts.models import User

DAYS_MAX = 365
TONE, WORDS = "idle", "reviewed"  # how what is reviewed is shown wherever situations are listed
SIGN = KT("data__subject__sign")
LINE = Case(When(slug=UNEXPLAINED, then=SIGN), default=F("key"))  # what is one line of the fleet's list


class Review(forms.Form):
    why = forms.CharField(label="Why it is no trouble", max_length=1000)
    days = forms.IntegerField(label="For how many days", min_value=1, max_value=DAYS_MAX, initial=90)


def may_be_reviewed(situation: Situation) -> bool:
    """A word about a pool or a top-level vdev that is not ONLINE is to be acted on, and cannot be put aside."""
    return situation.slug == UNEXPLAINED and situation.severity != "act" and situation.is_open


def review(situation: Situation, by: User, why: str, days: int, now: datetime) -> ReviewedWord:
    """For the whole fleet: the same word of the same source elsewhere is reviewed with it."""
    subject = situation.data["subject"]
    fields = {"text": subject["text"], "why": why, "by": by, "at": now, "until": now + timedelta(days=days)}
    with transaction.atomic():
        row, _ = ReviewedWord.objects.update_or_create(sign=subject["sign"], defaults=fields)
        body = {"sign": row.sign, "text": row.text, "why": why, "until": row.until, "situation": situation.pk}
        ledger.record("word.reviewed", body, by.get_username(), node=situation.node.name)
    ring("fleet")
    return row


def of(situations: Iterable[Situation]) -> dict[str, ReviewedWord]:
    """By sign, the reviews that hold now of the words these situations are about. No question is asked where no word is unexplained."""
    signs = {sign_of(one) for one in situations if one.slug == UNEXPLAINED and one.severity != "act"}
    return (
        {row.sign: row for row in ReviewedWord.objects.filter(sign__in=signs, until__gt=timezone.now()).select_related("by")}
        if signs
        else {}
    )


def voice(situations: Iterable[Situation]) -> list[Situation]:
    """The same, each with the tone and the words of its severity for a page; grey where it is reviewed."""
    listed = list(situations)
    reviews = of(listed)
    for one in listed:
        one.reviewed = reviews.get(sign_of(one)) if one.slug == UNEXPLAINED and one.severity != "act" else None
        one.tone, one.urgency = (SEVERITY_TONES[one.severity], SEVERITY_WORDS[one.severity]) if one.reviewed is None else (TONE, WORDS)
    return listed


@WrittenOnce
def _reviews(now: datetime) -> QuerySet[ReviewedWord, Any]:
    return ReviewedWord.objects.filter(until__gt=now).order_by("pk").values_list("sign", "at")


def signs() -> list[str]:
    """Of the words that are reviewed now."""
    return [sign for sign, _ in _reviews(timezone.now())]


def reviewed(found: QuerySet[Situation], seen: list[str]) -> QuerySet[Situation]:
    """Those of `found` that are about reviewed words, whose signs are `seen`."""
    return found.filter(slug=UNEXPLAINED).exclude(severity="act").annotate(sign=SIGN).filter(sign__in=seen)


def counts(found: QuerySet[Situation], seen: list[str], of: str = "pk") -> dict[str, int]:
    """How many by severity, and apart from those what is reviewed, by the signs `seen`. `of` says what is counted once."""
    each, own = (
        dict(some.order_by().annotate(line=LINE).values_list("severity").annotate(Count(of, distinct=True)))
        for some in (found, reviewed(found, seen))
    )
    return {name: each.get(name, 0) - own.get(name, 0) for name in SEVERITY_ORDER} | {WORDS: sum(own.values())}


def stamp() -> list[Row]:
    """Equal for as long as no review is made or ends."""
    return _reviews(timezone.now())


def sign_of(situation: Situation) -> str:
    sign: str = situation.data.get("subject", {}).get("sign", "")
    return sign

"""Words that nothing explains, reviewed by an administrator: who looked, why it is no trouble, and until when that holds.

A reviewed word is shown grey and never green, and goes into no digest. When its time is over it is raised again as before.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django import forms
from django.db import transaction
from django.utils import timezone

from app.doorbell import ring
from app.fleet.models import ReviewedWord, Situation
from app.ledger import services as ledger
from workflows.unexplained import SLUG as UNEXPLAINED

if TYPE_CHECKING:
    from app.accounts.models import User

DAYS_MAX = 365


class Review(forms.Form):
    why = forms.CharField(label="Why it is no trouble", max_length=1000)
    days = forms.IntegerField(label="For how many days", min_value=1, max_value=DAYS_MAX, initial=90)


def may_be_reviewed(situation: Situation) -> bool:
    """A word about a pool or a top-level vdev that is not ONLINE is to be acted on, and cannot be put aside."""
    return situation.slug == UNEXPLAINED and situation.severity != "act" and situation.is_open


def review(situation: Situation, by: User, why: str, days: int, now: datetime) -> ReviewedWord:
    """For the whole fleet: the same word of the same source elsewhere is reviewed with it."""
    subject = situation.data["subject"]
    said = {"text": subject["text"], "why": why, "by": by, "at": now, "until": now + timedelta(days=days)}
    with transaction.atomic():
        row, _ = ReviewedWord.objects.update_or_create(sign=subject["sign"], defaults=said)
        told = {"sign": row.sign, "text": row.text, "why": why, "until": row.until, "situation": situation.pk}
        ledger.record("word.reviewed", told, by.get_username(), node=situation.node.name)
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


def sign_of(situation: Situation) -> str:
    return situation.data.get("subject", {}).get("sign", "")

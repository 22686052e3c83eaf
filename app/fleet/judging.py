"""What the one rule of `workflows.judgement` says of the rows of a page: open situations as concerns, a judgement as tone and words."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING

from workflows.facts import NodeFacts
from workflows.judgement import Concern, Judgement, judge_node
from workflows.situations import SITUATIONS
from workflows.vocabulary import page

if TYPE_CHECKING:
    from app.fleet.models import Situation

TONES = ("bad", "watch", "unknown", "idle", "info", "good")  # of a page, the worst first


def concerns(situations: Iterable[Situation]) -> tuple[Concern, ...]:
    """What an administrator has reviewed counts as seen, and never as good."""
    from app.fleet import reviewing  # reads the database; what else stands here is pure

    listed = list(situations)
    reviewed = reviewing.of(listed)
    return tuple(Concern.of(one.severity, one.title, one.data.get("subject", {}), reviewing.sign_of(one) in reviewed) for one in listed)


def of_node(facts: NodeFacts, own: Iterable[Situation]) -> Judgement:
    """`own` are the open situations of the node, the worst first."""
    return judge_node(facts, concerns(own))


def beyond_failures(judged: Judgement, facts: NodeFacts) -> list[str]:
    """What is not known, without the sources that failed: a node's page lists those by themselves."""
    return [why for why in judged.unknown if not any(failure in why for failure in facts.failures.values())]


@cache
def rules() -> str:
    """A digest of what situations there are, and of every word's meaning. A release that judges otherwise has another."""
    told = "\n".join([*sorted(SITUATIONS), page.text()])
    return hashlib.sha256(told.encode()).hexdigest()[:12]


def worse(*tones: str) -> str:
    return min(tones, key=TONES.index)

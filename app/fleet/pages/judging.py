"""What the one rule of `workflows.analysis.judgement` says of the rows of a page: open situations as concerns, a judgement as tone and words."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from workflows.analysis.judgement import Concern, Judgement, judge_disk
from workflows.facts import DiskFacts, NodeFacts, PoolFacts
from workflows.facts.read.source_states import SourceState, source_states
from workflows.situations import SITUATIONS
from workflows.vocabulary import page

if TYPE_CHECKING:
    from app.fleet.models import Situation

TONES = ("bad", "watch", "unknown", "idle", "info", "good")  # of a page, the worst first


def concerns(situations: Iterable[Situation]) -> tuple[Concern, ...]:
    """What an administrator has reviewed counts as seen, and never as good."""
    from app.fleet import unexplained_reviews  # reads the database; what else stands here is pure

    listed = unexplained_reviews.voice(situations)
    return tuple(concern(one, one.reviewed is not None) for one in listed)


def concern(situation: Situation, is_reviewed: bool = False) -> Concern:
    return Concern.of(situation.severity, situation.title, situation.data.get("subject", {}), is_reviewed)


def about(names: Iterable[str]) -> dict[str, tuple[Concern, ...]]:
    """The open situations of these nodes as concerns, by node, the worst first."""
    from app.fleet.models import Situation
    from app.fleet.severity import WORST_FIRST

    listed = list(Situation.objects.filter(closed_at=None, node__name__in=list(names)).select_related("node").order_by(*WORST_FIRST))
    found: dict[str, list[Concern]] = {}
    for row, concern in zip(listed, concerns(listed), strict=True):
        found.setdefault(row.node.name, []).append(concern)
    return {name: tuple(own) for name, own in found.items()}


About = Mapping[str, Sequence[Concern]]  # node -> its open situations


@dataclass(frozen=True)
class OfDisks:
    """What the rule says of each disk of some nodes; each is judged once for a page, wherever on it the disk is shown."""

    concerns: tuple[Concern, ...]
    states: Mapping[str, tuple[SourceState, ...]]
    _judgements: dict[int, tuple[DiskFacts, Judgement]] = field(default_factory=dict)  # with the disk, so that no other one gets its id

    @classmethod
    def of(cls, nodes: Iterable[NodeFacts], about: About) -> OfDisks:
        listed = list(nodes)
        concerns = tuple(one for node in listed for one in about.get(node.node, ()))
        return cls(concerns, {node.node: source_states(node) for node in listed})

    def disk(self, node: NodeFacts, disk: DiskFacts, member_of: PoolFacts | None) -> Judgement:
        """`member_of` is the pool of `node` that the disk is a member of."""
        if id(disk) not in self._judgements:
            self._judgements[id(disk)] = disk, judge_disk(node, disk, self.concerns, self.states[node.node], member_of)
        return self._judgements[id(disk)][1]


def beyond_failures(judged: Judgement, facts: NodeFacts) -> list[str]:
    """What is not known, without the sources that failed: a node's page lists those by themselves."""
    return [why for why in judged.unknown if not any(failure in why for failure in facts.failures.values())]


@cache
def rules() -> str:
    """A digest of what situations there are, and of every word's meaning. A release that judges otherwise has another."""
    rules_text = "\n".join([*sorted(SITUATIONS), page.text()])
    return hashlib.sha256(rules_text.encode()).hexdigest()[:12]


def worse(*tones: str) -> str:
    return min(tones, key=TONES.index)

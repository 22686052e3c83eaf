"""Words that nothing explains, as lines of the fleet's list: one for each word of a source, however many nodes say it."""

from dataclasses import dataclass, field
from urllib.parse import urlencode

from django.db.models import QuerySet
from django.db.models.fields.json import KT
from django.urls import reverse

from app.fleet import unexplained_reviews
from app.fleet.models import Situation
from app.fleet.severity import WORST_FIRST
from workflows.analysis.unexplained import SLUG
from workflows.facts import source_names as sources

NODES_SHOWN = 12


@dataclass
class Word:
    """One word of one source. `nodes` are those that say it, each with its situation, the worst first."""

    sign: str
    text: str
    source: str
    nodes: list[tuple[str, int]] = field(default_factory=list)

    @property
    def title(self) -> str:
        return f"{len(self.nodes)} nodes: “{self.text}” in the {sources.of(self.source)} is not explained"

    @property
    def shown(self) -> list[tuple[str, int]]:
        return self.nodes[:NODES_SHOWN]

    @property
    def more(self) -> int:
        return len(self.nodes) - len(self.shown)

    @property
    def url(self) -> str:
        """Where each of the nodes has a line of its own."""
        return f"{reverse('fleet')}?{urlencode({'word': self.sign})}"


def words(found: QuerySet[Situation]) -> dict[int, Word]:
    """Each word of `found` by its worst situation, which stands for all of them in a list."""
    rows = found.filter(slug=SLUG).order_by(*WORST_FIRST)
    by_sign: dict[str, tuple[int, Word]] = {}
    columns = (unexplained_reviews.SIGN, KT("data__subject__text"), KT("data__subject__source"))
    for pk, node, key, sign, text, source in rows.values_list("pk", "node__name", "key", *columns):
        _, word = by_sign.setdefault(sign or key, (pk, Word(sign or key, text or "", source or "")))
        word.nodes.append((node, pk))
    return dict(by_sign.values())

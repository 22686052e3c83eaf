"""The fleet in one list of troubles and one of nodes, worst first: read from rows, a page at a time, whatever the fleet's size.

Order, filters and counts are asked of the database. What only runs know, which trouble is being repaired, comes from beside.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any, TypeVar
from urllib.parse import urlencode

from django.conf import settings
from django.db.models import Case, Count, Exists, F, IntegerField, Model, OuterRef, Q, QuerySet, Value, When, Window
from django.db.models.functions import Least, RowNumber
from django.http import QueryDict
from django.utils.module_loading import import_string

from agents.packaging.zipapp import version_of
from app.fleet import unexplained_reviews
from app.fleet.ingest.fleet_rows import silent
from app.fleet.models import Node, PoolNow, Situation, Standing
from app.fleet.pages import rows
from app.fleet.pages.judging import TONES, worse
from app.fleet.pages.unexplained_lines import Word, words
from app.fleet.severity import SEVERITY_ORDER, SEVERITY_WORDS, WORST_FIRST, rank
from workflows.analysis.unexplained import SLUG as UNEXPLAINED
from workflows.facts.read.source_states import BROUGHT_SECONDS
from workflows.runbooks import RUNBOOKS
from workflows.situations import SITUATIONS

SITUATIONS_SHOWN, FOLLOWERS_SHOWN, NODES_SHOWN = 25, 10, 50
PAGES_MAX = 10_000
FILTER_CHARACTERS = 150  # a word and its source are the longest
REPAIR = {"yes": "being repaired", "no": "not being repaired"}

M = TypeVar("M", bound=Model)


@dataclass(frozen=True)
class Filters:
    """What the page is narrowed to; each is a part of its address. Empty is everything."""

    severity: str = ""
    node: str = ""
    pool: str = ""
    kind: str = ""
    repair: str = ""
    word: str = ""  # the sign of a word that nothing explains

    @classmethod
    def of(cls, query: QueryDict) -> Filters:
        """What the address says. What it cannot mean is no filter."""
        given = {name: query.get(name, "").strip()[:FILTER_CHARACTERS] for name in cls.__dataclass_fields__}
        allowed = {"severity": SEVERITY_ORDER, "kind": SITUATIONS, "repair": REPAIR}
        return cls(**{name: value for name, value in given.items() if name not in allowed or value in allowed[name]})

    @property
    def given(self) -> dict[str, str]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__ if getattr(self, name)}

    @property
    def query(self) -> str:
        return urlencode(self.given)


@dataclass(frozen=True)
class Page:
    """Some of many. `number` begins with one."""

    number: int
    size: int
    total: int

    @classmethod
    def at(cls, text: str, size: int, total: int) -> Page:
        number = int(text) if text.isascii() and text.isdigit() and len(text) < 6 else 1
        return cls(max(1, min(number, cls(1, size, total).last)), size, total)

    @property
    def last(self) -> int:
        return max(1, min(PAGES_MAX, -(-self.total // self.size)))

    @property
    def first_shown(self) -> int:
        return (self.number - 1) * self.size + 1 if self.total else 0

    @property
    def last_shown(self) -> int:
        return min(self.number * self.size, self.total)

    def cut(self, found: QuerySet[M]) -> list[M]:
        return list(found[(self.number - 1) * self.size : self.number * self.size])


def page(query: QueryDict, now: datetime) -> dict[str, Any]:
    """All that the page shows."""
    filters, repairs, seen = Filters.of(query), under_repair(), unexplained_reviews.signs()
    narrowed = _narrowed(filters, repairs)
    folded = {} if filters.word else words(narrowed)
    roots = _roots(narrowed, filters)
    roots = roots if filters.word else roots.filter(~Q(slug=UNEXPLAINED) | Q(pk__in=folded))
    troubles = Page.at(query.get("troubles", ""), SITUATIONS_SHOWN, roots.count())
    nodes, counts = _nodes(filters, now), _counts(now, seen)
    listed = Page.at(query.get("page", ""), NODES_SHOWN, nodes.count() if filters.given else counts["nodes"])
    return {
        "filters": filters,
        "address": urlencode(
            filters.given | {name: one.number for name, one in (("troubles", troubles), ("page", listed)) if one.number > 1}
        ),
        "counts": counts,
        "troubles": troubles,
        "situations": _lines(
            troubles.cut(roots.select_related("node").order_by(*_reviewed_last(narrowed, seen), *WORST_FIRST)), repairs, folded, now
        ),
        "listed": listed,
        "nodes": [
            {"node": node, **line(node, now), "pools": [pool_now(one, node, now) for one in node.pools_now.all()]}
            for node in listed.cut(nodes)
        ],
        "severities": list(SEVERITY_WORDS.items()),
        "kinds": [(slug, slug.replace("-", " ")) for slug in sorted(SITUATIONS)],
        "repairs": list(REPAIR.items()),
    }


def under_repair() -> Mapping[str, Any]:
    """Key of a situation -> the open run on it, as the app of the runs gives it."""
    repairs: Mapping[str, Any] = import_string(settings.REPAIRS_BESIDE)()
    return repairs


def _open() -> QuerySet[Situation]:
    return Situation.objects.filter(closed_at=None)


def _narrowed(filters: Filters, repairs: Mapping[str, Any]) -> QuerySet[Situation]:
    found = _open()
    if filters.severity:
        found = found.filter(rank=rank(filters.severity))
    if filters.node:
        found = found.filter(node__name__icontains=filters.node)
    if filters.pool:
        found = found.filter(pool__icontains=filters.pool)
    if filters.kind:
        found = found.filter(slug=filters.kind)
    if filters.word:
        found = found.filter(slug=UNEXPLAINED, data__subject__sign=filters.word)
    if filters.repair:
        found = found.filter(key__in=repairs.keys()) if filters.repair == "yes" else found.exclude(key__in=repairs.keys())
    return found


def _roots(found: QuerySet[Situation], filters: Filters) -> QuerySet[Situation]:
    """Those that nothing else in the list explains: what is explained stands under its cause, where that is listed too."""
    causes = found.filter(key=OuterRef("cause_key")) if filters.given else _open().filter(key=OuterRef("cause_key"))
    return found.filter(Q(cause_key="") | ~Exists(causes))


def _reviewed_last(found: QuerySet[Situation], seen: list[str]) -> tuple[Case, ...]:
    last = list(unexplained_reviews.reviewed(found, seen).values_list("pk", flat=True)) if seen else ()
    return (Case(When(pk__in=last, then=Value(1)), default=Value(0)),) if last else ()


@dataclass
class Line:
    """One trouble: what, since when, what is left, and what to do."""

    situation: Situation
    tone: str
    urgency: str
    left: PoolNow | None
    answers: list[str]
    run: Any
    cause: Situation | None
    followers: list[Situation]
    more: int
    word: Word | None = None  # where it stands for the same word of several nodes

    @property
    def count(self) -> int:
        return len(self.followers) + self.more


def _lines(roots: list[Situation], repairs: Mapping[str, Any], folded: Mapping[int, Word], now: datetime) -> list[Line]:
    pools = _pools_of(roots, now)
    followers, counts = _followers([s.key for s in roots])
    causes = {s.key: s for s in _open().filter(key__in={s.cause_key for s in roots if s.cause_key})}
    return [
        Line(
            one,
            one.tone,
            one.urgency,
            pools.get((one.node_id, one.pool)),
            [RUNBOOKS[a["runbook"]].title for a in one.data["answers"] if a["runbook"] in RUNBOOKS],
            repairs.get(one.key),
            causes.get(one.cause_key),
            followers.get(one.key, []),
            counts.get(one.key, 0) - len(followers.get(one.key, [])),
            word if (word := folded.get(one.pk)) is not None and len(word.nodes) > 1 else None,
        )
        for one in unexplained_reviews.voice(roots)
    ]


def _pools_of(situations: Iterable[Situation], now: datetime) -> dict[tuple[int, str], PoolNow]:
    wanted = {(s.node_id, s.pool): s.node for s in situations if s.pool}
    found = PoolNow.objects.filter(node__in={node for node, _ in wanted}, name__in={name for _, name in wanted})
    return {key: pool_now(row, wanted[key], now) for row in found if (key := (row.node_id, row.name)) in wanted}


def _followers(keys: list[str]) -> tuple[dict[str, list[Situation]], dict[str, int]]:
    """The first few that follow from each, and how many do: one question, whether any do or not."""
    place = Window(RowNumber(), partition_by="cause_key", order_by=WORST_FIRST)
    found: dict[str, list[Situation]] = {}
    following = _open().filter(cause_key__in=keys).annotate(place=place, count=Window(Count("pk"), partition_by="cause_key"))
    first = list(following.filter(place__lte=FOLLOWERS_SHOWN).order_by(*WORST_FIRST))
    for one in unexplained_reviews.voice(first):
        found.setdefault(one.cause_key, []).append(one)
    return found, {one.cause_key: one.count for one in first}


def _counts(now: datetime, seen: list[str]) -> dict[str, int]:
    """Of the whole fleet, whatever the page is narrowed to. A word that nothing explains counts once, whoever says it."""
    reporting = ~silent(now) & Q(last_report_at__isnull=False)
    other = Q(version__contains="+") & ~Q(version=handed_out())  # without a plus it is a checkout, such as a twin of the demo
    nodes = _listed().aggregate(
        nodes=Count("pk"),
        silent=Count("pk", filter=silent(now)),
        other_builds=Count("pk", filter=other),
        unknown=Count("pk", filter=reporting & Q(standing__tone="unknown")),
        good=Count("pk", filter=reporting & Q(standing__tone="good")),
    )
    return nodes | unexplained_reviews.counts(_open(), seen, of="line")


@cache
def handed_out() -> str:
    """The version of the agent that this portal hands out."""
    return version_of(settings.BASE_DIR)


def _listed() -> QuerySet[Node]:
    return Node.objects.exclude(state=Node.State.RETIRED)


def _nodes(filters: Filters, now: datetime) -> QuerySet[Node]:
    """The worst first, by what their situations leave of their pools. Silent ones stand with what is wrong: what is shown of them is old."""
    unheard = silent(now)
    worst = Case(
        When(last_report_at=None, state=Node.State.ENROLLED, then=Value(TONES.index("unknown"))),
        When(last_report_at=None, then=Value(TONES.index("idle"))),
        When(unheard & Q(state=Node.State.BROUGHT), then=Value(TONES.index("unknown"))),
        When(unheard, then=Value(TONES.index("bad"))),
        default=F("standing__rank"),
        output_field=IntegerField(),
    )
    left = Case(When(unheard, then=Least(0, F("standing__margin"))), default=F("standing__margin"), output_field=IntegerField())
    found = _listed()
    if filters.node:
        found = found.filter(name__icontains=filters.node)
    if filters.pool:
        found = found.filter(Exists(PoolNow.objects.filter(node=OuterRef("pk"), name__icontains=filters.pool)))
    if filters.severity or filters.kind or filters.word:
        about = Filters(severity=filters.severity, kind=filters.kind, word=filters.word)
        found = found.filter(Exists(_narrowed(about, {}).filter(node=OuterRef("pk"))))
    return found.order_by(worst, left, "name").select_related("standing").prefetch_related("pools_now")


def line(node: Node, now: datetime) -> dict[str, Any]:
    """Where a node stands and why, from its rows and the clock."""
    standing: Standing | None = getattr(node, "standing", None)
    tone, why = _why(node, standing, now)
    return {"tone": tone, "why": why, "disks": standing.disks if standing else None, "last_report": last_report_text(node, now)}


def _why(node: Node, standing: Standing | None, now: datetime) -> tuple[str, str]:
    if node.last_report_at is None and node.state == Node.State.ENROLLED:
        return "unknown", "was enrolled and has not reported yet"
    if node.last_report_at is None:
        return "idle", "has not reported yet"
    if node.is_brought and is_silent(node, now):
        return "unknown", "has no agent, and what was brought of it is old; bring it again"
    if is_silent(node, now):
        return "bad", "is silent; what is shown is old"
    if standing is None:
        return "idle", "has reported; what is wrong there is being worked out"
    return standing.tone, standing.why


def pool_now(pool: PoolNow, node: Node, now: datetime) -> PoolNow:
    """A pool for the page: of a node that is silent it is shown as it was, and never green."""
    if is_silent(node, now):
        pool.tone = worse(pool.tone, "unknown")
        pool.left, pool.left_tone = rows.as_last_read(pool.left, pool.left_tone)
    return pool


def is_silent(node: Node, now: datetime) -> bool:
    """Whether it has reported, and not lately; of one without an agent, whether what was brought is old."""
    limit = BROUGHT_SECONDS if node.is_brought else rows.STALE_SECONDS
    return node.last_report_at is not None and (now - node.last_report_at).total_seconds() > limit


def last_report_text(node: Node, now: datetime) -> str:
    if node.is_brought and node.last_report_at is not None:
        return f"no agent, as it was {rows.ago((now - node.last_report_at).total_seconds())}"
    return "never reported" if node.last_report_at is None else f"reported {rows.ago((now - node.last_report_at).total_seconds())}"

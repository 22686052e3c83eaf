"""What a source whose numbers grow said before: kept as spans, bounded, for collectors that declare HISTORY_SECONDS.

A span says what the source said at its first and at its last moment, so that every (text, time) it gives is true. Spans
shorter than a part of the history are not kept one by one: a resilver says something new every two seconds.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.models import QuerySet
from django.db.models.expressions import RawSQL

from agents.collectors import COLLECTORS
from app.core.compiled_queries import WrittenOnce, among
from app.fleet.models import Earlier, Node

PARTS = 8  # of the history; about as many spans are kept, and a few that are longer

HISTORY_SECONDS = {name: seconds for name, module in COLLECTORS.items() if (seconds := getattr(module, "HISTORY_SECONDS", 0))}
LATELY_SECONDS = {name: seconds for name, module in COLLECTORS.items() if (seconds := getattr(module, "LATELY_SECONDS", 0))}
Picked = Mapping[str, tuple[int, float]]  # source -> a span's key, and how many seconds before the last text it said so


@dataclass(frozen=True)
class Span:
    """One kept span without its captures. Times are seconds since 1970."""

    pk: int
    source: str
    since: float
    until: float | None


def keep(node: Node, before: Mapping[str, str], now: Mapping[str, str], asked_before: Mapping[str, float]) -> None:
    """`before` and `now` are place -> digest; `node.asked` is of `now`."""
    for source in HISTORY_SECONDS:
        was, now_captured = of_source(before, source), of_source(now, source)
        if was != now_captured and source in node.asked:
            _add(node, source, now_captured, _time(asked_before.get(source, node.asked[source])), _time(node.asked[source]))


def of_source(captures: Mapping[str, str], source: str) -> dict[str, str]:
    return {where: digest for where, digest in captures.items() if where.partition("/")[0] == source}


def spans(node: Node) -> tuple[Span, ...]:
    """Newest first."""
    return tuple(Span(pk, source, since.timestamp(), until.timestamp() if until else None) for pk, source, since, until in _spans(node.pk))


@WrittenOnce
def _spans(node: int) -> QuerySet[Earlier, Any]:
    return Earlier.objects.filter(node=node, source__in=HISTORY_SECONDS).values_list("pk", "source", "since", "until")


def captures_of(spans: Iterable[int]) -> dict[int, dict[str, str]]:
    """What these spans say, by their keys: place -> digest."""
    wanted = list(spans)
    return {pk: json.loads(captures) for pk, captures in _captures(wanted)} if wanted else {}


@WrittenOnce
def _captures(spans: RawSQL) -> QuerySet[Earlier, Any]:
    return Earlier.objects.filter(among("id", spans)).values_list("pk", "captures")


def pick(kept: tuple[Span, ...], asked: Mapping[str, float], at: float, ago: Mapping[str, float] = HISTORY_SECONDS) -> Picked:
    """For each source of `ago` the span that covers so many seconds ago, or of as long ago as is known."""
    return {
        source: found for source, seconds in ago.items() if source in asked and (found := _pick(kept, source, asked[source], at - seconds))
    }


def _pick(kept: tuple[Span, ...], source: str, asked: float, wanted: float) -> tuple[int, float] | None:
    mine = [span for span in kept if span.source == source]
    span = next((span for span in mine if span.since <= wanted), mine[-1] if mine else None)
    if span is None:
        return None
    moment = span.since if span.since > wanted else min(wanted, wanted if span.until is None else span.until)
    return (span.pk, asked - moment) if moment < asked else None


def _add(node: Node, source: str, fields: dict[str, str], ended: datetime, began: datetime) -> None:
    """Close the open span at `ended` and open one at `began`. A span that is short and not the first of its part is written over."""
    history = HISTORY_SECONDS[source]
    part = timedelta(seconds=history / PARTS)
    if spans := _newest(node.pk, source):
        (pk, since), *older = spans
        if ended - since < part and older and since - older[0][1] < part:
            Earlier.objects.filter(pk=pk).update(captures=fields, since=began)
            return
        Earlier.objects.filter(pk=pk).update(until=max(ended, since))
    Earlier.objects.create(node=node, source=source, captures=fields, since=began)
    _forget(node, source, began - timedelta(seconds=history))


@WrittenOnce
def _newest(node: int, source: str) -> QuerySet[Earlier, Any]:
    return Earlier.objects.filter(node=node, source=source).values_list("pk", "since")[:2]


def _forget(node: Node, source: str, before: datetime) -> None:
    """Drop what ended before the history reaches back, but for the newest of it: it shows what was so at that moment."""
    mine = Earlier.objects.filter(node=node, source=source)
    kept = mine.filter(since__lte=before).first()
    if kept is not None:
        mine.filter(since__lt=kept.since).delete()


def _time(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)

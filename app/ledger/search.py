"""Finding events: newest first, one page after the other by row number, in bounded time however long the ledger is.

One field of the form leads: it has an index that gives its events newest first, some thousand at a time. What else is asked for is
looked at in those only. When too few of them fit, the page says how far back it looked, and its link goes on from there.
"""

import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import TypeAlias
from urllib.parse import urlencode

from django.db import connection
from django.db.models import Q, QuerySet
from django.http import QueryDict

from app.ledger import terms
from app.ledger.forms import moment
from app.ledger.models import LedgerChain, LedgerEvent, LedgerTerm

PAGE = 50
FIELDS = ("q", "disk", "pool", "actor", "type", "run", "node", "since", "until")
WORDED = ("q", "disk", "pool")  # found by the words of the event
CHUNK = 1000  # events looked at in one go, at least
SCANNED = 2 * CHUNK - 1  # events one page may stand for; what a resilvering node says in two hours
LOOKED_MAX = 20_000  # and for one page
NEWEST_LOOKED = 200  # to see whether the first page is still the newest
FOLDED = 3  # so many alike in a row become one line
UNFOLDED = 20  # of those, so many stand in the line when it is opened
# A node that resilvers reports every few seconds, and so does its neighbour: their reports are alike, whoever sent them.
TELEMETRY = "report.changed"
COLUMNS = ("id", "type", "actor", "run", "node", "at")
Found: TypeAlias = tuple[int, str, str, str, str, str]  # of these columns
APART = timedelta(minutes=10)  # by so much may the order of times differ from the order of rows
PEOPLE_MAX = 5000


@dataclass(frozen=True)
class Line:
    """One event, or several in a row that are alike: the newest of them, how many there are, and by whom."""

    rows: list[LedgerChain]
    count: int
    oldest: int
    actors: tuple[str, ...]

    @property
    def newest(self) -> LedgerChain:
        return self.rows[0]


@dataclass(frozen=True)
class Page:
    """One page of lines, and where the next begins (0: nowhere). `looked_back_to` is a time when not all was looked at."""

    lines: list[Line]
    older: int
    looked_back_to: str = ""


@dataclass(frozen=True)
class Asked:
    """What is asked for, worked out once: kinds and persons by name, words by what they may mean, times as rows."""

    fields: dict[str, str]
    types: tuple[str, ...] | None
    actors: tuple[str, ...] | None
    words: tuple[tuple[str, ...], ...]  # each must be found, by any of its kept words
    floor: int
    ceiling: int  # 0: none

    def fits(self, row: Found) -> bool:
        _, type, actor, run, node, at = row
        fields = {"run": run, "node": node}
        return (
            (self.types is None or type in self.types)
            and (self.actors is None or actor in self.actors)
            and all(self.fields.get(name, value) == value for name, value in fields.items())
            and self.fields.get("since", "") <= at
            and (not self.fields.get("until") or at < self.fields["until"])
        )


def asked(query: Mapping[str, str]) -> dict[str, str]:
    """The filled fields of the form, in the one form of Unicode the ledger holds."""
    given = {name: unicodedata.normalize("NFC", query.get(name, "")).replace("\0", "").strip() for name in FIELDS}
    return {name: text for name, text in given.items() if text}


def faults(fields: dict[str, str]) -> list[str]:
    """What of it cannot be asked for, in words."""
    wrong = [name for name in ("since", "until") if name in fields and not when(fields[name])]
    return [f"{fields[name]} is no time. Write it as 2026-11-21 03:15, in UTC." for name in wrong]


def when(text: str) -> datetime | None:
    """A day, or a time of day, in UTC unless it says otherwise."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return None
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)


def read(fields: dict[str, str]) -> Asked:
    times = {name: at for name in ("since", "until") if name in fields and (at := when(fields[name]))}
    plain = {name: text for name, text in fields.items() if name in ("run", "node")}
    exact = plain | {name: moment(at) for name, at in times.items()}
    floor = _row_at(times["since"] - APART) if "since" in times else 0
    ceiling = _row_at(times["until"] + APART) if "until" in times else 0
    return Asked(exact, _types(fields.get("type")), _actors(fields.get("actor")), tuple(_words(fields)), floor, ceiling)


def _types(begins: str | None) -> tuple[str, ...] | None:
    """A kind is found by its beginning: "run." finds all about runs."""
    if begins is None:
        return None
    return tuple(kind for kind in terms.distinct("ledger_event", "type") if kind.startswith(begins))


def _actors(part: str | None) -> tuple[str, ...] | None:
    """A person is found by any part of the name, a node that acts by all of it."""
    if part is None:
        return None
    if part.startswith("node:"):
        return (part,)
    people = terms.distinct("ledger_event", "actor", most=PEOPLE_MAX, only="AND actor !~~ 'node:%%'")
    return tuple(name for name in people if part.lower() in name.lower())


def _words(fields: dict[str, str]) -> Iterator[tuple[str, ...]]:
    for name in WORDED:
        for word in terms.split(fields.get(name, "")):
            yield tuple(dict.fromkeys(kept for meant in terms.meant(word) for kept in terms.beginning(meant)))


def _row_at(at: datetime) -> int:
    """The first row that is not older, found by halving: times and rows rise together but for some seconds."""
    with connection.cursor() as cursor:
        cursor.execute(
            "WITH RECURSIVE half (low, high) AS ("
            " SELECT 1::bigint, coalesce(max(id), 0) + 1 FROM ledger_event UNION ALL"
            " SELECT CASE WHEN found.at < %(at)s THEN found.id + 1 ELSE low END,"
            "        CASE WHEN found.at < %(at)s THEN high ELSE (low + high) / 2 END"
            " FROM half LEFT JOIN LATERAL (SELECT id, at FROM ledger_event WHERE id >= (low + high) / 2 ORDER BY id LIMIT 1) found ON true"
            " WHERE low < high) SELECT max(low) FROM half",
            {"at": moment(at)},
        )
        row: int = cursor.fetchone()[0]
    return row


def rows_between(since: datetime, until: datetime) -> tuple[int, int]:
    """Row numbers around a stretch of time: every event of it lies from the first up to, without, the second."""
    return _row_at(since - APART), _row_at(until + APART)


def before(query: QueryDict) -> int:
    """The row a page goes back from; 0, and anything that is no number, means the newest page."""
    given = query.get("before", "")
    return int(given) if given.isascii() and given.isdecimal() and len(given) < 19 else 0


def _candidates(what: Asked, below: int, most: int) -> list[Found]:
    """The next so many events of the field that leads, newest first."""
    rows = LedgerEvent.objects.all()
    if below:
        rows = rows.filter(id__lt=below)
    if what.floor:
        rows = rows.filter(id__gte=what.floor)
    each = list(_led(rows, what, below, most))
    if len(each) == 1:
        return list(each[0].order_by("-id").values_list(*COLUMNS)[:most])
    parts = [part.order_by("-id").values_list(*COLUMNS)[:most] for part in each]
    return list(parts[0].union(*parts[1:], all=True).order_by("-id")[:most]) if parts else []


def _led(rows: QuerySet[LedgerEvent], what: Asked, below: int, most: int) -> Iterator[QuerySet[LedgerEvent]]:
    """The rows of each value of the field that leads: the one that names the fewest events."""
    if what.words:
        yield rows.filter(id__in=_having(what.words[0], what.floor, below, most))
    elif "run" in what.fields:
        yield rows.filter(run=what.fields["run"]).exclude(run="")
    elif what.actors is not None:
        for actor in what.actors:
            node = actor.removeprefix("node:")
            yield rows.filter(actor=actor, node=node).exclude(node="") if node != actor else _of_person(rows, actor)
    elif "node" in what.fields:
        yield rows.filter(node=what.fields["node"]).exclude(node="")
    elif what.types is not None:
        yield from (rows.filter(type=kind) for kind in what.types)
    else:
        yield rows


def _having(words: tuple[str, ...], floor: int, below: int, most: int) -> list[int]:
    """The newest events with any of these words."""
    found: set[int] = set()
    for word in words:
        rows = LedgerTerm.objects.filter(term=word, event_id__gte=floor)
        rows = rows.filter(event_id__lt=below) if below else rows
        found.update(rows.order_by("-event_id").values_list("event_id", flat=True)[:most])
    return sorted(found, reverse=True)[:most]


def _of_person(rows: QuerySet[LedgerEvent], actor: str) -> QuerySet[LedgerEvent]:
    """Says the condition of the index in so many words, without which the planner may not use it."""
    return rows.filter(actor=actor).exclude(Q(actor__startswith="node:"))


def _found(what: Asked, below: int, most: int, looked_max: int) -> tuple[list[Found], bool, Found | None]:
    """The events that fit, whether that is all there are, and the last that was looked at."""
    found: list[Found] = []
    looked, last, below = 0, None, min(filter(None, (below, what.ceiling)), default=0)
    chunk = min(max(CHUNK, most + 1), looked_max)  # where all fit, one question is enough however long the ledger is
    while looked < looked_max:
        batch = _candidates(what, below, chunk)
        looked += len(batch)
        found += _with_words([row for row in batch if what.fits(row)], what.words[1:])
        if len(batch) < chunk:
            return found[:most], len(found) <= most, last
        last = batch[-1]
        if len(found) > most:
            break
        below = last[0]
    return found[:most], False, last


def _with_words(rows: list[Found], words: tuple[tuple[str, ...], ...]) -> list[Found]:
    """Those that hold every other word too."""
    for kept in words:
        ids = [row[0] for row in rows]
        having = set(LedgerTerm.objects.filter(event_id__in=ids, term__in=kept).values_list("event_id", flat=True)) if ids else set()
        rows = [row for row in rows if row[0] in having]
    return rows


def newest(fields: dict[str, str], before: int) -> list[int]:
    """The newest event of a page, for whoever asks again and again whether it changed."""
    found, _, _ = _found(read(fields), before, 1, NEWEST_LOOKED)
    return [row[0] for row in found]


def page(fields: dict[str, str], before: int, flat: bool = False) -> Page:
    """`flat` shows every event on a line of its own."""
    most = PAGE + 1 if flat else SCANNED
    found, whole, last = _found(read(fields), before, most, LOOKED_MAX)
    groups = [[row] for row in found] if flat else list(_alike(found))
    shown = groups[:PAGE]
    wanted = {row[0] for group in shown for row in (*group[:UNFOLDED], group[-1])}
    places = {place.event_id: place for place in LedgerChain.objects.filter(event_id__in=wanted).select_related("event")}
    # Events are found in the order they were written in, and numbered in that of their commits: two at once may differ.
    lines = sorted((line for group in shown if (line := _line(group, places))), key=lambda line: -line.newest.seq)
    if len(groups) > PAGE or (len(found) == most and not whole):
        return Page(lines, shown[-1][-1][0])
    return Page(lines, 0) if whole or last is None else Page(lines, last[0], last[5])


def events(fields: dict[str, str], before: int, most: int) -> tuple[list[LedgerChain], int]:
    """Events one by one, for whoever reads them by program; and the row to go back from for more, 0 at the end."""
    found, whole, last = _found(read(fields), before, most + 1, LOOKED_MAX)
    shown = [row[0] for row in found[:most]]
    places = LedgerChain.objects.filter(event_id__in=shown).select_related("event").order_by("-event_id")
    if len(found) > most:
        return list(places), shown[-1]
    return list(places), 0 if whole or last is None else last[0]


def _alike(found: list[Found]) -> Iterator[list[Found]]:
    """Each event with those beside it that are like it; a few are no crowd and stay apart."""
    for _, group in groupby(found, key=_kind):
        rows = list(group)
        if len(rows) >= FOLDED:
            yield rows
        else:
            yield from ([row] for row in rows)


def _kind(row: Found) -> tuple[str, ...]:
    return (TELEMETRY,) if row[1] == TELEMETRY else row[1:5]


def _line(group: list[Found], places: dict[int, LedgerChain]) -> Line | None:
    """None for what waits for its number: it comes at the next look."""
    rows = sorted((places[row[0]] for row in group[:UNFOLDED] if row[0] in places), key=lambda place: -place.seq)
    oldest = places.get(group[-1][0])
    if not rows or oldest is None:
        return None
    return Line(rows, len(group), min(oldest.seq, rows[-1].seq), tuple(dict.fromkeys(row[2] for row in group)))


def query_string(fields: dict[str, str], before: int, flat: bool = False) -> str:
    """The address of a page of this search, from the question mark on."""
    more = ({"before": str(before)} if before else {}) | ({"flat": "1"} if flat else {})
    return "?" + urlencode(fields | more)

"""Finding events: newest first, in the order of the chain, one page after the other by sequence number."""

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from urllib.parse import urlencode

from django.db.models import F, Func, QuerySet, TextField, Value
from django.http import QueryDict

from app.ledger.models import LedgerChain

PAGE = 50
# How each field of the form narrows the list. A type is found by its beginning: "run." finds all about runs.
FILTERS = {
    "q": "text__icontains",
    "actor": "event__actor__icontains",
    "type": "event__type__startswith",
    "run": "event__run",
    "node": "event__node",
}


SCANNED = 2000  # events one page may stand for; what a resilvering node says in two hours
FOLDED = 3  # so many alike in a row become one line
UNFOLDED = 20  # of those, so many stand in the line when it is opened
# A node that resilvers reports every few seconds, and so does its neighbour: their reports are alike, whoever sent them.
TELEMETRY = "report.changed"
COLUMNS = ("seq", "event__type", "event__actor", "event__run", "event__node")


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
    """One page of lines, and where the next begins (0: nowhere)."""

    lines: list[Line]
    older: int


def asked(query: QueryDict) -> dict[str, str]:
    """The filled fields of the form, in the one form of Unicode the ledger holds."""
    said = {name: unicodedata.normalize("NFC", query.get(name, "")).replace("\0", "").strip() for name in FILTERS}
    return {name: text for name, text in said.items() if text}


def matching(fields: dict[str, str], before: int = 0) -> QuerySet[LedgerChain]:
    text = Func(F("event__body"), Value("UTF8"), function="convert_from", output_field=TextField())
    rows = LedgerChain.objects.order_by("-seq")
    if "q" in fields:
        rows = rows.alias(text=text)
    rows = rows.filter(**{FILTERS[name]: value for name, value in fields.items()})
    return rows.filter(seq__lt=before) if before else rows


def before(query: QueryDict) -> int:
    """The sequence number a page goes back from; 0, and anything that is no number, means the newest page."""
    said = query.get("before", "")
    return int(said) if said.isascii() and said.isdecimal() and len(said) < 19 else 0


def page(fields: dict[str, str], before: int, flat: bool = False) -> Page:
    """`flat` shows every event on a line of its own."""
    most = PAGE + 1 if flat or "q" in fields else SCANNED  # a text is looked for in every body; that is not done for a thousand more
    found = list(matching(fields, before).values_list(*COLUMNS)[:most])
    groups = [[row] for row in found] if flat else list(_alike(found))
    shown = groups[:PAGE]
    rows = LedgerChain.objects.select_related("event").in_bulk([row[0] for group in shown for row in group[:UNFOLDED]])
    more = len(groups) > PAGE or len(found) == most
    return Page([_line(group, rows) for group in shown], shown[-1][-1][0] if shown and more else 0)


def _alike(found: list[tuple]) -> Iterator[list[tuple]]:
    """Each event with those beside it that are like it; a few are no crowd and stay apart."""
    for _, group in groupby(found, key=_kind):
        rows = list(group)
        if len(rows) >= FOLDED:
            yield rows
        else:
            yield from ([row] for row in rows)


def _kind(row: tuple) -> tuple:
    return (TELEMETRY,) if row[1] == TELEMETRY else row[1:]


def _line(group: list[tuple], rows: dict[int, LedgerChain]) -> Line:
    actors = tuple(dict.fromkeys(row[2] for row in group))
    return Line([rows[row[0]] for row in group[:UNFOLDED]], len(group), group[-1][0], actors)


def query_string(fields: dict[str, str], before: int, flat: bool = False) -> str:
    """The address of a page of this search, from the question mark on."""
    more = ({"before": str(before)} if before else {}) | ({"flat": "1"} if flat else {})
    return "?" + urlencode(fields | more)

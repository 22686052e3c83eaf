"""Finding events: newest first, in the order of the chain, one page after the other by sequence number."""

import unicodedata
from dataclasses import dataclass
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


# A node that resilvers reports every few seconds. Unless somebody looks for something, what people did must not drown in that.
TELEMETRY = "report.changed"


@dataclass(frozen=True)
class Page:
    """One page of events, and where the next begins (0: nowhere)."""

    rows: list[LedgerChain]
    older: int


def asked(query: QueryDict) -> dict[str, str]:
    """The filled fields of the form, in the one form of Unicode the ledger holds."""
    said = {name: unicodedata.normalize("NFC", query.get(name, "")).replace("\0", "").strip() for name in FILTERS}
    return {name: text for name, text in said.items() if text}


def matching(fields: dict[str, str]) -> QuerySet[LedgerChain]:
    text = Func(F("event__body"), Value("UTF8"), function="convert_from", output_field=TextField())
    rows = LedgerChain.objects.select_related("event").order_by("-seq")
    if not fields:
        return rows.exclude(event__type=TELEMETRY)
    if "q" in fields:
        rows = rows.alias(text=text)
    return rows.filter(**{FILTERS[name]: value for name, value in fields.items()})


def page(fields: dict[str, str], before: str) -> Page:
    """`before` is a sequence number as text; anything else means the newest page."""
    rows = matching(fields)
    if before.isascii() and before.isdecimal() and len(before) < 19:
        rows = rows.filter(seq__lt=int(before))
    found = list(rows[: PAGE + 1])
    return Page(found[:PAGE], found[PAGE - 1].seq if len(found) > PAGE else 0)


def query_string(fields: dict[str, str], before: int) -> str:
    """The address of a page of this search, from the question mark on."""
    return "?" + urlencode(fields | ({"before": str(before)} if before else {}))

"""By which words an event is found: names, guids, WWIDs and digests out of its body, kept beside the ledger.

It proves nothing and may be thrown away: `catch_up` makes it again from the events. Reports of nodes come every minute and are
found by their node, so of them only the situations they opened or closed are words. A redacted event has none.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from django.db import connection, transaction

from agents.domain.wwid import normalise
from app.ledger.models import LedgerChain, LedgerTerm, LedgerTermsHead

AT_ONCE = 2000  # events
LONGEST = 100  # characters of one word
MOST = 200  # words of one event
TELEMETRY = ("report.changed", "report.late")
INDEXED_FIELDS = ("opened", "closed")
APART = re.compile(r"[^\s,;()\[\]{}<>\"'`|=]+")
INSIDE = re.compile(r"[:/]")
BEGINS, ENDS = ".,:;!?", ".,:;!?/"

# What a word is also called, by those who know: a serial is a disk's. Each app adds its own when it is ready.
ALIASES: list[Callable[[str], Iterable[str]]] = []


def of_event(type: str, body: dict[str, Any]) -> set[str]:
    fields = {name: body.get(name) for name in INDEXED_FIELDS} if type in TELEMETRY else body
    found: set[str] = set()
    for text in strings(fields):
        found.update(of_text(text))
        if len(found) >= MOST:
            break
    return set(sorted(found)[:MOST])


def strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)


def split(text: str) -> list[str]:
    """The words of a text, as they are kept and as they are asked for."""
    plain = unicodedata.normalize("NFC", text).lower()
    return [word for raw in APART.findall(plain) if (word := raw.lstrip(BEGINS).rstrip(ENDS)) and len(word) <= LONGEST]


def of_text(text: str) -> Iterator[str]:
    """Each word, its parts, and the disk it names in the one form that all forms share."""
    for word in split(text):
        yield word
        yield from (part for part in INSIDE.split(word) if len(part) > 2)
        if wwid := normalise(word):
            yield wwid


def meant(word: str) -> tuple[str, ...]:
    """What may stand in an event when this word is searched for: the disk it names, whichever way it was written."""
    wwid = normalise(word)
    return tuple(dict.fromkeys([word, *([wwid] if wwid else []), *(alias for aliases in ALIASES for alias in aliases(word))]))


def catch_up(most: int = AT_ONCE) -> bool:
    """Take in events that are not in yet, oldest first. True when none is left."""
    with transaction.atomic():
        LedgerTermsHead.objects.get_or_create(one=True, defaults={"seq": 0})
        head = LedgerTermsHead.objects.select_for_update().get()
        places = list(LedgerChain.objects.filter(seq__gt=head.seq).select_related("event").order_by("seq")[:most])
        rows = [LedgerTerm(term=term, event_id=place.event_id) for place in places for term in _terms(place)]
        LedgerTerm.objects.bulk_create(rows, batch_size=5000, ignore_conflicts=True)
        if places:
            head.seq = places[-1].seq
            head.save(update_fields=["seq"])
    return len(places) < most


def _terms(place: LedgerChain) -> set[str]:
    fields = place.event.parsed
    return of_event(fields["type"], fields["body"])


def forget(event: int) -> None:
    """What a redacted event said is not to be found by its words either."""
    LedgerTerm.objects.filter(event_id=event).delete()


# Written so that it steps from one value to the next along an index, whatever the number of rows that share a value.
STEPS = """
WITH RECURSIVE step (value) AS (
    (SELECT {column} FROM {table} WHERE {column} >= %s {only} ORDER BY {column} LIMIT 1)
    UNION ALL
    SELECT (SELECT {column} FROM {table} WHERE {column} > step.value {only} ORDER BY {column} LIMIT 1) FROM step WHERE step.value IS NOT NULL
) SELECT value FROM step WHERE value IS NOT NULL {upto} LIMIT %s
"""


def distinct(table: str, column: str, begins: str = "", most: int = 500, only: str = "") -> list[str]:
    """The different values of an indexed column, those that begin so, without reading every row."""
    upto = "AND left(value, %s) = %s" if begins else ""
    sql = STEPS.format(table=table, column=column, only=only, upto=upto)
    with connection.cursor() as cursor:
        values: list[str | int] = [begins, len(begins), begins, most] if begins else [begins, most]
        cursor.execute(sql, values)
        return [value for (value,) in cursor]


def beginning(word: str, most: int = 40) -> list[str]:
    """The kept words that begin with this one, in order, at most so many."""
    with connection.cursor() as cursor:
        cursor.execute(
            STEPS.format(
                table="ledger_term",
                column="term",
                only="AND term < %s",
                upto="",
            ),
            [word, _after(word), _after(word), most],
        )
        return [value for (value,) in cursor]


def _after(word: str) -> str:
    """A text after all that begin with `word`, in the order of bytes."""
    return word + "\U0010ffff"

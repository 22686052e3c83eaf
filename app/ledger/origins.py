"""Where a piece of evidence came from: which events name it, which source said it, and what that source said before.

A capture holds what was said and how the command ended, and not who said it: the same words of two nodes are kept once. The
event that brought it says the rest. How far back events are looked through is bounded, and said.
"""

import difflib
import json
from collections.abc import Iterator
from dataclasses import dataclass

from django.db import connection

from agents.collectors import COLLECTORS
from app.ledger import terms
from app.ledger.models import LedgerEvent, LedgerTerm

LOOKED_MAX = 5000  # events of one node
NAMING_MAX = 50
LINES_MAX = 4000  # of a text on a page
DIFFED_MAX = 5000  # lines; comparing more takes seconds
BODY = frozenset(("exit_code", "outcome", "reason", "stderr", "text"))


@dataclass(frozen=True)
class Capture:
    """The body of a capture, as `agents.collectors.base.Capture` writes it."""

    text: str
    outcome: str
    reason: str
    exit_code: str | None
    stderr: str

    @property
    def lines(self) -> list[str]:
        return self.text.split("\n")[:-1] if self.text.endswith("\n") else self.text.split("\n")


@dataclass(frozen=True)
class Naming:
    """One event that names this evidence, and in which place: "zpool_status", "zdb_label/sda1", or a field of its body."""

    event: LedgerEvent
    place: str
    at: str  # when the portal took it in

    @property
    def source(self) -> str:
        return self.place.partition("/")[0]

    @property
    def is_capture(self) -> bool:
        return self.source in COLLECTORS

    @property
    def command(self) -> str:
        """The command its collector runs; "" for one that reads files or asks of many things."""
        return " ".join(getattr(COLLECTORS.get(self.source), "ARGV", ()))


def capture(data: bytes) -> Capture | None:
    """The capture these bytes are; None when they are something else."""
    try:
        answer = json.loads(data)
    except ValueError:
        return None
    if not isinstance(answer, dict) or set(answer) != BODY:
        return None
    return Capture(answer["text"], answer["outcome"], answer["reason"], answer["exit_code"], answer["stderr"])


def named_by(digest: str, event: int = 0) -> list[Naming]:
    """The events known to name it, newest first: the one that led here, and those found by its digest."""
    found = list(LedgerTerm.objects.filter(term=digest).order_by("-event_id").values_list("event_id", flat=True)[:NAMING_MAX])
    namings = _namings({*found, *([event] if event else [])}, digest)
    if any(naming.is_capture for naming in namings):
        return namings
    return namings + [naming for naming in _namings(_in_reports(digest), digest) if naming not in namings]


def _namings(events: set[int], digest: str) -> list[Naming]:
    """Who only looked at it has not brought it."""
    rows = LedgerEvent.objects.filter(pk__in=events).exclude(type="evidence.looked").order_by("-id")
    return [naming for row in rows for naming in _places(row, digest)]


def _in_reports(digest: str) -> set[int]:
    """Reports come every minute and are kept under no words: the newest of them are looked through."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT id FROM (SELECT id, body FROM ledger_event WHERE type = 'report.changed' ORDER BY id DESC LIMIT %s) recent"
            " WHERE position(%s::bytea IN body) > 0 ORDER BY id DESC LIMIT %s",
            [LOOKED_MAX, digest.encode(), NAMING_MAX],
        )
        return {pk for (pk,) in cursor}


def _places(event: LedgerEvent, digest: str) -> Iterator[Naming]:
    body = event.parsed["body"]
    for at, values in ((event.at, body), *((each["at"], each) for each in body.get("between") or () if isinstance(each, dict))):
        changed = values.get("changed")
        for place, kept in changed.items() if isinstance(changed, dict) else ():
            if kept == digest:
                yield Naming(event, place, at)
        yield from (
            Naming(event, name, at) for name, value in values.items() if value == digest or (isinstance(value, list) and digest in value)
        )


def history(node: str, place: str, below: int) -> Iterator[tuple[str, str, LedgerEvent]]:
    """(digest, when, event) of each capture of this place before the event with this row id, that event included, newest first."""
    rows = LedgerEvent.objects.filter(node=node, type__in=terms.TELEMETRY, id__lte=below).exclude(node="").order_by("-id")
    for event in rows[:LOOKED_MAX].iterator(chunk_size=100):
        body = event.parsed["body"]
        sets = [(event.at, body), *((each["at"], each) for each in reversed(body.get("between") or ()))]
        for at, captures in sets:
            if digest := captures.get("changed", {}).get(place):
                yield digest, at, event


def before(naming: Naming, digest: str) -> tuple[str, str, LedgerEvent] | None:
    """What the same place of the same node said before it said this."""
    seen = False
    for kept, at, event in history(naming.event.node, naming.place, naming.event.pk):
        if seen and kept != digest:
            return kept, at, event
        seen = seen or kept == digest
    return None


def difference(older: Capture, newer: Capture) -> list[tuple[str, str]] | None:
    """The lines that differ with three around them, each with its kind; None when there is too much to compare."""
    if len(older.lines) + len(newer.lines) > 2 * DIFFED_MAX:
        return None
    differing = difflib.unified_diff(older.lines, newer.lines, n=3, lineterm="")
    return [(KINDS.get(line[:1], ""), line) for line in list(differing)[2:]]


KINDS = {"+": "added", "-": "gone", "@": "place"}

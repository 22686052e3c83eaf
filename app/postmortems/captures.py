"""What a node said in a stretch of time, out of the ledger: which captures were new when, and what its kept texts show.

One pass over the events of a node, from the newest back, of a bounded number of them; what was not read is said.
"""

import json
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar

from django.db import connection

from agents.collectors.base import Unparsed
from app.ledger import origins, search
from app.ledger import services as ledger
from app.ledger.forms import moment
from app.ledger.models import LedgerEvent
from app.ledger.terms import TELEMETRY

EVENTS_MAX = 4000  # of one node
FAILED_MAX = 200
T = TypeVar("T")


@dataclass(frozen=True)
class NewCapture:
    """One capture that was new: which source, when the portal took it in, its digest, and the event that brought it."""

    place: str
    at: str
    digest: str
    event: int


@dataclass
class NodeCaptures:
    """What one node said, oldest first."""

    node: str
    new: list[NewCapture] = field(default_factory=list)
    received_at: list[str] = field(default_factory=list)  # when anything new came
    other: list[LedgerEvent] = field(default_factory=list)  # what else the ledger says of this node, without the runs' events
    cut_at: str = ""  # older ones of this stretch were not read

    def of(self, source: str) -> list[NewCapture]:
        return [capture for capture in self.new if capture.place.partition("/")[0] == source]

    def at(self, place: str, when: str) -> NewCapture | None:
        """The first capture of this place from then on: what showed a change that came then."""
        mine = [capture for capture in self.new if capture.place == place]
        found = bisect_left([one.at for one in mine], when)
        return mine[found] if found < len(mine) else None


def of_node(node: str, since: datetime, until: datetime) -> NodeCaptures:
    floor, ceiling = search.rows_between(since, until)
    rows = LedgerEvent.objects.filter(node=node, id__gte=floor, id__lt=ceiling).exclude(node="").order_by("-id")[: EVENTS_MAX + 1]
    found = list(rows)
    out = NodeCaptures(node)
    if len(found) > EVENTS_MAX:
        out.cut_at = found[EVENTS_MAX - 1].at
    for event in reversed(found[:EVENTS_MAX]):
        if event.type in TELEMETRY:
            _take(out, event)
        elif not event.run and moment(since) <= event.at < moment(until):
            out.other.append(event)
    out.new = [capture for capture in sorted(out.new, key=lambda reported: reported.at) if moment(since) <= capture.at < moment(until)]
    out.received_at = sorted(at for at in out.received_at if moment(since) <= at < moment(until))
    return out


def _take(out: NodeCaptures, event: LedgerEvent) -> None:
    body = event.parsed["body"]
    for at, places_named in (*((each["at"], each) for each in body.get("between") or ()), (event.at, body)):
        out.received_at.append(at)
        out.new += [NewCapture(place, at, digest, event.pk) for place, digest in (places_named.get("changed") or {}).items()]


def read(digest: str) -> origins.Capture | None:
    """The kept capture; None when it was redacted or is none."""
    try:
        return origins.capture(ledger.blob(digest))
    except KeyError:
        return None


def parsed(reported: NewCapture, parse: Callable[[str], T | Unparsed]) -> T | Unparsed:
    """What the parser of its collector makes of it; Unparsed where it failed, was erased or makes no sense."""
    capture = read(reported.digest)
    if capture is None or capture.outcome != "data":
        return Unparsed(capture.reason if capture else "it was erased")
    return parse(capture.text)


def failed(captures: list[NewCapture]) -> Iterator[tuple[NewCapture, str]]:
    """Those that did not answer as they should, each with its reason, oldest first."""
    digests = list({one.digest for one in captures})
    with connection.cursor() as cursor:
        cursor.execute(
            'SELECT sha256, bytes FROM ledger_blob WHERE sha256 = ANY(%s) AND position(\'"outcome":"failed"\'::bytea IN bytes) > 0 LIMIT %s',
            [digests, FAILED_MAX],
        )
        reasons = {digest: json.loads(bytes(data))["reason"] for digest, data in cursor}
    yield from ((one, reasons[one.digest]) for one in captures if one.digest in reasons)


def last_before(node: str, place: str, when: datetime) -> NewCapture | None:
    """What this place said last before then."""
    _, ceiling = search.rows_between(when, when)
    for digest, at, event in origins.history(node, place, ceiling):
        if at < moment(when):
            return NewCapture(place, at, digest, event.pk)
    return None

"""Opens and closes situations as the facts show them, one writer at a time.

A report that changes something is looked at together with the nodes it touches, and with all that those touch in turn; to a
detector no other node is there (`workflows/facts/touch.py`). Once a minute the whole fleet is looked at, because some
situations come with time alone.
"""

from collections.abc import Iterable
from dataclasses import asdict
from datetime import datetime

from django.db import connection, transaction
from django.db.models import QuerySet

from app import outbox
from app.doorbell import ring
from app.fleet import services, telling
from app.fleet.models import Node, Situation
from app.ledger import services as ledger
from workflows.core import Situation as Seen
from workflows.facts import FleetFacts, NodeFacts, lookup
from workflows.facts.touch import reach
from workflows.situations import detect_all

LOCK = 0x510_7116  # of pg_advisory_xact_lock: labels of one node bear on situations of another

Settled = tuple[list[str], list[str]]  # the keys opened and the keys closed


def lock() -> None:
    """Let one report at a time settle situations, so that each sees what the one before it committed."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])


def settle_around(things: Iterable[str], at: datetime) -> Settled:
    """After a change of a node that touches, or touched, these things: what nobody touches can neither open nor close by it."""
    lock()
    near = reach(things, services.by_touch(at))
    return settle(services.fleet_facts(at, near), at, _open().filter(node__name__in=near))


def settle_all(at: datetime) -> None:
    """Look at the whole fleet, for what comes with time and for what nobody's report brought up."""
    with transaction.atomic():
        lock()
        opened, closed = settle(services.fleet_facts(at), at)
        if opened or closed:
            nodes = Situation.objects.filter(key__in=[*opened, *closed]).values_list("node__name", flat=True)
            for topic in {"fleet", *(f"node:{name}" for name in nodes)}:
                ring(topic)
            ledger.record("situations.settled", {"opened": opened, "closed": closed}, "portal")


def settle(fleet: FleetFacts, at: datetime, among: QuerySet[Situation] | None = None) -> Settled:
    """Make the open situations, all or those of `among`, the ones that `fleet` shows."""
    seen = _seen(fleet)
    rows = {row.key: row for row in (_open() if among is None else among)}
    over = [row for key, row in rows.items() if key not in seen and _answered(row, fleet)]
    Situation.objects.filter(pk__in=[row.pk for row in over]).update(closed_at=at)
    worse = [
        (rows[key], seen[key].severity) for key in seen.keys() & rows.keys() if telling.is_worse(rows[key].severity, seen[key].severity)
    ]
    for key in seen.keys() & rows.keys():
        _update(rows[key], _fields(seen[key]))
    opened = [seen[key] for key in seen if key not in rows]
    nodes = {node.name: node for node in Node.objects.filter(name__in={situation.node for situation in opened})}
    new = Situation.objects.bulk_create(Situation(key=s.key, node=nodes[s.node], opened_at=at, **_fields(s)) for s in opened)
    outbox.put(telling.happened(new, over, worse))
    return sorted(s.key for s in opened), sorted(row.key for row in over)


def _seen(fleet: FleetFacts) -> dict[str, Seen]:
    return {situation.key: situation for situation in detect_all(fleet)}


def _open():
    return Situation.objects.filter(closed_at__isnull=True).select_related("node")


def _answered(row: Situation, fleet: FleetFacts) -> bool:
    """Whether every source that showed this was asked again and answered. A source that fails has not said "all well"."""
    return all(_said(fleet.nodes.get(line["node"]), line["source"]) for line in row.data["evidence"])


def _said(node: NodeFacts | None, source: str) -> bool:
    # A node that has lost its ZFS tools fails nothing and says nothing of its pools either.
    return node is not None and source not in node.failures and lookup.trees_known(node)


def _update(row: Situation, fields: dict) -> None:
    if any(getattr(row, name) != value for name, value in fields.items()):
        Situation.objects.filter(pk=row.pk).update(**fields)


def _fields(seen: Seen) -> dict:
    data = {
        "meaning": seen.meaning,
        "evidence": [asdict(line) for line in seen.evidence],
        "answers": [{"runbook": a.runbook, "params": dict(a.params), "why": a.why} for a in seen.answers],
        "subject": dict(seen.subject),
        "sure": seen.sure,
        "cause": seen.cause,
    }
    return {"slug": seen.slug, "severity": seen.severity, "title": seen.title, "data": data}

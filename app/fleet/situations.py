"""Opens and closes situations as the facts of the whole fleet show them, one writer at a time."""

from dataclasses import asdict
from datetime import datetime

from django.db import connection

from app.fleet.models import Node, Situation
from workflows.core import Situation as Seen
from workflows.facts import FleetFacts, NodeFacts, known
from workflows.situations import detect_all

LOCK = 0x510_7116  # of pg_advisory_xact_lock: labels of one node bear on situations of another


def lock() -> None:
    """Let one report at a time settle situations, so that each sees what the one before it committed."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])


def settle(fleet: FleetFacts, at: datetime) -> tuple[list[str], list[str]]:
    """Make the open situations those that `fleet` shows; returns the keys opened and the keys closed."""
    seen = {situation.key: situation for situation in detect_all(fleet)}
    rows = {row.key: row for row in Situation.objects.filter(closed_at__isnull=True)}
    over = [row for key, row in rows.items() if key not in seen and _answered(row, fleet)]
    Situation.objects.filter(pk__in=[row.pk for row in over]).update(closed_at=at)
    for key in seen.keys() & rows.keys():
        _update(rows[key], _fields(seen[key]))
    opened = [seen[key] for key in seen if key not in rows]
    nodes = {node.name: node for node in Node.objects.filter(name__in={situation.node for situation in opened})}
    Situation.objects.bulk_create(Situation(key=s.key, node=nodes[s.node], opened_at=at, **_fields(s)) for s in opened)
    return sorted(s.key for s in opened), sorted(row.key for row in over)


def _answered(row: Situation, fleet: FleetFacts) -> bool:
    """Whether every source that showed this was asked again and answered. A source that fails has not said "all well"."""
    return all(_said(fleet.nodes.get(line["node"]), line["source"]) for line in row.data["evidence"])


def _said(node: NodeFacts | None, source: str) -> bool:
    # A node that has lost its ZFS tools fails nothing and says nothing of its pools either.
    return node is not None and source not in node.failures and known(node.pools)


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

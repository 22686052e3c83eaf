"""Opens and closes situations as the facts of the whole fleet show them, one writer at a time.

A report that changes something is looked at together with the nodes it touches. Mostly that shows the situations that are
open already, and only their words are brought up to date. Whatever would open or close is decided with the facts of the
whole fleet; and once a minute all of it is looked at, because some situations come with time alone.
"""

from collections.abc import Iterable
from dataclasses import asdict
from datetime import datetime

from django.db import connection, transaction

from app.doorbell import ring
from app.fleet import services
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


def settle_around(things: Iterable[str], *, whole: bool, at: datetime) -> Settled:
    """After a change of a node that touches, or touched, these things. `whole`: what it touched before is not known."""
    lock()
    near = reach(things, services.by_touch(at))
    if not whole and _brought_up_to_date(services.fleet_facts(at, near)):
        return [], []
    return settle(services.fleet_facts(at), at)


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


def settle(fleet: FleetFacts, at: datetime) -> Settled:
    """Make the open situations those that `fleet` shows."""
    seen = _seen(fleet)
    rows = {row.key: row for row in _open()}
    over = _over(rows, seen, fleet)
    Situation.objects.filter(pk__in=[row.pk for row in over]).update(closed_at=at)
    for key in seen.keys() & rows.keys():
        _update(rows[key], _fields(seen[key]))
    opened = [seen[key] for key in seen if key not in rows]
    nodes = {node.name: node for node in Node.objects.filter(name__in={situation.node for situation in opened})}
    Situation.objects.bulk_create(Situation(key=s.key, node=nodes[s.node], opened_at=at, **_fields(s)) for s in opened)
    return sorted(s.key for s in opened), sorted(row.key for row in over)


def _brought_up_to_date(part: FleetFacts) -> bool:
    """Whether the open situations of these nodes are those that `part` shows; then they now say what it says."""
    seen = {key: situation for key, situation in _seen(part).items() if situation.node in part.nodes}
    rows = {row.key: row for row in _open().filter(node__name__in=part.nodes)}
    if seen.keys() - rows.keys() or _over(rows, seen, part):
        return False
    for key in seen:
        _update(rows[key], _fields(seen[key]))
    return True


def _seen(fleet: FleetFacts) -> dict[str, Seen]:
    return {situation.key: situation for situation in detect_all(fleet)}


def _open():
    return Situation.objects.filter(closed_at__isnull=True)


def _over(rows: dict[str, Situation], seen: dict[str, Seen], fleet: FleetFacts) -> list[Situation]:
    return [row for key, row in rows.items() if key not in seen and _answered(row, fleet)]


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

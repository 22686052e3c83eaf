"""Facts for everybody who asks: the newest captures of every node, parsed once per process and set of captures."""

import json
from dataclasses import replace
from datetime import datetime

from django.utils import timezone

from app.fleet import history
from app.fleet.models import Disk, Node, Report
from app.ledger.models import Blob
from workflows.facts import FleetFacts, LeafChange, NodeFacts, node_facts

_parsed: dict[str, tuple[str, dict[str, dict], NodeFacts]] = {}  # node name -> report digest, bodies by digest, facts without age


def fleet_facts(at: datetime | None = None) -> FleetFacts:
    """What all nodes said last. A node that has never reported is not in it: nothing is known about it."""
    at = at or timezone.now()
    nodes = Node.objects.filter(last_report_at__isnull=False).exclude(state=Node.State.RETIRED)
    changes = history.leaf_changes(at)
    aged = {node.name: _aged(node, at, changes.get(node.name, ())) for node in nodes}
    return FleetFacts(aged, history.remembered(Disk.objects, at))


def facts_of(node: Node, at: datetime | None = None) -> NodeFacts | None:
    """What one node said last; None when it has never reported."""
    at = at or timezone.now()
    return _aged(node, at, history.leaf_changes(at, node).get(node.name, ())) if node.last_report_at else None


def _aged(node: Node, at: datetime, changes: tuple[LeafChange, ...]) -> NodeFacts:
    # The age may come out below zero when two clocks race by a hair; it is never older than it says.
    age_seconds = max(0.0, (at - node.last_report_at).total_seconds())
    return replace(_parse(node), age_seconds=age_seconds, leaf_changes=changes)


def _parse(node: Node) -> NodeFacts:
    """The facts of the node's report; only bodies that were not in the report before are read."""
    digest, known, facts = _parsed.get(node.name, ("", {}, None))
    if digest == node.report_digest:
        return facts
    captures = Report.objects.get(node=node).captures
    bodies = {name: known[name] for name in captures.values() if name in known}
    bodies |= _read(set(captures.values()) - bodies.keys())
    facts = node_facts(node.name, {where: bodies[name] for where, name in captures.items()}, 0.0, ())
    _parsed[node.name] = (node.report_digest, bodies, facts)
    return facts


def _read(digests: set[str]) -> dict[str, dict]:
    kept = Blob.objects.filter(pk__in=digests).values_list("pk", "bytes")
    return {digest: json.loads(bytes(data)) for digest, data in kept}

"""Facts for everybody who asks: the newest captures of every node, parsed once per process and set of captures."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import MappingProxyType

from django.utils import timezone

from app.fleet import earlier, history
from app.fleet.models import Disk, Earlier, Node, Report
from app.ledger.models import Blob
from workflows.facts import FleetFacts, LeafChange, NodeFacts, node_facts
from workflows.facts.sources import Memory
from workflows.facts.touch import touches

Picked = Mapping[str, tuple[int, float]]


@dataclass(frozen=True)
class Parsed:
    """What a node's set of captures says, without what passes with time."""

    set: str  # its digest and when it came
    captures: Mapping[str, str]  # place -> digest
    bodies: Mapping[str, dict]  # by digest
    facts: NodeFacts
    touches: frozenset[str]
    spans: tuple[earlier.Span, ...]
    spans_read: frozenset[int]  # of those, which the facts compare with
    memory: Memory = field(default_factory=dict)  # of what was joined; handed on from set to set


NOTHING = Parsed("", MappingProxyType({}), MappingProxyType({}), None, frozenset(), (), frozenset())
SETS_REMEMBERED = 2  # of a node: while one report is taken in, others still read the set that stood before
_parsed: dict[str, dict[str, Parsed]] = {}  # by node name and set, oldest first


def fleet_facts(at: datetime | None = None, names: Iterable[str] | None = None) -> FleetFacts:
    """What all nodes (or those of `names`) said last. A node that has never reported is not in it: nothing is known about it."""
    at = at or timezone.now()
    nodes = _reporting() if names is None else _reporting().filter(name__in=names)
    changes = history.leaf_changes(at)
    aged = {node.name: _aged(node, at, changes.get(node.name, ())) for node in nodes}
    return FleetFacts(aged, history.remembered(Disk.objects, at), history.gone(at))


def facts_of(node: Node, at: datetime | None = None) -> NodeFacts | None:
    """What one node said last; None when it has never reported."""
    at = at or timezone.now()
    return _aged(node, at, history.leaf_changes(at, node).get(node.name, ())) if node.last_report_at else None


def parsed(node: Node, at: datetime, captures: Mapping[str, str] | None = None) -> Parsed:
    """The node's report, parsed; only bodies that were not in the report before are read. `captures` are its own, where they are at hand."""
    name = _name_of(node.report_digest, node.set_at)
    known = _remembered(node.name, name)
    if known is NOTHING:
        if captures is None:  # read together with its name: another report may have come since the node was read
            captures, *which = Report.objects.values_list("captures", "node__report_digest", "node__set_at").get(node=node)
            name = _name_of(*which)
        known = replace(_latest(node.name), set=name, captures=captures, facts=None, spans=earlier.spans(node))
    picked = earlier.pick(known.spans, node.asked, at.timestamp())
    wanted = frozenset(pk for pk, _ in picked.values())
    if known.facts is None or known.spans_read != wanted:
        known = _parse(node, known, picked, wanted)
        older = {which: one for which, one in _parsed.get(node.name, {}).items() if which != name}
        _parsed[node.name] = dict([*older.items(), (name, known)][-SETS_REMEMBERED:])
    return known


def _remembered(node: str, name: str) -> Parsed:
    return _parsed.get(node, {}).get(name, NOTHING)


def _latest(node: str) -> Parsed:
    return next(reversed(_parsed.get(node, {}).values()), NOTHING)


def last_said(node: Node, at: datetime) -> tuple[dict[str, dict], dict[str, tuple[dict, float]]]:
    """What a node said last, by place; and what sources with a memory said before, with how many seconds before that."""
    one = parsed(node, at)
    picked = earlier.pick(one.spans, node.asked, at.timestamp())
    before = dict(Earlier.objects.filter(pk__in=[pk for pk, _ in picked.values()]).values_list("pk", "captures"))
    texts = dict(one.bodies)
    texts |= bodies({digest for captures in before.values() for digest in captures.values()} - texts.keys())
    said = {where: texts[digest] for where, digest in one.captures.items()}
    return said, {where: (texts[digest], seconds) for pk, seconds in picked.values() for where, digest in before.get(pk, {}).items()}


def bodies(digests: set[str]) -> dict[str, dict]:
    """Kept captures by digest."""
    kept = Blob.objects.filter(pk__in=digests).values_list("pk", "bytes") if digests else ()
    return {digest: json.loads(bytes(data)) for digest, data in kept}


def by_touch(at: datetime) -> dict[str, frozenset[str]]:
    """Every node with what it touches. Reads only what other processes took in meanwhile."""
    sets = {name: _name_of(*which) for name, *which in _reporting().values_list("name", "report_digest", "set_at")}
    found = {name: _remembered(name, which) for name, which in sets.items()}
    behind = [name for name, known in found.items() if known is NOTHING]
    for node in _reporting().filter(name__in=behind) if behind else ():
        found[node.name] = parsed(node, at)
    return {name: known.touches for name, known in found.items()}


def _name_of(digest: str, at: datetime | None) -> str:
    """A set that stands again after another one is a new one: what was said before it differs."""
    return f"{digest} {at}"


def _reporting():
    return Node.objects.filter(last_report_at__isnull=False).exclude(state=Node.State.RETIRED)


def _parse(node: Node, known: Parsed, picked: Picked, wanted: frozenset[int]) -> Parsed:
    before = dict(Earlier.objects.filter(pk__in=wanted).values_list("pk", "captures")) if wanted else {}
    needed = set(known.captures.values()).union(*(captures.values() for captures in before.values()))
    texts = {digest: known.bodies[digest] for digest in needed if digest in known.bodies}
    texts |= bodies(needed - texts.keys())
    said = {where: texts[digest] for where, digest in known.captures.items()}
    then = {where: (texts[digest], seconds) for pk, seconds in picked.values() for where, digest in before[pk].items()}
    memory = dict(known.memory)  # others may be reading what stood before
    facts = node_facts(node.name, said, 0.0, (), earlier=then, digests=known.captures, memory=memory)
    return replace(known, bodies=texts, facts=facts, touches=touches(facts), spans_read=wanted, memory=memory)


def _aged(node: Node, at: datetime, changes: tuple[LeafChange, ...]) -> NodeFacts:
    # An age may come out below zero when two clocks race by a hair; it is never older than it says.
    now = at.timestamp()
    ages = {source: max(0.0, now - asked) for source, asked in node.asked.items()}
    age_seconds = max(0.0, (at - node.last_report_at).total_seconds())
    return replace(parsed(node, at).facts, age_seconds=age_seconds, ages=ages, leaf_changes=changes)

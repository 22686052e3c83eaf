"""Facts for everybody who asks: the newest captures of the nodes that matter to a question, parsed once per set of captures.

A process remembers what it parsed last, within bounds; a fleet of a thousand nodes is in the database and in no process's memory.
"""

import json
import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db.models import QuerySet
from django.db.models.expressions import RawSQL
from django.utils import timezone

from app.core.compiled_queries import ModelsWrittenOnce, WrittenOnce, among
from app.fleet.ingest import earlier_captures, history, related_nodes
from app.fleet.ingest.earlier_captures import HISTORY_SECONDS, LATELY_SECONDS, Picked
from app.fleet.models import Node, Report
from app.ledger.models import Blob
from workflows.facts import FleetFacts, LeafChange, NodeFacts, node_facts
from workflows.facts.fleet.related_nodes import doubts, named_in, questions, touches
from workflows.facts.read.sources import Memory

Body = dict[str, Any]


@dataclass(frozen=True)
class Captured:
    """A node's set of captures, with what it said before."""

    set: str  # its digest and when it came
    captures: Mapping[str, str]  # place -> digest
    spans: tuple[earlier_captures.Span, ...]


@dataclass(frozen=True)
class Parsed(Captured):
    """What such a set says, without what passes with time."""

    bodies: Mapping[str, Body]  # by digest
    facts: NodeFacts
    touches: frozenset[str]
    doubts: frozenset[str]
    spans_read: frozenset[int]  # of those, which the facts compare with
    memory: Memory  # of what was joined; handed on from set to set


SETS_REMEMBERED = 2  # of a node: while one report is taken in, others still read the set that stood before
FACTS_PER_BYTE = 3  # what is made of a text takes about so much more room than the text itself
_parsed: OrderedDict[str, dict[str, Parsed]] = OrderedDict()  # by node name, the one that was asked for longest ago first, and set
_taken: dict[str, int] = {}  # bytes, by node name
_one = threading.Lock()  # many threads ask, and what one forgets another must not be moving


def fleet_facts(at: datetime | None = None, names: Iterable[str] | None = None) -> FleetFacts:
    """What all nodes (or those of `names`) said last. A node that has never reported is not in it: nothing is known about it.

    All of them is more than one process holds of a large fleet. Who knows what it asks about takes `facts_near`.
    """
    return _joined(_nodes(names), at or timezone.now())


def facts_near(words: Iterable[str], at: datetime | None = None) -> FleetFacts:
    """All that bears on what these words name, wherever in the fleet: nodes, pools, disks, serial numbers, as runs and people name them.

    With the nodes that share anything with those named, come all that may for all that is known: a node that does not say which
    disks it sees may see any. So a guard that finds no other node has found none in the fleet.
    """
    at = at or timezone.now()
    near = near_things(named_in(words), at)
    known_near = fleet_facts(at, near)
    wider = _wider(known_near, near, at)
    return known_near if wider == near else fleet_facts(at, wider)


def facts_at_hand(words: Iterable[str], at: datetime | None = None) -> FleetFacts | None:
    """The same, where this process holds all of it; None when a node would have to be read first."""
    at = at or timezone.now()
    near = near_things(named_in(words), at)
    known_near = held_facts(near, at)
    wider = _wider(known_near, near, at) if known_near is not None else near
    return known_near if wider == near else held_facts(wider, at)


def held_facts(names: Iterable[str], at: datetime | None = None) -> FleetFacts | None:
    """What these nodes said last, where this process holds all of it; None when a node would have to be read first."""
    nodes = _nodes(names)
    return None if any(remembered(node) is None for node in nodes) else _joined(nodes, at or timezone.now())


def _nodes(names: Iterable[str] | None) -> list[Node]:
    return list(related_nodes.reporting()) if names is None else _named(list(names))


@ModelsWrittenOnce
def _named(names: RawSQL) -> QuerySet[Node]:
    return related_nodes.reporting().filter(among("fleet_node.name", names))


def _joined(nodes: list[Node], at: datetime) -> FleetFacts:
    changes = history.leaf_changes(at, nodes)
    aged = {node.name: _aged(node, at, node.last_report_at, changes.get(node.name, ())) for node in nodes if node.last_report_at}
    return FleetFacts(aged, history.remembered(at), history.gone(at, nodes), at=at.timestamp())


def _wider(fleet: FleetFacts, near: frozenset[str], at: datetime) -> frozenset[str]:
    """With the nodes that answer what these ask of others."""
    asked = frozenset().union(*(questions(facts) for facts in fleet.nodes.values()))
    return near | near_things(asked, at) if asked else near


def near_things(things: Iterable[str], at: datetime) -> frozenset[str]:
    """Names of the nodes that touch one of these, and all that those touch in turn."""
    behind = [] if related_nodes.all_are_written() else list(related_nodes.behind())
    late = {node.name: touches(parsed(node, at).facts) for node in behind}
    return related_nodes.near(frozenset(things).union(*late.values())) | late.keys()


def facts_of(node: Node, at: datetime | None = None) -> NodeFacts | None:
    """What one node said last; None when it has never reported."""
    at = at or timezone.now()
    return _aged(node, at, node.last_report_at, history.leaf_changes(at, [node]).get(node.name, ())) if node.last_report_at else None


def parsed(node: Node, at: datetime, captures: Mapping[str, str] | None = None) -> Parsed:
    """The node's report, parsed; only bodies that were not in the report before are read. `captures` are its own, where they are at hand."""
    known = remembered(node)
    own = known or _captured(node, captures)
    looks = [earlier_captures.pick(own.spans, node.asked, at.timestamp(), ago) for ago in (HISTORY_SECONDS, LATELY_SECONDS)]
    wanted = frozenset(pk for picked in looks for pk, _ in picked.values())
    if known is None or known.spans_read != wanted:
        known = _parse(node, own, known or _latest(node.name), looks, wanted)
        _remember(node.name, known)
    return known


def _captured(node: Node, captures: Mapping[str, str] | None) -> Captured:
    digest, set_at = node.report_digest, node.set_at
    if captures is None:  # read together with its name: another report may have come since the node was read
        captures, digest, set_at = Report.objects.values_list("captures", "node__report_digest", "node__set_at").get(node=node)
    return Captured(_name_of(digest, set_at), captures, earlier_captures.spans(node))


def remembered(node: Node) -> Parsed | None:
    """What this process holds of the node's present set; None when that would have to be read first."""
    with _one:
        sets = _parsed.get(node.name)
        if sets is None:
            return None
        _parsed.move_to_end(node.name)
        return sets.get(_name_of(node.report_digest, node.set_at))


def forget() -> None:
    """Hold nothing, like a new process."""
    with _one:
        _parsed.clear()
        _taken.clear()


def _remember(name: str, known: Parsed) -> None:
    """Keep it, and let go of the nodes that were not asked for longest: what is held does not grow with the fleet."""
    with _one:
        older = {which: one for which, one in _parsed.get(name, {}).items() if which != known.set}
        _parsed[name] = dict([*older.items(), (known.set, known)][-SETS_REMEMBERED:])
        _parsed.move_to_end(name)
        _taken[name] = (1 + FACTS_PER_BYTE) * sum(len(body.get("text", "")) for body in known.bodies.values())
        while len(_parsed) > 1 and sum(_taken.values()) > settings.SLOTLIGHT_FACTS_BYTES_MAX:
            gone, _ = _parsed.popitem(last=False)
            del _taken[gone]


def _latest(node: str) -> Parsed | None:
    with _one:
        return next(reversed(_parsed.get(node, {}).values()), None)


def last_captures(node: Node, at: datetime) -> tuple[dict[str, Body], dict[str, tuple[Body, float]]]:
    """What a node said last, by place; and what sources with a memory said before, with how many seconds before that."""
    one = parsed(node, at)
    picked = earlier_captures.pick(one.spans, node.asked, at.timestamp())
    before = earlier_captures.captures_of(pk for pk, _ in picked.values())
    texts = dict(one.bodies)
    texts |= bodies({digest for captures in before.values() for digest in captures.values()} - texts.keys())
    current = {where: texts[digest] for where, digest in one.captures.items()}
    return current, {where: (texts[digest], seconds) for pk, seconds in picked.values() for where, digest in before.get(pk, {}).items()}


def blobs(digests: set[str]) -> dict[str, bytes]:
    """Kept evidence by digest."""
    return {digest: bytes(data) for digest, data in _kept(list(digests))} if digests else {}


def bodies(digests: set[str]) -> dict[str, Body]:
    """Kept captures by digest."""
    return {digest: json.loads(bytes(data)) for digest, data in _kept(list(digests))} if digests else {}


@WrittenOnce
def _kept(digests: RawSQL) -> QuerySet[Blob, Any]:
    return Blob.objects.filter(among("sha256", digests)).values_list("pk", "bytes")


def _name_of(digest: str, at: datetime | None) -> str:
    """A set that stands again after another one is a new one: what was said before it differs."""
    return f"{digest} {at}"


def _parse(node: Node, own: Captured, last: Parsed | None, looks: Sequence[Picked], wanted: frozenset[int]) -> Parsed:
    """`last` is what was parsed of the node last: its bodies are not read again, and what was joined of them is not joined again."""
    before, at_hand = earlier_captures.captures_of(wanted), last.bodies if last else {}
    needed = set(own.captures.values()).union(*(captures.values() for captures in before.values()))
    texts = {digest: at_hand[digest] for digest in needed if digest in at_hand}
    texts |= bodies(needed - texts.keys())
    current = {where: texts[digest] for where, digest in own.captures.items()}
    earlier, lately = (
        {where: (texts[digest], seconds) for pk, seconds in picked.values() for where, digest in before[pk].items()} for picked in looks
    )
    memory = dict(last.memory) if last else {}  # others may be reading what stood before
    facts = node_facts(node.name, current, 0.0, (), earlier=earlier, lately=lately, digests=own.captures, memory=memory)
    return Parsed(own.set, own.captures, own.spans, texts, facts, touches(facts), doubts(facts), wanted, memory)


def _aged(node: Node, at: datetime, last_report_at: datetime, changes: tuple[LeafChange, ...]) -> NodeFacts:
    # An age may come out below zero when two clocks race by a hair; it is never older than it says.
    now = at.timestamp()
    ages = {source: max(0.0, now - asked) for source, asked in node.asked.items()}
    age_seconds = max(0.0, (at - last_report_at).total_seconds())
    return replace(parsed(node, at).facts, age_seconds=age_seconds, ages=ages, leaf_changes=changes, brought=node.is_brought)

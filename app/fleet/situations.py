"""Opens and closes situations as the facts show them, one writer at a time.

A report that changes something is looked at together with the nodes it touches, and with all that those touch in turn; to a
detector no other node is there (`workflows/facts/fleet/related_nodes.py`). Once a minute the fleet is looked at, a large one in turns, because
some situations come with time alone.
"""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from django.db import connection, transaction
from django.db.models import F, QuerySet
from django.db.models.expressions import RawSQL
from django.utils import timezone

from app.core import outbox
from app.core.compiled_queries import ModelsWrittenOnce, among, save
from app.fleet import notifications, services
from app.fleet.ingest import fleet_rows, history, related_nodes
from app.fleet.models import Node, Situation, Standing
from app.fleet.pages import overview
from app.fleet.severity import margin, rank
from app.ledger import services as ledger
from app.realtime.publish import ring
from workflows.engine.core import Situation as Seen
from workflows.facts import FleetFacts, NodeFacts, lookup
from workflows.situations import detect_all

JUST_SETTLED = timedelta(minutes=1)  # what comes with time alone comes no later for it than with every look at the fleet
LOCK = 0x510_7116  # of pg_advisory_xact_lock: labels of one node bear on situations of another

KEPT = "kept_for_run"  # in a row's data: this release does not see it any more, and an open run is about it

Settled = tuple[list[str], list[str]]  # the keys opened and the keys closed


def lock() -> None:
    """Let one report at a time settle situations, so that each sees what the one before it committed."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])


def settle_around(things: Iterable[str], at: datetime) -> Settled:
    """After a change of a node that touches, or touched, these things: what no node touches can neither open nor close by it."""
    lock()
    near = services.near_things(things, at)
    return settle(services.fleet_facts(at, near), at, _open_on(list(near)))


def settle_all(at: datetime, seconds: float | None = None) -> int:
    """Look at the whole fleet, for what comes with time and for what no report brought up; returns how many nodes were looked at.

    Nodes that bear on one another are looked at together, each such group in a transaction of its own, so that reports go on. With
    `seconds`, those come first where something is under way, then those that were looked at longest ago, until the time is up; and whose
    report said something new within the last minute is left out, because the report was settled then.
    """
    done: set[str] = set()
    for name in _in_turn(at, seconds):
        if name not in done:
            done |= {name, *_settle_with(name, at)}
    return len(done)


def _in_turn(at: datetime, seconds: float | None) -> Iterator[str]:
    """Half of the time for the restless; whoever is left out is looked at first the next time."""
    by_age = related_nodes.reporting().order_by(F("standing__settled_at").asc(nulls_first=True), "name")
    if seconds is not None:
        by_age = by_age.exclude(set_at__gt=at - JUST_SETTLED, set_at__lte=at)
    begun = time.monotonic()
    for part, found in ((0.5, by_age.filter(standing__restless=True)), (1.0, by_age)):
        for turn, name in enumerate(list(found.values_list("name", flat=True))):
            if turn and seconds is not None and time.monotonic() - begun > part * seconds:
                break  # each part gets its first, or the restless could keep all others waiting for ever
            yield name


def _settle_with(name: str, at: datetime) -> frozenset[str]:
    """Settle a node and all that bears on it; returns their names."""
    with transaction.atomic():
        _catch_up(name, at)
        lock()
        near = services.near_things([f"node {name}"], at)
        opened, closed = settle(services.fleet_facts(at, near), at, _open_on(list(near)))
        Standing.objects.filter(node__name__in=near).update(settled_at=at)
        if opened or closed:
            for topic in {"fleet", *(f"node:{name}" for name in near)}:
                ring(topic)
            ledger.record("situations.settled", {"opened": opened, "closed": closed}, "portal")
    return near


def _catch_up(name: str, at: datetime) -> None:
    """Write down what a node touches, and where its disks are, that has not reported since this is written down."""
    node = related_nodes.behind().filter(name=name).select_for_update(of=["self"], no_key=True).first()
    if node is not None:
        facts = services.parsed(node, at).facts
        related_nodes.write(node, facts)
        history.record(node, facts, at)


def catch_up_after_migrating(plan: Sequence[tuple[object, bool]] = (), **_: object) -> None:
    """Once, with a version that writes down more than the one before it; else the first reports would pay for it."""
    if any(backwards for _, backwards in plan):
        return
    for name in list(related_nodes.behind().values_list("name", flat=True)):
        with transaction.atomic():
            _catch_up(name, timezone.now())


def settle(fleet: FleetFacts, at: datetime, open_: Iterable[Situation] | None = None) -> Settled:
    """Make the open situations, all or those of `open_`, the ones that `fleet` shows."""
    seen = {situation.key: situation for situation in detect_all(fleet)}
    rows = {row.key: row for row in (_open() if open_ is None else open_)}
    nodes = {node.name: node for node in _nodes(list(fleet.nodes))}
    anew = fleet_rows.judged_anew(nodes.values())
    over = _without_kept([row for key, row in rows.items() if key not in seen and _answered(row, fleet)], anew)
    Situation.objects.filter(pk__in=[row.pk for row in over]).update(closed_at=at)
    worse = [
        (rows[key], seen[key].severity)
        for key in seen.keys() & rows.keys()
        if notifications.is_worse(rows[key].severity, seen[key].severity)
    ]
    changed = [row for key, row in rows.items() if key in seen and _update(row, _fields(seen[key], fleet))]
    opened = [seen[key] for key in seen if key not in rows]
    new = Situation.objects.bulk_create(_new(s, nodes, at, fleet) for s in opened)
    outbox.put(notifications.happened(new, over, worse, anew))
    fleet_rows.keep(fleet, at, nodes, [row for row in rows.values() if row not in over] + new, (*over, *changed, *new))
    return sorted(s.key for s in opened), sorted(row.key for row in over)


def _new(seen: Seen, nodes: Mapping[str, Node], at: datetime, fleet: FleetFacts) -> Situation:
    return Situation(key=seen.key, node=nodes[seen.node], opened_at=at, opened_as=seen.title, **_fields(seen, fleet))


def _open() -> QuerySet[Situation]:
    return Situation.objects.filter(closed_at__isnull=True).select_related("node")


@ModelsWrittenOnce
def _open_on(nodes: RawSQL) -> QuerySet[Situation]:
    return _open().filter(among("fleet_node.name", nodes))


@ModelsWrittenOnce
def _nodes(names: RawSQL) -> QuerySet[Node]:
    return Node.objects.filter(among("fleet_node.name", names)).select_related("standing")


def _answered(row: Situation, fleet: FleetFacts) -> bool:
    """Whether every source that showed this was asked again and answered. A source that fails has not said "all well"."""
    return all(_is_covered(fleet.nodes.get(line["node"]), line["source"]) for line in row.data["evidence"])


def _is_covered(node: NodeFacts | None, source: str) -> bool:
    # A node that has lost its ZFS tools fails nothing and says nothing of its pools either, and who lets a disk sleep has not asked.
    return node is not None and source not in node.failures and source not in node.left_asleep and lookup.trees_known(node)


def _without_kept(over: list[Situation], anew: frozenset[int]) -> list[Situation]:
    """Those that may be closed. What another release found, and a run is open for, stays open until that run has ended."""
    doubtful = [row for row in over if row.node_id in anew or row.data.get(KEPT)]
    if not doubtful:
        return over
    repaired = overview.under_repair()
    kept = [row for row in doubtful if row.key in repaired]
    for row in kept:
        _update(row, {"data": row.data | {KEPT: True}})
    return [row for row in over if row not in kept]


def _update(row: Situation, fields: dict[str, Any]) -> bool:
    """Whether there was anything to write."""
    differ = {name: value for name, value in fields.items() if getattr(row, name) != value}
    for name, value in differ.items():
        setattr(row, name, value)
    if differ:
        save(row, *differ)
    return bool(differ)


def _fields(seen: Seen, fleet: FleetFacts) -> dict[str, Any]:
    data = {
        "meaning": seen.meaning,
        "evidence": [asdict(line) for line in seen.evidence],
        "answers": [{"runbook": a.runbook, "params": dict(a.params), "why": a.why} for a in seen.answers],
        "cures": [cure.as_dict() for cure in seen.cures],
        "gate": seen.gate,
        "subject": dict(seen.subject),
        "sure": seen.sure,
        "cause": seen.cause,
    }
    listed = {"rank": rank(seen.severity), "margin": margin(seen, fleet), "cause_key": seen.cause, "pool": seen.subject.get("pool", "")}
    return {"slug": seen.slug, "severity": seen.severity, "title": seen.title, "data": data, **listed}

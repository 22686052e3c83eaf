"""Reports come in here: evidence first, then facts, history and situations, all in one transaction.

An unchanged report costs one UPDATE. A report with a digest whose body we do not have changes nothing: it answers
what is missing, and counts as soon as it comes again with the bodies. A node that cannot send them grows stale.
"""

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django.db import connection, transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Greatest
from django.utils import timezone

from agents.collectors.base import Capture
from agents.portal.wire import canonical
from agents.reporting.capture_set import place, set_digest
from app.core.compiled_queries import ModelsWrittenOnce, save
from app.fleet import services, situations
from app.fleet.ingest import earlier_captures, history, related_nodes, report_ledger_batching
from app.fleet.ingest.payload import CAPTURES_MAX, PLACE, BadReport, Payload, check, read_bodies, read_captures, read_seconds
from app.fleet.models import Node, Report
from app.ledger import services as ledger
from app.realtime.publish import ring

__all__ = ["BadReport", "NeedFull", "asked_at", "bring", "merge", "receive"]

Captures = Mapping[str, str]  # place -> digest
OVERTAKEN_SECONDS = 2  # an agent names whole seconds; within this, one text is as new as another


class NeedFull(Exception):
    """The report names a set that we cannot make from what the node stood by; it must be sent in full."""


def receive(name: str, payload: object, at: datetime) -> list[str]:
    """Take a report of the node `name` put together at `at`; returns the digests whose bodies are still needed. Raises BadReport, NeedFull."""
    report = check(name, payload)
    if report.is_late and report.captures is not None:
        return _receive_late(name, report, report.captures, at)
    if report.has_only_its_set:
        if _unchanged(name, report, at):
            return []
        raise NeedFull
    with transaction.atomic():
        node = _locked(name)
        if node.report_digest == report.set and _unchanged(name, report, at):  # sent again, because our answer was lost
            return []
        named = report.applied_to(_captures(node))
        if named is None:
            raise NeedFull
        captures, asked = _but_what_was_asked_since(node, named, asked_at(report.ages, at))
        missing = _keep(captures, report.bodies, _captures(node))
        if not missing:
            about = {"boot_id": report.boot_id, "version": report.version, "mode": report.mode}
            # The agent names whole seconds of its clock; by that much a later report may look older than the last.
            last_contact = max(at, node.last_report_at or at)
            _change(node, captures, last_contact, about=about, last_report_at=last_contact, asked=asked)
    return missing


def merge(name: str, captures: object, bodies: object, at: datetime) -> list[str]:
    """Take the captures that came with a receipt; they replace what the node said of the same sources before.

    How old the node's other sources are does not change, because they were not asked again.
    """
    fresh = read_captures(captures)
    came, asked = read_bodies(bodies, fresh.values()), asked_at(read_seconds(captures), at)
    if _is_repeated(name, fresh, asked):
        return []
    with transaction.atomic():
        node = _locked(name)
        before = _captures(node)
        missing = _keep(fresh, came, before)
        if node.report_digest and not missing:
            partly = {where.partition("/")[0] for where in before.keys() - fresh.keys()}
            whole = {source: moment for source, moment in asked.items() if source not in partly}
            _change(node, {**before, **fresh}, at, about={}, last_report_at=node.last_report_at, asked=node.asked | whole)
    return missing


def bring(name: str, captures: Iterable[Capture], taken_at: datetime, boot_id: str, at: datetime) -> None:
    """Take what was collected on a host without an agent, in the caller's transaction; all of it counts as old as `taken_at`, when the
    collection began: what was read first may be that old. Raises BadReport."""
    node, listed, bodies = _locked(name), {}, {}
    for one in captures:
        where = place(one.source, one.key)
        if PLACE.fullmatch(where) is None or where in listed:
            raise BadReport(f"A source of it is called {where[:80]!r}, or comes twice.")
        listed[where] = one.digest
        bodies[one.digest] = canonical(one.body())
    if len(listed) > CAPTURES_MAX:
        raise BadReport(f"It has {len(listed)} captures; {CAPTURES_MAX} are the most that are kept.")
    _keep(listed, bodies, _captures(node))
    about = {"boot_id": boot_id, "version": "", "mode": ""}
    asked = dict.fromkeys((where.partition("/")[0] for where in listed), round(taken_at.timestamp(), 1))
    _change(node, listed, at, about=about, last_report_at=taken_at, asked=asked)


# A source of which not all came was not asked: one label of a hundred says nothing of the other labels' age.
REPEATED = """
UPDATE fleet_node n SET asked = n.asked || (
    SELECT coalesce(jsonb_object_agg(came.source, came.at), '{}') FROM jsonb_each(%s::jsonb) AS came(source, at)
    WHERE NOT EXISTS (
        SELECT FROM jsonb_object_keys(r.captures) AS place WHERE split_part(place, '/', 1) = came.source AND NOT %s::jsonb ? place
    )
) FROM fleet_report r WHERE r.node_id = n.id AND n.name = %s AND r.captures @> %s::jsonb
"""


def _is_repeated(name: str, fresh: Captures, asked: Mapping[str, float]) -> bool:
    """Whether the node says nothing new; then it is known to hold now."""
    fresh_json = json.dumps(fresh)
    with connection.cursor() as cursor:
        cursor.execute(REPEATED, [json.dumps(asked), fresh_json, name, fresh_json])
        return bool(cursor.rowcount == 1)


def asked_at(ages: Mapping[str, float], at: datetime) -> dict[str, float]:
    """Source -> when it was asked, in seconds since 1970, from how long that was before `at`."""
    now = at.timestamp()
    return {source: round(now - seconds, 1) for source, seconds in ages.items()}


def _but_what_was_asked_since(node: Node, captures: Captures, asked: dict[str, float]) -> tuple[Captures, dict[str, float]]:
    """A receipt may overtake a report that was put together before it; of what it asked, its word stands. A time to come proves nothing."""
    now = timezone.now().timestamp()
    since = {source for source, moment in asked.items() if moment + OVERTAKEN_SECONDS < node.asked.get(source, 0.0) <= now}
    if not since:
        return captures, asked
    older = {where: digest for where, digest in captures.items() if where.partition("/")[0] not in since}
    newer = {where: digest for where, digest in _captures(node).items() if where.partition("/")[0] in since}
    return {**older, **newer}, {**asked, **{source: node.asked[source] for source in since}}


def _locked(name: str) -> Node:
    """The node and its report, ours until the transaction ends. Others may still refer to the node, as situations do."""
    node = next(iter(_to_lock(name)), None)
    if node is None:
        raise Node.DoesNotExist(f"There is no node {name}.")
    return node


@ModelsWrittenOnce
def _to_lock(name: str) -> QuerySet[Node]:
    return Node.objects.select_for_update(of=["self"], no_key=True).select_related("report").filter(name=name)


def _captures(node: Node) -> Captures:
    """What the node stands by now; nothing before its first report."""
    return node.report.captures if node.report_digest else {}


def _unchanged(name: str, report: Payload, at: datetime) -> bool:
    as_before = Node.objects.filter(name=name, report_digest=report.set)
    return as_before.update(last_report_at=Greatest(F("last_report_at"), at), asked=asked_at(report.ages, at)) == 1


def _keep(captures: Captures, bodies: Mapping[str, bytes], before: Captures) -> list[str]:
    """Store what came; returns what is in no store yet. Evidence is kept even when the rest is still missing."""
    wanted = set(captures.values()) - set(before.values())
    missing = wanted - ledger.kept(wanted)
    ledger.keep_all((bodies[digest] for digest in missing & bodies.keys()), "application/json")
    return sorted(missing - bodies.keys())


def _receive_late(name: str, report: Payload, captures: Captures, at: datetime) -> list[str]:
    """A report of a time when the portal was away: evidence of then, which changes nothing of what is so now."""
    with transaction.atomic():
        now = Report.objects.select_related("node").filter(node__name=name).first()
        stands, before = (now.node.report_digest, now.captures) if now else ("", {})
        missing = _keep(captures, report.bodies, before)
        if not missing:
            body = {"report": report.set, "taken_at": at, "differs_from": stands, "version": report.version, "mode": report.mode}
            ledger.record("report.late", body | report_ledger_batching.difference(before, captures), f"node:{name}", node=name)
    return missing


def _change(
    node: Node, captures: Captures, at: datetime, *, about: Mapping[str, str], last_report_at: datetime | None, asked: dict[str, float]
) -> None:
    """1. the set, 2. what was said before, 3. history, 4. situations, 5. the ledger, last as it must be."""
    before = services.remembered(node) if node.report_digest else None  # to read it now would cost as much as the report
    touched = before.touches if before is not None else related_nodes.of(node)
    was, asked_before = _captures(node), node.asked
    changed_about = any(getattr(node, name) != value for name, value in about.items())
    _take(node, captures, at, dict(about), last_report_at, asked)
    earlier_captures.keep(node, was, captures, asked_before)
    parsed = services.parsed(node, at, captures)
    history.record(node, parsed.facts, at, before.facts if before is not None and node.touched == related_nodes.FORM else None)
    written = (before.touches, before.doubts) if before is not None else (frozenset(), frozenset())
    if node.touched != related_nodes.FORM or written != (parsed.touches, parsed.doubts):
        related_nodes.write(node, parsed.facts)
    opened, closed = situations.settle_around(touched | parsed.touches, at)
    for topic in (f"node:{node.name}", "fleet"):
        ring(topic)
    passes = not (changed_about or opened or closed) and _only_moves(was, captures, before, parsed)
    _record(node, report_ledger_batching.difference(was, captures), passes, at, opened=opened, closed=closed)


def _take(
    node: Node, captures: Captures, at: datetime, about: dict[str, str], last_report_at: datetime | None, asked: dict[str, float]
) -> None:
    for name, value in about.items():
        setattr(node, name, value)
    if not node.report_digest:
        node.report = Report(node=node)
    node.report_digest, node.set_at = set_digest(node.boot_id, node.version, node.mode, captures), at
    node.last_report_at, node.asked = last_report_at, asked
    save(node, *about, "report_digest", "set_at", "last_report_at", "asked")
    node.report.captures, node.report.changed_at = captures, at


def _only_moves(was: Captures, now: Captures, before: services.Parsed | None, parsed: services.Parsed) -> bool:
    """Whether the same captures are there, and each says the same but for what moves by itself."""
    if was.keys() != now.keys():
        return False
    differ = [where for where, digest in now.items() if was[where] != digest]
    then = before.bodies if before is not None else services.bodies({was[where] for where in differ})
    changed = [(where, then.get(was[where]), parsed.bodies.get(now[where])) for where in differ]
    # A text that is not at hand cannot be compared; then it is recorded at once.
    return not any(one is None or other is None or report_ledger_batching.lasts(where, one, other) for where, one, other in changed)


def _record(node: Node, difference: dict[str, Any], passes: bool, at: datetime, **settled: list[str]) -> None:
    """Write the report down with what waits beside it, or with the ledger's event."""
    report = node.report
    if not passes:
        report_ledger_batching.record(report, **difference, **settled)
    elif report_ledger_batching.wait(report, node.report_digest, difference["changed"], at):
        report_ledger_batching.write(report)
    else:
        report_ledger_batching.record_waiting(report)

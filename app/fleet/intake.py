"""Reports come in here: evidence first, then facts, history and situations, all in one transaction.

An unchanged report costs one UPDATE. A report with a digest whose body we do not have changes nothing: it answers
what is missing, and counts as soon as it comes again with the bodies. A node that cannot send them grows stale.
"""

import json
from datetime import datetime

from django.db import transaction

from app.doorbell import ring
from app.fleet import history, services, situations
from app.fleet.models import Node, Report
from app.fleet.payload import BadReport, Payload, check, read_bodies, read_captures
from app.ledger import services as ledger
from app.ledger.models import Blob
from app.once import WrittenOnce

__all__ = ["BadReport", "merge", "receive"]


def receive(name: str, payload: object, at: datetime) -> list[str]:
    """Take one report of the node `name` whose captures were read at `at`; returns the digests whose bodies are still needed."""
    report = check(name, payload)
    if _unchanged(name, report, at):
        return []
    missing = _keep(report)
    if not missing:
        with transaction.atomic():
            node = Node.objects.select_for_update().get(name=name)
            # The agent names whole seconds of its clock; by that much a later report may look older than the last.
            _change(node, report, max(at, node.last_report_at or at))
    return missing


def merge(name: str, captures: object, bodies: object, at: datetime) -> list[str]:
    """Take the captures that came with a receipt; they replace what the node said of the same sources before.

    How old the node's facts are does not change, because the other sources were not asked again.
    """
    fresh = read_captures(captures)
    came = read_bodies(bodies, fresh.values())
    if standing_by(name, json.dumps(fresh)):
        return []
    with transaction.atomic():
        node = Node.objects.select_for_update().get(name=name)
        before = _captures(node)
        report = Payload(node.boot_id, node.version, node.mode, {**(before or {}), **fresh}, came)
        missing = _keep(report)
        if before is not None and not missing and report.digest != node.report_digest:
            _change(node, report, at, taken_at=node.last_report_at)
    return missing


@WrittenOnce
def standing_by(name, captures):
    return Report.objects.filter(node__name=name, captures__contains=captures).values_list("pk")


def _captures(node: Node) -> dict[str, str] | None:
    """What the node stands by now; None before its first report."""
    return Report.objects.filter(node=node).values_list("captures", flat=True).first()


def _unchanged(name: str, report: Payload, at: datetime) -> bool:
    return Node.objects.filter(name=name, report_digest=report.digest).update(last_report_at=at) == 1


def _keep(report: Payload) -> list[str]:
    """Store what came; returns what is in no store yet. Evidence is kept even when the rest is still missing."""
    wanted = set(report.captures.values())
    missing = wanted - set(Blob.objects.filter(pk__in=wanted).values_list("pk", flat=True))
    with transaction.atomic():
        ledger.keep_all((report.bodies[digest] for digest in missing & report.bodies.keys()), "application/json")
    return sorted(missing - report.bodies.keys())


def _change(node: Node, report: Payload, at: datetime, taken_at: datetime | None = None) -> None:
    """1. the set, 2. facts, 3. history, 4. situations, 5. the ledger, last as it must be."""
    before = _take(node, report, at, taken_at or at)
    situations.lock()
    history.record(node, services.facts_of(node, at), at)
    opened, closed = situations.settle(services.fleet_facts(at), at)
    for topic in (f"node:{node.name}", "fleet"):
        ring(topic)
    body = {"report": report.digest, "mode": report.mode, "version": report.version, "opened": opened, "closed": closed}
    ledger.record("report.changed", body | _difference(before, report.captures), f"node:{node.name}", node=node.name)


def _take(node: Node, report: Payload, at: datetime, taken_at: datetime) -> dict[str, str]:
    before = _captures(node) or {}
    Report.objects.update_or_create(node=node, defaults={"captures": report.captures, "changed_at": at})
    node.mode, node.version, node.boot_id = report.mode, report.version, report.boot_id
    node.last_report_at, node.report_digest = taken_at, report.digest
    node.save(update_fields=["mode", "version", "boot_id", "last_report_at", "report_digest"])
    return before


def _difference(before: dict[str, str], now: dict[str, str]) -> dict[str, object]:
    return {
        "changed": {where: digest for where, digest in now.items() if before.get(where) != digest},
        "gone": sorted(before.keys() - now.keys()),
    }

"""Which changes of a node's captures the ledger records at once, and how the others wait to be recorded together.

A change that lasts is recorded in the transaction that makes it: a source came, went, failed or says another state; the
agent's boot id, version or mode is another; a situation opened or closed. What only moves by itself, such as the progress of a
resilver, is kept beside the report, in the same transaction, and recorded within a minute: the event names every set that
stood in between by digest, when it arrived, and every capture that was new in it. So nothing that pages showed or guards
asked about in between is missing from the ledger; it only comes as one event where it was thirty.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta

from agents.collectors import COLLECTORS
from app.core.compiled_queries import save
from app.fleet.models import Report
from app.ledger import services as ledger
from app.ledger.services import moment

TOGETHER_SECONDS = 60
TOGETHER_MAX = 100  # an event stays small enough to read

Body = Mapping[str, str | None]


def lasts(where: str, before: Body, now: Body) -> bool:
    """Whether what a capture says now differs from before by more than what moves by itself."""
    module = COLLECTORS.get(where.partition("/")[0])
    if module is None or before["outcome"] != now["outcome"] or now["outcome"] != "data":
        return True
    if getattr(module, "VOLATILE", False):
        return False
    lasting = getattr(module, "lasting", None)
    return lasting is None or lasting(before["text"]) != lasting(now["text"])


def difference(before: Mapping[str, str], now: Mapping[str, str]) -> dict[str, object]:
    """What is new in a set, and what is no longer in it, as the ledger says it."""
    return {
        "changed": {where: digest for where, digest in now.items() if before.get(where) != digest},
        "gone": sorted(before.keys() - now.keys()),
    }


def wait(report: Report, name: str, changed: Mapping[str, str], at: datetime) -> bool:
    """Put a set beside the report, to be recorded later; False when those that wait have waited long enough."""
    report.pending = [*report.pending, {"at": moment(at), "report": name, "changed": dict(changed)}]
    report.pending_since = report.pending_since or at
    waited = at - report.pending_since
    return waited < timedelta(seconds=TOGETHER_SECONDS) and len(report.pending) < TOGETHER_MAX


def record(report: Report, **fields: object) -> None:
    """The event of the set a node stands by now, with those that waited before it."""
    node, between = report.node, report.pending
    report.pending, report.pending_since = [], None
    write(report)
    body = {"report": node.report_digest, "mode": node.mode, "version": node.version, **fields, "between": between}
    ledger.record("report.changed", body, f"node:{node.name}", node=node.name)


def write(report: Report) -> None:
    """Into its row, which the first report of a node makes."""
    if report._state.adding:
        report.save()
    else:
        save(report, "captures", "changed_at", "pending", "pending_since")


def record_waiting(report: Report) -> None:
    """Record what waits beside a report; the last of it is the set that stands now."""
    last = report.pending.pop()
    record(report, changed=last["changed"], gone=[], opened=[], closed=[])

"""What only time brings: nodes that fell silent, approvals that run out, loops left open, a ledger that cannot be written.

Each look finds the same thing again and puts it under the same key, so a look too many does no harm.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction

from app import outages
from app.accounts import confirming, seals
from app.core.outbox import Happening as Put
from app.fleet.models import Node
from app.ledger import services as ledger
from app.notices import alarms, outbox
from app.notices.models import Happening, Watch
from app.runs.models import Approval, OpenLoop, Plan, Run
from app.runs.services import approve_steps, ledger_is_well
from workflows.engine.decide import PLAN_AGE_SECONDS_MAX

SILENT_SECONDS = 300  # a restart is shorter
PAUSE_SECONDS = 60  # a portal that did not look for so long was down itself
EXPIRING_SECONDS = 600
HUNG_SECONDS = 8  # one answer that came late under load is not reported


def look(now: datetime) -> None:
    is_well = ledger_is_well()  # before the transaction: it tries a write of its own
    seals.sweep()
    if is_well:
        confirming.sweep(now)
    outage = outages.noted()
    with transaction.atomic():
        since = _watched_since(now)
        outbox.put(hung(outage, is_well, now))  # before the alarms, which show it
        outbox.put(
            [
                *silent(now, since),
                *nodes_reporting_again(),
                *expiring(now),
                *unjudged(now),
                *loops(now),
                *ledger_state(is_well, now),
                *alarmed(now, since),
            ]
        )
    if outage is not None:
        outages.forget()


def _watched_since(now: datetime) -> datetime:
    """Since when this portal looks without a pause. While it was down, no node could report to it."""
    watch, _made = Watch.objects.select_for_update().get_or_create(pk=1, defaults={"since": now, "last_at": now})
    if not timedelta(0) <= now - watch.last_at <= timedelta(seconds=PAUSE_SECONDS):
        watch.since = now
    watch.last_at = now
    watch.save()
    return watch.since


def silent(now: datetime, since: datetime) -> Iterator[Put]:
    limit = now - timedelta(seconds=SILENT_SECONDS)
    if since > limit:
        return
    quiet = Node.objects.filter(state=Node.State.ENROLLED, last_report_at__lte=limit)
    for name, last in quiet.values_list("name", "last_report_at"):
        if last is not None:
            yield Put("node-silent", f"node-silent:{name}:{last.isoformat()}", name, details={"heard": last.isoformat()})


def nodes_reporting_again() -> Iterator[Put]:
    """Nodes that were reported as silent and have reported since."""
    silent_before = Happening.objects.filter(kind="node-silent", over=False)
    again = Node.objects.filter(name__in=silent_before.values("node")).values_list("name", "last_report_at")
    reported = dict(again)
    for one in silent_before:
        if (last := reported.get(one.node)) is not None and last > datetime.fromisoformat(one.details["heard"]):
            Happening.objects.filter(pk=one.pk).update(over=True)
            yield Put("node-heard", f"node-heard:{one.pk}", one.node)


def expiring(now: datetime) -> Iterator[Put]:
    """Approved plans that were not carried out."""
    soon = Approval.objects.filter(expires_at__gt=now, expires_at__lte=now + timedelta(seconds=EXPIRING_SECONDS))
    for one in soon.filter(plan__orders=None, plan__run__ended_at=None).select_related("plan__run"):
        details = {"plan": one.plan_id, "ends": one.expires_at.isoformat()}
        yield Put("approval-expiring", f"approval-expiring:{one.plan_id}", one.plan.run.node, one.plan.run_id, details)


def unjudged(now: datetime) -> Iterator[Put]:
    """Plans that wait for an approver and will soon be too old."""
    age = timedelta(seconds=PLAN_AGE_SECONDS_MAX)
    waiting = Run.objects.filter(status="open", step__in=approve_steps(), ended_at=None)
    plans = Plan.objects.filter(run__in=waiting, made_at__gt=now - age, made_at__lte=now - age + timedelta(seconds=EXPIRING_SECONDS))
    for plan in plans.select_related("run"):
        if plan.run.here.plan_digest == plan.digest:
            details = {"plan": plan.digest, "ends": (plan.made_at + age).isoformat()}
            yield Put("request-expiring", f"request-expiring:{plan.digest}", plan.run.node, plan.run_id, details)


def loops(now: datetime) -> Iterator[Put]:
    for one in OpenLoop.objects.filter(at__lte=now - timedelta(hours=settings.LOOP_HOURS)):
        yield Put("loop-left", f"loop-left:{one.pk}", one.node, one.run_id, {"loop": one.pk})


def ledger_state(is_well: bool, now: datetime) -> Iterator[Put]:
    """Each time it breaks, and each time it is well again: once."""
    broken = Happening.objects.filter(kind="ledger-broken", over=False).first()
    if is_well and broken is not None:
        Happening.objects.filter(pk=broken.pk).update(over=True)
        yield Put("ledger-well", f"ledger-well:{broken.pk}")
    elif not is_well and broken is None:
        yield Put("ledger-broken", f"ledger-broken:{now.isoformat()}")


def hung(outage: outages.Outage | None, is_well: bool, now: datetime) -> list[Put]:
    """That the database did not answer, now that it does: once for each time, in the ledger and to people."""
    if outage is None or outage.seconds < HUNG_SECONDS:
        return []
    details = {"began": outage.began.isoformat(), "last": outage.last.isoformat(), "again": now.isoformat()}
    key = f"database-hung:{outage.began.isoformat()}"
    if is_well and not Happening.objects.filter(key=key).exists():
        ledger.record("database.hung", details, "portal")
    return [Put("database-hung", key, details=details)]


ALARM_FIELDS = ("kind", "key", "title", "text", "do", "path", "severity")


def plain(text: str) -> str:
    """Without the marks that pages show as code: a mail and a pager show them as they are."""
    return text.replace("`", "")


FOUND_ELSEWHERE = {"ledger-broken", "database-hung"}  # by `ledger_state` and `hung`, which find them


def alarmed(now: datetime, since: datetime) -> Iterator[Put]:
    """Alarms that began, and those that are over. While this portal was down, no node could report to it; and of a node that is retired
    it is not known whether what it raised is over."""
    here = {alarm.key: alarm for alarm in alarms.standing(now) if alarm.kind not in FOUND_ELSEWHERE}
    open_alarms = {one.details["key"]: one for one in Happening.objects.filter(kind="alarm", over=False)}
    just_up = since > now - timedelta(seconds=SILENT_SECONDS)
    for key, alarm in here.items():
        if key not in open_alarms and not (just_up and alarm.kind == "never-reported"):
            yield Put(
                "alarm", f"alarm:{key}:{now.isoformat()}", alarm.node, details={name: plain(getattr(alarm, name)) for name in ALARM_FIELDS}
            )
    retired = set(
        Node.objects.filter(state=Node.State.RETIRED, name__in=[one.node for one in open_alarms.values()]).values_list("name", flat=True)
    )
    for key in open_alarms.keys() - here.keys():
        if open_alarms[key].node in retired:
            continue
        Happening.objects.filter(pk=open_alarms[key].pk).update(over=True)
        yield Put("alarm-over", f"alarm-over:{open_alarms[key].pk}", open_alarms[key].node, details=open_alarms[key].details)

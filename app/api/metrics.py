"""/metrics for Prometheus. What the database and Valkey know is read at the scrape, a few small questions at most every five seconds, so
it is the same whichever process answers; what this process counts comes from `app.core.request_metrics`.

No label carries a name of a node, disk, pool or person: how many series there are does not grow with the fleet.
"""

import logging
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from ipaddress import ip_address
from types import SimpleNamespace

import redis
from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db import DatabaseError
from django.db.models import Count, Min
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest

from app import readiness
from app.api import problems
from app.api.auth import Scoped
from app.api.fleet import counts, status_now
from app.api.scopes import METRICS
from app.core.request_metrics import REGISTRY
from app.core.valkey import valkey
from app.fleet import unexplained_reviews
from app.fleet.models import Node, Situation
from app.ledger.checkpoints import newest
from app.ledger.models import LedgerHead
from app.notices import alarms
from app.realtime import heartbeats
from app.runs.models import BrokenGlass, Order, Run
from workflows.analysis.unexplained import SLUG as UNEXPLAINED
from workflows.engine.state import ORDER_IS_OUT

BELIEVED_SECONDS = 5.0
QUEUE = "celery"
FORWARDED = ("HTTP_X_FORWARDED_FOR", "HTTP_X_REAL_IP", "HTTP_FORWARDED", "HTTP_VIA")
log = logging.getLogger(__name__)
last = SimpleNamespace(at=0.0, metrics=[])


def gauge(name: str, words: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"slotlight_{name}", words, value=value)


def by(name: str, words: str, label: str, values: Mapping[str, float]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(f"slotlight_{name}", words, labels=[label])
    for value, count in sorted(values.items()):
        family.add_metric([value], count)
    return family


def of_the_database() -> Iterator[Metric]:
    now, status = timezone.now(), status_now()
    yield by("nodes", "Nodes by state.", "state", dict.fromkeys(Node.State.values, 0) | status["nodes"])
    yield gauge("nodes_silent", "Nodes whose last report is older than 90 seconds.", status["silent"])
    words = "Nodes that report, by how they stand; good is only what is positively known to be."
    yield by("nodes_standing", words, "tone", status["standing"])
    active = Node.objects.exclude(state=Node.State.RETIRED).aggregate(first=Min("last_report_at"))["first"]
    yield gauge("node_silence_seconds_max", "How long the node that is silent longest has been silent.", _age(active, now))
    yield _portal_alarms(alarms.KINDS, [alarm["kind"] for alarm in status["alarms"]])
    yield _situations()
    statuses = dict.fromkeys(("new", "open", "planning", "ordered", "unknown", "waiting", "stopped"), 0)
    yield by("runs_open", "Runs that have not ended, by status.", "status", statuses | status["runs"])
    out = counts(Order.objects.filter(status__in=ORDER_IS_OUT), "status")
    yield by("orders_out", "Orders that have not ended, by status; UNKNOWN needs people.", "status", dict.fromkeys(ORDER_IS_OUT, 0) | out)
    yield gauge("approvals_waiting", "Plans that wait for another person.", status["approvals_waiting"])
    yield gauge("open_loops", "What runs have switched on and what is not switched off yet.", status["open_loops"])
    yield gauge("alarms", "Runs whose waiting raised an alarm.", Run.objects.filter(status="waiting").exclude(state__alarm="").count())
    yield gauge(
        "glasses_unreviewed", "Uses of break glass that no person has reviewed.", BrokenGlass.objects.filter(reviewed_at=None).count()
    )
    yield from _ledger(now)


def without_the_database() -> Iterator[Metric]:
    """The other kinds are absent: they are not known now."""
    kinds = alarms.WITHOUT_DATABASE
    yield _portal_alarms(kinds, [alarm.kind for alarm in alarms.standing(timezone.now(), kinds)])


def _portal_alarms(kinds: Iterable[str], standing: list[str]) -> Metric:
    found = dict.fromkeys(kinds, 0) | Counter(standing)
    return by("portal_alarms", "Alarms of the portal itself by kind; any but 0 is to be acted on.", "kind", found)


def _situations() -> Metric:
    what = "Open situations by severity and kind; what an administrator has reviewed has the severity reviewed."
    family = GaugeMetricFamily("slotlight_situations", what, labels=["severity", "slug"])
    open_ = Situation.objects.filter(closed_at=None)
    seen = unexplained_reviews.reviewed(open_, unexplained_reviews.signs())
    loud = open_.exclude(pk__in=seen.values("pk"))
    for *labels, count in loud.order_by("severity", "slug").values_list("severity", "slug").annotate(Count("pk")):
        family.add_metric(labels, count)
    if count := seen.count():
        family.add_metric((unexplained_reviews.WORDS, UNEXPLAINED), count)
    return family


def _ledger(now: datetime) -> Iterator[Metric]:
    signed = newest()
    size = LedgerHead.objects.values_list("seq", flat=True).get()
    yield gauge("ledger_events", "Events in the chain.", size)
    yield gauge("ledger_unsigned_events", "Events that no checkpoint covers yet.", size - signed.size if signed else size)
    if signed is not None:
        age = (now - datetime.strptime(signed.at, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=UTC)).total_seconds()
        yield gauge(
            "ledger_checkpoint_age_seconds", "How old the newest checkpoint is; one is made when there are new events.", max(0.0, age)
        )


def _age(at: datetime | None, now: datetime) -> float:
    return max(0.0, (now - at).total_seconds()) if at else 0.0


def of_valkey() -> Iterator[Metric]:
    yield by("queue_length", "Messages that wait for a worker.", "queue", {QUEUE: valkey().llen(QUEUE)})
    yield by("queue_unacknowledged", "Messages that a worker has taken and not finished.", "queue", {QUEUE: valkey().hlen("unacked")})
    ages = {"worker": heartbeats.age_seconds(heartbeats.WORKER), "beat": heartbeats.age_seconds(heartbeats.BEAT)}
    ages_known = {who: age for who, age in ages.items() if age is not None}
    yield by("heard_seconds", "Seconds since worker and beat last reported; absent when never.", "part", ages_known)


def of_this_process() -> Iterator[Metric]:
    """Who waits on this process now."""
    from app.streams import waiting  # the door to what waits reads models, and stands above all apps

    open_now = waiting()
    yield gauge("event_streams", "Pages that listen for changes.", open_now["streams"])
    yield gauge("agents_waiting", "Agents that wait for orders.", open_now["polls"])


class Collected:
    """What is read at the scrape. A part that cannot be read is left out, and `slotlight_up` of it is 0."""

    def collect(self) -> Iterator[Metric]:
        now = time.monotonic()
        if not last.metrics or now - last.at > BELIEVED_SECONDS:
            last.metrics, last.at = list(_read()), now
        yield from last.metrics
        yield from of_this_process()


def _read() -> Iterator[Metric]:
    parts = readiness.parts()
    yield by("up", "Whether each part of the portal is well; see /readyz.", "part", {part: float(not why) for part, why in parts.items()})
    for ask in (
        without_the_database if parts["database"] else of_the_database,
        of_valkey,
    ):  # a scrape that waits for it returns nothing at all
        try:
            yield from list(ask())
        except (DatabaseError, redis.RedisError) as error:
            log.error("Not in /metrics: %s", error)


collected = CollectorRegistry()
collected.register(Collected())


@login_not_required
@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    if not is_this_machine(request):
        try:
            if Scoped(METRICS)(request) is None:
                return problems.answer("no-token", "Metrics take a token with the scope metrics, or a request from this machine itself.")
        except problems.Problem as problem:
            return problems.answer(problem.kind, problem.detail, headers=problem.headers)
    return HttpResponse(generate_latest(collected) + generate_latest(REGISTRY), content_type=CONTENT_TYPE_PLAIN_0_0_4)


def is_this_machine(request: HttpRequest) -> bool:
    """Behind a proxy every request comes from this machine, so then none counts as local."""
    if settings.HTTPS or any(name in request.META for name in FORWARDED):
        return False
    try:
        return ip_address(request.META.get("REMOTE_ADDR", "")).is_loopback
    except ValueError:
        return False

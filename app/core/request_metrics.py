"""What this process counts as it goes, for /metrics: how long each route takes, and how often the ledger refused a write.

The web is one process, so its counts are the portal's; they begin anew when it does, which Prometheus expects.
"""

import time

from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest, HttpResponse
from django.utils.decorators import sync_and_async_middleware
from prometheus_client import CollectorRegistry, Counter, Histogram, disable_created_metrics

from app.core.handlers import Respond, RespondLater

disable_created_metrics()  # when each series began is a series more for each
REGISTRY = CollectorRegistry()
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.25, 0.5, 1.0, 2.5, 10.0)
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
DURATIONS = Histogram(
    "slotlight_request_seconds", "How long requests took, by route name.", ("route", "method", "status"), buckets=SECONDS, registry=REGISTRY
)
LEDGER_FAILURES = Counter(
    "slotlight_ledger_write_failures", "How often the ledger took no write, as this process saw it.", registry=REGISTRY
)


@sync_and_async_middleware
def measured(get_response: Respond) -> Respond | RespondLater:
    """Stands before all other middleware, so that their time counts too."""
    if iscoroutinefunction(get_response):

        async def later(request: HttpRequest) -> HttpResponse:
            began = time.perf_counter()
            return _note(request, await get_response(request), began)

        return later

    def at_once(request: HttpRequest) -> HttpResponse:
        began = time.perf_counter()
        return _note(request, get_response(request), began)

    return at_once


def _note(request: HttpRequest, response: HttpResponse, began: float) -> HttpResponse:
    """Only names of routes become labels, and only classes of statuses: no client can make a new one."""
    match = request.resolver_match
    route = (match.url_name if match else None) or "none"
    method = request.method if request.method in METHODS else "other"
    DURATIONS.labels(route, method, f"{response.status_code // 100}xx").observe(time.perf_counter() - began)
    return response

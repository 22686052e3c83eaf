"""The top of a page about nodes that this process has not read: what stands in rows is shown at once, and asks for the rest.

Hundreds of captures of a node take a moment to read. Rows are written in the transaction that takes a report in, so the top says nothing
that the whole page would not. A page that asks with `whole`, or by htmx for what is missing, is made whole; a top that has no row is none.
"""

from typing import Any

from django.http import HttpRequest
from django.utils import timezone

from app.core.pages import wants_partial
from app.fleet import services
from app.fleet.models import NOW, Disk, Node, PoolNow, Sighting, Situation
from app.fleet.pages import overview, rows
from workflows.facts import FleetFacts

WHOLE = "whole"


def may_come_first(request: HttpRequest) -> bool:
    return not wants_partial(request) and WHOLE not in request.GET


def facts_near(request: HttpRequest, word: str) -> FleetFacts | None:
    """All that the page is about; None when its top comes first."""
    return services.facts_at_hand([word]) if may_come_first(request) else services.facts_near([word])


def asking(request: HttpRequest, *nodes: str) -> dict[str, Any]:
    """Whose words are being read, where the rest is asked for, and where a browser without scripts finds it."""
    query = request.GET.copy()
    rest = f"{request.path}?{query.urlencode()}" if query else request.path
    query[WHOLE] = "1"
    return {"read_of": nodes, "rest": rest, "whole": f"{request.path}?{query.urlencode()}"}


def pool(node: Node, name: str, situations: list[Situation]) -> dict[str, Any] | None:
    row = PoolNow.objects.filter(node=node, name=name).first()
    if row is None:
        return None
    row = overview.pool_now(row, node, timezone.now())
    return {"section": "fleet", "topics": f"node:{node.name}", "node": node, "pool": row, "situations": situations, **_last_report(node)}


def pools(node: Node) -> list[PoolNow]:
    now = timezone.now()
    return [overview.pool_now(one, node, now) for one in node.pools_now.all()]


def disk(this: Disk) -> dict[str, Any]:
    places = list(Sighting.objects.filter(NOW, disk=this).select_related("node").order_by("node__name", "name"))
    nodes = {place.node.name: place.node for place in places}
    return {"places": places, "nodes": list(nodes), "silent": [name for name, node in nodes.items() if _last_report(node)["is_old"]]}


def enclosure(name: str, enclosure_id: str, nodes: list[str]) -> dict[str, Any] | None:
    here = Sighting.objects.filter(NOW, enclosure_id=enclosure_id)
    if not here.filter(node__name=name).exists():
        return None
    seen_by = [(one.name, _last_report(one)) for one in Node.objects.filter(name__in=nodes).order_by("name")]
    return {"id": enclosure_id, "seen_by": seen_by, "disks": here.values("disk").distinct().count()}


def _last_report(node: Node) -> dict[str, Any]:
    now = timezone.now()
    age = (now - node.last_report_at).total_seconds() if node.last_report_at else 0.0
    return {"last_report": overview.last_report_text(node, now), "is_old": age > rows.STALE_SECONDS}

"""What a look at a page of the fleet asks before anything is made: equal for as long as the page would say the same.

A report that says nothing new leaves all of this as it is. Words that follow from time alone ("3 min ago") come with the minute.
"""

from typing import Any

from django.db.models import Count, Max, Q, Sum
from django.http import HttpRequest
from django.utils import timezone

from app.core.pages import beside, minute
from app.fleet import unexplained_reviews
from app.fleet.ingest.fleet_rows import silent
from app.fleet.models import Node, Sighting, Situation, Standing
from app.fleet.pages.rows import STALE_SECONDS

NODE = ("name", "state", "mode", "version", "report_digest", "set_at")


def fleet(request: HttpRequest) -> Any:
    """Of the whole fleet, and so as sums: a page of fifty does not read a thousand nodes to learn that nothing is new."""
    listed = Node.objects.exclude(state=Node.State.RETIRED)
    contacts = listed.aggregate(
        Count("pk"), Max("pk"), never=Count("pk", filter=Q(last_report_at=None)), silent=Count("pk", filter=silent())
    )
    wrong = Situation.objects.filter(closed_at=None).aggregate(Count("pk"), Sum("pk"), Sum("rank"))
    return contacts, Standing.objects.aggregate(Max("changed_at")), wrong, unexplained_reviews.stamp(), beside(), minute()


def node(request: HttpRequest, name: str, pool_name: str = "") -> Any:
    return nodes(name=name), situations(node__name=name), beside(), minute()


def pool(request: HttpRequest, name: str, pool_name: str) -> Any:
    return node(request, name)


def disk(request: HttpRequest, wwid: str) -> Any:
    where = Sighting.objects.filter(disk__wwid=wwid).aggregate(newest=Max("pk"), open=Count("pk") - Count("until"))
    return nodes(pk__in=Sighting.objects.filter(disk__wwid=wwid, until=None).values("node")), where, beside(), minute()


def situation(request: HttpRequest, pk: int) -> Any:
    own = list(Situation.objects.filter(pk=pk).values_list("key", "severity", "title", "data", "closed_at"))
    around = situations(Q(cause_key=own[0][0]) | Q(key=own[0][3].get("cause", ""))) if own else [unexplained_reviews.stamp()]
    return own, around, beside()


def nodes(**which: Any) -> list[Any]:
    """What each node stands by, and whether it has fallen silent."""
    now = timezone.now()
    rows = Node.objects.filter(**which).order_by("name").values_list(*NODE, "last_report_at")
    return [(*row, last_report_at is not None and (now - last_report_at).total_seconds() > STALE_SECONDS) for *row, last_report_at in rows]


def situations(*which: Q, **more: Any) -> list[Any]:
    found = Situation.objects.filter(*which, closed_at=None, **more).order_by("pk").values_list("pk", "severity", "title", "data__cause")
    return [*found, unexplained_reviews.stamp()]

"""An enclosure as a page, and as a sheet of paper for the person who goes to it."""

from collections.abc import Iterable
from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from app.core.pages import beside, live, minute, render_page
from app.fleet import services
from app.fleet.models import NOW, Node, Sighting
from app.fleet.pages import judging, page_headers, page_versions, rows
from app.fleet.pages.chassis import Chassis, chassis, remembering
from app.fleet.pages.drawing import TINTS, draw
from workflows.facts import FleetFacts


def seen_by(name: str, enclosure_id: str) -> list[str]:
    """The node itself, and every other one that sees a disk in this enclosure."""
    others = Sighting.objects.filter(NOW, enclosure_id=enclosure_id).values_list("node__name", flat=True).distinct()
    return sorted({name, *others})


def stamp(request: HttpRequest, name: str, enclosure_id: str) -> Any:
    names = seen_by(name, enclosure_id)
    return page_versions.nodes(name__in=names), page_versions.situations(node__name__in=names), beside(), minute()


@login_required
@require_safe
@live(stamp)
def enclosure(request: HttpRequest, name: str, enclosure_id: str) -> HttpResponse:
    if (top := _top(request, name, enclosure_id)) is not None:
        return render_page(request, "fleet/enclosure_top.html", top, partial="enclosure")
    fleet, found = _found(name, enclosure_id, vdev := request.GET.get("vdev", ""))
    tint = request.GET.get("tint", "state")
    tint = tint if tint in TINTS else "state"
    here = reverse("enclosure", args=[name, enclosure_id])
    context = {
        "section": "fleet",
        "topics": _topics(found.nodes),
        "node": name,
        "this": found,
        "sheets": draw(found, tint),
        "tint": tint,
        "tints": [(one, words, _link(here, one, vdev)) for one, words in TINTS.items()],
        "here": _link(here, tint, vdev),
        "clear": _link(here, tint, ""),
        "vdevs": [(place, _link(here, tint, rows.text_of(place.top.guid))) for place in found.vdevs],
        "reports": last_reports(fleet, found),
    }
    return render_page(request, "fleet/enclosure.html", context, partial="enclosure")


def _top(request: HttpRequest, name: str, enclosure_id: str) -> dict[str, Any] | None:
    """What is shown at once where the nodes are still to be read; None where the page is made whole."""
    if not page_headers.may_come_first(request) or services.held_facts(names := seen_by(name, enclosure_id)) is not None:
        return None
    top = page_headers.enclosure(name, enclosure_id, names)
    return top and {"section": "fleet", "topics": _topics(names), "node": name, **top, **page_headers.asking(request, *names)}


def _topics(nodes: Iterable[str]) -> str:
    return ",".join(f"node:{one}" for one in nodes)


@login_required
@require_safe
def slot_sheet(request: HttpRequest, name: str, enclosure_id: str) -> HttpResponse:
    """For printing. It says when it was true, because paper does not change."""
    fleet, found = _found(name, enclosure_id, request.GET.get("vdev", ""))
    context = {
        "section": "fleet",
        "node": name,
        "this": found,
        "sheets": draw(found),
        "reports": last_reports(fleet, found),
        "now": timezone.now(),
    }
    return render(request, "fleet/slot_sheet.html", context)


def _found(name: str, enclosure_id: str, vdev: str) -> tuple[FleetFacts, Chassis]:
    get_object_or_404(Node, name=name)
    fleet = services.fleet_facts(names=seen_by(name, enclosure_id))
    found = remembering(chassis(fleet, enclosure_id, judging.about(fleet.nodes), vdev), last_held(enclosure_id))
    if name not in found.nodes:
        raise Http404(f"{name} did not report an enclosure {enclosure_id}.")
    return fleet, found


def last_held(enclosure_id: str) -> dict[int, str]:
    """What each bay held last that holds it no more, by slot."""
    ended = Sighting.objects.filter(enclosure_id=enclosure_id, slot__isnull=False, until__isnull=False).select_related("disk")
    newest = ended.order_by("slot", "-until").distinct("slot")
    return {
        row.slot: f"It last held serial {row.disk.serial or 'not known'}, until {row.until:%Y-%m-%d %H:%M} UTC."
        for row in newest
        if row.slot is not None
    }


def last_reports(fleet: FleetFacts, found: Chassis) -> list[tuple[str, str, bool]]:
    """(node, how long ago it reported, whether that is old)"""
    ages = [(name, fleet.nodes[name].age_seconds) for name in found.nodes]
    return [(name, rows.ago(age), age > rows.STALE_SECONDS) for name, age in ages]


def _link(here: str, tint: str, vdev: str) -> str:
    query = {name: value for name, value in (("tint", tint if tint != "state" else ""), ("vdev", vdev)) if value}
    return f"{here}?{urlencode(query)}" if query else here

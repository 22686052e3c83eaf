"""The search page: one field that takes any name, number or address. Looking needs a sign-in and nothing more."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from app.search.find import KINDS, SHOWN, find, the_one, with_states
from app.search.parse import TEXT_MAX

TITLES = {"disk": "Disks", "node": "Nodes", "pool": "Pools", "situation": "Situations", "run": "Runs"}


@login_required
@require_safe
def search(request: HttpRequest) -> HttpResponse:
    asked = request.GET.get("q", "").replace("\0", "").strip()[:TEXT_MAX]
    hits = find(asked)
    if (one := the_one(hits)) is not None:
        return redirect(one.url)
    hits = with_states(hits)
    groups = [(TITLES[kind], [hit for hit in hits if hit.kind == kind]) for kind in KINDS]
    shown = [(title, found, len(found) >= SHOWN) for title, found in groups if found]
    return render(request, "search/search.html", {"searched_for": asked, "groups": shown, "topics": ""})

"""The two pages of a technician's link: the one that opens it, and what the technician is asked for. Who comes with it signs in nowhere and sees
nothing else."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.deprecation import MiddlewareMixin
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from app.core.pages import Watched, live, render_page, stamped, wants_partial
from app.core.permissions_by_route import ANYBODY, ROUTES, TECHNICIAN
from app.ledger.services import LedgerDown
from app.runs import services
from app.runs.actions import ACTS
from app.runs.models import TechnicianLink
from app.runs.pages import page_versions, rack
from app.runs.people import technician_link

GONE = 410
OF_HANDS = ("hands", "correct")  # of the acts of a run, those that a visit to the rack is for


def _browser(request: HttpRequest) -> str:
    return request.COOKIES.get(technician_link.COOKIE, "")


def _dead(request: HttpRequest, why: str) -> HttpResponse:
    """What to do instead; and the browser forgets the link."""
    if wants_partial(request):
        return HttpResponse(status=204, headers={"HX-Refresh": "true"})
    response = render(request, "runs/technician_dead.html", {"why": why, "bare": True}, status=GONE)
    response.delete_cookie(technician_link.COOKIE)
    return response


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def opened(request: HttpRequest, token: str) -> HttpResponse:
    """Looking opens nothing: a messenger that previews links would use it up. Whoever types a name and presses the button has it."""
    try:
        link = technician_link.find(token, timezone.now())
        if request.method != "POST":
            return _ask_name(request, link)
        try:
            browser = technician_link.open_for(token, request.POST.get("name", ""))
        except LedgerDown as down:
            return _ask_name(request, link, str(down))
    except technician_link.LinkDead as dead:
        own = technician_link.of_browser(_browser(request))
        if own is not None and own.token_hash == technician_link.hashed(token):
            return redirect("technician-step")  # the same browser, scanning again
        return _dead(request, dead.reason)
    except services.RunRefused as refused:
        return _ask_name(request, link, refused.reason)
    return _bound(request, link, browser)


def _ask_name(request: HttpRequest, link: TechnicianLink, refused: str = "") -> HttpResponse:
    shown = {"bare": True, "link": link, "run": link.run, "refused": refused}
    return render(request, "runs/technician_open.html", shown, status=409 if refused else 200)


def _bound(request: HttpRequest, link: TechnicianLink, browser: str) -> HttpResponse:
    response = redirect("technician-step")
    until = int((link.expires_at - timezone.now()).total_seconds())
    response.set_cookie(technician_link.COOKIE, browser, max_age=max(until, 0), httponly=True, samesite="Lax", secure=request.is_secure())
    return response


def _stamp(request: HttpRequest) -> Any:
    link = technician_link.of_browser(_browser(request))
    return link and (page_versions.hands(link.run_id), technician_link.why_dead(link, timezone.now()))


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@live(_stamp)
def step(request: Watched) -> HttpResponse:
    """What hands are asked for now; POST says that it is done, corrects a scan, or ends the visit."""
    link = technician_link.of_browser(_browser(request))
    if link is None:
        return _dead(request, technician_link.UNKNOWN)
    if why := technician_link.why_dead(link, timezone.now()):
        return _finished(request, link, why) if link.left_at or why == technician_link.NOTHING_LEFT else _dead(request, why)
    return _do(request, link) if request.method == "POST" else _show(request, link)


def _do(request: Watched, link: TechnicianLink) -> HttpResponse:
    name, version = request.POST.get("act", ""), request.POST.get("version", "")
    evidence = request.POST.get("evidence", "")
    try:
        if name == "leave":
            technician_link.leave(_browser(request))
        elif name not in OF_HANDS:
            raise services.RunRefused("That is not an act of this page. Read it again.")
        else:
            seen = int(version) if version.isascii() and version.isdigit() and len(version) < 10 else 0
            technician_link.act(_browser(request), seen, ACTS[name].kind, ACTS[name].values_from(request.POST))
    except technician_link.LinkDead as dead:
        return _dead(request, dead.reason)
    except services.RunRefused as refused:
        against = [v for v in refused.verdicts if v.outcome != "pass"]
        return _show(
            request, link, {"refused": refused.reason, "refused_verdicts": against, "typed": evidence, "picked_act": name}, status=409
        )
    except LedgerDown as down:
        return _show(request, link, {"refused": str(down), "typed": evidence}, status=409)
    return redirect("technician-step")


def _show(request: Watched, link: TechnicianLink, more: dict[str, Any] | None = None, status: int = 200) -> HttpResponse:
    link.run.refresh_from_db()
    request.seen = stamped(_stamp(request))
    context = rack.shown(link.run) | {"may_act": True, "topics": "", "technician": link, **(more or {})}
    return render_page(request, "runs/now.html", context, partial="now", status=status)


def _finished(request: HttpRequest, link: TechnicianLink, why: str) -> HttpResponse:
    if wants_partial(request):
        return HttpResponse(status=204, headers={"HX-Refresh": "true"})
    response = render(request, "runs/technician_done.html", {"bare": True, "link": link, "why": why})
    response.delete_cookie(technician_link.COOKIE)
    return response


class KeptToTheStep(MiddlewareMixin):
    """A browser that holds a technician's link and no session gets 403 from every page but the link's own and the public ones."""

    def process_view(self, request: HttpRequest, view: object, args: object, kwargs: object) -> HttpResponse | None:
        if not _browser(request) or request.user.is_authenticated:
            return None
        name = request.resolver_match.url_name if request.resolver_match else ""
        if ROUTES.get(name or "") in (ANYBODY, TECHNICIAN):
            return None
        link = technician_link.of_browser(_browser(request))
        if link is None or technician_link.why_dead(link, timezone.now()):
            return None
        return render(request, "runs/technician_only.html", {"bare": True, "address": reverse("technician-step")}, status=403)

"""What we do about it, as pages: start a run, walk it, approve it, ask a node again.

A page is read by anybody who signed in. Acting asks for a right in `services`: a button that is not shown is no guard.
"""

from collections.abc import Callable
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from app.accounts import proof
from app.accounts.asking import user_of
from app.accounts.models import User
from app.core.pages import Watched, live, render_page, stamped, wants_partial
from app.fleet.models import Node, Situation
from app.ledger import looking
from app.ledger.services import LedgerDown
from app.realtime.subscribe import FANOUT
from app.runs import open_loops as loops
from app.runs import perform_action, services
from app.runs.actions import ACTS, BESIDE, WORDS_MAX
from app.runs.models import BrokenGlass, Run, TechnicianLink
from app.runs.ordering import break_glass_review
from app.runs.pages import look_again, manual_start, page_versions, panels, qr, rack, run_page, runbook_page, safety
from app.runs.people import owners, technician_link
from workflows.engine.core import Verdict
from workflows.runbooks import RUNBOOKS

ANSWER_SECONDS_MAX = 0.3  # a node that takes longer is not waited for; the page hears of its answer


@login_required
@require_safe
@live(page_versions.runs)
def runs(request: HttpRequest) -> HttpResponse:
    found = Run.objects.select_related("requester", "owner", "handed_by")
    own = list(found.filter(owners.of(user_of(request)), ended_at=None).order_by("handed_by", "-created_at"))
    others = found.exclude(pk__in=[run.pk for run in own])[: page_versions.RUNS_SHOWN]
    context = {"section": "runs", "topics": "fleet", "own": run_page.lines(own), "runs": run_page.lines(others), "held": panels.held()}
    return render_page(request, "runs/list.html", context, partial="runs")


@login_required
@require_safe
@live(page_versions.run)
def run(request: HttpRequest, pk: int) -> HttpResponse:
    return render_page(request, "runs/detail.html", run_page.detail(_run(pk), user_of(request)), partial="run")


@login_required
@require_safe
@live(page_versions.now)
def now(request: HttpRequest, pk: int) -> HttpResponse:
    """The current step alone, for whoever stands before the rack."""
    return render_page(request, "runs/now.html", rack.now(_run(pk), user_of(request)), partial="now")


@login_required
@require_safe
def at_the_rack(request: HttpRequest) -> HttpResponse:
    """A short address to type into a phone: the step that waits for hands, or the list of them."""
    found = rack.waiting()
    if len(found) == 1:
        return redirect("run-now", found[0].pk)
    return render_page(request, "runs/rack.html", {"section": "runs", "lines": [rack.line(run) for run in found]}, partial="")


def _again_with(request: Watched, pk: int, more: dict[str, Any], status: int = 200) -> HttpResponse:
    """The page of an act as the answer to it. It stays, with what it says of the act, until there is something new."""
    if request.POST.get("page") == "now":
        request.seen = stamped(page_versions.now(request, pk))
        return render_page(request, "runs/now.html", rack.now(_run(pk), user_of(request)) | more, partial="now", status=status)
    request.seen = stamped(page_versions.run(request, pk))
    return render_page(request, "runs/detail.html", run_page.detail(_run(pk), user_of(request)) | more, partial="run", status=status)


def _run(pk: int) -> Run:
    return get_object_or_404(Run.objects.select_related("requester", "owner", "handed_by"), pk=pk)


@login_required
@require_POST
def start(request: HttpRequest) -> HttpResponse:
    if "offer" in request.POST:
        return _started(request, lambda: manual_start.begin(user_of(request), request.POST["offer"], request.POST))
    situation = get_object_or_404(Situation, pk=request.POST.get("situation"), closed_at__isnull=True)
    answer = next((a for a in situation.data["answers"] if a["runbook"] == request.POST.get("runbook")), None)
    if answer is None:
        return _refused(request, "That runbook is not among those of this situation. Open it again.")
    return _started(request, lambda: services.start_run(user_of(request), answer["runbook"], answer["params"], situation.key))


def _started(request: HttpRequest, start: Callable[[], Run]) -> HttpResponse:
    try:
        begun = start()
    except (services.RunRefused, LedgerDown) as refused:
        return _refused(request, str(refused))
    return redirect("run", begun.pk)


def _refused(request: HttpRequest, reason: str) -> HttpResponse:
    return render_page(request, "409.html", {"reason": reason}, partial="refusal", status=409)


@login_required
@require_POST
def act(request: Watched, pk: int) -> HttpResponse:
    """One act on one run, as its reader saw it. 409 with the fresh step when it may not be, 422 when the password must be typed again."""
    name, version = request.POST.get("act", ""), request.POST.get("version", "")
    if name not in (*ACTS, *BESIDE) or not (version.isascii() and version.isdigit() and len(version) < 10):
        return _again(request, pk, "That is not an act of this page. Read the step again.")
    get_object_or_404(Run, pk=pk)
    if "password" in request.POST and (wrong := proof.prove(request, request.POST["password"])):
        return _prove(request, pk, wrong)
    try:
        shown = _do(request, pk, name, int(version))
    except services.SignInIsOld as old:
        return _prove(request, pk, old.reason)
    except services.RunRefused as refused:
        return _again(request, pk, refused.reason, refused.verdicts, refused.recorded)
    except LedgerDown as down:
        return _again(request, pk, str(down))
    if shown is not None:
        return shown
    return run_again(request, pk) if wants_partial(request) else redirect("run-now" if request.POST.get("page") == "now" else "run", pk)


def _do(request: HttpRequest, pk: int, name: str, version: int) -> HttpResponse | None:
    """Do it. What it returns is a page of its own, where the run's page is not the answer."""
    if name == "technician-link":
        services.need_proof(proof.proved_at(request), timezone.now())
        return _link(request, *technician_link.make(pk, user_of(request)))
    perform_action.do(pk, version, name, user_of(request), proof.proved_at(request), request.POST)
    return None


def _link(request: HttpRequest, link: TechnicianLink, token: str) -> HttpResponse:
    """The one time that it is shown. No cache keeps it."""
    address = request.build_absolute_uri(reverse("technician-open", args=[token]))
    shown = {"section": "runs", "link": link, "run": link.run, "step": services.step_of(link.run), "address": address}
    response = render(request, "runs/technician_link.html", shown | {"qr": qr.svg(address), "hours": technician_link.HOURS})
    response.headers["Cache-Control"] = "no-store"
    return response


def _prove(request: Watched, pk: int, why: str) -> HttpResponse:
    """The step with a field for the password in place of its form, which holds everything that was sent."""
    kept = [(name, value) for name, values in request.POST.lists() for value in values if name not in ("password", "csrfmiddlewaretoken")]
    return _again_with(request, pk, {"prove": {"why": why, "kept": kept}}, status=422)


def run_again(request: Watched, pk: int) -> HttpResponse:
    return _again_with(request, pk, {})


def _again(request: Watched, pk: int, reason: str, verdicts: tuple[Verdict, ...] = (), recorded: bool = False) -> HttpResponse:
    """The run as it is now, with the reason, and with what the reader had typed or picked."""
    against = [v for v in verdicts if v.outcome != "pass"]
    more = {"refused": reason, "refused_verdicts": against, "refusal_recorded": recorded}
    more |= {"commands_ran": safety.commands_ran(pk)}
    more |= {"picked": request.POST.get("value", ""), "typed": request.POST.get("text") or request.POST.get("evidence", "")}
    more |= {"picked_act": request.POST.get("act", ""), "typed_reason": request.POST.get("reason", "")}
    more |= {"accepted": request.POST.get("accepted", "")}
    return _again_with(request, pk, more, status=409)


@login_required
@require_safe
@live(page_versions.loops)
def open_loops(request: HttpRequest) -> HttpResponse:
    return _loops(request)


@login_required
@require_POST
def close_loop(request: Watched, pk: int) -> HttpResponse:
    """A person states that it is over, and what shows it."""
    version = request.POST.get("version", "")
    try:
        seen = int(version) if version.isascii() and version.isdigit() and len(version) < 10 else 0
        loops.close(pk, seen, user_of(request), request.POST.get("evidence", "")[:WORDS_MAX])
    except (services.RunRefused, LedgerDown) as refused:
        request.seen = stamped(page_versions.loops(request))
        context = loops.listed(user_of(request), request.GET) | {
            "refused": str(refused),
            "refused_pk": pk,
            "typed": request.POST.get("evidence", ""),
        }
        return render_page(request, "runs/open_loops.html", context, partial="loops", status=409)
    request.seen = stamped(page_versions.loops(request))
    return _loops(request) if wants_partial(request) else redirect("open-loops")


def _loops(request: HttpRequest) -> HttpResponse:
    return render_page(request, "runs/open_loops.html", loops.listed(user_of(request), request.GET), partial="loops")


@login_required
@require_safe
def alarms(request: HttpRequest) -> HttpResponse:
    """What stands at the head of every page. Whoever comes here by hand is shown the fleet, below it."""
    if not wants_partial(request):
        return redirect("fleet")
    own = request.GET.get("run", "")
    context = panels.head(user_of(request), int(own) if own.isascii() and own.isdigit() and len(own) < 10 else None)
    if request.GET.get("seen") == context["seen"]:
        return HttpResponse(status=204)
    bare = request.GET.get("bare") == "1"  # a page at the rack has no navigation, so no badge in it
    return render(request, "runs/_alarms.html", context | {"bare": bare, "with_badge": not bare})


@login_required
@require_safe
def runbooks(request: HttpRequest) -> HttpResponse:
    return render_page(request, "runs/runbooks.html", {"section": "runs", "runbooks": list(RUNBOOKS.values())}, partial="")


@login_required
@require_safe
def runbook(request: HttpRequest, slug: str) -> HttpResponse:
    if slug not in RUNBOOKS:
        raise Http404(f"There is no runbook {slug}.")
    return render_page(request, "runs/runbook.html", {"section": "runs", **runbook_page.page(RUNBOOKS[slug])}, partial="")


@login_required
@require_safe
@live(page_versions.approvals)
def approvals(request: HttpRequest) -> HttpResponse:
    return _inbox(request)


@login_required
@require_POST
def review(request: Watched, pk: int) -> HttpResponse:
    """What another person says of a broken glass."""
    get_object_or_404(BrokenGlass, pk=pk)
    try:
        break_glass_review.review(pk, user_of(request), request.POST.get("words", ""))
    except (services.RunRefused, LedgerDown) as refused:
        request.seen = stamped(page_versions.approvals(request))
        judged, own = services.approvals_for(user_of(request))
        context = run_page.inbox(judged, own, user_of(request)) | {"refused": str(refused)}
        return render_page(request, "runs/approvals.html", context, partial="approvals", status=409)
    request.seen = stamped(page_versions.approvals(request))
    return _inbox(request) if wants_partial(request) else redirect("approvals")


def _inbox(request: HttpRequest) -> HttpResponse:
    judged, own = services.approvals_for(user_of(request))
    return render_page(request, "runs/approvals.html", run_page.inbox(judged, own, user_of(request)), partial="approvals")


@login_required
@require_POST
def look(request: HttpRequest, name: str) -> HttpResponse:
    """Ask a node to read one source again, now. Most nodes answer while we wait, so this mostly shows the answer, with or without scripts."""
    if request.POST.get("source") == look_again.EVERY:
        return _look_at_everything(request, name)
    try:
        with FANOUT.listen_in_thread(f"looks:{name}") as answers:  # before the question is put, so that none is missed
            order = services.look(user_of(request), name, (request.POST.get("source", ""),))
            answers.wait(ANSWER_SECONDS_MAX)
    except (services.RunRefused, LedgerDown) as refused:
        get_object_or_404(Node, name=name)
        return render_page(request, "runs/look.html", {"reason": str(refused), "node_name": name}, partial="look", status=409)
    return _answer(request, order.pk) if wants_partial(request) else redirect("look-answer", order.pk)


def _look_at_everything(request: HttpRequest, name: str) -> HttpResponse:
    try:
        asked = look_again.every(user_of(request), name)
    except (services.RunRefused, LedgerDown) as refused:
        get_object_or_404(Node, name=name)
        return render_page(request, "runs/look.html", {"reason": str(refused), "node_name": name}, partial="look", status=409)
    return redirect("looks", name, look_again.begun(asked))  # htmx follows it, and gets the partial


@login_required
@require_safe
def looks(request: HttpRequest, name: str, since: int) -> HttpResponse:
    """How far a collection has come."""
    context = {"section": "fleet", "topics": f"looks:{name}", **look_again.shown(name, since)}
    return render_page(request, "runs/looks.html", context, partial="looks")


@login_required
@require_safe
def look_answer(request: HttpRequest, pk: str) -> HttpResponse:
    return _answer(request, pk)


def _answer(request: HttpRequest, pk: str) -> HttpResponse:
    shown = run_page.answer(pk)
    if shown.get("evidence") and not _asked_lately(user_of(request), shown["look"]):
        looking.looked(user_of(request).get_username(), shown["evidence"])  # the receipt names every capture that is shown
    return render_page(request, "runs/look.html", shown, partial="look")


def _asked_lately(user: User, look: look_again.Look) -> bool:
    """Who just put the question is on the record with it, and the answer with what the node said: a third event would say nothing new.

    A question that the ledger could not take is not kept as evidence either; then the look at its answer is recorded by itself.
    """
    return look.is_on_record and look.sealed_by == user.pk and timezone.now() - look.sealed_at < looking.ONCE_PER

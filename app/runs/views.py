"""What we do about it, as pages: start a run, walk it, approve it, ask a node again.

A page is read by anybody who signed in. Acting asks for `runs.operate`, approving for `runs.approve`, and the service
layer asks again: a button that is not shown is no guard.
"""

from django.contrib.auth.decorators import login_required, permission_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST, require_safe

from app.fleet.models import Node, Situation
from app.htmx import render_page, wants_partial
from app.runs import pages, services
from app.runs.acts import ACTS
from app.runs.models import Run
from workflows.runbooks import RUNBOOKS


@login_required
@require_safe
def runs(request: HttpRequest) -> HttpResponse:
    found = [pages.line(run) for run in Run.objects.select_related("node").order_by("-created_at")[:200]]
    context = {"section": "runs", "topics": "runs", "runs": found}
    return render_page(request, "runs/list.html", context, partial="runs")


@login_required
@require_safe
def run(request: HttpRequest, pk: int) -> HttpResponse:
    return render_page(request, "runs/detail.html", pages.detail(_run(pk), request.user), partial="run")


def _run(pk: int) -> Run:
    return get_object_or_404(Run.objects.select_related("node"), pk=pk)


@permission_required("runs.operate", raise_exception=True)
@require_POST
def start(request: HttpRequest) -> HttpResponse:
    situation = get_object_or_404(Situation, pk=request.POST.get("situation"), closed_at__isnull=True)
    answer = next((a for a in situation.data["answers"] if a["runbook"] == request.POST.get("runbook")), None)
    if answer is None or answer["runbook"] not in RUNBOOKS:
        return render_page(request, "409.html", {"reason": "This situation is not answered by that runbook."}, partial="refusal", status=409)
    try:
        begun = services.start_run(request.user, answer["runbook"], answer["params"], situation.key)
    except services.ActRefused as refused:
        return render_page(request, "409.html", {"reason": refused.reason}, partial="refusal", status=409)
    return redirect("run", begun.pk)


@permission_required("runs.operate", raise_exception=True)
@require_POST
def act(request: HttpRequest, pk: int) -> HttpResponse:
    """One act on one run, as its reader saw it. 409 with the fresh step when it may not be."""
    build = ACTS.get(request.POST.get("act", ""))
    version = request.POST.get("version", "")
    if build is None or not version.isdecimal():
        return _again(request, pk, "That is not an act of this page. Read the step again.")
    try:
        services.act(pk, int(version[:9]), build(request.POST), request.user)
    except services.RunMoved as moved:
        return _again(request, pk, str(moved))
    except services.ActRefused as refused:
        return _again(request, pk, refused.reason, refused.verdicts)
    if wants_partial(request):
        return render_page(request, "runs/detail.html", pages.detail(_run(pk), request.user), partial="run")
    return redirect("run", pk)


def _again(request: HttpRequest, pk: int, reason: str, verdicts: tuple = ()) -> HttpResponse:
    """The run as it is now, with the reason, and with what the reader had typed or picked."""
    against = [v for v in verdicts if v.outcome != "pass"]
    context = pages.detail(_run(pk), request.user) | {"refused": reason, "refused_verdicts": against}
    context |= {"picked": request.POST.get("value", ""), "typed": request.POST.get("text", "")}
    return render_page(request, "runs/detail.html", context, partial="run", status=409)


@login_required
@require_safe
def approvals(request: HttpRequest) -> HttpResponse:
    waiting = [pages.line(run) | {"mine": run.requester_name == request.user.get_username()} for run in pages.awaiting_approval()]
    context = {"section": "approvals", "topics": "approvals", "waiting": waiting}
    return render_page(request, "runs/approvals.html", context, partial="approvals")


@permission_required("runs.operate", raise_exception=True)
@require_POST
def look(request: HttpRequest, name: str) -> HttpResponse:
    """Ask a node to read one source again, now."""
    node = get_object_or_404(Node, name=name)
    try:
        order = services.look(request.user, node, (request.POST.get("source", ""),))
    except services.ActRefused as refused:
        return render_page(request, "runs/look.html", {"reason": refused.reason}, partial="look", status=409)
    return redirect("look-answer", order.pk)


@login_required
@require_safe
def look_answer(request: HttpRequest, pk: str) -> HttpResponse:
    return render_page(request, "runs/look.html", pages.answer(pk), partial="look")

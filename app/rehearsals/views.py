"""A rehearsal as pages. Who may look may rehearse: nothing leaves."""

from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from app.accounts.asking import user_of
from app.core.pages import render_page, wants_partial
from app.fleet.models import Situation
from app.rehearsals import pages, services, tasks
from app.rehearsals.models import Rehearsal

CHOICE = "choice."  # before the name of the step, in a form


@login_required
@require_POST
def rehearse(request: HttpRequest, pk: int) -> HttpResponse:
    situation = get_object_or_404(Situation.objects.select_related("node"), pk=pk)
    choices = {name.removeprefix(CHOICE): request.POST.get(name, "") for name in request.POST if name.startswith(CHOICE)}
    try:
        begun = services.begin(user_of(request), situation, request.POST.get("runbook", ""), choices)
    except services.CannotRehearse as why:
        return render_page(request, "409.html", {"reason": str(why)}, partial="refusal", status=409)
    transaction.on_commit(lambda: tasks.play.delay(begun.pk), robust=True)
    return redirect("rehearsal", begun.pk)


@login_required
@require_safe
def rehearsal(request: HttpRequest, pk: int) -> HttpResponse:
    """While it is played the page looks again by itself. One that is not being played is queued again."""
    this = get_object_or_404(Rehearsal.objects.select_related("situation__node", "asked_by"), pk=pk)
    now = timezone.now()
    if this.ended_at is None and not services.is_lost(this, now) and pages.waits_long(this, now):
        transaction.on_commit(lambda: tasks.play.delay(this.pk), robust=True)
    if wants_partial(request) and this.ended_at is None and not services.is_lost(this, now):
        return HttpResponse(status=204)
    return render_page(request, "rehearsals/rehearsal.html", pages.detail(this, now, user_of(request)), partial="rehearsal")

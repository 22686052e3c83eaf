"""Bringing what was collected on a host without an agent, as pages."""

from datetime import UTC
from pathlib import Path

from django import forms
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from app.accounts import rights
from app.accounts.asking import needs, user_of
from app.accounts.rights import OPERATE
from app.fleet import triage_process
from app.fleet.models import Node
from app.fleet.pages import rows
from app.ledger.services import LedgerDown
from app.runs.pages import look_again
from app.snapshots import bringing
from confined import Stopped
from workflows.snapshot import recorded

SCRIPT = Path(recorded.__file__).with_name("slotlight-collect")
RETRY_SECONDS = 10


class Bring(forms.Form):
    archive = forms.FileField(label="Archive or text", widget=forms.ClearableFileInput(attrs={"class": "form-control"}))
    host = forms.CharField(label="Host, where the archive does not name it", max_length=255, required=False)
    taken_at = forms.DateTimeField(
        label="When it was taken (UTC), where the archive does not show it", required=False,
        widget=forms.DateTimeInput(attrs={"type": "datetime-local", "class": "form-control"}),
    )  # fmt: skip
    anew = forms.BooleanField(label="The host was installed anew, or got another hostid", required=False)

    def asked(self) -> bringing.Asked:
        fields = self.cleaned_data
        at = fields["taken_at"].replace(tzinfo=UTC) if fields["taken_at"] else None
        return bringing.Asked(fields["host"], at, fields["anew"])


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def bring(request: HttpRequest) -> HttpResponse:
    if not rights.may_somewhere(user_of(request), OPERATE):
        raise PermissionDenied(rights.why_not(user_of(request), OPERATE))
    form = Bring(request.POST, request.FILES) if request.method == "POST" else Bring(initial={"host": request.GET.get("host", "")[:255]})
    if not form.is_bound or not form.is_valid():
        return _page(request, form, 422 if form.is_bound else 200)
    try:
        brought = bringing.bring(form.cleaned_data["archive"].read(), user_of(request), form.asked())
    except bringing.MayNot as why:
        raise PermissionDenied(str(why)) from None
    except bringing.NotTaken as why:
        return _page(request, form, 422, str(why))
    except triage_process.Busy as busy:
        response = _page(request, form, 503, str(busy))
        response.headers["Retry-After"] = str(RETRY_SECONDS)
        return response
    except Stopped as stopped:
        return _page(request, form, 500, str(stopped))
    except LedgerDown as down:
        return _page(request, form, 503, str(down))
    return redirect("snapshot", brought.snapshot.node.name)


def _page(request: HttpRequest, form: Bring, status: int, refused: str = "") -> HttpResponse:
    context = {"section": "fleet", "form": form, "refused": refused, "nodes": Node.objects.filter(state=Node.State.BROUGHT)}
    return render(request, "snapshots/bring.html", context, status=status)


@login_required
@require_safe
def script(request: HttpRequest) -> HttpResponse:
    """slotlight-collect itself."""
    headers = {"Content-Disposition": 'attachment; filename="slotlight-collect"', "X-Content-Type-Options": "nosniff"}
    return HttpResponse(SCRIPT.read_bytes(), content_type="text/x-shellscript", headers=headers)


@login_required
@require_safe
def snapshot(request: HttpRequest, name: str) -> HttpResponse:
    """What was brought of one host: when, by whom, what it holds and lacks."""
    node = get_object_or_404(Node, name=name)
    return _snapshot(request, node, 200)


def _snapshot(request: HttpRequest, node: Node, status: int, refused: str = "") -> HttpResponse:
    found = list(node.snapshots.select_related("brought_by")[:20])
    if not found:
        raise Http404(f"Nothing was brought of {node.name}.")
    age = rows.ago((timezone.now() - found[0].taken_at).total_seconds())
    may = rights.may(user_of(request), OPERATE, node.name)
    context = {"section": "fleet", "node": node, "snapshot": found[0], "earlier": found[1:], "age": age, "may": may, "refused": refused}
    context["waiting"] = look_again.waiting_for_an_archive(node.name)
    return render(request, "snapshots/snapshot.html", context, status=status)


@needs(OPERATE, of="name")
@require_POST
def retire(request: HttpRequest, name: str) -> HttpResponse:
    node = get_object_or_404(Node, name=name)
    try:
        bringing.retire(node, user_of(request))
    except bringing.NotTaken as why:
        return _snapshot(request, node, 409, str(why))
    return redirect("fleet")

"""Postmortems as pages: begin one from runs, read it, write its narrative, comment, take a copy."""

from collections.abc import Callable
from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_GET, require_POST, require_safe

from app.accounts.asking import user_of
from app.core.job_progress import reported_as_asked
from app.core.pages import live, render_page
from app.fleet.models import Situation
from app.ledger.search import when
from app.ledger.services import LedgerDown
from app.postmortems import export as exports
from app.postmortems import narrative, pages, services
from app.postmortems.models import Comment, Postmortem
from app.postmortems.pdf import pdf
from app.runs.models import Run

NUMBER_DIGITS_MAX = 9
FORMS: dict[str, tuple[Callable[..., bytes], str]] = {
    "markdown": (exports.markdown, "md"),
    "json": (exports.as_json, "json"),
    "pdf": (pdf, "pdf"),
}
TYPES = {"markdown": "text/markdown; charset=utf-8", "json": "application/json", "pdf": "application/pdf"}


@login_required
@require_safe
def postmortems(request: HttpRequest) -> HttpResponse:
    context = pages.listed(user_of(request), request.GET.getlist("run"), request.GET.get("situation", ""))
    return render_page(request, "postmortems/list.html", context, partial="")


@login_required
@require_POST
def begin(request: HttpRequest) -> HttpResponse:
    runs = Run.objects.filter(pk__in=[int(pk) for pk in request.POST.getlist("run") if is_number(pk)]).order_by("created_at")
    given = request.POST.get("situation", "")
    situation = get_object_or_404(Situation.objects.select_related("node"), pk=given) if is_number(given) else None
    try:
        made = services.begin(user_of(request), request.POST.get("title", ""), runs, situation)
    except (services.Refused, LedgerDown) as why:
        context = pages.listed(user_of(request), request.POST.getlist("run"), given) | {
            "refused": str(why),
            "title": request.POST.get("title", ""),
        }
        return render_page(request, "postmortems/list.html", context, partial="", status=409)
    return redirect("postmortem", made.pk)


def is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= NUMBER_DIGITS_MAX


def found(pk: int) -> Postmortem:
    return get_object_or_404(Postmortem.objects.select_related("begun_by", "situation__node"), pk=pk)


def stamp(request: HttpRequest, pk: int) -> Any:
    """What of the page may change: the narrative, the comments, the collection."""
    rows = Postmortem.objects.filter(pk=pk)
    return list(rows.values_list("version", "collected_digest")), Comment.objects.filter(postmortem=pk).count()


@login_required
@require_safe
@live(stamp)
def postmortem(request: HttpRequest, pk: int) -> HttpResponse:
    made = found(pk)
    services.looked(user_of(request), made)
    return render_page(request, "postmortems/postmortem.html", pages.shown(made, user_of(request)), partial="postmortem")


@login_required
@require_safe
def version(request: HttpRequest, pk: int, number: int) -> HttpResponse:
    made = found(pk)
    text = services.text_of(made, number)
    if text is None or number == 0:
        raise Http404(f"This postmortem has no version {number}.")
    context = {"section": "postmortems", "postmortem": made, "text": text, "sections": pages.sections(text)}
    return render_page(request, "postmortems/version.html", context, partial="")


@login_required
def edit(request: HttpRequest, pk: int) -> HttpResponse:
    made = found(pk)
    if request.method != "POST":
        if not services.may_edit(user_of(request), made):
            raise PermissionDenied("Writing about this takes the operator's right for one of its nodes. You may read and comment.")
        text = services.text(made)
        return written(request, made, text.number, text.sections)
    seen = request.POST.get("version", "")
    mine = {slug: request.POST.get(slug, "") for slug in narrative.EMPTY}
    if not is_number(seen):
        return written(request, made, made.version, mine, refused="The version that the page showed was not sent with it. Save again.")
    try:
        services.edit(user_of(request), made.pk, int(seen), mine)
    except services.Conflict as conflict:
        return written(request, made, conflict.newest.number, conflict.merged.sections, conflict=conflict)
    except (services.Refused, LedgerDown) as why:
        return written(request, made, int(seen), mine, refused=str(why))
    return redirect("postmortem", made.pk)


def written(request: HttpRequest, made: Postmortem, version: int, sections: dict[str, str], **more: Any) -> HttpResponse:
    """The form, with what was typed still in it."""
    context = pages.form(made, version, sections, **more)
    return render_page(request, "postmortems/edit.html", context, partial="", status=409 if more else 200)


@login_required
@require_POST
def comment(request: HttpRequest, pk: int) -> HttpResponse:
    made, words = found(pk), request.POST.get("text", "")
    try:
        services.comment(user_of(request), made, words)
    except (services.Refused, LedgerDown) as why:
        context = pages.shown(made, user_of(request)) | {"comment_refused": str(why), "comment_text": words}
        return render_page(request, "postmortems/postmortem.html", context, partial="postmortem", status=409)
    return redirect(f"{made.get_absolute_url()}#comments")


@login_required
@require_POST
def collect(request: HttpRequest, pk: int) -> HttpResponse:
    made = found(pk)
    since, until = (when(request.POST.get(name, "").strip()) for name in ("since", "until"))
    try:
        if since is None or until is None:
            raise services.Refused("One of the times is none. Write it as 2026-11-21 03:15, in UTC.")
        services.collect_again(user_of(request), made, since, until)
    except (services.Refused, LedgerDown) as why:
        context = pages.shown(made, user_of(request)) | {"collect_refused": str(why)}
        return render_page(request, "postmortems/postmortem.html", context, partial="postmortem", status=409)
    return redirect("postmortem", made.pk)


@login_required
@require_GET
def export(request: HttpRequest, pk: int, form: str) -> HttpResponse:
    """A copy as a file. Each is recorded with the digest of its bytes before it goes out."""
    made = found(pk)
    if form not in FORMS:
        raise Http404("A copy is Markdown, PDF or JSON.")
    make, ending = FORMS[form]
    with reported_as_asked(request):
        data = make(made, services.text(made), list(made.comments.select_related("by")))
    try:
        services.exported(user_of(request), made, form, data)
    except LedgerDown as down:
        return HttpResponse(str(down), status=503, content_type="text/plain; charset=utf-8")
    name = f"slotlight-postmortem-{made.pk}.{ending}"
    return HttpResponse(data, content_type=TYPES[form], headers={"Content-Disposition": f'attachment; filename="{name}"'})

"""The guide as pages: its contents, its pages and a search over them."""

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from app.guide import pages

ASKED_MAX = 100


@login_required
@require_safe
def guide(request: HttpRequest) -> HttpResponse:
    asked = request.GET.get("q", "").strip()[:ASKED_MAX]
    context = {"section": "guide", "pages": pages.pages().values(), "asked": asked, "hits": pages.search(asked)}
    return render(request, "guide/guide.html", context)


@login_required
@require_safe
def page(request: HttpRequest, slug: str) -> HttpResponse:
    found = pages.pages()
    if slug not in found:
        raise Http404(f"The guide has no page {slug}.")
    place = pages.PAGES.index(slug)
    context = {
        "section": "guide",
        "page": found[slug],
        "pages": found.values(),
        "before": found[pages.PAGES[place - 1]] if place else None,
        "after": found[pages.PAGES[place + 1]] if place + 1 < len(pages.PAGES) else None,
    }
    return render(request, "guide/page.html", context)

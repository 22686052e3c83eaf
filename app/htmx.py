"""Whole page or its partial: the two functions every view ends with."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_vary_headers


def wants_partial(request: HttpRequest) -> bool:
    """Whether htmx will swap the answer into the page it already has.

    A boosted link and a restored history entry are htmx requests too, but both replace the whole body.
    """
    htmx = request.htmx
    return bool(htmx) and not htmx.boosted and not htmx.history_restore_request


def render_page(request: HttpRequest, template: str, context: dict, *, partial: str, status: int = 200) -> HttpResponse:
    """Render `template`, or just its `partial` when htmx asked for it."""
    name = f"{template}#{partial}" if wants_partial(request) else template
    response = render(request, name, context, status=status)
    patch_vary_headers(response, ["HX-Request"])
    return response

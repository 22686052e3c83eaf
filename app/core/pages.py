"""Whole page or its partial, or nothing while there is nothing new: what every view begins and ends with."""

import hashlib
import json
from collections.abc import Callable
from functools import wraps
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.serializers.json import DjangoJSONEncoder
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render, resolve_url
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from django.utils.module_loading import import_string
from django_htmx.middleware import HtmxDetails

from app.core.handlers import Respond, View

Stamp = Callable[..., Any]


def wants_partial(request: HttpRequest) -> bool:
    """Whether htmx will swap the answer into the page it already has.

    A boosted link and a restored history entry are htmx requests too, but both replace the whole body.
    """
    htmx = HtmxDetails(request)
    return bool(htmx) and not htmx.boosted and not htmx.history_restore_request


def signed_out_of_a_part(get_response: Respond) -> Respond:
    """The sign-in is a page of its own: put into a part of another page it would take away what a person is typing there."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        sign_in = resolve_url(settings.LOGIN_URL)
        if response.status_code == 302 and wants_partial(request) and urlsplit(response["Location"]).path == sign_in:
            return HttpResponse("You are signed out.", status=401, headers={"X-Sign-In": sign_in, "Cache-Control": "no-store"})
        return response

    return middleware


class Watched(HttpRequest):
    """A request whose page looks again by itself."""

    seen: str  # the stamp of what the page shows


def live(stamp: Stamp) -> Callable[[View], View]:
    """A page that is looked at again and again. `stamp(request, **kwargs)` asks a few small questions about all that the page shows;
    while the answers are the same the look is answered 204, and the page is left alone with whatever is being typed into it.

    A ring may be lost, or come before its truth; so a page looks by itself too, and this is what makes that cheap.
    """

    def decorator(view: View) -> View:
        @wraps(view)
        def looked_at(request: Watched, **kwargs: str) -> HttpResponse:
            request.seen = stamped(stamp(request, **kwargs))  # before the page is made: what changes meanwhile is seen at the next look
            if wants_partial(request) and request.GET.get("seen") == request.seen:
                return HttpResponse(status=204)
            return view(request, **kwargs)

        return looked_at

    return decorator


def stamped(stamp: Any) -> str:
    return hashlib.sha256(json.dumps(stamp, cls=DjangoJSONEncoder).encode()).hexdigest()[:16]


def beside() -> Any:
    """What stands on a page from apps that the page's own app does not know."""
    return import_string(settings.LIVE_BESIDE)()


def minute() -> int:
    """Part of the stamp of a page that says how long ago something was."""
    return int(timezone.now().timestamp() // 60)


def render_page(request: HttpRequest, template: str, context: dict[str, Any], *, partial: str, status: int = 200) -> HttpResponse:
    """Render `template`, or just its `partial` when htmx asked for it."""
    name = f"{template}#{partial}" if wants_partial(request) else template
    response = render(request, name, {"seen": getattr(request, "seen", "")} | context, status=status)
    patch_vary_headers(response, ["HX-Request"])
    return response

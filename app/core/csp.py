"""The content security policy: everything from here, nothing inline, no framing."""

from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest, HttpResponse
from django.utils.decorators import sync_and_async_middleware

from app.core.handlers import Respond, RespondLater

POLICY = "; ".join(
    (
        "default-src 'self'",
        "img-src 'self' data:",  # Tabler's style sheet draws its ticks and arrows from data: images
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)


@sync_and_async_middleware
def content_security_policy(get_response: Respond) -> Respond | RespondLater:
    if iscoroutinefunction(get_response):

        async def later(request: HttpRequest) -> HttpResponse:
            return _mark(await get_response(request))

        return later
    return lambda request: _mark(get_response(request))


def _mark(response: HttpResponse) -> HttpResponse:
    response.headers["Content-Security-Policy"] = POLICY
    return response

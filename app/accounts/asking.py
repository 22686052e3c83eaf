"""What a view says in one line: signed in, and with this right."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse

from app.accounts import rights
from app.accounts.models import User
from app.core.handlers import View


def user_of(request: HttpRequest) -> User:
    """Who is signed in. Raises PermissionDenied when nobody is."""
    if not isinstance(request.user, User):
        raise PermissionDenied("The request has no signed-in person. Sign in, and try again.")
    return request.user


def needs(right: str, of: str = "") -> Callable[[View], View]:
    """The right on the node whose name the URL carries as `of`; without that, for the whole fleet. 403 says why."""

    def decorate(view: View) -> View:
        @login_required
        @wraps(view)
        def asked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            if why := rights.why_not(user_of(request), right, kwargs.get(of)):
                raise PermissionDenied(why)
            return view(request, *args, **kwargs)

        return asked

    return decorate

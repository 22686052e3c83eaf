"""The types of views and middleware."""

from collections.abc import Callable, Coroutine
from typing import Any, TypeAlias

from django.http import HttpRequest, HttpResponse

View: TypeAlias = Callable[..., HttpResponse]
Respond: TypeAlias = Callable[[HttpRequest], HttpResponse]
RespondLater: TypeAlias = Callable[[HttpRequest], Coroutine[Any, Any, HttpResponse]]

"""A view that changes who may do what, or what proves a person: in one transaction with its record, or not at all."""

from functools import wraps
from typing import Any

from allauth.core.exceptions import ReauthenticationRequired
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from app.accounts import proof
from app.core.handlers import View
from app.core.pages import render_page
from app.ledger import services as ledger


def changing(view: View) -> View:
    """Looking at the page goes on without the ledger; sending its form does not."""

    @wraps(view)
    def kept(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.method in ("GET", "HEAD"):
            return view(request, *args, **kwargs)
        try:
            ledger.refuse_if_broken()
            with transaction.atomic():
                answer = view(request, *args, **kwargs)
                return answer.render() if hasattr(answer, "render") else answer
        except ledger.LedgerDown as down:
            return render_page(request, "409.html", {"reason": str(down)}, partial="refusal", status=409)

    return kept


def fresh(view: View) -> View:
    """Only with a fresh proof, also of people who come through the identity provider; django-allauth's middleware leads to one."""

    @wraps(view)
    def proved(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not proof.is_fresh(proof.proved_at(request), timezone.now()):
            raise ReauthenticationRequired
        return view(request, *args, **kwargs)

    return proved

"""The page where a person makes and revokes tokens."""

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from app.accounts import proof
from app.accounts.asking import needs, user_of
from app.accounts.changing import fresh
from app.accounts.models import User
from app.accounts.rights import PEOPLE
from app.api import tokens
from app.api.forms import MakeToken
from app.api.models import Token
from app.api.scopes import ACTING_LASTS_MAX, LIVES, READ
from app.ledger.services import LedgerDown


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def listed(request: HttpRequest) -> HttpResponse:
    """The token's text is in the answer to this POST and nowhere else, ever."""
    form = MakeToken(request.POST) if request.method == "POST" else MakeToken(initial={"scopes": [READ], "life": "12h"})
    if request.method != "POST" or not form.is_valid():
        return _page(request, form, 422 if form.is_bound else 200)
    if wrong := proof.lacks(request, form.cleaned_data["password"]):
        form.add_error("password", wrong)
        return _page(request, form, 422)
    cleaned = form.cleaned_data
    try:
        token, text = tokens.make(
            user_of(request), cleaned["name"], cleaned["scopes"], LIVES[cleaned["life"]].lasts, proof.proved_at(request)
        )
    except (tokens.NotMade, LedgerDown) as why:
        form.add_error(None, str(why))
        return _page(request, form, 422)
    return _page(request, MakeToken(initial={"scopes": [READ], "life": "12h"}), made=token, text=text)


def _page(request: HttpRequest, form: MakeToken, status: int = 200, **more: Any) -> HttpResponse:
    now = timezone.now()
    lines = [{"token": token, "state": tokens.state(token, now)} for token in tokens.listed(user_of(request))]
    context = {
        "section": "account",
        "form": form,
        "lines": lines,
        "portal": request.build_absolute_uri("/").rstrip("/"),
        "asks_password": not proof.is_fresh(proof.proved_at(request), now),
        "minutes": proof.FRESH_SECONDS // 60,
        "hours": ACTING_LASTS_MAX.total_seconds() / 3600,
    }
    return render(request, "api/tokens.html", context | more, status=status)


@login_required
@require_POST
def revoke(request: HttpRequest, pk: int) -> HttpResponse:
    """The caller's own; those of others are not shown here."""
    person = user_of(request)
    tokens.revoke(get_object_or_404(Token, pk=pk, person=person), person)
    return redirect("tokens")


@needs(PEOPLE)
@require_POST
@fresh
def revoke_of(request: HttpRequest, name: str) -> HttpResponse:
    """An administrator shuts a person's programs out: the one that is named, or all of them. A broken ledger does not stop it."""
    person, wanted = get_object_or_404(User, username=name), request.POST.get("token", "")
    found = tokens.open_ones(person, timezone.now())
    for token in found if wanted == "all" else [get_object_or_404(found, pk=_number(wanted))]:
        tokens.revoke(token, user_of(request))
    return redirect("person", person.username)


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else 0

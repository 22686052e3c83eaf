"""Signing in and out, and the page of one's own account. The ceremonies themselves are django-allauth's, in the house's templates."""

from typing import Any

from allauth.account.views import LoginView
from allauth.mfa.models import Authenticator
from allauth.socialaccount.adapter import get_adapter
from allauth.usersessions.models import UserSession
from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import LogoutView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from app.accounts import confirming, people_views, rights, waiting
from app.accounts.asking import user_of
from app.accounts.changing import changing, fresh
from app.accounts.models import User
from app.accounts.people import PeopleRefused
from app.ledger import services as ledger


class SignIn(LoginView):
    template_name = "accounts/sign_in.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context: dict[str, Any] = super().get_context_data(**kwargs)
        return context | {"providers": get_adapter().list_providers(self.request)}


sign_in = SignIn.as_view()
sign_out = LogoutView.as_view(next_page=reverse_lazy("sign-in"))


@login_required
@never_cache
@require_safe
def account(request: HttpRequest) -> HttpResponse:
    """What one is here, what proves it, and where one is signed in."""
    return render(request, "accounts/account.html", shown(user_of(request)) | {"section": "account"})


def shown(person: User) -> dict[str, Any]:
    found = list(Authenticator.objects.filter(user=person).order_by("created_at"))
    return {
        "memberships": list(person.memberships.select_related("team")),
        "waiting": [people_views.card(one, person) for one in waiting.of(person)],
        "waits_for_others": sum(1 for _ in waiting.everything()),
        "lacks_factor": rights.lacks_factor(person),
        "app": next((one for one in found if one.type == "totp"), None),
        "codes": next((one for one in found if one.type == "recovery_codes"), None),
        "passkeys": [one for one in found if one.type == "webauthn"],
        "sessions": sorted(UserSession.objects.purge_and_list(person), key=lambda one: one.created_at, reverse=True),
    }


@login_required
@require_POST
@fresh
@changing
def withdraw(request: HttpRequest) -> HttpResponse:
    """What an administrator did to one's account, and one did not ask for."""
    try:
        confirming.withdraw(user_of(request), *people_views.named(request, user_of(request)))
    except PeopleRefused as refused:
        return render(
            request, "accounts/account.html", shown(user_of(request)) | {"section": "account", "refused": str(refused)}, status=409
        )
    return redirect("account")


@login_required
@require_POST
@changing
def end_session(request: HttpRequest, pk: int) -> HttpResponse:
    """Sign one of one's own browsers out."""
    person = user_of(request)
    session = get_object_or_404(UserSession, pk=pk, user=person)
    ledger.record("person.session-ended", {"of": person.username, "from": session.ip}, person.username)
    session.end()
    return redirect("account")

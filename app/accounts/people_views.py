"""People and teams, as pages for administrators."""

from collections.abc import Callable
from typing import Any

from allauth.mfa.models import Authenticator
from django.conf import settings
from django.db.models import Count, Prefetch
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from app.accounts import confirming, people, waiting
from app.accounts.asking import needs, user_of
from app.accounts.changing import changing, fresh
from app.accounts.models import MEANS, Membership, Role, Team, User
from app.accounts.rights import FACTORS, PEOPLE, lacks_factor
from app.core.handlers import View


def act(view: View) -> View:
    """An administrator's act: the right for the whole fleet, a fresh proof, one transaction with its record."""
    return needs(PEOPLE)(require_POST(fresh(changing(never_cache(view)))))


def card(one: waiting.Changed, reader: User) -> dict[str, Any]:
    """What waits, for a page with the buttons that end it."""
    return {
        "person": waiting.person_of(one),
        "words": waiting.words(one),
        "is_role": isinstance(one, Membership),
        "counts_at": one.counts_at,
        "key": waiting.key(one),
        "why_not": confirming.why_not(reader, one),
    }


@needs(PEOPLE)
@never_cache
@require_safe
def people_page(request: HttpRequest) -> HttpResponse:
    return _people(request)


def _people(request: HttpRequest, more: dict[str, Any] | None = None, status: int = 200) -> HttpResponse:
    held = Prefetch("memberships", Membership.objects.select_related("team"))
    secured = set(Authenticator.objects.filter(type__in=FACTORS).values_list("user_id", flat=True))
    shown = {
        "section": "account",
        "people": [
            {"person": one, "factor": one.pk in secured} for one in User.objects.prefetch_related(held).order_by("-is_active", "username")
        ],
        "teams": Team.objects.annotate(
            nodes_count=Count("nodes", distinct=True), people_count=Count("memberships__user", distinct=True)
        ).order_by("name"),
        "waiting": [card(one, user_of(request)) for one in waiting.everything()],
        "elsewhere": bool(settings.SOCIALACCOUNT_PROVIDERS),
        "required": settings.REQUIRE_SECOND_FACTOR,
    }
    return render(request, "accounts/people.html", shown | (more or {}), status=status)


@needs(PEOPLE)
@never_cache
@require_safe
def person_page(request: HttpRequest, name: str) -> HttpResponse:
    return _person(request, _found(name))


def _found(name: str) -> User:
    return get_object_or_404(User, username=name)


def _person(request: HttpRequest, person: User, more: dict[str, Any] | None = None, status: int = 200) -> HttpResponse:
    shown = {
        "section": "account",
        "person": person,
        "memberships": person.memberships.select_related("team"),
        "roles": [{"value": role.value, "label": role.label.capitalize(), "means": MEANS[role]} for role in Role],
        "teams": Team.objects.all(),
        "factors": Authenticator.objects.filter(user=person).order_by("created_at"),
        "lacks_factor": lacks_factor(person),
        "waiting": [card(one, user_of(request)) for one in waiting.of(person)],
        "site_is_new": waiting.site_is_new(),
        "oneself": person == user_of(request),
    }
    return render(request, "accounts/person.html", shown | (more or {}), status=status)


@act
def add(request: HttpRequest) -> HttpResponse:
    """The first password is in the answer to this POST and nowhere else, ever."""
    try:
        person, password = people.add(user_of(request), request.POST.get("name", ""), elsewhere=request.POST.get("elsewhere") == "1")
    except people.PeopleRefused as refused:
        return _people(request, {"refused": str(refused), "typed": request.POST.get("name", "")}, status=409)
    return _person(request, person, {"password": password, "is_new": True})


@act
def add_team(request: HttpRequest) -> HttpResponse:
    try:
        people.add_team(user_of(request), request.POST.get("team", ""))
    except people.PeopleRefused as refused:
        return _people(request, {"refused_team": str(refused), "typed_team": request.POST.get("team", "")}, status=409)
    return redirect("people")


def on_person(do: Callable[[HttpRequest, User], dict[str, Any] | None]) -> View:
    """An act on the person that the URL names: back to the page, which says why when it was refused, or shows what came of it."""

    @act
    def view(request: HttpRequest, name: str) -> HttpResponse:
        person = _found(name)
        try:
            shown = do(request, person)
        except people.PeopleRefused as refused:
            return _person(request, person, {"refused": str(refused)}, status=409)
        return _person(request, person, shown) if shown else redirect("person", person.username)

    return view


@on_person
def give(request: HttpRequest, person: User) -> None:
    wanted = request.POST.get("team", "")
    team = get_object_or_404(Team, name=wanted) if wanted else None
    people.give(user_of(request), person, request.POST.get("role", ""), team)


@on_person
def take(request: HttpRequest, person: User) -> None:
    held = request.POST.get("membership", "")
    people.take(user_of(request), person, get_object_or_404(person.memberships, pk=int(held) if held.isascii() and held.isdigit() else 0))


@on_person
def switch(request: HttpRequest, person: User) -> None:
    people.switch(user_of(request), person, on=request.POST.get("on") == "1")


@on_person
def new_password(request: HttpRequest, person: User) -> dict[str, Any]:
    return {"password": people.new_password(user_of(request), person)}


@on_person
def forget_factors(request: HttpRequest, person: User) -> None:
    people.forget_factors(user_of(request), person)


@on_person
def confirm(request: HttpRequest, person: User) -> None:
    confirming.confirm(user_of(request), *named(request, person))


@on_person
def withdraw(request: HttpRequest, person: User) -> None:
    confirming.withdraw(user_of(request), *named(request, person))


def named(request: HttpRequest, person: User) -> tuple[waiting.Changed, str]:
    """The change that the form is about, as it waits now."""
    seen = request.POST.get("key", "")
    found = next((one for one in waiting.of(person) if waiting.key(one) == seen), None)
    if found is None:
        raise people.PeopleRefused("That no longer waits, or was changed again since you loaded the page. Read the page again.")
    return found, seen

"""The end of what waits (`app.accounts.waiting`): another administrator confirms it, an administrator withdraws it, or its day has passed."""

import secrets
from datetime import datetime

from django.db import transaction

from app.accounts import people, seals, waiting
from app.accounts.models import Membership, User
from app.accounts.people import PeopleRefused
from app.accounts.waiting import Changed
from app.ledger import services as ledger


def why_not(by: User, one: Changed) -> str:
    """Why this administrator cannot confirm it; "" when they can."""
    if by == waiting.person_of(one):
        return "This is about you. Another administrator confirms it."
    if by.username in waiting.askers(one):
        return "You did this, or a part of it. Another administrator confirms it."
    return ""


def confirm(by: User | None, one: Changed, seen: str) -> None:
    """It counts from now on. `seen` is `waiting.key` as the page showed it: what was changed since then is not confirmed with it."""
    with transaction.atomic():
        held = _held(one, seen)
        if by is not None and (why := why_not(by, held)):
            raise PeopleRefused(why)
        body = _body(held)
        _count(held)
        who = by.username if by else waiting.HOST
        ledger.record("person.change-confirmed", body, who)
        waiting.announce_change(body["of"], body["what"], f"confirmed by {who}")


def withdraw(by: User, one: Changed, seen: str) -> None:
    """A role is gone. An account is shut out, and what was set up to get into it is worth nothing: whoever did that may know it."""
    with transaction.atomic():
        held = _held(one, seen)
        body = _body(held)
        if isinstance(held, Membership):
            held.delete()
        else:
            _shut(held)
        ledger.record("person.change-withdrawn", body, by.username)
        waiting.announce_change(body["of"], body["what"], f"withdrawn by {by.username}; it does not count")


def sweep(now: datetime) -> None:
    """Record and send what has come to count because its day has passed. It counts without this; rung by beat."""
    found: list[Changed] = [*User.objects.filter(counts_at__lte=now, is_active=True), *Membership.objects.filter(counts_at__lte=now)]
    for one in found:
        with transaction.atomic():
            held = _locked(one)
            if held is None or held.counts_at != one.counts_at or seals.why_not(type(one), pk=one.pk):
                continue
            body = _body(held)
            _count(held)
            ledger.record("person.change-counts", body, "portal")
            waiting.announce_change(body["of"], body["what"], "a day has passed and it was not withdrawn")


def _held(one: Changed, seen: str) -> Changed:
    """The row as it is now, while it waits and is just what was seen."""
    held = _locked(one)
    if held is None or not held.waits:
        raise PeopleRefused("That no longer waits: it was withdrawn, or it counts. Read the page again.")
    if waiting.key(held) != seen:
        raise PeopleRefused("That was changed again since you loaded the page. Read what waits now.")
    if why := seals.why_not(type(held), pk=held.pk):
        raise PeopleRefused(why)
    return held


def _locked(one: Changed) -> Changed | None:
    if isinstance(one, User):
        return User.objects.select_for_update(of=("self",)).filter(pk=one.pk).first()
    roles = Membership.objects.select_for_update(of=("self",)).select_related("user", "team", "given_by")
    return roles.filter(pk=one.pk).first()


def _body(one: Changed) -> dict[str, str]:
    return {"of": waiting.person_of(one).username, "what": waiting.words(one)}


def _count(one: Changed) -> None:
    one.counts_at, fields = None, ["counts_at"]
    if isinstance(one, User):
        one.changed, fields = None, ["counts_at", "changed"]
    one.save(update_fields=fields)


def _shut(person: User) -> None:
    person.is_active, person.changed, person.counts_at = False, None, None
    if person.has_usable_password():
        person.set_password(secrets.token_urlsafe(32))  # not an unusable one: that would be an account for the identity provider
    people.remove_factors(person)
    person.save(update_fields=["is_active", "changed", "counts_at", "password"])
    people.sign_out(person)

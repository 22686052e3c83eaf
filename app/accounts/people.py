"""What an administrator does to people and teams. Each of these is recorded with the change, or not done.

No person changes their own rights: another administrator does. So whoever holds the last administrator's account cannot lose it
by a slip, and a role never comes from the one who uses it. What gives a person a right, or changes a person's proof of identity, waits for a second
administrator or for a day to pass (`app.accounts.waiting`); what shuts a person out is done at once. `by` is None for a person on the
portal's own machine.
"""

import secrets
from typing import Any

from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from app.accounts import waiting
from app.accounts.models import Membership, Role, Team, User
from app.ledger import services as ledger
from app.realtime.publish import ring, sessions_of

PASSWORD_BYTES = 12
SHUT_OUT = "what takes a right away counts at once"


class PeopleRefused(Exception):
    """Nothing was changed. The message is for the administrator."""


def add(by: User, name: str, *, elsewhere: bool) -> tuple[User, str]:
    """A new person who may look, and the first password; "" for one who comes through the identity provider."""
    password = "" if elsewhere else secrets.token_urlsafe(PASSWORD_BYTES)
    person = User(username=name.strip())
    person.set_password(password or None)
    try:
        person.full_clean(exclude=["password"])
    except ValidationError as wrong:
        raise PeopleRefused(" ".join(wrong.messages)) from None
    person.save()
    ledger.record("person.added", {"of": person.username, "through": "identity provider" if elsewhere else "password"}, by.username)
    return person, password


def give(by: User | None, person: User, role: str, team: Team | None) -> Membership:
    _not_oneself(by, person, "gives you a role")
    if role not in Role.values:
        raise PeopleRefused(f"There is no role {role}.")
    counts_at = waiting.counting_from(by) if role in waiting.ROLES else None
    try:
        with transaction.atomic():
            held = person.memberships.create(role=role, team=team, given_by=by, counts_at=counts_at)
    except IntegrityError:
        raise PeopleRefused(f"{person} is {role} there already, or will be when that role counts.") from None
    _record("person.role-given", by, person, {"role": role, "team": team.name if team else ""}, held)
    return held


def take(by: User, person: User, held: Membership) -> None:
    _not_oneself(by, person, "takes a role from you")
    if held.from_groups:
        raise PeopleRefused(
            f"{person} has this role by a group of the identity provider, which would give it again. Change the group there."
        )
    body = {"role": held.role, "team": held.team.name if held.team else ""}
    held.delete()
    _record("person.role-taken", by, person, body)
    if held.role in waiting.ROLES:
        waiting.announce_change(person.username, f"{held.role} for {held.where}, taken by {by.username}", SHUT_OUT)


def switch(by: User, person: User, *, on: bool) -> None:
    """Let a person in again, or shut it out at once: it is signed out everywhere, and its approvals count no more."""
    _not_oneself(by, person, "switches you off")
    with transaction.atomic():
        hold(person)
        changed = waiting.change(person, "on", by) if on and not person.is_active else ()
        person.is_active = on
        person.save(update_fields=["is_active", *changed])
        if not on:
            sign_out(person)
        _record("person.switched-on" if on else "person.switched-off", by, person, {}, person if changed else None)
        if not on:
            waiting.announce_change(person.username, f"switched off by {by.username}", SHUT_OUT)


def new_password(by: User | None, person: User) -> str:
    """For a person who has lost the old one; the sessions end."""
    _not_oneself(by, person, "gives you a new password; you change yours on the page of your account")
    password = secrets.token_urlsafe(PASSWORD_BYTES)
    with transaction.atomic():
        hold(person)
        person.set_password(password)
        person.save(update_fields=["password", *waiting.change(person, "password", by)])
        sign_out(person)
        _record("person.password-reset", by, person, {}, person)
    return password


def forget_factors(by: User, person: User) -> None:
    """For a person who has lost the phone. What is removed is recorded factor by factor."""
    _not_oneself(by, person, "removes your factors; you remove yours on the page of your account")
    with transaction.atomic():
        hold(person)
        remove_factors(person)
        person.save(update_fields=waiting.change(person, "factors", by))
        sign_out(person)
        _record("person.factors-forgotten", by, person, {}, person)


def remove_factors(person: User) -> None:
    for factor in Authenticator.objects.filter(user=person):
        factor.delete()


def hold(person: User) -> None:
    """As the row is now, until the transaction ends: two administrators at one account come one after the other."""
    person.refresh_from_db(from_queryset=User.objects.select_for_update())


def add_team(by: User, name: str) -> Team:
    team = Team(name=name.strip())
    try:
        team.full_clean()
    except ValidationError as wrong:
        raise PeopleRefused(" ".join(wrong.messages)) from None
    team.save()
    ledger.record("team.added", {"team": team.name}, by.username)
    return team


def sign_out(person: User) -> None:
    for session in UserSession.objects.filter(user=person):
        session.end()
    ring(sessions_of(person.pk))


def _not_oneself(by: User | None, person: User, what: str) -> None:
    if by == person:
        raise PeopleRefused(f"You cannot do this to your own account: another administrator {what}.")


def _record(what: str, by: User | None, person: User, body: dict[str, Any], changed: waiting.Changed | None = None) -> None:
    """`changed` is what may have to wait."""
    held = changed if changed is not None and changed.waits else None
    fields = {"of": person.username, **body, **({"counts_at": held.counts_at} if held is not None else {})}
    ledger.record(what, fields, by.username if by else waiting.HOST)
    if held is not None:
        waiting.announce_waiting(held)

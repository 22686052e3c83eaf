"""What an administrator does to people and teams. Each of these is recorded with the change, or not done.

Nobody changes what they themselves may do: another administrator does. So whoever holds the last administrator's account cannot lose it
by a slip, and a role never comes from the one who uses it.
"""

import secrets

from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from app.accounts.models import Membership, Role, Team, User
from app.doorbell import ring, sessions_of
from app.ledger import services as ledger

PASSWORD_BYTES = 12


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


def give(by: User, person: User, role: str, team: Team | None) -> None:
    _not_oneself(by, person, "gives you a role")
    if role not in Role.values:
        raise PeopleRefused(f"There is no role {role}.")
    try:
        with transaction.atomic():
            person.memberships.create(role=role, team=team)
    except IntegrityError:
        raise PeopleRefused(f"{person} is {role} there already.") from None
    _told("person.role-given", by, person, {"role": role, "team": team.name if team else ""})


def take(by: User, person: User, held: Membership) -> None:
    _not_oneself(by, person, "takes a role from you")
    if held.from_groups:
        raise PeopleRefused(
            f"{person} has this role by a group of the identity provider, which would give it again. Change the group there."
        )
    body = {"role": held.role, "team": held.team.name if held.team else ""}
    held.delete()
    _told("person.role-taken", by, person, body)


def switch(by: User, person: User, *, on: bool) -> None:
    """Let a person in again, or shut it out at once: it is signed out everywhere, and its approvals count no more."""
    _not_oneself(by, person, "switches you off")
    person.is_active = on
    person.save(update_fields=["is_active"])
    if not on:
        sign_out(person)
    _told("person.switched-on" if on else "person.switched-off", by, person, {})


def new_password(by: User, person: User) -> str:
    """For somebody who has lost the old one; the sessions end."""
    _not_oneself(by, person, "gives you a new password; you change yours on the page of your account")
    password = secrets.token_urlsafe(PASSWORD_BYTES)
    person.set_password(password)
    person.save(update_fields=["password"])
    sign_out(person)
    _told("person.password-reset", by, person, {})
    return password


def forget_factors(by: User, person: User) -> None:
    """For somebody who has lost the phone. What is removed is recorded factor by factor."""
    _not_oneself(by, person, "removes your factors; you remove yours on the page of your account")
    for factor in Authenticator.objects.filter(user=person):
        factor.delete()
    sign_out(person)
    _told("person.factors-forgotten", by, person, {})


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


def _not_oneself(by: User, person: User, what: str) -> None:
    if by == person:
        raise PeopleRefused(f"Nobody does this to themselves: another administrator {what}.")


def _told(what: str, by: User, person: User, body: dict) -> None:
    ledger.record(what, {"of": person.username, **body}, by.username)

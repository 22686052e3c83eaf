"""One administrator alone is not two people: what they give or change counts when a second one has confirmed it, or after a day."""

import base64
import json
import re
from datetime import timedelta

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal import auth as totp
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from app.accounts import confirming, people, seals, sso, waiting
from app.accounts.kinds import MEMBERSHIP, USER
from app.accounts.models import Membership, Seal, Team, User
from app.accounts.rights import APPROVE, BREAK_GLASS, ENROL, MANUAL, NOTICES, OPERATE, PEOPLE, holders, may, may_somewhere, why_not
from app.ledger import services as ledger
from app.ledger.models import LedgerEvent
from app.nodes import keys
from app.notices import kinds as notices
from app.notices.models import Happening

pytestmark = pytest.mark.django_db
PASSWORD = "correct horse battery"


def person(name: str, *roles: str) -> User:
    made = User.objects.create_user(name, password=PASSWORD)
    for role in roles:
        made.memberships.create(role=role)
    return made


def browser(of: User) -> Client:
    client = Client()
    client.force_login(of)
    return client


def enrolled(node: str, by: str) -> None:
    token = keys.issue_token(node, by)
    secret = base64.b64encode(node.encode().ljust(32, b".")).decode()
    keys.enrol({"token": token, "node": node, "key": secret}, timezone.now())


@pytest.fixture
def root():
    return person("root", "admin")


@pytest.fixture
def zoe():
    return person("zoe", "admin")


@pytest.fixture
def real(root):
    """A site that is in use."""
    enrolled("oss01", "root")


def send(by: User, url: str, of: str, **form):
    return browser(by).post(reverse(url, args=[of]), form)


def end(by: User, url: str, of: str):
    """Press the button beside the first thing that waits on the page of this person."""
    [one, *_] = waiting.of(User.objects.get(username=of))
    return send(by, url, of, key=waiting.key(one))


def pass_a_day(monkeypatch):
    real = timezone.now
    monkeypatch.setattr(timezone, "now", lambda: real() + timedelta(hours=24, seconds=1))


def event_types() -> list[str]:
    return [event.type for event in LedgerEvent.objects.filter(type__startswith="person.change").order_by("pk")]


def titles() -> list[str]:
    """What the notices say that nobody was sent yet."""
    return [words.title for one in Happening.objects.order_by("pk") if (words := notices.KINDS[one.kind](one))]


# --- roles


ACTING = {"operator": OPERATE, "approver": APPROVE, "glass-breaker": BREAK_GLASS, "admin": PEOPLE}


@pytest.mark.parametrize("role", ACTING)
def test_a_role_that_acts_waits_for_a_second_administrator(real, root, zoe, role):
    ann = person("ann")
    assert send(root, "person-give", "ann", role=role).status_code == 302
    assert not may(ann, ACTING[role])
    assert not may_somewhere(ann, ACTING[role])
    assert ann not in holders(ACTING[role])
    why = why_not(ann, ACTING[role])
    assert f"{role} for the whole fleet, given by root" in why
    assert "second administrator" in why
    assert "Another administrator confirms it" in end(root, "person-confirm", "ann").content.decode()
    assert end(zoe, "person-confirm", "ann").status_code == 302
    assert may(ann, ACTING[role])
    assert ann in holders(ACTING[role])
    assert event_types() == ["person.change-confirmed"]


@pytest.mark.parametrize("role", ["viewer", "technician"])
def test_a_role_that_only_looks_or_lends_hands_does_not_wait(real, root, role):
    ann = person("ann")
    send(root, "person-give", "ann", role=role)
    assert may(ann, MANUAL) == (role == "technician")
    assert waiting.of(ann) == []


def test_it_counts_after_a_day_without_anybody_and_that_is_recorded_and_told(real, root, monkeypatch):
    ann = person("ann")
    send(root, "person-give", "ann", role="operator")
    assert titles() == ["To be confirmed or withdrawn: ann, operator for the whole fleet, given by root"]
    confirming.sweep(timezone.now())
    assert not may(ann, OPERATE)
    pass_a_day(monkeypatch)
    assert may(ann, OPERATE), "nothing has to run for that"
    confirming.sweep(timezone.now())
    confirming.sweep(timezone.now())
    assert may(ann, OPERATE)
    assert event_types() == ["person.change-counts"]
    assert titles() == ["What ann may do: operator for the whole fleet, given by root"]


def test_what_somebody_held_before_goes_on(real, root):
    ann = person("ann", "operator")
    send(root, "person-give", "ann", role="approver")
    assert (may(ann, OPERATE), may(ann, APPROVE)) == (True, False)


def test_a_role_of_a_team_waits_too_and_moving_is_giving(real, root):
    team, ann = Team.objects.create(name="storage"), person("ann", "operator")
    people.take(root, ann, ann.memberships.get())
    people.give(root, ann, "operator", team)
    assert not may_somewhere(ann, OPERATE)


# --- the account


def reset(root, bob):
    """What an administrator can do to get into somebody's account."""
    page = send(root, "person-password", bob.username).content.decode()
    return re.search(r"Password: <code>(\S+)</code>", page)[1]


@pytest.mark.parametrize("what", ["password", "factors", "on"])
def test_an_account_that_was_changed_only_looks(real, root, zoe, what):
    bob = person("bob", "approver", "glass-breaker", "admin")
    totp.TOTP.activate(bob, totp.generate_totp_secret())
    if what == "on":
        send(root, "person-switch", "bob", on="0")
        send(root, "person-switch", "bob", on="1")
    else:
        send(root, f"person-{what}", "bob")
    bob.refresh_from_db()
    for right in (OPERATE, APPROVE, BREAK_GLASS, PEOPLE, ENROL, NOTICES):
        assert not may(bob, right), right
        assert not may_somewhere(bob, right), right
    assert may(bob, MANUAL)
    assert "The rights of bob rest until" in why_not(bob, APPROVE)
    assert bob not in holders(APPROVE)
    page = browser(bob).get(reverse("account")).content.decode()
    assert "An administrator changed something of yours" in page
    assert "Your rights rest until" in browser(bob).get(reverse("fleet")).content.decode(), "where they look first"
    assert "1 change waits for a second administrator" in browser(root).get(reverse("account")).content.decode()
    assert end(bob, "person-confirm", "bob").status_code == 403, "an administrator whose rights rest"
    assert end(root, "person-confirm", "bob").status_code == 409
    assert end(zoe, "person-confirm", "bob").status_code == 302
    for right in (OPERATE, APPROVE, BREAK_GLASS, PEOPLE):
        assert may(bob, right), right


def test_who_signs_in_with_the_new_password_stays_without_rights_whatever_they_set_up(real, root, settings, monkeypatch):
    settings.REQUIRE_SECOND_FACTOR = True
    bob = person("bob", "approver")
    totp.TOTP.activate(bob, totp.generate_totp_secret())
    assert may(bob, APPROVE)
    people.forget_factors(root, bob)
    stranger = Client()
    assert stranger.login(username="bob", password=people.new_password(root, bob))
    bob.refresh_from_db()
    bob.set_password("another one altogether")  # as the page of one's own password does
    bob.save()
    totp.TOTP.activate(bob, totp.generate_totp_secret())
    assert not may(bob, APPROVE)
    assert not stranger.login(username="bob", password=PASSWORD)
    pass_a_day(monkeypatch)
    assert may(User.objects.get(pk=bob.pk), APPROVE)


def test_recovery_codes_and_a_password_of_ones_own_do_not_wait(real):
    bob = person("bob", "approver")
    client = browser(bob)
    form = {"oldpassword": PASSWORD, "password1": "another one altogether", "password2": "another one altogether"}
    assert client.post(reverse("account_change_password"), form).status_code == 302
    assert User.objects.get(pk=bob.pk).check_password("another one altogether")
    assert may(bob, APPROVE)


def test_nobody_who_had_a_part_in_it_confirms_it(real, root, zoe):
    bob, kim = person("bob", "approver"), person("kim", "admin")
    people.new_password(root, bob)
    people.switch(zoe, bob, on=False)
    people.switch(zoe, bob, on=True)
    for asker in (root, zoe):
        answer = end(asker, "person-confirm", "bob")
        assert (answer.status_code, "You did this, or a part of it" in answer.content.decode()) == (409, True)
    assert not may(bob, APPROVE)
    assert end(kim, "person-confirm", "bob").status_code == 302
    assert may(bob, APPROVE)


def test_an_administrator_whom_one_administrator_made_confirms_nothing(real, root):
    two = person("two")
    people.give(root, two, "admin", None)
    people.give(root, person("ann"), "operator", None)
    assert end(two, "person-confirm", "ann").status_code == 403
    assert not may(User.objects.get(username="ann"), OPERATE)


def test_what_was_changed_again_is_not_confirmed_with_what_was_seen(real, root, zoe):
    bob = person("bob", "approver")
    people.forget_factors(root, bob)
    seen = waiting.key(bob)
    people.new_password(root, bob)
    answer = send(zoe, "person-confirm", "bob", key=seen)
    assert (answer.status_code, "changed again" in answer.content.decode()) == (409, True)
    with pytest.raises(people.PeopleRefused, match="changed again"):
        confirming.confirm(zoe, bob, seen)
    assert not may(bob, APPROVE)


# --- withdrawing


def test_a_role_that_is_withdrawn_is_gone(real, root, zoe):
    ann = person("ann")
    people.give(root, ann, "operator", None)
    assert end(zoe, "person-withdraw", "ann").status_code == 302
    assert not ann.memberships.exists()
    assert event_types() == ["person.change-withdrawn"]
    assert "does not count" in Happening.objects.latest("pk").details["because"]


def test_the_person_withdraws_what_they_did_not_ask_for(real, root):
    ann = person("ann")
    people.give(root, ann, "operator", None)
    client = browser(ann)
    [one] = waiting.of(ann)
    assert client.post(reverse("account-withdraw"), {"key": "another"}).status_code == 409
    assert client.post(reverse("account-withdraw"), {"key": waiting.key(one)}).status_code == 302
    assert not ann.memberships.exists()


def test_an_account_whose_change_is_withdrawn_opens_for_nobody(real, root, zoe):
    bob = person("bob", "approver")
    password = reset(root, bob)
    totp.TOTP.activate(User.objects.get(pk=bob.pk), totp.generate_totp_secret())
    end(zoe, "person-withdraw", "bob")
    assert not Authenticator.objects.exists(), "whoever came in with the new password may have set it up"
    send(zoe, "person-switch", "bob", on="1")
    assert not Client().login(username="bob", password=password)
    bob.refresh_from_db()
    assert bob.has_usable_password(), "else the identity provider could bring somebody of that name"
    assert not may(bob, APPROVE), "switching on waits"


# --- at once


def test_before_the_first_node_everything_counts_at_once_and_goes_on_counting(root):
    ann = person("ann")
    people.give(root, ann, "approver", None)
    people.new_password(root, ann)
    assert may(ann, APPROVE)
    enrolled("demo1", "demo")
    people.give(root, ann, "operator", None)
    assert ann.memberships.filter(counts_at=None).count() == 2, "the demo's nodes are none"
    assert "counts at once, because no node but the demo" in browser(root).get(reverse("person", args=["ann"])).content.decode()
    keys.issue_token("oss01", "root")
    assert waiting.site_is_new(), "no agent came yet"
    enrolled("oss01", "root")
    assert may(ann, APPROVE)
    people.give(root, ann, "glass-breaker", None)
    assert not may(ann, BREAK_GLASS)


def test_a_node_that_was_revoked_makes_no_site_new(real):
    from app.fleet.models import Node

    keys.revoke(Node.objects.get(), "root", timezone.now())
    assert not waiting.site_is_new()


@pytest.mark.parametrize("name", ["demo", "portal"])
def test_nobody_is_called_as_the_ledger_calls_something_else(root, name):
    assert browser(root).post(reverse("person-add"), {"name": name}).status_code == 409


def test_a_person_called_demo_makes_no_site_a_demo(root):
    User.objects.create_superuser("demo", password=PASSWORD)
    enrolled("oss01", "demo")
    assert not waiting.site_is_new()


@pytest.mark.parametrize("name", ["demo", "two words"])
def test_the_identity_provider_brings_nobody_of_such_a_name(db, name):
    with pytest.raises(sso.Refused, match="no account can have that name"):
        sso._person(name)


def test_what_groups_give_counts_at_once_and_is_told(real, root):
    ann = person("ann")
    people.give(root, ann, "operator", None)
    sso._give_roles(ann, {("operator", ""), ("viewer", "")})
    assert may(ann, OPERATE)
    assert titles() == ["What ann may do: operator, viewer"]
    sso._give_roles(ann, set())
    assert not ann.memberships.exists()


def run(*words: str, **more) -> str:
    from io import StringIO

    out = StringIO()
    call_command("people", *words, stdout=out, **more)
    return out.getvalue()


def test_one_administrator_goes_on_with_a_command_on_the_portals_machine(real, root):
    ann = person("ann")
    people.give(root, ann, "operator", None)
    people.new_password(root, ann)
    assert "operator for the whole fleet, given by root; counts from" in run()
    with pytest.raises(CommandError, match="--why"):
        run("confirm", "ann")
    with pytest.raises(CommandError, match="no person nobody"):
        run("confirm", "nobody", why="x")
    assert "Counts now" in run("confirm", "ann", why="the only one here")
    assert may(ann, OPERATE)
    with pytest.raises(CommandError, match="Nothing of ann waits"):
        run("confirm", "ann", why="again")
    event = LedgerEvent.objects.get(type="person.done-on-host")
    assert (event.actor, event.parsed["body"]["why"]) == ("command line", "the only one here")
    assert "What ann may do: operator for the whole fleet, given by root" in titles()


def test_roles_and_passwords_from_the_portals_machine_count_at_once_and_are_told(real, root):
    Team.objects.create(name="storage")
    assert "approver for nodes of team storage, at once" in run("give", "root", "approver", team="storage", why="x")
    with pytest.raises(CommandError, match="no team nowhere"):
        run("give", "root", "operator", team="nowhere", why="x")
    with pytest.raises(CommandError, match="Name the role"):
        run("give", "root", why="x")
    password = run("new-password", "root", why="lost").split()[-1]
    assert Client().login(username="root", password=password)
    root.refresh_from_db()
    assert may(root, PEOPLE)
    assert len(titles()) == 2
    assert "machine" in Happening.objects.latest("pk").details["because"]


def test_djangos_own_command_for_a_password_is_recorded_and_told_too(real, root, monkeypatch):
    ann, signed_in = person("ann", "operator"), Client()
    signed_in.post(reverse("account_login"), {"login": "ann", "password": PASSWORD})
    monkeypatch.setattr("getpass.getpass", lambda prompt: "staple battery horse")
    call_command("changepassword", "ann")
    ann.refresh_from_db()
    assert ann.check_password("staple battery horse")
    assert seals.why_not(User, pk=ann.pk) == ""
    assert signed_in.get("/", follow=False).status_code == 302, "signed out"
    assert LedgerEvent.objects.filter(type="person.password-reset", actor=waiting.HOST).count() == 1
    assert "a new password by command line" in Happening.objects.get(kind="person-changed").details["what"]


def test_it_changes_no_password_while_the_ledger_takes_nothing(real, root, monkeypatch):
    ann = person("ann")

    def broken():
        raise ledger.LedgerDown("The ledger is broken.")

    monkeypatch.setattr(ledger, "refuse_if_broken", broken)
    monkeypatch.setattr("getpass.getpass", lambda prompt: "staple battery horse")
    with pytest.raises(CommandError, match="The ledger is broken"):
        call_command("changepassword", "ann")
    ann.refresh_from_db()
    assert ann.check_password(PASSWORD)


@pytest.mark.parametrize("role", ["admin", "approver"])
def test_that_an_administrator_takes_a_right_away_is_told(real, root, zoe, role):
    bob = person("bob", role)
    people.take(root, bob, bob.memberships.get())
    people.switch(root, zoe, on=False)
    lines = Happening.objects.filter(kind="person-changed").order_by("pk").values_list("details", flat=True)
    assert [(one["of"], one["what"]) for one in lines] == [
        ("bob", f"{role} for the whole fleet, taken by root"),
        ("zoe", "switched off by root"),
    ]


def test_a_first_person_made_later_is_told_of(real):
    User.objects.create_superuser("late", password=PASSWORD)
    assert titles() == ["What late may do: admin for the whole fleet, given by command line"]


# --- rows that somebody wrote past the portal


def test_no_row_that_says_another_time_or_asker_counts(real, root):
    ann, bob, past = person("ann"), person("bob", "approver"), timezone.now() - timedelta(days=2)
    held = people.give(root, ann, "approver", None)
    people.new_password(root, bob)
    for change in ({"counts_at": past}, {"counts_at": None}, {"counts_at": None, "given_by": None}):
        Membership.objects.filter(pk=held.pk).update(**change)
        assert not may(ann, APPROVE), change
    Membership.objects.filter(pk=held.pk).update(counts_at=held.counts_at, given_by=held.given_by)
    for change in ({"counts_at": past}, {"counts_at": None, "changed": None}, {"changed": None}, {"changed": "password:zoe"}):
        before = User.objects.filter(pk=bob.pk).values("counts_at", "changed").get()
        User.objects.filter(pk=bob.pk).update(**change)
        assert not may(bob, APPROVE), change
        User.objects.filter(pk=bob.pk).update(**before)
    assert list(seals.faults()) == []


def test_a_row_with_another_asker_is_confirmed_by_nobody(real, root, zoe):
    ann = person("ann")
    held = people.give(root, ann, "approver", None)
    Membership.objects.filter(pk=held.pk).update(given_by=zoe)
    [one] = waiting.of(ann)
    with pytest.raises(people.PeopleRefused, match="does not fit its seal"):
        confirming.confirm(root, one, waiting.key(one))
    assert not may(ann, APPROVE)


def test_the_sweep_lets_no_forged_row_count(real, root):
    ann = person("ann")
    held = people.give(root, ann, "approver", None)
    Membership.objects.filter(pk=held.pk).update(counts_at=timezone.now() - timedelta(hours=1))
    confirming.sweep(timezone.now())
    assert not may(ann, APPROVE)
    assert event_types() == []


def test_the_state_before_a_reset_put_back_with_its_seal_is_refused(real, root):
    bob = person("bob", "approver")
    row, seal = User.objects.filter(pk=bob.pk).values("password", "changed", "counts_at").get(), Seal.objects.get(pk=USER.name(bob.pk))
    people.new_password(root, bob)
    User.objects.filter(pk=bob.pk).update(**row)
    seal.save()
    assert not may(bob, APPROVE)


def test_what_was_sealed_before_there_was_such_a_time_is_still_believed():
    bob = person("bob", "approver")
    for kind, pk in ((USER, bob.pk), (MEMBERSHIP, bob.memberships.get().pk)):
        *values, name, mac, mark, _newest = seals.read(kind, pk=pk)[0]
        old = seals.Kind(kind.model, kind.what, kind.person, kind.fields[: -kind.later])
        assert seals.mac(seals.secrets()[0], old, name, tuple(values[: -kind.later]), mark or "") == mac
    assert may(bob, APPROVE)


def test_every_word_of_the_ledger_is_worded(real, root, zoe):
    from app.ledger.words import phrase as worded

    people.give(root, person("ann"), "operator", None)
    end(zoe, "person-confirm", "ann")
    event = LedgerEvent.objects.get(type="person.change-confirmed")
    assert "ann: operator for the whole fleet" in json.dumps(worded(event.type, event.parsed["body"]))

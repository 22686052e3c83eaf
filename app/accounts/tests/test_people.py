"""What an administrator does to people, teams and nodes, and what nobody does to themselves."""

import json
import re

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal import auth as totp
from django.test import Client
from django.urls import reverse

from app.accounts.models import Membership, Team, User
from app.accounts.rights import OPERATE, may
from app.fleet.models import Node
from app.ledger import services as ledger
from app.ledger.models import LedgerEvent

pytestmark = pytest.mark.django_db


@pytest.fixture
def root(client):
    made = User.objects.create_user("root", password="correct horse battery")
    made.memberships.create(role="admin")
    client.force_login(made)
    return made


@pytest.fixture
def ann():
    return User.objects.create_user("ann", password="correct horse battery")


def send(client, url: str, *args, **form):
    return client.post(reverse(url, args=args), form)


def events():
    found = LedgerEvent.objects.exclude(type="person.signed-in").filter(identity=None).order_by("pk")
    return [(event.type, event.actor, json.loads(bytes(event.body))["body"].get("of", "")) for event in found]


def test_a_new_person_may_look_and_gets_a_password_that_is_shown_once(client, root):
    page = send(client, "person-add", name="bob").content.decode()
    password = re.search(r"Password: <code>(\S+)</code>", page)[1]
    assert Client().login(username="bob", password=password)
    assert password not in client.get(reverse("person", args=["bob"])).content.decode()
    assert not User.objects.get(username="bob").memberships.exists()
    assert events() == [("person.added", "root", "bob")]


@pytest.mark.parametrize("name", ["", "root", "two words", "<b>", "a/b"])
def test_a_name_that_cannot_be_is_refused_and_nothing_is_left(client, root, name):
    assert send(client, "person-add", name=name).status_code == 409
    assert User.objects.count() == 1
    assert events() == []


def test_roles_are_given_and_taken_by_team(client, root, ann):
    send(client, "team-add", team="storage")
    Node.objects.create(name="oss01")
    assert send(client, "person-give", "ann", role="operator", team="storage").status_code == 302
    assert not may(ann, OPERATE, "oss01")
    assert send(client, "node-team", "oss01", team="storage").status_code == 302
    assert may(ann, OPERATE, "oss01")
    assert "is operator there already" in send(client, "person-give", "ann", role="operator", team="storage").content.decode()
    assert send(client, "person-take", "ann", membership=Membership.objects.get(user=ann).pk).status_code == 302
    assert not may(ann, OPERATE, "oss01")
    assert [kind for kind, _, _ in events()] == ["team.added", "person.role-given", "node.handed-over", "person.role-taken"]


def test_a_role_or_team_that_is_not_there_is_none(client, root, ann):
    assert send(client, "person-give", "ann", role="king").status_code == 409
    assert send(client, "person-give", "ann", role="operator", team="nowhere").status_code == 404
    assert send(client, "person-take", "ann", membership="x").status_code == 404
    assert events() == []


def test_nobody_does_it_to_themselves(client, root):
    own = root.memberships.get()
    tries = {
        "person-give": {"role": "approver"},
        "person-take": {"membership": own.pk},
        "person-switch": {"on": "0"},
        "person-password": {},
        "person-factors": {},
    }
    for name, form in tries.items():
        answer = send(client, name, "root", **form)
        assert answer.status_code == 409, name
        assert "You cannot do this to your own account" in answer.content.decode()
    root.refresh_from_db()
    assert (root.is_active, list(root.memberships.all())) == (True, [own])
    assert events() == []


def test_who_is_switched_off_is_signed_out_everywhere(client, root, ann):
    other = Client()
    other.post(reverse("sign-in"), {"login": "ann", "password": "correct horse battery"})
    assert other.get(reverse("account")).status_code == 200
    assert send(client, "person-switch", "ann", on="0").status_code == 302
    assert other.get(reverse("account")).status_code == 302
    assert "switched off" in client.get(reverse("people")).content.decode()
    assert send(client, "person-switch", "ann", on="1").status_code == 302
    assert events() == [("person.switched-off", "root", "ann"), ("person.switched-on", "root", "ann")]


def test_a_lost_phone_and_a_lost_password(client, root, ann):
    totp.TOTP.activate(ann, totp.generate_totp_secret())
    assert send(client, "person-factors", "ann").status_code == 302
    assert not Authenticator.objects.exists()
    page = send(client, "person-password", "ann").content.decode()
    assert Client().login(username="ann", password=re.search(r"Password: <code>(\S+)</code>", page)[1])
    assert [event[:2] for event in events()][1:] == [
        ("person.factor-removed", "root"),
        ("person.factors-forgotten", "root"),
        ("person.password-reset", "root"),
    ]


def test_a_role_that_a_group_gave_is_not_taken_here(client, root, ann):
    held = ann.memberships.create(role="operator", from_groups=True)
    assert "which would give it again" in send(client, "person-take", "ann", membership=held.pk).content.decode()
    assert ann.memberships.exists()


def test_it_takes_a_fresh_proof(client, root, ann):
    session = client.session
    session["proved_at"] = 1
    session.save()
    answer = send(client, "person-give", "ann", role="approver")
    assert answer.url.startswith(reverse("account_reauthenticate"))
    assert not ann.memberships.exists()


def test_nothing_is_changed_while_the_ledger_cannot_be_written(client, root, ann, monkeypatch):
    def down(*_, **__):
        raise ledger.LedgerDown("The ledger cannot be written now.")

    monkeypatch.setattr(ledger, "record", down)
    for name, form in {"person-give": {"role": "operator"}, "person-switch": {"on": "0"}, "person-password": {}}.items():
        assert send(client, name, "ann", **form).status_code == 409, name
    ann.refresh_from_db()
    assert (ann.is_active, ann.memberships.exists(), ann.check_password("correct horse battery")) == (True, False, True)


def test_a_teams_administrator_administers_no_people(client, ann):
    ann.memberships.create(role="admin", team=Team.objects.create(name="storage"))
    client.force_login(ann)
    assert client.get(reverse("people")).status_code == 403
    assert send(client, "person-add", name="bob").status_code == 403

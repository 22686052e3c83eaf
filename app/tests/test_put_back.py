"""An old row of any table that is sealed, put back with its old seal, is refused; in tables whose rows never change there is no old row."""

import base64
import secrets
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.contrib.sessions.models import Session
from django.db import IntegrityError, transaction
from django.utils import timezone

from app.accounts import seals
from app.accounts.models import Membership, Seal, Team, User
from app.accounts.signed_in import SessionStore
from app.api import tokens
from app.api.models import Token
from app.fleet.models import Node
from app.ledger.models import LedgerEvent
from app.nodes import keys
from app.nodes.models import EnrolToken, NodeKey
from app.notices import channels
from app.notices.models import Hook
from app.runs.models import Approval, BrokenGlass, Order, Plan, Run, TechnicianLink
from app.runs.people import technician_link
from app.runs.tests.cast import Oss01, act, person, try_out, walk_to
from app.runs.tests.test_rack import BLINK, blink
from workflows.engine import events as ev

pytestmark = pytest.mark.django_db


@dataclass
class Here:
    folder: Path
    ann: User
    bob: User
    run: Run | None = None


@pytest.fixture
def people(db, tmp_path):
    return Here(tmp_path, person("ann", "operator"), person("bob", "approver"))


@pytest.fixture
def here(people):
    """A run whose order is out, and the people who brought it there."""
    oss01 = Oss01(people.folder)
    oss01.report()
    people.run = act(walk_to("replace", oss01, people.ann, people.bob), ev.ExecuteAsked, people.ann)
    return people


def session(here):
    store = SessionStore()
    store["_auth_user_id"] = str(here.ann.pk)
    store.create()
    return Session.objects.get(pk=store.session_key)


def factor(here):
    return Authenticator.objects.create(user=here.ann, type="totp", data={"secret": "x"})


def link(here):
    return TechnicianLink.objects.create(
        run=here.run,
        step="x",
        token_hash="0" * 64,
        made_by=here.ann,
        made_at=timezone.now(),
        expires_at=timezone.now() + timedelta(hours=1),
    )


def enrol(here):
    keys.issue_token("oss07", "test", here.ann)
    return EnrolToken.objects.get(node__name="oss07")


def token(here):
    return tokens.make(here.ann, "laptop", ["read"], timedelta(hours=1), timezone.now())[0]


# table -> how a row of it comes to be, and what the portal changes of it
CHANGE = {
    User: (lambda here: here.ann, {"password": "another"}),
    Membership: (lambda here: here.ann.memberships.first(), {"role": "viewer"}),
    Authenticator: (factor, {"data": {"secret": "y"}}),
    SocialAccount: (lambda here: SocialAccount.objects.create(user=here.ann, provider="x", uid="1"), {"uid": "2"}),
    Session: (session, {"expire_date": timezone.now() + timedelta(seconds=60)}),
    Token: (token, {"revoked_at": timezone.now()}),
    EnrolToken: (enrol, {"used_at": timezone.now()}),
    NodeKey: (lambda here: NodeKey.objects.get(), {"revoked_at": timezone.now()}),
    TechnicianLink: (link, {"revoked_at": timezone.now()}),
    Node: (lambda here: Node.objects.create(name="oss08", team=Team.objects.create(name="north")), {"team": None}),
}  # fmt: skip
NEVER = {
    Approval: lambda here: Approval.objects.get(),
    Plan: lambda here: Plan.objects.get(),
    Order: lambda here: Order.objects.get(effect="at_most_once"),
    BrokenGlass: None,  # as `test_glass.py` shows of its triggers
}


def kept(one):
    kind = seals.KINDS[type(one)]
    return type(one)._base_manager.filter(pk=one.pk).values().get(), Seal.objects.get(pk=kind.name(one.pk))


def put_back(model, row, seal):
    """As SQL does it: nothing of Django hears of it."""
    if model._base_manager.filter(pk=row[model._meta.pk.attname]).update(**row) == 0:
        model._base_manager.bulk_create([model(**row)])
    Seal.objects.filter(pk=seal.pk).delete()
    seal.save(force_insert=True)


def why(one):
    return seals.why_not(type(one), pk=one.pk)


def test_each_kind_is_here():
    assert set(CHANGE) | set(NEVER) == set(seals.KINDS)


@pytest.mark.parametrize("model", CHANGE, ids=lambda model: model.__name__)
def test_a_row_that_was_changed(here, model):
    made, change = CHANGE[model]
    one = made(here)
    assert why(one) == ""
    row, seal = kept(one)
    for name, value in change.items():
        setattr(one, name, value)
    one.save()
    assert why(one) == "", "what the portal changes is believed"
    put_back(model, row, seal)
    assert "old one that was put back" in why(one)


@pytest.mark.parametrize("model", [model for model in CHANGE if model is not User], ids=lambda model: model.__name__)
def test_a_row_that_was_deleted(here, model):
    one = CHANGE[model][0](here)
    row, seal = kept(one)
    pk = one.pk
    one.delete()
    assert not Seal.objects.filter(pk=seal.pk).exists()
    put_back(model, row, seal)
    assert "old one that was put back" in seals.why_not(model, pk=pk)


@pytest.mark.parametrize("model", [model for model, made in NEVER.items() if made], ids=lambda model: model.__name__)
def test_a_row_that_is_never_changed(here, model):
    one = NEVER[model](here)
    assert why(one) == ""
    field = {Approval: "expires_at", Plan: "made_at", Order: "proved_at"}[model]
    setattr(one, field, timezone.now() + timedelta(hours=1))
    for change in (lambda: one.save(update_fields=[field]), one.delete):
        with pytest.raises(IntegrityError, match="kept as it was|cannot be changed|protected foreign keys"), transaction.atomic():
            change()


def api_token(here):
    made, text = tokens.make(here.ann, "laptop", ["read"], timedelta(hours=1), timezone.now())
    tokens.find(text)
    tokens.revoke(made, here.ann)


def enrol_token(here):
    text = keys.issue_token("oss07", "test", here.ann)
    key = base64.b64encode(secrets.token_bytes(32)).decode()
    keys.enrol({"token": text, "node": "oss07", "key": key}, timezone.now())
    keys.issue_token("oss07", "test", here.ann)
    keys.revoke(Node.objects.get(name="oss07"), "test", timezone.now())


def visit_link(here):
    walk = blink(try_out(here.folder, BLINK), here.ann, here.bob)
    walk.to("spare")
    made, text = technician_link.make(walk.run.pk, here.ann)
    technician_link.open_for(text, "Kim")
    technician_link.revoke(walk.run.pk, made.pk, here.ann)


def hook(here):
    made = Hook(name="prometheus")
    channels.add_hook(made, here.ann)
    channels.revoke_hook(made, here.ann)


# what opens something without a person who signs in -> what the ledger says as it is made, used and ended
EVENTS = {
    api_token: ("token.made", "token.first-used", "token.revoked"),
    enrol_token: ("token.issued", "node.enrolled", "token.issued", "key.revoked"),
    visit_link: ("technician-link.made", "technician-link.opened", "technician-link.revoked"),
    hook: ("hook.added", "hook.revoked"),
}


@pytest.mark.parametrize("kind", EVENTS, ids=lambda kind: kind.__name__)
def test_making_using_and_ending_a_token_are_events(people, kind):
    kind(people)
    kinds = LedgerEvent.objects.order_by("pk").values_list("type", flat=True)
    wanted = iter(EVENTS[kind])
    left = next(wanted)
    for one in kinds:
        left = next(wanted, None) if one == left else left
    assert left is None, f"{left} is missing: {list(kinds)}"

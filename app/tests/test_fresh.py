"""Every page that makes a secret (a token, a link, a password, an address), or changes who is told of what, asks for a fresh proof first."""

import re
from pathlib import Path

import pytest
from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.urls import reverse
from django.utils import timezone

from app.accounts.models import User
from app.accounts.proof import FRESH_SECONDS, PROVED
from app.api.models import Token
from app.core.permissions_by_route import NOTICES, PEOPLE, ROUTES
from app.nodes.models import EnrolToken
from app.notices.models import Channel, Hook
from app.notices.pagers import revealed
from app.runs.models import TechnicianLink
from app.runs.tests.cast import person, try_out
from app.runs.tests.test_rack import BLINK, blink
from app.tests.test_permissions_by_route import patterns

pytestmark = pytest.mark.django_db
APP = Path(__file__).resolve().parent.parent
# where a secret is made -> (address, form) of the page for it, and what is there afterwards
MAKERS = {
    "notices/channels.py": ("/notices/hooks/add/", {"name": "prom", "team": ""}, Hook.objects.count),
    "api/tokens.py": ("/account/tokens/", {"name": "x", "scopes": ["read"], "life": "12h"}, Token.objects.count),
    "nodes/keys.py": ("/add-node/", {"name": "oss09"}, lambda: EnrolToken.objects.filter(node__name="oss09").count()),
    "accounts/people.py": ("/people/add/", {"name": "new"}, lambda: User.objects.filter(username="new").count()),
    "runs/people/technician_link.py": ("/runs/{run}/act/", {"act": "technician-link"}, TechnicianLink.objects.count),
}
# What is no secret that the portal makes, and yet is where what it says goes out: as dangerous in wrong hands.
ALSO = {
    "a channel of notices": (
        "/notices/channels/add/",
        {"name": "x", "severity": "act", "zone": "UTC", "url": "json://192.0.2.7/x"},
        Channel.objects.count,
    )
}
ASKED = MAKERS | ALSO
# Made for a browser or a machine that is there already, and shown on no page.
UNSEEN = {"accounts/confirming.py", "accounts/sso.py", "accounts/known.py", "nodes/demo.py"}
# Sends again, or as a test, what is kept already, where it goes already.
UNCHANGED = {"channel-test", "notice-again"}
DECIDES = sorted(name for name, asks in ROUTES.items() if asks in (NOTICES, PEOPLE) and name not in UNCHANGED)


@pytest.fixture
def ada(client):
    ada = person("ada", "admin")
    ada.memberships.create(role="operator")
    client.force_login(ada)
    return ada


@pytest.fixture
def run(tmp_path, ada):
    """One that asks for hands at the rack."""
    walk = blink(try_out(tmp_path, BLINK), ada, person("bob", "approver"))
    walk.to("spare")
    return walk.run


@pytest.mark.parametrize("maker", ASKED)
def test_no_secret_is_made_without_a_fresh_proof(maker, client, run):
    address, form, made = ASKED[maker]
    sent = form | {"version": run.version}
    session = client.session
    session[PROVED] = timezone.now().timestamp() - FRESH_SECONDS - 1
    session.save()
    before = made()
    client.post(address.format(run=run.pk), sent)
    assert made() == before
    session[PROVED] = timezone.now().timestamp()
    session.save()
    client.post(address.format(run=run.pk), sent)
    assert made() == before + 1


def test_no_maker_of_a_secret_is_forgotten():
    found = {
        path.relative_to(APP).as_posix()
        for path in APP.rglob("*.py")
        if not {"tests", "migrations"} & set(path.parts) and re.search(r"secrets\.token_urlsafe\(", path.read_text())
    }
    assert found == set(MAKERS) | UNSEEN


@pytest.mark.parametrize("route", DECIDES)
def test_who_is_told_of_what_is_changed_with_a_fresh_proof_only(route, client, ada):
    """Every route for whoever manages notices or people, so a new one is tried too: it takes no form, or asks before it reads one."""
    session = client.session
    session[PROVED] = timezone.now().timestamp() - FRESH_SECONDS - 1
    session.save()
    answer = client.post(dict(patterns())[route], {})
    assert answer.status_code == 405 or answer.headers.get("Location", "").startswith("/sign-in/again/")


PASSWORD, CHANNEL_SECRET = "correct horse battery", "T0KEN-of-a-channel"


@pytest.fixture
def stale(client, ada):
    """Her proof is too old. `stale.in_clear()` is what somebody reads in the session store who has the database alone."""
    ada.set_password(PASSWORD)
    ada.save()
    client.force_login(ada)
    session = client.session
    session[PROVED] = timezone.now().timestamp() - FRESH_SECONDS - 1
    session.save()
    return lambda: str(db.SessionStore().decode(Session.objects.get(session_key=client.session.session_key).session_data))


def test_a_form_that_waits_for_a_proof_is_not_in_clear_in_the_session_store_and_loses_nothing(client, stale):
    form = {"name": "on call", "severity": "act", "zone": "UTC", "url": f"json://192.0.2.7/{CHANNEL_SECRET}", "is_on": "on"}
    answer = client.post("/notices/channels/add/", form)
    assert answer.url == "/account/prove/?next=%2Fnotices%2Fchannels%2Fadd%2F"
    assert CHANNEL_SECRET not in stale()
    assert client.post(answer.url, {"password": "wrong"}).status_code == 200
    assert CHANNEL_SECRET not in stale()
    assert not Channel.objects.exists()
    client.post(answer.url, {"password": PASSWORD, "next": "/notices/channels/add/"})
    made = Channel.objects.get()
    assert (made.name, revealed(made)) == ("on call", form["url"])


def test_the_secret_of_an_app_that_is_being_set_up_is_not_in_clear_in_the_session_store(client, ada, stale):
    session = client.session
    session[PROVED] = timezone.now().timestamp()
    session.save()
    assert client.get(reverse("mfa_activate_totp")).status_code == 200
    secret = client.session["mfa.totp.secret"]
    assert secret not in stale()


def test_a_session_of_an_older_version_is_still_read(client, stale):
    row = Session.objects.get(session_key=client.session.session_key)
    row.session_data = db.SessionStore().encode(dict(client.session.items()))
    row.save()
    assert client.get("/account/").status_code == 200


def test_a_session_is_read_with_the_secret_key_that_it_was_written_with_only(client, stale, settings):
    settings.SECRET_KEY = "another"
    assert client.get("/account/").status_code == 302

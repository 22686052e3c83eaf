"""The pages for what went wrong say what is so and what to do, and that of 500 needs nothing."""

import logging
from datetime import timedelta

import pytest
from django.test import Client, RequestFactory
from django.utils import timezone

from app.accounts import proof, sealing, seals
from app.accounts.models import User
from app.api import runs as api_runs
from app.api import tokens
from app.core import errors
from app.fleet.models import Node


@pytest.fixture
def ann(db, client):
    client.force_login(User.objects.create_user("ann"))
    return client


def test_a_page_that_is_not_there_says_where_to_go_on(ann):
    answer = ann.get("/no/such/<b>page</b>/")
    assert answer.status_code == 404
    shown = answer.content.decode()
    assert "/no/such/&lt;b&gt;page&lt;/b&gt;/" in shown
    assert "Nodes and runs are never deleted here" in shown
    assert 'href="/search/"' in shown


def test_a_view_that_says_why_is_heard(ann):
    assert "There is no runbook nothing-such." in ann.get("/runbooks/nothing-such/").content.decode()


def test_a_missing_row_is_not_told_in_djangos_words(ann):
    answer = ann.get("/runs/999/")
    assert answer.status_code == 404
    assert "matches the given query" not in answer.content.decode()


def test_a_form_without_its_token_is_refused_in_plain_words(db):
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(User.objects.create_user("ann"))
    answer = strict.post("/runs/start/")
    assert answer.status_code == 403
    assert "Nothing was changed." in answer.content.decode()


@pytest.fixture
def key_is_gone(monkeypatch):
    """After who asks was looked at; before that nobody is let in at all."""

    def gone():
        raise seals.KeyLost("The key identity.key cannot be used: it is not there.")

    return lambda: monkeypatch.setattr(sealing, "_secret", gone)


def test_what_a_lost_key_stops_is_a_refusal_and_no_failure(ann, key_is_gone):
    User.objects.get().memberships.create(role="admin")
    session = ann.session
    session[proof.PROVED] = timezone.now().timestamp()
    session.save()
    key_is_gone()
    answer = ann.post("/add-node/", {"name": "oss07"})
    assert answer.status_code == 503
    shown = answer.content.decode()
    assert "The key identity.key cannot be used" in shown
    assert "Nothing was changed." in shown
    assert not Node.objects.exists()


def test_a_lost_key_is_told_by_the_api_too(db, key_is_gone, monkeypatch):
    monkeypatch.setattr(api_runs, "_answer", lambda *_: sealing._secret())
    person = User.objects.create_user("ann")
    person.memberships.create(role="operator")
    text = tokens.make(person, "laptop", ["operate"], timedelta(hours=1), timezone.now())[1]
    key_is_gone()
    fields = {"runbook": "blink-and-replace", "situation": 1}
    answer = Client().post("/api/v1/runs", fields, content_type="application/json", headers={"Authorization": f"Bearer {text}"})
    assert (answer.status_code, answer.json()["type"]) == (503, "urn:slotlight:key-lost")


def test_a_failure_is_shown_without_a_database_and_found_in_the_log(caplog):
    """No `db` fixture: whatever asks the database fails here."""
    request = RequestFactory().get("/runs/7/")
    request.htmx = False
    with caplog.at_level(logging.ERROR, logger="app.core.errors"):
        try:
            raise RuntimeError("boom")
        except RuntimeError:
            answer = errors.failed(request)
    shown = answer.content.decode()
    assert answer.status_code == 500
    [record] = caplog.records
    assert record.args[0] in shown
    assert "boom" in caplog.text
    assert "boom" not in shown

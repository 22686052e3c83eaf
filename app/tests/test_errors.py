"""The pages for what went wrong say what is so and what to do, and that of 500 needs nothing."""

import logging

import pytest
from django.test import Client, RequestFactory

from app import errors
from app.accounts.models import User


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


def test_a_failure_is_shown_without_a_database_and_found_in_the_log(caplog):
    """No `db` fixture: whatever asks the database fails here."""
    request = RequestFactory().get("/runs/7/")
    request.htmx = False
    with caplog.at_level(logging.ERROR, logger="app.errors"):
        try:
            raise RuntimeError("boom")
        except RuntimeError:
            answer = errors.failed(request)
    shown = answer.content.decode()
    assert answer.status_code == 500
    [said] = caplog.records
    assert said.args[0] in shown
    assert "boom" in caplog.text
    assert "boom" not in shown

"""The password once more: asked for when the last one is old, and nothing that was typed is lost."""

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from app.accounts import proof
from app.ledger.models import LedgerEvent
from app.runs.models import Approval
from app.runs.tests.cast import walk_to

pytestmark = pytest.mark.django_db
PASSWORD = "correct horse battery"


@pytest.fixture
def run(oss01, ann, bob):
    return walk_to("approve", oss01, ann, bob)


@pytest.fixture
def browser(client, bob):
    """Bob signed in an hour ago."""
    bob.set_password(PASSWORD)
    bob.save()
    client.force_login(bob)
    session = client.session
    session[proof.PROVED] = timezone.now().timestamp() - 3600
    session.save()
    return client


def send(browser, run, **more):
    run.refresh_from_db()
    form = {"act": "approve", "version": str(run.version), "plan_digest": run.here.plan_digest}
    return browser.post(f"/runs/{run.pk}/act/", form | more)


def hidden(text: str) -> dict[str, str]:
    form = text[text.index('id="prove"') :]
    return dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', form[: form.index("</form>")]))


def test_it_asks_and_then_does_what_was_meant(browser, run):
    asked = send(browser, run)
    assert asked.status_code == 422
    kept = hidden(asked.content.decode())
    assert kept.items() >= {"act": "approve", "version": str(run.version), "plan_digest": run.here.plan_digest}.items()
    assert not Approval.objects.exists()
    done = browser.post(f"/runs/{run.pk}/act/", kept | {"password": PASSWORD})
    assert done.status_code == 302
    approval = Approval.objects.get()
    assert (approval.at - approval.proved_at).total_seconds() < 60


def test_a_wrong_password_does_nothing_and_is_told(browser, run):
    answer = send(browser, run, password="wrong")
    assert answer.status_code == 422
    assert "not your password" in answer.content.decode()
    assert 'value="wrong"' not in answer.content.decode()
    assert not Approval.objects.exists()
    assert LedgerEvent.objects.filter(type="person.sign-in-failed", actor="bob").count() == 1


def test_guessing_is_slowed_down(browser, run, monkeypatch):
    monkeypatch.setattr(proof.throttle, "blocked", lambda name, address, browser: True)
    answer = send(browser, run, password=PASSWORD)
    assert "too many wrong passwords" in answer.content.decode()
    assert not Approval.objects.exists()


def test_a_fresh_sign_in_is_not_asked_again(client, bob, run):
    client.force_login(bob)
    assert send(client, run).status_code == 302
    assert Approval.objects.get().approver == bob


def test_a_proof_belongs_to_one_browser(browser, run, bob):
    Client().force_login(bob)
    assert send(browser, run).status_code == 422, "typing it there does not make it fresh here"


def test_a_moved_run_is_still_a_moved_run(browser, run):
    kept = hidden(send(browser, run).content.decode()) | {"version": str(run.version - 1)}
    answer = browser.post(f"/runs/{run.pk}/act/", kept | {"password": PASSWORD})
    assert answer.status_code == 409
    assert not Approval.objects.exists()


def test_the_password_is_in_no_event(browser, run):
    send(browser, run, password=PASSWORD)
    assert not any(PASSWORD.encode() in bytes(event.body) for event in LedgerEvent.objects.all())


def test_a_proof_from_the_future_is_none():
    now = timezone.now()
    assert not proof.is_fresh(now + timedelta(seconds=5), now)
    assert not proof.is_fresh(None, now)
    assert proof.is_fresh(now - timedelta(seconds=proof.FRESH_SECONDS), now)

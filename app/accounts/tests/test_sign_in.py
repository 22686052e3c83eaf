"""Signing in and out: what is refused, slowed down and recorded."""

import pytest
import redis
from django.urls import reverse

from app.accounts import throttle
from app.accounts.models import User
from app.ledger.models import LedgerEvent

pytestmark = pytest.mark.django_db
PASSWORD = "correct horse battery"


@pytest.fixture
def ann():
    throttle.forget("ann", "127.0.0.1")
    return User.objects.create_user("ann", password=PASSWORD)


@pytest.fixture
def page():
    from django.test import RequestFactory

    from app.accounts.views import SignInForm

    return lambda **said: SignInForm(RequestFactory().post("/sign-in/"), data=said)


def events():
    return [(event.type, event.actor) for event in LedgerEvent.objects.order_by("pk")]


def test_it_signs_in_and_out_and_records_both(ann, client):
    assert client.post(reverse("sign-in"), {"username": "ann", "password": PASSWORD}).status_code == 302
    assert client.post(reverse("sign-out")).status_code == 302
    assert "_auth_user_id" not in client.session
    assert events() == [("person.signed-in", "ann"), ("person.signed-out", "ann")]


def test_it_says_on_the_page_why_a_sign_in_failed(ann, client):
    assert client.get(reverse("fleet")).url.startswith(reverse("sign-in"))
    assert "do not fit together" in client.post(reverse("sign-in"), {"username": "ann", "password": "wrong"}).content.decode()


def test_it_records_a_failure_only_for_a_name_that_exists(ann, page):
    assert not page(username="ann", password="wrong").is_valid()
    assert not page(username=PASSWORD, password="ann").is_valid()
    assert events() == [("person.sign-in-failed", "ann")]


def test_it_pauses_who_guesses_and_nobody_else(ann, page):
    for _ in range(throttle.FAILURES_MAX):
        assert not page(username="ann", password="wrong").is_valid()
    refused = page(username="Ann", password=PASSWORD)
    assert not refused.is_valid()
    assert "Wait 10 minutes" in str(refused.errors)
    User.objects.create_user("bob", password=PASSWORD)
    assert page(username="bob", password=PASSWORD).is_valid()


def test_it_forgets_failures_after_a_success(ann, page):
    for _ in range(throttle.FAILURES_MAX - 1):
        page(username="ann", password="wrong").is_valid()
    assert page(username="ann", password=PASSWORD).is_valid()
    assert not page(username="ann", password="wrong").is_valid()
    assert page(username="ann", password=PASSWORD).is_valid()


def test_it_locks_nobody_out_when_valkey_is_down(ann, page, monkeypatch):
    monkeypatch.setattr(throttle, "valkey", lambda: redis.Redis(unix_socket_path="/nowhere"))
    assert not page(username="ann", password="wrong").is_valid()
    assert page(username="ann", password=PASSWORD).is_valid()

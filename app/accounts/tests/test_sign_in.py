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
def sign_in(client):
    """Sends the form; whether it was enough, and what the page said."""

    def send(name: str, password: str) -> str:
        answer = client.post(reverse("sign-in"), {"login": name, "password": password})
        if answer.status_code == 302:
            client.logout()
            return ""
        return answer.content.decode()

    return send


def events():
    return [(event.type, event.actor) for event in LedgerEvent.objects.order_by("pk")]


def test_it_signs_in_and_out_and_records_both(ann, client):
    answer = client.post(reverse("sign-in") + "?next=/runs/", {"login": "ann", "password": PASSWORD, "next": "/runs/"})
    assert (answer.status_code, answer.url) == (302, "/runs/")
    assert client.post(reverse("sign-out")).status_code == 302
    assert "_auth_user_id" not in client.session
    assert events() == [("person.signed-in", "ann"), ("person.signed-out", "ann")]


def test_it_leads_nowhere_else_after_signing_in(ann, client):
    answer = client.post(reverse("sign-in"), {"login": "ann", "password": PASSWORD, "next": "https://evil.example/"})
    assert answer.url == "/"


def test_it_says_on_the_page_why_a_sign_in_failed(ann, client, sign_in):
    assert client.get(reverse("fleet")).url.startswith(reverse("sign-in"))
    assert "do not fit together" in sign_in("ann", "wrong")
    assert "Name and password are both needed." in sign_in("", "wrong")


def test_it_records_a_failure_only_for_a_name_that_exists(ann, sign_in):
    assert sign_in("ann", "wrong")
    assert sign_in(PASSWORD, "ann")
    assert events() == [("person.sign-in-failed", "ann")]


def test_it_pauses_who_guesses_and_nobody_else(ann, sign_in):
    for _ in range(throttle.FAILURES_MAX):
        assert "do not fit" in sign_in("ann", "wrong")
    assert "Wait 10 minutes" in sign_in("Ann", PASSWORD)
    User.objects.create_user("bob", password=PASSWORD)
    throttle.forget("bob", "127.0.0.1")
    assert sign_in("bob", PASSWORD) == ""


def test_it_forgets_failures_after_a_success(ann, sign_in):
    for _ in range(throttle.FAILURES_MAX - 1):
        sign_in("ann", "wrong")
    assert sign_in("ann", PASSWORD) == ""
    assert sign_in("ann", "wrong")
    assert sign_in("ann", PASSWORD) == ""


def test_it_locks_nobody_out_when_valkey_is_down(ann, sign_in, monkeypatch):
    monkeypatch.setattr(throttle, "valkey", lambda: redis.Redis(unix_socket_path="/nowhere"))
    assert sign_in("ann", "wrong")
    assert sign_in("ann", PASSWORD) == ""


def test_it_tells_who_is_switched_off(ann, client):
    User.objects.filter(pk=ann.pk).update(is_active=False)
    answer = client.post(reverse("sign-in"), {"login": "ann", "password": PASSWORD}, follow=True)
    assert "This account is switched off" in answer.content.decode()
    assert "_auth_user_id" not in client.session


def test_nobody_signs_up_and_nothing_sends_mail(client):
    for path in ("/sign-in/signup/", "/accounts/signup/", "/account/signup/", "/account/email/", "/account/password/reset/"):
        assert client.get(path).status_code == 404, path

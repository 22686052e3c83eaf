"""Signing in and out: what is refused, slowed down and recorded."""

import pytest
import redis
from django.test import Client
from django.urls import reverse

from app.accounts import known, throttle
from app.accounts.models import User
from app.core.valkey import valkey
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
    return [(event.type, event.actor) for event in LedgerEvent.objects.filter(identity=None).order_by("pk")]


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
    ann.is_active = False
    ann.save()
    answer = client.post(reverse("sign-in"), {"login": "ann", "password": PASSWORD}, follow=True)
    assert "This account is switched off" in answer.content.decode()
    assert "_auth_user_id" not in client.session


def test_nobody_signs_up_and_nothing_sends_mail(client):
    for path in ("/sign-in/signup/", "/accounts/signup/", "/account/signup/", "/account/email/", "/account/password/reset/"):
        assert client.get(path).status_code == 404, path


@pytest.fixture
def nothing_counted():
    forgotten = valkey().keys("sign-in:*")
    if forgotten:
        valkey().delete(*forgotten)


def test_a_stranger_locks_nobody_out_of_a_browser_they_have_used(ann, client, nothing_counted):
    """Behind one address, an office or a proxy, and from many."""
    assert client.post(reverse("sign-in"), {"login": "ann", "password": PASSWORD}).status_code == 302
    client.post(reverse("sign-out"))
    stranger = Client()
    for number in range(throttle.MANY_MAX + 1):
        stranger.post(reverse("sign-in"), {"login": "ann", "password": "wrong"}, REMOTE_ADDR=f"203.0.113.{number}")
        throttle.failed("ann", "127.0.0.1")
    refused = stranger.post(reverse("sign-in"), {"login": "ann", "password": PASSWORD}, REMOTE_ADDR="198.51.100.1")
    assert "too many failed sign-ins" in refused.content.decode(), "many addresses are one guesser"
    assert client.post(reverse("sign-in"), {"login": "ann", "password": PASSWORD}).status_code == 302


def test_a_browser_that_is_known_guesses_no_more_often(ann, client, nothing_counted):
    client.post(reverse("sign-in"), {"login": "ann", "password": PASSWORD})
    client.post(reverse("sign-out"))
    for _ in range(throttle.FAILURES_MAX):
        client.post(reverse("sign-in"), {"login": "ann", "password": "wrong"})
    assert "too many failed" in client.post(reverse("sign-in"), {"login": "ann", "password": PASSWORD}).content.decode()


def test_a_browser_is_known_for_those_who_signed_in_with_it(ann, client, nothing_counted, rf):
    client.post(reverse("sign-in"), {"login": "ann", "password": PASSWORD})
    request = rf.get("/")
    request.COOKIES = {known.COOKIE: client.cookies[known.COOKIE].value}
    assert known.browser("ann", request)
    assert known.browser("bob", request) == ""
    request.COOKIES = {known.COOKIE: client.cookies[known.COOKIE].value[:-2] + "xx"}
    assert known.browser("ann", request) == ""


def test_who_goes_through_many_names_is_stopped(nothing_counted):
    for number in range(throttle.MANY_MAX):
        throttle.failed(f"name{number}", "203.0.113.9")
    assert throttle.blocked("somebody else", "203.0.113.9")
    assert not throttle.blocked("somebody else", "203.0.113.10")

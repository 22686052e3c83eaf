"""The address and the scheme that count: from proxies of ours those that they name, and from nobody else."""

import logging
from io import BytesIO

import pytest
from django.conf import settings
from django.core.handlers.asgi import ASGIRequest

from app.accounts import throttle
from app.core import proxies

OURS = proxies.networks("127.0.0.1, 10.9.0.0/16")


AFAR = "198.51.100.7"


def scope_from(peer, *headers):
    pairs = [(b"host", b"slotlight.example"), *((name.encode(), text.encode()) for name, text in headers)]
    return {"type": "http", "method": "GET", "path": "/", "scheme": "http", "client": peer and (peer, 4711), "headers": pairs}


def seen(peer, *forwarded, trusted=OURS):
    scope = scope_from(peer, *(("x-forwarded-for", text) for text in forwarded))
    proxies.behind(scope, trusted)
    return scope["client"] and scope["client"][0]


def scheme(peer, *headers):
    """What Django takes the request for."""
    scope = scope_from(peer, *(("x-forwarded-proto", text) for text in headers))
    proxies.behind(scope, OURS)
    return ASGIRequest(scope, BytesIO()).scheme


@pytest.mark.parametrize(
    ("peer", "forwarded", "client"),
    [
        ("198.51.100.7", ["203.0.113.1"], "198.51.100.7"),
        ("127.0.0.1", ["203.0.113.1"], "203.0.113.1"),
        ("127.0.0.1", ["192.0.2.66, 203.0.113.1"], "203.0.113.1"),
        ("127.0.0.1", ["192.0.2.66", "203.0.113.1"], "203.0.113.1"),
        ("127.0.0.1", ["192.0.2.66, 203.0.113.1, 10.9.1.1"], "203.0.113.1"),
        ("127.0.0.1", ["2001:db8::7"], "2001:db8::7"),
        ("127.0.0.1", ["203.0.113.1, rubbish"], "127.0.0.1"),
        ("127.0.0.1", [], "127.0.0.1"),
        (None, ["203.0.113.1"], None),
    ],
)
def test_the_last_address_that_is_no_proxy_of_ours_is_the_client(peer, forwarded, client):
    assert seen(peer, *forwarded) == client


def test_by_default_no_header_is_believed():
    assert settings.TRUSTED_PROXIES == ()
    assert seen("127.0.0.1", "203.0.113.1", trusted=()) == "127.0.0.1"


@pytest.mark.parametrize(("trusted", "counted"), [("", "127.0.0.1"), ("127.0.0.1", "203.0.113.5")])
def test_who_guesses_is_counted_at_the_address_that_counts(wire, monkeypatch, trusted, counted):
    asked = []
    monkeypatch.setattr(settings, "TRUSTED_PROXIES", proxies.networks(trusted))
    monkeypatch.setattr(throttle, "blocked", lambda name, address, browser: asked.append(address) or True)
    page = wire("GET", "/sign-in/")
    cookie = page[1].get("set-cookie", page[1].get("Set-Cookie", "")).partition(";")[0]
    token = page[2].decode().partition('name="csrfmiddlewaretoken" value="')[2].partition('"')[0]
    form = f"csrfmiddlewaretoken={token}&login=ann&password=x".encode()
    headers = {"Cookie": cookie, "Content-Type": "application/x-www-form-urlencoded", "X-Forwarded-For": "203.0.113.5"}
    wire("POST", "/sign-in/", form, headers)
    assert asked == [counted]


@pytest.mark.parametrize(
    ("peer", "text", "taken"),
    [
        (AFAR, ["https"], "http"),
        (None, ["https"], "http"),
        ("127.0.0.1", ["https"], "https"),
        ("10.9.1.1", ["HTTPS"], "https"),
        ("127.0.0.1", ["http"], "http"),
        ("127.0.0.1", [], "http"),
        ("127.0.0.1", ["https, http"], "http"),
        ("127.0.0.1", ["https", "http"], "http"),
        ("127.0.0.1", ["rubbish"], "http"),
    ],
)
def test_only_a_proxy_of_ours_says_that_the_outside_speaks_https(peer, text, taken):
    assert scheme(peer, *text) == taken


@pytest.mark.parametrize("peer", [AFAR, "127.0.0.1"])
@pytest.mark.parametrize(
    "header",
    [
        ("forwarded", 'for=203.0.113.1;proto=https;host="evil.example"'),
        ("x-forwarded-host", "evil.example"),
        ("x-forwarded-port", "4443"),
        ("x-forwarded-server", "evil.example"),
        ("x-forwarded-ssl", "on"),
        ("x-real-ip", "203.0.113.1"),
        ("x-forwarded-prefix", "/evil"),
        ("front-end-https", "on"),
    ],
)
def test_nothing_else_that_proxies_say_is_read(peer, header):
    """A proxy passes the host on as it came, so not even ours is asked for another."""
    scope = scope_from(peer, header)
    proxies.behind(scope, OURS)
    request = ASGIRequest(scope, BytesIO())
    assert request.build_absolute_uri("/") == "http://slotlight.example/"
    assert request.META["REMOTE_ADDR"] == peer


def test_django_believes_no_header_by_itself():
    assert settings.SECURE_PROXY_SSL_HEADER is None
    assert not settings.USE_X_FORWARDED_HOST
    assert not settings.USE_X_FORWARDED_PORT


def test_the_log_names_a_proxy_that_is_not_believed_once(caplog, monkeypatch):
    monkeypatch.setattr(proxies, "_logged", set())
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            scheme(AFAR, "https")
    (record,) = caplog.records
    assert AFAR in record.getMessage()
    assert "SLOTLIGHT_TRUSTED_PROXIES" in record.getMessage()


@pytest.mark.parametrize(("trusted", "status"), [("", 301), ("127.0.0.1", 200)])
def test_over_plain_http_nobody_signs_in_by_claiming_https(wire, monkeypatch, trusted, status):
    monkeypatch.setattr(settings, "TRUSTED_PROXIES", proxies.networks(trusted))
    from app.asgi import pages

    monkeypatch.setattr(settings, "SECURE_SSL_REDIRECT", True)
    pages.load_middleware()
    try:
        assert wire("GET", "/sign-in/", headers={"X-Forwarded-Proto": "https"})[0] == status
    finally:
        monkeypatch.undo()
        pages.load_middleware()

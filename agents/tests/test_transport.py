"""The connection to the portal: kept alive, signed, and trusting nothing that is not."""

from __future__ import annotations

import itertools
import os
import socket
import threading
import time

import pytest

from agents.portal import wire
from agents.portal.transport import Counter, Portal, PortalDown, connector
from agents.tests import rig

REPORTS = "/agent/v1/reports"
EMPTY = {"set": "", "captures": [], "bodies": {}}


@pytest.fixture
def stub():
    stub = rig.StubPortal()
    yield stub
    stub.close()


@pytest.fixture
def portal(stub):
    numbers = itertools.count(1)
    portal = Portal(stub.url, rig.KEY, Counter(lambda: next(numbers)), time.time)
    yield portal
    portal.close()


def test_it_asks_over_one_connection(stub, portal):
    assert portal.ask("POST", REPORTS, EMPTY).value["missing"] == []
    first = portal._connection.sock
    assert portal.ask("GET", "/agent/v1/orders", query="wait=0").status == 204
    assert portal._connection.sock is first
    assert first.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_it_sends_large_bodies_compressed(stub, portal):
    body = {"exit_code": None, "outcome": "data", "reason": "", "stderr": "", "text": "x" * 100_000}
    portal.ask("POST", REPORTS, {**EMPTY, "bodies": {"d": body}})
    assert stub.reports[0]["bodies"] == {"d": body}


def test_it_opens_a_new_connection_when_the_idle_one_was_closed(stub, portal):
    portal.ask("POST", REPORTS, EMPTY)
    portal._connection.sock.shutdown(socket.SHUT_RDWR)
    assert portal.ask("POST", REPORTS, EMPTY).status == 200


def test_it_asks_again_once_with_a_higher_counter(stub, portal):
    """Two connections share one counter, and the portal may read their requests in the other order."""
    stub.last_counter = 1
    assert portal.ask("POST", REPORTS, EMPTY).status == 200
    stub.last_counter = 1_000
    with pytest.raises(PortalDown, match="answered 401"):
        portal.ask("POST", REPORTS, EMPTY)


def test_it_hands_over_a_signed_no(stub, portal):
    stub.answer_with = lambda path: (409, {"reason": "The run was stopped."})
    reply = portal.ask("POST", "/agent/v1/orders/o/claim", {"digest": "d"})
    assert (reply.status, reply.reason) == (409, "The run was stopped.")


@pytest.mark.parametrize("break_it", ["unsigned", "other key", "other nonce"])
def test_it_trusts_no_answer_that_is_not_signed_for_it(stub, portal, break_it, monkeypatch):
    def sign(key, status, body, nonce):
        if break_it == "unsigned":
            return {}
        return wire_sign(bytes(32) if break_it == "other key" else key, status, body, "n" * 24 if break_it == "other nonce" else nonce)

    wire_sign = wire.sign_answer
    monkeypatch.setattr(wire, "sign_answer", sign)
    with pytest.raises(PortalDown, match="not verifiably by the portal"):
        portal.ask("POST", REPORTS, EMPTY)


def test_a_portal_in_trouble_is_down(stub, portal):
    stub.answer_with = lambda path: (503, {"reason": "The ledger cannot be written."})
    with pytest.raises(PortalDown, match="503"):
        portal.ask("POST", REPORTS, EMPTY)


def test_nobody_listening_is_down():
    portal = Portal("http://127.0.0.1:9", rig.KEY, Counter(lambda: 1), time.time)
    with pytest.raises(PortalDown):
        portal.ask("POST", REPORTS, EMPTY)


def test_interrupting_it_wakes_a_thread_that_waits(stub, portal):
    ended = []
    stub.answer_with = lambda path: time.sleep(1) or (204, {})

    def ask():
        try:
            portal.ask("GET", "/agent/v1/orders", query="wait=25")
        except PortalDown:
            ended.append(time.monotonic())

    thread = threading.Thread(target=ask)
    thread.start()
    time.sleep(0.2)
    begun = time.monotonic()
    portal.interrupt()
    thread.join()
    assert ended[0] - begun < 0.5
    with pytest.raises(PortalDown, match="stopping"):
        portal.ask("POST", REPORTS, EMPTY)


@pytest.mark.parametrize(
    "url", ["http://portal.example", "http://10.0.0.1:80", "ftp://localhost", "https://", "https://u@h", "https://h/path", "h:80"]
)
def test_it_uses_no_url_that_would_show_the_orders(url):
    with pytest.raises(ValueError, match=r"scheme|https"):
        connector(url)


@pytest.mark.parametrize("url", ["https://portal.example", "https://portal.example:8443/", "http://127.0.0.1:8000", "http://[::1]:8000"])
def test_it_uses_https_anywhere_and_http_on_loopback(url):
    assert connector(url)


def test_the_authorities_are_read_once_and_again_when_they_have_changed(tmp_path, monkeypatch):
    read, site = [], tmp_path / "site.crt"
    monkeypatch.setattr("agents.portal.transport.ssl.create_default_context", lambda cafile: read.append(cafile) or object())
    site.write_text("the old authority")
    for _ in range(3):
        connector("https://portal.example", str(site))
    assert read == [str(site)]
    os.utime(site, ns=(1, 1))
    connector("https://portal.example", str(site))
    assert read == [str(site), str(site)]
    site.unlink()
    with pytest.raises(FileNotFoundError):
        connector("https://portal.example", str(site))


def test_it_goes_on_from_the_counter_that_the_portal_names_and_only_the_portal(monkeypatch, stub):
    """An answer without the key's signature names nothing."""
    followed = []
    numbers = itertools.count(1)
    portal = Portal(stub.url, rig.KEY, Counter(lambda: next(numbers), lambda *args: followed.append(args)), time.time)
    reply_body = wire.canonical({"counter": "90", "reason": "It is a repeat."})
    for signed_with, expected in ((b"x" * 32, []), (rig.KEY, [(90, False)])):
        nonces = []

        def exchange(method, path, query, body, headers, timeout, key=signed_with, nonces=nonces):
            nonces.append("n" * 24)
            return 401, wire.sign_answer(key, 401, reply_body, nonces[-1]), reply_body, nonces[-1]

        monkeypatch.setattr(portal, "_exchange", exchange)
        with pytest.raises(PortalDown, match="401"):
            portal.ask("POST", REPORTS, EMPTY)
        assert (len(nonces), followed) == (2, expected)

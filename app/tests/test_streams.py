"""Connections that wait, through a real uvicorn: who may, what they hear, and that nobody is left hanging."""

import asyncio
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time

import pytest
import redis
from django.test import Client

from agents.portal.wire import verify_answer
from app import asgi, streams
from app.accounts import people
from app.accounts.models import User
from app.core import limits
from app.core.valkey import valkey
from app.nodes.models import NodeKey
from app.realtime.publish import PREFIX, ring
from app.realtime.subscribe import Ear, FanOut

ORDERS = "/agent/v1/orders"


@pytest.fixture
def cookie(portal):
    """The session of somebody who is signed in."""
    client = Client()
    client.force_login(User.objects.create_user("ann"))
    return {"Cookie": f"sessionid={client.cookies['sessionid'].value}"}


class Stream:
    """A browser's event source, read line by line."""

    def __init__(self, port, topics, headers=()):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        self.connection.request("GET", f"/events?topics={topics}", headers=dict(headers))
        self.response = self.connection.getresponse()

    def event(self):
        while not (line := self.response.readline()).startswith(b"event: "):
            assert line, "the stream ended"
        return line.removeprefix(b"event: ").strip().decode()

    def close(self):
        # A response without Content-Length keeps its own handle on the socket.
        self.response.close()
        self.connection.close()


def received(what):
    """Wait for something that another thread brings about."""
    deadline = time.monotonic() + 3
    while not what() and time.monotonic() < deadline:
        time.sleep(0.005)
    return what()


def test_it_tells_a_page_what_changed_and_nothing_else(portal, cookie):
    stream = Stream(portal, "fleet,node:oss01", cookie)
    assert stream.response.status == 200
    assert received(lambda: streams.FANOUT.connected)
    ring("node:oss02")
    ring("node:oss01")
    assert stream.event() in ("fleet", "node:oss01")  # both may come once after the subscriber connected
    while stream.event() != "node:oss01":
        pass
    stream.close()


def test_it_hears_a_ring_soon(portal, cookie):
    stream = Stream(portal, "fleet", cookie)
    assert received(lambda: streams.FANOUT.connected)
    stream.event()  # the subscriber has just connected
    waits = []
    for _ in range(20):
        begun = time.monotonic()
        ring("fleet")
        stream.event()
        waits.append(time.monotonic() - begun)
    stream.close()
    assert sorted(waits)[10] < 0.05, waits


def test_it_hears_other_processes_through_valkey_and_itself_only_once(portal, cookie):
    stream = Stream(portal, "fleet,ledger", cookie)
    assert received(lambda: streams.FANOUT.connected)
    assert {stream.event(), stream.event()} == {"fleet", "ledger"}  # the subscriber has just connected
    ring("fleet")
    assert stream.event() == "fleet"
    valkey().publish(f"{PREFIX}ledger", "another process")  # comes after our own ring, which Valkey hands back to us
    assert stream.event() == "ledger"
    stream.close()


def test_it_hears_itself_without_valkey(portal, cookie, monkeypatch):
    stream = Stream(portal, "fleet", cookie)
    assert received(lambda: streams.FANOUT.connected)
    stream.event()
    monkeypatch.setattr("app.realtime.publish.valkey", lambda: redis.Redis(port=1))
    ring("fleet")
    assert stream.event() == "fleet"
    stream.close()


def test_it_shows_nothing_to_who_is_not_signed_in(portal, cookie):
    assert Stream(portal, "fleet").response.status == 403
    assert Stream(portal, "fleet", {"Cookie": "sessionid=madeup"}).response.status == 403
    ann = User.objects.get(username="ann")
    ann.is_active = False
    ann.save()
    assert Stream(portal, "fleet", cookie).response.status == 403


def test_it_ends_when_the_session_does_and_not_when_another_one_does(portal, cookie):
    ann, bob = User.objects.get(username="ann"), User.objects.create_user("bob")
    other = Client()
    other.force_login(ann)
    stream = Stream(portal, "fleet", cookie)
    assert received(lambda: streams.FANOUT.connected)
    stream.event()
    people.switch(ann, bob, on=False)
    other.logout()  # the same person, in another browser
    ring("fleet")
    assert stream.event() == "fleet"
    people.switch(bob, ann, on=False)
    begun = time.monotonic()
    assert b"event" not in stream.response.read()
    assert time.monotonic() - begun < 2
    stream.close()


def test_it_ends_with_a_new_password_in_every_other_browser(portal, cookie):
    ann = User.objects.get(username="ann")
    stream = Stream(portal, "fleet", cookie)
    assert received(lambda: streams.FANOUT.connected)
    stream.event()
    people.new_password(User.objects.create_user("bob"), ann)
    assert b"event" not in stream.response.read()
    stream.close()


def test_it_refuses_topics_that_are_not_for_pages(portal, cookie):
    for topics in ("", "orders:oss01", "fleet,", "node:%0a", "bell", "sessions:1", ",".join(["fleet"] * 21)):
        assert Stream(portal, topics, cookie).response.status == 400, topics


def test_it_forgets_a_page_that_was_closed(portal, cookie):
    stream = Stream(portal, "fleet", cookie)
    assert received(lambda: streams._open["streams"] == 1)
    stream.close()
    assert received(lambda: streams._open["streams"] == 0)


def test_it_turns_a_page_away_when_too_many_are_open(portal, cookie, monkeypatch):
    monkeypatch.setattr(streams, "STREAMS_MAX", 0)
    assert Stream(portal, "fleet", cookie).response.status == 503


def poll(agent, wire, wait, **signing):
    query = f"wait={wait}"
    headers, nonce = agent.sign(ORDERS, b"", method="GET", query=query, **signing)
    status, answered, body = wire("GET", f"{ORDERS}?{query}", headers=headers)
    if status != 401:
        verify_answer(agent.key, status, answered, body, nonce)
    return status, json.loads(body or b"{}")


def test_it_answers_a_poll_without_orders_when_its_time_is_up(agent, wire, monkeypatch):
    """Held by what it asks of the clock: how long a busy machine takes to answer says nothing of the portal."""
    asked, listen = [], Ear.next

    async def listening(ear, seconds):
        asked.append(seconds)
        return await listen(ear, seconds)

    monkeypatch.setattr(Ear, "next", listening)
    begun = time.monotonic()
    assert poll(agent, wire, 1) == (204, {})
    assert time.monotonic() - begun > 0.9
    assert asked
    assert max(asked) <= 1


def test_it_hands_out_an_order_the_moment_it_is_rung_for(agent, wire, monkeypatch):
    queue, asked = [], []
    monkeypatch.setattr(streams.orders, "next_for", lambda node: asked.append(node) or list(queue))
    answers = []
    waiting = threading.Thread(target=lambda: answers.append((poll(agent, wire, 20), time.monotonic())))
    waiting.start()
    assert received(lambda: streams.FANOUT.connected and len(asked) >= 2)  # its own look, and the one after the subscriber connected
    queue.append({"order": "{}", "digest": "d"})
    rung = time.monotonic()
    ring("orders:oss01")
    waiting.join()
    (answer, at), *_ = answers
    assert (answer[0], answer[1]["orders"]) == (200, [{"order": "{}", "digest": "d"}])
    assert set(asked) == {"oss01"}
    assert at - rung < 0.2


def test_it_offers_nothing_to_a_node_that_hung_up(agent, portal, monkeypatch):
    asked = []
    monkeypatch.setattr(streams.orders, "next_for", lambda node: asked.append(node) or [])
    headers, _ = agent.sign(ORDERS, b"", method="GET", query="wait=20")
    connection = http.client.HTTPConnection("127.0.0.1", portal, timeout=5)
    connection.request("GET", f"{ORDERS}?wait=20", headers=headers)
    assert received(lambda: streams.FANOUT.connected and len(asked) >= 2)
    connection.close()
    assert received(lambda: streams._open["polls"] == 0)
    before = len(asked)
    ring("orders:oss01")
    time.sleep(0.05)
    assert len(asked) == before


def test_it_refuses_a_poll_that_is_not_signed_or_not_new(agent, wire):
    assert wire("GET", f"{ORDERS}?wait=1")[0] == 401
    assert poll(agent, wire, 0)[0] == 204
    assert poll(agent, wire, 0, counter=1)[0] == 401
    NodeKey.objects.update(revoked_at="2026-11-21T00:00:00Z")
    assert poll(agent, wire, 0)[0] == 401


def test_it_keeps_polling_while_valkey_is_away(agent, wire, monkeypatch):
    """The fan-out may be deaf; a poll then looks by itself every now and then."""
    queue = []
    monkeypatch.setattr(streams, "DEAF_SECONDS", 0.05)
    monkeypatch.setattr(streams.FANOUT, "url", "unix:///nowhere/valkey.sock")
    monkeypatch.setattr(streams.orders, "next_for", lambda node: list(queue))
    threading.Timer(0.3, lambda: queue.append({"order": "{}", "digest": "d"})).start()
    assert poll(agent, wire, 5)[0] == 200


@pytest.mark.parametrize(
    ("path", "expected"),
    [("/sign-in/", "<strong>This takes"), ("/api/v1/runs", '"status": 413'), ("/agent/v1/claims", '"reason": "This takes')],
)
def test_a_body_that_is_too_large_gets_413_in_words(wire, monkeypatch, path, expected):
    monkeypatch.setattr(asgi, "body_bytes_max", lambda path: 10)
    status, _, answer = wire("POST", path, b"x" * 5000)
    assert status == 413
    assert expected in answer.decode()


def test_every_page_takes_as_much_as_it_says(wire):
    assert wire("POST", "/sign-in/", b"x" * (limits.PAGE_BODY_BYTES_MAX + 1))[0] == 413
    assert wire("POST", "/sign-in/", b"x" * limits.PAGE_BODY_BYTES_MAX)[0] == 403  # read, and sent back for want of a token


def test_who_comes_while_it_ends_does_not_wait():
    fanout = FanOut("unix:///nowhere/valkey.sock")

    async def come():
        fanout.hang_up()
        with fanout.listen(["fleet"]) as ear:
            assert ear.closed
        await fanout.stop()

    asyncio.run(come())


def test_it_ends_soon_and_in_good_order_with_pages_open(committed_db, ground):
    """Ctrl-C must not wait for pages, and must not call their end an error."""
    client = Client()
    client.force_login(User.objects.create_user("ann"))
    argv = [sys.executable, "-m", "uvicorn", "app.asgi:application", "--port", "0", "--timeout-graceful-shutdown", "20"]
    env = os.environ | ground.environment(committed_db) | {"DJANGO_SETTINGS_MODULE": "app.settings"}
    web = subprocess.Popen(argv, env=env, stderr=subprocess.PIPE, text=True)
    while "running on" not in (line := web.stderr.readline()):
        assert line, "uvicorn ended"
    port = int(line.rsplit(":", 1)[1].split()[0])
    stream = Stream(port, "fleet", {"Cookie": f"sessionid={client.cookies['sessionid'].value}"})
    assert stream.response.status == 200
    begun = time.monotonic()
    web.send_signal(signal.SIGTERM)
    output = web.stderr.read()
    web.wait(10)
    assert time.monotonic() - begun < 5
    assert "ERROR" not in output, output
    assert "Traceback" not in output, output
    assert re.search(r"^\S+Z INFO access: 127\.0\.0\.1 GET /events 200 \d+ ms ann$", output, re.MULTILINE), output
    stream.close()

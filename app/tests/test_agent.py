"""The real agent on a twin, through a real uvicorn: it enrols, reports, and answers a look while the page listens."""

import http.client
import threading
import time
from datetime import timedelta

import pytest
from django.test import Client
from django.utils.crypto import get_random_string

from agents.service.agent import Agent
from agents.trust.identity import enrol_node
from app import streams
from app.accounts.models import User
from app.fleet.models import Node, Situation
from app.nodes.keys import issue_token
from app.realtime.subscribe import FANOUT, THREADS_MAX
from app.runs import services, views
from app.runs.models import Order
from app.runs.views import ANSWER_SECONDS_MAX
from twin import demo
from twin.host import TwinHost

LOOK_SECONDS_MAX = 0.5  # the goal is 25 ms; a test machine under load must not make this test lie


def until(what, seconds=15):
    deadline = time.monotonic() + seconds
    while not (found := what()) and time.monotonic() < deadline:
        time.sleep(0.005)
    assert found
    return found


@pytest.fixture
def agent(portal, tmp_path):
    """An agent at work on the twin of oss01, after its first report."""
    demo.make(tmp_path)
    host, folder = TwinHost(demo.state_path(tmp_path, "oss01")), str(tmp_path / "agent")
    enrol_node(host, folder, f"http://127.0.0.1:{portal}", "oss01", issue_token("oss01", "test"))
    agent = Agent(host, folder, str(tmp_path / "no-policy.json"))
    thread = threading.Thread(target=agent.run)
    thread.start()
    until(lambda: Node.objects.get(name="oss01").last_report_at)
    yield agent
    agent.stop()
    thread.join(20)
    assert not thread.is_alive()


@pytest.fixture
def ann(committed_db):
    ann = User.objects.create_user("ann")
    ann.memberships.create(role="operator")
    return ann


def test_it_reports_what_the_portal_needs_to_see_the_incident(agent):
    assert Node.objects.get().mode == "observe"
    assert Situation.objects.get(slug="wwid-mismatch").closed_at is None


def test_it_answers_a_look_while_somebody_waits(agent, ann, portal):
    client = Client()
    client.force_login(ann)
    stream = http.client.HTTPConnection("127.0.0.1", portal, timeout=10)
    stream.request("GET", "/events?topics=node:oss01,fleet", headers={"Cookie": f"sessionid={client.cookies['sessionid'].value}"})
    assert stream.getresponse().status == 200
    took = []
    for _ in range(10):
        begun = time.perf_counter()
        order = services.look(ann, "oss01", ("node",))
        until(lambda order=order: Order.objects.get(pk=order.pk).status == "SUCCEEDED")
        took.append(time.perf_counter() - begun)
    print([f"{seconds * 1000:.0f} ms" for seconds in took])
    assert sorted(took)[5] < LOOK_SECONDS_MAX
    stream.close()


@pytest.fixture
def click(agent, ann, portal):
    """Ann's click on "Read it again" in a browser: `click(source, headers) -> (status, Location, text)`."""
    client = Client()
    client.force_login(ann)
    secret = get_random_string(32)
    headers = {"Cookie": f"sessionid={client.cookies['sessionid'].value}; csrftoken={secret}", "X-CSRFToken": secret}
    headers["Content-Type"] = "application/x-www-form-urlencoded"
    until(lambda: FANOUT.connected)

    def click(source, **more):
        browser = http.client.HTTPConnection("127.0.0.1", portal, timeout=10)
        browser.request("POST", "/nodes/oss01/look/", f"source={source}", headers | more)
        response = browser.getresponse()
        text = response.read().decode()
        browser.close()
        return response.status, response.headers["Location"], text

    return click


def the_look() -> Order:
    return Order.objects.get(operation="look")


def in_time() -> bool:
    """Whether the node answered while the click waited; a test machine may be slow."""
    order = the_look()
    return order.ended_at is not None and order.ended_at - order.sealed_at < timedelta(seconds=ANSWER_SECONDS_MAX)


def test_a_click_brings_the_answer_in_one_request(click):
    status, _, text = click("node", **{"HX-Request": "true"})
    assert status == 200
    assert "<html" not in text
    assert "answered in" in text or not in_time()


def test_without_scripts_a_click_leads_to_a_page_that_has_the_answer(click):
    status, where, _ = click("node")
    assert (status, where) == (302, f"/looks/{the_look().pk}/")
    assert the_look().status == "SUCCEEDED" or not in_time()


def test_a_click_does_not_wait_long_for_a_node_that_is_silent(click, monkeypatch):
    monkeypatch.setattr(streams.orders, "next_for", lambda node: [])
    begun = time.monotonic()
    status, _, text = click("node", **{"HX-Request": "true"})
    assert status == 200
    assert "is asked for" in text
    assert f'hx-get="/looks/{the_look().pk}/"' in text
    assert time.monotonic() - begun < 3


def test_a_click_waits_for_nothing_while_too_many_wait(click, monkeypatch):
    monkeypatch.setattr(views, "ANSWER_SECONDS_MAX", 60)
    monkeypatch.setattr(streams.orders, "next_for", lambda node: [])
    seats = [FANOUT.listen_in_thread("looks:other") for _ in range(THREADS_MAX)]
    for seat in seats:
        seat.__enter__()
    assert click("node")[0] == 302
    for seat in seats:
        seat.__exit__(None, None, None)


def test_a_click_at_nobody_finds_nobody(click):
    assert Node.objects.filter(name="oss01").update(name="oss99") == 1
    assert click("node")[0] == 404

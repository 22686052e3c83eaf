"""The real agent on a twin, through a real uvicorn: it enrols, reports, and answers a look while the page listens."""

import http.client
import threading
import time
from datetime import timedelta

import pytest
from django.contrib.auth.models import Group
from django.test import Client

from agents.identity import enrol_node
from agents.loop import Agent
from agents.twin import demo
from agents.twin.host import TwinHost
from app import live
from app.accounts.models import User
from app.fleet.models import Node, Situation
from app.nodes.keys import issue_token
from app.runs import services
from app.runs.models import Order

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
    ann.groups.add(Group.objects.get(name="operators"))
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


def test_the_page_about_a_look_comes_with_the_answer(agent, ann, portal):
    """It is held for the moment that the answer takes, so that nobody needs scripts or a second request."""
    client = Client()
    client.force_login(ann)
    cookies = {"Cookie": f"sessionid={client.cookies['sessionid'].value}"}
    stream = http.client.HTTPConnection("127.0.0.1", portal, timeout=10)
    until(lambda: live.FANOUT.connected)
    order = services.look(ann, "oss01", ("node",))
    stream.request("GET", f"/looks/{order.pk}/", headers=cookies)
    page = stream.getresponse().read()
    stream.close()
    assert b"answered in" in page or Order.objects.get(pk=order.pk).ended_at - order.sealed_at > timedelta(seconds=live.ANSWER_SECONDS_MAX)

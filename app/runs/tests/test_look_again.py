"""Reading every source of a node again: what has answered, what is read now and for how long already, what hangs, and what never answered."""

import json
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from agents.collectors import COLLECTORS
from agents.collectors.base import Capture
from agents.domain.times import iso
from agents.orders.receipts import receipt
from app.accounts.models import User
from app.fleet.models import Node
from app.runs import services
from app.runs.models import Order
from app.runs.ordering import orders
from app.runs.pages import look_again
from app.runs.tests.cast import Oss01, act, person, walk_to
from workflows.engine import events

pytestmark = pytest.mark.django_db


@pytest.fixture
def oss01(tmp_path):
    node = Oss01(tmp_path)
    node.report()
    return node


@pytest.fixture
def ann():
    return person("ann", "operator")


def shown(asked, node="oss01"):
    return look_again.shown(node, look_again.begun(asked))


def lines(asked) -> dict[str, look_again.Line]:
    return {line.source: line for line in shown(asked)["lines"]}


def answer(order: Order, seconds: float) -> None:
    """As the node says it: when it began, and when it was done."""
    began = timezone.now().timestamp()
    orders.next_for("oss01")
    text = receipt(order.pk, order.digest, "succeeded", "", started_at=iso(began), ended_at=iso(began + seconds))
    assert orders.receipt("oss01", order.pk, json.loads(text)) == ""


@pytest.fixture
def later(monkeypatch):
    """`later(seconds)`: so much time passes."""
    now, passed = timezone.now, [0.0]
    monkeypatch.setattr(timezone, "now", lambda: now() + timedelta(seconds=passed[0]))

    def later(seconds: float) -> None:
        passed[0] += seconds

    return later


def test_every_source_is_asked_by_itself_and_the_node_answers_them_all(oss01, ann):
    asked = look_again.every(ann, "oss01")
    assert shown(asked)["over"] == 0
    oss01.work()
    body = shown(asked)
    assert (body["total"], body["over"], body["waiting"], body["bad"]) == (len(COLLECTORS), len(COLLECTORS), False, 0)
    assert all(line.tone == "good" and line.words.startswith("answered in ") for line in body["lines"])


def test_one_is_read_and_the_others_wait_their_turn(oss01, ann):
    asked = look_again.every(ann, "oss01")
    answer(asked[0], 0.2)
    listed = lines(asked)
    assert listed[look_again._source(asked[0].canonical)].words == "answered in 200 ms"
    assert listed[look_again._source(asked[1].canonical)].words.startswith("asked ")
    assert {listed[look_again._source(order.canonical)].words for order in asked[2:]} == {"waits its turn"}
    assert (shown(asked)["over"], shown(asked)["waiting"]) == (1, True)


def test_it_says_how_long_each_usually_takes_and_puts_the_slow_ones_last(oss01, ann, later):
    for order in look_again.every(ann, "oss01"):
        answer(order, 9 if look_again._source(order.canonical) == "block" else 2)
    later(3600)
    asked = look_again.every(ann, "oss01")
    assert look_again._source(asked[-1].canonical) == "block"
    assert lines(asked)["block"].usual == "9 s"
    assert shown(asked)["left"] == f"{2 * (len(COLLECTORS) - 1) + 9} s"


def test_what_takes_much_longer_than_usual_is_said_to_hang_by_name(oss01, ann, later):
    answer(services.look(ann, "oss01", ("zdb_label",)), 2)
    later(3600)
    order = services.look(ann, "oss01", ("zdb_label",))
    later(4)
    assert lines([order])["zdb_label"].tone == "info"
    later(20)
    line = lines([order])["zdb_label"]
    assert (line.tone, line.usual) == ("watch", "2 s")
    assert "longer than usual" in line.more
    assert "given up after 90 s" in line.more


def test_an_answer_that_could_not_be_read_is_not_called_good(oss01, ann, monkeypatch):
    capture = Capture("smart", "sda", "failed", 'it says "outcome":"data"', "smartctl: timeout after 30.0 s")
    fine = Capture("smart", "sdb", "data", '"outcome":"failed" stands in a text')
    monkeypatch.setattr(COLLECTORS["smart"], "collect", lambda host: (capture, fine))
    order = services.look(ann, "oss01", ("smart",))
    oss01.work()
    line = lines([order])["smart"]
    assert (line.tone, line.more) == ("watch", "1 of 2 could not be read; open it for why.")


def test_what_never_answered_says_why_and_the_page_stops_waiting(oss01, ann, later):
    asked = look_again.every(ann, "oss01")
    later(100)
    orders.sweep()
    body = shown(asked)
    assert (body["waiting"], body["bad"]) == (False, len(COLLECTORS))
    assert "did not answer in time" in body["lines"][0].more


def test_a_silent_node_is_said_to_be_silent(oss01, ann):
    asked = look_again.every(ann, "oss01")
    assert shown(asked)["silent"] == ""
    Node.objects.update(last_report_at=timezone.now() - timedelta(minutes=5))
    assert "its agent must report again" in shown(asked)["silent"]


def test_the_page_is_for_everybody_and_asking_for_operators(oss01, ann):
    client, viewer = Client(), Client()
    client.force_login(ann)
    viewer.force_login(User.objects.create_user("vic"))
    assert viewer.post("/nodes/oss01/look/", {"source": look_again.EVERY}).status_code == 409
    assert not Order.objects.exists()
    answered = client.post("/nodes/oss01/look/", {"source": look_again.EVERY})
    assert answered.status_code == 302
    page = viewer.get(answered.url)
    assert page.status_code == 200
    assert f"0 of {len(COLLECTORS)} sources are through" in page.content.decode()
    assert "Look how far it is" in page.content.decode()  # without scripts
    oss01.work()
    assert f"All {len(COLLECTORS)} sources are through" in viewer.get(answered.url).content.decode()
    assert "hx-trigger" not in viewer.get(answered.url, headers={"HX-Request": "true"}).content.decode()
    assert viewer.get(reverse("looks", args=["oss01", 1000])).status_code == 404


def test_a_run_says_for_how_long_its_question_is_out_and_what_keeps_the_answer(oss01, ann, later):
    bob = person("bob", "approver")
    run = walk_to("plan", oss01, ann, bob)
    act(run, events.PlanAsked, ann)
    run.refresh_from_db()
    assert run.status == "planning"
    later(7)
    assert look_again.of_run(run, timezone.now()).startswith("oss01 was asked 7 s ago; after 90 s")
    client = Client()
    client.force_login(ann)
    assert "oss01 was asked" in client.get(f"/runs/{run.pk}/").content.decode()
    Node.objects.update(last_report_at=timezone.now() - timedelta(minutes=5))
    assert "its agent must report again" in look_again.of_run(run, timezone.now())

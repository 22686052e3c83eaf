"""The fleet's page: worst first from rows, narrowed by its address, followers under their cause, counts that are true."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from app.accounts.models import User
from app.fleet import generated, overview
from app.fleet.models import Node, PoolNow, Situation, Standing
from app.fleet.tests.cast import node

pytestmark = pytest.mark.django_db


@pytest.fixture
def client():
    client = Client()
    client.force_login(User.objects.create_user("ann"))
    return client


def trouble(where, severity, key, cause="", pool="", slug="disk-missing", answers=(), **columns):
    rank = overview.SEVERITY_ORDER.index(severity)
    data = {"meaning": "", "evidence": [], "answers": list(answers), "subject": {}, "sure": True, "cause": cause}
    more = {"data": data, "opened_at": timezone.now(), "rank": rank, "cause_key": cause, "pool": pool} | columns
    return Situation.objects.create(key=key, slug=slug, node=where, severity=severity, title=f"title of {key}", **more)


def shown(client, address="/"):
    return client.get(address).context


def test_nodes_stand_worst_first_and_the_silent_among_the_worst(client):
    generated.load((1, 7, 11), 10)
    node("waiting")
    assert [line["node"].name for line in shown(client)["nodes"]] == ["load0007", "waiting", "load0011", "load0001"]
    Node.objects.filter(name="load0001").update(last_report_at=timezone.now() - timedelta(minutes=5))
    lines = {line["node"].name: line for line in shown(client)["nodes"]}
    assert list(lines)[:2] == ["load0001", "load0007"]
    assert lines["load0001"]["why"] == "is silent; what is shown is old"
    assert lines["load0007"]["disks"] == 9


def test_of_what_is_equally_urgent_that_comes_first_which_leaves_its_pool_the_least(client):
    here = node()
    trouble(here, "act", "of no pool")
    for key, margin in (("one more may fail", 1), ("data is missing", -1), ("nothing left", 0)):
        trouble(here, "act", key, margin=margin)
    trouble(here, "watch", "later", margin=-1)
    first = [line.situation.key for line in shown(client)["situations"]]
    assert first == ["data is missing", "nothing left", "one more may fail", "of no pool", "later"]


def test_a_node_whose_pool_is_lost_stands_before_one_whose_pool_may_lose_another_disk(client):
    generated.load((7, 57), 10)
    assert [line["node"].name for line in shown(client)["nodes"]] == ["load0007", "load0057"]
    Standing.objects.filter(node__name="load0057").update(margin=-1)
    assert [line["node"].name for line in shown(client)["nodes"]] == ["load0057", "load0007"]


def test_a_line_says_what_is_left_and_what_answers_it(client):
    generated.load((7,), 10)
    page = client.get("/").content.decode()
    assert "ost_7: 1 more disk may fail" in page
    assert "answered by" in page
    assert shown(client)["counts"] == {"nodes": 1, "silent": 0, "act": 1, "watch": 0, "info": 0}


def test_what_is_explained_stands_under_its_cause_and_the_rest_is_counted(client):
    here = node()
    trouble(here, "act", "cause")
    for number in range(overview.FOLLOWERS_SHOWN + 3):
        trouble(here, "watch", f"follows {number:02d}", cause="cause")
    context = shown(client)
    (line,) = context["situations"]
    assert (len(line.followers), line.more, line.count) == (10, 3, 13)
    assert context["counts"]["watch"] == 13
    assert context["troubles"].total == 1


def test_it_asks_as_many_questions_of_many_pages_with_followers_as_of_one_without(client, monkeypatch):
    one, two = node("oss01"), node("oss02")
    trouble(one, "act", "cause", pool="ost_0")
    client.get("/")
    with CaptureQueriesContext(connection) as few:
        client.get("/")
    for number in range(5):
        trouble(two, "act", f"another {number}", pool="ost_2")
        trouble(one, "watch", f"follows {number}", cause="cause")
    monkeypatch.setattr(overview, "NODES_SHOWN", 1)
    monkeypatch.setattr(overview, "SITUATIONS_SHOWN", 2)
    for address in ("/", "/?page=2&troubles=3"):
        with CaptureQueriesContext(connection) as many:
            client.get(address)
        assert len(many) == len(few), address


def test_the_address_narrows_and_what_it_cannot_mean_is_no_filter(client):
    one, two = node("oss01"), node("oss02")
    trouble(one, "act", "a", pool="ost_0")
    trouble(two, "watch", "b", pool="ost_2", slug="slow-disk")
    PoolNow.objects.create(node=two, place=0, name="ost_2", state="ONLINE", tone="good", left="2 more disks may fail", left_tone="good")
    for address, keys in {
        "/?severity=act": ["a"],
        "/?node=oss02": ["b"],
        "/?pool=ost_2": ["b"],
        "/?kind=slow-disk": ["b"],
        "/?repair=yes": [],
        "/?repair=no": ["a", "b"],
        "/?severity=nonsense&kind=%00&page=x&troubles=-1": ["a", "b"],
    }.items():
        assert [line.situation.key for line in shown(client, address)["situations"]] == keys, address
    assert [line["node"].name for line in shown(client, "/?pool=ost_2")["nodes"]] == ["oss02"]


def test_a_narrowed_consequence_stands_without_its_cause_and_names_it(client):
    here = node()
    trouble(here, "act", "cause")
    trouble(here, "watch", "follows", cause="cause")
    (line,) = shown(client, "/?severity=watch")["situations"]
    assert line.cause.key == "cause"
    assert "follows from: title of cause" in client.get("/?severity=watch").content.decode()


def test_pages_stay_in_the_address_and_in_bounds(client):
    for number in range(overview.NODES_SHOWN + 5):
        node(f"oss{number:03d}")
    assert len(shown(client)["nodes"]) == 50
    last = shown(client, "/?page=999")
    assert (last["listed"].number, len(last["nodes"]), last["address"]) == (2, 5, "page=2")

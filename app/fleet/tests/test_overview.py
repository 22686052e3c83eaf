"""The fleet's page: worst first from rows, narrowed by its address, followers under their cause, counts that are true."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from app.accounts.models import User
from app.fleet import generated
from app.fleet.models import Node, PoolNow, Situation, Standing
from app.fleet.pages import overview
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
    pools = [pool for line in lines.values() if line["node"].name == "load0001" for pool in line["pools"]]
    assert pools
    assert {pool.left_tone for pool in pools} <= {"unknown", "watch", "bad"}
    assert all(pool.left.startswith("when last read: ") for pool in pools)
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
    assert "ost_7: survives the loss of 1 more disk" in page
    assert "runbook: “" in page
    counts = {"nodes": 1, "silent": 0, "other_builds": 0, "unknown": 0, "good": 0, "act": 1, "watch": 0, "info": 0, "reviewed": 0}
    assert shown(client)["counts"] == counts


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
    PoolNow.objects.create(
        node=two, place=0, name="ost_2", state="ONLINE", tone="good", left="survives the loss of 2 more disks", left_tone="good"
    )
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


SIGN = "smart:grown wearily"


def word(where, sign=SIGN, severity="watch"):
    row = trouble(where, severity, f"unexplained:{where.name}:{sign}", slug="unexplained")
    row.data["subject"] = {"sign": sign, "text": sign.partition(":")[2], "source": sign.partition(":")[0]}
    row.save()
    return row


def test_one_word_of_many_nodes_is_one_line_with_ways_to_each_of_them(client):
    rows = [word(node(f"oss{i:02}")) for i in range(15)]
    word(node("oss00"), "kernel_log:another")
    trouble(node("oss01"), "act", "something else")
    context = shown(client)
    assert [line.word and len(line.word.nodes) for line in context["situations"]] == [None, 15, None]
    assert context["counts"]["watch"] == 2
    assert context["troubles"].total == 3
    page = client.get("/").content.decode()
    assert "15 nodes: “grown wearily” in the " in page
    assert all(f'href="/situations/{row.pk}/"' in page for row in rows[:12])
    assert "and 3 more" in page
    each = shown(client, context["situations"][1].word.url)
    assert {line.situation.pk for line in each["situations"]} == {row.pk for row in rows}
    assert {line["node"].name for line in each["nodes"]} == {row.node.name for row in rows}


def test_the_worst_of_a_word_stands_for_it_and_a_narrowed_list_folds_what_it_shows(client):
    word(node("oss01"))
    worst = word(node("oss02"), severity="act")
    assert [line.situation.pk for line in shown(client)["situations"]] == [worst.pk]
    [line] = shown(client, "/?node=oss01")["situations"]
    assert (line.situation.node.name, line.word) == ("oss01", None)
    [line] = shown(client, "/?severity=watch")["situations"]
    assert line.situation.node.name == "oss01"


def test_how_many_nodes_say_a_word_costs_no_more_questions(client):
    def questions():
        client.get("/")
        with CaptureQueriesContext(connection) as asked:
            client.get("/")
        return len(asked)

    word(node("oss01"))
    word(node("oss02"))
    few = questions()
    for i in range(10, 30):
        word(node(f"oss{i}"))
    assert questions() == few


def test_nothing_to_act_on_is_green_only_where_every_node_is_good(client):
    here, now = node(), timezone.now()
    Node.objects.update(last_report_at=now)
    standing = Standing.objects.create(node=here, rank=5, tone="good", why="", settled_at=now, changed_at=now)
    assert '<span class="sl-chip good">nothing to act on' in client.get("/").content.decode()
    Standing.objects.filter(pk=standing.pk).update(tone="unknown")
    page = client.get("/").content.decode()
    assert '<span class="sl-chip">nothing to act on' in page
    assert "1 node not known" in page
    Standing.objects.filter(pk=standing.pk).update(tone="good")
    Node.objects.update(last_report_at=now - timedelta(minutes=5))
    assert '<span class="sl-chip">nothing to act on' in client.get("/").content.decode()


def test_nodes_with_another_build_of_the_agent_are_counted(client):
    for name, version in (("a", overview.handed_out()), ("b", "0.1.0+0123456789ab"), ("c", "0.1.0")):
        node(name)
        Node.objects.filter(name=name).update(version=version)
    answer = client.get("/")
    assert answer.context["counts"]["other_builds"] == 1
    assert "1 with another build of the agent" in answer.content.decode()

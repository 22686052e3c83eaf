"""What threatens the whole portal reaches everybody: the fleet page, notices, /metrics, the API and `slotlight status`."""

import secrets
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from agents.trust.log_witness import ACCEPT
from app import outages, readiness
from app.accounts.models import Membership, Refusal
from app.api import metrics
from app.api.fleet import status_now
from app.fleet.models import Node
from app.ledger.models import LedgerEvent, LedgerSent
from app.nodes.models import NodeKey
from app.notices import alarms, delivering, spreading, watching
from app.notices.models import Happening, Notice
from cli import looks

pytestmark = pytest.mark.django_db
SHRANK = f"The ledger shrank: it had 90 events and is now signed over 40. This node only observes until a person runs `{ACCEPT}`."


@pytest.fixture(autouse=True)
def _fresh_scrape():
    metrics.last.metrics, readiness.last.found, readiness.last.ill = [], {}, {}
    yield
    readiness.last.found, readiness.last.ill = {}, {}


@pytest.fixture
def enrolled(team):
    def make(name, age=timedelta(hours=1), reported=True, **fields):
        last = timezone.now() if reported else None
        node = Node.objects.create(name=name, team=team, state="enrolled", last_report_at=last)
        return NodeKey.objects.create(node=node, key_id=secrets.token_hex(8), secret=b"", created_at=timezone.now() - age, **fields)

    return make


@pytest.fixture
def page(ada):
    client = Client()
    client.force_login(ada)

    def html():
        return client.get("/").content.decode()

    return html


def make(kind, enrolled, monkeypatch):
    """What makes each kind stand, and what ends it."""
    now = timezone.now()
    if kind == "disk-full":
        monkeypatch.setattr(readiness, "free_bytes", lambda: 900 * 1024**2)
        return monkeypatch.undo
    if kind == "database-hung":
        details = dict.fromkeys(("began", "last", "again"), now.isoformat())
        one = Happening.objects.create(kind=kind, key="database-hung:1", at=now, details=details)
        return lambda: Happening.objects.filter(pk=one.pk).update(at=now - timedelta(days=2))
    if kind == "ledger-broken":
        one = Happening.objects.create(kind=kind, key="ledger-broken:1", at=now)
        return lambda: Happening.objects.filter(pk=one.pk).update(over=True)
    if kind == "agents-unreadable":
        NodeKey.objects.filter(pk=enrolled("oss09").pk).update(secret=b"sealed")
        monkeypatch.setenv("SLOTLIGHT_NODES_KEY", "/nowhere/nodes.key")
        return lambda: monkeypatch.delenv("SLOTLIGHT_NODES_KEY")
    if kind == "identity-refused":
        Refusal.objects.create(name="api_token:9", person="ann", why="This token has no seal.", first_at=now, last_at=now)
        return Refusal.objects.all().delete
    if kind == "checkpoint-not-sent":
        LedgerSent.objects.create(place="syslog://loghost:514", why="OSError: no route to host", failing_since=now)
        return LedgerSent.objects.all().delete
    details = {
        "ledger-contradicted": {"held": SHRANK},
        "key-doubled": {"doubled_at": now, "doubled_why": "Two machines use the key. Nothing is ordered until a person revokes this key."},
        "counter-jumped": {"jumped_at": now, "jumped_why": "A request came with the counter 100000000000000000."},
        "agent-held": {"held": "The journal was put back or replaced."},
        "never-reported": {"reported": False},
    }[kind]
    key = enrolled("oss09", **details)
    return lambda: NodeKey.objects.filter(pk=key.pk).update(revoked_at=timezone.now())


# Where the database hangs there is none of these surfaces (app/tests/test_ill.py), and without the key over people nobody is let in to look.
@pytest.mark.parametrize("kind", sorted(set(alarms.KINDS) - {"database-hangs", "identity-key-lost"}))
def test_an_alarm_reaches_every_surface_and_ends_on_every_one(kind, enrolled, page, client, channel, spread, capsys, monkeypatch):
    metric = f'slotlight_portal_alarms{{kind="{kind}"}}'
    channel()
    end = make(kind, enrolled, monkeypatch)
    [alarm] = alarms.standing(timezone.now())
    assert (alarm.kind, alarm.severity) == (kind, "watch" if kind == "database-hung" else "act")

    assert alarm.title in page()
    assert status_now()["alarms"][0]["title"] == alarm.title
    assert f"{metric} 1.0" in client.get("/metrics").content.decode()
    assert looks._alarm(status_now()["alarms"][0]).startswith(f"ALARM: {alarm.title}")
    if kind not in watching.FOUND_ELSEWHERE:
        watched(look=2)
        spread()
        assert [notice.title for notice in Notice.objects.all()] == [alarm.title]
        assert watching.plain(alarm.do) in Notice.objects.get().body

    end()
    metrics.last.metrics = []
    assert alarms.standing(timezone.now()) == []
    assert alarm.title not in page()
    assert f"{metric} 0.0" in client.get("/metrics").content.decode()
    if kind not in watching.FOUND_ELSEWHERE:
        watched(look=2)
        spread()
        assert [notice.title for notice in Notice.objects.order_by("pk")] == [alarm.title, f"Over: {alarm.title}"]


def test_a_lost_key_over_who_is_who_is_told_to_channels_and_programs(client, monkeypatch, tmp_path, ada):
    before = alarms.stamp(timezone.now())
    monkeypatch.setenv("SLOTLIGHT_IDENTITY_KEY", str(tmp_path / "identity.key"))
    [alarm] = alarms.standing(timezone.now())
    assert alarm.kind == "identity-key-lost"
    assert alarms.stamp(timezone.now()) != before
    watched(look=1)
    assert not Refusal.objects.exists(), "it is the key that is told of, and not every row"
    assert 'slotlight_portal_alarms{kind="identity-key-lost"} 1.0' in client.get("/metrics").content.decode()


def test_forged_rows_are_found_though_nobody_uses_them_and_told_by_person(ada, page):
    before = alarms.stamp(timezone.now())
    Membership.objects.bulk_create([Membership(user=ada, role="approver"), Membership(user=ada, role="glass-breaker")])
    watched(look=1)
    [alarm] = alarms.standing(timezone.now())
    assert "what ada may do" in alarm.title
    assert alarm.title in page()
    assert alarms.stamp(timezone.now()) != before


def watched(look):
    now = timezone.now()
    watching.Watch.objects.update_or_create(pk=1, defaults={"since": now - timedelta(hours=1), "last_at": now})
    for _ in range(look):
        watching.look(now)


def test_a_ledger_that_shrank_is_one_alarm_however_many_agents_say_so(enrolled):
    for number in range(30):
        enrolled(f"oss{number:02}", held=SHRANK)
    [alarm] = alarms.standing(timezone.now())
    assert alarm.title.startswith("30 agents say")
    assert "The ledger shrank: it had 90 events and is now signed over 40." in alarm.text
    assert "and 25 more" in alarm.text


def test_the_way_out_of_a_ledger_that_shrank_is_not_the_portal(enrolled):
    enrolled("oss01", held=SHRANK)
    [alarm] = alarms.standing(timezone.now())
    assert "At the console of a node" in alarm.do
    assert ACCEPT in alarm.do


def test_an_alarm_that_comes_back_is_told_again(enrolled):
    key = enrolled("oss01", held=SHRANK)
    for held in (SHRANK, "", SHRANK):
        NodeKey.objects.filter(pk=key.pk).update(held=held)
        watched(look=1)
    assert list(Happening.objects.order_by("pk").values_list("kind", flat=True)) == ["alarm", "alarm-over", "alarm"]


def test_a_node_that_enrolled_a_moment_ago_may_still_report(enrolled):
    enrolled("oss01", age=timedelta(seconds=10), reported=False)
    assert alarms.standing(timezone.now()) == []


def test_a_portal_that_was_down_blames_no_node_for_not_reporting(enrolled):
    enrolled("oss01", reported=False)
    watching.look(timezone.now())
    assert not Happening.objects.exists()


def test_a_retired_node_raises_no_alarm(enrolled):
    key = enrolled("oss01", held=SHRANK, reported=False)
    Node.objects.filter(pk=key.node_id).update(state="retired")
    assert alarms.standing(timezone.now()) == []


def test_status_of_the_command_line_ends_with_1_while_an_alarm_stands(enrolled, capsys):
    import argparse

    enrolled("oss01", held=SHRANK)
    found = status_now() | {"at": timezone.now().isoformat()}

    class Portal:
        def get(self, *path):
            return found

    asked = argparse.Namespace(json=False)
    assert looks.status(asked, Portal) == looks.REFUSED
    assert "ALARM: 1 agent says that the ledger contradicts" in capsys.readouterr().out
    found["alarms"] = []
    assert looks.status(asked, Portal) == looks.DONE


def test_one_late_answer_is_no_alarm_and_what_was_found_long_ago_is_not_known(monkeypatch):
    now = readiness.time.monotonic()
    readiness.last.found, readiness.last.at, readiness.last.ill = {"disk": "It is full."}, now, {"disk": now}
    assert alarms.standing(timezone.now()) == []
    readiness.last.ill["disk"] -= readiness.ILL_SECONDS
    [alarm] = alarms.standing(timezone.now())
    assert alarm.text.startswith("It is full.")
    readiness.last.at -= readiness.ANSWER_AGE_SECONDS_MAX + 1
    assert alarms.standing(timezone.now()) == []


def test_commands_in_an_alarm_are_code_on_pages_and_plain_words_in_notices(page, monkeypatch):
    monkeypatch.setattr(readiness, "free_bytes", lambda: 900 * 1024**2)
    shown = page()
    assert "<code>df -h</code>" in shown
    assert "`df -h`" not in shown
    (put,) = [one for one in watching.alarmed(timezone.now(), timezone.now() - timedelta(hours=1)) if one.kind == "alarm"]
    assert "df -h" in put.details["do"]
    assert "`" not in "".join(put.details.values())


@pytest.fixture
def outage():
    """The database answers again, and this long it did not."""

    def was(seconds):
        outages.forget()
        began = timezone.now() - timedelta(seconds=seconds + 5)
        outages.valkey().hset(outages.KEY, mapping={"began": began.timestamp(), "last": began.timestamp() + seconds})

    yield was
    outages.forget()


def test_a_database_that_hung_and_answers_again_is_told_once_from_when_to_when(outage, page, channel, receiver, spread, client):
    channel(receiver.url)
    outage(200)
    began, last = outages.noted()
    watched(look=3)
    spread()
    [notice] = Notice.objects.all()
    assert notice.title == "The database did not answer for about 3 minutes. It answers again"
    for moment in (began, last):
        assert f"{moment:%Y-%m-%d %H:%M:%S} UTC" in notice.body
    delivering.deliver(notice.pk)
    assert [f"[act now] {notice.title}" in got for got in receiver.got] == [True]
    assert list(LedgerEvent.objects.filter(type="database.hung").values_list("actor", flat=True)) == ["portal"]
    assert notice.title in page()
    assert 'slotlight_portal_alarms{kind="database-hung"} 1.0' in client.get("/metrics").content.decode()
    assert outages.noted() is None
    outage(200)
    watched(look=1)
    assert Happening.objects.filter(kind="database-hung").count() == 2, "the next time is told of again"


def test_one_answer_of_the_database_that_came_late_is_told_to_nobody(outage):
    outage(0)
    watched(look=1)
    assert not Happening.objects.exists()
    assert outages.noted() is None


def test_a_database_that_hung_is_shown_for_a_day_and_then_is_over_for_pagers_too(outage, channel, receiver, spread):
    channel(receiver.url)
    outage(60)
    watched(look=1)
    spread()
    Happening.objects.update(at=timezone.now() - timedelta(hours=25))
    watched(look=1)
    assert alarms.standing(timezone.now()) == []
    spreading.settle(timezone.now())
    assert [notice.ends for notice in Notice.objects.order_by("pk")] == [False, True]

"""Firing and resolved: what begins and ends is told under one stable key, and nothing is resolved that is not known to be over."""

import importlib
import json
from datetime import timedelta

import apprise
import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from app.accounts.models import Team
from app.core import outbox
from app.fleet import notifications, unexplained_reviews
from app.fleet.models import Node, Situation
from app.notices import delivering, pagers, spreading, tasks, watching
from app.notices.folding import FLOOD
from app.notices.models import Happening, Incident, Notice
from app.runs.tests.cast import person

pytestmark = pytest.mark.django_db


@pytest.fixture
def messages(spread):
    """Spread, deliver, and say what came since the last time: (title, state, key)."""
    seen = []

    def since(receiver):
        spread()
        for pk in delivering.due(timezone.now()):
            delivering.deliver(pk)
        new = [json.loads(text) for text in receiver.got[len(seen) :]]
        seen.extend(new)
        return [(one["title"], one["state"], one["key"]) for one in new]

    return since


def worsen(row, severity):
    row.severity = severity
    row.save()
    outbox.put(notifications.happened([], [], [(row, severity)]))


def test_a_situation_has_one_key_from_its_opening_over_its_worsening_to_its_end(channel, receiver, situation, close, messages):
    channel(receiver.url, severity="info")
    row = situation("disk-missing:oss01", severity="watch")
    key = "situation:disk-missing:oss01"
    assert messages(receiver) == [("[keep watching] disk-missing:oss01 is wrong", "firing", key)]
    worsen(row, "act")
    assert messages(receiver) == [("[act now] Worse: disk-missing:oss01 is wrong", "firing", key)]
    close(row)
    assert messages(receiver) == [("Over: disk-missing:oss01 is wrong", "resolved", key)]
    assert json.loads(receiver.got[-1])["type"] == "success"
    assert not Incident.objects.exists()
    situation("disk-missing:oss01")
    assert messages(receiver) == [("[act now] disk-missing:oss01 is wrong", "firing", key)]


def test_a_test_neither_begins_nor_ends(channel, receiver, ada):
    from app.notices.channels import try_out

    delivering.deliver(try_out(channel(receiver.url), ada).pk)
    assert (json.loads(receiver.got[0])["state"], json.loads(receiver.got[0])["key"]) == ("", "")


def test_a_cause_that_ends_resolves_nothing_while_what_was_told_with_it_stands(channel, receiver, situation, close, messages):
    channel(receiver.url, severity="info")
    hba, disk = situation("hba"), situation("disk", cause="hba")
    key = "situation:hba"
    assert messages(receiver) == [("[act now] hba is wrong (and 1 more with the same cause)", "firing", key)]
    close(hba)
    assert messages(receiver) == [("[act now] Over: hba is wrong", "firing", key)]
    assert "1 more of what was sent with it still stands." in receiver.got[-1]
    close(disk)
    assert messages(receiver) == [("Over: disk is wrong", "resolved", key)]


def test_what_followed_later_is_ended_with_its_cause(channel, receiver, situation, close, messages):
    channel(receiver.url)
    hba = situation("hba")
    messages(receiver)
    late = situation("late", cause="hba")
    assert messages(receiver) == []
    close(late)
    assert messages(receiver) == []  # its cause stands
    close(hba)
    assert messages(receiver) == [("Over: hba is wrong", "resolved", "situation:hba")]


def test_what_was_worse_than_its_cause_has_a_key_and_an_end_of_its_own(channel, receiver, situation, close, messages):
    channel(receiver.url, severity="info")
    situation("hba", severity="watch")
    messages(receiver)
    pool = situation("pool", cause="hba")
    assert messages(receiver) == [("[act now] pool is wrong", "firing", "situation:pool")]
    close(pool)
    assert messages(receiver) == [("Over: pool is wrong", "resolved", "situation:pool")]


def test_a_flood_is_resolved_when_the_last_of_it_is_over(channel, receiver, situation, close, messages):
    channel(receiver.url)
    rows = [situation(f"thing-{number}") for number in range(FLOOD + 1)]
    [(_, state, key)] = messages(receiver)
    assert state == "firing"
    for row in rows[:-1]:
        close(row)
    assert [(state, used) for _, state, used in messages(receiver)] == [("firing", key)]  # one message for all that ended at once
    close(rows[-1])
    assert messages(receiver) == [(f"Over: thing-{FLOOD} is wrong", "resolved", key)]


def test_many_ends_of_many_incidents_are_each_told_where_incidents_are_kept_and_at_once_elsewhere(
    channel, receiver, situation, close, messages
):
    program, chat = channel(receiver.url), channel("mailto://127.0.0.1:9/?from=a@example.org&to=b@example.org&smtp=127.0.0.1")
    rows = []
    for number in range(FLOOD + 1):
        rows.append(situation(f"thing-{number}"))
        messages(receiver)
    for row in rows:
        close(row)
    assert {(state, key) for _, state, key in messages(receiver)} == {("resolved", f"situation:thing-{n}") for n in range(FLOOD + 1)}
    assert program.notices.filter(kind="many").count() == 0
    assert chat.notices.filter(kind="many").count() == 1


@pytest.fixture
def quiet():
    now, hour = timezone.now(), timedelta(hours=1)
    return {"quiet_from": (now - hour).time(), "quiet_until": (now + hour).time(), "zone": "UTC", "urgent_passes": False}


def test_quiet_hours_hold_no_end_back_where_incidents_are_kept(channel, receiver, situation, close, messages, quiet):
    one = channel(receiver.url)
    before = situation("before")
    messages(receiver)
    for name, value in quiet.items():
        setattr(one, name, value)
    one.save()
    close(before)
    assert messages(receiver) == [("Over: before is wrong", "resolved", "situation:before")]


def test_what_was_held_back_by_quiet_hours_is_resolved_too(channel, receiver, situation, close, messages, quiet):
    channel(receiver.url, **quiet)
    rows = [situation("one"), situation("two")]
    assert messages(receiver) == []
    spreading.release(timezone.now() + timedelta(hours=2))
    Notice.objects.filter(state="waiting").update(next_at=timezone.now())
    [(title, state, key)] = messages(receiver)
    assert (title, state) == ("[act now] 2 notices from the quiet hours on oss01: one is wrong", "firing")
    for row, expected in zip(rows, ("firing", "resolved"), strict=True):
        close(row)
        assert [(state, used) for _, state, used in messages(receiver)] == [(expected, key)]


def test_one_that_was_held_back_until_it_was_over_opens_nothing(channel, receiver, situation, close, messages, quiet):
    channel(receiver.url, **quiet)
    row = situation("brief")
    messages(receiver)
    close(row)
    messages(receiver)
    spreading.release(timezone.now() + timedelta(hours=2))
    Notice.objects.filter(state="waiting").update(next_at=timezone.now())
    assert messages(receiver) == [("[over] brief is wrong", "resolved", "situation:brief")]
    assert "It is over by now." in receiver.got[-1]


def test_an_opening_that_arrives_after_its_end_opens_nothing(channel, receiver, situation, close, messages):
    channel(receiver.url)
    row = situation("late")
    receiver.answers = 500
    messages(receiver)
    close(row)
    receiver.answers = 200
    messages(receiver)
    Notice.objects.filter(state="waiting").update(next_at=timezone.now())
    assert messages(receiver) == [("[over] late is wrong", "resolved", "situation:late")]


def test_of_one_key_one_notice_is_on_its_way_at_a_time(channel, receiver, situation, close, spread):
    channel(receiver.url)
    row = situation("slow")
    spread()
    first = Notice.objects.get()
    assert delivering._take(first.pk, timezone.now())  # it is being sent
    close(row)
    spread()
    delivering.deliver(Notice.objects.get(ends=True).pk)
    assert receiver.got == []
    delivering._end(first, delivering.sending.Tried(True, "It was taken."), timezone.now(), "firing")
    delivering.deliver(Notice.objects.get(ends=True).pk)
    assert json.loads(receiver.got[0])["state"] == "resolved"


def test_an_end_finds_its_channel_whatever_has_changed_since(channel, receiver, situation, close, messages, team, node):
    channel(receiver.url, team=team)
    row = situation("better")
    messages(receiver)
    row.severity = "info"
    row.save()
    Node.objects.update(team=Team.objects.create(name="south"))
    close(row)
    assert messages(receiver) == [("Over: better is wrong", "resolved", "situation:better")]


def test_an_end_after_months_is_told_too(channel, receiver, situation, close, messages):
    channel(receiver.url)
    row = situation("old")
    messages(receiver)
    long_ago = timezone.now() - timedelta(days=2 * tasks.KEPT_DAYS)
    Notice.objects.update(at=long_ago, ended_at=long_ago)
    Happening.objects.update(at=long_ago, spread_at=long_ago)
    tasks._forget(timezone.now())
    close(row)
    assert messages(receiver) == [("Over: old is wrong", "resolved", "situation:old")]


# --- not knowing is no end


@pytest.fixture
def watched(db):
    now = timezone.now()
    watching.Watch.objects.create(pk=1, since=now - timedelta(hours=1), last_at=now)


def test_a_review_resolves_nothing(channel, receiver, situation, messages, ada):
    channel(receiver.url, severity="watch")
    row = situation("word", severity="watch")
    messages(receiver)
    data = row.data | {"subject": {"sign": "smart:word", "text": "word"}}
    Situation.objects.filter(pk=row.pk).update(slug="unexplained", data=data)
    row.refresh_from_db()
    unexplained_reviews.review(row, ada, "harmless", 3, timezone.now())
    assert messages(receiver) == []
    assert Incident.objects.get().about == "situation:word"


def test_silence_resolves_nothing_and_is_resolved_by_a_report(channel, receiver, situation, messages, watched):
    channel(receiver.url)
    situation("disk")
    messages(receiver)
    Node.objects.update(last_report_at=timezone.now() - timedelta(hours=1))
    watching.look(timezone.now())
    assert messages(receiver) == [("[act now] oss01 is silent", "firing", "node-silent:oss01")]
    Node.objects.update(last_report_at=timezone.now())
    watching.look(timezone.now())
    assert messages(receiver) == [("oss01 reports again", "resolved", "node-silent:oss01")]
    assert Incident.objects.get().about == "situation:disk"


@pytest.mark.parametrize("raised", ["node-silent:oss01", "alarm"])
def test_a_node_that_is_removed_resolves_nothing(raised, channel, receiver, messages, node, watched):
    from app.nodes.models import NodeKey

    channel(receiver.url)
    if raised == "alarm":
        NodeKey.objects.create(node=node, key_id="k", secret=b"", created_at=timezone.now(), held="The journal was put back.")
    else:
        Node.objects.update(last_report_at=timezone.now() - timedelta(hours=1))
    watching.look(timezone.now())
    [(_, state, key)] = messages(receiver)
    assert state == "firing"
    assert key.startswith(raised)
    Node.objects.update(state="retired")
    watching.look(timezone.now())
    assert messages(receiver) == []
    assert Incident.objects.count() == 1


def test_what_is_of_no_kind_this_release_knows_is_not_over(channel, receiver, messages, node):
    Incident.objects.create(channel=channel(receiver.url), about="of-a-newer-portal:1", key="of-a-newer-portal:1")
    assert messages(receiver) == []
    assert Incident.objects.exists()


# --- what has no end of its own


def test_a_ledger_that_broke_and_an_alarm_are_resolved(channel, receiver, messages, node, watched, monkeypatch):
    channel(receiver.url)
    states = []
    for is_well in (False, True):
        monkeypatch.setattr(watching, "ledger_is_well", lambda well=is_well: well)
        watching.look(timezone.now())
        states += [(state, key) for _, state, key in messages(receiver)]
    assert states == [("firing", "ledger:ledger-broken"), ("resolved", "ledger:ledger-broken")]


def test_a_digest_is_resolved_for_programs_when_its_last_word_is_over(channel, receiver, situation, close, messages):
    program, mail = channel(receiver.url, severity="watch"), channel("mailto://u:p@example.org", severity="watch")
    rows = []
    for text in ("halfway", "dreaming"):
        row = situation(text, severity="watch")
        data = row.data | {"subject": {"sign": f"smart:{text}", "text": text}}
        Situation.objects.filter(pk=row.pk).update(slug="unexplained", data=data)
        row.refresh_from_db()
        rows.append(row)
    messages(receiver)
    Notice.objects.update(next_at=timezone.now())
    spreading.release(timezone.now())
    Notice.objects.filter(channel=mail).update(state="sent", next_at=None)
    [(_, state, key)] = messages(receiver)
    assert state == "firing"
    for row in rows:
        close(row)
    assert [(state, used) for _, state, used in messages(receiver)] == [("resolved", key)]
    assert not mail.notices.filter(ends=True).exists()
    assert not Incident.objects.exists()
    assert program.notices.filter(ends=True, state="sent").count() == 1


def test_a_wish_that_was_met_is_resolved_for_programs_and_told_nobody(channel, receiver, messages, node):
    from app.runs.models import OpenLoop, Run

    channel(receiver.url, severity="info")
    mail = channel("mailto://u:p@example.org", severity="info")
    people = {"requester": person("ann", "operator"), "owner": person("bob", "operator")}
    run = Run.objects.create(runbook="x", params={}, state={}, node="oss01", created_at=timezone.now(), **people)
    loop = OpenLoop.objects.create(run=run, node="oss01", loop="lit", what="Bay 68 is lit.", undo="x", by="ann", at=timezone.now())
    watching.Happening.objects.create(
        kind="loop-left", key=f"loop-left:{loop.pk}", node="oss01", run=run.pk, details={"loop": loop.pk}, at=timezone.now()
    )
    key = f"asked:loop-left:{loop.pk}"
    assert messages(receiver) == [("[keep watching] Still switched on: Bay 68 is lit.", "firing", key)]
    assert messages(receiver) == []
    loop.delete()
    assert messages(receiver) == [("Over: Still switched on: Bay 68 is lit.", "resolved", key)]
    assert messages(receiver) == []
    assert not mail.notices.filter(ends=True).exists()


# --- services

FIELDS = {  # plugin -> (URL, where its key stands, where its state stands, opened, ended)
    "pagerduty": ("pagerduty://A1B2@C3D4", "dedup_key", "event_action", "trigger", "resolve"),
    "firehydrant": ("firehydrant://abcdefg", "idempotency_key", "status", "OPEN", "CLOSED"),
    "ilert": ("ilert://abcdefg", "alertKey", "eventType", "ALERT", "RESOLVE"),
    "incidentio": ("incidentio://01GW2G3V0S59R238FAHPDS1R66/token", "deduplication_key", "status", "firing", "resolved"),
    "squadcast": ("squadcast://abcdefg", "event_id", "status", "trigger", "resolve"),
    "goalert": ("goalert://127.0.0.1:{port}/8b5f5e2c-6a0b-4b50-9a6e-2f6a1c9e7d31", "dedup", "action", None, "close"),
    "signl4": ("signl4://secret", "X-S4-ExternalID", "X-S4-Status", None, "resolved"),
    "pagertree": ("pagertree://int_abcdefghij", "id", "event_type", "create", "resolve"),
    "splunk": ("splunk://route@apikey", "entity_id", "message_type", "CRITICAL", "RECOVERY"),
}
# What a URL may say by itself; a key for all notices would end one trouble with the end of another.
FIXED = {"pagerduty": "?dedup=mine", "splunk": "?action=critical", "signl4": "?status=new", "ilert": "?action=acknowledge"}


@pytest.fixture
def redirected(receiver, monkeypatch):
    """Let a plugin that knows its service's address speak to the receiver."""

    def to_here(name):
        here = f"http://127.0.0.1:{receiver.server_port}/"
        module = __import__(f"apprise.plugins.{name}", fromlist=["x"])
        for table in (value for key, value in vars(module).items() if key.endswith("_API_LOOKUP")):
            for region in table:
                monkeypatch.setitem(table, region, here + "v2/alerts")
        for plugin in vars(module).values():
            if isinstance(plugin, type) and getattr(plugin, "notify_url", ""):
                monkeypatch.setattr(plugin, "notify_url", here)

    return to_here


@pytest.mark.parametrize(("name", "more"), [*((name, "") for name in FIELDS), *FIXED.items()])
def test_a_service_that_keeps_incidents_resolves_the_one_it_opened(name, more, channel, receiver, redirected, situation, close, bodies):
    url, key, action, opened, ended = FIELDS[name]
    redirected(name)
    channel(url.format(port=receiver.server_port) + more)
    one, two = situation("one"), situation("two")
    first, other = bodies()
    close(one)
    [last] = bodies()
    assert (first.get(action), last[action]) == (opened, ended)
    assert first[key] == last[key] != other[key]
    close(two)
    assert [message[key] for message in bodies()] == [other[key]]


@pytest.mark.parametrize("name", pagers.BY_ALIAS)
def test_an_alert_is_closed_by_its_alias(name, channel, receiver, redirected, situation, close, bodies):
    redirected(name)
    channel(f"{name}://apikey")
    row = situation("one")
    [opened] = bodies()
    close(row)
    [closed] = bodies()
    assert receiver.paths[-1] == f"/v2/alerts/{opened['alias']}/close?identifierType=alias"
    assert closed["note"].startswith("Over: one is wrong") or "no longer shows it" in closed["note"]


def test_what_only_opens_is_told_of_no_end(channel, situation, close, spread):
    one = channel("spike://aabbccddeeff00112233445566778899")
    row = situation("one")
    spread()
    close(row)
    spread()
    assert [notice.title for notice in one.notices.all()] == ["one is wrong"]
    assert not Incident.objects.exists()


def test_every_plugin_named_is_there():
    for name in (*pagers.WAYS, *pagers.WEBHOOKS, *pagers.ONLY_OPEN, *pagers.MAILS):
        assert __import__(f"apprise.plugins.{name}", fromlist=["x"]), name
    assert pagers._plugin(apprise.Apprise.instantiate("mailto://u:p@example.org")) == "email"


@pytest.fixture
def bodies(spread, receiver):
    seen = []

    def since():
        spread()
        for pk in delivering.due(timezone.now()):
            delivering.deliver(pk)
            notice = Notice.objects.get(pk=pk)
            assert notice.state == "sent", notice.reason
        new = [json.loads(text) for text in receiver.got[len(seen) :]]
        seen.extend(new)
        return new

    return since


def give_ends_as_of_then():
    """The migration with the models that stood when it was written; the column has got another name since."""
    then = MigrationExecutor(connection).loader.project_state([("notices", "0003_ends_of_earlier_notices")]).apps
    then.get_model("notices", "Happening")._meta.get_field("said").column = "details"
    importlib.import_module("app.notices.migrations.0003_ends_of_earlier_notices").give_ends(then, None)


def test_what_was_told_before_notices_had_keys_and_still_stands_gets_its_end(channel, receiver, situation, close, messages, node):
    """As a portal of before migration notices/0002 left it."""
    channel(receiver.url)
    stands, over = situation("disk-missing:oss01"), situation("disk-errors:oss01")
    last = node.last_report_at.isoformat()
    outbox.put([outbox.Happening("node-silent", f"node-silent:oss01:{last}", "oss01", details={"heard": last})])
    messages(receiver)
    Situation.objects.filter(pk=over.pk).update(closed_at=timezone.now())
    Incident.objects.all().delete()
    Notice.objects.update(incident="", members=[])

    give_ends_as_of_then()
    close(stands)
    Node.objects.update(last_report_at=timezone.now() + timedelta(seconds=1))
    outbox.put(list(watching.nodes_reporting_again()))
    ends = [
        ("Over: disk-missing:oss01 is wrong", "resolved", "situation:disk-missing:oss01"),
        ("oss01 reports again", "resolved", "node-silent:oss01"),
    ]
    assert sorted(messages(receiver)) == ends
    assert not Incident.objects.exists()

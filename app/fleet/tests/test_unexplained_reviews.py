"""A word that nothing explains, reviewed by an administrator: grey for a time, never good, and in the ledger."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone

from app.core.outbox import Happening
from app.fleet import situations, unexplained_reviews
from app.fleet.ingest import fleet_rows
from app.fleet.models import Disk, PoolNow, Sighting, Situation, Standing
from app.fleet.pages import judging, page_versions
from app.fleet.severity import rank
from app.fleet.tests.cast import node
from app.ledger.models import LedgerEvent
from app.runs.tests.cast import person
from app.search.find import find, with_states
from workflows.facts import FleetFacts, Unknown
from workflows.tests.incident import NODE

pytestmark = pytest.mark.django_db
SIGN = "smart:a word"


def word(severity="watch", **subject):
    data = {"subject": {"sign": SIGN, "text": "a word", "source": "smart", **subject}, "meaning": "", "evidence": [], "answers": []}
    about = {
        "slug": "unexplained",
        "severity": severity,
        "title": "a word",
        "opened_at": timezone.now(),
        "data": data,
        "rank": rank(severity),
    }
    return Situation.objects.create(key=f"unexplained:{severity}", node=node(), **about)


def test_what_is_reviewed_is_neither_watched_nor_good():
    row, now = word(), timezone.now()
    assert [one.tone for one in judging.concerns([row])] == ["watch"]
    unexplained_reviews.review(row, person("ann", "admin"), "the sensor is not there", 30, now)
    assert [one.tone for one in judging.concerns([row])] == ["info"]


def test_it_holds_until_its_time_is_over():
    row = word()
    unexplained_reviews.review(row, person("ann", "admin"), "seen", 30, timezone.now() - timedelta(days=31))
    assert unexplained_reviews.of([row]) == {}


def test_what_is_to_be_acted_on_cannot_be_put_aside():
    row = word("act")
    assert not unexplained_reviews.may_be_reviewed(row)
    assert [one.tone for one in judging.concerns([row])] == ["bad"]


def test_the_ledger_says_who_why_and_until_when():
    unexplained_reviews.review(word(), person("ann", "admin"), "the sensor is not there", 30, timezone.now())
    event = LedgerEvent.objects.get(type="word.reviewed")
    assert event.actor == "ann"
    assert all(words in bytes(event.body) for words in (b"the sensor is not there", b'"until"'))


def test_the_page_offers_it_to_an_administrator_alone(client):
    row = word()
    client.force_login(person("bob", "operator"))
    assert b"Mark as reviewed" not in client.get(f"/situations/{row.pk}/").content
    client.force_login(person("ann", "admin"))
    assert b"Mark as reviewed" in client.get(f"/situations/{row.pk}/").content
    client.post(f"/situations/{row.pk}/review/", {"why": "the sensor is not there", "days": "30"})
    assert b"Reviewed by ann" in client.get(f"/situations/{row.pk}/").content


WWID = "naa:5000c500a65b2f01"


def tones_on_every_list(client, row):
    """How each list colours the word: pages, search, API and metrics."""
    disk = Disk.objects.get_or_create(wwid=WWID, defaults={"first_seen_at": timezone.now()})[0]
    Sighting.objects.get_or_create(disk=disk, node=row.node, name="sda", defaults={"since": timezone.now()})
    fleet = client.get("/").context
    [line] = fleet["situations"]
    [on_node] = client.get(f"/nodes/{row.node.name}/").context["situations"]
    hits = {hit.kind: hit.tone for text in (f"situation {row.pk}", WWID) for hit in with_states(find(text))}
    return {
        "fleet": line.tone,
        "counted": next(name for name in ("act", "watch", "reviewed") if fleet["counts"][name]),
        "node": on_node.tone,
        "situation": client.get(f"/situations/{row.pk}/").context["situation"].tone,
        "search": hits["situation"],
        "search for the disk": hits["disk"],
        "its node's line": fleet_rows.reason(replace(NODE, node=row.node.name), [row])[0],
    }


@pytest.mark.parametrize(
    ("severity", "reviewed", "tone", "counted"),
    [("watch", False, "watch", "watch"), ("watch", True, "idle", "reviewed"), ("act", True, "bad", "act")],
)
def test_what_is_reviewed_is_grey_on_every_list_and_what_is_to_be_acted_on_never(client, severity, reviewed, tone, counted):
    row = word(severity, wwid=WWID)
    admin = person("ann", "admin")
    client.force_login(admin)
    if reviewed:
        unexplained_reviews.review(row, admin, "the sensor is not there", 30, timezone.now())
    found = tones_on_every_list(client, row)
    assert found.pop("counted") == counted
    assert found.pop("its node's line") == (tone if tone != "idle" else "unknown"), "of this node more is not known than the word"
    assert set(found.values()) == {tone}, found


def test_the_page_of_the_fleet_is_made_again_when_a_word_is_reviewed_and_when_that_ends(client, rf):
    row = word()
    before = page_versions.fleet(rf.get("/")), page_versions.situations(pk=row.pk)
    kept = unexplained_reviews.review(row, person("ann", "admin"), "seen", 30, timezone.now())
    after = page_versions.fleet(rf.get("/")), page_versions.situations(pk=row.pk)
    assert before[0] != after[0]
    assert before[1] != after[1]
    kept.until = timezone.now()
    kept.save()
    assert page_versions.situations(pk=row.pk) == before[1]


def test_what_is_reviewed_stands_last_and_does_not_name_its_node():
    unexplained_reviews.review(word(), person("ann", "admin"), "seen", 30, timezone.now())
    loud = Situation.objects.create(
        key="loud",
        node=node(),
        slug="disk-worn",
        severity="watch",
        title="a worn disk",
        opened_at=timezone.now(),
        data={},
        rank=rank("watch"),
    )
    rows = [Situation.objects.get(key="unexplained:watch"), loud]
    assert fleet_rows.reason(NODE, rows) == ("watch", "a worn disk")
    assert unexplained_reviews.counts(Situation.objects.all(), unexplained_reviews.signs()) == {
        "act": 0,
        "watch": 1,
        "info": 0,
        "reviewed": 1,
    }


def test_a_pool_that_cannot_be_read_any_more_is_listed_with_its_old_words_and_not_as_good():
    here = node()
    row = PoolNow.objects.create(node=here, place=0, name="ost_0", state="ONLINE", tone="good", left="2 more", left_tone="good")
    blind = replace(NODE, node=here.name, pools=Unknown("zpool status hangs"))
    fleet_rows.keep(FleetFacts({here.name: blind}), timezone.now(), {here.name: here}, [], [])
    row.refresh_from_db()
    assert (row.left, row.tone, row.left_tone) == ("when last read: 2 more", "unknown", "unknown")


def test_what_another_release_judged_last_is_judged_anew_once():
    here, now = node(), timezone.now()
    more = {"rank": 0, "tone": "good", "why": "", "settled_at": now, "changed_at": now}
    Standing.objects.create(node=here, judged_by="another", **more)
    assert fleet_rows.judged_anew([here]) == {here.pk}
    Standing.objects.filter(node=here).update(judged_by=judging.rules())
    here.refresh_from_db()
    assert fleet_rows.judged_anew([here]) == frozenset()


def test_the_first_look_of_a_release_is_one_notice_a_node():
    rows = [word(), word("act")]
    lines = list(situations.notifications.happened(rows, (), (), {rows[0].node_id}))
    assert [(one.kind, one.details) for one in lines] == [("node-judged-anew", {"situations": [row.pk for row in rows]})]
    assert all(isinstance(one, Happening) for one in lines)
    assert [one.kind for one in situations.notifications.happened(rows, (), ())] == ["situation-opened"] * 2

"""A word that nothing explains, reviewed by an administrator: grey for a time, never good, and in the ledger."""

from datetime import timedelta

import pytest
from django.utils import timezone

from app.fleet import judging, reviewing, situations, standing
from app.fleet.models import Situation, Standing
from app.fleet.tests.cast import node
from app.ledger.models import LedgerEvent
from app.outbox import Happening
from app.runs.tests.cast import person

pytestmark = pytest.mark.django_db
SIGN = "smart:a word"


def word(severity="watch"):
    data = {"subject": {"sign": SIGN, "text": "a word"}, "meaning": "", "evidence": [], "answers": []}
    about = {"slug": "unexplained", "severity": severity, "title": "a word", "opened_at": timezone.now(), "data": data}
    return Situation.objects.create(key=f"unexplained:{severity}", node=node(), **about)


def test_what_is_reviewed_is_neither_watched_nor_good():
    row, now = word(), timezone.now()
    assert [one.tone for one in judging.concerns([row])] == ["watch"]
    reviewing.review(row, person("ann", "admin"), "the sensor is not there", 30, now)
    assert [one.tone for one in judging.concerns([row])] == ["info"]


def test_it_holds_until_its_time_is_over():
    row = word()
    reviewing.review(row, person("ann", "admin"), "seen", 30, timezone.now() - timedelta(days=31))
    assert reviewing.of([row]) == {}


def test_what_is_to_be_acted_on_cannot_be_put_aside():
    row = word("act")
    assert not reviewing.may_be_reviewed(row)
    assert [one.tone for one in judging.concerns([row])] == ["bad"]


def test_the_ledger_says_who_why_and_until_when():
    reviewing.review(word(), person("ann", "admin"), "the sensor is not there", 30, timezone.now())
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


def test_what_another_release_judged_last_is_judged_anew_once():
    here, now = node(), timezone.now()
    more = {"rank": 0, "tone": "good", "why": "", "settled_at": now, "changed_at": now}
    Standing.objects.create(node=here, judged_by="another", **more)
    assert standing.judged_anew([here]) == {here.pk}
    Standing.objects.filter(node=here).update(judged_by=judging.rules())
    here.refresh_from_db()
    assert standing.judged_anew([here]) == frozenset()


def test_the_first_look_of_a_release_is_one_notice_a_node():
    rows = [word(), word("act")]
    told = list(situations.telling.happened(rows, (), (), {rows[0].node_id}))
    assert [(one.kind, one.said) for one in told] == [("node-judged-anew", {"situations": [row.pk for row in rows]})]
    assert all(isinstance(one, Happening) for one in told)
    assert [one.kind for one in situations.telling.happened(rows, (), ())] == ["situation-opened"] * 2

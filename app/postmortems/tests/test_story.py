"""From a finished run to its postmortem: what is collected, and that everything in it leads to what was kept."""

import json
from datetime import timedelta
from hashlib import sha256

import pytest
from django.urls import reverse
from django.utils import timezone

from agents.portal.wire import canonical
from app.fleet.models import Situation
from app.ledger import services as ledger
from app.ledger.models import Blob, LedgerEvent
from app.postmortems import collecting, services
from app.postmortems.clocks import Clock, clock
from app.runs.models import Order

pytestmark = pytest.mark.django_db


def test_it_tells_the_run_from_every_source_in_order(story):
    timeline = story.collected["timeline"]
    sources = {entry["source"] for entry in timeline}
    assert {"ledger", "capture", "situation", "zpool history"} <= sources
    assert [entry["at"] for entry in timeline] == sorted(entry["at"] for entry in timeline)
    words = [entry["text"] for entry in timeline]
    assert "ann began the run: wwid-mismatch-replace." in words
    assert any(word.startswith("bob approved the plan") for word in words)
    assert any(
        " from FAULTED to " in word or " from ONLINE to " in word or ("members first seen, ONLINE" in word and entry["digest"])
        for word, entry in zip(words, timeline, strict=True)
    )


def test_every_link_leads_to_what_was_kept(story):
    collected = story.collected
    digests = {entry["digest"] for entry in collected["timeline"]} | {
        state[side]["digest"] for state in collected["states"] for side in ("before", "after")
    }
    kept = set(Blob.objects.filter(pk__in=digests).values_list("pk", flat=True))
    assert digests - {""} == kept
    events = {int(entry["event"]) for entry in collected["timeline"] if entry["event"]}
    assert LedgerEvent.objects.filter(pk__in=events).count() == len(events)


def test_it_shows_the_pool_before_and_after_in_its_own_words(story):
    [state] = story.collected["states"]
    assert (state["node"], state["pool"], state["before"]["known"], state["after"]["known"]) == ("oss01", "ost_0", "yes", "yes")
    assert any(line.startswith("-") and "state: DEGRADED" in line for line in state["difference"])
    assert any(line.startswith("+") and "state: ONLINE" in line for line in state["difference"])


def test_the_collection_is_kept_and_the_ledger_names_it(story):
    assert sha256(canonical(story.collected)).hexdigest() == story.collected_digest
    assert json.loads(ledger.blob(story.collected_digest)) == story.collected
    event = LedgerEvent.objects.get(type="postmortem.begun")
    assert event.parsed["evidence"] == [story.collected_digest]


def test_clocks_are_compared_by_orders_and_gaps_are_said(story):
    [words] = story.collected["clocks"]
    assert words.startswith("The clock of oss01 minus the portal's was between ")
    assert any("zpool history" in gap for gap in story.collected["gaps"])


def test_a_clock_that_nothing_compares_is_said_so():
    assert "was not compared" in clock("oss01", []).words
    assert "was changed meanwhile" in Clock("oss01", 5.0, -5.0, 2).words


def test_a_clock_that_runs_ahead_is_bounded():
    at = timezone.now()
    ahead = timedelta(seconds=30)
    receipt = {"started_at": (at + ahead).isoformat(), "ended_at": (at + ahead).isoformat()}
    order = Order(
        sealed_at=at - timedelta(seconds=1), started_at=at - timedelta(seconds=1), ended_at=at + timedelta(seconds=1), receipt=receipt
    )
    assert clock("oss01", [order]).words == "The clock of oss01 minus the portal's was between +29.0 s and +31.0 s, by 1 order."


def test_a_silent_stretch_is_a_gap(story):
    story.since -= timedelta(hours=2)
    answer = collecting.collect(story, timezone.now())
    assert any("oss01 reported nothing new: it was silent, or nothing changed" in gap for gap in answer["gaps"])


def test_it_begins_from_a_situation_alone(finished, ann):
    situation = Situation.objects.get(slug="wwid-mismatch")
    made = services.begin(ann, "Seen, not walked", [], situation)
    assert made.collected["nodes"] == ["oss01"]
    assert any(entry["text"] == f"Opened: {situation.title}" for entry in made.collected["timeline"])


def test_what_was_measured_at_the_opening_stays_what_it_was(finished, ann):
    """The row's title goes on being written; a timeline tells what was so at that moment."""
    situation = Situation.objects.get(slug="wwid-mismatch")
    first = situation.title
    Situation.objects.filter(pk=situation.pk).update(title="resilvers: 98.61 %")
    texts = [entry["text"] for entry in services.begin(ann, "Seen", [], situation).collected["timeline"]]
    assert f"Opened: {first}" in texts
    assert "Opened: resilvers: 98.61 %" not in texts
    Situation.objects.filter(pk=situation.pk).update(opened_as="")  # of an older version: then it is said that it is of now
    texts = [entry["text"] for entry in services.begin(ann, "Seen again", [], situation).collected["timeline"]]
    assert "Opened: resilvers: 98.61 % (as it reads now)" in texts


def test_another_time_is_collected_anew(story, ann):
    before = story.collected_digest
    services.collect_again(ann, story, story.since - timedelta(days=1), story.until)
    story.refresh_from_db()
    assert story.collected_digest != before
    assert LedgerEvent.objects.filter(type="postmortem.collected").count() == 1
    with pytest.raises(services.Refused, match="must end after"):
        services.collect_again(ann, story, story.until, story.since)
    with pytest.raises(services.Refused, match="31 days"):
        services.collect_again(ann, story, story.since - timedelta(days=99), story.until)


def test_what_failed_to_answer_is_told(story):
    from agents.collectors.base import Capture

    capture = Capture("zpool_events", "", "failed", "", "zpool events -v: no answer after 20.0 s")
    digest = ledger.keep(canonical(capture.body()), "application/json")
    ledger.record("report.changed", {"changed": {"zpool_events": digest}, "between": []}, "node:oss01", node="oss01")
    answer = collecting.collect(story, timezone.now() + timedelta(minutes=1))
    assert [
        e["digest"] for e in answer["timeline"] if e["text"] == "zpool_events did not answer: zpool events -v: no answer after 20.0 s"
    ] == [digest]


def test_the_page_links_each_entry(client, story, ann):
    client.force_login(ann)
    page = client.get(story.get_absolute_url()).content.decode()
    first = next(entry for entry in story.collected["timeline"] if entry["event"])
    assert reverse("ledger-event", args=[first["event"]]) in page
    assert story.collected_digest in page
    for _ in range(3):
        client.get(story.get_absolute_url())
    assert LedgerEvent.objects.filter(type="postmortem.looked").count() == 1

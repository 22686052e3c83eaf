"""Looking goes on without the ledger; and with it, who looked at which evidence is on the record, once an hour."""

from datetime import UTC, datetime, timedelta

import psycopg
import pytest
from django.contrib.auth import get_user_model
from django.db import transaction
from django.test import Client
from django.urls import reverse

from app.ledger import looking
from app.ledger.models import LedgerEvent

AT = datetime(2026, 11, 21, 10, 30, tzinfo=UTC)
BREAK = ("ALTER TABLE ledger_head ADD CONSTRAINT full_disk CHECK (seq < 7) NOT VALID",)


def looks() -> list[tuple[str, str]]:
    return [(event.actor, event.parsed["body"]["digest"]) for event in LedgerEvent.objects.filter(type=looking.LOOKED).order_by("id")]


@pytest.fixture
def digest(cast) -> str:
    return LedgerEvent.objects.get(pk=2).parsed["evidence"][0]


@pytest.fixture
def ann(cast) -> Client:
    client = Client()
    client.force_login(get_user_model().objects.create_user("ann"))
    return client


@pytest.fixture
def broken(cast, ground, committed_db):
    """Nothing can be sealed any more."""
    with psycopg.connect(ground.url(committed_db, "owner")) as owner:
        for statement in BREAK:
            owner.execute(statement)


def test_a_person_opens_evidence_ten_times_and_is_recorded_once(ann, digest):
    for _ in range(10):
        assert ann.get(reverse("ledger-blob", args=[digest])).status_code == 200
    assert looks() == [("ann", digest)]
    assert LedgerEvent.objects.get(type=looking.LOOKED).parsed["evidence"] == [digest]


def test_it_is_once_an_hour_for_each_person_and_each_digest(cast, digest):
    other = LedgerEvent.objects.get(pk=5).parsed["evidence"][0]
    for minutes, person, what in ((0, "ann", digest), (59, "ann", digest), (30, "bob", digest), (31, "ann", other), (61, "ann", digest)):
        looking.looked(person, what, AT + timedelta(minutes=minutes))
    assert looks() == [("ann", digest), ("bob", digest), ("ann", other), ("ann", digest)]


def test_looking_at_nothing_is_no_look(ann):
    assert ann.get(reverse("ledger-blob", args=["0" * 64])).status_code == 404
    assert looks() == []


def test_evidence_is_shown_when_the_ledger_cannot_be_written(ann, digest, broken):
    answer = ann.get(reverse("ledger-blob", args=[digest]))
    assert answer.status_code == 200
    assert b"DEGRADED" in answer.content
    assert looks() == []
    assert ann.get(reverse("ledger")).status_code == 200
    assert ann.get(reverse("ledger-event", args=[2])).status_code == 200


def test_what_changes_nothing_goes_on_without_its_event(cast, broken, caplog):
    """The transaction around it commits; the log says what the ledger does not."""
    user = get_user_model()
    with transaction.atomic():
        user.objects.create_user("carl")
        assert looking.record_if_possible("order.sealed", {"order": "1"}, "carl", node="oss01") is None
    assert user.objects.filter(username="carl").exists()
    assert "Not in the ledger: order.sealed by carl" in caplog.text
    assert LedgerEvent.objects.count() == 6


def test_with_a_ledger_it_is_as_any_event(cast):
    with transaction.atomic():
        event = looking.record_if_possible("order.sealed", {"order": "1"}, "carl", node="oss01")
    assert event.chain.seq == 7


def test_the_page_says_that_something_is_wrong_and_goes_on(ann, ground, committed_db):
    assert "Nothing is changed and nothing is signed" not in ann.get(reverse("ledger")).content.decode()
    with psycopg.connect(ground.url(committed_db, "owner")) as owner:
        owner.execute("DROP TRIGGER ledger_blob_keep ON ledger_blob")
    page = ann.get(reverse("ledger")).content.decode()
    assert "The trigger ledger_blob_keep is not as it was made." in page
    assert "node.enrolled" in page


def test_a_page_says_what_proves_an_event(ann, cast):
    page = ann.get(reverse("ledger-event", args=[2])).content.decode()
    assert "The checkpoint over 6 events was signed" in page
    assert "Hashed together with the 3 values below" in page


def test_a_page_says_when_nothing_proves_it_any_more(ann, cast, tamper):
    tamper("UPDATE ledger_event SET leaf = sha256('x') WHERE id = 3")
    assert "not proven" in ann.get(reverse("ledger-event", args=[2])).content.decode()

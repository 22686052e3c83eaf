"""Recording and keeping, in the forms the ledger holds."""

import uuid
from datetime import UTC, datetime, timedelta, timezone

import pytest
from django.db import DatabaseError, connection, transaction

from app.ledger import services
from app.ledger.models import Blob, LedgerChain, LedgerEvent

AT = datetime(2026, 11, 21, 12, 30, 0, tzinfo=timezone(timedelta(hours=2)))


@pytest.mark.django_db
def test_it_records_only_text():
    body = {"guid": 14718944552882581455, "at": AT, "id": uuid.UUID(int=5), "ok": True, "none": None, "list": (1, "a")}
    answer = services.record("run.started", body, "ann", at=AT).parsed
    assert answer["at"] == "2026-11-21T10:30:00.000000Z"
    assert answer["body"] == {
        "guid": "14718944552882581455",
        "at": "2026-11-21T10:30:00.000000Z",
        "id": "00000000-0000-0000-0000-000000000005",
        "ok": True,
        "none": None,
        "list": ["1", "a"],
    }


@pytest.mark.django_db
@pytest.mark.parametrize("value", [1.5, b"raw", {1: "number as key"}, {"ключ": "x"}, datetime(2026, 1, 1)], ids=repr)
def test_it_refuses_what_has_no_form(value):
    with pytest.raises(TypeError):
        services.record("run.started", {"value": value}, "ann")


@pytest.mark.django_db
@pytest.mark.parametrize(("text", "held"), [("e\u0301", "\u00e9"), ("a\0b", "a\\x00b"), ("\udcff", "\\udcff"), ("line\n", "line\n")])
def test_it_holds_any_text_a_node_can_send(text, held):
    event = services.record("order.receipt", {"stderr": text}, text)
    event.refresh_from_db()
    assert event.parsed["body"]["stderr"] == event.parsed["actor"] == event.actor == held


@pytest.mark.django_db
def test_it_names_as_evidence_the_kept_blobs_of_the_body():
    here, there = services.keep(b"zpool status", "text/plain"), services.keep(b"zdb -l", "text/plain")
    body = {"captures": [{"source": "zdb_label", "digest": there}], "plan_digest": "ab" * 32, "by": {"status": here}}
    assert services.record("order.receipt", body, "node:oss01").parsed["evidence"] == sorted([here, there])


@pytest.mark.django_db
def test_it_numbers_the_events_of_each_run():
    events = [services.record("x", {}, "ann", run=run) for run in ("7", "8", "7", "7")]
    assert [event.run_seq for event in events] == [1, 1, 2, 3]
    assert events[3].parsed["run_prev"] == events[2].leaf.hex()


@pytest.mark.django_db
def test_it_keeps_the_same_bytes_once_and_gives_them_back():
    digest = services.keep(b"\0\xff", "application/octet-stream")
    assert services.keep(b"\0\xff", "text/plain") == digest
    assert services.blob(digest) == b"\0\xff"
    assert Blob.objects.get().media == "application/octet-stream"
    with pytest.raises(KeyError):
        services.blob("0" * 64)


@pytest.mark.django_db
def test_the_database_refuses_a_blob_under_another_name():
    with pytest.raises(DatabaseError), transaction.atomic():
        Blob.objects.create(sha256="0" * 64, size=1, media="text/plain", bytes=b"x")


@pytest.mark.django_db
@pytest.mark.parametrize(
    "body",
    [b"not json", b'{"v":"1"}', b'{"at":"2026-11-21T10:30:00Z","actor":"a","type":"t","run":"","node":""}'],
    ids=["no object", "no fields", "a time without microseconds"],
)
def test_the_database_refuses_a_body_that_is_no_event(body):
    with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("INSERT INTO ledger_event (body) VALUES (%s)", [body])


@pytest.mark.django_db
def test_the_database_refuses_a_gap_in_a_run():
    recorded = services.record("x", {}, "ann", run="7").parsed
    for lie in ({"run_seq": "3"}, {"run_seq": "1"}, {"run_seq": "2", "run_prev": "ab" * 32}):
        with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
            services.insert(cursor, recorded | lie)


def test_it_seals_at_commit_and_leaves_nothing_of_a_rolled_back_event(ledger):
    with transaction.atomic():
        ledger.record("run.started", {}, "ann", run="7")
        transaction.set_rollback(True)
    with transaction.atomic():
        ledger.record("run.started", {}, "ann", run="7")
        ledger.record("run.closed", {}, "ann", run="7")
        assert not LedgerChain.objects.exists()
    assert list(LedgerChain.objects.order_by("seq").values_list("seq", "event__type")) == [(1, "run.started"), (2, "run.closed")]
    assert LedgerEvent.objects.count() == 2


def test_it_writes_times_that_sort_as_text():
    times = [AT, AT + timedelta(microseconds=1), AT + timedelta(seconds=1)]
    assert sorted(map(services.moment, times)) == [services.moment(time.astimezone(UTC)) for time in times]

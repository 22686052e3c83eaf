"""Many writers at once, with real commits: one order, no gap, no fork."""

import threading

import psycopg
import pytest
from django.db import connection, transaction

from app.ledger import audit as ledger_audit
from app.ledger.models import LedgerChain, LedgerCheckpoint, LedgerEvent

WRITERS = 16
EACH = 8


def together(work) -> None:
    """Run `work(number)` in 16 threads that start at the same moment, each with a connection of its own."""
    gate, errors = threading.Barrier(WRITERS), []

    def one(number: int) -> None:
        gate.wait()
        try:
            work(number)
        except Exception as error:  # noqa: BLE001, an error in a thread must reach the test
            errors.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=one, args=(number,)) for number in range(WRITERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


def test_sixteen_writers_make_one_dense_chain(ledger):
    def write(number: int) -> None:
        for turn in range(EACH):
            with transaction.atomic():
                ledger.record("run.moved", {"turn": turn}, f"writer {number}", run=f"{number % 3}")
                if turn % 2:
                    ledger.record("node.seen", {"turn": turn}, f"writer {number}", node="oss01")

    together(write)
    ledger.number_waiting()
    count = WRITERS * EACH * 3 // 2
    assert list(LedgerChain.objects.order_by("seq").values_list("seq", flat=True)) == list(range(1, count + 1))
    assert LedgerChain.objects.values("prev").distinct().count() == count == LedgerEvent.objects.count()
    found = ledger_audit.audit()
    assert (found.exit_code, found.counts["runs"]) == (0, 3)


def test_who_finds_the_head_taken_waits_in_a_lane_and_is_numbered_by_the_next(ledger, ground, committed_db):
    """Numbered in the order of what happened: before the one who came after, although that one got the head."""
    with psycopg.connect(ground.url(committed_db)) as busy:
        busy.execute("SELECT pg_advisory_xact_lock(5310291, 0)")  # somebody is just committing
        first = ledger.record("node.seen", {"turn": 1}, "ann")
        second = ledger.record("node.seen", {"turn": 2}, "ann")
        assert not LedgerChain.objects.exists()
        found = ledger_audit.audit()
        assert (found.exit_code, found.waiting) == (0, 2)
    third = ledger.record("node.seen", {"turn": 3}, "ann")
    assert [place.event_id for place in LedgerChain.objects.order_by("seq")] == [first.pk, second.pk, third.pk]
    found = ledger_audit.audit()
    assert (found.exit_code, found.waiting, found.counts["events"]) == (0, 0, 3)
    assert ledger.number_waiting() == 0


def test_a_transaction_may_be_in_a_lane_with_one_event_and_at_the_head_with_the_next(ledger, ground, committed_db):
    with psycopg.connect(ground.url(committed_db)) as busy, transaction.atomic(), connection.cursor() as cursor:
        busy.execute("SELECT pg_advisory_xact_lock(5310291, 0)")
        ledger.record("node.seen", {"turn": 1}, "ann")
        cursor.execute("SET CONSTRAINTS ledger_event_seal IMMEDIATE; SET CONSTRAINTS ledger_event_seal DEFERRED")
        busy.rollback()
        ledger.record("node.seen", {"turn": 2}, "ann")
    assert list(LedgerChain.objects.order_by("seq").values_list("seq", "event__leaf")) == list(
        enumerate(LedgerEvent.objects.order_by("id").values_list("leaf", flat=True), 1)
    )
    assert ledger_audit.audit().exit_code == 0


def test_a_checkpoint_and_a_proof_number_what_waits(ledger, ground, committed_db):
    with psycopg.connect(ground.url(committed_db)) as busy:
        busy.execute("SELECT pg_advisory_xact_lock(5310291, 0)")
        event = ledger.record("node.seen", {}, "ann")
    assert ledger.inclusion(event)["index"] == "0"
    assert LedgerCheckpoint.objects.get().size == 1


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("UPDATE ledger_lane SET link = sha256('x') WHERE n = 1", "Lane"),
        ("DELETE FROM ledger_lane WHERE n = 1", "does not hold at its event 2"),
        ("DELETE FROM ledger_lane", "its tail is missing"),
    ],
)
def test_a_lane_that_was_touched_is_named(ledger, ground, committed_db, tamper, statement, named):
    with psycopg.connect(ground.url(committed_db)) as busy:
        busy.execute("SELECT pg_advisory_xact_lock(5310291, 0)")
        for turn in range(3):
            ledger.record("node.seen", {"turn": turn}, "ann")
    ledger.number_waiting()
    tamper(statement)
    found = ledger_audit.audit()
    assert any(named in sentence for sentence in found.tampered), found.tampered


def test_a_checkpoint_is_made_once_however_many_ask(ledger):
    for turn in range(5):
        ledger.record("node.seen", {"turn": turn}, "ann")
    together(lambda number: ledger.checkpoint_now())
    assert LedgerCheckpoint.objects.get().size == 5


def test_the_same_blob_is_kept_once_however_many_keep_it(ledger):
    bodies = [bytes([number]) * 100 for number in range(20)]
    together(lambda number: keep_in_one_transaction(ledger, bodies if number % 2 else bodies[::-1]))
    assert ledger_audit.audit().counts["blobs"] == len(bodies)


def keep_in_one_transaction(ledger, bodies) -> None:
    with transaction.atomic():
        ledger.keep_all(bodies, "application/octet-stream")

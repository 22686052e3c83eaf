"""Many writers at once, with real commits: one order, no gap, no fork."""

import threading

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
    count = WRITERS * EACH * 3 // 2
    assert list(LedgerChain.objects.order_by("seq").values_list("seq", flat=True)) == list(range(1, count + 1))
    assert LedgerChain.objects.values("prev").distinct().count() == count == LedgerEvent.objects.count()
    found = ledger_audit.audit()
    assert (found.exit_code, found.counts["runs"]) == (0, 3)


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

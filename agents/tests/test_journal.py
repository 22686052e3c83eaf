"""The journal: what is on disk before it counts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import agents
from agents.orders.journal import Journal, JournalError


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "journal.sqlite")


@pytest.fixture
def journal(path):
    journal = Journal(path)
    yield journal
    journal.close()


def claim(journal, order_id="o1", fence=3):
    journal.claim(order_id, "d" * 64, '{"id":"o1"}', "2026-11-21T03:00:00Z", "42", fence)


def test_it_walks_an_order_from_claim_to_acknowledged(journal):
    claim(journal)
    assert [e.phase for e in journal.unfinished()] == ["CLAIMED"]
    journal.intend("o1", "2026-11-21T03:00:01Z")
    assert journal.find("o1").started_at == "2026-11-21T03:00:01Z"
    journal.result("o1", "{}")
    assert journal.unfinished() == ()
    assert [e.order_id for e in journal.unsent()] == ["o1"]
    journal.amend("o1", '{"more":""}')
    journal.acknowledge("o1")
    assert journal.pending() == ()
    assert journal.find("o1").receipt == '{"more":""}'


def test_it_survives_being_closed(path, journal):
    claim(journal)
    journal.intend("o1", "at")
    journal.close()
    again = Journal(path)
    assert again.find("o1").phase == "INTENT"
    assert again.fence("42") == 3
    again.close()


@pytest.mark.parametrize(
    "move",
    [
        claim,
        lambda j: j.refuse("o1", "d", "{}", "{}"),
        lambda j: j.acknowledge("o1"),
        lambda j: j.amend("o1", "{}"),
        lambda j: j.intend("o2", "at"),
        lambda j: j.result("o2", "{}"),
    ],
    ids=["claim twice", "refuse a claimed one", "acknowledge without result", "amend without result", "intend unknown", "result unknown"],
)
def test_it_refuses_a_move_that_skips_a_phase(journal, move):
    claim(journal)
    with pytest.raises(JournalError):
        move(journal)
    assert journal.find("o1").phase == "CLAIMED"
    assert journal.find("o2") is None


def test_it_never_starts_an_order_twice(journal):
    claim(journal)
    journal.intend("o1", "at")
    for _ in range(2):
        with pytest.raises(JournalError):
            journal.intend("o1", "at")
    journal.result("o1", "{}")
    with pytest.raises(JournalError):
        journal.intend("o1", "at")


def test_it_remembers_the_highest_fence(journal):
    assert journal.fence("42") == 0
    claim(journal, "o1", 7)
    claim(journal, "o2", 5)
    assert journal.fence("42") == 7
    assert journal.fence("43") == 0


def test_a_refused_claim_leaves_no_fence(journal):
    claim(journal, "o1", 1)
    with pytest.raises(JournalError):
        claim(journal, "o1", 9)
    assert journal.fence("42") == 1


def test_its_counter_rises_over_restarts_and_a_clock_set_back(path, journal):
    first = [journal.next_counter(1_000.0) for _ in range(3)]
    assert first == [1_000_001, 1_000_002, 1_000_003]
    journal.close()
    again = Journal(path)
    assert again.next_counter(500.0) > first[-1]
    again.close()


def test_it_counts_on_when_its_disk_is_full(path, journal):
    journal.next_counter(1.0)
    journal._counter = journal._counter_end
    journal._db.execute("PRAGMA query_only = ON")  # any write now fails, as it does on a full disk
    after = journal.next_counter(2.0)
    assert after > 1_001
    with pytest.raises(JournalError, match="could not be written"):
        claim(journal)


def test_it_keeps_what_a_killed_process_committed(path):
    script = (
        "import os, sys; from agents.orders.journal import Journal; j = Journal(sys.argv[1]);"
        "j.claim('o1', 'd', '{}', 'at', '42', 1); j.intend('o1', 'at'); os._exit(137)"
    )
    root = str(Path(agents.__file__).parent.parent)
    assert subprocess.run([sys.executable, "-c", script, path], cwd=root, check=False).returncode == 137
    journal = Journal(path)
    assert [e.phase for e in journal.unfinished()] == ["INTENT"]
    journal.close()


def test_it_goes_on_from_a_counter_that_somebody_else_ran_up(tmp_path):
    journal = Journal(str(tmp_path / "j"))
    mine = journal.next_counter(1000.0)
    assert journal.follow_counter(10**17, False)
    assert journal.next_counter(1000.0) > 10**17
    assert not journal.follow_counter(mine, False), "one of its own, overtaken by another of its own"
    assert journal.next_counter(1000.0) > 10**17
    journal.close()
    again = Journal(str(tmp_path / "j"))
    assert again.next_counter(1001.0) > 10**17
    again.close()


def test_a_clock_that_was_years_ahead_is_come_back_from(tmp_path):
    journal = Journal(str(tmp_path / "j"))
    journal.next_counter(4_000_000_000.0)
    assert not journal.follow_counter(1_700_000_000_000, True)
    assert journal.next_counter(1_700_000_001.0) == 1_700_000_001_001
    journal.close()


def durability(journal):
    """(how SQLite keeps its journal, how far it waits for the disk at a COMMIT), of the connection that writes."""
    return tuple(journal._db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous"))


LASTING = ("wal", 2)  # 2 is FULL: each COMMIT has reached the disk when it returns; with NORMAL a power cut loses the last ones


def test_what_it_wrote_is_on_the_disk_however_it_was_opened(path, tmp_path):
    """A lost INTENT would make the agent say that nothing ran. A kill cannot show it: the kernel keeps what it was given, a power cut does not."""
    for _ in range(2):  # made, and opened again
        journal = Journal(path)
        claim(journal, f"o{_}")
        assert durability(journal) == LASTING
        journal.close()
    broken = tmp_path / "broken.sqlite"
    broken.write_bytes(b"not a journal" * 100)
    journal = Journal(str(broken), anyway=True)
    assert journal.broken
    broken.unlink()
    assert journal.mended()
    claim(journal)
    assert durability(journal) == LASTING
    journal.close()

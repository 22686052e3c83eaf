"""What keeps an agent from changing anything: its journal, its keys, its double, its ledger. It reports all the same."""

from __future__ import annotations

import os
import shutil
import sqlite3
from dataclasses import replace

import pytest

from agents.orders.journal import Journal, JournalError, start_new
from agents.orders.write_permission import RESTORED, Standing, holds, open_session
from agents.portal.transport import Reply
from agents.tests import rig


class Stage:
    """An agent's folder, and what stands in it, opened as often as needed."""

    def __init__(self, folder):
        self.folder = str(rig.agent_folder(folder / "agent", "http://127.0.0.1:1"))
        self.path = os.path.join(self.folder, "journal.sqlite")
        self.host, self.who = rig.twin(folder), rig.identity()
        self.opened = []

    def open(self):
        """As the agent does when it starts."""
        session = open_session(self.host, os.path.join(self.folder, "run"), self.folder)
        journal = Journal(self.path, session.write_stamp, anyway=True)
        self.opened.append(journal)
        standing = Standing(self.host, self.who, journal, session, self.folder, os.path.join(self.folder, "policy.json"))
        standing.compare_journal()
        return standing, journal

    def close(self):
        for journal in self.opened:
            journal.close()
        self.opened.clear()

    def backup(self):
        self.close()
        shutil.copy(self.path, self.path + ".backup")

    def restore(self):
        self.close()
        for name in ("", "-wal", "-shm"):
            if os.path.exists(self.path + name):
                os.unlink(self.path + name)
        shutil.copy(self.path + ".backup", self.path)

    def reboot(self):
        """What lies in memory is gone."""
        self.close()
        shutil.rmtree(os.path.join(self.folder, "run"))


@pytest.fixture
def stage(tmp_path):
    stage = Stage(tmp_path)
    yield stage
    stage.close()


def claim(journal, order_id="o1"):
    journal.claim(order_id, "d", "{}", "at", "42", 1)


def test_all_is_well_with_a_whole_journal_before_and_after_a_restart(stage):
    standing, journal = stage.open()
    claim(journal)
    stage.close()
    standing, journal = stage.open()
    assert (standing.reasons(), standing.rule().mode, journal.trouble()) == ((), "operate", "")
    assert standing.fields() == {"nonce": rig.NONCE, "journal": "{}:{}".format(*journal.height())}


def test_a_journal_restored_from_backup_is_noticed_and_holds_until_a_person_accepts(stage):
    _, journal = stage.open()
    claim(journal, "o1")
    stage.backup()
    _, journal = stage.open()
    claim(journal, "o2")
    stage.restore()
    standing, journal = stage.open()
    assert "was put back or replaced" in standing.rule().why
    assert standing.fields()["held"] == standing.rule().why
    stage.close()
    standing, journal = stage.open()
    assert standing.rule().mode == "observe"  # it is remembered
    before = standing.nonce
    standing.accept_journal()
    assert (standing.reasons(), standing.rule().mode) == ((), "operate")
    assert standing.nonce != before  # what was sealed before is void
    stage.close()
    assert stage.open()[0].reasons() == ()


@pytest.mark.parametrize("what", ["removed", "emptied", "another"])
def test_a_journal_that_is_another_one_is_noticed(stage, what):
    _, journal = stage.open()
    claim(journal)
    stage.close()
    os.unlink(stage.path)
    if what == "emptied":
        open(stage.path, "w").close()
    elif what == "another":
        Journal(stage.path).close()
    assert "it is another one than was written last" in stage.open()[0].rule().why


def test_after_a_reboot_the_identity_misses_a_journal_that_was_removed(stage):
    _, journal = stage.open()
    stage.who = replace(stage.who, journal=journal.height()[0])
    stage.reboot()
    assert stage.open()[0].reasons() == ()
    stage.reboot()
    os.unlink(stage.path)
    standing, _ = stage.open()
    assert "not the one that was made when this agent was enrolled" in standing.rule().why
    standing.accept_journal()
    stage.reboot()
    assert stage.open()[0].reasons() == ()


def test_after_a_reboot_the_portal_remembers_how_far_the_journal_had_come(stage):
    _, journal = stage.open()
    stage.backup()
    standing, journal = stage.open()
    claim(journal)
    answered = standing.fields()["journal"]
    standing.take_reply(Reply(200, {"journal": answered}))
    assert standing.reasons() == ()
    stage.restore()
    stage.reboot()
    standing, journal = stage.open()
    assert standing.reasons() == ()
    standing.take_reply(Reply(200, {"journal": answered}))
    assert "the portal knows of" in standing.rule().why
    standing.accept_journal()
    standing.take_reply(Reply(200, {"journal": answered}))  # it goes on saying so until it hears of the new generation
    assert standing.reasons() == ()


def test_the_portal_misses_another_journal_too(stage):
    standing, _ = stage.open()
    standing.take_reply(Reply(200, {"journal": "0123456789abcdef:7"}))
    assert "last reported from" in standing.rule().why
    standing.accept_journal()
    standing.take_reply(Reply(200, {"journal": "0123456789abcdef:7"}))
    assert standing.reasons() == ()


@pytest.mark.parametrize("text", [None, "", "x", "a:b", 7, ["a"]])
def test_what_the_portal_says_unreadably_of_the_journal_is_nothing(stage, text):
    standing, _ = stage.open()
    standing.take_reply(Reply(200, {"journal": text}))
    assert standing.reasons() == ()


def damage(path, how):
    size = os.path.getsize(path)
    if how == "truncated":
        os.truncate(path, size // 2 // 4096 * 4096 + 100)
    elif how == "overwritten":
        with open(path, "r+b") as file:
            file.seek(4096)
            file.write(os.urandom(size - 4096))
    elif how == "no database":
        with open(path, "wb") as file:
            file.write(b"these are not the bytes of a journal" * 200)
    elif how == "a folder":
        os.unlink(path)
        os.mkdir(path)


@pytest.mark.parametrize("how", ["truncated", "overwritten", "no database", "a folder"])
def test_a_damaged_journal_is_noticed_and_never_replaced_by_itself(stage, how):
    _, journal = stage.open()
    claim(journal)
    stage.close()
    damage(stage.path, how)
    standing, journal = stage.open()
    assert journal.broken
    assert stage.path in standing.rule().why
    assert "journal --start-new" in standing.rule().why
    assert (standing.rule().mode, journal.trouble()) == ("observe", journal.broken)
    assert "journal" not in standing.fields()
    assert standing.fields()["held"] == journal.broken
    first = [journal.next_counter(1000.0) for _ in range(2)]
    assert first[0] < first[1]  # requests go on, so reports do
    assert not journal.mended()
    with pytest.raises(JournalError, match="cannot be opened|damaged"):
        Journal(stage.path)


def test_a_damaged_journal_is_put_aside_only_by_a_person_and_then_still_to_be_accepted(stage):
    _, journal = stage.open()
    claim(journal)
    stage.close()
    with pytest.raises(JournalError, match="can be read; nothing was changed"):
        start_new(stage.folder)
    damage(stage.path, "no database")
    running, mine = stage.open()
    assert ".lost" in start_new(stage.folder)
    assert [name for name in os.listdir(stage.folder) if name.endswith(".lost")]
    assert mine.mended()
    running.compare_journal()
    assert "another one than was written last" in running.rule().why
    running.accept_journal()
    assert running.rule().mode == "operate"


def test_a_journal_that_comes_back_is_used_again(stage):
    _, journal = stage.open()
    claim(journal)
    stage.close()
    os.rename(stage.path, stage.path + ".away")
    os.mkdir(stage.path)
    standing, journal = stage.open()
    assert not journal.mended()
    os.rmdir(stage.path)
    os.rename(stage.path + ".away", stage.path)
    assert journal.mended()
    standing.compare_journal()
    assert (standing.reasons(), journal.find("o1").phase) == ((), "CLAIMED")


def test_pages_that_go_bad_while_it_runs_are_a_reason_and_no_crash(stage):
    standing, journal = stage.open()

    class Bad:
        in_transaction = False

        def execute(self, *_):
            raise sqlite3.DatabaseError("database disk image is malformed")

        def close(self):
            pass

    journal._db = Bad()
    assert "malformed" in standing.rule().why
    assert "malformed" in journal.trouble()
    assert "malformed" in standing.fields()["held"]
    standing.take_reply(Reply(200, {"journal": "0123456789abcdef:7"}))
    with pytest.raises(JournalError, match="malformed"):
        journal.find("o1")


def test_a_hold_that_cannot_be_written_counts_all_the_same(stage):
    standing, journal = stage.open()
    journal._db.execute("PRAGMA query_only = ON")
    standing.duplicate("Two sessions take turns.")
    assert "Two machines use this agent's key" in standing.rule().why


def test_a_double_holds_until_the_agent_has_another_key(stage):
    standing, _ = stage.open()
    standing.take_reply(Reply(409, {"reason": "Sessions a and b take turns.", "duplicate": True}))
    standing.take_reply(Reply(409, {"reason": "Again.", "duplicate": True}))
    assert "Sessions a and b take turns." in standing.rule().why
    assert "enrol --again" in standing.rule().why
    stage.close()
    assert stage.open()[0].rule().mode == "observe"
    stage.who = replace(stage.who, key=b"another key of thirty-two bytes!")
    assert stage.open()[0].rule().mode == "operate"


@pytest.mark.parametrize("reply", [Reply(409, {"reason": "No."}), Reply(409, {"duplicate": "yes"}), Reply(200, {"duplicate": True})])
def test_another_refusal_is_no_double(stage, reply):
    standing, _ = stage.open()
    standing.take_reply(reply)
    assert standing.reasons() == ()


def test_without_a_folder_for_this_boot_nothing_is_changed(stage):
    _, journal = stage.open()
    (open(os.path.join(stage.folder, "file"), "w")).close()
    assert open_session(stage.host, os.path.join(stage.folder, "file", "run"), stage.folder) is None
    standing = Standing(stage.host, stage.who, journal, None, stage.folder, os.path.join(stage.folder, "policy.json"))
    standing.compare_journal()
    assert "doctor" in standing.rule().why
    assert "nonce" not in standing.fields()


def test_who_only_looks_sees_the_same_reasons(stage):
    standing, journal = stage.open()
    journal.hold(RESTORED, "It was put back.", "at")
    assert holds(stage.host, stage.who, journal, stage.folder) == standing.reasons() == ("It was put back.",)


def test_a_ledger_that_shrank_is_told_loudly_and_ends_only_by_a_person(stage, caplog):
    standing, _ = stage.open()
    ledger = rig.Ledger(rig.keys())
    ledger.bodies += [b"2", b"3"]
    standing.log.hear(ledger.log(0))
    assert standing.log.size == 3
    ledger.bodies.pop()
    standing.log.hear(ledger.log(3))
    assert "shrank" in standing.rule().why
    assert "shrank" in caplog.text
    person = stage.open()[0]
    assert "shrank" in person.rule().why  # also after a restart
    assert "ended" in person.log.accept("root", 1.0)
    assert standing.rule().mode == "operate"  # the running agent sees what the person did
    assert standing.log.size == 2


def test_a_checkpoint_by_a_stranger_is_never_believed(stage):
    standing, _ = stage.open()
    ledger = rig.Ledger(rig.Keys())
    standing.log.hear(ledger.log(0))
    assert (standing.log.size, standing.log.believed(ledger.note())) == (0, None)


def test_an_agent_without_keys_takes_no_checkpoint_for_an_alarm(stage):
    stage.who = replace(stage.who, portal_key="", log_key="")
    standing, _ = stage.open()
    standing.log.hear(rig.Ledger(rig.keys()).log(0))
    assert standing.log.why_observe_only == ""

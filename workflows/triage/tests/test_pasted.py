"""Pastes as tired people make them: recordings of a terminal, answers to mails, ends cut off, several nodes, several megabytes."""

import re
from email.message import EmailMessage
from pathlib import Path

import pytest

from agents.tests.scenarios import step
from workflows.facts import known
from workflows.runbooks import RUNBOOKS
from workflows.situations import SITUATIONS
from workflows.triage import MANUALS, decoded, manuals, triage

STATUS = (step("disk-removed/2-removed") / "zpool-status-P.txt").read_text()
LSSCSI = (step("disk-removed/2-removed") / "lsscsi-i.txt").read_text()
GEOM = (Path(__file__).parents[2] / "pasted/tests/cases/geom_list-disk.txt").read_text()


def answer(text: str):
    return triage([("paste", text)])


def test_a_recording_of_a_terminal_is_read_as_it_was_seen():
    typed = "\x1b]0;root@oss01:~\x07\x1b[?2004h[root@oss01 ~]# zpool statuss\x08\x1b[K -P\r\n\x1b[?2004l\r"
    found = answer(
        f"Script started on 2026-11-21\r\n{typed}" + STATUS.replace("\n", "\r\n").replace("DEGRADED", "\x1b[1;33mDEGRADED\x1b[0m")
    )
    [read] = [read for read in found.reads if read.outcome == "read"]
    assert (read.node, read.command, read.source) == ("oss01", "zpool status -P", "zpool_status")
    assert [s.slug for s in found.situations] == ["disk-missing"]


def test_what_was_written_over_is_gone():
    found = answer("working 10 %\rworking 99 %\r" + STATUS)
    assert [s.slug for s in found.situations] == ["disk-missing"]


def test_on_freebsd_the_list_of_disks_is_asked_for_until_it_is_there():
    status = re.sub(r"/dev/disk/by-id/\S+", lambda found: f"/dev/gpt/disk{found.start()}", STATUS)
    assert "geom disk list" in [c.command for c in answer(status).missing("pasted")]
    assert "geom disk list" not in [c.command for c in answer(f"{status}\n# geom disk list\n{GEOM}").missing("pasted")]


def test_what_was_cut_off_at_its_end_tells_what_is_there():
    found = answer(STATUS[: STATUS.index("errors:")])
    (read,) = [read for read in found.reads if read.source]
    assert (read.outcome, [s.slug for s in found.situations]) == ("partly", ["disk-missing"])
    assert any("ends before its errors: line" in why for _, why in read.unread)
    assert not any(known(pool.tops) for pool in found.fleet.nodes["pasted"].pools)


def test_what_was_cut_off_at_its_beginning_says_what_to_paste():
    found = answer(STATUS[len(STATUS) // 3 :])
    assert {(s.slug, s.sure) for s in found.situations} == {("vdev-degraded", False)}
    assert not found.good
    assert any("Paste the whole output of `zpool status -P -p`." in read.reason for read in found.reads)


def test_a_command_that_did_not_run_is_said():
    found = answer("$ zpool status\nbash: zpool: command not found\n")
    assert [read.reason for read in found.reads][-1].startswith("The command did not run.")


def test_several_commands_on_one_line_are_read_by_how_each_begins():
    found = answer(f"root@oss01:~# zpool status -P; lsscsi -i\n{STATUS}{LSSCSI}")
    assert {read.source for read in found.reads if read.outcome == "read"} == {"zpool_status", "lsscsi"}
    assert "Several commands at once." in found.reads[0].reason


def test_two_nodes_stay_apart():
    found = answer(f"root@oss01:~# zpool status -P\n{STATUS}root@oss02:~# zpool status -P\n{STATUS}")
    failed = [s for s in found.situations if "imported" not in s.title]  # that both show one pool is told as well
    assert [s.node for s in failed] == ["oss01", "oss02"]
    lines = {s.node: {mark.line for mark in found.marks(s)} for s in failed}
    assert max(lines["oss01"]) < min(lines["oss02"])


def test_the_lines_that_bear_it_out_are_marked():
    found = answer(STATUS)
    [situation] = found.situations
    marked = [found.lines[mark.name][mark.line - 1] for mark in found.marks(situation)]
    assert marked
    assert all("REMOVED" in line for line in marked)


def test_evidence_names_what_was_pasted_and_each_line_once():
    [situation] = answer(STATUS).situations
    assert {e.source for e in situation.evidence} == {"zpool_status"}
    assert len({e.line for e in situation.evidence}) == len(situation.evidence)


def test_it_says_what_to_run_next_and_not_what_was_run():
    commands = [command.command for command in answer(STATUS).missing("pasted")]
    assert "zpool status -P -p" not in commands
    assert commands[:2] == ["zpool status -g -p", "lsscsi -i -g -s"]
    assert "lsscsi -i -g -s" not in [c.command for c in answer(STATUS + "\n" + LSSCSI).missing("pasted")]
    assert [c.command for c in answer("help").missing("pasted")] == ["zpool status -P -p", "zpool import"]


def test_every_situation_has_its_manuals_and_each_is_there():
    assert set(MANUALS) == set(SITUATIONS)
    assert {slug for slugs in MANUALS.values() for slug in slugs} <= set(RUNBOOKS)


def test_five_megabytes_are_read():
    log = "".join(f"[{n / 10:12.6f}] sd 0:0:{n % 60}:0: [sda] Unit attention, for the {n}th time today\n" for n in range(70_000))
    assert len(STATUS + log) > 5_000_000
    assert "disk-missing" in [s.slug for s in answer(STATUS + log).situations]


def test_two_files_of_one_name_are_two_texts():
    found = triage([("status.txt", STATUS), ("status.txt", "help")])
    assert {read.name for read in found.reads} == {"status.txt", "status.txt (2)"}


def mail(coding: str, attached: bool = False) -> bytes:
    """As a mail program sends and saves it."""
    message = EmailMessage()
    message["From"], message["Subject"] = "oncall@example.org", "ost_0 looks bad"
    message.set_content("see below\n" if attached else f"can you look?\n\nroot@oss01:~# zpool status -P\n{STATUS}\nthanks\n", cte=coding)
    if attached:
        message.add_attachment(f"root@oss01:~# zpool status -P\n{STATUS}", filename="status.txt", cte=coding)
    return message.as_bytes()


@pytest.mark.parametrize("coding", ["quoted-printable", "base64", "7bit"])
@pytest.mark.parametrize("attached", [False, True])
def test_a_saved_mail_is_read_whatever_coding_it_travelled_in(coding, attached):
    found = answer(decoded(mail(coding, attached)))
    assert [(s.slug, s.node) for s in found.situations] == [("disk-missing", "oss01")]


@pytest.mark.parametrize("coding", ["utf-16", "utf-8-sig", "utf-8"])
def test_a_file_from_windows_is_read(coding):
    found = answer(decoded(f"root@oss01:~# zpool status -P\r\n{STATUS}".encode(coding)))
    assert [(s.slug, s.node) for s in found.situations] == [("disk-missing", "oss01")]


@pytest.mark.parametrize(
    "raw", [b"", b"From x\ncontent-type: text/plain; charset=none\n\n\xff=", b"\xff\xfe\x00", b"A: b\nContent-Type: multipart/mixed\n"]
)
def test_no_file_is_too_odd_to_be_decoded(raw):
    assert isinstance(decoded(raw), str)


@pytest.mark.parametrize("where", ["import-rewind/1-not-imported", "wwid-drift/2-booted-not-imported"])
def test_going_back_in_time_is_not_offered_by_a_listing_alone(where):
    """A pool that lacks a disk loses by it what it need not lose, and a top-level vdev of which no disk was found has no row in the listing."""
    [situation] = answer((step(where) / "zpool-import.txt").read_text()).situations
    assert "rewind-import" not in manuals(situation)

"""The files of one boot: a nonce that outlives the agent, and how far the journal had come."""

from __future__ import annotations

import os
import stat
import threading

from agents.orders.session import Session, in_memory


def test_it_outlives_the_agent_and_not_a_reboot(tmp_path):
    nonce = Session(str(tmp_path / "run"), "/home", "boot-1").nonce
    assert len(nonce) == 43
    assert Session(str(tmp_path / "run"), "/home", "boot-1").nonce == nonce
    assert Session(str(tmp_path / "run"), "/home", "boot-2").nonce != nonce


def test_nobody_else_reads_it(tmp_path):
    session = Session(str(tmp_path / "run"), "/home", "boot")
    assert session.nonce
    assert stat.S_IMODE((tmp_path / "run").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "run" / "nonce").stat().st_mode) == 0o600


def test_a_damaged_file_is_a_new_session(tmp_path):
    first = Session(str(tmp_path), "/home", "boot").nonce
    for damage in (b"", b"\xff\xfe", b"short boot\n", first.encode()):
        (tmp_path / "nonce").write_bytes(damage)
        assert len(Session(str(tmp_path), "/home", "boot").nonce) == 43


def test_a_renewed_one_counts_in_the_running_agent_too(tmp_path):
    running, person = (Session(str(tmp_path), "/home", "boot") for _ in range(2))
    before = running.nonce
    person.renew()
    assert running.nonce == person.nonce != before


def test_agents_that_start_together_agree(tmp_path):
    found = []
    threads = [threading.Thread(target=lambda: found.append(Session(str(tmp_path), "/home", "boot").nonce)) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 1
    assert os.listdir(tmp_path) == ["nonce"]


def test_each_folder_has_a_stamp_of_its_own(tmp_path):
    one, other = Session(str(tmp_path), "/a", "boot"), Session(str(tmp_path), "/b", "boot")
    one.write_stamp(("0123456789abcdef", 7))
    assert (one.read_stamp(), other.read_stamp()) == (("0123456789abcdef", 7), None)
    assert Session(str(tmp_path), "/a", "boot").read_stamp() == ("0123456789abcdef", 7)


def test_it_knows_what_lies_in_memory():
    mounts = (("/dev/sda", "/", "ext4"), ("tmpfs", "/run", "tmpfs"), ("/dev/sdb", "/run/disk", "xfs"))
    found = [in_memory(mounts, folder) for folder in ("/run/slotlight", "/run", "/run/disk/x", "/runner", "/var")]
    assert found == [True, True, False, False, False]
    assert not in_memory((), "/run")

"""The data folder: taken by one launcher, its secrets private, and a sentence for everything that is wrong with it."""

import os
import subprocess
import sys

import pytest

from launcher import datafolder
from launcher.datafolder import DataFolder, check_cluster
from launcher.say import Stop
from launcher.servers import Postgres, Servant, servant


def cluster(tmp_path, version="18", user=None) -> Postgres:
    data = tmp_path / "postgres"
    data.mkdir()
    user = user or Servant("me", os.geteuid(), os.getegid())
    if version:
        (data / "PG_VERSION").write_text(version + "\n")
    return Postgres(data, tmp_path, user, tmp_path)


def test_secrets_are_made_once_and_for_us_alone(tmp_path):
    first = DataFolder(tmp_path).secrets()
    assert DataFolder(tmp_path).secrets() == first
    assert (tmp_path / "secrets.json").stat().st_mode & 0o777 == 0o600
    assert len(set(first.values())) == 4


def test_a_second_launcher_is_told_who_has_the_folder(tmp_path):
    folder = DataFolder(tmp_path)
    assert not folder.is_running()
    folder.open()
    folder.write_state(pid="41", url="http://127.0.0.1:8000/")
    assert DataFolder(tmp_path).is_running()
    with pytest.raises(Stop, match=r"already runs from .* \(process 41, http://127.0.0.1:8000/\)"):
        DataFolder(tmp_path).open()


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(Stop, match="cannot be made: Not a directory. Give another with --data."):
        DataFolder(tmp_path / "file" / "var")


def test_damaged_state_is_named_and_not_overwritten(tmp_path):
    (tmp_path / "secrets.json").write_text("{half")
    with pytest.raises(Stop, match=r"secrets.json is damaged"):
        DataFolder(tmp_path).secrets()
    assert (tmp_path / "secrets.json").read_text() == "{half"


def test_a_stamp_holds_for_exactly_what_was_done(tmp_path):
    folder = DataFolder(tmp_path)
    folder.stamp("schema", "a")
    assert folder.stamped("schema", "a")
    assert not folder.stamped("schema", "b")


def test_there_may_be_no_cluster_yet(tmp_path):
    assert not check_cluster(Postgres(tmp_path / "none", tmp_path, servant(), tmp_path))


def test_a_cluster_of_another_release_is_not_touched(tmp_path):
    with pytest.raises(Stop, match="was made by PostgreSQL 16, and this is PostgreSQL 18. Dump it"):
        check_cluster(cluster(tmp_path, "16"))


def test_a_cluster_of_another_user_is_not_touched(tmp_path):
    with pytest.raises(Stop, match=r"belongs to user id \d+, and PostgreSQL would run as ann \(user id 4242\)"):
        check_cluster(cluster(tmp_path, user=Servant("ann", 4242, 4242)))


def test_a_folder_that_is_no_cluster_is_not_touched(tmp_path):
    with pytest.raises(Stop, match="it has no PG_VERSION. Move it away"):
        check_cluster(cluster(tmp_path, version=""))


def test_the_pid_file_of_a_dead_server_is_forgotten(tmp_path):
    """Even when another program has its number now, which PostgreSQL would take for itself."""
    postgres = cluster(tmp_path)
    (postgres.data / "postmaster.pid").write_text(f"{os.getpid()}\n{postgres.data}\n")
    assert check_cluster(postgres)
    assert not (postgres.data / "postmaster.pid").exists()


def test_a_server_of_a_killed_launcher_is_stopped_first(tmp_path, monkeypatch):
    postgres = cluster(tmp_path)
    # A stand-in that ends on SIGINT and takes its PID file away, as PostgreSQL does, and is called like it.
    code = "import os, signal, sys, time; signal.signal(2, lambda *_: (os.unlink(sys.argv[2]), sys.exit(3))); print(flush=True); time.sleep(60)"
    argv = [sys.executable, "-c", code, "postgres", str(postgres.data / "postmaster.pid")]
    stand_in = subprocess.Popen(argv, stdout=subprocess.PIPE)
    stand_in.stdout.readline()
    (postgres.data / "postmaster.pid").write_text(f"{stand_in.pid}\n")
    lines = []
    monkeypatch.setattr(datafolder, "write", lines.append)
    assert check_cluster(postgres)
    assert stand_in.wait(5)
    assert f"process {stand_in.pid}" in lines[0]

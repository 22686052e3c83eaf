"""The command line: enrol, policy, pending, version; each refusal is a sentence and not a traceback."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
import zipapp
from pathlib import Path

import pytest

import agents
from agents import VERSION
from agents.__main__ import main
from agents.host.host import LocalHost
from agents.orders.journal import Journal
from agents.tests import rig
from agents.trust import identity
from agents.trust.known_log import Log


@pytest.fixture
def stub():
    stub = rig.StubPortal()
    yield stub
    stub.close()


def enrol(stub, folder, token="good"):
    return main(["enrol", "--portal", stub.url, "--node", "oss01", "--token", token, "--dir", str(folder)])


def test_it_enrols_and_shows_the_fingerprint(stub, tmp_path, capsys):
    folder = tmp_path / "state"
    assert enrol(stub, folder) == 0
    mine = identity.load(str(folder))
    assert mine.key_id in capsys.readouterr().out
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "identity.json").stat().st_mode) == 0o600


def test_it_never_enrols_twice_by_itself(stub, tmp_path, capsys):
    assert enrol(stub, tmp_path / "state") == 0
    key = identity.load(str(tmp_path / "state")).key
    assert enrol(stub, tmp_path / "state") == 1
    assert "already holds the identity of oss01" in capsys.readouterr().err
    assert identity.load(str(tmp_path / "state")).key == key


def test_a_refused_token_leaves_no_identity(stub, tmp_path, capsys):
    assert enrol(stub, tmp_path / "state", "bad") == 1
    assert "refuses to enrol" in capsys.readouterr().err
    assert main(["run", "--dir", str(tmp_path / "state")]) == 1
    assert "Run `enrol`" in capsys.readouterr().err


def test_it_gives_no_key_to_a_portal_without_tls(tmp_path, capsys):
    assert main(["enrol", "--portal", "http://portal.example", "--node", "n", "--token", "t", "--dir", str(tmp_path / "s")]) == 1
    assert "https" in capsys.readouterr().err
    assert not (tmp_path / "s").exists()


def test_it_says_what_the_portal_may_do(tmp_path, capsys):
    path = tmp_path / "policy.json"
    main(["policy", "--policy", str(path)])
    path.write_text(json.dumps(rig.OPERATE))
    path.chmod(0o600)
    main(["policy", "--policy", str(path)])
    assert capsys.readouterr().out.splitlines() == [
        f"mode observe: there is no {path}.",
        f"mode operate: {path} says so.",
        "operations: zpool_replace",
        "pools: *",
        "scrubs: at any time",
    ]


def test_it_lists_what_is_not_finished(tmp_path, capsys):
    assert main(["pending", "--dir", str(tmp_path)]) == 1
    journal = Journal(str(tmp_path / "journal.sqlite"))
    journal.claim("o1", "d", "{}", "2026-11-21T03:00:00Z", "42", 1)
    journal.close()
    assert main(["pending", "--dir", str(tmp_path)]) == 0
    assert capsys.readouterr().out == "o1  CLAIMED  2026-11-21T03:00:00Z  {}\n"


@pytest.fixture
def home(tmp_path):
    return rig.agent_folder(tmp_path / "agent", "http://127.0.0.1:1")


def test_a_person_sees_and_ends_the_alarm_of_the_witness(home, capsys):
    ledger = rig.Ledger(rig.keys())
    ledger.bodies += [b"2", b"3"]
    log = Log(LocalHost(), str(home), rig.identity())
    assert main(["witness", "--dir", str(home)]) == 0
    log.hear(ledger.log(0))
    assert main(["witness", "--dir", str(home)]) == 0
    ledger.bodies.pop()
    log.hear(ledger.log(3))
    assert main(["witness", "--dir", str(home)]) == 1
    output = capsys.readouterr().out.splitlines()
    assert output[:2] == ["holds no checkpoint yet", "holds the checkpoint over 3 events"]
    assert "shrank" in output[2]
    assert main(["witness", "--dir", str(home), "--accept"]) == 0
    assert main(["witness", "--dir", str(home)]) == 0
    assert "checkpoint over 2 events" in capsys.readouterr().out


def journal(home, *words):
    return main(["journal", "--dir", str(home), "--run-dir", str(home / "run"), *words])


def test_a_person_sees_puts_aside_and_accepts_a_journal(home, capsys):
    assert journal(home) == 0
    assert "It is whole" in capsys.readouterr().out
    (home / "journal.sqlite").write_bytes(b"damage" * 1000)
    assert journal(home) == 1
    assert "cannot be opened" in capsys.readouterr().out
    assert journal(home, "--start-new") == 1
    assert "another one than was written last" in capsys.readouterr().out
    assert journal(home, "--accept") == 0
    assert journal(home) == 0
    assert journal(home, "--start-new") == 1
    assert "nothing was changed" in capsys.readouterr().err


def test_status_says_what_holds_the_agent_back_whatever_its_policy_says(home, capsys):
    kept = Journal(str(home / "journal.sqlite"))
    kept.hold("journal", "The journal was put back.", "at")
    kept.close()
    assert main(["status", "--dir", str(home), "--policy", str(home / "policy.json")]) == 1
    output = capsys.readouterr().out
    assert "HELD     The journal was put back." in output
    assert f"orders by the portal's key {rig.identity().portal_key_id}" in output
    (home / "journal.sqlite").write_bytes(b"damage" * 1000)
    assert main(["status", "--dir", str(home), "--policy", str(home / "policy.json")]) == 1
    assert "cannot be opened" in capsys.readouterr().out


def test_it_enrols_again_with_a_new_key(stub, tmp_path, capsys):
    folder = tmp_path / "state"
    assert enrol(stub, folder) == 0
    first = identity.load(str(folder))
    assert main(["enrol", "--portal", stub.url, "--node", "oss01", "--token", "good", "--dir", str(folder), "--again"]) == 0
    second = identity.load(str(folder))
    assert (second.key != first.key, second.journal, second.can_check) == (True, first.journal, True)
    assert "Restart the agent" in capsys.readouterr().out


def test_it_runs_as_a_zipapp(tmp_path):
    """The agent ships as one file, so nothing may read package files by path."""
    root, source = Path(agents.__file__).parent, tmp_path / "source"
    for path in root.rglob("*.py"):
        if "tests" not in path.parts:
            target = source / "agents" / path.relative_to(root)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
    zipapp.create_archive(source, tmp_path / "agent.pyz", main="agents.__main__:cli")
    ran = subprocess.run([sys.executable, "-I", str(tmp_path / "agent.pyz"), "version"], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (0, f"{VERSION}\n")
    ran = subprocess.run([sys.executable, "-I", str(tmp_path / "agent.pyz"), "once"], capture_output=True, text=True, check=False)
    assert ran.returncode in (0, 3), ran.stderr
    assert {"source", "key", "digest", "seconds"} <= set(json.loads(ran.stdout)[0])


def test_a_folder_that_the_file_system_refuses_is_a_sentence(home, capsys):
    (home / "agent.lock").mkdir()
    words = ["run", "--dir", str(home), "--run-dir", str(home / "run"), "--policy", str(home / "policy.json")]
    assert main(words) == 1
    assert f"{home}/agent.lock cannot be used: Is a directory. Look at its file system" in capsys.readouterr().err

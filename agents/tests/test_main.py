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
from agents import VERSION, identity
from agents.__main__ import main
from agents.journal import Journal
from agents.tests import rig


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
    ]


def test_it_lists_what_is_not_finished(tmp_path, capsys):
    assert main(["pending", "--dir", str(tmp_path)]) == 1
    journal = Journal(str(tmp_path / "journal.sqlite"))
    journal.claim("o1", "d", "{}", "2026-11-21T03:00:00Z", "42", 1)
    journal.close()
    assert main(["pending", "--dir", str(tmp_path)]) == 0
    assert capsys.readouterr().out == "o1  CLAIMED  2026-11-21T03:00:00Z  {}\n"


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

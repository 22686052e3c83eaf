"""80 columns, and nothing a terminal would obey."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from cli import packaging, show
from cli.problems import MOVED, NOT_ALLOWED, of_answer

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def _eighty(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")


def test_a_table_keeps_to_the_width_and_loses_no_word():
    words = "A member of ost_0 is lost, and its old name sdcw is another disk today; do not touch that one. " * 2
    text = show.table(("ID", "NODE", "WHAT"), [(1, "oss01", words), (22, "mds01", "short")], "none")
    assert max(map(len, text.splitlines())) <= 80
    assert " ".join(re.sub(r"\s+", " ", text).split()).count("do not touch that one.") == 2


def test_nothing_is_said_in_words():
    assert show.table(("ID",), [], "Nothing wrong is known.") == "Nothing wrong is known."


@pytest.mark.parametrize("evil", ["\x1b[2J", "\x1b]0;title\x07", "a\rb", "\x9b31m", "abc\u202edef"])
def test_a_node_cannot_speak_to_the_terminal(evil):
    output = show.table(("ID", "WHAT"), [(1, evil)], "") + show.text(evil) + show.pairs({"What": evil})
    assert not show.OBEYED.search(output.replace("\n", ""))


def test_each_problem_has_its_exit_code():
    assert of_answer(409, {"type": "urn:slotlight:run-moved", "detail": "x"}).code == MOVED
    assert of_answer(401, {}).code == NOT_ALLOWED
    assert of_answer(502, {}).text == "The portal answered 502."


@pytest.fixture
def one_file(tmp_path):
    file = tmp_path / packaging.NAME
    file.write_bytes(packaging.content(ROOT))
    return file


def run(file, *args, **environment):
    environ = {"HOME": str(file.parent), "PATH": os.environ["PATH"], "COLUMNS": "80"} | environment
    return subprocess.run(
        [sys.executable, "-I", "-S", str(file), *args], capture_output=True, text=True, env=environ, cwd=file.parent, check=False
    )


def test_the_one_file_needs_python_and_nothing_installed(one_file):
    assert run(one_file, "--help").returncode == 0
    done = run(one_file, "status")
    assert (done.returncode, "slotlight login" in done.stderr) == (2, True)


def test_the_one_file_is_the_same_from_the_same_source():
    assert packaging.content(ROOT) == packaging.content(ROOT)


def test_a_portal_that_is_not_there_is_said_so(one_file):
    done = run(one_file, "status", SLOTLIGHT_URL="http://127.0.0.1:9", SLOTLIGHT_TOKEN="x")
    assert done.returncode == 5
    assert "cannot be reached" in done.stderr
    done = run(one_file, "--json", "status", SLOTLIGHT_URL="http://127.0.0.1:9", SLOTLIGHT_TOKEN="x")
    assert "cannot be reached" in json.loads(done.stdout)["detail"]


def test_the_one_file_verifies_with_its_own_verifier(one_file, tmp_path):
    (tmp_path / "bad.zip").write_bytes(b"no zip")
    assert run(one_file, "ledger", "verify", "bad.zip").returncode in (1, 2)
    assert run(one_file, "ledger", "verify", "absent.zip").returncode == 2


def test_a_reader_that_has_read_enough_changes_nothing_of_the_exit_code():
    read, write = os.pipe()
    os.close(read)
    code = "from cli.show import put; put('much'); raise SystemExit(3)"
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, stdout=write, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    os.close(write)
    assert (ran.returncode, ran.stderr) == (3, "")

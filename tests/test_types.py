"""mypy, strict, finds nothing in any room; ruff finds nothing."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def test_mypy_finds_nothing():
    done = subprocess.run([sys.executable, "-m", "mypy"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


FORGETFUL = """
from workflows.engine.core import Params, Verdict, ok, refuse, unknown
from workflows.facts import FleetFacts, known
from workflows.guards.subject import the_pool

def the_pool_has_vdevs(facts: FleetFacts, params: Params) -> Verdict:
    pool = the_pool(facts, params)
    if not known(pool):
        return unknown(pool.reason)
    {}
    return ok("It has.") if len(pool.tops) else refuse("It has none.")
"""


@pytest.mark.parametrize(
    ("asked", "code"),
    [("pass", 1), ("if not known(pool.tops):\n        return unknown(pool.tops.reason)", 0)],
    ids=["forgotten", "asked"],
)
def test_a_guard_that_forgets_the_unknown_case_is_a_type_error(tmp_path, asked, code):
    guard = tmp_path / "guard.py"
    guard.write_text(FORGETFUL.format(asked))
    done = subprocess.run([sys.executable, "-m", "mypy", str(guard)], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    assert ("guard.py" in done.stdout) == bool(code), done.stdout


@pytest.mark.parametrize("words", [("check",), ("format", "--check")])
def test_ruff_finds_nothing(words):
    done = subprocess.run([sys.executable, "-m", "ruff", *words, "."], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout

"""mypy finds no more in any room (`workflows/facts`) than is written in `type_errors.json`, and the numbers there only fall; ruff finds nothing."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
KEPT = Path(__file__).with_name("type_errors.json")


@pytest.fixture(scope="module")
def errors() -> dict[str, list[str]]:
    """What mypy reports, by room."""
    done = subprocess.run([sys.executable, "-m", "mypy", "--no-error-summary"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr or done.stdout
    found: dict[str, list[str]] = {}
    for line in done.stdout.splitlines():
        if ": error: " in line:
            found.setdefault(room(line.partition(":")[0]), []).append(line)
    return found


def room(path: str) -> str:
    """The first two folders of a file; the one where it has only one."""
    return "/".join(path.split("/")[:-1][:2])


def test_no_room_has_more_type_errors_than_before(errors):
    allowed = json.loads(KEPT.read_text())
    more = {folder: lines for folder, lines in errors.items() if len(lines) > allowed.get(folder, 0)}
    assert not more, "\n".join(line for lines in more.values() for line in lines)


def test_what_was_mended_is_not_allowed_again(errors):
    """When this is red the numbers in `type_errors.json` are too high: write the new ones there."""
    assert json.loads(KEPT.read_text()) == Counter({folder: len(lines) for folder, lines in sorted(errors.items())})


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

"""mypy finds no more in any folder than is written in `type_errors.json`, and the numbers there only fall; ruff finds nothing."""

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
    """What mypy says, by folder."""
    done = subprocess.run([sys.executable, "-m", "mypy", "--no-error-summary"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr or done.stdout
    found: dict[str, list[str]] = {}
    for line in done.stdout.splitlines():
        if ": error: " in line:
            found.setdefault(line.partition("/")[0], []).append(line)
    return found


def test_no_folder_has_more_type_errors_than_before(errors):
    allowed = json.loads(KEPT.read_text())
    more = {folder: lines for folder, lines in errors.items() if len(lines) > allowed.get(folder, 0)}
    assert not more, "\n".join(line for lines in more.values() for line in lines)


def test_what_was_mended_is_not_allowed_again(errors):
    """When this is red the numbers in `type_errors.json` are too high: write the new ones there."""
    assert json.loads(KEPT.read_text()) == Counter({folder: len(lines) for folder, lines in sorted(errors.items())})


@pytest.mark.parametrize("words", [("check",), ("format", "--check")])
def test_ruff_finds_nothing(words):
    done = subprocess.run([sys.executable, "-m", "ruff", *words, "."], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout

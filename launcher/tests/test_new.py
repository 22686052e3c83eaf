"""`./run new`: what it writes fits the rules of the house, can be listed at once, and fails a test that says what is left to fill in."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

from launcher.bootstrap import ROOT
from launcher.new import KINDS, new, places
from launcher.say import Stop

NAMES = {"runbook": "shelf-swap", "situation": "shelf-hot", "collector": "shelf_heat", "operation": "shelf_fan"}
LEAVE = shutil.ignore_patterns("captures", "cases", "known_cases", "__pycache__")


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """The lower floors, with one new thing of each kind."""
    root = tmp_path_factory.mktemp("new")
    for folder in ("agents", "twin", "workflows"):
        shutil.copytree(ROOT / folder, root / folder, ignore=LEAVE)
    shutil.copy(ROOT / "pyproject.toml", root)
    for kind, name in NAMES.items():
        new([kind, name], root)
    return root


def written(kind: str) -> list[str]:
    return [where.format(module=NAMES[kind].replace("-", "_")) for where in KINDS[kind].files.values()]


def python(copy, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *words], cwd=copy, capture_output=True, text=True, check=False, env={"PYTHONPATH": str(copy)})


def test_what_is_written_follows_the_style(copy):
    files = [file for kind in KINDS for file in written(kind)]
    for how in (("check",), ("format", "--check")):
        done = python(copy, "-m", "ruff", *how, *files)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_written_calls_what_is_there(kind, copy):
    """The type checker finds a function that was renamed or takes more arguments since."""
    (copy / "mypy.ini").write_text("[mypy]\nstrict = true\nfollow_imports = silent\nignore_missing_imports = true\n")
    files = [file for file in written(kind) if "/test" not in file]
    done = python(copy, "-m", "mypy", "--config-file=mypy.ini", *files)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("kind", KINDS)
def test_until_it_is_filled_in_its_test_fails_and_says_what_is_left(kind, copy):
    files = written(kind)
    done = python(copy, "-m", "pytest", "-q", "-p", "no:django", "-p", "no:cacheprovider", files[-1])
    assert done.returncode == 1, done.stdout + done.stderr
    assert "1 failed, 1 passed" in done.stdout
    for place in places(copy, [file for file in files if "/test" not in file]):
        assert place.split(": ")[1] in done.stdout


@pytest.mark.parametrize(
    ("kind", "listed"),
    [
        (
            "runbook",
            "from workflows.engine.lint import problems; from agents.operations import OPERATIONS; assert not problems({}, OPERATIONS)",
        ),
        ("situation", "from workflows.facts import FleetFacts; assert {}.detect(FleetFacts({{}})) == ()"),
        (
            "collector",
            "from agents.collectors.base import Unparsed; assert isinstance({0}.parse('x'), Unparsed) and {0}.NAME == 'shelf_heat'",
        ),
        ("operation", "assert {0}.check({{'pool': 'p', 'pool_guid': '1'}}) == '' and {0}.NAME == 'shelf_fan'"),
    ],
)
def test_it_can_be_listed_at_once(kind, listed, copy):
    module = NAMES[kind].replace("-", "_")
    what = f"{module}.RUNBOOK" if kind == "runbook" else module
    done = python(copy, "-c", f"from {KINDS[kind].folder.replace('/', '.')} import {module}; {listed.format(what)}")
    assert done.returncode == 0, done.stderr


def test_it_says_what_to_fill_in_and_which_line_to_add(copy, capsys):
    new(["runbook", "shelf-cold"], copy)
    output = capsys.readouterr().out
    assert "workflows/runbooks/shelf_cold/__init__.py:1: what it does, in one sentence." in output
    assert "add shelf_cold to workflows/runbooks/__init__.py, in its imports and its list" in output


@pytest.mark.parametrize(
    ("args", "why"),
    [
        ([], "Say what and its name: ./run new runbook|situation|collector|operation NAME"),
        (["guard", "x"], "Say what and its name"),
        (["runbook", "Shelf"], "'Shelf' is no name for a runbook: small letters and digits, words joined by '-', like-this for example."),
        (["runbook", "../x"], "is no name for a runbook"),
        (["runbook", "shelf_swap"], "is no name for a runbook"),
        (["operation", "shelf-swap"], "words joined by '_', like_this for example."),
        (["runbook", "x" * 33], "has 33 letters; 32 are the most"),
        (["situation", "import"], "is a word of Python"),
        (["runbook", "spare-return"], "spare-return is taken: workflows/runbooks/spare_return is there. Nothing was written."),
        (["runbook", "scrub-due"], "scrub-due is taken: workflows/runbooks/scrub_due is there. Nothing was written."),
        (["collector", "zpool_status"], "zpool_status is taken: agents/collectors/zpool_status.py is there. Nothing was written."),
    ],
)
def test_a_bad_name_or_one_that_is_taken_is_refused_in_clear_words(args, why, copy):
    before = sorted(copy.rglob("*"))
    with pytest.raises(Stop) as stop:
        new(args, copy)
    assert why in str(stop.value)
    assert sorted(copy.rglob("*")) == before

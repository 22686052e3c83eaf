"""`./run test --quick`: what it names is there, and it needs no server."""

from __future__ import annotations

import sys

import pytest

from launcher import commands, quick
from launcher.bootstrap import ROOT


@pytest.mark.parametrize("path", quick.PATHS)
def test_every_path_of_the_quick_tests_is_there(path):
    file, _, test = path.partition("::")
    assert (ROOT / file).exists()
    assert f"def {test}" in (ROOT / file).read_text() if test else True


def test_no_quick_test_is_one_of_the_portal():
    assert not [path for path in quick.PATHS if path.startswith(("app/", "tests/browser", "tests/faults", "lab/"))]


def test_what_is_given_besides_goes_to_pytest(monkeypatch):
    given = []
    monkeypatch.setattr(commands.os, "execve", lambda program, argv, environment: given.append(argv))
    monkeypatch.setattr(commands.os, "chdir", lambda path: None)
    commands.test(["--quick", "-x"])
    assert given[0] == [sys.executable, "-m", "pytest", *quick.ARGUMENTS, "-x"]


def test_bytecode_is_kept_for_the_tests_also_where_none_may_be_written_beside_the_sources():
    """Else every process of a run compiles everything anew."""
    assert commands._with_bytecode({"A": "1"}) == {"A": "1"}
    kept = {"A": "1", "PYTHONPYCACHEPREFIX": str(ROOT / "var" / "pycache")}
    assert commands._with_bytecode({"A": "1", "PYTHONDONTWRITEBYTECODE": "1"}) == kept
    elsewhere = {"PYTHONPYCACHEPREFIX": "/srv/pycache"}
    assert commands._with_bytecode({**elsewhere, "PYTHONDONTWRITEBYTECODE": "1"}) == elsewhere

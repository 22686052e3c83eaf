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
    monkeypatch.setattr(commands.os, "execv", lambda program, argv: given.append(argv))
    monkeypatch.setattr(commands.os, "chdir", lambda path: None)
    commands.test(["--quick", "-x"])
    assert given[0] == [sys.executable, "-m", "pytest", *quick.ARGUMENTS, "-x"]

"""What a test waits for before it judges a node."""

import ast
import importlib
from pathlib import Path

import pytest

from lab import stage

ROOT = Path(__file__).resolve().parents[2]
SLOW = "smart/sdb was asked at 2026-11-25T12:00:00Z and has not answered; second try 2026-11-25T12:01:00Z."


class Recording(stage.Stage):
    """A stage whose portal says one thing after the other."""

    def __init__(self, *args):
        self.calls = list(args)

    def facts(self):
        return self.calls.pop(0) if self.calls else None


@pytest.fixture(autouse=True)
def _at_once(monkeypatch):
    monkeypatch.setattr(stage, "ASK_AGAIN_SECONDS", 0)


def results(*asked, **failures):
    return {"asked": list(asked), "failures": failures}


def test_a_question_that_is_open_is_no_failure_yet():
    done = results("lsscsi", "smart")
    assert (
        Recording(results("lsscsi"), results("lsscsi", "smart", smart=SLOW), results("lsscsi", "smart", smart=SLOW), done).answered()
        is done
    )


def test_a_source_that_has_only_just_spoken_is_waited_for():
    last = results("lsscsi", "smart")
    assert Recording(results("lsscsi"), results("lsscsi", "smart"), last).answered() is last


def test_what_failed_is_not_waited_away():
    failed = results("smart", smart="`smartctl` is not there.")
    assert Recording(results("smart"), failed).answered() is failed


def test_the_agent_says_it_in_these_words():
    text = (ROOT / "agents/reporting/schedule.py").read_text()
    assert all(words in text for words in stage.OPEN)


@pytest.mark.parametrize("script", [stage.FACTS, stage.TEXTS])
def test_what_the_scripts_for_the_portal_import_is_there(script):
    for imported in (line for line in ast.walk(ast.parse(script)) if isinstance(line, ast.ImportFrom)):
        module = importlib.import_module(imported.module)
        assert [name.name for name in imported.names if not hasattr(module, name.name)] == []

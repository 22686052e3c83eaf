"""The local policy: whatever is not understood is a no."""

from __future__ import annotations

import json
import os

import pytest

from agents import policy

OPERATE = {"mode": "operate", "operations": ["zpool_replace"], "pools": ["42"]}


@pytest.fixture
def write(tmp_path):
    def write(value, mode=0o644):
        path = tmp_path / "policy.json"
        path.write_text(value if isinstance(value, str) else json.dumps(value))
        os.chmod(path, mode)
        return str(path)

    return write


def ask(path, name="zpool_replace", effect="at_most_once", pool="42"):
    return policy.load(path).refusal(name, effect, {"pool_guid": pool})


def test_it_lets_through_what_it_lists(write):
    assert ask(write(OPERATE)) == ""
    assert ask(write({**OPERATE, "pools": ["*"]}), pool="43") == ""


def test_it_refuses_what_it_does_not_list(write):
    path = write(OPERATE)
    assert "does not list zpool_other" in ask(path, name="zpool_other")
    assert "does not list the pool 43" in ask(path, pool="43")
    assert "observed" in ask(write({**OPERATE, "mode": "observe"}))


def test_a_missing_file_means_observe(tmp_path):
    assert "there is no" in ask(str(tmp_path / "none.json"))


def test_it_always_lets_look(tmp_path):
    assert ask(str(tmp_path / "none.json"), "look", "pure") == ""


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[" * 9_000,
        "[]",
        '{"mode": "Operate"}',
        '{"mode": "operate", "operations": "zpool_replace", "pools": ["*"]}',
        '{"mode": "operate", "operations": ["zpool_replace"], "pools": [42]}',
        '{"mode": "operate", "operations": ["zpool_replace"], "pools": ["*"], "force": true}',
    ],
)
def test_it_observes_when_it_does_not_understand(write, text):
    assert ask(write(text)) != ""


@pytest.mark.parametrize("mode", [0o666, 0o664, 0o646])
def test_it_ignores_a_file_that_others_can_write(write, mode):
    assert "written by others" in ask(write(OPERATE, mode))

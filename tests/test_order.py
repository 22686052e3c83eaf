"""The order in which `./run test` hands out the tests."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

from conftest import pytest_xdist_make_scheduler
from tests.order import BROWSER, OF_STORIES, rank, unit

ROOT = Path(__file__).resolve().parent.parent

COLLECTED = (
    "agents/tests/test_a.py::test_1[x::y]",
    "workflows/tests/test_b.py::test_2",
    "tests/test_c.py::test_3",
    "tests/browser/test_d.py::test_4",
)


def test_the_browser_comes_first_and_short_tests_last():
    assert sorted(COLLECTED, key=rank) == list(reversed(COLLECTED))


def test_a_file_stays_on_one_core_and_so_does_the_browser():
    assert unit(COLLECTED[0]) == "agents/tests/test_a.py"
    assert unit(COLLECTED[3]) == unit("tests/browser/test_e.py::test_5") == BROWSER


def test_the_files_that_walk_every_story_stay_on_one_core():
    assert [path for path in OF_STORIES if not (ROOT / path).is_file()] == []
    assert {unit(f"{path}::test_6") for path in OF_STORIES} == {OF_STORIES[0]}


def test_other_ways_to_share_the_tests_are_left_alone():
    assert pytest_xdist_make_scheduler(SimpleNamespace(getvalue={"dist": "load"}.get), None) is None

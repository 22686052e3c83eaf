"""The order in which `./run test` hands out the tests."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

from conftest import pytest_xdist_make_scheduler
from tests.order import BROWSER, OF_STORIES, LongestFirst, rank, unit

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


class Worker:
    """As the controller sees one: it takes the numbers of tests and is told when there are no more."""

    def __init__(self, name: str) -> None:
        self.gateway, self.shutting_down, self.given = SimpleNamespace(id=name), False, []

    def send_runtest_some(self, numbers: list[int]) -> None:
        self.given += numbers

    def shutdown(self) -> None:
        self.shutting_down = True


TESTS = [f"{file}.py::test_{number}" for file in "abcde" for number in range(4)]


def scheduler(*workers: Worker) -> LongestFirst:
    options = {"tx": ["popen"] * len(workers)}
    config = SimpleNamespace(option=SimpleNamespace(debug=False), getvalue=options.get, getoption=lambda name: None)
    silent = SimpleNamespace(loadscopesched=SimpleNamespace(loadfilesched=lambda *words: None), loadfilesched=lambda *words: None)
    made = LongestFirst(config, silent)
    made.numnodes = len(workers)
    for worker in workers:
        made.add_node(worker)
    for worker in workers:
        made.add_node_collection(worker, list(TESTS))
    made.schedule()
    return made


def test_every_test_is_given_once_whole_files_in_order_and_then_the_workers_end():
    workers = one, other = Worker("one"), Worker("other")
    shared, done = scheduler(*workers), []
    while len(done) < len(TESTS):
        worker = min((w for w in workers if set(w.given) - set(done)), key=lambda w: len(set(w.given) & set(done)))
        number = next(number for number in worker.given if number not in done)
        done.append(number)
        shared.mark_test_complete(worker, number)
    assert sorted(one.given + other.given) == list(range(len(TESTS)))
    for worker in workers:
        files = [TESTS[number].partition("::")[0] for number in worker.given]
        assert files == sorted(files)
        assert worker.shutting_down
    assert (shared.tests_finished, shared.has_pending) == (True, False)


def test_what_a_dead_worker_had_not_done_is_done_by_another():
    one, other = Worker("one"), Worker("other")
    shared = scheduler(one, other)
    shared.mark_test_complete(one, one.given[0])
    assert shared.remove_node(one) == TESTS[one.given[1]]
    done = 0
    while done < len(other.given):
        shared.mark_test_complete(other, other.given[done])
        done += 1
    assert sorted([*other.given, one.given[0]]) == list(range(len(TESTS)))
    assert not shared.has_pending

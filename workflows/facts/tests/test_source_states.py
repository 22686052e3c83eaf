"""What became of each source: answered, failed, late after three missed times of asking, or not watched."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agents.collectors import COLLECTORS
from workflows.facts.read.source_states import late_after_seconds, source_states
from workflows.tests.incident import NODE

ASKED = {source: f"{source:0>64}"[:64] for source in COLLECTORS}
QUIET = replace(NODE, digests=ASKED, failures={}, absent={}, left_asleep=frozenset(), ages=dict.fromkeys(COLLECTORS, 1.0))


def states(node) -> dict[str, str]:
    return {one.place: one.state for one in source_states(node)}


def test_every_source_that_was_asked_in_time_has_answered():
    assert set(states(QUIET).values()) == {"answered"}


@pytest.mark.parametrize("source", COLLECTORS)
def test_it_is_late_after_three_missed_times_and_not_before(source):
    every = COLLECTORS[source].EVERY_SECONDS
    for seconds, state in ((3 * every, "answered"), (late_after_seconds(source), "answered"), (late_after_seconds(source) + 1, "late")):
        assert states(replace(QUIET, ages={source: seconds}))[source] == state
    assert late_after_seconds(source) >= 3 * every


def test_a_paste_has_no_clock_and_so_nothing_late():
    assert "late" not in states(replace(QUIET, ages=NODE.ages if not isinstance(NODE.ages, dict) else {})).values()


def test_what_failed_is_told_by_itself_for_each_disk():
    node = replace(QUIET, digests={"smart/sda": "1", "smart/sdb": "2"}, failures={"smart/sdb": "smartctl timed out"})
    assert {place: state for place, state in states(node).items() if place.startswith("smart")} == {
        "smart/sdb": "failed",
        "smart": "answered",
    }


def test_no_tool_and_no_right_are_not_watched():
    node = replace(
        QUIET,
        digests={"smart/sda": "1", "kernel_log": "2"},
        absent={"smart/sda": "smartctl is not installed"},
        failures={"kernel_log": "dmesg exited 1: dmesg: read kernel buffer failed: Operation not permitted"},
    )
    found = states(node)
    assert (found["smart"], found["kernel_log"], found["multipath"]) == ("not watched", "not watched", "not watched")


def test_a_disk_that_sleeps_has_neither_failed_nor_is_it_unwatched():
    node = replace(QUIET, digests={"smart/sda": "1"}, left_asleep=frozenset({"smart/sda"}))
    assert states(node)["smart"] == "answered"

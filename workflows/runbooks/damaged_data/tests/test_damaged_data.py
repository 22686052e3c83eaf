"""What damaged-data does and refuses, beyond what is asked of every runbook."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from workflows.engine.core import warnings
from workflows.runbooks.damaged_data.tests.stories import FIRST, OF_ONE_LEFT
from workflows.situations import data_errors
from workflows.tests.walks import Stuck, Walk, stages_of

FOLDER = Path(__file__).resolve().parents[1]


def test_nothing_is_left_to_fill_in():
    marked = [path.name for path in FOLDER.rglob("*.py") if "FILL" + " IN" in path.read_text()]
    assert not marked, marked


@pytest.fixture(scope="module")
def stages():
    return stages_of(FIRST)


@pytest.fixture(scope="module")
def of_one_left():
    return stages_of(OF_ONE_LEFT)


def test_one_scrub_is_enough_for_what_was_restored_before(stages):
    walk = stages.end
    assert walk.commands() == [["zpool", "scrub", "ost_0"]]
    assert walk.node.pool("ost_0").error_log == []


def test_what_the_first_scrub_left_is_scrubbed_once_more(of_one_left):
    assert of_one_left.end.commands() == [["zpool", "scrub", "ost_0"]] * 2


def test_what_is_still_damaged_after_two_scrubs_refuses_the_end_and_is_named():
    walk = Walk(replace(OF_ONE_LEFT, hands={}))
    with pytest.raises(Stuck, match="still lists 1 file: a scrub found them damaged now"):
        walk.to_the_end()
    assert walk.state.step == "verify"


def test_what_brings_each_kind_back_is_shown_before_the_check(stages):
    walk = stages.at("check")
    shown = warnings(walk.step, walk.facts(), walk.state.params)
    assert [line.split(":")[0] for line in shown] == ["1 file", "1 file of a snapshot", "1 object without a name"]
    assert "/ost_0/data/run 7.h5" in shown[0]
    assert "zfs receive -c" in shown[1]


def member_away(node):
    leaf = node.pool("ost_0").leaves()[0]
    leaf.state, leaf.aux = "UNAVAIL", "open_failed"


def suspended(node):
    node.pool("ost_0").suspended = "io"


@pytest.mark.parametrize(("change", "why"), [(member_away, "do not serve"), (suspended, "suspended")])
def test_while_data_may_only_be_out_of_reach_nothing_is_begun(stages, change, why):
    walk = stages.at("check")
    with walk.changing() as node:
        change(node)
    with pytest.raises(Stuck, match=why):
        walk.go()
    assert walk.commands() == []


def test_its_situation_offers_it(stages):
    (found,) = data_errors.detect(stages.at("check").facts())
    assert [answer.runbook for answer in found.answers] == ["damaged-data", "destroy-damaged-snapshot"]
    assert "3 places" in found.title

"""What begin-resilver does and refuses, beyond what is asked of every runbook."""

from __future__ import annotations

import pytest

from twin import members
from twin.model import Scan
from workflows.engine.core import Verdict
from workflows.runbooks.begin_resilver.guards import nothing_misses_data
from workflows.runbooks.begin_resilver.tests.stories import STORIES
from workflows.tests.stories_of_slowness import NOW
from workflows.tests.walks import Stages, Stuck, stages_of

FIRST, ONLY_THE_END, CANCELLED = (story.title for story in STORIES)
RESILVER = ["zpool", "resilver", "ost_0"]


@pytest.fixture(scope="module")
def stages():
    def of(title: str) -> Stages:
        return stages_of(next(story for story in STORIES if story.title == title))

    return of


@pytest.mark.parametrize("title", [FIRST, ONLY_THE_END])
def test_the_replacement_ends(title, stages):
    walk = stages(title).end
    assert walk.commands() == [RESILVER]
    assert not any(vdev.type == "replacing" for vdev in walk.node.pool("ost_0").walk())


def test_where_zfs_begins_none_that_is_the_answer(stages):
    """By its own record nothing is missing, and the cancelled one stays the last scan."""
    walk = stages(CANCELLED).end
    assert (walk.commands(), walk.node.pool("ost_0").scan.state) == ([RESILVER], "canceled")
    assert "ZFS was asked and began no resilver" in nothing_misses_data(walk.facts(), walk.state.params).reason
    assert nothing_misses_data(walk.facts(), {**walk.state.params, "none_began": ""}).outcome == "refuse"


def scanning(function):
    def change(node):
        node.pool("ost_0").scan = Scan(function, "running", NOW, 1e6, 1000, 0)

    return change


def suspended(node):
    node.pool("ost_0").suspended = "io"


def without_the_feature(node):
    node.pool("ost_0").defers = False


def nothing_left(node):
    new = node.pool("ost_0").tops[0].children[2].children[-1]
    members.change(node, "detach", ("ost_0", str(new.guid)), NOW)
    node.pool("ost_0").scan = Scan("scrub", "finished", NOW - 86400.0, 60.0, 1000, 0)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (scanning("scrub"), "A scrub of ost_0 is running. Wait until it ends."),
        (scanning("resilver"), "A resilver of ost_0 is running. Wait until it ends."),
        (suspended, "ost_0 is suspended"),
        (without_the_feature, "A scrub fills what is missing: `zpool scrub ost_0`"),
    ],
)
@pytest.mark.parametrize("step", ["check", "plan-resilver", "resilver"])
def test_it_refuses(change, expected, step, stages):
    walk = stages(FIRST).at(step)
    with walk.changing() as node:
        change(node)
    assert any(expected in why for why in walk.why_not()), walk.why_not()
    assert walk.commands() == []


def test_where_nothing_is_missing_it_is_not_begun(stages):
    walk = stages(FIRST).at("check")
    with walk.changing() as node:
        nothing_left(node)
    assert any("End this run; to read all that it holds, scrub it." in why for why in walk.why_not()), walk.why_not()


@pytest.mark.parametrize("change", [scanning("scrub"), without_the_feature])
def test_the_node_asks_once_more(change, stages):
    walk = stages(FIRST).at("resilver")
    facts = walk.facts()
    with walk.changing() as node:
        change(node)
    walk.facts = lambda: facts
    with pytest.raises(Stuck, match="pool"):
        walk.go()
    assert walk.commands() == []


def alarm(walk) -> Verdict:
    return walk.step.alarm(walk.facts(), walk.state.params)


def test_a_new_disk_that_is_lost_meanwhile_is_an_alarm_that_leads_on(stages):
    walk = stages(FIRST).at("filled")
    assert alarm(walk).outcome == "pass"
    with walk.changing() as node:
        node.pool("ost_0").tops[0].children[2].children[1].state = "REMOVED"
    assert alarm(walk).outcome == "refuse"
    assert "finish-replacement takes it out" in alarm(walk).reason


def test_a_resilver_with_errors_is_an_alarm_and_fills_nothing(stages):
    walk = stages(FIRST).at("filled")
    with walk.changing() as node:
        node.pool("ost_0").scan.errors = 3
        node.pool("ost_0").scan.state = "finished"
    assert "counts 3 errors" in alarm(walk).reason
    assert nothing_misses_data(walk.facts(), walk.state.params).outcome == "refuse"

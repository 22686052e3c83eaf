"""What stop-scrub does and refuses: a scrub alone, and never a resilver or an error scrub."""

from __future__ import annotations

import pytest

from twin.model import Scan
from workflows.analysis import manual_start
from workflows.facts import ScanFacts
from workflows.runbooks.stop_scrub import rehearsal
from workflows.runbooks.stop_scrub.guards import a_scrub_runs_or_is_paused
from workflows.runbooks.stop_scrub.tests.stories import FIRST, OF_A_RUNNING, STORIES, story
from workflows.situations import detect_all
from workflows.tests.bends import pool as with_pool
from workflows.tests.walks import Stages, Stuck, Walk, stages_of


@pytest.fixture(scope="module")
def stages():
    def of(title: str) -> Stages:
        return stages_of(next(one for one in STORIES if one.title == title))

    return of


@pytest.mark.parametrize("title", [FIRST.title, OF_A_RUNNING.title])
def test_it_is_stopped_once_and_what_is_lost_stands_in_the_plan(title, stages):
    walk = stages(title).end
    assert walk.commands() == [["zpool", "scrub", "-s", "ost_0"]]
    given_up = stages(title).at("approve-stop").state.plan["given_up"]
    assert "the next scrub of ost_0 begins anew" in given_up
    assert "Keep the list first" in given_up
    assert walk.node.pool("ost_0").scan.state == "canceled"
    assert "scrub-paused" not in [one.slug for one in detect_all(walk.facts())]


def a_resilver(node):
    node.pool("ost_0").scan = Scan("resilver", "running", 0.0, 1e12, 10**9, 0)


def ended(node):
    node.pool("ost_0").scan.state = "canceled"


@pytest.mark.parametrize("step", ["check", "plan-stop", "stop"])
@pytest.mark.parametrize(("change", "words"), [(a_resilver, "is never stopped here"), (ended, "there is none to stop")])
def test_it_refuses(change, words, step, stages):
    walk = stages(FIRST.title).at(step)
    with walk.changing() as node:
        change(node)
    assert any(words in why for why in walk.why_not()), walk.why_not()
    assert walk.commands() == []


@pytest.mark.parametrize("change", [a_resilver, ended])
def test_the_node_refuses_what_changed_after_the_portal_asked(change, stages):
    walk = stages(FIRST.title).at("stop")
    facts = walk.facts()
    with walk.changing() as node:
        change(node)
    walk.facts = lambda: facts
    with pytest.raises(Stuck, match=r"pool\.scan"):
        walk.go()
    assert walk.commands() == []


def test_an_error_scrub_is_none(stages):
    """`zpool scrub -s` would end that one and leave the other paused."""
    walk = stages(FIRST.title).at("check")
    scan = ScanFacts("scrub", "paused", "error scrub paused since Sat Nov 21 08:01:00 2026")
    facts = with_pool(scans=(scan,))(walk.facts(), walk.state.params)
    assert a_scrub_runs_or_is_paused(facts, walk.state.params).outcome == "refuse"


def test_one_that_is_paused_is_answered_by_its_situation_after_going_on():
    facts = Walk(FIRST).facts()
    [found] = [one for one in detect_all(facts) if one.slug == "scrub-paused"]
    assert [answer.runbook for answer in found.answers] == ["scrub-due", "stop-scrub"]


@pytest.mark.parametrize(("node", "offered"), [(rehearsal.running, 1), (rehearsal.paused, 1)])
def test_one_can_be_stopped_from_the_page_of_its_pool(node, offered):
    facts = Walk(story("", node)).facts()
    found = [one for one in manual_start.of_pool(facts, "oss01", "ost_0") if one.runbook.slug == "stop-scrub"]
    assert [one.against for one in found] == [()] * offered

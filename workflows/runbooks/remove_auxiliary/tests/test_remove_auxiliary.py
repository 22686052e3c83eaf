"""What remove-auxiliary does and refuses: what goes, what never goes, and what is given up."""

from __future__ import annotations

import pytest

from workflows.analysis import manual_start
from workflows.runbooks.remove_auxiliary import rehearsal
from workflows.runbooks.remove_auxiliary.guards import it_holds_no_data
from workflows.runbooks.remove_auxiliary.tests.stories import STORIES, Story, story
from workflows.situations import detect_all
from workflows.tests.walks import Stages, Stuck, Walk, stages_of

LOG, LOG_MIRROR, CACHE, SPARE = (one.title for one in STORIES)


@pytest.fixture(scope="module")
def stages():
    def of(title: str) -> Stages:
        return stages_of(next(one for one in STORIES if one.title == title))

    return of


@pytest.mark.parametrize("title", [LOG, LOG_MIRROR, CACHE, SPARE])
def test_it_is_out_and_the_pool_is_whole(title, stages):
    walk = stages(title).end
    assert walk.commands() == [["zpool", "remove", "ost_0", walk.state.params["vdev_guid"]]]
    pool = walk.node.pool("ost_0")
    assert (len(pool.tops), pool.caches, pool.spares) == (1, [], [])
    assert not [one.slug for one in detect_all(walk.facts()) if one.slug in ("log-device-lost", "cache-device-lost", "spare-unavailable")]


@pytest.mark.parametrize(
    ("title", "words"), [(LOG, "written to the data disks first"), (CACHE, "It held copies only"), (SPARE, "does not stand in")]
)
def test_what_is_given_up_stands_in_the_plan(title, words, stages):
    walk = stages(title).at("confirm")
    assert words in walk.state.plan["given_up"]
    assert walk.step.phrase(walk.state.params, walk.state.plan) == f"{walk.state.params['vdev_guid'][-6:]} ost_0"


def suspended(node):
    node.pool("ost_0").suspended = "io"


def in_use(node):
    node.pool("ost_0").spares[0].state = "INUSE"


def gone(node):
    node.pool("ost_0").spares.clear()


REFUSALS = [(LOG, suspended, "ost_0 is suspended"), (SPARE, in_use, "is in use"), (SPARE, gone, "has no log, cache device or spare")]


@pytest.mark.parametrize(("title", "change", "expected"), REFUSALS)
@pytest.mark.parametrize("step", ["check", "plan-remove", "remove"])
def test_it_refuses(title, change, expected, step, stages):
    walk = stages(title).at(step)
    with walk.changing() as node:
        change(node)
    assert any(expected in why for why in walk.why_not()), walk.why_not()
    assert walk.commands() == []


@pytest.mark.parametrize(
    ("title", "change", "fact"), [(SPARE, in_use, "target.role"), (SPARE, gone, "target"), (LOG, suspended, "pool.state")]
)
def test_the_node_refuses_what_changed_after_the_portal_asked(title, change, fact, stages):
    walk = stages(title).at("remove")
    facts = walk.facts()
    with walk.changing() as node:
        change(node)
    walk.facts = lambda: facts
    with pytest.raises(Stuck, match=fact):
        walk.go()
    assert walk.commands() == []


def test_a_member_that_holds_data_is_never_removed(stages):
    walk = stages(LOG).at("check")
    raidz = walk.node.pool("ost_0").tops[0]
    for guid, words in ((raidz.guid, "which holds data of ost_0"), (raidz.children[0].guid, "is a part of raidz2-0")):
        verdict = it_holds_no_data(walk.facts(), {**walk.state.params, "vdev_guid": str(guid)})
        assert (verdict.outcome, words in verdict.reason) == ("refuse", True)


@pytest.mark.parametrize("role", ["cache", "log", "spare"])
def test_one_that_serves_can_be_removed_too_from_the_page_of_its_pool(role):
    first: Story = story("", lambda: rehearsal.with_one(role, False))
    walk = Walk(Story(**{**vars(first), "params": lambda facts: offered(facts)[0].params}))
    assert offered(walk.facts())[0].against == ()


def offered(facts):
    return [one for one in manual_start.of_pool(facts, "oss01", "ost_0") if one.runbook.slug == "remove-auxiliary"]

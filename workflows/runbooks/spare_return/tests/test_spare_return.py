"""What spare-return refuses: the wrong half, a half that is not whole, a scan that was not clean."""

from __future__ import annotations

import pytest

from workflows.engine.core import ask, blockers
from workflows.tests.bends import pool
from workflows.tests.stories import STORIES
from workflows.tests.walks import Stages, Stuck, stages_of

BACK, STAYS = "spare-return, given back", "spare-return, promoted"


@pytest.fixture(scope="module")
def stages():
    def of(title: str) -> Stages:
        return stages_of(STORIES[title])

    return of


def pair(node):
    return node.pool("ost_0").tops[0].children[2]


def test_given_back_the_spare_is_free_and_the_member_serves(stages):
    walk = stages(BACK).end
    assert walk.commands() == [["zpool", "detach", "ost_0", walk.state.params["spare_guid"]]]
    pool = walk.node.pool("ost_0")
    assert [s.state for s in pool.spares] == ["AVAIL"]
    assert pair(walk.node).guid == int(walk.state.params["vdev_guid"])


def test_promoted_it_is_a_member_and_no_spare(stages):
    walk = stages(STAYS).end
    assert walk.commands() == [["zpool", "detach", "ost_0", walk.state.params["vdev_guid"]]]
    assert walk.node.pool("ost_0").spares == []
    assert pair(walk.node).guid == int(walk.state.params["spare_guid"])


def options(walk):
    return {o.value: [v.reason for v in blockers(o.verdicts)] for o in walk.step.options(walk.facts(), walk.state.params)}


def test_only_the_half_that_is_whole_may_stay(stages):
    assert options(stages(BACK).at("way")) == {"cancel": [], "promote": [], "replace": []}
    found = options(stages(STAYS).at("way"))
    assert found["promote"] == []
    assert "is REMOVED, so it is the other one that holds the data." in found["cancel"][0]


def filling(node):
    pair(node).children[1].resilver_txg = 99
    node.pool("ost_0").scan.state = "running"
    node.pool("ost_0").scan.seconds = 1e9


def with_errors(node):
    node.pool("ost_0").scan.errors = 5


def sick_spare(node):
    pair(node).children[1].state, pair(node).children[1].aux = "FAULTED", "err_exceeded"


def two_more_lost(node):
    for leaf in node.pool("ost_0").tops[0].children[3:6]:
        leaf.state = "OFFLINE"


def ended(node):
    top = node.pool("ost_0").tops[0]
    top.children[2], node.pool("ost_0").spares[0].state = pair(node).children[0], "AVAIL"


@pytest.mark.parametrize(
    ("title", "change", "expected"),
    [
        (STAYS, filling, "still being filled. Wait until that ends."),
        (STAYS, filling, "The resilver of ost_0 is running. Wait until it has finished."),
        (BACK, with_errors, "finished with 5 errors. Read `zpool status -v`, and scrub first."),
        (STAYS, sick_spare, "is FAULTED, so it is the other one that holds the data."),
        (STAYS, two_more_lost, "Do not write to it; get help before anything else."),
        (BACK, ended, "No spare stands in for"),
    ],
)
@pytest.mark.parametrize("step", ["check", "plan-detach", "detach"])
def test_it_refuses(title, change, expected, step, stages):
    walk = stages(title).at(step)
    with walk.changing() as node:
        change(node)
    assert any(expected in why for why in walk.why_not()), walk.why_not()
    assert walk.commands() == []


def test_the_node_refuses_when_the_one_that_stays_fell_ill_meanwhile(stages):
    walk = stages(STAYS).at("detach")
    facts = walk.facts()
    with walk.changing() as node:
        sick_spare(node)
    walk.facts = lambda: facts
    with pytest.raises(Stuck, match="keeps.state"):
        walk.go()
    assert walk.commands() == []


def test_the_phrase_is_the_end_of_the_guid_that_goes(stages):
    for title, goes in ((BACK, "spare_guid"), (STAYS, "vdev_guid")):
        walk = stages(title).at("confirm")
        assert walk.step.phrase(walk.state.params, walk.state.plan) == f"{walk.state.params[goes][-6:]} ost_0"


def test_an_expansion_is_no_reason_to_wait_and_a_removal_or_a_checkpoint_is(stages):
    """The expansion itself stands still while this place holds two disks."""
    walk = stages(BACK).at("check")
    for bend, refused in ((pool(expanding=True), False), (pool(removing=True), True), (pool(checkpoint=True), True)):
        verdicts = ask(walk.step.guards, bend(walk.facts(), walk.state.params), walk.state.params)
        assert bool(blockers(verdicts)) == refused, blockers(verdicts)

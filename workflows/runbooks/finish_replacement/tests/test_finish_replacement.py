"""What finish-replacement does and refuses: which disk goes, which stays, and when nothing is detached."""

from __future__ import annotations

import pytest

from twin.model import Scan
from workflows.engine.core import ask, blockers
from workflows.runbooks.finish_replacement import rehearsal, ways_there_are
from workflows.runbooks.finish_replacement.guards import one_of_its_disks_serves
from workflows.runbooks.finish_replacement.tests import stories
from workflows.runbooks.finish_replacement.tests.stories import STORIES
from workflows.situations import detect_all
from workflows.tests.bends import pool
from workflows.tests.stories_of_slowness import NOW
from workflows.tests.walks import Stages, Stuck, Walk, stages_of

FIRST, CALLED_OFF, BY_ITSELF, OLD_LOST, TWO_SPARES, WAITS = (story.title for story in STORIES[:6])


@pytest.fixture(scope="module")
def stages():
    def of(title: str) -> Stages:
        return stages_of(next(story for story in STORIES if story.title == title))

    return of


def place(node):
    return node.pool("ost_0").tops[0].children[2]


@pytest.mark.parametrize("title", [FIRST, CALLED_OFF])
def test_undone_the_old_disk_is_the_member_it_was(title, stages):
    walk = stages(title).end
    assert walk.commands() == [["zpool", "detach", "ost_0", walk.state.params["new_guid"]]]
    assert str(place(walk.node).guid) == walk.state.params["vdev_guid"]


def test_a_vdev_by_itself_takes_another_guid_and_is_known_again(stages):
    walk = stages(BY_ITSELF).end
    only = walk.node.pool("scratch").tops[0]
    assert only.type == "disk"
    assert str(only.guid) != walk.state.params["keeps_guid"]


def test_the_old_disk_that_is_lost_is_let_go(stages):
    walk = stages(OLD_LOST).end
    assert walk.commands() == [["zpool", "detach", "ost_0", walk.state.params["vdev_guid"]]]
    assert str(place(walk.node).guid) == walk.state.params["new_guid"]


def test_of_two_spares_the_lost_one_goes_and_the_other_stands_in_still(stages):
    walk = stages(TWO_SPARES).end
    assert [str(child.guid) for child in place(walk.node).children] == [walk.state.params["vdev_guid"], walk.state.params["new_guid"]]
    assert any(answer.runbook == "spare-return" for one in detect_all(walk.facts()) for answer in one.answers)


def test_who_waits_orders_nothing(stages):
    walk = stages(WAITS).end
    assert (walk.commands(), str(place(walk.node).guid)) == ([], walk.state.params["new_guid"])


def options(walk):
    return {o.value.split()[0]: " ".join(v.reason for v in blockers(o.verdicts)) for o in ways_there_are(walk.facts(), walk.state.params)}


def test_only_a_disk_that_holds_the_data_may_stay(stages):
    assert options(stages(FIRST).at("way")) == {"undo": "", "wait": ""}
    found = options(stages(CALLED_OFF).at("way"))
    assert found["undo"] == ""
    assert "The resilver of ost_0 is canceled." in found["let-go"]
    assert "misses data from before txg" in found["let-go"]
    found = options(stages(OLD_LOST).at("way"))
    assert found["let-go"] == ""
    assert "is REMOVED. Nothing of it is detached" in found["undo"]


def test_an_older_scan_does_not_prove_that_the_new_disk_is_filled():
    """A scrub that ended before the new disk came found 0 errors, and nothing was filled since: only the label says so."""
    node = rehearsal.called_off(NOW)
    pool = node.pool("ost_0")
    pool.scan = Scan("scrub", "finished", NOW - 86400.0, 60.0, pool.alloc_bytes, 0)
    story = stories.Story(**{**vars(STORIES[1]), "twins": lambda: {"oss01": node}, "params": stories.of_the_halves})
    walk = Walk(story)
    assert "By its label" in options(walk)["let-go"]
    assert "finished with" not in options(walk)["let-go"]


def both_lost(node):
    for child in place(node).children:
        child.state = "REMOVED"


def suspended(node):
    node.pool("ost_0").suspended = "io"


def old_sick_new_there(node):
    place(node).children[0].state, place(node).children[0].aux = "FAULTED", "err_exceeded"


def two_more_lost(node):
    for leaf in node.pool("ost_0").tops[0].children[3:6]:
        leaf.state = "OFFLINE"


def over(node):
    top = node.pool("ost_0").tops[0]
    top.children[2] = place(node).children[0]


def with_errors(node):
    node.pool("ost_0").scan.errors = 5


def not_filled(node):
    place(node).children[1].resilver_txg = 99
    for disk in node.disks:
        for partition in disk.partitions:
            if partition.label:
                partition.label.txg += 1


REFUSALS = [
    (FIRST, both_lost, "Bring one of them back first"),
    (FIRST, suspended, "ost_0 is suspended"),
    (CALLED_OFF, old_sick_new_there, "is FAULTED. Nothing of it is detached"),
    (FIRST, two_more_lost, "lacks more disks than it can do without"),
    (FIRST, over, "so there is nothing to end"),
    (OLD_LOST, with_errors, "finished with 5 errors. Read `zpool status -v`"),
    (OLD_LOST, not_filled, "misses data from before txg 99"),
    (OLD_LOST, both_lost, "Bring one of them back first"),
]


@pytest.mark.parametrize(("title", "change", "expected"), REFUSALS)
@pytest.mark.parametrize("step", ["check", "plan", "order"])
def test_it_refuses(title, change, expected, step, stages):
    way = "undo" if title in (FIRST, CALLED_OFF) else "detach"
    walk = stages(title).at({"check": f"check-{way}", "plan": f"plan-{way}", "order": way}[step])
    with walk.changing() as node:
        change(node)
    assert any(expected in why for why in walk.why_not()), walk.why_not()
    assert walk.commands() == []


@pytest.mark.parametrize(
    ("title", "change", "fact"),
    [
        (CALLED_OFF, old_sick_new_there, "keeps.state"),
        (FIRST, both_lost, "keeps.state"),
        (OLD_LOST, not_filled, "keeps.missing"),
        (OLD_LOST, with_errors, "pool.scan"),
        (FIRST, over, "target"),
    ],
)
def test_the_node_refuses_what_changed_after_the_portal_asked(title, change, fact, stages):
    walk = stages(title).at("undo" if title in (FIRST, CALLED_OFF) else "detach")
    facts = walk.facts()
    with walk.changing() as node:
        change(node)
    walk.facts = lambda: facts
    with pytest.raises(Stuck, match=fact):
        walk.go()
    assert walk.commands() == []


def test_while_it_is_waited_for_the_loss_of_the_new_disk_is_an_alarm_and_that_of_the_old_one_is_none(stages):
    walk = stages(WAITS).at("wait")
    assert walk.step.alarm(walk.facts(), walk.state.params).outcome == "pass"
    with walk.changing() as node:
        place(node).children[1].state = "REMOVED"
    assert "take that disk out" in walk.step.alarm(walk.facts(), walk.state.params).reason


def test_of_two_lost_disks_none_is_detached_and_it_says_where_to_go():
    story = stories.Story(**{**vars(STORIES[0]), "twins": lambda: {"oss01": rehearsal.both_lost(NOW)}, "params": stories.of_the_halves})
    walk = Walk(story)
    verdict = one_of_its_disks_serves(walk.facts(), walk.state.params)
    assert verdict.outcome == "refuse"
    assert "many-disks-offline" in verdict.reason
    assert "restore the pool from its backup" in verdict.reason
    found = next(one for one in detect_all(walk.facts()) if one.slug == "replacing-dead")
    assert (found.answers, next(cure.kind for cure in found.cures)) == ((), "reseat")


def test_what_is_given_up_stands_in_the_plan(stages):
    for title, words in ((FIRST, "holds what it held before"), (OLD_LOST, "for good, and what only it holds is lost")):
        walk = stages(title).at("confirm-undo" if title == FIRST else "confirm-detach")
        assert words in walk.state.plan["given_up"]
        assert walk.step.phrase(walk.state.params, walk.state.plan) == f"{walk.state.params['goes_guid'][-6:]} ost_0"


def test_an_expansion_is_no_reason_to_wait_and_a_removal_or_a_checkpoint_is(stages):
    """The expansion itself stands still while this place holds two disks."""
    walk = stages(OLD_LOST).at("check-detach")
    for bend, refused in ((pool(expanding=True), False), (pool(removing=True), True), (pool(checkpoint=True), True)):
        verdicts = ask(walk.step.guards, bend(walk.facts(), walk.state.params), walk.state.params)
        assert bool(blockers(verdicts)) == refused, blockers(verdicts)

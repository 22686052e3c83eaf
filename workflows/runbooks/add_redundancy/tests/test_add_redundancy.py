"""What add-redundancy does and refuses: to which disk it attaches, and that it never attaches to a raidz."""

from __future__ import annotations

import pytest

from workflows.runbooks.add_redundancy.guards import it_is_one_disk_that_can_be_mirrored
from workflows.runbooks.add_redundancy.tests.stories import STORIES
from workflows.situations import detect_all
from workflows.tests.walks import Stages, Stuck, stages_of

DATA, SPECIAL, LOG, NVME = (one.title for one in STORIES)


@pytest.fixture(scope="module")
def stages():
    def of(title: str) -> Stages:
        return stages_of(next(one for one in STORIES if one.title == title))

    return of


@pytest.mark.parametrize("title", [DATA, SPECIAL, LOG])
def test_the_two_are_a_mirror_and_the_situation_is_over(title, stages):
    walk = stages(title).end
    params = walk.state.params
    link = f"/dev/disk/by-id/wwn-0x{params['wwid'].removeprefix('naa:')}"
    assert walk.commands() == [["zpool", "attach", "ost_0", params["vdev_guid"], link]]
    assert [top.type for top in walk.node.pool("ost_0").tops] == ["raidz", "mirror"]
    assert not [one for one in detect_all(walk.facts()) if one.slug in ("top-without-redundancy", "aux-without-redundancy")]


def test_the_plan_says_how_it_is_undone(stages):
    walk = stages(DATA).at("confirm")
    assert "zpool detach" in walk.state.plan["way_back"]
    assert walk.state.plan["redundancy"]["margin_during"] == walk.state.plan["redundancy"]["margin_now"] == "0"


def test_a_raidz_and_what_is_in_it_are_refused(stages):
    walk = stages(DATA).at("choose")
    raidz = walk.node.pool("ost_0").tops[0]
    for guid, words in ((raidz.guid, "would make a raidz wider for good"), (raidz.children[0].guid, "is in raidz2-0")):
        verdict = it_is_one_disk_that_can_be_mirrored(walk.facts(), {**walk.state.params, "vdev_guid": str(guid)})
        assert (verdict.outcome, words in verdict.reason) == ("refuse", True)


def suspended(node):
    node.pool("ost_0").suspended = "io"


def sick(node):
    node.pool("ost_0").tops[-1].state = "FAULTED"
    node.pool("ost_0").tops[-1].aux = "err_exceeded"


@pytest.mark.parametrize(("change", "expected"), [(suspended, "ost_0 is suspended"), (sick, "is FAULTED")])
@pytest.mark.parametrize("step", ["check", "plan-attach", "attach"])
def test_it_refuses(change, expected, step, stages):
    walk = stages(DATA).at(step)
    with walk.changing() as node:
        change(node)
    assert any(expected in why for why in walk.why_not()), walk.why_not()
    assert walk.commands() == []


@pytest.mark.parametrize(("change", "fact"), [(suspended, "pool.state"), (sick, "target.state")])
def test_the_node_refuses_what_changed_after_the_portal_asked(change, fact, stages):
    walk = stages(DATA).at("attach")
    facts = walk.facts()
    with walk.changing() as node:
        change(node)
    walk.facts = lambda: facts
    with pytest.raises(Stuck, match=fact):
        walk.go()
    assert walk.commands() == []


def test_while_it_is_filled_the_loss_of_the_first_disk_is_an_alarm(stages):
    walk = stages(DATA).at("filled")
    assert walk.step.alarm(walk.facts(), walk.state.params).outcome == "pass"
    with walk.changing() as node:
        node.pool("ost_0").tops[-1].children[0].state = "REMOVED"
    assert "Take nothing out" in walk.step.alarm(walk.facts(), walk.state.params).reason


def test_a_disk_without_a_bay_is_scanned_before_anything_is_written_to_it(stages):
    walk = stages(NVME).at("scan")
    assert any("is not the disk that was chosen" in v.reason for v in walk.step.judges(walk.facts(), walk.state.params, "ZZ999999"))
    assert walk.commands() == []
    end = stages(NVME).end
    assert end.state.params["scanned_serial"] == end.node.disk(end.state.params["wwid"]).serial
    assert end.commands() == [
        ["zpool", "attach", "ost_0", end.state.params["vdev_guid"], f"/dev/disk/by-id/nvme-{end.state.params['wwid'].replace(':', '.')}"]
    ]


def test_a_disk_in_a_known_bay_is_not_scanned(stages):
    assert [one.step for one in stages(DATA).end.state.finished if one.step == "scan" and not one.passed_over] == []

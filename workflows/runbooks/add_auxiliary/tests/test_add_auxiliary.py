"""What add-auxiliary does and refuses: in which section the disk stands, and when nothing is added."""

from __future__ import annotations

import pytest

from workflows.runbooks.add_auxiliary.guards import it_is_added_beside_the_data
from workflows.runbooks.add_auxiliary.tests.stories import STORIES
from workflows.situations import detect_all
from workflows.tests.stories_of_disks import answer
from workflows.tests.walks import Stages, Story, Stuck, Walk, stages_of

SPARE, LOG, CACHE, NVME = (one.title for one in STORIES)


@pytest.fixture(scope="module")
def stages():
    def of(title: str) -> Stages:
        return stages_of(next(one for one in STORIES if one.title == title))

    return of


@pytest.mark.parametrize("title", [SPARE, LOG, CACHE])
def test_the_pool_lists_it_in_its_role_and_the_data_is_as_it_was(title, stages):
    walk = stages(title).end
    params = walk.state.params
    link = f"/dev/disk/by-id/wwn-0x{params['wwid'].removeprefix('naa:')}"
    assert walk.commands() == [["zpool", "add", "ost_0", params["role"], link]]
    assert [top.type for top in walk.node.pool("ost_0").tops if top.cls == "data"] == ["raidz"]


def test_the_plan_says_what_it_means_and_how_it_is_undone(stages):
    walk = stages(LOG).at("confirm")
    assert "the last seconds of synchronous writes are lost" in walk.state.plan["meaning"]
    assert "remove-auxiliary" in walk.state.plan["way_back"]
    assert walk.step.phrase(walk.state.params, walk.state.plan).endswith(" log ost_0")


def test_what_was_added_is_removed_again(stages):
    """The way back is a run of its own."""
    node = stages(SPARE).end.node
    added = next(one for one in node.pool("ost_0").spares if one.state == "AVAIL")
    story = Story(
        runbook="remove-auxiliary",
        twins=lambda: {"oss01": node},
        params=lambda facts: {**answer(facts, "remove-auxiliary"), "vdev_guid": str(added.guid)},
    )
    walk = Walk(story).to_the_end()
    assert [one.guid for one in walk.node.pool("ost_0").spares if one.state == "AVAIL"] == []


def test_another_word_is_refused(stages):
    walk = stages(SPARE).at("choose")
    for role in ("data", "special", "dedup", ""):
        verdict = it_is_added_beside_the_data(walk.facts(), {**walk.state.params, "role": role})
        assert (verdict.outcome, "End this run" in verdict.reason) == ("refuse", True)
        assert ("begin add-special" in verdict.reason) is (role in ("special", "dedup"))


def suspended(node):
    node.pool("ost_0").suspended = "io"


def mounted(node):
    blank = next(disk for disk in node.disks if not disk.partitions)
    blank.holders = ["dm-9"]


@pytest.mark.parametrize(("change", "expected"), [(suspended, "ost_0 is suspended"), (mounted, "is in use")])
@pytest.mark.parametrize("step", ["check", "plan-add", "add"])
def test_it_refuses(change, expected, step, stages):
    walk = stages(SPARE).at(step)
    with walk.changing() as node:
        change(node)
    assert any(expected in why for why in walk.why_not()), walk.why_not()
    assert walk.commands() == []


@pytest.mark.parametrize(("change", "fact"), [(suspended, "pool.state"), (mounted, "disk.holders")])
def test_the_node_refuses_what_changed_after_the_portal_asked(change, fact, stages):
    walk = stages(SPARE).at("add")
    facts = walk.facts()
    with walk.changing() as node:
        change(node)
    walk.facts = lambda: facts
    with pytest.raises(Stuck, match=fact):
        walk.go()
    assert walk.commands() == []


def test_where_no_blank_disk_is_in_the_node_it_is_not_offered(stages):
    walk = stages(SPARE).at("choose")
    with walk.changing() as node:
        node.disks[:] = [disk for disk in node.disks if disk.partitions]
    assert not any(answer.runbook == "add-auxiliary" for one in detect_all(walk.facts()) for answer in one.answers)


def test_a_disk_without_a_bay_is_scanned_before_anything_is_written_to_it(stages):
    walk = stages(NVME).at("scan")
    assert any("is not the disk that was chosen" in v.reason for v in walk.step.judges(walk.facts(), walk.state.params, "ZZ999999"))
    assert walk.commands() == []
    end = stages(NVME).end
    assert end.state.params["scanned_serial"] == end.node.disk(end.state.params["wwid"]).serial
    assert end.commands() == [["zpool", "add", "ost_0", "log", f"/dev/disk/by-id/nvme-{end.state.params['wwid'].replace(':', '.')}"]]


def test_a_disk_in_a_known_bay_is_not_scanned(stages):
    assert [one.step for one in stages(SPARE).end.state.finished if one.step == "scan" and not one.passed_over] == []

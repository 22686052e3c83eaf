"""wwid-mismatch-replace on the drifted twin: what makes each step refuse, and what the node itself refuses by then."""

from __future__ import annotations

import pytest

from twin import scenarios
from twin.model import Label
from twin.scan import start_resilver
from workflows.tests.partners import partner
from workflows.tests.stories_of_disks import MISMATCH
from workflows.tests.walks import Stages, Stuck, stages_of

NEW = scenarios.lab_disk(8, 8).wwid


@pytest.fixture(scope="module")
def stages() -> Stages:
    return stages_of(MISMATCH)


def plan_text(walk) -> str:
    return " | ".join(walk.why_not())


def pool(node):
    return node.pool("ost_1")


def suspended(node):
    pool(node).suspended = "io"


def other_module(node):
    node.zfs_module = "2.3.2-1"


def untested(node):
    node.zfs_userland = node.zfs_module = "2.5.0-1"


def held(node):
    node.disk(NEW).holders.append("dm-3")


def small(node):
    node.disk(NEW).size_bytes //= 2


def labelled(node):
    other = scenarios.add_foreign_pool(node, node.disk(NEW), "scratch9", "oss77", 0x5B2F9C77)
    assert other.name == "scratch9"


def resilvers(node):
    node.knobs.resilver_seconds = 36000.0
    start_resilver(node, pool(node), 1795248315.0)
    pool(node).leaves()[0].resilver_txg = pool(node).txg


def too_many_lost(node):
    for disk in list(node.disks[:3]):
        leaf = scenarios.leaf_on(node, disk.wwid)
        leaf.state, leaf.aux = "UNAVAIL", "open_failed"
        scenarios.take_away(node, disk.wwid)


def back(node):
    lost = next(leaf for leaf in pool(node).leaves() if leaf.state != "ONLINE")
    node.disk(NEW).partitions[:] = node.disks[0].partitions[:1]
    node.disk(NEW).partitions[0].label = Label("ost_1", lost.guid, 4)


def serves(node):
    lost = next(leaf for leaf in pool(node).leaves() if leaf.state != "ONLINE")
    lost.state, lost.aux, lost.not_present = "ONLINE", "", False


def no_bay(node):
    node.bay_of(NEW)[1].wwid = None


CHANGES = [
    (suspended, "is suspended; a command to it would hang."),
    (other_module, "Reboot into the new module, or bring both to one release."),
    (untested, "is not among the releases that were read"),
    (held, "dm-3"),
    (small, "small"),
    (labelled, "scratch9"),
    (resilvers, "is being rebuilt. One replacement at a time"),
    (too_many_lost, "has lost more disks than it can rebuild."),
    (back, "the member is back."),
    (serves, "and still serves ost_1."),
    (no_bay, "bay"),
]


@pytest.mark.parametrize(("change", "words"), CHANGES, ids=[change.__name__ for change, _ in CHANGES])
@pytest.mark.parametrize("step", ["check", "plan", "replace"])
def test_it_refuses(change, words, step, stages):
    walk = stages.at(step)
    with walk.changing() as node:
        change(node)
    assert words in plan_text(walk)
    assert walk.commands() == []


def test_a_pool_that_another_node_has_imported_is_refused(stages, tmp_path):
    walk = stages.at("check")
    partner(walk, tmp_path, "ost_1", imported=True)
    assert "is imported on oss01 and on oss02. Fence one of them before anything else." in plan_text(walk)


def test_the_node_refuses_a_disk_that_is_held_by_then(stages):
    walk = stages.at("replace")
    facts = walk.facts()
    with walk.changing() as node:
        held(node)
    walk.facts = lambda: facts
    with pytest.raises(Stuck, match="disk.holders changed"):
        walk.go()
    assert walk.commands() == []

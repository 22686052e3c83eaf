"""What device-delete-reimport refuses: a guess, one kind of evidence, another suspect, a disk that cannot be spared or is not free."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agents.operations import disk_delete, disk_rescan
from agents.twin import scenarios
from agents.twin.model import Label
from workflows.core import blockers
from workflows.tests.stories_of_imports import DELETES
from workflows.tests.walks import Stages, Stuck

SUSPECT = "naa:5000c500a65b203b"


@pytest.fixture(scope="module")
def stages(tmp_path_factory) -> Stages:
    return Stages(DELETES, tmp_path_factory.mktemp("delete"))


def label(node, number):
    return node.disks[number].partitions[0].label


def nobody_stands_out(node):
    label(node, 3).txg, label(node, 3).writer = 4000, ""


def another_suspect(node):
    one, other = label(node, 1), label(node, 3)
    one.txg, one.writer, other.txg, other.writer = other.txg, other.writer, one.txg, one.writer


def two_absent(node):
    for disk in list(node.disks[:2]):
        scenarios.take_away(node, disk.wwid)


def held(node):
    node.disk(SUSPECT).holders.append("dm-3")


def two_pools(node):
    other = scenarios.add_foreign_pool(node, scenarios.lab_disk(20, 20), "scratch9", "oss77", 0x5B2F9C77)
    node.disk(SUSPECT).partitions[1].label = Label(other.name, other.leaves()[0].guid, 5)


def no_bay(node):
    place = node.bay_of(SUSPECT)[1]
    place.wwid = None


def imported(node):
    node.pool("ost_0").blocked_by = []
    node.pool("ost_0").imported = True


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (nobody_stands_out, "No disk stands out from the others, so taking one away would only be a guess."),
        (another_suspect, "The disk that tells another story is sdb (naa:5000c500a65b201b), not naa:5000c500a65b203b."),
        (two_absent, "lacks 2 disks already and can do without 2. Taking another away helps nobody."),
        (held, "is in use: held by dm-3. It stays."),
        (no_bay, "is not known for certain. Find it before it is taken away from the kernel."),
        (imported, "ost_0 is imported on oss01 now."),
    ],
)
@pytest.mark.parametrize("step", ["check", "plan-delete", "delete"])
def test_it_refuses(change, said, step, stages):
    walk = stages.at(step)
    with walk.changing() as node:
        change(node)
    why = walk.why_not()
    assert any(said in each for each in why), why
    assert walk.commands() == []


def test_one_kind_of_evidence_is_not_enough(stages):
    walk = stages.at("check")
    with walk.changing() as node:
        label(node, 3).writer = ""
    assert any("One kind of evidence is not enough." in why for why in walk.why_not())


def test_only_the_suspect_can_be_chosen_and_every_member_says_why(stages):
    walk = stages.at("suspect")
    options = walk.step.options(walk.facts(), walk.state.params)
    assert len(options) == 6
    assert [o.value for o in options if not blockers(o.verdicts)] == [SUSPECT]
    assert options[0].value == SUSPECT
    assert "is sdd (naa:5000c500a65b203b), not naa:" in blockers(options[1].verdicts)[0].reason


def test_the_plan_says_in_time_what_would_have_been(stages):
    walk = stages.at("approve-delete")
    assert "Without it the pool ends with txg 4000. It would have gone on to txg 4400, 33 min later" in walk.state.plan["compared"]


def test_both_paths_of_a_disk_are_deleted(stages):
    walk = stages.at("delete")
    with walk.changing() as node:
        path = node.disk(SUSPECT).paths[0]
        node.disk(SUSPECT).paths.append(replace(path, name="sdzz", hctl="3:0:7:0", sg=99))
    params = {name: walk.state.params[name] for name in disk_delete.PARAMS}
    assert disk_delete.preconditions(walk.host, params)["disk.names"] == "sdd, sdzz"
    assert disk_delete.perform(walk.host, params).exit_code == 0
    assert disk_delete.probe(walk.host, params, {"disk.paths": "2"}).result == "did"


def test_the_node_refuses_a_disk_that_is_in_use_by_now(stages):
    walk = stages.at("delete")
    facts = walk.facts()
    with walk.changing() as node:
        held(node)
    walk.facts = lambda: facts
    with pytest.raises(Stuck, match="disk.holders changed"):
        walk.go()
    assert walk.commands() == []


def test_it_is_not_found_again_under_a_pool_that_does_without_it(stages):
    walk = stages.at("use")
    params = {name: walk.state.params[name] for name in disk_rescan.PARAMS}
    (verdict,) = disk_rescan.guards(disk_rescan.preconditions(walk.host, params), params)
    assert verdict == ("refuse", "ost_0 is imported here. The disk must not come back under it; export the pool first.")


def test_the_pool_comes_in_without_exactly_this_disk(stages):
    pool = stages.at("use").facts().nodes["oss01"].pools[0]
    lost = [leaf for _, top in pool.tops for leaf in top.leaves() if leaf.state != "ONLINE"]
    assert [leaf.was for leaf in lost] == ["/dev/disk/by-id/wwn-0x5000c500a65b203b-part1"]
    assert pool.properties["readonly"] == "on"


def test_called_off_while_it_is_imported_the_pool_is_let_go_of_before_the_disk_comes_back(stages):
    walk = stages.at("use")
    walk.abort()
    walk.to_the_end()
    walked = [f.step for f in walk.state.finished if not f.passed_over]
    assert walked.index("undo-import") < walked.index("rescan")
    assert walk.node.imported == []
    assert any(disk.wwid == SUSPECT for disk in walk.node.disks)

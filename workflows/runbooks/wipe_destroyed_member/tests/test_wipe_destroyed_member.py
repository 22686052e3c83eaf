"""What wipe-destroyed-member does and refuses, beyond what is asked of every runbook."""

from __future__ import annotations

import pytest

from twin.scenarios import destroyed
from workflows.engine import events as ev
from workflows.engine import plan_losses
from workflows.engine.core import warnings
from workflows.engine.decide import Refused
from workflows.runbooks.wipe_destroyed_member.tests.stories import FIRST
from workflows.situations import destroyed_member
from workflows.tests.walks import ANN, BOB, Stuck, stages_of


@pytest.fixture(scope="module")
def stages():
    return stages_of(FIRST)


def test_the_one_disk_is_wiped_once_by_its_own_link_and_no_other(stages):
    walk = stages.end
    ((tool, path, *areas),) = walk.commands()
    assert (tool, path) == ("erase", f"/dev/disk/by-id/wwn-0x{walk.state.params['wwid'][4:]}")
    assert len(areas) == 4
    assert walk.node.disks[6].partitions == []
    before = destroyed()
    others = [disk.partitions for disk in walk.node.disks if disk.wwid != walk.state.params["wwid"]]
    assert others == [disk.partitions for disk in before.disks if disk.wwid != walk.state.params["wwid"]]


def test_afterwards_only_the_other_disk_of_the_pool_is_offered(stages):
    (left,) = destroyed_member.detect(stages.end.facts())
    assert left.subject["wwid"] != stages.end.state.params["wwid"]


def test_before_it_is_shown_what_ends_and_what_the_disk_is(stages):
    walk = stages.at("check")
    ends, disk, again = warnings(walk.step, walk.facts(), walk.state.params)
    assert f"may still be brought back with `zpool import -D {walk.state.params['pool_guid']}`. This ends that" in ends
    assert "on 1 other disk: sdh" in ends
    assert "sectors of" in disk
    assert "speaks against using it again" in again


def test_the_plan_says_what_ends_with_it(stages):
    plan = stages.at("confirm").state.plan
    accepted, ends = plan_losses.lost(plan)
    assert all(plan["params"]["pool_guid"] in text for text in (accepted, ends))
    assert any("state: 2" in line for line in plan["labels"])


def test_the_pool_the_end_of_its_guid_and_the_serial_number_are_typed(stages):
    walk = stages.at("confirm")
    params = walk.state.params
    right = f"{params['pool']} {params['pool_guid'][-6:]} {params['serial']}"
    for text in (params["pool"], f"{params['pool']} {params['serial']}", right.replace(params["pool_guid"][-6:], "000000"), right[:-1]):
        assert isinstance(walk.send(ev.Confirmed, by=ANN, text=text), Refused)
    walk.must(ev.Confirmed, by=ANN, text=right)


def test_the_second_person_accepts_the_pool_its_guid_and_the_serial_number_by_name(stages):
    walk = stages.at("approve-wipe")
    refused = walk.send(ev.Approved, by=BOB, plan_digest=walk.state.plan_digest)
    assert isinstance(refused, Refused)
    params = walk.state.params
    assert params["serial"] in refused.reason
    assert f"the destroyed pool {params['pool']} (guid {params['pool_guid']})" in refused.reason


def brought_back(node):
    node.pool("scratch").imported, node.pool("scratch").state = True, 0


def exported(node):
    node.pool("scratch").state = 1


def mounted(node):
    node.mounts.append(f"/dev/{node.disks[6].paths[0].name}9 /srv ext4 rw 0 0")


def held(node):
    node.disks[6].holders.append("dm-0")


CHANGES = [brought_back, exported, mounted, held]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (brought_back, "oss01 has the pool imported, as scratch: it was brought back"),
        (exported, "so it is not destroyed any more"),
        (mounted, "is in use: mounted on /srv"),
        (held, "is in use: held by dm-0"),
    ],
)
@pytest.mark.parametrize("step", ["check", "plan-wipe", "wipe"])
def test_what_is_in_use_or_was_brought_back_refuses(stages, step, change, why):
    walk = stages.at(step)
    with walk.changing() as node:
        change(node)
    assert any(why in reason for reason in walk.why_not()), walk.why_not()
    assert walk.commands() == []


@pytest.mark.parametrize("change", CHANGES)
def test_what_changes_after_the_portal_asked_last_is_refused_by_the_node(stages, change):
    walk = stages.at("wipe")
    facts = walk.facts()
    with walk.changing() as node:
        change(node)
    walk.facts = lambda: facts
    with pytest.raises(Stuck):
        walk.go()
    assert walk.commands() == []
    assert walk.node.disks[6].partitions

"""What wipe-disk does and refuses, beyond what is asked of every runbook."""

from __future__ import annotations

from dataclasses import replace

import pytest

from twin.scenarios import superseded
from workflows.analysis import disk_reuse
from workflows.engine import events as ev
from workflows.engine.core import warnings
from workflows.engine.decide import Refused
from workflows.facts import Unknown, known, lookup
from workflows.runbooks.wipe_disk.tests.stories import FIRST
from workflows.situations import former_member
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
    before = superseded()
    assert [disk.partitions for disk in walk.node.disks[:6]] == [disk.partitions for disk in before.disks[:6]]


def test_afterwards_nothing_is_offered_for_it_and_it_is_a_blank_disk(stages):
    facts = stages.end.facts()
    assert former_member.detect(facts) == ()
    disk = next(one for one in facts.nodes["oss01"].disks if one.wwid == stages.end.state.params["wwid"])
    assert disk.labels == ()


def test_before_it_the_disk_is_looked_at(stages):
    walk = stages.at("check")
    shown, again = warnings(walk.step, walk.facts(), walk.state.params)
    assert "sectors of" in shown
    assert "DIF" in shown
    assert "self-test" in again


def test_what_is_on_it_stands_in_the_plan(stages):
    plan = stages.at("confirm").state.plan
    assert plan["leaving"]["serial"] == stages.at("confirm").state.params["serial"]
    assert any(stages.at("confirm").state.params["vdev_guid"] in line for line in plan["labels"])
    assert plan["leaving"]["partition_table"]


def test_the_pool_and_the_serial_number_are_typed(stages):
    walk = stages.at("confirm")
    params = walk.state.params
    for text in (params["pool"], params["serial"], f"{params['pool']} {params['serial'][:-1]}"):
        assert isinstance(walk.send(ev.Confirmed, by=ANN, text=text), Refused)
    walk.must(ev.Confirmed, by=ANN, text=f"{params['pool']} {params['serial']}")


def test_the_second_person_accepts_the_pool_and_the_serial_number_by_name(stages):
    walk = stages.at("approve-wipe")
    refused = walk.send(ev.Approved, by=BOB, plan_digest=walk.state.plan_digest)
    assert isinstance(refused, Refused)
    assert walk.state.params["serial"] in refused.reason
    assert f"member of {walk.state.params['pool']}" in refused.reason


def serves_again(node):
    guid = node.disks[6].partitions[0].label.guid
    node.pool("ost_0").tops[0].children[2].guid = node.disks[2].partitions[0].label.guid = guid


def newer(node):
    node.disks[6].partitions[0].label.txg = 4400


def mounted(node):
    node.mounts.append(f"/dev/{node.disks[6].paths[0].name}9 /srv ext4 rw 0 0")


def held(node):
    node.disks[6].holders.append("dm-0")


def encrypted(node):
    held(node)
    node.mapped["dm-0"] = ["CRYPT-LUKS2-5a1c1e40c7a14f0f9d0a3a1f5f0c2b11-backup", "backup"]


def in_a_volume_group(node):
    held(node)
    node.mapped["dm-0"] = ["LVM-9rZ3cM1zYV2q0f6kXo3Gm2Wq9yq1u1rT", "vg0-data"]


def in_an_array(node):
    node.disks[6].holders.append("md127")


def swapped_to(node):
    node.disks[6].partitions[1].swap = True


def degraded(node):
    node.pool("ost_0").tops[0].children[0].state = "OFFLINE"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (serves_again, "A member is never wiped"),
        (newer, "it is not older than its pool"),
        (mounted, "is in use: mounted on /srv"),
        (held, "is in use: held by dm-0"),
        (held, "`dmsetup info dm-0`"),
        (encrypted, "`cryptsetup luksHeaderBackup DEVICE"),
        (encrypted, "then `cryptsetup close backup`"),
        (in_a_volume_group, "the logical volume vg0-data is on it"),
        (in_an_array, "`mdadm --stop /dev/md127`"),
        (mounted, "`umount /srv`"),
        (swapped_to, "`swapoff DEVICE`"),
        (degraded, "its last good copy"),
    ],
)
@pytest.mark.parametrize("step", ["check", "plan-wipe", "wipe"])
def test_what_is_in_use_or_needed_refuses(stages, step, change, why):
    walk = stages.at(step)
    with walk.changing() as node:
        change(node)
    assert any(why in reason for reason in walk.why_not()), walk.why_not()
    assert walk.commands() == []


@pytest.mark.parametrize("change", [serves_again, newer, mounted, held, encrypted, in_an_array, swapped_to, degraded])
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


def test_a_pool_that_is_only_down_has_no_disk_that_is_wiped(stages):
    """The disk that is missing from it looks as old as one that was let go of."""
    walk = stages.at("check")
    with walk.changing() as node:
        node.pool("ost_0").imported = False
    assert walk.why_not()
    assert former_member.detect(walk.facts()) == ()


def test_one_that_was_let_go_of_while_it_served_is_wiped_too(stages):
    """ZFS leaves it a label of txg 0."""
    walk = stages.at("check")
    with walk.changing() as node:
        node.disks[6].partitions[0].label.txg = 0
    assert walk.to_the_end().node.disks[6].partitions == []


def ill(**smart):
    def change(node):
        for name, value in smart.items():
            setattr(node.disks[6].smart, name, value)

    return change


def formatted(**fields):
    def change(node):
        for name, value in fields.items():
            setattr(node.disks[6], name, value)

    return change


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (ill(passed=False), "predicts its own failure"),
        (ill(self_test_failed=True), "its self-test"),
        (ill(uncorrected=3), "3 reads or writes failed for good"),
        (formatted(protection_type=2), "(DIF) of type 2, and the members of ost_0 with type 0"),
        (formatted(logical_block_bytes=520), "its blocks have 520 bytes"),
    ],
)
def test_the_plan_says_not_to_use_a_disk_again_that_fails_or_does_not_fit(stages, change, why):
    walk = stages.at("plan-wipe")
    with walk.changing() as node:
        change(node)
    walk.to("confirm")
    again = walk.state.plan["used_again"]
    assert again.startswith("Do not put it back into a pool: ")
    assert why in again


def test_of_a_disk_that_is_well_the_plan_has_the_age_of_its_last_self_test(stages):
    again = stages.at("confirm").state.plan["used_again"]
    assert again.startswith("Nothing that it reports speaks against using it again.")
    assert "of use ago" in again


def test_a_disk_whose_block_size_is_not_known_is_not_called_fit(stages):
    walk = stages.at("confirm")
    disk = lookup.disk(walk.facts(), walk.state.params["node"], walk.state.params["wwid"])
    assert known(disk)
    unread = replace(disk, logical_block_bytes=Unknown("It was not read."))
    assert disk_reuse.sentence(unread, None, None).startswith(
        "Whether it may go back into a pool is not known: the size of its blocks is not known"
    )

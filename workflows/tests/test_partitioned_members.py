"""A member that is one partition of several is replaced by no runbook, and the refusal has the way by hand, with the right disk first."""

from __future__ import annotations

from dataclasses import replace

import pytest

from workflows.facts import Unknown
from workflows.guards.partitioned import the_member_has_its_disk_alone, what_gets_a_mirror_has_its_disk_alone
from workflows.situations._partitions import way_by_hand
from workflows.tests.incident import BLANK_WWID, DISKS, FLEET, LOST_LEAF, MEMBERS, NODE, PARAMS, by_id, fleet, with_leaf

BOOT = replace(LOST_LEAF, was="/dev/disk/by-id/ata-ACME_480_S2-part3")


def test_a_whole_disk_passes():
    assert the_member_has_its_disk_alone(FLEET, PARAMS).outcome == "pass"


def test_the_healthy_disk_is_read_and_the_new_one_written():
    """In `sgdisk DISK -R OTHER` the first is read and the second overwritten."""
    facts = with_leaf(BOOT, *MEMBERS)
    reason = the_member_has_its_disk_alone(facts, PARAMS | {"wwid": BLANK_WWID}).reason
    healthy = next(leaf.wwid for leaf in MEMBERS if leaf.state == "ONLINE")
    assert f"`sgdisk {by_id(healthy)} -R {by_id(BLANK_WWID)}`" in reason
    assert f"`sgdisk -G {by_id(BLANK_WWID)}`" in reason
    assert f"sgdisk -G {by_id(healthy)}" not in reason
    assert f"{by_id(BLANK_WWID)}-part3`" in reason
    assert reason.index("sgdisk -G") < reason.index("zpool replace") < reason.index("proxmox-boot-tool init") < reason.index("grub-install")


def test_what_stays_gets_its_mirror_by_attach_and_its_own_table_is_copied():
    """`zpool replace` would take away the only disk that holds the data."""
    alone = replace(MEMBERS[0], name=f"{by_id(MEMBERS[0].wwid)}-part3")
    reason = what_gets_a_mirror_has_its_disk_alone(
        with_leaf(LOST_LEAF, alone, *MEMBERS[1:]), PARAMS | {"wwid": BLANK_WWID, "vdev_guid": str(alone.guid)}
    ).reason
    assert f"`zpool attach ost_0 {alone.guid} {by_id(BLANK_WWID)}-part3`" in reason
    assert f"`sgdisk {by_id(MEMBERS[0].wwid)} -R {by_id(BLANK_WWID)}`" in reason
    assert "zpool replace" not in reason
    assert "replace-boot-member" not in reason


def test_before_a_disk_is_chosen_its_place_is_left_open():
    reason = the_member_has_its_disk_alone(with_leaf(BOOT, *MEMBERS), {**PARAMS, "wwid": ""}).reason
    assert "-R /dev/disk/by-id/NEW_DISK`" in reason


def test_the_refusal_leads_to_the_runbook_for_partitions():
    assert "Take replace-boot-member" in the_member_has_its_disk_alone(with_leaf(BOOT, *MEMBERS), PARAMS).reason
    assert "replace-boot-member" not in the_member_has_its_disk_alone(with_leaf(replace(LOST_LEAF, was="ada1p3"), *MEMBERS), PARAMS).reason


def test_on_freebsd_the_tools_are_those_of_freebsd():
    reason = the_member_has_its_disk_alone(with_leaf(replace(LOST_LEAF, was="ada1p3"), *MEMBERS), PARAMS).reason
    assert (
        reason.index("gpart backup HEALTHY")
        < reason.index("gpart restore -F NEW")
        < reason.index("zpool replace")
        < reason.index("gpart bootcode")
    )
    assert "sgdisk" not in reason


@pytest.mark.parametrize("number", [2, None])
def test_the_partition_is_named_or_left_open(number):
    assert f"/dev/n-part{number or 'N'}`" in way_by_hand("rpool", "4711", "/dev/h", "/dev/n", number, False)


def test_disks_that_were_not_read_show_nothing():
    facts = fleet(replace(NODE, disks=Unknown("They were not read.")))
    assert the_member_has_its_disk_alone(facts, PARAMS).outcome == "unknown"


def test_a_disk_elsewhere_with_other_partitions_does_not_matter():
    """The system disk of the node is no member of the vdev."""
    members = {leaf.wwid for leaf in MEMBERS}
    disks = tuple(
        one
        if one.wwid in members or one.wwid == PARAMS.get("wwid")
        else replace(one, paths=tuple(replace(p, partitions=(f"{p.name}2",)) for p in one.paths))
        for one in DISKS
    )
    assert the_member_has_its_disk_alone(fleet(replace(NODE, disks=disks)), PARAMS).outcome == "pass"


def test_where_no_disk_of_the_vdev_is_matched_it_is_not_known():
    away = fleet(replace(NODE, disks=()))
    assert the_member_has_its_disk_alone(away, PARAMS).outcome == "unknown"


UUID = "2f1e4d9c-0a5b-4c3d-8e7f-112233445566"
BY_PARTUUID = replace(LOST_LEAF, was=f"/dev/disk/by-partuuid/{UUID}")


def test_the_partition_that_the_labels_remember_is_one_of_several():
    """The name is the id of a partition, the disk is gone, and every sibling is plain: a sibling was once replaced by a whole disk."""
    facts = with_leaf(replace(BY_PARTUUID, devid="ata-ACME_480_S2-part3"), *MEMBERS)
    verdict = the_member_has_its_disk_alone(facts, PARAMS)
    assert verdict.outcome == "refuse"
    assert "is partition 3 of its disk" in verdict.reason


@pytest.mark.parametrize("was", [BY_PARTUUID.was, None])
def test_plain_siblings_do_not_vouch_for_a_member_that_nothing_names(was):
    facts = with_leaf(replace(LOST_LEAF, was=was, name=str(LOST_LEAF.guid), devid=None), *MEMBERS)
    verdict = the_member_has_its_disk_alone(facts, PARAMS)
    assert verdict.outcome == "unknown"
    assert "the number of its partition" in verdict.reason


def test_one_plain_sibling_does_not_vouch_for_one_that_is_not_matched():
    """The serving member whose disk could not be matched may be the one with the boot partitions."""
    unmatched = replace(MEMBERS[0], wwid=Unknown("No label was joined."))
    seen = tuple(disk for disk in DISKS if disk.wwid != MEMBERS[0].wwid)
    facts = with_leaf(LOST_LEAF, unmatched, *MEMBERS[1:])
    node = next(iter(facts.nodes.values()))
    verdict = the_member_has_its_disk_alone(fleet(replace(node, disks=seen)), PARAMS)
    assert verdict.outcome == "unknown"
    assert unmatched.name in verdict.reason

"""Members on one partition of several, and members known by a partition's id: what comes before their replacement."""

from __future__ import annotations

import pytest

from workflows.engine.core import Cure
from workflows.facts import Unknown, VdevFacts
from workflows.situations import _partitions
from workflows.situations.tests.texts import commands, found, status, words

NO = Unknown("not printed")
ID = "7a1c2b7e-2d4f-4f1b-9b0e-0a5a7c1d2e3f"


def leaf(name, was=None):
    return VdevFacts(NO, name, "disk", 0, "ONLINE", NO, "", (), was)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("/dev/disk/by-id/ata-ACME_480-00005_S45PNA0M123456-part3", ("/dev/disk/by-id/ata-ACME_480-00005_S45PNA0M123456", 3)),
        ("/dev/sda3", ("/dev/sda", 3)),
        ("sdaa2", ("sdaa", 2)),
        ("nvme0n1p3", ("nvme0n1", 3)),
        ("ada0p3", ("ada0", 3)),
        ("da12p2.eli", ("da12", 2)),
        ("/dev/disk/by-id/wwn-0x5000c500a65b203b-part1", None),
        ("wwn-0x5000c500a65b203b-part9", ("wwn-0x5000c500a65b203b", 9)),
        ("sda", None),
        ("ata-WDC_WD40EFRX-68WT0N0_WD-WCC4E1234567", None),
        ("mpathap2", None),
    ],
)
def test_a_partition_beside_others_is_told_from_a_whole_disk(name, expected):
    assert _partitions.partition(leaf(name)) == expected


@pytest.mark.parametrize("name", [f"/dev/disk/by-partuuid/{ID}", f"gptid/{ID}", f"gptid/{ID}.eli", ID, f"/dev/gptid/{ID.upper()}"])
def test_the_id_of_a_partition_is_known_in_every_form(name):
    assert _partitions.partuuid(leaf(name)) == ID
    assert _partitions.partuuid(leaf("9446823917273127832", was=name)) == ID
    assert "lsblk -o NAME,PARTUUID,SERIAL,WWN" in _partitions.sentence(leaf(name))


def test_a_long_name_costs_no_more_than_its_length():
    assert _partitions.partition(leaf("p1" * 50_000)) is None
    assert _partitions.partuuid(leaf("0" * 200_000)) == ""


BOOT = status(
    "  mirror-0 DEGRADED 0 0 0",
    "    /dev/disk/by-id/ata-ACME_480_S1-part3 ONLINE 0 0 0",
    "    15523487723434523423 UNAVAIL 0 0 0  was /dev/disk/by-id/ata-ACME_480_S2-part3",
    pool="rpool",
    state="DEGRADED",
)


def test_a_boot_disk_gets_its_partitions_and_its_boot_loader():
    (one,) = [s for s in found(BOOT) if s.slug == "disk-missing"]
    text = commands(one)
    table = text.index("sgdisk /dev/disk/by-id/ata-ACME_480_S1 -R /dev/disk/by-id/NEW_DISK")
    replaced = text.index("zpool replace rpool 15523487723434523423 /dev/disk/by-id/NEW_DISK-part3")
    boots = text.index("proxmox-boot-tool init /dev/disk/by-id/NEW_DISK-part2")
    assert table < replaced < boots
    assert "not the whole disk" in one.meaning


def test_a_member_by_partuuid_is_looked_up_first():
    text = status(
        "  raidz1-0 DEGRADED 0 0 0",
        f"    /dev/disk/by-partuuid/{ID} REMOVED 0 0 0",
        f"    /dev/disk/by-partuuid/{ID.replace('7a', '8a')} ONLINE 0 0 0",
        f"    /dev/disk/by-partuuid/{ID.replace('7a', '9a')} ONLINE 0 0 0",
        state="DEGRADED",
    )
    (one,) = [s for s in found(text) if s.slug == "disk-missing"]
    assert ID in one.meaning
    assert "lsblk -o NAME,SIZE,PARTUUID,SERIAL,WWN" in commands(one)
    assert "TrueNAS" in words(one)


def test_its_own_steps_stand_before_the_replacement_and_take_its_place():
    member, pool = leaf("/dev/sda3"), type("Pool", (), {"name": "t", "state": "ONLINE", "suspended": False, "tops_read": ()})()
    others = (Cure("reseat", "first"), Cure("replace", "plain"), Cure("look", "last"))
    kinds = [(cure.kind, cure.text) for cure in _partitions.before_replacing(pool, member, others)]
    assert kinds[0] == ("reseat", "first")
    assert ("replace", "plain") not in kinds
    assert kinds[-1] == ("look", "last")
    assert _partitions.before_replacing(pool, leaf("/dev/sda"), others) == others

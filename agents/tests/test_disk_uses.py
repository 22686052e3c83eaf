"""What uses a disk is named with its kind, and each use with what ends it."""

from __future__ import annotations

import pytest

from agents.domain.disk_uses import mapped_as, way_on, ways_on

LINK = "/dev/disk/by-id/wwn-0x5000c500a65b207b"


@pytest.mark.parametrize(
    ("uuid", "name", "expected"),
    [
        ("CRYPT-LUKS2-5a1c-backup", "backup", "dm-0 (LUKS backup)"),
        ("LVM-9rZ3cM1z", "vg0-data", "dm-0 (LVM vg0-data)"),
        ("mpath-35000c500a65b207b", "mpatha", "dm-0 (multipath mpatha)"),
        ("part1-mpath-35000c500a65b207b", "mpatha1", "dm-0 (partition mpatha1 of a multipath map)"),
        ("DMRAID-isw", "isw_1", "dm-0"),
        ("", "", "dm-0"),
    ],
)
def test_the_kind_of_what_holds_a_disk_is_known_by_its_uuid(uuid, name, expected):
    assert mapped_as("dm-0", uuid, name) == expected


@pytest.mark.parametrize(
    ("use", "command"),
    [
        ("held by dm-0 (LUKS backup)", "cryptsetup close backup"),
        ("held by dm-0 (LUKS backup)", "cryptsetup luksHeaderBackup"),
        ("held by dm-0 (LVM vg0-data)", "pvmove DEVICE"),
        ("held by dm-0 (multipath mpatha)", "multipath -f MAP"),
        ("held by dm-4 (partition mpatha1 of a multipath map)", "kpartx -d /dev/disk/by-id/dm-uuid-mpath-35000c500a65b207b"),
        ("gpt partition table", f"wipefs --all --backup {LINK}"),
        ("held by dm-0 (multipath mpatha)", "/dev/disk/by-id/dm-uuid-mpath-35000c500a65b207b"),
        ("held by dm-7", "dmsetup info dm-7"),
        ("held by md127", "mdadm --stop /dev/md127"),
        ("held by bcache0", "/sys/block/bcache0/slaves"),
        ("mounted on /srv (sdg9)", "umount /srv`"),
        ("mounted on /srv/my data", "umount '/srv/my data'"),
        ("swap (sdg2)", "swapoff DEVICE"),
        ("crypto_LUKS", "cryptsetup luksDump"),
        ("linux_raid_member", "mdadm --zero-superblock"),
        ("LVM2_member", "pvremove DEVICE"),
        ("ext4", f"lsblk -f {LINK}"),
        ("something (else)", f"lsblk {LINK}"),
    ],
)
def test_each_use_has_what_ends_it(use, command):
    assert command in way_on(use, LINK)


def test_what_device_means_is_told_once_behind_all_of_them():
    text = ways_on(("crypto_LUKS", "linux_raid_member"), LINK)
    assert text.count("DEVICE is") == 1
    assert LINK in text
    assert "DEVICE" not in ways_on(("mounted on /srv",), LINK)


def test_nothing_is_told_where_nothing_uses_it():
    assert ways_on((), LINK) == ""


@pytest.mark.parametrize("mount", ["/", "/boot", "/boot/efi", "/efi", "/usr", "/var"])
def test_of_the_disk_that_the_node_runs_from_nothing_is_ended(mount):
    text = ways_on(("swap (sda3)", f"mounted on {mount} (sda1)"), LINK)
    assert f"({mount} is on it)" in text
    assert "umount" not in text
    assert "swapoff" not in text

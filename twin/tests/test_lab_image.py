"""What a node's answers owe to its Debian and its kernel, and to the release by which a pulled disk is noted."""

import pytest

from agents.tests import scenes
from twin import disk_names
from twin.lab_image import BOOKWORM, image_of
from twin.scenarios import Clock, host, lab_disk, plug, tiny, unplug

WWID = "naa:5000c500a65b202b"


def _state(node, number=2):
    return node.pool("ost_0").leaves()[number].state


@pytest.mark.parametrize(
    "release", [release for release in scenes.RELEASES if any(release in scenes.played(name) for name in scenes.SCENES)]
)
def test_the_kernel_is_the_one_that_the_scenes_were_played_on(release):
    for name in scenes.SCENES:
        if release in scenes.played(name):
            assert f"Linux {image_of(f'{release}-1').kernel}," in scenes.kept(release, name).head


def test_a_series_without_an_image_is_played_on_bookworm():
    assert image_of("0.8.6-1") is BOOKWORM


def test_with_the_rules_of_sg3_utils_zfs_stores_the_link_that_is_sorted_first():
    disk = lab_disk(2, 2)
    assert disk_names.devid(disk) == "scsi-35000c500a65b202b-part1"
    assert disk_names.devid(disk, 1, sg3_rules=True) == "scsi-0SEAGATE_ST10000NM0256_ZA20002X-part1"
    assert set(disk_names.links(disk, disk.paths[0], True)) - set(disk_names.links(disk, disk.paths[0])) == {
        "/dev/disk/by-id/scsi-0SEAGATE_ST10000NM0256_ZA20002X",
        "/dev/disk/by-id/scsi-SSEAGATE_ST10000NM0256_ZA20002X",
    }


@pytest.mark.parametrize(
    ("kernel", "exit_code", "printed"),
    [
        ("5.10.0-32-amd64", 0, "failed to invalidate cache '/dev/sda1' : No such device\n---"),
        ("5.14.0-427.el9.x86_64", 2, "failed to read label 0\n"),
        ("6.12.117+deb13-amd64", 1, "cannot open '/dev/sda1': No such device or address\n"),
        ("", 2, "failed to read label 0\n"),
    ],
)
def test_what_zdb_says_of_an_offline_member_goes_by_the_kernel(kernel, exit_code, printed, tmp_path):
    node = tiny()
    node.kernel = kernel
    node.disks[0].paths[0].state = "offline"
    ran = host(tmp_path, node, Clock()).run(("zdb", "-l", "/dev/sda1"), 10)
    assert (ran.exit_code, ran.stdout.decode()[: len(printed)]) == (exit_code, printed)


@pytest.mark.parametrize(
    ("release", "state"), [("2.0.3-1", "ONLINE"), ("2.1.9-1", "ONLINE"), ("2.1.10-1", "REMOVED"), ("2.2.9-1", "REMOVED")]
)
def test_a_member_whose_disk_is_pulled(release, state):
    node = tiny(release)
    unplug(node, WWID)
    assert _state(node) == state


@pytest.mark.parametrize(
    ("release", "state"),
    [("2.0.3-1", "UNAVAIL"), ("2.1.9-1", "UNAVAIL"), ("2.1.10-1", "REMOVED"), ("2.2.9-1", "REMOVED"), ("2.3.0-1", "UNAVAIL")],
)
def test_a_member_that_is_brought_online_after_its_disk_went_while_it_was_offline(release, state, tmp_path):
    node = tiny(release)
    node.pool("ost_0").leaves()[2].state = "OFFLINE"
    unplug(node, WWID)
    twin = host(tmp_path, node, Clock())
    assert twin.run(("zpool", "online", "ost_0", str(node.pool("ost_0").leaves()[2].guid)), 10).exit_code == 0
    assert _state(twin.view().node) == state


def test_a_member_that_could_not_be_opened_serves_again_when_its_disk_is_back(tmp_path):
    node = tiny("2.0.3-1")
    disk = unplug(node, WWID)
    twin = host(tmp_path, node, Clock())
    twin.run(("zpool", "online", "ost_0", str(node.pool("ost_0").leaves()[2].guid)), 10)
    assert _state(twin.view().node) == "UNAVAIL"
    with twin.store.changing() as now:
        plug(now, disk, now.enclosures[0].bays[2])
    assert _state(twin.view().node) == "ONLINE"

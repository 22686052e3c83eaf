"""disk_wipe overwrites what it planned on the one disk that a pool let go of, and nothing of any other; what it reads back decides."""

from __future__ import annotations

import base64
import errno
import os
import zlib
from dataclasses import replace

import pytest

from agents.host.host import LocalHost
from agents.operations import _areas
from agents.operations import disk_wipe as operation
from agents.operations.base import Unread
from twin import scenarios
from twin.model import Partition

MIB = 1024 * 1024


@pytest.fixture
def twin(tmp_path):
    return scenarios.host(tmp_path, scenarios.superseded(), scenarios.Clock())


def old_disk(twin):
    return twin.view().node.disks[6]


def params(twin) -> dict[str, str]:
    pool, disk = twin.view().node.pool("ost_0"), old_disk(twin)
    return {"pool": "ost_0", "pool_guid": str(pool.guid), "vdev_guid": str(disk.partitions[0].label.guid), "wwid": disk.wwid}


def against(twin, given) -> str:
    lines = operation.guards(operation.preconditions(twin, given), given)
    return " ".join(reason for outcome, reason in lines if outcome != "pass")


def erased(twin) -> list[list[str]]:
    return [line["argv"] for line in twin.store.logged() if line["argv"][0] == "erase"]


def changed(twin):
    return twin.store.changing()


def test_a_disk_that_the_pool_let_go_of_is_wiped_whole_and_no_other(twin):
    given = params(twin)
    pre = operation.preconditions(twin, given)
    assert against(twin, given) == ""
    assert operation.probe(twin, given, pre).result == "did_not"
    others = [disk.partitions for disk in twin.view().node.disks if disk.wwid != given["wwid"]]
    ran = operation.perform(twin, given)
    assert (ran.exit_code, ran.stderr) == (0, b"")
    assert ran.stdout.decode().count("zeros written") == 4
    assert old_disk(twin).partitions == []
    assert [disk.partitions for disk in twin.view().node.disks if disk.wwid != given["wwid"]] == others
    assert operation.probe(twin, given, pre).result == "did"
    after = operation.preconditions(twin, given)
    assert [after[name] for name in ("disk.labels", "disk.contents", "disk.partitions")] == ["none"] * 3
    assert "Only a disk whose one label" in against(twin, given), "what is wiped is not wiped again"


def test_it_is_opened_by_its_own_link_and_written_in_the_planned_areas_only(twin):
    given = params(twin)
    pre = operation.preconditions(twin, given)
    operation.perform(twin, given)
    ((_, path, *regions),) = erased(twin)
    assert path == pre["disk.by_id"]
    assert "/sd" not in path
    assert regions == [area.partition(" ")[0] for area in pre["disk.areas"].split("; ")]
    size = old_disk(twin).size_bytes
    assert regions == ["1048576+524288", regions[1], f"{size - size % 262144 - 524288}+{524288 + size % 262144}", "0+524288"]


def test_the_plan_keeps_what_is_on_the_disk(twin):
    given = params(twin)
    plan = operation.describe(twin, given)
    assert any(given["vdev_guid"] in line for line in plan["labels"])
    table = zlib.decompress(base64.b64decode(plan["leaving"]["partition_table"]))
    assert (len(table), any(table)) == (24576, True)
    assert plan["leaving"]["partitions"].startswith("1 at 1048576+")
    assert plan["leaving"]["protection_type"] == "none"


def member_again(node):
    node.pool("ost_0").tops[0].children[2].guid = node.disks[6].partitions[0].label.guid
    node.disks[2].partitions[0].label.guid = node.disks[6].partitions[0].label.guid


def two_paths(node):
    node.disks[6].paths.append(replace(node.disks[6].paths[0], name="sdy", hctl="2:0:99:0"))


def newer_label(node):
    node.disks[6].partitions[0].label.txg = 4400


def of_a_vdev_that_is_gone(node):
    node.disks[6].partitions[0].label.top.guid += 1


def lost_member(node):
    node.pool("ost_0").tops[0].children[0].state = "OFFLINE"


def own_partition(node):
    node.disks[6].partitions.append(Partition(2, 900000, 1000))


def file_system(node):
    node.disks[6].partitions[1].filesystem = "ext4"


def held(node):
    node.disks[6].holders.append("dm-0")


def mounted(node):
    node.mounts.append(f"/dev/{node.disks[6].paths[0].name}9 /srv ext4 rw 0 0")


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (member_again, "A member is never wiped"),
        (newer_label, "is of txg 4400, and the newest of raidz2-0 is of 4000: it is not older"),
        (of_a_vdev_that_is_gone, "which ost_0 does not have"),
        (two_paths, "2 paths lead to"),
        (lost_member, "its last good copy"),
        (own_partition, "partition 2, which ZFS did not make"),
        (file_system, "also holds ext4"),
        (held, "is held by dm-0"),
        (mounted, "is in use: mounted on /srv"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_it_refuses(twin, change, expected):
    given = params(twin)
    with changed(twin) as node:
        change(node)
    assert expected in against(twin, given)


def test_a_pool_that_is_being_filled_keeps_its_old_disks(tmp_path):
    node = scenarios.superseded()
    other = scenarios.replacement()
    node.pools, node.disks[2] = other.pools, other.disks[2]
    node.disks[7].partitions[:] = other.disks[6].partitions
    twin = scenarios.host(tmp_path, node, scenarios.Clock())
    assert "fills a disk or has one being replaced" in against(twin, params(twin))


def test_one_that_was_let_go_of_while_it_served_is_wiped_too(twin):
    """ZFS leaves it a label of txg 0."""
    given = params(twin)
    with changed(twin) as node:
        node.disks[6].partitions[0].label.txg = 0
    assert against(twin, given) == ""


def test_a_pool_that_is_not_imported_here_is_not_enough(twin):
    given = params(twin)
    with changed(twin) as node:
        node.pool("ost_0").imported = False
    assert "0 pools named ost_0 are imported on this node" in against(twin, given)


class Wrong:
    """The twin, whose erase opens what another one chose."""

    def __init__(self, twin, name: str = "", held=None, error: int = 0) -> None:
        self._twin, self._name, self._held, self._error = twin, name, held, error

    def __getattr__(self, name):
        return getattr(self._twin, name)

    def erase(self, path, regions, agrees):
        if self._error:
            raise OSError(self._error, os.strerror(self._error), path)
        return self._twin.erase(path, regions, lambda name, held: agrees(self._name or name, held if self._held is None else self._held))


def test_nothing_is_written_where_the_open_device_is_another_disk(twin):
    ran = operation.perform(Wrong(twin, name="sda"), params(twin))
    assert (ran.exit_code, ran.stdout) == (1, b"")
    assert b"opened sda, which is naa:5000c500a65b200b. Nothing was written" in ran.stderr
    assert len(old_disk(twin).partitions) == 2


@pytest.mark.parametrize(
    ("held", "expected"),
    [(b"", "ends before its areas do"), (bytes(4 * 524288), "no label on it names this pool and this vdev")],
    ids=["short", "blank"],
)
def test_nothing_is_written_where_the_open_device_does_not_carry_the_label(twin, held, expected):
    given = params(twin)
    size = old_disk(twin).size_bytes % 262144
    ran = operation.perform(Wrong(twin, held=held + bytes(size) if held else held), given)
    assert ran.exit_code == 1
    assert f"{expected}. Nothing was written" in ran.stderr.decode()
    assert len(old_disk(twin).partitions) == 2


def test_a_label_of_another_member_is_a_stranger():
    region = ((0, 524288),)
    bytes_of = lambda pool, guid: bytes(16384) + _areas.pair("pool_guid", pool) + _areas.pair("guid", guid) + b"vdev_tree"  # noqa: E731
    label = bytes_of(7, 8)
    assert _areas.strangers(region, label.ljust(524288, b"\0"), "7", "8") == ""
    assert "another pool or another vdev" in _areas.strangers(region, label.ljust(524288, b"\0"), "7", "9")
    two = label.ljust(262144, b"\0") + bytes_of(7, 9).ljust(262144, b"\0")
    assert "another pool or another vdev" in _areas.strangers(region, two, "7", "8")
    sibling = (bytes(16384) + _areas.pair("pool_guid", 7) + _areas.pair("guid", 8) + b"vdev_tree" + _areas.pair("guid", 9)).ljust(
        524288, b"\0"
    )
    assert "another" in _areas.strangers(region, sibling, "7", "9"), "a guid in the tree is that of a sibling"


@pytest.mark.parametrize("area", [(512, 4096), (4096, 1000), (0, 8192), (-4096, 4096)])
def test_an_area_that_is_not_of_whole_blocks_of_the_disk_is_never_written(area):
    with pytest.raises(Unread, match="is not a whole number"):
        _areas._checked(4096, area)


def test_the_kernel_refuses_a_disk_that_something_has_open(twin):
    ran = operation.perform(Wrong(twin, error=errno.EBUSY), params(twin))
    assert (ran.exit_code, ran.stdout) == (1, b"")
    assert b"busy" in ran.stderr


def test_what_was_half_done_is_for_people(twin):
    given = params(twin)
    pre = operation.preconditions(twin, given)
    with changed(twin) as node:
        node.disks[6].partitions[0].label.copies = [2, 3]
    probe = operation.probe(twin, given, pre)
    assert probe.result == "cannot_tell"
    assert "Only a part of" in probe.reason
    assert "1048576+524288" not in probe.reason
    assert operation.probe(twin, given, {}).result == "cannot_tell"


@pytest.fixture
def device(tmp_path, monkeypatch):
    """A file in place of a block device; the kernel's name of it is given."""
    path = tmp_path / "disk"
    path.write_bytes(b"x" * (2 * MIB))
    monkeypatch.setattr("agents.host.host._kernel_name", lambda descriptor, path: "sdq")
    return path


def test_the_real_host_writes_zeros_where_it_is_asked_to_and_reads_them_back(device):
    seen = []
    left = LocalHost().erase(str(device), ((4096, 8192), (MIB, 4096)), lambda name, held: seen.append((name, held)))
    assert seen == [("sdq", b"x" * 12288)]
    assert left == bytes(12288)
    now = device.read_bytes()
    assert now == b"x" * 4096 + bytes(8192) + b"x" * (MIB - 12288) + bytes(4096) + b"x" * (MIB - 4096)


def test_the_real_host_writes_nothing_where_it_is_not_agreed(device):
    def no(name, held):
        raise ValueError("another disk")

    with pytest.raises(ValueError, match="another disk"):
        LocalHost().erase(str(device), ((0, 4096),), no)
    assert device.read_bytes() == b"x" * (2 * MIB)


def test_the_real_host_erases_block_devices_only(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"x" * 4096)
    with pytest.raises(OSError, match="not a block device"):
        LocalHost().erase(str(path), ((0, 4096),), lambda name, held: None)
    assert path.read_bytes() == b"x" * 4096

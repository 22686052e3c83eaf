"""disk_wipe_destroyed overwrites one disk of a destroyed pool, and refuses whatever shows that the pool is not destroyed any more."""

from __future__ import annotations

import copy

import pytest

from agents.operations import _areas
from agents.operations import disk_wipe_destroyed as operation
from agents.tests.test_disk_wipe import file_system, held, mounted, own_partition
from twin import scenarios
from twin.model import Label


@pytest.fixture
def twin(tmp_path):
    return scenarios.host(tmp_path, scenarios.destroyed(), scenarios.Clock())


def old_disk(twin):
    return twin.view().node.disks[6]


def params(twin) -> dict[str, str]:
    pool, disk = twin.view().node.pool("scratch"), old_disk(twin)
    return {"pool": "scratch", "pool_guid": str(pool.guid), "vdev_guid": str(disk.partitions[0].label.guid), "wwid": disk.wwid}


def against(twin, given) -> str:
    lines = operation.guards(operation.preconditions(twin, given), given)
    return " ".join(reason for outcome, reason in lines if outcome != "pass")


def changed(twin):
    return twin.store.changing()


def test_a_disk_of_a_destroyed_pool_is_wiped_whole_and_no_other(twin):
    given = params(twin)
    pre = operation.preconditions(twin, given)
    assert against(twin, given) == ""
    assert [pre[name] for name in ("pool.here", "pool.listed", "pool.labels", "disk.label_state")] == ["none", "0", "none", "2"]
    assert operation.probe(twin, given, pre).result == "did_not"
    others = [disk.partitions for disk in twin.view().node.disks if disk.wwid != given["wwid"]]
    ran = operation.perform(twin, given)
    assert (ran.exit_code, ran.stderr) == (0, b"")
    assert ran.stdout.decode().count("zeros written") == 4
    assert old_disk(twin).partitions == []
    assert [disk.partitions for disk in twin.view().node.disks if disk.wwid != given["wwid"]] == others
    assert operation.probe(twin, given, pre).result == "did"
    assert "Only a disk whose one label" in against(twin, given), "what is wiped is not wiped again"


def test_the_plan_keeps_what_is_on_the_disk(twin):
    given = params(twin)
    plan = operation.describe(twin, given)
    assert any("state: 2" in line for line in plan["labels"])
    assert plan["leaving"]["partition_table"]


def brought_back(node):
    node.pool("scratch").imported, node.pool("scratch").state = True, 0


def brought_back_and_exported(node):
    node.pool("scratch").state = 1


def brought_back_without_this_disk(node):
    """The label of this disk stays destroyed, and that of the other one is in use."""
    was = node.pool("scratch")
    other = copy.deepcopy(was)
    other.name, other.state, other.imported = "scratch_back", 0, False
    node.pools.append(other)
    label = node.disks[7].partitions[0].label
    node.disks[7].partitions[0].label = Label("scratch_back", label.guid, label.txg + 1, top=other.tops[0])


def of_a_pool_in_use(node):
    node.pool("scratch").guid += 1


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (brought_back, "is imported here as scratch. It was brought back"),
        (brought_back_and_exported, "are in state 1, and only 2 is that of a destroyed pool"),
        (brought_back_and_exported, "`zpool import` lists scratch"),
        (brought_back_without_this_disk, "The label on sdh1 does not say that scratch"),
        (of_a_pool_in_use, "Only a disk whose one label is pool scratch"),
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


def test_a_disk_beside_it_that_does_not_answer_may_be_of_the_pool_that_was_brought_back(twin):
    given = params(twin)
    with changed(twin) as node:
        brought_back_without_this_disk(node)
        node.faults.hangs.append(node.disks[7].wwid)
    assert "the label of sdh1 is not known, and may be of this pool" in against(twin, given)


def test_nothing_is_written_where_the_label_says_otherwise_through_the_open_device(twin):
    """The pool was brought back and exported between the plan and the order."""
    given = params(twin)
    with changed(twin) as node:
        brought_back_and_exported(node)
    ran = operation.perform(twin, given)
    assert (ran.exit_code, ran.stdout) == (1, b"")
    assert b"does not say that its pool was destroyed. Nothing was written" in ran.stderr
    assert len(old_disk(twin).partitions) == 2


def test_the_kernel_refuses_a_disk_whose_pool_is_imported_again(twin):
    given = params(twin)
    with changed(twin) as node:
        brought_back(node)
    ran = operation.perform(twin, given)
    assert (ran.exit_code, ran.stdout) == (1, b"")
    assert b"busy" in ran.stderr


@pytest.mark.parametrize(("state", "expected"), [(2, ""), (0, "does not say that its pool was destroyed"), (3, "does not say")])
def test_every_label_must_say_so(state, expected):
    region = ((0, 524288),)
    pairs = (("state", 2), ("pool_guid", 7), ("guid", 8)), (("state", state), ("pool_guid", 7), ("guid", 8))
    held = b"".join(
        (bytes(16384) + b"".join(_areas.pair(*pair) for pair in label) + b"vdev_tree" + _areas.pair("state", 2)).ljust(262144, b"\0")
        for label in pairs
    )
    why = _areas.strangers(region, held, "7", "8", destroyed=True)
    assert expected in why
    assert bool(why) == bool(expected)

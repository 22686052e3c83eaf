"""A disk behind a multipath map: it is one disk where map and paths say so alike, is named by its map, and by nothing that moves."""

from __future__ import annotations

import copy
from dataclasses import dataclass

import pytest

from agents.collectors import multipath
from agents.collectors.multipath import MultipathMap, MultipathPath
from agents.domain.multipath_maps import map_of, path_of, paths_down, paths_up, states, uuid_of
from agents.operations import disk_delete, disk_wipe, zpool_add, zpool_add_class, zpool_attach, zpool_replace, zpool_replace_serving
from twin import build, disk_kinds, scenarios
from twin.host import TwinHost
from twin.store import Store

WWID, UUID = "naa:5000c500a65b207b", "mpath-35000c500a65b207b"
LINK = f"/dev/disk/by-id/dm-uuid-{UUID}"


@dataclass(frozen=True)
class Device:
    name: str
    holders: tuple[str, ...] | None


def made(dm="dm-3", uuid=UUID, slaves=("sda", "sdq"), name="mpatha"):
    return MultipathMap(dm, name, WWID, tuple(MultipathPath(slave, "active", "ready") for slave in slaves), uuid)


PATHS = (Device("sda", ("dm-3",)), Device("sdq", ("dm-3",)))


def test_a_map_of_exactly_its_paths_is_the_disk():
    assert map_of(WWID, PATHS, (made(), made("dm-4", "mpath-35000c500a65b208b", ("sdb", "sdr")))) == (made(), "")
    assert map_of(WWID, PATHS, ()) == (None, "")
    assert path_of(WWID, UUID) == LINK
    assert path_of(WWID) == "/dev/disk/by-id/wwn-0x5000c500a65b207b"


@pytest.mark.parametrize(
    ("devices", "maps", "why"),
    [
        (PATHS, (made(), made("dm-9")), "dm-3 and dm-9 are multipath maps on one disk"),
        (PATHS, (made(slaves=("sda",)), made("dm-9", "mpath-35000c500a65b208b", ("sdq",))), "dm-3 and dm-9 are multipath maps on one disk"),
        (PATHS, (made(slaves=("sda", "sdq", "sdz")),), "has the path sdz, which does not report that it is this disk"),
        (PATHS, (made(slaves=("sda",)),), "sdq leads to naa:5000c500a65b207b and is no path of its map dm-3"),
        (PATHS, (made(slaves=()),), "sda, sdq leads to naa:5000c500a65b207b and is no path of its map dm-3"),
        (PATHS, (made(uuid="mpath-35000c500a65b208b"),), "the map dm-3 is mpath-35000c500a65b208b"),
        (PATHS, (made(uuid="mpath-alias"),), "the map dm-3 is mpath-alias"),
        ((PATHS[0], Device("sdq", ())), (made(),), "sysfs does not show that dm-3 holds it"),
        ((PATHS[0], Device("sdq", None)), (made(),), "sysfs does not show what holds sdq"),
    ],
)
def test_a_map_that_is_not_the_whole_disk_is_not_known(devices, maps, why):
    found, reason = map_of(WWID, devices, maps)
    assert found is None
    assert why in reason


@pytest.mark.parametrize("wwid", ["eui:0025385b71b00001", "ata:WDC_WD40EFRX:WD-1", "t10:ATA x", ""])
def test_a_disk_without_an_naa_name_is_not_known_by_a_map(wwid):
    assert uuid_of(wwid) is None
    found, reason = map_of(wwid, PATHS, (made(),))
    assert found is None
    assert "no NAA name" in reason


def test_a_path_is_up_down_or_neither():
    words = (
        ("sda", "active", "ready"),
        ("sdb", "failed", "faulty"),
        ("sdc", "active", "ghost"),
        ("sdd", None, None),
        ("sde", "active", "shaky"),
    )
    one = MultipathMap("dm-3", "mpatha", WWID, tuple(MultipathPath(*each) for each in words), UUID)
    assert paths_up(one) == ("sda",)
    assert paths_down(one) == ("sdb", "sde")
    assert "sdd no state" in states(one)


TEXT = """\
/sys/block:dm-3 dm-4 dm-5 dm-6
/sys/block/dm-3/dm/uuid:mpath-35000c500a65b207b
/sys/block/dm-3/dm/name:mpatha
/sys/block/dm-3/size:2048
/sys/block/dm-3/ro:0
/sys/block/dm-3/slaves:sda sdq
/sys/block/dm-3/holders:dm-4
/sys/block/dm-4/dm/uuid:part1-mpath-35000c500a65b207b
/sys/block/dm-4/dm/name:mpatha1
/sys/block/dm-4/slaves:dm-3
/sys/block/dm-4/holders:dm-5
/sys/block/dm-5/dm/uuid:CRYPT-LUKS2-1-x
/sys/block/dm-5/dm/name:x
/sys/block/dm-5/slaves:dm-4
/sys/block/dm-6/dm/uuid:part1-mpath-35000c500a65b207b
/sys/block/dm-6/slaves:dm-7
"""


def test_a_map_has_its_own_partitions_and_what_holds_each():
    (one,) = multipath.parse(TEXT)
    assert (one.uuid, one.size_bytes, one.read_only, one.holders) == (UUID, 2048 * 512, False, ("dm-4",))
    assert [(part.dm, part.name, part.holders) for part in one.partitions] == [("dm-4", "mpatha1", ("dm-5",))]
    assert one.devices == ("dm-3", "dm-4")


# --- on the twin


@pytest.fixture
def host(tmp_path):
    node = disk_kinds.turned(scenarios.tiny(), disk_kinds.multipath)
    node.mounts = ["sysfs /sys sysfs rw,nosuid 0 0"]
    scenarios.pull(node, node.disks[2].wwid)
    Store(tmp_path / "state.json").create(node)
    return TwinHost(tmp_path / "state.json")


def params(host, **more):
    node = host.store.view().node
    pool = node.imported[0]
    lost = next(leaf for leaf in pool.leaves() if leaf.state == "REMOVED")
    wwid = node.disks[-1].wwid
    return {"pool": pool.name, "pool_guid": str(pool.guid), "vdev_guid": str(lost.guid), "wwid": wwid, "map": str(uuid_of(wwid)), **more}


def against(operation, host, given):
    return [reason for outcome, reason in operation.guards(operation.preconditions(host, given), given) if outcome != "pass"]


def test_the_new_disk_is_its_map(host):
    given = params(host)
    assert zpool_replace.check(given) == ""
    assert against(zpool_replace, host, given) == []
    plan = zpool_replace.describe(host, given)
    assert plan["preconditions"]["disk.map"] == given["map"]
    assert plan["incoming"]["paths"] == "sddd active ready, sdh active ready"
    argv = zpool_replace.argv(given)
    assert argv[-1] == f"/dev/disk/by-id/dm-uuid-{given['map']}"
    assert host.run(argv, 10).exit_code == 0
    assert zpool_replace.probe(host, given, plan["preconditions"]).result == "did"
    status = host.run(("zpool", "status", "-P"), 10).stdout.decode()
    assert f"{argv[-1]}  " in status
    assert f"{argv[-1]}-part" not in status, "ZFS does not partition a map"


def test_without_its_map_the_disk_refuses(host):
    given = {name: value for name, value in params(host).items() if name != "map"}
    (reason,) = against(zpool_replace, host, given)
    assert "leads to dm-7, a multipath map" in reason


@pytest.mark.parametrize("uuid", ["", "mpath-35000c500a65b201b", "mpatha", "/dev/mapper/mpatha"])
def test_a_map_that_is_not_that_of_the_disk_is_no_parameter(host, uuid):
    for operation, more in ((zpool_replace, {}), (zpool_replace_serving, {}), (zpool_attach, {}), (zpool_add, {"role": "spare"})):
        given = {name: value for name, value in params(host, map=uuid, **more).items() if name != "vdev_guid" or operation is not zpool_add}
        assert "is not the multipath map of" in operation.check(given)


def one_path_down(node):
    node.disks[-1].paths[1].state = "offline"


def every_path_down(node):
    for path in node.disks[-1].paths:
        path.state = "offline"


def held(node):
    node.disks[-1].holders.append("dm-99")


def a_path_outside(node):
    other = copy.deepcopy(node.disks[-1])
    other.map, other.paths = None, other.paths[:1]
    other.paths[0].name, other.paths[0].hctl = "sdzz", "3:0:7:0"
    node.disks.append(other)


def no_map(node):
    node.disks[-1].map = None


def another_map(node):
    node.disks[-1].map, node.disks[0].map = node.disks[0].map, node.disks[-1].map


def partitioned(node):
    disk = node.disks[-1]
    above, disk.map = disk.map, None
    build.partition(disk)
    disk.map = above


def a_label(node):
    disk = node.disks[-1]
    disk.partitions = copy.deepcopy(node.disks[0].partitions)


def no_daemon(node):
    node.faults.absent.append("multipathd")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (every_path_down, "without a path that takes I/O (sddd failed faulty, sdh failed faulty)"),
        (no_daemon, "without a path that takes I/O (sddd no state, sdh no state)"),
        (held, "is held by dm-99"),
        (a_path_outside, "sdzz leads to naa:5000c500a65b207b and is no path of its map dm-7"),
        (no_map, "leads nowhere on this node"),
        (partitioned, "gpt partition table"),
        (a_label, "carries a ZFS label"),
    ],
)
def test_what_forbids_to_write_to_a_map(host, change, why):
    with host.store.changing() as node:
        change(node)
    reasons = against(zpool_replace, host, params(host))
    assert any(why in reason for reason in reasons), reasons


def test_one_path_is_enough_and_the_order_stays_the_same(host):
    given, before = params(host), zpool_replace.preconditions(host, params(host))
    with host.store.changing() as node:
        one_path_down(node)
    assert zpool_replace.preconditions(host, given) == before
    assert against(zpool_replace, host, given) == []
    assert zpool_replace.describe(host, given)["incoming"]["paths"] == "sddd failed faulty, sdh active ready"


def test_the_map_is_found_by_its_uuid_though_aliases_and_numbers_move(host):
    given, before = params(host), zpool_replace.preconditions(host, params(host))
    with host.store.changing() as node:
        another_map(node)
    assert zpool_replace.preconditions(host, given) == before


def test_two_disks_behind_maps_become_a_mirror_of_their_maps(host):
    node = host.store.view().node
    new = [disk.wwid for disk in node.disks[-2:]]
    given = {**{name: params(host)[name] for name in ("pool", "pool_guid")}, "role": "special", "ashift": "12", "wwids": " ".join(new)}
    both = {**given, "maps": " ".join(str(uuid_of(wwid)) for wwid in new)}
    assert zpool_add_class.check(both) == ""
    assert zpool_add_class.paths(both) == tuple(f"/dev/disk/by-id/dm-uuid-{uuid_of(wwid)}" for wwid in new)
    pre = zpool_add_class.preconditions(host, both)
    assert (pre["disk_1.map"], pre["disk_2.map"]) == tuple(map(uuid_of, new))
    assert [pre[f"disk_{n}.{name}"] for n in (1, 2) for name in ("state", "holders", "labels")] == ["running", "none", "none"] * 2
    for wrong in ("", "mpatha", f"{uuid_of(new[0])} {uuid_of(new[0])}", str(uuid_of(node.disks[0].wwid))):
        assert "are not multipath maps of" in zpool_add_class.check({**given, "maps": wrong})
    one = {**given, "maps": str(uuid_of(new[1]))}
    assert zpool_add_class.paths(one)[0] == path_of(new[0])


def test_a_spare_behind_a_map_is_added_by_it(host):
    given = {**{name: params(host)[name] for name in ("pool", "pool_guid", "wwid", "map")}, "role": "spare"}
    assert against(zpool_add, host, given) == []
    assert host.run(zpool_add.argv(given), 10).exit_code == 0
    assert zpool_add.probe(host, given, {}).result == "did"


@pytest.mark.parametrize("operation", [disk_delete, disk_wipe])
def test_what_is_behind_a_map_is_neither_deleted_nor_wiped_and_the_commands_are_given(host, operation):
    given = {name: params(host)[name] for name in operation.PARAMS}
    reasons = " ".join(against(operation, host, given))
    assert "a multipath map" in reasons
    assert "multipath -f MAP" in reasons


def test_a_question_whose_fact_was_not_read_refuses():
    """Also of a fact that only some disks have."""
    given = {"pool": "p", "pool_guid": "1", "vdev_guid": "2", "wwid": WWID, "map": UUID}
    assert any("disk.map" in reason for outcome, reason in zpool_replace.guards({}, given) if outcome == "unknown")

"""Members that a pool knows by a bay's alias, a partition's UUID or a mapped device: the disk behind such a name is found."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from agents.collectors import COLLECTORS
from agents.collectors.disk_links import parse
from twin import scenarios
from twin.host import TwinHost
from twin.store import Store
from workflows.facts import FleetFacts, known, lookup, node_facts
from workflows.facts.read.disks import mapped

OTHER_NAMES = {
    "by-vdev, the disk": ("/dev/disk/by-vdev/A3", "/dev/disk/by-vdev/A3 -> /dev/sdc\n"),
    "by-vdev, its partition": ("/dev/disk/by-vdev/A3-part1", "/dev/disk/by-vdev/A3 -> /dev/sdc\n/dev/disk/by-vdev/A3-part1 -> /dev/sdc1\n"),
    "by-partuuid": (
        "/dev/disk/by-partuuid/0c2b9a4e-1111-4f00-8a00-000000000003",
        "/dev/disk/by-partuuid/0c2b9a4e-1111-4f00-8a00-000000000003 -> /dev/sdc1\n",
    ),
}


def facts(tmp_path, name: str, links: str):
    """The raidz2 of six as it is, but its third member goes by `name`, and the node has these links."""
    Store(tmp_path / "state.json").create(scenarios.tiny())
    host = TwinHost(tmp_path / "state.json")
    bodies = {}
    for collector in COLLECTORS.values():
        for capture in collector.collect(host):
            bodies[f"{capture.source}/{capture.key}" if capture.key else capture.source] = capture.body()
    old = host.view().node.pool("ost_0").leaves()[2].path
    bodies["disk_links"] = {**bodies["disk_links"], "text": bodies["disk_links"]["text"] + links}
    bodies["zpool_status"] = {**bodies["zpool_status"], "text": bodies["zpool_status"]["text"].replace(old, name)}
    return node_facts("oss01", bodies, 0.5, (), ages=dict.fromkeys(COLLECTORS, 0.5))


def member(node):
    (pool,) = node.pools
    return next(leaf for _, top in pool.tops for leaf in top.leaves() if not leaf.name.startswith("/dev/disk/by-id/"))


@pytest.mark.parametrize(("name", "links"), OTHER_NAMES.values(), ids=OTHER_NAMES)
def test_the_disk_behind_another_name_is_found(tmp_path, name, links):
    node = facts(tmp_path, name, links)
    third = scenarios.lab_disk(2, 2).wwid
    assert member(node).wwid == third
    assert lookup.at_path(node, name).wwid == third
    assert [owner.vdev.name for owner in lookup.owner_of_disk(FleetFacts({"oss01": node}), third)] == [name]


@pytest.mark.parametrize(("name", "links"), OTHER_NAMES.values(), ids=OTHER_NAMES)
def test_a_name_that_leads_to_another_disk_than_the_label_is_not_followed(tmp_path, name, links):
    node = facts(tmp_path, name, links.replace("/dev/sdc", "/dev/sdd"))
    assert not known(member(node).wwid)
    assert "leads to" in member(node).wwid.reason


def test_a_link_in_by_id_is_all_that_a_write_could_name(tmp_path):
    node = facts(tmp_path, *OTHER_NAMES["by-vdev, the disk"])
    third = next(disk for disk in node.disks if disk.wwid == scenarios.lab_disk(2, 2).wwid)
    assert all(link.startswith("/dev/disk/by-id/") for path in third.paths for link in path.by_id)
    assert third.paths[0].other_names == ("/dev/disk/by-vdev/A3",)


def device(name, wwid, holders=(), of_partition=()):
    return SimpleNamespace(name=name, wwid=wwid, holders=holders, partitions=(SimpleNamespace(name=f"{name}1", holders=of_partition),))


def test_a_mapped_device_is_its_one_disk_and_one_on_several_is_none():
    luks = device("sda", "naa:5000c500a65b200b", of_partition=("dm-0",))
    paths = [device(name, "naa:5000c500a65b201b", holders=("dm-1",)) for name in ("sdb", "sdq")]
    striped = [device(name, f"naa:5000c500a65b20{digit}b", holders=("dm-2",)) for name, digit in (("sdc", 2), ("sdd", 3))]
    assert mapped([luks, *paths, *striped]) == {"dm-0": "naa:5000c500a65b200b", "dm-1": "naa:5000c500a65b201b"}


def test_links_of_mapped_devices_and_bays_are_read():
    text = "/dev/disk/by-vdev/A3 -> /dev/sdc\n/dev/mapper/luks-1 -> /dev/dm-0\n/dev/disk/by-partuuid/a-b -> /dev/sdc1\n"
    assert parse(text) == (("/dev/disk/by-vdev/A3", "sdc"), ("/dev/mapper/luks-1", "dm-0"), ("/dev/disk/by-partuuid/a-b", "sdc1"))

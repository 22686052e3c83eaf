"""Every scenario can be played beside the demo fleet and all others: no disk, guid, hostid or serial number is anybody else's."""

from __future__ import annotations

import json

import pytest

from twin import demo, rack
from twin.store import Store
from workflows.rehearsal import scenarios, tryout

NOW = 1795248315.0


def identities(node):
    """What must not be found on two nodes, unless they share a shelf."""
    disks = {disk.wwid for disk in (*node.disks, *node.deleted)} | {disk.serial for disk in node.disks}
    guids = {vdev.guid for pool in node.pools for vdev in pool.walk()} | {pool.guid for pool in node.pools}
    return disks | guids | {enclosure.id for enclosure in node.enclosures}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    return {name: tryout.make(folder, name, NOW) for name in scenarios.names()}, demo.make(folder)


def test_no_two_scenarios_share_anything_and_none_shares_with_the_fleet(made):
    played, fleet = made
    everybody = [Store(path).view().node for path in (*played.values(), *fleet)]
    seen = [identities(node) for node in everybody]
    for place, one in enumerate(seen):
        for other in seen[:place]:
            assert not one & other
    assert len({node.hostid for node in everybody}) == len({node.hostname for node in everybody}) == len(everybody)


@pytest.mark.parametrize("name", scenarios.names())
def test_its_nodes_are_written_with_policies_and_a_disk_on_the_shelf(name, made):
    path = made[0][name]
    assert path.parent.name == tryout.node_name(name)
    for node in tryout.node_names(name):
        policy = path.parent.parent / node / "policy.json"
        assert set(json.loads(policy.read_text())["operations"]) == set(demo.WRITING)
    assert "on the shelf:" in rack.describe(path)


def test_partners_share_a_shelf_and_name_each_other(made):
    here = Store(made[0]["suspended-pool"]).view().node
    there = Store(made[0]["suspended-pool"].parent.parent / "try-suspended-pool-partner" / "state.json").view().node
    assert {disk.wwid for disk in here.disks} == {disk.wwid for disk in there.disks}
    assert here.hostid != there.hostid
    assert {there.pool("ost_0").hostname, here.pool("ost_0").hostname} == {here.hostname}


def test_hands_can_pull_a_disk_that_was_deleted_from_the_kernel(made):
    path = made[0]["device-delete-reimport"]
    with Store(path).changing() as node:
        disk = node.disk(node.pool("ost_0").blocked_by[0])
        node.disks.remove(disk)
        node.deleted.append(disk)
        number = node.bay_of(disk.wwid)[1].number
    assert disk.serial in rack.describe(path)
    assert rack.pull(path, number) == disk.serial
    assert f"bay {number}: empty" in rack.describe(path)

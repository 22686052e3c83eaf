"""SATA disks without a WWN and NVMe namespaces on a twin: they are read as what they are, and written to by their own link alone."""

from __future__ import annotations

import pytest

from agents.collectors import block, disk_links
from agents.domain.disk_identity import doubt
from agents.domain.wwid import by_id_path
from agents.operations import zpool_replace, zpool_set_path
from twin import scenarios
from twin.disk_kinds import nvme, sata_without_wwn, turned
from twin.host import TwinHost
from twin.store import Store

KINDS = {"SATA without a WWN": sata_without_wwn, "NVMe": nvme}


@pytest.fixture(params=KINDS.values(), ids=KINDS)
def host(request, tmp_path):
    node = turned(scenarios.tiny(), request.param)
    node.mounts = ["sysfs /sys sysfs rw,nosuid 0 0"]
    lost = scenarios.pull(node, node.disks[2].wwid)
    assert lost.path.startswith("/dev/disk/by-id/")
    Store(tmp_path / "state.json").create(node)
    return TwinHost(tmp_path / "state.json")


def params(host):
    node = host.store.view().node
    pool = node.imported[0]
    lost = next(leaf for leaf in pool.leaves() if leaf.state == "REMOVED")
    return {"pool": pool.name, "pool_guid": str(pool.guid), "vdev_guid": str(lost.guid), "wwid": node.disks[-1].wwid}


def test_the_kernel_and_udev_name_each_disk_by_one_identity(host):
    disks = block.parse(block.collect(host)[0].text)
    links = dict(disk_links.parse(disk_links.collect(host)[0].text))
    assert [disk.wwid for disk in disks] == [disk.wwid for disk in host.store.view().node.disks]
    for disk in disks:
        assert links[by_id_path(disk.wwid)] == disk.name
        assert doubt(disk.wwid, [disk]) == ""
        assert disk.serial
        assert disk.model
        assert disk.state in ("running", "live")


def test_the_disk_is_replaced_by_its_own_link(host):
    given = params(host)
    pre = zpool_replace.preconditions(host, given)
    assert [reason for outcome, reason in zpool_replace.guards(pre, given) if outcome != "pass"] == []
    assert pre["disk.bay"] == ("none" if given["wwid"].startswith("eui:") else "0x500605b0000272bf/8")
    argv = zpool_replace.argv(given)
    assert argv[-1] == by_id_path(given["wwid"])
    assert host.run(argv, 10).exit_code == 0
    assert zpool_replace.probe(host, given, pre).result == "did"


def test_a_second_disk_of_that_identity_refuses(host):
    given = params(host)
    with host.store.changing() as node:
        twin = scenarios.copy.deepcopy(node.disks[-1])
        twin.paths[0].name = "nvme77n1" if twin.paths[0].name.startswith("nvme") else "sdzz"
        twin.paths[0].hctl = twin.paths[0].hctl and "3:0:7:0"
        node.disks.append(twin)
    refused = [reason for outcome, reason in zpool_replace.guards(zpool_replace.preconditions(host, given), given) if outcome != "pass"]
    assert any("report one identity" in reason for reason in refused), refused


def test_a_disk_under_a_moved_link_is_not_taken_for_the_one_meant(host):
    """udev's link leads to another disk for a moment; the kernel's own name of that one is asked."""
    given = params(host)
    with host.store.changing() as node:
        node.disks[-1].paths[0].name, node.disks[0].paths[0].name = node.disks[0].paths[0].name, node.disks[-1].paths[0].name
    before = zpool_replace.preconditions(host, given)
    assert before["disk.wwid"] == given["wwid"], "it follows the disk, not the kernel name"


def test_the_path_of_a_member_is_set_to_the_link_of_its_kind(host):
    given = params(host)
    assert zpool_set_path.check(given) == ""
    assert zpool_set_path.path(given) == f"{by_id_path(given['wwid'])}-part1"

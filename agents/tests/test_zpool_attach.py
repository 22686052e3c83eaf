"""zpool_attach mirrors one disk, named by its guid, and never touches a raidz; its probe tells whether the two stand in one mirror."""

from __future__ import annotations

import pytest

from agents.operations import zpool_attach as operation
from twin import scenarios
from workflows.runbooks.add_redundancy import rehearsal
from workflows.runbooks.remove_auxiliary.rehearsal import with_one

DAY = 86400.0


def host_of(tmp_path, node):
    return scenarios.host(tmp_path, node, scenarios.Clock())


def params(host, guid, disk=7):
    node = host.view().node
    return {"pool": "ost_0", "pool_guid": str(node.pool("ost_0").guid), "vdev_guid": str(guid), "wwid": node.disks[disk].wwid}


def against(host, given):
    lines = operation.guards(operation.preconditions(host, given), given)
    return " ".join(reason for outcome, reason in lines if outcome != "pass")


@pytest.mark.parametrize("role", ["data", "special", "dedup", "log"])
def test_a_disk_by_itself_becomes_a_mirror(tmp_path, role):
    host = host_of(tmp_path, rehearsal.single(role))
    given = params(host, host.view().node.pool("ost_0").tops[-1].guid)
    pre = operation.preconditions(host, given)
    assert (pre["target.role"], pre["target.parent"], against(host, given)) == (role, "none", "")
    assert operation.probe(host, given, pre).result == "did_not"
    assert host.run(operation.argv(given), 5.0).exit_code == 0
    assert operation.probe(host, given, pre).result == "did"
    host._clock.at += DAY
    mirror = host.view().node.pool("ost_0").tops[-1]
    assert (mirror.type, str(mirror.children[0].guid), mirror.cls) == ("mirror", given["vdev_guid"], role)
    assert operation.probe(host, given, pre).result == "did"
    assert host.run(("zpool", "detach", "ost_0", str(mirror.children[1].guid)), 5.0).exit_code == 0  # the way back
    assert host.view().node.pool("ost_0").tops[-1].type == "disk"


def test_a_raidz_and_what_is_in_it_get_nothing(tmp_path):
    host = host_of(tmp_path, rehearsal.single("data"))
    raidz = host.view().node.pool("ost_0").tops[0]
    assert "is a raidz2. Only to a disk" in against(host, params(host, raidz.guid))
    member = params(host, raidz.children[0].guid)
    assert "is in a raidz2" in against(host, member)
    assert b"can only attach to mirrors and top-level disks" in host.run(operation.argv(member), 5.0).stderr


@pytest.mark.parametrize("role", ["spare", "cache"])
def test_a_spare_and_a_cache_device_get_no_mirror(tmp_path, role):
    host = host_of(tmp_path, with_one(role, False))
    pool = host.view().node.pool("ost_0")
    assert f"is a {role} device" in against(host, params(host, (pool.spares or pool.caches)[0].guid))


def test_a_disk_that_does_not_serve_fills_no_other(tmp_path):
    node = rehearsal.single("data")
    node.pool("ost_0").tops[-1].state = "FAULTED"
    host = host_of(tmp_path, node)
    assert "is FAULTED. Only from one that is ONLINE" in against(host, params(host, node.pool("ost_0").tops[-1].guid))

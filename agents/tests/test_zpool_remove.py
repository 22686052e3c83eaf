"""zpool_remove takes out what holds no data, and nothing else: which one by its guid, and its probe tells whether it is out."""

from __future__ import annotations

import pytest

from agents.operations import zpool_remove as operation
from twin import scenarios
from workflows.runbooks.remove_auxiliary import rehearsal

NOW = scenarios.Clock().at


def host_of(tmp_path, node):
    return scenarios.host(tmp_path, node, scenarios.Clock())


def params(host, guid):
    pool = host.view().node.pool("ost_0")
    return {"pool": "ost_0", "pool_guid": str(pool.guid), "vdev_guid": str(guid)}


def against(host, given):
    lines = operation.guards(operation.preconditions(host, given), given)
    return " ".join(reason for outcome, reason in lines if outcome != "pass")


def devices(node):
    pool = node.pool("ost_0")
    return {"cache": pool.caches, "spare": pool.spares, "log": [top for top in pool.tops if top.cls == "log"]}


@pytest.mark.parametrize("role", ["cache", "log", "spare"])
@pytest.mark.parametrize("lost", [False, True])
def test_it_is_taken_out_whether_it_serves_or_not(tmp_path, role, lost):
    host = host_of(tmp_path, rehearsal.with_one(role, lost))
    given = params(host, devices(host.view().node)[role][0].guid)
    pre = operation.preconditions(host, given)
    assert (pre["target.role"], against(host, given)) == (role, "")
    assert operation.probe(host, given, pre).result == "did_not"
    assert host.run(operation.argv(given), 5.0).exit_code == 0
    assert devices(host.view().node)[role] == []
    assert operation.probe(host, given, pre).result == "did"


def test_a_log_mirror_goes_whole_and_never_one_disk_of_it(tmp_path):
    host = host_of(tmp_path, rehearsal.log_mirror(NOW))
    (mirror,) = devices(host.view().node)["log"]
    assert "a part of mirror-1" in against(host, params(host, mirror.children[0].guid))
    given = params(host, mirror.guid)
    assert against(host, given) == ""
    assert host.run(operation.argv(given), 5.0).exit_code == 0
    assert len(host.view().node.pool("ost_0").tops) == 1


def test_nothing_that_holds_data_is_taken_out(tmp_path):
    host = host_of(tmp_path, rehearsal.with_one("cache", True))
    pool = host.view().node.pool("ost_0")
    assert "is: a raidz2 in the section data" in against(host, params(host, pool.tops[0].guid))
    assert "is: a part of raidz2-0" in against(host, params(host, pool.tops[0].children[0].guid))


def test_a_spare_in_use_stays(tmp_path):
    host = host_of(tmp_path, scenarios.spare_in_use())
    given = params(host, host.view().node.pool("ost_0").spares[0].guid)
    assert "a spare that stands in for a member" in against(host, given)
    assert b"Pool busy" in host.run(operation.argv(given), 5.0).stderr


def test_a_distributed_spare_is_no_device(tmp_path):
    host = host_of(tmp_path, scenarios.draid())
    pool = host.view().node.pool("dpool")
    given = {"pool": "dpool", "pool_guid": str(pool.guid), "vdev_guid": str(pool.spares[0].guid)}
    assert "a distributed spare" in against(host, given)


def test_a_pool_that_stands_still_is_left_alone(tmp_path):
    node = rehearsal.with_one("cache", True)
    node.pool("ost_0").suspended = "io"
    host = host_of(tmp_path, node)
    given = params(host, devices(node)["cache"][0].guid)
    assert "ost_0 is SUSPENDED" in against(host, given)
    assert host.run(operation.argv(given), 5.0).exit_code == 1

"""zpool_resilver begins a resilver where something misses data and nothing runs, and its probe tells whether one began."""

from __future__ import annotations

import pytest

from agents.operations import zpool_resilver as operation
from twin import scenarios
from twin.model import Scan

DAY = 86400.0


def host_with(tmp_path, node):
    return scenarios.host(tmp_path, node, scenarios.Clock())


def params(host):
    return {"pool": "ost_0", "pool_guid": str(host.view().node.pool("ost_0").guid)}


def against(host):
    given = params(host)
    lines = operation.guards(operation.preconditions(host, given), given)
    return " ".join(reason for outcome, reason in lines if outcome != "pass")


def test_it_begins_one_where_none_comes_and_that_ends_the_replacement(tmp_path):
    host = host_with(tmp_path, scenarios.replacement())
    given = params(host)
    pre = operation.preconditions(host, given)
    assert (pre["pool.runs"], pre["pool.resilver_defer"], against(host)) == ("none", "enabled", "")
    assert operation.probe(host, given, pre).result == "did_not"
    assert host.run(operation.argv(given), 5.0).exit_code == 0
    assert operation.probe(host, given, pre).result == "did"
    host._clock.at += DAY
    assert operation.probe(host, given, pre).result == "did"
    assert not any(vdev.type == "replacing" for vdev in host.view().node.pool("ost_0").walk())


def test_where_nothing_is_missing_no_scan_begins_and_the_replacement_ends(tmp_path):
    host = host_with(tmp_path, scenarios.replacement(filled=True, ended="finished"))
    given = params(host)
    pre = operation.preconditions(host, given)
    assert host.run(operation.argv(given), 5.0).exit_code == 0
    assert operation.probe(host, given, pre).result == "did_not"
    assert not any(vdev.type == "replacing" for vdev in host.view().node.pool("ost_0").walk())


@pytest.mark.parametrize("function", ["scrub", "resilver"])
def test_a_scan_that_runs_is_not_ended_by_it(tmp_path, function):
    node = scenarios.replacement()
    node.pool("ost_0").scan = Scan(function, "running", scenarios.Clock().at, DAY, 1000, 0)
    assert f"is scanned already, by: {function}" in against(host_with(tmp_path, node))


def test_what_zfs_refuses_without_the_feature_is_not_ordered(tmp_path):
    node = scenarios.replacement()
    node.pool("ost_0").defers = False
    host = host_with(tmp_path, node)
    assert "The feature resilver_defer of ost_0 is disabled" in against(host)
    assert b"requires the resilver_defer feature" in host.run(operation.argv(params(host)), 5.0).stderr


def test_a_suspended_pool_gets_none(tmp_path):
    node = scenarios.replacement()
    node.pool("ost_0").suspended = "io"
    assert "is suspended by: I/O errors" in against(host_with(tmp_path, node))

"""zpool_import_ordinary imports what was exported or used last here; zpool_export_unused takes it back while nothing of it is mounted."""

from __future__ import annotations

import pytest

from agents.operations import zpool_export_unused, zpool_import_ordinary
from twin import scenarios
from workflows.runbooks.import_pool.rehearsal import exported, not_at_boot

MOUNTED = "ost_0/ost0 /mnt/ost0 lustre rw,svname=demo-OST0000 0 0"


def host_with(tmp_path, node):
    return scenarios.host(tmp_path, node, scenarios.Clock())


def params(host):
    return {"pool": "ost_0", "pool_guid": str(host.view().node.pool("ost_0").guid)}


def against(operation, host, given):
    lines = operation.guards(operation.preconditions(host, given), given)
    return " ".join(reason for outcome, reason in lines if outcome != "pass")


@pytest.mark.parametrize("scene", [exported, not_at_boot])
def test_it_imports_and_the_export_takes_it_back(tmp_path, scene):
    host = host_with(tmp_path, scene())
    given = {**params(host), "cachefile": "default"}
    pre = zpool_import_ordinary.preconditions(host, given)
    assert against(zpool_import_ordinary, host, given) == ""
    assert zpool_import_ordinary.probe(host, given, pre).result == "did_not"
    assert host.run(zpool_import_ordinary.argv(given), 5.0).exit_code == 0
    assert zpool_import_ordinary.probe(host, given, pre).result == "did"
    back = params(host)
    before = zpool_export_unused.preconditions(host, back)
    assert against(zpool_export_unused, host, back) == ""
    assert zpool_export_unused.probe(host, back, before).result == "did_not"
    assert host.run(zpool_export_unused.argv(back), 5.0).exit_code == 0
    assert zpool_export_unused.probe(host, back, before).result == "did"


def test_a_pool_that_another_host_used_last_is_refused(tmp_path):
    node = not_at_boot()
    node.pool("ost_0").hostid, node.pool("ost_0").hostname = 0x5B2F9C07, "oss07"
    host = host_with(tmp_path, node)
    assert "last used elsewhere" in against(zpool_import_ordinary, host, {**params(host), "cachefile": "default"})


def test_it_is_not_exported_while_something_of_it_is_mounted(tmp_path):
    node = scenarios.tiny()
    node.mounts = ["sysfs /sys sysfs rw 0 0", "ost_01/a /mnt/a zfs rw 0 0", MOUNTED]
    host = host_with(tmp_path, node)
    assert "these are mounted: /mnt/ost0. Stop" in against(zpool_export_unused, host, params(host))


def test_a_pool_that_is_imported_read_only_is_not_exported_by_it(tmp_path):
    node = scenarios.tiny()
    node.mounts, node.pool("ost_0").readonly = ["sysfs /sys sysfs rw 0 0"], True
    host = host_with(tmp_path, node)
    assert "is imported read-only" in against(zpool_export_unused, host, params(host))

"""The twin's kernel tells the truth about the twin, in words that the collectors read."""

import pytest

from agents.collectors import kernel_log, kstat_pools, kstat_txgs, parameters, zpool_events, zpool_history
from agents.collectors.node import collect as collect_node
from agents.collectors.node import parse as parse_node
from agents.tests import scenarios as genuine
from twin import scenarios
from twin.model import Slow
from twin.scenarios import Clock


@pytest.fixture
def node():
    return scenarios.tiny()


def host(tmp_path, node):
    return scenarios.host(tmp_path, node, Clock())


def read(module, host):
    (capture,) = module.collect(host)
    assert capture.outcome == "data", capture.reason
    return module.parse(capture.text)


def test_a_pool_without_a_member_is_degraded_to_the_kernel_too(tmp_path, node):
    scenarios.pull(node, node.disks[2].wwid)
    (pool,) = read(kstat_pools, host(tmp_path, node)).pools
    assert (pool.name, pool.state, pool.guid) == ("ost_0", "DEGRADED", None)


def test_newer_kernels_say_the_guid(tmp_path):
    (pool,) = read(kstat_pools, host(tmp_path, scenarios.tiny("2.3.2-1", guids=range(11, 19)))).pools
    assert pool.guid == 11


@pytest.mark.parametrize(("release", "lines"), [("2.1.11-1", ["multihost-suspended", "suspended"]), ("2.3.2-1", ["multihost-suspended"])])
def test_a_suspended_pool_is_in_the_statistics_the_log_and_the_events(tmp_path, release, lines):
    node = scenarios.tiny(release)
    node.pool("ost_0").suspended = "mmp"
    there = host(tmp_path, node)
    assert read(kstat_pools, there).pools[0].state == "SUSPENDED"
    assert [e.kind for e in read(kernel_log, there).events if e.kind != "attached"] == lines
    assert read(zpool_events, there)[-1].kind == "ereport.fs.zfs.io_failure"
    assert read(kstat_txgs, there).txgs[-2].state == "syncing"


def test_the_kernel_answers_while_zpool_hangs(tmp_path, node):
    node.faults.slow.append(Slow(["zpool"], 3600.0))
    there = host(tmp_path, node)
    assert there.run(("zpool", "status"), 20.0).why == "timeout"
    assert read(kstat_pools, there).pools[0].state == "ONLINE"
    assert zpool_history.collect(there)[0].outcome == "failed"


def test_its_log_speaks_as_the_genuine_one(tmp_path, node):
    node.pool("ost_0").suspended = "mmp"
    genuine_text = dict(genuine.texts("dmesg-tail.txt"))["mmp-suspended/2-suspended/dmesg-tail.txt"]
    lines = [line.split("] ", 1)[1] for line in host(tmp_path, node).run(("dmesg",), 5.0).stdout.decode().splitlines()]
    assert "WARNING: Pool 'ost_0' has encountered an uncorrectable I/O failure and has been suspended." in lines
    assert lines[-1].replace("ost_0", "ost_5") in genuine_text
    assert f"sd 2:0:1:0: [sdb] {512 * 2048} 512-byte logical blocks" in lines


def test_the_history_has_what_was_done_and_not_what_was_refused(tmp_path, node):
    there = host(tmp_path, node)
    guid, blank = str(node.pool("ost_0").leaves()[2].guid), f"/dev/disk/by-id/wwn-0x{node.disks[6].hex}"
    done, refused = ("zpool", "replace", "ost_0", guid, blank), ("zpool", "replace", "ost_0", "4711", blank)
    offline = ("zpool", "offline", "ost_0", str(node.pool("ost_0").leaves()[0].guid))
    assert [there.run(argv, 60.0).exit_code == 0 for argv in (offline, refused, done)] == [True, False, True]
    commands = [e.text for e in read(zpool_history, there).entries if e.kind == "command"]
    assert commands[-2:] == [" ".join(offline), " ".join(done)]
    assert commands[0].startswith("zpool create ")
    internal = [e.text for e in read(zpool_history, there).entries if e.kind == "internal"]
    assert any(text.startswith("scan setup func=2") for text in internal)


def test_the_commands_alone_can_be_asked(tmp_path, node):
    text = host(tmp_path, node).run(("zpool", "history", "-l", "ost_0"), 5.0).stdout.decode()
    assert "[txg:" not in text
    assert "[user 0 (root) on oss01:linux]" in text


@pytest.mark.parametrize("argv", [("zpool", "history", "ost_9"), ("zpool", "events"), ("dmesg", "-T"), ("zpool", "history", "-x")])
def test_what_it_does_not_know_it_refuses(tmp_path, node, argv):
    assert host(tmp_path, node).run(argv, 5.0).exit_code != 0


def test_parameters_can_be_set_now_and_for_the_next_boot(tmp_path, node):
    node.parameters = {"zfs_resilver_min_time_ms": "5000"}
    node.modprobe = ["options zfs zfs_scrub_min_time_ms=2000"]
    values = read(parameters, host(tmp_path, node))
    assert dict(values.values)["zfs_resilver_min_time_ms"] == "5000"
    assert [(o.name, o.value) for o in values.boot] == [("zfs_scrub_min_time_ms", "2000")]


def test_the_hostid_is_the_same_everywhere(tmp_path, node):
    parsed = parse_node(collect_node(host(tmp_path, node))[0].text)
    assert (parsed.hostid, parsed.hostid_file, parsed.hostid_spl) == ("5b2f9c01", "5b2f9c01", "00000000")
    assert parsed.booted_at == int(node.booted_at)

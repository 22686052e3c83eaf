"""The demo fleet hangs together, and every collector can read it."""

from __future__ import annotations

import json
import stat
import subprocess
import sys

import pytest

from agents.collectors import COLLECTORS, block, zpool_status
from agents.collectors.base import Unparsed
from twin import demo
from twin.build import sd_name
from twin.host import TwinHost
from twin.scenarios import Clock

NOW = 1795252000.0


@pytest.fixture(scope="module")
def fleet(tmp_path_factory):
    """NODE -> its host, on a clock that stands at NOW."""
    folder = tmp_path_factory.mktemp("fleet")
    demo.make(folder, NOW)
    clock = Clock(NOW)
    return {name: TwinHost(demo.state_path(folder, name), clock, clock.sleep) for name in demo.NODES}


def output(host, *argv):
    ran = host.run(argv, 10)
    assert ran.exit_code == 0, ran.stderr
    return ran.stdout.decode()


def test_no_two_things_share_an_identity(fleet):
    nodes = [host.view().node for host in fleet.values()]
    disks = [disk for node in nodes for disk in node.disks]
    guids = [v.guid for node in nodes for pool in node.pools for top in [*pool.tops, *pool.spares] for v in top.walk()]
    for values in (
        [disk.wwid for disk in disks],
        [disk.serial for disk in disks],
        [path.sas_address for disk in disks for path in disk.paths if path.sas_address],
        guids + [pool.guid for node in nodes for pool in node.pools],
        [node.hostid for node in nodes],
        [node.boot_id for node in nodes],
        [enclosure.id for node in nodes for enclosure in node.enclosures],
    ):
        assert len(set(values)) == len(values)


@pytest.mark.parametrize("name", demo.NODES)
def test_names_and_bays_are_taken_once(name, fleet):
    node = fleet[name].view().node
    paths = [path for disk in node.disks for path in disk.paths]
    bays = [bay for enclosure in node.enclosures for bay in enclosure.bays]
    in_bays = [bay.wwid for bay in bays if bay.wwid]
    assert len({path.name for path in paths}) == len(paths)
    assert len({path.hctl for path in paths} | {e.name for e in node.enclosures}) == len(paths) + len(node.enclosures)
    assert len({path.sg for path in paths} | {e.sg for e in node.enclosures}) == len(paths) + len(node.enclosures)
    assert sorted(in_bays) == sorted(disk.wwid for disk in node.disks if disk.paths[0].sas_address)
    assert all((bay.status == "OK") == (bay.wwid is not None) for bay in bays)


def test_the_incident_is_that_of_the_issue(fleet):
    host = fleet["oss01"]
    status = output(host, "zpool", "status", "-P", "-p")
    assert " state: DEGRADED\n" in status
    lost = next(line for line in status.splitlines() if str(demo.LOST_GUID) in line)
    assert lost.split() == [str(demo.LOST_GUID), "FAULTED", "0", "0", "0", "was", "/dev/sdfl1"]
    scsi = {line.split()[-4].rpartition("/")[2]: line.split() for line in output(host, "lsscsi", "-i", "-g", "-s").splitlines()}
    assert scsi["sdfl"] == [
        "[6:0:176:0]",
        "disk",
        "SEAGATE",
        "ST10000NM0256",
        "TT54",
        "/dev/sdfl",
        "35000c500a6754abb",
        "/dev/sg176",
        "9.79TB",
    ]
    assert scsi["sdcw"][:7] == ["[6:0:106:0]", "disk", "HGST", "HUH721010AL5200", "LS15", "/dev/sdcw", "35000cca273a7d9e8"]
    assert "wwn-0x5000c500a6754abb-part1  ONLINE" in status
    assert "    /dev/sdcw1  " in status
    assert fleet["oss01"].link("/sys/block/sdcw/device/enclosure_device:68").endswith("/enclosure/6:0:89:0/68")


def test_two_members_of_the_incident_share_a_devid(fleet):
    label = output(fleet["oss01"], "zdb", "-l", "/dev/sdcw1")
    children = label.split("children[")[1:]
    shared = [child for child in children if "devid: 'scsi-35000cca273a7d9e8-part1'" in child]
    assert [child.split("guid: ")[1].split("\n")[0] for child in shared] == [str(demo.LOST_GUID), str(demo.SDCW_GUID)]
    assert "path: '/dev/sdfl1'" in shared[0]
    assert "/sys/class/enclosure/17:0:88:0/68" in shared[0]
    assert "not_present: 1" in shared[0]
    assert "path: '/dev/sdcw1'" in shared[1]
    assert "/sys/class/enclosure/6:0:89:0/68" in shared[1]
    assert "not_present" not in shared[1]


def test_the_incident_has_one_right_disk_and_every_wrong_one(tmp_path):
    demo.make(tmp_path, NOW)
    clock = Clock(NOW)
    host = TwinHost(demo.state_path(tmp_path, "oss01"), clock, clock.sleep)

    def replace(device):
        ran = host.run(("zpool", "replace", "ost_0", str(demo.LOST_GUID), device), 60)
        return ran.exit_code, ran.stderr.decode()

    assert replace("/dev/sdcw") == (1, "/dev/sdcw is in use and contains a unknown filesystem.\n")
    assert replace("/dev/sdcw1")[1].endswith("/dev/sdcw1 is part of active pool 'ost_0'\n")
    assert replace("/dev/sdfl")[0] == 1
    assert replace("/dev/sda")[1] == "/dev/sda is in use and contains a vfat filesystem.\n"
    assert replace("/dev/sdcy")[1].endswith("/dev/sdcy1 is part of exported pool 'scratch9'\n")
    assert replace("/dev/sdcz")[1].endswith("device is too small\n")
    assert host.run(("smartctl", "-x", "/dev/sdda"), 10).exit_code == 8
    assert replace(f"/dev/disk/by-id/wwn-0x{demo.BLANK_WWN}") == (0, "")
    assert "replacing-0" in output(host, "zpool", "status")


def test_there_are_names_past_sdz_with_gaps(fleet):
    names = {path.name for disk in fleet["oss01"].view().node.disks for path in disk.paths}
    seen = [sd_name(i) in names for i in range(168)]
    assert len(names) == 64
    assert seen[0]
    assert seen[167]
    assert not all(seen[84:168])
    assert not any(seen[1:84])


def test_the_other_nodes_are_as_announced(fleet):
    assert " state: ONLINE\n" in output(fleet["mds01"], "zpool", "status")
    assert "special" in output(fleet["mds01"], "zpool", "status")
    assert "(resilvering)" in output(fleet["oss02"], "zpool", "status")
    assert "REMOVED" in output(fleet["oss03"], "zpool", "status")
    json.loads(output(fleet["mds01"], "zpool", "status", "-j", "--json-int", "-p"))
    assert fleet["oss01"].run(("zpool", "status", "-j", "--json-int", "-p"), 5).exit_code == 2


@pytest.mark.parametrize("source", COLLECTORS)
@pytest.mark.parametrize("name", demo.NODES)
def test_every_collector_reads_every_node(name, source, fleet):
    """Nothing fails and nothing is left unread; sources a node does not have say so."""
    module = COLLECTORS[source]
    for capture in module.collect(fleet[name]):
        assert capture.outcome != "failed", capture.reason
        if capture.outcome == "data":
            parsed = module.parse(capture.text)
            assert not isinstance(parsed, Unparsed), (capture.key, parsed)


def test_collectors_find_the_incident(fleet):
    pools = zpool_status.parse(zpool_status.collect(fleet["oss01"])[0].text)
    leaf = next(vdev for top in pools[0].vdevs.children for vdev in top.children if vdev.was)
    assert (leaf.name, leaf.state, leaf.was) == (str(demo.LOST_GUID), "FAULTED", "/dev/sdfl1")
    disks = {disk.name: disk for disk in block.parse(block.collect(fleet["oss01"])[0].text)}
    assert disks["sdfl"].wwid == f"naa:{demo.SDFL_WWN}"
    assert disks["sdcw"].slot_link == "/sys/class/enclosure/6:0:89:0/68"
    assert disks["sdcz"].size_bytes < disks["sdcx"].size_bytes == disks["sdcw"].size_bytes


def test_policies_are_the_owners_and_one_node_has_none(tmp_path):
    demo.make(tmp_path, NOW)
    assert not demo.policy_path(tmp_path, "mds01").exists()
    policy = demo.policy_path(tmp_path, "oss01")
    assert json.loads(policy.read_text())["mode"] == "operate"
    assert stat.S_IMODE(policy.stat().st_mode) == 0o644


def test_the_resilver_is_as_long_as_the_environment_says(tmp_path, monkeypatch):
    monkeypatch.setenv(demo.RESILVER_SECONDS_VARIABLE, "3.5")
    demo.make(tmp_path)
    assert TwinHost(demo.state_path(tmp_path, "oss01")).view().node.knobs.resilver_seconds == 3.5


def test_it_shows_an_answer_on_the_command_line(tmp_path):
    demo.make(tmp_path)
    argv = [sys.executable, "-m", "twin", "--dir", str(tmp_path), "--node", "mds01", "--", "zpool", "list"]
    shown = subprocess.run(argv, capture_output=True, text=True, timeout=30, check=True)
    assert shown.stdout.split()[:1] == ["NAME"]
    assert "mdt_0" in shown.stdout


def test_it_says_what_to_do_when_there_are_no_states(tmp_path):
    argv = [sys.executable, "-m", "twin", "--dir", str(tmp_path), "--node", "mds01", "--", "zpool", "list"]
    shown = subprocess.run(argv, capture_output=True, text=True, timeout=30, check=False)
    assert shown.returncode == 2
    assert "--make" in shown.stderr

"""The agent reads every step of every scenario, and what it reads is what the scenario's own record says."""

import re

import pytest

from agents.collectors import COLLECTORS
from agents.collectors.base import Capture, Unparsed
from agents.tests.scenarios import STEPS, root, step
from twin.captured_host import CapturedHost

# What the node itself did not answer, by the record: a disk that hangs holds up its label and the import scan.
TIMED_OUT = {("slow-disk/1-writing", "zpool_import", ""), ("slow-disk/1-writing", "zdb_label", "sde1")}
NOT_ASKED = {
    ("mmp-suspended/2-suspended", source, "ost_5") for source in ("zpool_history", "zpool_status_errors", "zfs_get", "zfs_snapshots")
}  # its pool is suspended


def collect(name: str) -> dict[str, tuple[Capture, ...]]:
    host = CapturedHost(step(name))
    return {source: module.collect(host) for source, module in COLLECTORS.items()}


@pytest.mark.parametrize("name", STEPS)
def test_it_reads_every_step(name):
    for source, captures in collect(name).items():
        for capture in captures:
            assert capture.source == source
            if capture.outcome == "data":
                assert not isinstance(COLLECTORS[source].parse(capture.text), Unparsed), (source, capture.key)
            elif capture.outcome == "failed":
                assert (name, source, capture.key) in TIMED_OUT | NOT_ASKED or source == "node", (source, capture.reason)


DISKS = re.compile(r"^\| \S+ \| 0x([0-9a-f]+) \| (\S+) \| \S+ \| (sd[a-z]+) \|$", re.MULTILINE)
ENDS = [steps[-1] for steps in ([n for n in STEPS if n.split("/")[0] == scenario] for scenario in sorted({n.split("/")[0] for n in STEPS}))]


@pytest.mark.parametrize("name", [name for name in ENDS if (step(name) / "lsblk-b-o-J.txt").exists()])
def test_the_disks_of_a_last_step_are_those_of_the_record(name):
    record = (root() / name.split("/")[0] / "COMMANDS.md").read_text()
    expected = {disk: (f"naa:{wwn}", serial) for wwn, serial, disk in DISKS.findall(record)}
    (capture,) = collect(name)["block"]
    assert {disk.name: (disk.wwid, disk.serial) for disk in COLLECTORS["block"].parse(capture.text)} == expected


def test_a_file_that_is_not_there_is_no_answer_and_no_other_steps():
    captures = collect("disk-removed/6-resilver-running")
    assert [captures[source][0].outcome for source in ("zpool_status", "block", "disk_links", "mounts")] == [
        "data",
        "nothing",
        "nothing",
        "nothing",
    ]
    assert captures["zdb_label"] == ()


def test_what_the_node_is_may_come_from_an_earlier_step():
    (capture,) = collect("disk-removed/6-resilver-running")["node"]
    assert COLLECTORS["node"].parse(capture.text).hostid == "5b2f9c01"


def test_a_command_is_looked_up_by_what_it_is_and_not_by_the_name_of_a_file():
    """In this step zpool-import.txt holds `zpool import ost_8`, which is not the listing."""
    (capture,) = collect("import-rewind/2-dry-runs")["zpool_import"]
    assert capture.outcome == "nothing"


def test_a_command_that_timed_out_then_times_out_now():
    ran = CapturedHost(step("slow-disk/1-writing")).run(("zdb", "-l", "/dev/sde1"), 20.0)
    assert (ran.exit_code, ran.why) == (None, "timeout")


def test_a_capture_cannot_be_written_to():
    with pytest.raises(PermissionError):
        CapturedHost(step("enclosure-slots/1-all-slots")).write("/sys/class/enclosure/0:0:24:0/Slot01/locate", b"1")


def test_a_pattern_does_not_reach_into_folders():
    host = CapturedHost(step("healthy-raidz2"))
    assert host.list("/sys/block/sda")
    assert all(path.count("/") == 3 for path in host.list("/sys/block/*"))
    assert host.list("/sys/class/nothing/*") == ()


def test_it_has_the_clock_of_the_node():
    assert CapturedHost(step("wwid-drift/1-before")).now() == 1795248545.0

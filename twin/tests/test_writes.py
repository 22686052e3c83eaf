"""What may be done to a twin, what it refuses as real ZFS does, and that it forgets nothing."""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import signal
import time
from pathlib import Path

import pytest

import agents.tests
from agents.tests.scenarios import step
from twin.build import partition
from twin.host import TwinHost
from twin.model import Label, Scan, Slow
from twin.scenarios import (
    LAB_DISK_BYTES,
    Clock,
    add_foreign_pool,
    add_former_member,
    add_spare,
    bring_back,
    drifted,
    host,
    lab_disk,
    pull,
    tiny,
)
from twin.tests.test_texts import guids

REFUSALS = Path(agents.tests.__file__).parent / "captures" / "zpool_replace"
BLANK = "/dev/disk/by-id/wwn-0x5000c500a65b206b"
SECOND_BLANK = "/dev/disk/by-id/wwn-0x5000c500a65b207b"
LOST = "naa:5000c500a65b202b"


def degraded(**knobs):
    """A raidz2 of six whose disk 2 was pulled, and two blank disks."""
    node = tiny()
    pull(node, LOST)
    for name, value in knobs.items():
        setattr(node.knobs, name, value)
    return node


def lost_guid(node):
    return str(node.pools[0].tops[0].children[2].guid)


def replace(twin, node, device, *options, timeout=60):
    return twin.run(("zpool", "replace", *options, "ost_0", lost_guid(node), device), timeout)


def status(twin):
    return twin.run(("zpool", "status"), 5).stdout.decode()


COMMANDS = (
    "guid-active-member",
    "f-guid-active-member",
    "guid-active-member-part",
    "f-guid-active-member-part",
    "guid-active-member-by-id",
    "f-guid-active-member-by-id",
    "no-such-dev",
    "no-such-pool",
    "no-such-guid",
)
DRIFTS = [("2.1.11", "wwid-drift", "4-import-d-dev"), ("2.3.2", "wwid-drift-zfs2.3", "4-import-d-dev")]


@pytest.mark.parametrize("what", COMMANDS)
@pytest.mark.parametrize(("release", "scenario", "before"), DRIFTS, ids=["2.1", "2.3"])
def test_it_refuses_in_the_words_of_zpool(release, scenario, before, what, tmp_path):
    """The lab's own command lines, from exit_codes.json, on the twin of the lab's node."""
    answer = json.loads((step(f"{scenario}/5-refused-commands") / "exit_codes.json").read_text())[f"zpool-replace-{what}.txt"]
    twin = host(tmp_path, drifted(f"{release}-1", guids(f"{scenario}/{before}")), Clock())
    ran = twin.run(answer["command"].split(), 60)
    assert ran.stderr.decode() == (REFUSALS / f"openzfs-{release}--{what}.txt").read_text()
    assert (ran.exit_code, ran.stdout) == (answer["exit"], b"")
    assert "replacing" not in status(twin)


@pytest.mark.parametrize(("verb", "file"), [("online", "online-guid-missing"), ("detach", "detach-guid")])
@pytest.mark.parametrize(("release", "scenario", "before"), DRIFTS, ids=["2.1", "2.3"])
def test_it_answers_for_an_absent_member_as_zpool_does(release, scenario, before, verb, file, tmp_path):
    answer = json.loads((step(f"{scenario}/5-refused-commands") / "exit_codes.json").read_text())[f"zpool-{file}.txt"]
    twin = host(tmp_path, drifted(f"{release}-1", guids(f"{scenario}/{before}")), Clock())
    ran = twin.run(answer["command"].split(), 60)
    assert (ran.stdout + ran.stderr).decode() == (REFUSALS / f"openzfs-{release}--{file}.txt").read_text()
    assert ran.exit_code == answer["exit"]


def test_it_refuses_the_member_under_the_old_name_and_takes_the_blank_disk(tmp_path):
    """The small incident: what it "was" is somebody else today; disk 8 is right."""
    node = drifted()
    lost = str(next(leaf.guid for leaf in node.pools[0].leaves() if leaf.not_present))
    twin = host(tmp_path, node, Clock())
    assert twin.run(("zpool", "replace", "ost_1", lost, "/dev/sdc"), 60).exit_code == 1
    assert twin.run(("zpool", "replace", "ost_1", lost, "/dev/disk/by-id/wwn-0x5000c500a65b208b"), 60).exit_code == 0
    row = next(line for line in status(twin).splitlines() if lost in line)
    assert row.split() == [lost, "FAULTED", "0", "0", "0", "was", "/dev/sdc1"]


def test_it_refuses_a_disk_of_an_exported_pool_unless_forced(tmp_path):
    """The sentence is the lab's; only the pool's name, the disk and the guid are ours."""
    node = degraded()
    add_foreign_pool(node, node.disk_named("sdg"), "oldpool", "oss77", 0x5B2F9C77)
    twin = host(tmp_path, node, Clock())
    genuine = (REFUSALS / "openzfs-2.1.11--onto-exported-other.txt").read_text()
    refused = replace(twin, node, BLANK)
    assert refused.stderr.decode() == genuine.replace("5000c500a65b201b", "5000c500a65b206b")
    assert refused.exit_code == 1
    assert replace(twin, node, BLANK, "-f").exit_code == 0


def test_it_calls_a_pool_that_was_not_exported_potentially_active(tmp_path):
    node = degraded()
    add_foreign_pool(node, node.disk_named("sdg"), "oldpool", "oss77", 0x5B2F9C77, exported=False)
    ran = replace(host(tmp_path, node, Clock()), node, BLANK)
    assert ran.stderr.decode().endswith("-part1 is part of potentially active pool 'oldpool'\n")


def test_it_takes_a_former_member_without_a_word(tmp_path):
    """Its label names an active pool, and the pool does not know its guid any more."""
    node = degraded()
    add_former_member(node, "ost_0", node.disk_named("sdg"), place=4)
    twin = host(tmp_path, node, Clock())
    label = twin.run(("zdb", "-l", "/dev/sdg1"), 5).stdout.decode()
    former = re.search("    guid: ([0-9]+)\n", label).group(1)
    assert f"            guid: {former}\n" in label
    assert former not in twin.run(("zpool", "status", "-g"), 5).stdout.decode()
    assert replace(twin, node, BLANK).exit_code == 0


def test_it_takes_a_spare_of_the_same_pool_for_what_it_is(tmp_path):
    """Nothing is refused and nothing said, also without -f: who gives the command must look."""
    node = degraded()
    add_spare(node, "ost_0", node.disk_named("sdg"))
    twin = host(tmp_path, node, Clock())
    assert replace(twin, node, BLANK).exit_code == 0
    assert "spare-2" in status(twin)
    assert "INUSE     currently in use" in status(twin)
    ran = replace(twin, node, BLANK, "-f")
    assert (ran.exit_code, b"is in use and contains" in ran.stderr) == (1, True)


@pytest.mark.parametrize("use", ["mountpoint", "swap", "holders"])
def test_it_refuses_a_disk_in_use(use, tmp_path):
    node = degraded()
    first = partition(node.disk_named("sdg"))[0]
    first.filesystem = "xfs"
    setattr(first, use, {"mountpoint": "/srv", "swap": True, "holders": ["dm-3"]}[use])
    ran = replace(host(tmp_path, node, Clock()), node, BLANK, "-f")
    assert ran.stderr.decode() == f"{BLANK} is in use and contains a xfs filesystem.\n"


def test_it_refuses_a_filesystem_unless_forced(tmp_path):
    node = degraded()
    partition(node.disk_named("sdg"))[0].filesystem = "xfs"
    twin = host(tmp_path, node, Clock())
    assert replace(twin, node, BLANK).stderr.decode().endswith(f"{BLANK}-part1 contains a filesystem of type 'xfs'\n")
    assert replace(twin, node, BLANK, "-f").exit_code == 0


def test_it_refuses_a_small_disk_and_leaves_it_partitioned(tmp_path):
    """zpool makes its partitions before the kernel looks: seen in the lab after `no such device in pool`."""
    node = degraded()
    node.disks[-1] = lab_disk(7, 7, LAB_DISK_BYTES // 2)
    twin = host(tmp_path, node, Clock())
    ran = replace(twin, node, SECOND_BLANK)
    genuine = (REFUSALS / "openzfs-2.1.11--small-disk-file.txt").read_text()
    assert ran.stderr.decode().split(": ")[-1] == genuine.split(": ")[-1]
    assert ran.exit_code == 255
    assert twin.list("/sys/block/sdh/sdh?") == ("/sys/block/sdh/sdh1", "/sys/block/sdh/sdh9")
    assert twin.run(("zdb", "-l", "/dev/sdh1"), 5).exit_code == 2


@pytest.mark.parametrize(
    ("release", "text"),
    [
        ("2.1.11-1", "already in replacing/spare config; wait for completion or use 'zpool detach'"),
        ("2.2.11-1", "already in replacing/spare config; wait for completion or use 'zpool detach'"),
        ("2.3.2-1", "The new device cannot have a higher alignment requirement than the top-level vdev."),
    ],
)
def test_it_refuses_sectors_that_are_too_coarse(release, text, tmp_path):
    node = degraded()
    node.zfs_userland = release
    node.pools[0].tops[0].ashift = 9
    node.disk_named("sdg").logical_block_bytes = 4096
    ran = replace(host(tmp_path, node, Clock()), node, BLANK)
    assert ran.stderr.decode() == f"cannot replace {lost_guid(node)} with {BLANK}: {text}\n"


def test_it_changes_names_links_labels_and_tree_by_a_replace(tmp_path):
    node = degraded()
    clock = Clock()
    twin = host(tmp_path, node, clock)
    assert twin.list("/dev/disk/by-id/wwn-0x5000c500a65b206b-part*") == ()
    assert replace(twin, node, BLANK).exit_code == 0
    assert twin.link(f"{BLANK}-part1") == "/dev/sdg1"
    label = twin.run(("zdb", "-l", "/dev/sdg1"), 5)
    assert label.exit_code == 0
    assert b"type: 'replacing'" in label.stdout
    clock.at += 100
    assert b"replacing" not in twin.run(("zdb", "-l", "/dev/sdg1"), 5).stdout
    assert lost_guid(node).encode() not in twin.run(("zpool", "status", "-g"), 5).stdout
    assert "with 0 errors" in status(twin)


def test_a_second_replace_waits_for_the_first_resilver(tmp_path):
    node = degraded()
    second = str(node.pools[0].tops[0].children[4].guid)
    clock = Clock()
    twin = host(tmp_path, node, clock)
    replace(twin, node, BLANK)
    clock.at += 1
    assert twin.run(("zpool", "replace", "ost_0", second, SECOND_BLANK), 60).exit_code == 0
    assert "(awaiting resilver)" in status(twin)
    clock.at += 3.5
    assert "(awaiting resilver)" not in status(twin)
    assert "replacing-2" not in status(twin)
    assert "replacing-4" in status(twin)
    clock.at += 4
    assert "replacing" not in status(twin)
    assert is_let_go_of(twin, "sde1")


def is_let_go_of(twin, device):
    """It keeps a label, with txg 0, which no tool takes for a member's."""
    return b"    txg: 0\n" in twin.run(("zdb", "-l", f"/dev/{device}"), 5).stdout


def test_a_resilver_of_a_log_writes_nothing(tmp_path):
    """zpool-status-2.1.11--log-and-empty-dedup-replaced.txt"""
    node = degraded()
    node.pools[0].tops[0].cls = "log"
    clock = Clock()
    twin = host(tmp_path, node, clock)
    replace(twin, node, BLANK)
    clock.at += 60
    assert "resilvered 0B in 00:00:0" in status(twin)


def test_it_puts_every_write_command_on_record_before_it_acts(tmp_path):
    node = degraded()
    clock = Clock()
    twin = host(tmp_path, node, clock)
    refused = replace(twin, node, "/dev/sda")
    assert refused.exit_code == 1
    unknown = twin.run(("zpool", "labelclear", "/dev/sdg"), 5)
    status(twin)
    assert [entry["argv"] for entry in twin.store.logged()] == [list(refused.argv), list(unknown.argv)]
    assert twin.store.logged()[0]["at"] == clock.at


@pytest.mark.parametrize(
    "argv",
    [
        ("zpool", "labelclear", "-f", "/dev/sdg"),
        ("zpool", "import", "-X", "ost_9"),
        ("zpool", "import", "-n", "ost_0"),
        ("zpool", "get", "-H", "-p", "guid,nosuch"),
        ("zpool", "replace", "-s", "ost_0", "1", "/dev/sdg"),
        ("zpool", "offline", "-t", "ost_0", "1"),
        ("zpool", "status", "-t"),
        ("zpool",),
        ("zdb", "-e", "ost_0"),
        ("lsscsi", "-t"),
    ],
)
def test_it_never_says_fine_to_what_it_does_not_know(argv, tmp_path):
    node = degraded()
    twin = host(tmp_path, node, Clock())
    before = twin.store.path.read_text()
    ran = twin.run(argv, 5)
    assert ran.exit_code == 2
    assert ran.stderr
    assert twin.store.path.read_text() == before


def test_it_has_no_other_tools(tmp_path):
    assert host(tmp_path, tiny(), Clock()).run(("sg_reset", "/dev/sg24"), 5).why == "not found"


def test_a_replace_has_its_effect_in_the_middle(tmp_path):
    """Cut off before, nothing happened; cut off after, all of it, and nobody learned the exit code."""
    node = degraded(replace_seconds=10.0)
    twin = host(tmp_path, node, Clock())
    cut = replace(twin, node, BLANK, timeout=4)
    assert (cut.exit_code, cut.why) == (None, "timeout")
    assert "replacing" not in status(twin)
    cut = replace(twin, node, BLANK, timeout=6)
    assert (cut.exit_code, cut.why) == (None, "timeout")
    assert "replacing-2" in status(twin)
    assert len(twin.store.logged()) == 2


def _play(path, argv):
    TwinHost(path).run(argv, 60)


@pytest.mark.parametrize(("seconds", "done"), [(0.1, False), (0.7, True)], ids=["before", "after"])
def test_what_a_killed_agent_did_is_still_done(seconds, done, tmp_path):
    node = degraded(replace_seconds=1.0)
    twin = host(tmp_path, node)
    argv = ("zpool", "replace", "ost_0", lost_guid(node), BLANK)
    player = multiprocessing.get_context("fork").Process(target=_play, args=(twin.store.path, argv))
    player.start()
    until = time.monotonic() + 5
    while not twin.store.logged() and time.monotonic() < until:
        time.sleep(0.005)
    time.sleep(seconds)
    os.kill(player.pid, signal.SIGKILL)
    player.join()
    after = TwinHost(twin.store.path)
    assert [entry["argv"] for entry in after.store.logged()] == [list(argv)]
    assert ("replacing-2" in status(after)) is done


def test_lights_are_kept_and_read_back(tmp_path):
    node = tiny()
    twin = host(tmp_path, node, Clock())
    light = "/sys/class/enclosure/2:0:24:0/Slot04/locate"
    twin.write(light, b"1\n")
    again = TwinHost(twin.store.path)
    assert again.read(light) == b"1\n"
    assert again.read(light.replace("Slot04", "Slot05")) == b"0\n"
    again.write(light, b"blink")  # the kernel takes it and does nothing
    assert again.read(light) == b"1\n"
    again.write("/sys/block/sdd/device/enclosure_device:Slot04/locate", b"0")
    assert twin.read(light) == b"0\n"


@pytest.mark.parametrize("path", ["/sys/block/sda/device/state", "/sys/class/enclosure/2:0:24:0/Slot04/power_status"])
def test_nothing_else_can_be_written(path, tmp_path):
    with pytest.raises(PermissionError):
        host(tmp_path, tiny(), Clock()).write(path, b"0")


def test_writing_where_nothing_is_fails(tmp_path):
    with pytest.raises(FileNotFoundError):
        host(tmp_path, tiny(), Clock()).write("/sys/class/enclosure/2:0:24:0/Slot99/locate", b"1")


def test_a_disk_that_hangs_holds_up_only_whoever_asks_it(tmp_path):
    node = tiny()
    node.faults.hangs.append(node.disk_named("sdc").wwid)
    clock = Clock()
    twin = host(tmp_path, node, clock)
    began = clock.at
    for argv in (("zdb", "-l", "/dev/sdc1"), ("smartctl", "-x", "/dev/sdc")):
        assert twin.run(argv, 7).why == "timeout"
    assert clock.at == began + 14
    with pytest.raises(TimeoutError):
        twin.read("/sys/block/sdc/device/state")
    assert twin.run(("zdb", "-l", "/dev/sdd1"), 7).exit_code == 0
    assert twin.read("/sys/block/sdd/device/state") == b"running\n"


def test_a_slow_command_takes_its_time_or_runs_out_of_it(tmp_path):
    node = tiny()
    node.faults.slow.append(Slow(["zpool", "status"], 20.0))
    twin = host(tmp_path, node, Clock())
    assert twin.run(("zpool", "status"), 30).seconds == 20.0
    assert twin.run(("zpool", "status", "-g"), 10).why == "timeout"
    assert twin.run(("zpool", "list"), 10).seconds == 0.0


def test_offline_is_refused_without_replicas(tmp_path):
    node = tiny()
    members = [str(leaf.guid) for leaf in node.pools[0].leaves()]
    twin = host(tmp_path, node, Clock())
    assert [twin.run(("zpool", "offline", "ost_0", guid), 5).exit_code for guid in members[:3]] == [0, 0, 1]
    assert twin.run(("zpool", "offline", "ost_0", members[2]), 5).stderr.decode() == f"cannot offline {members[2]}: no valid replicas\n"
    assert "taken offline by the administrator" in status(twin)
    assert twin.run(("zpool", "online", "ost_0", members[0]), 5).stdout == b""
    assert "resilvered 36K in 00:00:00 with 0 errors" in status(twin)


def test_a_member_that_came_back_under_its_name_goes_online(tmp_path):
    node = tiny()
    disk = node.disks[2]
    leaf = pull(node, disk.wwid)
    bring_back(node, disk, "sdz")
    twin = host(tmp_path, node, Clock())
    assert "REMOVED" in status(twin)
    assert twin.run(("zpool", "online", "ost_0", str(leaf.guid)), 5).stdout == b""
    assert "state: ONLINE" in status(twin)


def test_a_member_that_came_back_under_another_name_does_not(tmp_path):
    """The kernel opens the stored path and nothing else: what is there now belongs to somebody else."""
    node = drifted()
    lost = next(leaf for leaf in node.pools[0].leaves() if leaf.not_present)
    disk = lab_disk(2, 9)
    bring_back(node, disk, "sdz")
    partition(disk)[0].label = Label("ost_1", lost.guid, 4)
    twin = host(tmp_path, node, Clock())
    assert b"remains in faulted state" in twin.run(("zpool", "online", "ost_1", str(lost.guid)), 5).stdout
    assert "was /dev/sdc1" in status(twin)


def test_a_disk_being_filled_is_no_replica(tmp_path):
    node = degraded(resilver_seconds=1000.0)
    twin = host(tmp_path, node, Clock())
    replace(twin, node, BLANK)
    members = [str(leaf.guid) for leaf in node.pools[0].leaves()]
    assert [twin.run(("zpool", "offline", "ost_0", guid), 5).exit_code for guid in members[3:5]] == [0, 1]


def test_detaching_the_new_disk_undoes_a_replace(tmp_path):
    node = degraded(resilver_seconds=1000.0)
    twin = host(tmp_path, node, Clock())
    replace(twin, node, BLANK)
    new = next(str(leaf.guid) for leaf in twin.view().node.pools[0].leaves() if leaf.resilver_txg)
    assert twin.run(("zpool", "detach", "ost_0", new), 5).exit_code == 0
    assert "replacing" not in status(twin)
    assert "REMOVED" in status(twin)
    assert "resilver canceled" in status(twin)
    assert is_let_go_of(twin, "sdg1")


def test_clear_forgets_errors_and_brings_a_faulted_disk_back(tmp_path):
    node = tiny()
    leaf = node.pools[0].leaves()[1]
    leaf.state, leaf.aux, leaf.errors = "FAULTED", "err_exceeded", [3, 108, 0]
    twin = host(tmp_path, node, Clock())
    assert "too many errors" in status(twin)
    assert twin.run(("zpool", "clear", "ost_0"), 5).exit_code == 0
    assert "state: ONLINE" in status(twin)


def test_a_pool_suspended_by_mmp_is_not_cleared_by_old_releases(tmp_path):
    node = tiny()
    node.pools[0].suspended = "mmp"
    ran = host(tmp_path, node, Clock()).run(("zpool", "clear", "ost_0"), 5)
    assert ran.stderr.decode() == "cannot clear errors for ost_0: invalid argument for this pool operation\n"


def test_a_member_of_a_suspended_pool_is_not_replaced(tmp_path):
    node = degraded()
    node.pools[0].suspended = "io"
    ran = replace(host(tmp_path, node, Clock()), node, BLANK)
    assert ran.stderr.decode().endswith("pool I/O is currently suspended\n")


def test_a_finished_resilver_is_written_down_once(tmp_path):
    node = degraded()
    clock = Clock()
    twin = host(tmp_path, node, clock)
    replace(twin, node, BLANK)
    clock.at += 60
    first = status(twin)
    state = twin.store.path.read_text()
    assert status(TwinHost(twin.store.path, clock, clock.sleep)) == first
    assert twin.store.path.read_text() == state
    assert json.loads(state)["pools"][0]["scan"]["state"] == "finished"


def test_two_readers_and_a_writer_see_whole_states(tmp_path):
    """A reader with an old state in its cache notices the new one."""
    node = degraded()
    clock = Clock()
    writer = host(tmp_path, node, clock)
    reader = TwinHost(writer.store.path, clock, clock.sleep)
    assert "REMOVED" in status(reader)
    replace(writer, node, BLANK)
    assert "replacing-2" in status(reader)


def test_a_scrub_runs_and_ends_by_the_clock(tmp_path):
    node = tiny()
    clock = Clock()
    node.pools[0].scan = Scan("scrub", "running", clock.at, 100.0, 392404992, 0)
    twin = host(tmp_path, node, clock)
    clock.at += 50
    assert "0B repaired, 50.00% done" in status(twin)
    clock.at += 60
    assert "scrub repaired 0B in 00:01:40 with 0 errors" in status(twin)

"""A disk behind a multipath map in facts, guards and runs: one disk, named by its map, and refused where map and paths are at odds."""

from __future__ import annotations

import copy

import pytest

from agents.collectors import multipath
from agents.domain.multipath_maps import paths_down, uuid_of
from twin import disk_kinds, scenarios
from twin.host import TwinHost
from twin.memory import MemoryStore
from workflows.analysis import fit_disks
from workflows.facts import FleetFacts, known, lookup
from workflows.guards.candidate import (
    a_path_is_down,
    nothing_else_uses_the_disk,
    the_disk_answers_to_its_wwid,
    the_disk_has_no_partitions,
    the_disk_is_seen_and_running,
)
from workflows.guards.suspect import nothing_else_needs_it
from workflows.pasted import multipath_ll
from workflows.runbooks._replacing import replace_params
from workflows.runbooks.wipe_disk.guards import only_zfs_made_its_partitions
from workflows.tests.reports import History
from workflows.tests.stories import STORIES
from workflows.tests.walks import stages_of

AT = 1795000000.0
WWID = "naa:5000c500a65b207b"


def facts_of(change=lambda node: None, partitions=()):
    node = disk_kinds.turned(scenarios.tiny(), disk_kinds.multipath)
    node.mounts = ["sysfs /sys sysfs rw,nosuid 0 0"]
    change(node)
    found = History().facts_at(TwinHost(MemoryStore(node), lambda: AT), "oss01", AT)
    return FleetFacts({"oss01": found}, at=AT)


PARAMS = {"node": "oss01", "pool": "ost_0", "wwid": WWID, "pool_guid": "1", "vdev_guid": "2"}
NAMES = (
    "/dev/mapper/mpatha",
    "/dev/disk/by-id/dm-uuid-mpath-35000c500a65b200b",
    "/dev/disk/by-id/dm-name-mpatha",
    "/dev/disk/by-id/wwn-0x5000c500a65b200b",
    "/dev/disk/by-id/scsi-35000c500a65b200b",
    "/dev/sda",
    "/dev/sdcw",
)


@pytest.mark.parametrize("name", NAMES)
def test_every_name_of_map_and_paths_leads_to_the_one_disk(name):
    here = facts_of().nodes["oss01"]
    assert len(here.disks) == 8
    assert lookup.at_path(here, name).wwid == "naa:5000c500a65b200b"
    assert lookup.is_called(here, name, "naa:5000c500a65b200b")


@pytest.mark.parametrize("name", NAMES)
def test_a_member_by_any_of_its_names_is_that_disk(name):
    def renamed(node):
        node.pool("ost_0").leaves()[0].path = name

    (pool,) = facts_of(renamed).nodes["oss01"].pools
    leaf = pool.tops[0][1].leaves()[0]
    assert (leaf.name, leaf.wwid) == (name, "naa:5000c500a65b200b")


def test_links_of_the_map_are_links_of_the_disk():
    """As a listing of pools, the kernel's log and ZFS's own log name it."""
    here = facts_of().nodes["oss01"]
    links = here.disks[0].paths[0].by_id
    assert links[0] == "/dev/disk/by-id/dm-uuid-mpath-35000c500a65b200b"
    assert set(links) == {name for name in NAMES if "/by-id/" in name}


def test_its_order_names_the_map_and_that_of_another_disk_does_not():
    assert replace_params(facts_of(), PARAMS)["map"] == uuid_of(WWID)
    plain = FleetFacts({"oss01": History().facts_at(TwinHost(MemoryStore(scenarios.tiny()), lambda: AT), "oss01", AT)}, at=AT)
    assert "map" not in replace_params(plain, PARAMS)


def test_a_free_disk_behind_a_map_fits():
    assert WWID in [disk.wwid for disk in fit_disks.free(facts_of().nodes["oss01"])]


def a_path_outside(node):
    other = copy.deepcopy(node.disks[-1])
    other.map, other.paths = None, other.paths[:1]
    other.paths[0].name, other.paths[0].hctl = "sdzz", "3:0:7:0"
    node.disks.append(other)


def one_down(node):
    node.disks[-1].paths[0].state = "offline"


def all_down(node):
    for path in node.disks[-1].paths:
        path.state = "offline"


def no_daemon(node):
    node.faults.absent.append("multipathd")


def held(node):
    node.disks[-1].holders.append("dm-99")


def partitioned(node):
    disk = node.disks[-1]
    above, disk.map = disk.map, None
    scenarios.partition(disk)
    disk.map = above


@pytest.mark.parametrize(
    ("change", "guard", "outcome", "why"),
    [
        (lambda node: None, the_disk_is_seen_and_running, "pass", "through its map dm-7"),
        (one_down, the_disk_is_seen_and_running, "pass", "is reached by sddd"),
        (all_down, the_disk_is_seen_and_running, "refuse", "No path to"),
        (no_daemon, the_disk_is_seen_and_running, "unknown", "neither multipathd nor the kernel"),
        (a_path_outside, the_disk_is_seen_and_running, "unknown", "sdzz leads to"),
        (lambda node: None, the_disk_answers_to_its_wwid, "pass", "dm-uuid-mpath-35000c500a65b207b"),
        (a_path_outside, the_disk_answers_to_its_wwid, "unknown", "sdzz leads to"),
        (lambda node: None, nothing_else_uses_the_disk, "pass", "not mounted"),
        (held, nothing_else_uses_the_disk, "refuse", "held by dm-99"),
        (a_path_outside, nothing_else_uses_the_disk, "refuse", "held by dm-7 (multipath mpathh)"),
        (partitioned, the_disk_has_no_partitions, "refuse", "has the partitions"),
        (lambda node: None, nothing_else_needs_it, "refuse", "multipath -f MAP"),
        (lambda node: None, only_zfs_made_its_partitions, "refuse", "multipath -f MAP"),
        (a_path_outside, only_zfs_made_its_partitions, "unknown", "sdzz leads to"),
    ],
)
def test_what_guards_say_of_it(change, guard, outcome, why):
    verdict = guard(facts_of(change), PARAMS)
    assert verdict.outcome == outcome, verdict
    assert why in verdict.reason


def test_a_path_that_is_down_is_told_and_forbids_nothing():
    text = a_path_is_down(facts_of(one_down), PARAMS)
    assert "sdh" in text
    assert "multipath -ll" in text
    assert a_path_is_down(facts_of(), PARAMS) == ""
    disk = next(disk for disk in facts_of(one_down).nodes["oss01"].disks if disk.wwid == WWID)
    assert known(disk.labels), "what the other path reads of it counts"


@pytest.mark.parametrize("title", [title for title in STORIES if "multipath map" in title])
def test_no_command_of_a_run_names_a_path_or_an_alias(title):
    commands = stages_of(STORIES[title]).end.commands()
    words = [word for argv in commands if argv[0] == "zpool" for word in argv if "/dev/" in word]
    assert words
    assert all("/dev/disk/by-id/dm-uuid-mpath-3" in word for word in words), words


def test_multipath_ll_reads_like_the_daemon():
    """The text that a person pastes shows the same maps and the same lost path."""
    node = disk_kinds.turned(scenarios.tiny(), disk_kinds.multipath)
    one_down(node)
    host = TwinHost(MemoryStore(node), lambda: AT)
    pasted = multipath_ll.parse(host.run(("multipath", "-ll"), 5).stdout.decode().splitlines())
    asked = multipath.parse(multipath.collect(host)[0].text)
    assert (pasted.unread, pasted.loose) == ((), ())
    assert {(path.device, path.dm, path.checker) for one in pasted.disks for path in one.paths} == {
        (path.name, path.dm_state, path.checker) for one in asked for path in one.paths
    }
    assert [name for one in asked for name in paths_down(one)] == ["sdh"]

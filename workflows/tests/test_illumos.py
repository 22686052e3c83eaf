"""An illumos host: what is known of its disks, what refuses and how that leads on, and which plans are made of its archive for a person."""

import json
from dataclasses import replace

import pytest

from agents.operations import OPERATIONS, disk_wipe, set_tunable, zpool_clear, zpool_offline, zpool_replace, zpool_scrub
from agents.operations._candidate import at_the_ends
from agents.zfs_releases import ON_ILLUMOS, ZPOOL_ALONE
from twin import scenarios
from twin.illumos import IllumosHost
from workflows.by_hand import grounds
from workflows.by_hand.systems import SYSTEMS
from workflows.facts import FleetFacts, Unknown, known
from workflows.guards import candidate, partitioned, policy, releases
from workflows.guards.subject import sharing_nodes
from workflows.runbooks._replacing import pool_disk_and_bay
from workflows.tests import other_system
from workflows.tests.other_system import PLANS, lost, planned, serving

NEW = scenarios.lab_disk(8, 8)
BLANK = f"c0t{NEW.hex.upper()}d0"
WWID, LINK = f"dsk:{BLANK}", f"/dev/dsk/{BLANK}"


class Read(other_system.Read):
    HOST, SYSTEM = IllumosHost, "SunOS"

    def asked_besides(self, seen):
        seen.run(at_the_ends(BLANK, NEW.size_bytes), 60)


drifted = Read.drifted


def test_its_disks_pools_and_boot_are_known(tmp_path):
    read = drifted(tmp_path)
    here = read.facts.nodes["oss01"]
    (pool,) = here.pools
    gone = next(leaf for _, top in pool.tops for leaf in top.leaves() if not known(leaf.wwid))
    assert gone.name == lost(read)
    names = [str(leaf.wwid) for _, top in pool.tops for leaf in top.leaves() if known(leaf.wwid)]
    assert names
    assert all(name.startswith("dsk:c0t5000C500") for name in names)
    assert (here.system, here.boot_id, here.zfs_module) == ("illumos", read.host.boot_id, "illumos omnios-r151050-0d3ac2b1f7")
    disk = next(disk for disk in here.disks if disk.wwid == WWID)
    assert (disk.serial, disk.size_bytes, disk.logical_block_bytes, disk.in_use, disk.labels) == (
        NEW.serial, NEW.size_bytes, NEW.logical_block_bytes, (), (),
    )  # fmt: skip


GUARDS = (
    candidate.the_disk_answers_to_its_wwid,
    candidate.nothing_contradicts_who_the_disk_is,
    candidate.nothing_else_uses_the_disk,
    candidate.the_disk_has_no_partitions,
    candidate.the_disk_is_seen_and_running,
    candidate.the_disk_block_size_fits,
)


def test_a_blank_disk_that_nothing_has_open_passes(tmp_path):
    read = drifted(tmp_path)
    verdicts = [guard(read.facts, read.params(wwid=WWID, vdev_guid=lost(read))) for guard in GUARDS]
    assert [verdict.outcome for verdict in verdicts] == ["pass"] * len(GUARDS), verdicts


REFUSALS = {
    "a process has it open": ({"opened": {BLANK: "sbd"}}, "what has it open (sbd)"),
    "COMSTAR exports it": ({"exported": (BLANK,)}, "stmfadm delete-lu"),
    "fuser does not answer": ({"answers": {("fuser", "-d", f"/dev/rdsk/{BLANK}p0"): (1, "", "fuser: I/O error\n")}}, "could not be read"),
    "stmfadm does not answer": ({"answers": {("stmfadm", "list-lu", "-v"): (1, "", "stmfadm: STMF service offline\n")}}, "could not be read"),
    "it is swapped to": (
        {"answers": {("swap", "-l"): (0, f"swapfile dev swaplo blocks free\n/dev/dsk/{BLANK}p0 1,2 8 9 9\n", "")}},
        "swap",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("more", "expected"), REFUSALS.values(), ids=REFUSALS)
def test_what_is_not_known_or_in_the_way_refuses_and_leads_on(tmp_path, more, expected):
    read = drifted(tmp_path, **more)
    params = read.params(wwid=WWID, vdev_guid=lost(read))
    against = [verdict for guard in GUARDS if (verdict := guard(read.facts, params)).outcome != "pass"]
    assert any(expected in verdict.reason for verdict in against), against
    assert not any("lsblk" in verdict.reason or "udevadm" in verdict.reason for verdict in against)


@pytest.mark.parametrize(
    "target",
    [
        "/pci@0,0/pci8086,1901@1/pci15d9,808@0/iport@f/disk@w5000c500a65b2093,0",
        "/pci@0,0/pci15d9,86d@17/disk@4,0",
        "/scsi_vhci/disk@g5000c500ffffffff",
    ],
)
def test_a_disk_whose_name_is_not_that_of_its_unit_is_none_to_write_to(tmp_path, target):
    read = drifted(tmp_path, targets={BLANK: target})
    here = read.facts.nodes["oss01"]
    assert WWID not in [disk.wwid for disk in here.disks]
    (nameless,) = [disk for disk in here.disks if not known(disk.wwid)]
    assert "MPxIO" in nameless.wwid.reason


SHARED = f"c0t{scenarios.lab_disk(0, 0).hex.upper()}d0"
TABLES = {
    "another slice": (
        {"slices": {SHARED: ("       1      2    00       50000     100000     149999\n",)}},
        "refuse",
        f"{SHARED}s1 beside it",
    ),
    "a table that is not answered": (
        {"answers": {("prtvtoc", "-h", f"/dev/rdsk/{SHARED}s0"): (1, "", "prtvtoc: Unable to read VTOC\n")}},
        "unknown",
        "prtvtoc",
    ),
    "a table without slice 8": (
        {"answers": {("prtvtoc", "-h", f"/dev/rdsk/{SHARED}s0"): (0, "       0      4    00         256     100000     100255\n", "")}},
        "unknown",
        "slice 8",
    ),
    "whole disks": ({}, "pass", "has its disk alone"),
}


@pytest.mark.parametrize(("more", "outcome", "expected"), TABLES.values(), ids=TABLES)
def test_a_member_on_a_disk_with_other_slices_is_not_replaced_by_a_whole_disk(tmp_path, more, outcome, expected):
    read = drifted(tmp_path, **more)
    verdict = partitioned.the_member_has_its_disk_alone(read.facts, read.params(vdev_guid=lost(read)))
    assert (verdict.outcome, expected in verdict.reason) == (outcome, True), verdict.reason
    assert "sgdisk" not in verdict.reason


def test_nothing_is_ordered_there_and_a_person_may(tmp_path):
    read = drifted(tmp_path)
    every = (zpool_replace, zpool_offline, zpool_scrub, zpool_clear, disk_wipe, set_tunable)
    verdicts = [policy.allowed(one)(read.facts, read.params()) for one in every]
    assert [verdict.outcome for verdict in verdicts] == ["refuse"] * len(every)
    assert [verdict.by_hand for verdict in verdicts] == [True, True, True, False, False, False]
    assert all("runs illumos, where nothing is ordered" in verdict.reason for verdict in verdicts)
    ruled = [releases.released(one)(read.facts, read.params()) for one in (zpool_replace, zpool_clear)]
    assert [(verdict.outcome, verdict.by_hand) for verdict in ruled] == [("refuse", True), ("refuse", False)]
    assert SYSTEMS["illumos"].given == ON_ILLUMOS == ZPOOL_ALONE - {"zpool_clear"}


def test_a_linux_head_and_a_freebsd_head_on_the_same_shelf_see_the_same_disk(tmp_path):
    read = drifted(tmp_path)
    here = read.facts.nodes["oss01"]
    disk = next(disk for disk in here.disks if disk.wwid == WWID)
    linux = replace(here, node="oss02", system=Unknown("Linux"), disks=(replace(disk, wwid=NEW.wwid),))
    geom = f"geom:{NEW.hex}:{NEW.serial}"
    freebsd = replace(here, node="oss03", system="FreeBSD", disks=(replace(disk, wwid=geom),))
    fleet = FleetFacts({"oss01": here, "oss02": linux, "oss03": freebsd})
    for name, wwid, others in (
        ("oss01", WWID, ["oss02", "oss03"]),
        ("oss02", NEW.wwid, ["oss01", "oss03"]),
        ("oss03", geom, ["oss01", "oss02"]),
    ):
        assert [node.node for node in sharing_nodes(fleet, name, frozenset({wwid}))] == others
    assert f"disk:{NEW.wwid}" in pool_disk_and_bay(read.facts, read.params(wwid=WWID)), "one lock is for all"


@pytest.mark.parametrize("operation", PLANS)
def test_a_plan_is_made_of_the_archive_and_has_a_snippet_for_illumos(tmp_path, operation):
    read, system, text, has_disk = planned(Read, tmp_path, operation, WWID, LINK)
    assert (system, "ls -dE /proc/0 /proc/3" in text) == ("illumos", True)
    if has_disk:
        assert f"disk {LINK} {NEW.hex} none {read.params()['pool_guid']} written" in text


def test_an_order_is_refused_where_a_person_may(tmp_path):
    read = drifted(tmp_path)
    params = {name: value for name, value in read.params(vdev_guid=serving(read)).items() if name != "node"}
    answer = OPERATIONS["plan"].run(read.archive, {"operation": "zpool_offline", "params": json.dumps(params)})
    assert (answer.outcome, "no release of OpenZFS" in answer.reason) == ("refused", True)


def test_a_member_is_compared_on_the_slice_that_carries_its_label(tmp_path):
    read = drifted(tmp_path)
    found = grounds.of(read.facts, "oss01", read.plan("zpool_offline", vdev_guid=serving(read)).result)
    assert [disk.path[-4:] for disk in found.disks] == ["d0s0"]


@pytest.mark.parametrize("operation", ["zpool_clear", "zpool_import_ordinary"])
def test_what_was_not_read_is_no_command_that_is_given_there(tmp_path, operation):
    read = drifted(tmp_path)
    found = grounds.of(read.facts, "oss01", {"operation": operation, "argv": ["zpool", "x", "17"], "params": read.params()})
    assert not known(found)
    assert "A rehearsal of the runbook shows" in found.reason


CONTENTS = {
    "a table": ({"ends": {BLANK: "0000000 00 45 46 49 20 50 41 52 54\n"}}, "data at its ends"),
    "it is not read whole": ({"answers": {at_the_ends(BLANK, NEW.size_bytes): (0, "0000000\n0000000\n", "")}}, "were not read whole"),
    "its ends were not asked": ({"answers": {at_the_ends(BLANK, NEW.size_bytes): (None, "", "")}}, "disk.contents"),
    "smartctl does not give its blocks": (
        {"answers": {("smartctl", "-j", "-x", "-n", "standby", f"/dev/rdsk/{BLANK}p0"): (0, "{}", "")}},
        "disk.logical_block_bytes",
    ),
}


@pytest.mark.parametrize(("more", "expected"), CONTENTS.values(), ids=CONTENTS)
def test_a_disk_with_something_on_it_or_not_known_is_not_taken(tmp_path, more, expected):
    read = drifted(tmp_path, **more)
    answer = read.plan("zpool_replace", vdev_guid=lost(read), wwid=WWID)
    assert answer.outcome == "refused"
    assert expected in answer.reason or expected in str(answer.result["preconditions"]), answer.reason

"""A FreeBSD host: what is known of its disks, what refuses and how that leads on, and which plans are made of its archive for a person."""

from dataclasses import replace

import pytest

from agents.operations import disk_wipe, set_tunable, zpool_offline, zpool_replace, zpool_scrub
from twin import scenarios
from twin.freebsd import FreeBSDHost
from workflows.by_hand import grounds
from workflows.facts import FleetFacts, Unknown, known
from workflows.guards import candidate, policy
from workflows.guards.subject import sharing_nodes
from workflows.runbooks._replacing import pool_disk_and_bay
from workflows.tests import other_system
from workflows.tests.other_system import PLANS, lost, planned, serving

NEW = scenarios.lab_disk(8, 8)
WWID = f"geom:{NEW.wwid.partition(':')[2]}:{NEW.serial}"
LINK = f"/dev/diskid/DISK-{NEW.serial}"
ZFS = "1 PART da4p2 268435456 512 i 2 o 2117632 ty freebsd-zfs xs GPT xt 516e7cba-6ecf-11d6-8ff8-00022d09712b"


class Read(other_system.Read):
    HOST, SYSTEM = FreeBSDHost, "FreeBSD"

    def asked_besides(self, seen):
        for disk in self.host.node.disks:
            for name in (self.host.disk_name(disk), f"{self.host.disk_name(disk)}p1"):
                for argv in (("zdb", "-l"), ("fstyp", "-u"), ("file", "-bs")):
                    seen.run((*argv, f"/dev/{name}"), 20)


drifted = Read.drifted


def test_a_lost_member_is_known_by_its_guid_and_its_old_name_is_another_disk(tmp_path):
    read = drifted(tmp_path)
    here = read.facts.nodes["oss01"]
    (pool,) = here.pools
    gone = next(leaf for _, top in pool.tops for leaf in top.leaves() if not known(leaf.wwid))
    assert (gone.name, gone.was) == (lost(read), "/dev/da2p1")
    assert [leaf.wwid for _, top in pool.tops for leaf in top.leaves() if leaf.name == "/dev/da2p1"] == ["geom:5000c500a65b204b:ZA20004X"]
    assert (here.system, here.boot_id) == ("FreeBSD", read.host.boot_id)


GUARDS = (
    candidate.the_disk_answers_to_its_wwid,
    candidate.nothing_else_uses_the_disk,
    candidate.the_disk_has_no_partitions,
    candidate.the_disk_is_seen_and_running,
)


def test_a_blank_disk_that_nothing_has_open_passes(tmp_path):
    read = drifted(tmp_path)
    assert [guard(read.facts, read.params(wwid=WWID)).outcome for guard in GUARDS] == ["pass"] * len(GUARDS)


REFUSALS = {
    "no name of its own": ({"diskid": False}, "kern.geom.label.disk_ident.enable is 1"),
    "geli": ({"stacked": {"da4": ("1 ELI da4.eli 536866816 4096",)}}, "geli detach da4.eli"),
    "gmultipath": ({"stacked": {"da4": ("1 MULTIPATH multipath/m0 536870400 512",)}}, "gmultipath status"),
    "a partition beside others": ({"stacked": {"da4": (ZFS,)}}, "has the partitions da4p2"),
    "something has it open": ({"opened": ("da4",)}, "held by what has it open (r1w1e1)"),
}


@pytest.mark.parametrize(("more", "expected"), REFUSALS.values(), ids=REFUSALS)
def test_what_is_not_known_or_in_the_way_refuses_and_leads_on(tmp_path, more, expected):
    read = drifted(tmp_path, **more)
    against = [verdict for guard in GUARDS if (verdict := guard(read.facts, read.params(wwid=WWID))).outcome != "pass"]
    assert against, "nothing refuses"
    assert any(expected in verdict.reason for verdict in against), against
    assert not any("lsblk" in verdict.reason or "udevadm" in verdict.reason for verdict in against)


def test_nothing_but_a_tunable_is_ordered_there_and_a_person_may(tmp_path):
    read = drifted(tmp_path)
    verdicts = [
        policy.allowed(one)(read.facts, read.params()) for one in (zpool_replace, zpool_offline, zpool_scrub, disk_wipe, set_tunable)
    ]
    assert [verdict.outcome for verdict in verdicts] == [*["refuse"] * 4, "pass"]
    assert [verdict.by_hand for verdict in verdicts[:4]] == [True, True, True, False]
    assert all("runs FreeBSD, where a tunable alone is ordered" in verdict.reason for verdict in verdicts[:4])


def test_a_linux_head_on_the_same_shelf_sees_the_same_disk_and_one_lock_is_for_both(tmp_path):
    read = drifted(tmp_path)
    here = read.facts.nodes["oss01"]
    disk = next(disk for disk in here.disks if disk.wwid == WWID)
    other = replace(here, node="oss02", system=Unknown("Linux"), disks=(replace(disk, wwid=NEW.wwid),))
    fleet = FleetFacts({"oss01": here, "oss02": other})
    assert [node.node for node in sharing_nodes(fleet, "oss01", frozenset({WWID}))] == ["oss02"]
    assert [node.node for node in sharing_nodes(fleet, "oss02", frozenset({NEW.wwid}))] == ["oss01"]
    assert candidate.no_other_node_uses_the_disk(fleet, read.params(wwid=WWID)).outcome == "unknown"
    assert f"disk:{NEW.wwid}" in pool_disk_and_bay(read.facts, read.params(wwid=WWID))


@pytest.mark.parametrize("operation", PLANS)
def test_a_plan_is_made_of_the_archive_and_has_a_snippet_for_freebsd(tmp_path, operation):
    read, system, text, has_disk = planned(Read, tmp_path, operation, WWID, LINK)
    assert (system, "sysctl -nx kern.boot_id" in text) == ("FreeBSD", True)
    if has_disk:
        assert f"disk {LINK} {NEW.wwid.partition(':')[2]} {NEW.serial} '' none {read.params()['pool_guid']} written" in text


def test_a_member_is_compared_on_the_partition_that_carries_its_label(tmp_path):
    read = drifted(tmp_path)
    found = grounds.of(read.facts, "oss01", read.plan("zpool_offline", vdev_guid=serving(read)).result)
    assert [disk.path.removeprefix("/dev/diskid/DISK-")[-2:] for disk in found.disks] == ["p1"]


def test_an_import_is_no_command_that_is_given_there(tmp_path):
    read = drifted(tmp_path)
    plan = {"operation": "zpool_import_ordinary", "argv": ["zpool", "import", "-N", "-d", "/dev/disk/by-id", "17"], "params": read.params()}
    found = grounds.of(read.facts, "oss01", plan)
    assert not known(found)
    assert "A rehearsal of the runbook shows" in found.reason


CONTENTS = {
    "a file system": ({("fstyp", "-u"): (0, "ufs\n", "")}, "ufs"),
    "geli that is not attached": ({("fstyp", "-u"): (0, "geli\n", "")}, "geli"),
    "a container of Linux": ({("file", "-bs"): (0, "LUKS encrypted file, ver 2\n", "")}, "LUKS"),
    "fstyp cannot read it": ({("fstyp", "-u"): (1, "", "fstyp: /dev/da4: Input/output error\n")}, "does not say what is on it"),
    "file says nothing": ({("file", "-bs"): (0, "\n", "")}, "prints nothing"),
}


@pytest.mark.parametrize(("answers", "expected"), CONTENTS.values(), ids=CONTENTS)
def test_a_disk_with_something_on_it_is_not_taken(tmp_path, answers, expected):
    read = drifted(tmp_path, answers=answers)
    answer = read.plan("zpool_replace", vdev_guid=lost(read), wwid=WWID)
    assert answer.outcome == "refused"
    assert expected in answer.reason

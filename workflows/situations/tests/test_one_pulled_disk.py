"""One disk that is pulled while `zpool status` does not answer is one trouble: neither its HBA's nor that of ZFS's events."""

from __future__ import annotations

import pytest

from agents.collectors import COLLECTORS
from agents.collectors.base import Capture
from workflows.analysis.judgement import judge_node
from workflows.facts import FleetFacts, NodeFacts, known, node_facts
from workflows.facts.tests.played import captures
from workflows.facts.tests.test_suspended_trees import collected
from workflows.situations import detect_all

STATUS = ("zpool_status", "zpool_status_guid", "zpool_status_json", "zpool_status_slow")
PULLED = {
    "disk-removed/1-pulled-not-noticed": "disk-faulted",
    "disk-removed/2-removed": "disk-missing",
    "disk-removed/7-resilver-later": "disk-missing",
    "disk-removed-zfs2.3/1-pulled-not-noticed": "disk-faulted",
    "disk-removed-zfs2.3/2-removed": "disk-missing",
    "disk-removed-zfs2.3/3-new-disk-in-slot": "disk-missing",
    "sixty-disks/2-one-removed": "disk-missing",
}


def without_status(collected: dict[str, Capture], *more: str) -> NodeFacts:
    hangs = {
        place: Capture(one.source, one.key, "failed", "", f"{one.source}: timeout after 20 s") if one.source in (*STATUS, *more) else one
        for place, one in collected.items()
    }
    return node_facts("oss01", hangs, 1.0, (), ages=dict.fromkeys(COLLECTORS, 1.0))


def found(facts: NodeFacts) -> dict[str, str]:
    return {one.slug: one.severity for one in detect_all(FleetFacts({facts.node: facts}))}


@pytest.mark.parametrize("name", PULLED)
def test_a_pulled_disk_is_told_as_that_alone(name):
    values = found(without_status(captures(name)))
    assert values[PULLED[name]] == "act"
    assert not values.keys() & {"hba-fault", "zfs-events", "many-disks-offline"}


@pytest.mark.parametrize("name", [*PULLED, "healthy-mixed", "other-host/3-forced"])
def test_where_the_kernels_disks_were_not_read_either_the_hba_is_not_blamed_for_that(name):
    """Nor for one pulled disk; and that the list of disks failed is known, so nothing is called good."""
    facts = without_status(captures(name), "block")
    assert not known(facts.disks)
    assert "hba-fault" not in found(facts)
    assert judge_node(facts, ()).tone == "unknown"


@pytest.mark.parametrize("name", ["healthy-mixed", "other-host/3-forced"])
def test_disks_that_said_once_that_they_were_reset_and_are_there_have_no_hba_to_blame(name):
    assert "hba-fault" not in found(without_status(captures(name)))


def test_a_whole_shelf_that_went_is_still_told():
    reported = without_status(collected(()))
    assert "act" in found(reported).values()


def log_of(*lost: int, unread: tuple[str, ...] = ()) -> NodeFacts:
    """A node whose disks are all there, in the log of which each of them is reset, and those of these addresses lose commands as well."""
    collected = captures("healthy-raidz2")
    disks = node_facts("oss01", collected, 1.0, ()).disks
    assert known(disks)
    here = [(path.hctl, path.name) for disk in disks for path in disk.paths if path.hctl][:5]
    lines = [f"sd {hctl}: Power-on or device reset occurred" for hctl, _ in here]
    lines += [f"sd {here[n][0]}: [{here[n][1]}] tag#1 FAILED Result: hostbyte=DID_NO_CONNECT driverbyte=DRIVER_OK" for n in lost]
    text = "".join(f"[ 91{i:02}.000000] {line}\n" for i, line in enumerate(lines))
    return without_status(collected | {"kernel_log": Capture("kernel_log", "", "data", text)}, *unread)


@pytest.mark.parametrize(("lost", "is_reported"), [((), False), ((1,), False), ((1, 2), True)])
def test_a_storm_is_the_hbas_where_several_disks_lose_commands_and_only_then(lost, is_reported):
    assert ("hba-fault" in found(log_of(*lost))) == is_reported
    assert ("hba-fault" in found(log_of(*lost, unread=("block",)))) == is_reported

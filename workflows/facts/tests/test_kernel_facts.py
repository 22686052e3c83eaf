"""What the kernel adds to the facts, and what is left of them when `zpool` hangs."""

from dataclasses import replace

import pytest

from agents.collectors.base import Capture
from workflows.analysis.redundancy import pool_margin
from workflows.facts import FleetFacts, Unknown, known, lookup, node_facts
from workflows.facts.read.past import disks_in_trouble, last_suspension, places
from workflows.facts.tests.played import captures, played
from workflows.guards import GUARDS

SUSPENDED = "mmp-suspended/2-suspended"
HUNG = "timed out after 20.0 s"


def hung(name: str):
    """A step as it would be had every `zpool` and `zdb` call hung."""
    values = {
        where: Capture(c.source, c.key, "failed", "", HUNG) if c.source.startswith(("zpool", "zdb")) else c
        for where, c in captures(name).items()
    }
    return node_facts("oss01", values, 1.0, ())


def test_a_hung_zpool_does_not_hide_the_pool_nor_that_it_is_suspended():
    (pool,) = hung(SUSPENDED).pools
    assert (pool.name, pool.state, pool.suspended) == ("ost_5", "SUSPENDED", True)
    for field in (pool.guid, pool.scans, pool.tops, pool.removing, pool.expanding, pool.checkpoint):
        assert HUNG in field.reason
    assert not known(pool_margin(pool))
    assert not lookup.trees_known(hung(SUSPENDED))


def test_a_newer_kernel_says_the_guid_too():
    (pool,) = hung("healthy-mixed-zfs2.3").pools
    assert (pool.name, pool.guid, pool.suspended) == ("tank", 2041595502068262595, False)


@pytest.mark.parametrize("guard", sorted(GUARDS))
def test_no_guard_about_the_pool_passes_on_the_kernel_alone(guard):
    """The same questions that pass or refuse on the whole facts; the kernel's word opens none of them."""
    params = {"node": "oss01", "pool": "tank", "pool_guid": "2041595502068262595", "vdev_guid": "12512021126036124591", "wwid": "naa:5"}
    verdict = GUARDS[guard](FleetFacts({"oss01": hung("healthy-mixed-zfs2.3")}), params)
    allowed = {"facts-are-fresh", "the-pool-is-not-suspended", "no-mass-event-is-under-way"}
    assert verdict.outcome != "pass" or guard in allowed, verdict


def test_the_kernel_alone_refuses_a_suspended_pool():
    facts = hung("healthy-mixed-zfs2.3")
    facts = replace(facts, pools=tuple(replace(p, suspended=True) for p in facts.pools))
    params = {"node": "oss01", "pool": "tank", "pool_guid": "2041595502068262595"}
    assert GUARDS["the-pool-is-not-suspended"](FleetFacts({"oss01": facts}), params).outcome == "refuse"


def test_a_kernel_without_pools_proves_nothing():
    collected = dict(captures(SUSPENDED)) | {"kstat_pools": Capture("kstat_pools", "", "data", "")}
    collected["zpool_status"] = Capture("zpool_status", "", "failed", "", HUNG)
    assert isinstance(node_facts("oss01", collected, 1.0, ()).pools, Unknown)


def test_the_kernel_is_believed_where_an_old_text_says_another_state():
    """Before 0.7.10 `zpool status` prints DEGRADED for a suspended pool; composed from the healthy text of the same pool."""
    collected = dict(captures("mmp-suspended/1-before"))
    collected["kstat_pools"] = captures(SUSPENDED)["kstat_pools"]
    (pool,) = node_facts("oss01", collected, 1.0, ()).pools
    assert (pool.state, pool.suspended) == ("ONLINE", True)
    assert known(pool.tops)


def test_the_past_is_joined():
    facts = played(SUSPENDED)
    assert [e.kind for e in last_suspension(facts.kernel_log, "ost_5")] == ["multihost-suspended", "suspended"]
    assert last_suspension(facts.kernel_log, "ost_6") == ()
    assert facts.events[-1].kind == "ereport.fs.zfs.io_failure"
    assert "is suspended" in facts.histories["ost_5"].reason
    assert played("disk-removed/8-resilvered").histories["ost_0"].entries
    assert facts.hostids.command == "5b2f9c01"


LOG = """[  100.000000] scsi target6:0:176: _scsih_tm_display_info: handle(0x00b3), sas_address(0x5000cca2736aaadd), phy(30)
[  100.000100] scsi target6:0:176: enclosure logical id(0x50050cc11ac016e2), slot(30)
[  110.000000] sd 6:0:176:0: [sdev] tag#1 FAILED Result: hostbyte=DID_TIME_OUT driverbyte=DRIVER_OK cmd_age=34s
[  111.000000] blk_update_request: I/O error, dev sdev, sector 8799589384 op 0x1:(WRITE) flags 0x700 phys_seg 1 prio class 0
[  112.000000] blk_update_request: I/O error, dev sdb, sector 1 op 0x1:(WRITE) flags 0x700 phys_seg 1 prio class 0
[  120.000000] WARNING: Pool 'a' has encountered an uncorrectable I/O failure and has been suspended.
[  130.000000] WARNING: Pool 'a' was suspended and is being resumed. Failed I/O will be retried.
"""


def test_the_log_names_disks_and_bays():
    """Composed: the lab's HBA does not print such lines."""
    facts = node_facts("oss01", {"kernel_log": Capture("kernel_log", "", "data", LOG)}, 1.0, ())
    assert {name: len(lines) for name, lines in disks_in_trouble(facts.kernel_log, 0, 200_000_000).items()} == {"sdev": 2, "sdb": 1}
    assert disks_in_trouble(facts.kernel_log, 0, 105_000_000) == {}
    assert {address: place.slot for address, place in places(facts.kernel_log).items()} == {"0x5000cca2736aaadd": 30}


def test_a_resumed_pool_is_not_suspended_any_more():
    facts = node_facts("oss01", {"kernel_log": Capture("kernel_log", "", "data", LOG)}, 1.0, ())
    assert last_suspension(facts.kernel_log, "a") == ()

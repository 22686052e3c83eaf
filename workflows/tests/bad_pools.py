"""How each guard about what is slow, out of line, lost together or suspended is made to refuse, and made not to know."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from agents.collectors.kernel_log import KernelLog
from agents.collectors.kstat_txgs import MultihostWrite
from agents.domain.tunables import ILLUMOS
from agents.orders.policy import Policy
from workflows.engine.core import Params
from workflows.facts import FleetFacts, MapFacts, PoolLatency, ScanFacts, SelfTestFacts, known
from workflows.facts.read.disk_modes import Switch
from workflows.facts.read.kstats import KstatFacts
from workflows.tests.bends import (
    UNREAD,
    Bad,
    as_it_is,
    beside,
    both,
    comes_back,
    disk,
    each,
    every_disk,
    every_leaf,
    has_it_too,
    leaf,
    long_ago,
    no_nodes,
    node,
    one_sibling,
    pool,
    put,
    scans,
    siblings,
    stale,
    tunable,
    watched,
)

OUT = {"state": "UNAVAIL", "note": "cannot open"}
IO_STATUS = "One or more devices are faulted in response to IO failures."
MMP_STATUS = "The pool is suspended because multihost writes failed or were delayed."
NO_LOG = KernelLog(())
GATE = "it_may_be_ordered_on_this_release_of_openzfs"
RUNS = SelfTestFacts(1, "Background short", 15, "Self test in progress")


def inside(**changes: Any) -> Callable[[Any], Any]:
    """The same change within what is there: of a disk's condition, of its modes."""
    return lambda facts: put(facts, **changes)


def one_slow(latency: PoolLatency) -> PoolLatency:
    """One member is far slower than its peers."""
    first, *others = latency.leaves
    row = replace(first.now or first.since_import, disk_read_ns=9_000_000_000, disk_write_ns=9_000_000_000)
    return replace(latency, leaves=(replace(first, now=row, since_import=row, slow=900), *others))


def no_peers(latency: PoolLatency) -> PoolLatency:
    """Every member is being filled."""
    return put(latency, leaves=each(leaf=inside(resilvering=True)))


def troubled(kstats: KstatFacts) -> KstatFacts:
    """A multihost write failed on every pool."""
    late = MultihostWrite(1, 1, 5, 1, 1, 1, "/dev/sdzz1")
    return replace(kstats, writes={name: replace(w, multihost=(late,)) if known(w) else w for name, w in kstats.writes.items()})


def the_same_boot(facts: FleetFacts, params: Params) -> FleetFacts:
    return node(boot_id=params.get("boot_id", ""))(facts, params)


A_MAP = MapFacts("dm-3", "mpatha", "mpath-35000c500a65bfff7", ("sdzz",), (), ())

REFUSED = (
    # --- links
    Bad("every_disk_behind_it_is_there", "The kernel calls", every_disk(paths=each(state="transport-offline"))),
    Bad("growth_was_watched", "The counters were watched for 30 s", watched(30.0)),
    Bad("the_counters_are_known", "shows no SAS link", node(fabric=inside(phys=()))),
    Bad("the_link_is_quiet", "are needed", as_it_is),
    # --- lost together
    Bad("every_member_serves", "still do not serve", one_sibling(**OUT)),
    Bad("every_member_serves", "Bring it back with `zpool online`", one_sibling(state="OFFLINE")),
    Bad("every_member_that_went_is_back", "still do not serve", one_sibling(**OUT)),
    Bad("everything_is_quiet", "Since they were quiet", every_disk(paths=each(hctl="9:9:9:9"))),
    Bad("it_was_suspended_by_io_errors", "was suspended by multihost", pool(status=MMP_STATUS)),
    Bad("many_were_lost_together", "are lost together now", every_leaf(state="ONLINE")),
    Bad("no_data_is_damaged", "3 data errors", pool(errors="3 data errors, use '-v' for a list")),
    Bad("no_vdev_is_beyond_rebuilding", "has lost more disks than it can rebuild", every_leaf(**OUT)),
    Bad("the_disks_are_back", "Look at power and cables", node(disks=())),
    Bad("the_disks_are_back_and_everything_is_quiet", "Look at power and cables", node(disks=())),
    Bad("the_disks_are_back_and_everything_is_quiet", "s are needed", as_it_is),
    Bad("the_pool_is_suspended", "is not suspended", pool(suspended=False)),
    Bad("the_scrub_found_nothing", "found 3 errors", scans(function="scrub", state="finished", errors=3)),
    Bad("the_scrub_goes_well", "restore what it names", scans(function="scrub", errors=3)),
    Bad("the_scrub_goes_well", "Nothing is proven; begin it again", scans(function="scrub", state="canceled")),
    # --- suspended
    Bad("its_signs_of_life_get_through", "failed or took a whole interval", node(kstats=troubled)),
    Bad("multihost_suspended_it", "by I/O errors, not by multihost", both(node(kernel_log=NO_LOG), pool(status=IO_STATUS))),
    Bad("no_other_node_has_the_pool", "oss09 has", has_it_too),
    Bad("the_node_has_rebooted", "still runs the boot", the_same_boot),
    Bad("the_pool_can_do_without_the_sick_disk", "cannot do without the sick disk", every_leaf(**OUT)),
    Bad("the_pool_is_imported_and_runs", "is suspended", pool(suspended=True)),
    Bad("the_sick_disk_is_out", "is still there", comes_back("sick")),
    Bad("the_policy_of_the_node_allows_it", "only lets itself be observed", node(policy=Policy("observe", why="there is no policy file."))),
    Bad("it_is_not_suspended_again", "is suspended again", pool(suspended=True)),
    # --- slow
    Bad("the_disk_may_be_tested", "runs on", every_disk(condition=inside(self_tests=(RUNS,)))),
    Bad("the_member_serves_and_has_peers", "peers in service", pool(latency=no_peers)),
    Bad("the_pool_answers", "is suspended", pool(suspended=True)),
    Bad(
        "the_self_test_has_ended",
        "runs.",
        disk("old_wwid", condition=inside(self_tests=each(result=15))),
    ),
    Bad("there_are_enough_samples", "looks were taken", as_it_is),
    # --- modes
    Bad("no_scan_runs_on_the_pool", "Wait until it ends", pool(scans=(ScanFacts("scrub", "running", "scrub in progress"),))),
    Bad("nothing_is_lost_together", "Mend that first", every_leaf(**OUT)),
    Bad("a_mode_reaches_the_disk", "no order reaches past it", disk("old_wwid", map=A_MAP)),
    Bad("a_mode_reaches_the_disk", "could reach another disk", disk("old_wwid", doubt="sda and sdb report one identity")),
    Bad("the_disk_may_be_tested", "could reach another disk", disk("old_wwid", doubt="sda and sdb report one identity")),
    Bad("the_disk_may_be_tested", "`smartctl -t short /dev/disk/by-path/LINK`", disk("old_wwid", map=A_MAP)),
    Bad("the_disk_is_the_one_meant", "has the serial number ZZ000001", disk("old_wwid", serial="ZZ000001")),
    Bad("the_disk_rests", "take it offline first", leaf(state="ONLINE")),
    Bad(
        "the_kernel_flushes_what_the_disk_caches",
        "the kernel assumes it does not",
        disk("old_wwid", modes=inside(write_cache=Switch(True, True), kernel_believes="write through")),
    ),
    Bad("the_member_has_caught_up", "still catches up", leaf(resilvering=True)),
    Bad(
        "the_mode_is_as_wanted",
        "It was to be",
        every_disk(modes=inside(background_scan=Switch(False, False), write_cache=Switch(True, True))),
    ),
    Bad("the_switch_is_towards_its_like", "A policy is changed", every_disk(modes=inside(background_scan=Switch(False, False)))),
    Bad("the_vdev_can_spare_it", "cannot do without another disk", siblings(**OUT)),
    # --- tuning
    Bad("a_scan_is_running", "so there is nothing to speed up", pool(progress=())),
    Bad("no_parameter_stops_scans", "zfs_no_scrub_io is 1", tunable("zfs_no_scrub_io", "1")),
    Bad("no_single_disk_holds_it_up", "Look into that disk first", pool(latency=one_slow)),
    Bad("nothing_else_is_tuned", "another run or person has changed it already", tunable("zfs_scan_vdev_limit", "7")),
    Bad("the_reason_to_tune_is_over", "runs on", as_it_is),
    Bad(GATE, "is not among the releases that were read", node(zfs_userland="zfs-9.9.1-1", zfs_module="zfs-kmod-9.9.1-1")),
    Bad("the_tunable_is_as_it_was", "Another run or person set it meanwhile", tunable(None, "7")),
    Bad("the_tunable_is_back", "It is not back yet", tunable(None, "7")),
    Bad("the_tunable_is_ours_to_put_back", "it was changed from outside this run", tunable(None, "7")),
    Bad("the_tunable_reads_as_set", "The kernel did not take it", tunable(None, "7")),
    Bad("the_value_may_be_set", "On illumos", node(tunables=inside(platform=ILLUMOS))),
    Bad("it_may_be_put_back", "It is held as long as was chosen", as_it_is),
)


UNSURE = (
    Bad("the_policy_of_the_node_allows_it", "No node named", no_nodes),
    Bad("what_link_triage_reads_is_fresh", "s is the limit", stale),
    Bad("what_a_mass_event_reads_is_fresh", "s is the limit", stale),
    Bad("what_a_suspension_reads_is_fresh", "s is the limit", stale),
    Bad("what_triage_reads_is_fresh", "s is the limit", stale),
    Bad("what_the_audit_reads_is_fresh", "s is the limit", stale),
    Bad("what_tuning_reads_is_fresh", "s is the limit", stale),
    Bad("every_disk_behind_it_is_there", "are not known", node(disks=UNREAD)),
    Bad("growth_was_watched", "No node named", no_nodes),
    Bad("the_counters_are_known", "is not known", node(fabric=UNREAD)),
    Bad("the_link_is_quiet", "is not known", node(fabric=UNREAD)),
    Bad("the_link_is_quiet", "sas_phys of oss01 was read", long_ago("sas_phys")),
    Bad("every_member_serves", "is not known", pool(scans=UNREAD)),
    Bad("every_member_that_went_is_back", "is not known", pool(scans=UNREAD)),
    Bad("everything_is_quiet", "No node named", no_nodes),
    Bad("everything_is_quiet", "sas_phys of oss01 was read", long_ago("sas_phys")),
    Bad("everything_is_quiet", "block of oss01 was read", long_ago("block")),
    Bad("it_was_suspended_by_io_errors", "take it for multihost", both(node(kernel_log=UNREAD), pool(status="", properties=UNREAD))),
    Bad("many_were_lost_together", "are not known", pool(tops=UNREAD)),
    Bad("no_data_is_damaged", "was not said", pool(errors="")),
    Bad("no_vdev_is_beyond_rebuilding", "are not known", pool(scans=UNREAD)),
    Bad("the_disks_are_back", "is not known", node(disks=UNREAD)),
    Bad("the_disks_are_back_and_everything_is_quiet", "is not known", node(disks=UNREAD)),
    Bad("the_pool_is_suspended", "It was not read", pool(suspended=UNREAD)),
    Bad("the_scrub_found_nothing", "It was not read", pool(scans=UNREAD)),
    Bad("the_scrub_goes_well", "It was not read", pool(scans=UNREAD)),
    Bad("its_signs_of_life_get_through", "It was not read", pool(suspended=UNREAD)),
    Bad("multihost_suspended_it", "It was not read", pool(suspended=UNREAD)),
    Bad("it_is_not_suspended_again", "are not known", node(pools=UNREAD)),
    Bad("no_other_node_has_the_pool", "oss09", beside(disks=UNREAD)),
    Bad("the_node_has_rebooted", "It was not read", node(boot_id=UNREAD)),
    Bad("the_pool_can_do_without_the_sick_disk", "are not known", pool(tops=UNREAD)),
    Bad("the_pool_is_imported_and_runs", "It was not read", pool(suspended=UNREAD)),
    Bad("the_sick_disk_is_out", "are not known", node(disks=UNREAD)),
    Bad("the_disk_may_be_tested", "could not be read", disk("old_wwid", condition=UNREAD)),
    Bad("the_member_serves_and_has_peers", "is not known", pool(latency=UNREAD)),
    Bad("the_pool_answers", "It was not read", pool(suspended=UNREAD)),
    Bad("the_self_test_has_ended", "cannot be read now", disk("old_wwid", condition=UNREAD)),
    Bad("there_are_enough_samples", "is not known", pool(latency=UNREAD)),
    Bad("no_scan_runs_on_the_pool", "are not known", pool(scans=UNREAD)),
    Bad("nothing_is_lost_together", "is not known", node(pools=UNREAD)),
    Bad("a_mode_reaches_the_disk", "not read", disk("old_wwid", map=UNREAD)),
    Bad("the_disk_is_the_one_meant", "is not known", disk("old_wwid", serial=UNREAD)),
    Bad("the_disk_rests", "are not known", pool(tops=UNREAD)),
    Bad("the_kernel_flushes_what_the_disk_caches", "are not known", disk("old_wwid", modes=UNREAD)),
    Bad("the_member_has_caught_up", "are not known", pool(scans=UNREAD)),
    Bad("the_mode_is_as_wanted", "is not known", disk("old_wwid", modes=UNREAD)),
    Bad("the_switch_is_towards_its_like", "is not known", disk("old_wwid", modes=UNREAD)),
    Bad("the_vdev_can_spare_it", "are not known", pool(scans=UNREAD)),
    Bad("a_scan_is_running", "is not known", pool(progress=UNREAD)),
    Bad("no_parameter_stops_scans", "are not known", node(tunables=UNREAD)),
    Bad("no_single_disk_holds_it_up", "is not known", pool(latency=UNREAD)),
    Bad("nothing_else_is_tuned", "are not known", node(tunables=UNREAD)),
    Bad("the_reason_to_tune_is_over", "is not known", pool(progress=UNREAD)),
    Bad(GATE, "are not known", node(zfs_module=UNREAD)),
    Bad("the_tunable_is_as_it_was", "are not known", node(tunables=UNREAD)),
    Bad("the_tunable_is_back", "are not known", node(tunables=UNREAD)),
    Bad("the_tunable_is_ours_to_put_back", "are not known", node(tunables=UNREAD)),
    Bad("the_tunable_reads_as_set", "are not known", node(tunables=UNREAD)),
    Bad("the_value_may_be_set", "are not known", node(tunables=UNREAD)),
)

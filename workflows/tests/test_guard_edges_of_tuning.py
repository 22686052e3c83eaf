"""Where the guards of tunables, of a suspension by multihost, of modes and of cables turn."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from agents.collectors.kernel_log import KernelLog
from agents.collectors.kstat_txgs import MultihostWrite, PoolWrites
from agents.domain.tunables import ILLUMOS, LINUX, TUNABLES
from workflows.facts import (
    Advance,
    Amount,
    FabricFacts,
    KstatFacts,
    LeafLatency,
    ModeFacts,
    PoolLatency,
    ScanProgress,
    Switch,
    TunableFacts,
    TunablesFacts,
    Unknown,
)
from workflows.guards import mass, modes, protection, slow, suspended, tuning
from workflows.tests.incident import (
    DISKS,
    LOST_LEAF,
    MEMBERS,
    NODE,
    OTHER,
    PARAMS,
    POOL,
    SDCW_WWID,
    SDFL_WWID,
    TOP,
    TWIN,
    fleet,
    with_disk,
    with_leaf,
    with_pool,
)

SILENT = Unknown("Nobody said.")
KNOB = TUNABLES["zfs_vdev_scrub_max_active"]
LOW, HIGH = KNOB.safe


def shown(name=KNOB.name, value="3", defaults=(3,)):
    return TunableFacts(name, value, None, defaults)


def tuned(*tunables, platform=LINUX, **more):
    return fleet(replace(NODE, tunables=TunablesFacts(tunables, (), platform), **more))


def setting(value, before=3, name=KNOB.name):
    return {"setting": f"{name} {before} {value}"}


def scanned(low=120, suspended_=False, waits=(10,), **more):
    """A resilver at this rate, while reads of members wait so many milliseconds."""
    advance = Advance(100.0, Amount(low * 100, low * 200))
    progress = ScanProgress("resilver", "x", "1", Amount(1, 1), Amount(9, 9), Amount(1, 1), advance)
    rows = tuple(LeafLatency(member, TOP, now=Row(wait * 1_000_000)) for member, wait in zip(MEMBERS, waits, strict=False))
    return with_pool(**{"progress": (progress,), "suspended": suspended_, "latency": PoolLatency(rows), **more})


class Row:
    """What `zpool iostat` says of one leaf."""

    def __init__(self, wait_ns):
        self.total_read_ns = self.disk_read_ns = wait_ns
        self.total_write_ns = self.disk_write_ns = None


BEFORE = {"baseline": "rate=100 wait=1 worst=30000000"}


ON, OFF = Switch(True, True), Switch(False, False)


def moded(cache, believes="write back", scan=ON, others=()):
    """A member with these modes; `others` is whether the background scan of its like is on."""
    like = tuple(
        replace(d, modes=ModeFacts(Switch(False, False), Switch(on, on), "write back")) for d, on in zip(DISKS[1:], others, strict=False)
    )
    one = replace(DISKS[0], modes=ModeFacts(cache, scan, believes))
    return fleet(replace(NODE, disks=(one, *like, *DISKS[1 + len(like) :])))


IT = {"old_wwid": SDCW_WWID, "old_serial": "ZA000068", "vdev_guid": str(TWIN)}
HERE = tuned(shown("zfs_multihost_interval", "1000")).nodes["oss01"]


def beside(*tunables, **more):
    return fleet(HERE, replace(OTHER, **{"tunables": TunablesFacts(tunables, ()), **more}))


NO_PHYS = FabricFacts((), {}, {})


def fabric(age, known_=NO_PHYS):
    return fleet(replace(NODE, fabric=known_, ages={**NODE.ages, "sas_phys": age}))


SICK = {"sick": SDCW_WWID}
TWO = {"partners": "oss02 oss03"}
EDGES = {
    # --- what may be set
    "the least": (tuning.the_value_may_be_set, tuned(shown()), setting(LOW), "pass", f"within {LOW} to {HIGH}"),
    "the largest": (tuning.the_value_may_be_set, tuned(shown()), setting(HIGH), "pass", "can be put back"),
    "below the least": (tuning.the_value_may_be_set, tuned(shown()), setting(LOW - 1), "refuse", "is outside"),
    "above the largest": (tuning.the_value_may_be_set, tuned(shown()), setting(HIGH + 1), "refuse", "is outside"),
    "from what no order sets": (
        tuning.the_value_may_be_set,
        tuned(shown()),
        setting(LOW, before=999),
        "refuse",
        "neither safe nor a default",
    ),
    "not there": (tuning.the_value_may_be_set, tuned(), setting(LOW), "unknown", "shows no zfs_vdev_scrub_max_active, although"),
    "a release nobody knows": (
        tuning.the_value_may_be_set,
        tuned(shown(), zfs_module=SILENT),
        setting(LOW),
        "unknown",
        "in the release of oss01",
    ),
    "gone": (
        tuning.the_value_may_be_set,
        tuned(shown("zfs_scrub_delay")),
        setting(1, name="zfs_scrub_delay"),
        "refuse",
        "What it did is done by zfs_vdev_scrub_max_active",
    ),
    "not there yet": (
        tuning.the_value_may_be_set,
        tuned(shown(), zfs_module="zfs-kmod-0.7.13-1"),
        setting(5, name="zfs_vdev_nia_credit"),
        "refuse",
        "it came with",
    ),
    "no safe range": (
        tuning.the_value_may_be_set,
        tuned(shown()),
        setting(5, name=next(t.name for t in TUNABLES.values() if t.safe is None and t.is_in((2, 1, 11)))),
        "refuse",
        "is not set from here",
    ),
    "on illumos": (tuning.the_value_may_be_set, tuned(shown(), platform=ILLUMOS), setting(LOW), "refuse", "On illumos a person does it"),
    "two words": (tuning.the_value_may_be_set, tuned(shown()), {"setting": "zfs_vdev_scrub_max_active 3"}, "unknown", "names no tunable"),
    "no tunable": (tuning.the_value_may_be_set, tuned(shown()), {"setting": "zfs_arc_max 3 5"}, "unknown", "names no tunable"),
    "no number before": (tuning.the_value_may_be_set, tuned(shown()), {"setting": f"{KNOB.name} x 5"}, "unknown", "names no tunable"),
    "no number after": (tuning.the_value_may_be_set, tuned(shown()), {"setting": f"{KNOB.name} 3 x"}, "unknown", "names no tunable"),
    # --- what is set
    "as it was": (tuning.the_tunable_is_as_it_was, tuned(shown()), setting(6), "pass", "is 3"),
    "set": (tuning.the_tunable_reads_as_set, tuned(shown(value="6")), setting(6), "pass", "is 6"),
    "not set": (tuning.the_tunable_reads_as_set, tuned(shown()), setting(6), "refuse", "did not take it"),
    "back": (tuning.the_tunable_is_back, tuned(shown()), setting(6), "pass", "is 3"),
    "not shown": (tuning.the_tunable_is_back, tuned(), setting(6), "unknown", "oss01 shows no zfs_vdev_scrub_max_active"),
    "no plain number": (tuning.the_tunable_is_back, tuned(shown(value="-1")), setting(6), "unknown", "no plain number"),
    "ours": (tuning.the_tunable_is_ours_to_put_back, tuned(shown(value="6")), setting(6), "pass", "this run set it to 6"),
    "back already": (tuning.the_tunable_is_ours_to_put_back, tuned(shown()), setting(6), "pass", "is 3"),
    "somebody else's": (
        tuning.the_tunable_is_ours_to_put_back,
        tuned(shown(value="5")),
        setting(6),
        "refuse",
        "it was changed from outside this run",
    ),
    "nothing else": (tuning.nothing_else_is_tuned, tuned(shown(value="6")), setting(6), "pass", "No other tunable"),
    "something else": (tuning.nothing_else_is_tuned, tuned(shown(value="6")), {}, "refuse", "another run or person has changed it already"),
    "something else nobody knows": (tuning.nothing_else_is_tuned, tuned(shown(defaults=SILENT)), {}, "unknown", "was changed is not known"),
    "something that is no knob": (tuning.nothing_else_is_tuned, tuned(shown("zfs_dbgmsg_enable", "7")), {}, "pass", "No other tunable"),
    "stopped": (tuning.no_parameter_stops_scans, tuned(shown("zfs_no_scrub_io", "1")), {}, "refuse", "Put that back first"),
    "not stopped": (tuning.no_parameter_stops_scans, tuned(shown("zfs_no_scrub_io", "0"), shown()), {}, "pass", "No parameter stops"),
    # --- what it brings and costs
    "more than a fifth faster": (tuning.the_scan_gained, scanned(121), BEFORE, "pass", "+21 %"),
    "not a fifth faster": (tuning.the_scan_gained, scanned(119), BEFORE, "refuse", "+19 %"),
    "from nothing": (tuning.the_scan_gained, scanned(1), {"baseline": "rate=0 wait=1 worst=1"}, "pass", "which it did not before"),
    "no measure": (tuning.the_scan_gained, scanned(), {}, "unknown", "no measure of before"),
    "no second look": (tuning.the_scan_gained, with_pool(progress=()), BEFORE, "unknown", "No scan runs"),
    "as long as may be": (tuning.others_do_not_wait_too_long, scanned(waits=(10, 60)), BEFORE, "pass", "is the bound"),
    "longer than may be": (tuning.others_do_not_wait_too_long, scanned(waits=(61, 10)), BEFORE, "refuse", "Put the tunable back"),
    "waits and no measure": (tuning.others_do_not_wait_too_long, scanned(), {}, "unknown", "no measure of before"),
    "nobody waits": (tuning.others_do_not_wait_too_long, scanned(waits=()), BEFORE, "unknown", ""),
    "over, as it is suspended": (tuning.the_reason_to_tune_is_over, scanned(suspended_=True), BEFORE, "pass", "The tunable is put back"),
    "over, as it has ended": (tuning.the_reason_to_tune_is_over, with_pool(progress=()), BEFORE, "pass", "nothing to speed up"),
    "over, as others wait": (tuning.the_reason_to_tune_is_over, scanned(waits=(99,)), BEFORE, "pass", "Put the tunable back"),
    "not over": (tuning.the_reason_to_tune_is_over, scanned(), BEFORE, "refuse", "is the bound"),
    # --- suspended by multihost
    "no disk named": (suspended.the_pool_can_do_without_the_sick_disk, with_pool(), {"sick": "none"}, "pass", "No disk was named"),
    "it can do without": (suspended.the_pool_can_do_without_the_sick_disk, with_pool(), SICK, "pass", "has no redundancy left"),
    "it cannot do without": (
        suspended.the_pool_can_do_without_the_sick_disk,
        with_leaf(LOST_LEAF, MEMBERS[0], replace(MEMBERS[1], state="UNAVAIL"), *MEMBERS[2:]),
        SICK,
        "refuse",
        "cannot do without the sick disk",
    ),
    "it does without already": (
        suspended.the_pool_can_do_without_the_sick_disk,
        with_leaf(LOST_LEAF, replace(MEMBERS[0], state="FAULTED"), *MEMBERS[1:]),
        SICK,
        "pass",
        "has no redundancy left",
    ),
    "no member": (suspended.the_pool_can_do_without_the_sick_disk, with_pool(), {"sick": "naa:5"}, "pass", "is no member"),
    "sick and there": (suspended.the_sick_disk_is_out, fleet(), SICK, "refuse", "is still there"),
    "sick and away": (suspended.the_sick_disk_is_out, fleet(replace(NODE, disks=DISKS[1:])), SICK, "pass", "does not see"),
    "sick and nameless": (
        suspended.the_sick_disk_is_out,
        with_disk(SDCW_WWID, wwid=SILENT),
        SICK,
        "unknown",
        "sees sdcw (no WWID), and it may be",
    ),
    "nobody is sick": (suspended.the_sick_disk_is_out, fleet(), {"sick": "none"}, "pass", "No disk was named"),
    "who is sick was not said": (suspended.the_sick_disk_is_out, fleet(), {}, "unknown", "was not said yet"),
    "a neighbour that does not tell its pools": (
        suspended.no_other_node_has_the_pool,
        fleet(NODE, replace(OTHER, disks=DISKS[:1], pools=SILENT, age_seconds=5.0)),
        {},
        "unknown",
        "which pools it has imported is not known",
    ),
    "a neighbour with a pool of that name": (
        suspended.no_other_node_has_the_pool,
        fleet(NODE, replace(OTHER, pools=(replace(POOL, guid=SILENT),))),
        {},
        "refuse",
        "oss02 has ost_0 imported",
    ),
    "a neighbour with another pool": (
        suspended.no_other_node_has_the_pool,
        fleet(NODE, replace(OTHER, disks=DISKS[:1], pools=(replace(POOL, guid=5),), age_seconds=5.0)),
        {},
        "pass",
        "oss02 sees its disks",
    ),
    "a neighbour that is silent": (
        suspended.no_other_node_has_the_pool,
        fleet(NODE, replace(OTHER, disks=DISKS[:1])),
        {},
        "unknown",
        "oss02 sees disks of ost_0",
    ),
    "steady": (suspended.its_signs_of_life_get_through, with_pool(), {"steady": "100:700"}, "pass", "10 minutes"),
    "not steady yet": (suspended.its_signs_of_life_get_through, with_pool(), {"steady": "100:699"}, "refuse", "599 s; 600 s are needed"),
    "since nobody knows when": (suspended.its_signs_of_life_get_through, with_pool(), {"steady": ":700"}, "refuse", "for 0 s"),
    "the same boot": (suspended.the_node_has_rebooted, fleet(), {"boot_id": NODE.boot_id}, "refuse", "still runs the boot"),
    "set alike": (suspended.both_nodes_are_set_alike, beside(shown("zfs_multihost_interval", "1000")), TWO, "pass", "the same multihost"),
    "not set alike": (
        suspended.both_nodes_are_set_alike,
        beside(shown("zfs_multihost_interval", "2000")),
        TWO,
        "refuse",
        "and 2000 on oss02",
    ),
    "not there on the other": (suspended.both_nodes_are_set_alike, beside(), TWO, "refuse", "and not there on oss02"),
    "more on the other": (
        suspended.both_nodes_are_set_alike,
        beside(shown("zfs_multihost_interval", "1000"), shown("zfs_multihost_fail_intervals", "9")),
        TWO,
        "refuse",
        "zfs_multihost_fail_intervals is not there on oss01 and 9 on oss02",
    ),
    "how the other is set": (suspended.both_nodes_are_set_alike, beside(tunables=SILENT), TWO, "unknown", "How oss02 is set"),
    "nobody else": (suspended.both_nodes_are_set_alike, beside(), {"partners": "none"}, "pass", "the same multihost"),
    "how this one is set": (
        suspended.both_nodes_are_set_alike,
        fleet(replace(NODE, tunables=SILENT), beside().nodes["oss02"]),
        TWO,
        "unknown",
        "Nobody said.",
    ),
    "no other named": (suspended.both_nodes_are_set_alike, beside(), {"partners": " none "}, "pass", "the same multihost"),
    "suspended again": (suspended.it_is_not_suspended_again, with_pool(suspended=True), {}, "refuse", "is suspended again"),
    "suspended again or not": (suspended.it_is_not_suspended_again, with_pool(suspended=SILENT), {}, "unknown", "Nobody said."),
    "not suspended again": (suspended.it_is_not_suspended_again, with_pool(), {}, "pass", "is not suspended"),
    "disks nobody knows": (
        suspended.no_other_node_has_the_pool,
        with_leaf(LOST_LEAF, *(replace(m, wwid=SILENT) for m in MEMBERS)),
        {},
        "unknown",
        "Which disks ost_0 sits on is not known",
    ),
    "waits on no pool": (tuning.others_do_not_wait_too_long, scanned(), {**BEFORE, "pool_guid": ""}, "unknown", "names no pool guid"),
    "a scan of no pool": (tuning.the_scan_gained, scanned(), {**BEFORE, "pool_guid": ""}, "unknown", "names no pool guid"),
    "cables that were looked at": (slow.what_triage_reads_is_fresh, fabric(9.0), {}, "pass", "reported 4 s ago"),
    "cables that nobody looked at": (slow.what_triage_reads_is_fresh, fabric(9e4), {}, "unknown", "sas_phys"),
    "no cables": (slow.what_triage_reads_is_fresh, fabric(9e4, SILENT), {}, "pass", "reported 4 s ago"),
    # --- modes
    "a cache that is never flushed": (
        modes.the_kernel_flushes_what_the_disk_caches,
        moded(ON, "write through"),
        IT,
        "refuse",
        "caches writes",
    ),
    "a cache that is flushed": (modes.the_kernel_flushes_what_the_disk_caches, moded(ON), IT, "pass", "stays without a flush"),
    "no cache": (modes.the_kernel_flushes_what_the_disk_caches, moded(OFF, "write through"), IT, "pass", "stays without a flush"),
    "a cache nobody read": (modes.the_kernel_flushes_what_the_disk_caches, moded(SILENT), IT, "unknown", "caches writes is not known"),
    "a belief nobody read": (modes.the_kernel_flushes_what_the_disk_caches, moded(OFF, SILENT), IT, "unknown", "Nobody said."),
    "no majority": (
        modes.the_switch_is_towards_its_like,
        moded(OFF, scan=OFF, others=(True,)),
        {**IT, "change": "EN_BMS 1"},
        "refuse",
        "Of 2 disks of its model",
    ),
    "towards the majority": (
        modes.the_switch_is_towards_its_like,
        moded(OFF, scan=OFF, others=(True, True)),
        {**IT, "change": "EN_BMS 1"},
        "pass",
        "2 of 3 disks",
    ),
    "away from the majority": (
        modes.the_switch_is_towards_its_like,
        moded(OFF, others=(True, True)),
        {**IT, "change": "EN_BMS 0"},
        "refuse",
        "A policy is changed",
    ),
    "already so": (
        modes.the_switch_is_towards_its_like,
        moded(OFF, others=(True, True)),
        {**IT, "change": "EN_BMS 1"},
        "refuse",
        "is on already",
    ),
    "already so and not saved": (
        modes.the_switch_is_towards_its_like,
        moded(OFF, scan=Switch(True, False), others=(True, True)),
        {**IT, "change": "EN_BMS 1"},
        "pass",
        "3 of 3 disks",
    ),
    "a cache is not switched on": (
        modes.the_switch_is_towards_its_like,
        moded(OFF),
        {**IT, "change": "WCE 1"},
        "refuse",
        "is not switched on",
    ),
    "a cache that is never flushed goes": (
        modes.the_switch_is_towards_its_like,
        moded(ON, "write through"),
        {**IT, "change": "WCE 0"},
        "pass",
        "never flushes",
    ),
    "no mode": (modes.the_switch_is_towards_its_like, moded(OFF), {**IT, "change": "XYZ 0"}, "unknown", "No mode is chosen"),
    "no value": (modes.the_switch_is_towards_its_like, moded(OFF), {**IT, "change": "WCE 2"}, "unknown", "No mode is chosen"),
    "as wanted": (modes.the_mode_is_as_wanted, moded(OFF), {**IT, "change": "WCE 0"}, "pass", "is off"),
    "as wanted and not saved": (modes.the_mode_is_as_wanted, moded(Switch(False, True)), {**IT, "change": "WCE 0"}, "refuse", "and saved"),
    "not as wanted": (modes.the_mode_is_as_wanted, moded(ON), {**IT, "change": "WCE 0"}, "refuse", "It was to be off"),
    # --- a new disk among its siblings, a slow one among its peers
    "no sibling tells": (
        protection.the_disk_has_the_protection_of_its_siblings,
        with_disk(PARAMS["wwid"], protection_type=0),
        {},
        "unknown",
        "other",
    ),
    "it does not tell": (
        protection.the_disk_has_the_protection_of_its_siblings,
        fleet(replace(NODE, disks=tuple(d if d.wwid == PARAMS["wwid"] else replace(d, protection_type=0) for d in DISKS))),
        {},
        "unknown",
        "The protection type of sdcx",
    ),
    "no row of it": (slow.the_member_serves_and_has_peers, scanned(waits=()), IT, "unknown", f"waits on {TWIN} is not known"),
    "three peers": (slow.the_member_serves_and_has_peers, scanned(waits=(1, 1, 1, 1)), IT, "pass", "with 3 peers"),
    "two peers": (slow.the_member_serves_and_has_peers, scanned(waits=(1, 1, 1)), IT, "pass", "with 2 peers"),
    "one peer": (slow.the_member_serves_and_has_peers, scanned(waits=(1, 1)), IT, "refuse", "has 1 peers"),
}


@pytest.mark.parametrize("name", EDGES)
def test_it_turns_there(name):
    guard, facts, changes, outcome, expected = EDGES[name]
    verdict = guard(facts, {**PARAMS, **changes})
    assert (verdict.outcome, expected in verdict.reason) == (outcome, True), verdict


NEIGHBOUR = fleet(NODE, replace(OTHER, disks=DISKS[:1]))
NAMED = {
    "both": (NEIGHBOUR, "oss02 oss77", "pass", "By their word only: oss77."),
    "the one that reports": (NEIGHBOUR, "oss02", "pass", "All of them report."),
    "none": (NEIGHBOUR, "none", "refuse", "oss02 sees the same disks and was not named"),
    "itself": (NEIGHBOUR, "oss02 oss01", "refuse", "oss01 is the node itself"),
    "one that has it": (fleet(NODE, replace(OTHER, pools=(POOL,))), "oss02", "refuse", "oss02 has ost_0 imported"),
    "while one is blind": (fleet(NODE, replace(OTHER, disks=SILENT)), "oss02", "unknown", "oss02 may see the same disks"),
}


@pytest.mark.parametrize("name", NAMED)
def test_partners_are_named(name):
    facts, reported, outcome, words = NAMED[name]
    (verdict,) = suspended.the_partners_are_named(facts, PARAMS, reported)
    assert (verdict.outcome, words in verdict.reason) == (outcome, True), verdict


@pytest.mark.parametrize(
    ("pools", "text", "outcome"),
    [
        ((POOL,), "none", "pass"),
        ((POOL,), "", "refuse"),
        ((POOL, replace(POOL, name="x", guid=5)), "x", "pass"),
        (SILENT, "none", "unknown"),
    ],
)
def test_what_goes_down_with_the_node_is_named(pools, text, outcome):
    (verdict,) = suspended.the_other_pools_are_named(fleet(replace(NODE, pools=pools)), PARAMS, text)
    assert verdict.outcome == outcome


def test_siblings_tell_the_protection_type_and_one_that_differs_is_enough():
    alike = tuple(replace(d, protection_type=0) for d in DISKS)
    odd = tuple(replace(d, protection_type=2) if d.wwid == SDFL_WWID else d for d in alike)
    strange = replace(alike[-1], wwid="naa:5000c500a65b9999", protection_type=2)  # no member of that vdev
    answers = [
        protection.the_disk_has_the_protection_of_its_siblings(fleet(replace(NODE, disks=disks)), PARAMS).outcome
        for disks in (alike, odd, (*alike, strange))
    ]
    assert answers == ["pass", "refuse", "pass"]


def test_partners_are_names():
    assert suspended.partners(NEIGHBOUR, {"partners": " oss02  none oss03"}) == ("oss02", "oss03")


def test_a_disk_is_suspected_by_the_writes_to_its_own_member():
    late = replace(MultihostWrite(1, 1, 5, 1, 1, TWIN, "/dev/sdcw1"), vdev_guid=TWIN)
    kstats = KstatFacts((), SILENT, {"ost_0": PoolWrites("ost_0", None, (late,), None)})
    here = replace(NODE, kstats=kstats, kernel_log=KernelLog(()))
    assert list(suspended.suspects(fleet(here), PARAMS)) == [SDCW_WWID]
    assert suspended.suspects(fleet(replace(here, kstats=SILENT)), PARAMS) == {}
    assert suspended.suspects(fleet(replace(here, disks=SILENT)), PARAMS) == Unknown("The disks of oss01 are not known: Nobody said.")


def test_what_was_lost_together_counts_also_where_the_pool_is_suspended(monkeypatch):
    found = (SimpleNamespace(lost=(1, 2), thing=SimpleNamespace(words="one shelf")),)
    facts = with_pool(suspended=True, status="The pool is suspended because multihost writes failed or were delayed.")
    asked = []
    for groups in (found, ()):
        monkeypatch.setattr(mass, "the_groups", lambda *_, groups=groups: groups)
        asked += [mass.many_were_lost_together(each, PARAMS).outcome for each in (facts, with_pool())]
    assert asked == ["pass", "pass", "refuse", "refuse"]

"""Where the guards of members, spares, a disk that is deleted and modes turn: the last value that passes, the first that does not."""

from dataclasses import replace

import pytest

from workflows.facts import ScanFacts
from workflows.guards import member, modes, replaced, spares, suspect, target
from workflows.tests.incident import (
    BLANK_WWID,
    FLEET,
    FOREIGN_WWID,
    LOST,
    LOST_LEAF,
    MEMBERS,
    NODE,
    SDCW_WWID,
    SDFL,
    SDFL_WWID,
    TOP,
    TWIN,
    fleet,
    leaf,
    vdev,
    with_disk,
    with_leaf,
    with_pool,
)
from workflows.tests.test_guard_edges_at_the_rack import BLANK, HERE, SILENT, without


def a_spare(*children, state="ONLINE"):
    return with_pool(tops=(("data", replace(TOP, children=(vdev(4, "spare-0", "spare", 0, *children, state=state), *MEMBERS[2:]))),))


PAIR = {**HERE, "vdev_guid": str(SDFL), "spare_guid": str(TWIN)}
IN_PAIR = a_spare(MEMBERS[1], MEMBERS[0])
GIVEN_BACK = {**HERE, "vdev_guid": str(SDFL), "spare_guid": "5"}
NOTHING_WRITTEN = "resilvered 0B in 00:00:01 with 0 errors on Mon Nov 23 19:44:42 2026"
AVAIL = leaf(5, "/dev/sdq1", "AVAIL")
LABELLED = {**HERE, "vdev_guid": str(SDFL), "old_wwid": SDFL_WWID, "old_serial": "ZA000005"}


EDGES = {
    # --- a raidz that is being expanded
    "a lost member is what the expansion waits for": (
        target.no_expansion_needs_the_member,
        with_pool(expanding=True),
        {**HERE, "vdev_guid": str(LOST)},
        "pass",
        "an expansion waits for it, and goes on when it is replaced",
    ),
    "a member that serves is not taken out of an expansion": (
        target.no_expansion_needs_the_member,
        with_pool(expanding=True),
        {**HERE, "vdev_guid": str(SDFL)},
        "refuse",
        "stands still while a member is out",
    ),
    # --- the member
    "its disk is seen": (
        member.the_member_sits_on_the_disk_meant,
        with_disk(SDFL_WWID, serial="ZA000005"),
        LABELLED,
        "pass",
        "sdfl",
    ),
    "its disk is not seen": (
        member.the_member_sits_on_the_disk_meant,
        fleet(replace(NODE, disks=())),
        LABELLED,
        "unknown",
        "does not see",
    ),
    "its disk has no serial number": (
        member.the_member_sits_on_the_disk_meant,
        with_disk(SDFL_WWID, serial=SILENT),
        LABELLED,
        "unknown",
        "serial number of",
    ),
    "its disk has another serial number": (
        member.the_member_sits_on_the_disk_meant,
        with_disk(SDFL_WWID, serial="ZZ1"),
        LABELLED,
        "refuse",
        "has the serial number ZZ1, not ZA000005",
    ),
    "its disk is no other": (member.the_disk_that_goes_is_no_other, FLEET, LABELLED, "pass", "No other disk"),
    "its disk could be another": (
        member.the_disk_that_goes_is_no_other,
        with_disk(SDFL_WWID, doubt="sda and sdb report one identity. Take one out"),
        LABELLED,
        "refuse",
        "Take one out.",
    ),
    "its disk is gone": (member.the_disk_that_goes_is_no_other, fleet(replace(NODE, disks=())), LABELLED, "unknown", "does not see"),
    "no disk is known": (member.the_member_sits_on_the_disk_meant, fleet(replace(NODE, disks=SILENT)), LABELLED, "unknown", "does not see"),
    "the member serves": (member.the_member_serves, FLEET, {"vdev_guid": str(TWIN)}, "pass", "serves ost_0"),
    "the member serves nothing": (member.the_member_serves, FLEET, {}, "refuse", "serves nothing"),
    "it serves again": (member.the_member_serves_again, FLEET, {"vdev_guid": str(TWIN)}, "pass", "in ost_0 again"),
    "it does not serve again": (member.the_member_serves_again, FLEET, {}, "refuse", "Check that its own disk is seated"),
    "a vdev by itself": (
        member.the_member_stands_alone,
        with_pool(tops=(("data", MEMBERS[0]),)),
        {"vdev_guid": str(TWIN)},
        "refuse",
        "is a vdev by itself",
    ),
    "a disk of a raidz": (member.the_member_stands_alone, FLEET, {}, "pass", "is a disk of raidz2-0"),
    "one more may go": (member.the_vdev_can_do_without_the_member, FLEET, {"vdev_guid": str(TWIN)}, "pass", "has no redundancy left"),
    "none more may go": (
        member.the_vdev_can_do_without_the_member,
        with_leaf(LOST_LEAF, replace(MEMBERS[1], state="UNAVAIL"), MEMBERS[0], *MEMBERS[2:]),
        {"vdev_guid": str(TWIN)},
        "refuse",
        "cannot do without another disk",
    ),
    "one that serves nothing may go": (
        member.the_vdev_can_do_without_the_member,
        with_leaf(LOST_LEAF, replace(MEMBERS[1], state="UNAVAIL"), MEMBERS[0], *MEMBERS[2:]),
        {},
        "pass",
        "has no redundancy left",
    ),
    "none is spared any more": (
        member.only_the_member_left,
        with_leaf(LOST_LEAF, replace(MEMBERS[1], state="UNAVAIL"), MEMBERS[0], *MEMBERS[2:]),
        {},
        "pass",
        "has no redundancy left",
    ),
    "more than it can rebuild": (
        member.only_the_member_left,
        with_leaf(LOST_LEAF, *(replace(m, state="UNAVAIL") for m in MEMBERS[:2]), *MEMBERS[2:]),
        {},
        "refuse",
        "has lost more disks than it can rebuild",
    ),
    "properties without autoreplace": (member.nothing_replaces_by_itself, with_pool(properties={}), {}, "unknown", "is not known"),
    "autoreplace off": (member.nothing_replaces_by_itself, with_pool(properties={"autoreplace": "off"}), {}, "pass", "does not take"),
    "autoreplace on": (member.nothing_replaces_by_itself, with_pool(properties={"autoreplace": "on"}), {}, "refuse", "has autoreplace on"),
    # --- a spare that stands in
    "the pair": (spares.the_spare_stands_in_for_the_member, IN_PAIR, PAIR, "pass", "stands in for"),
    "another pair": (
        spares.the_spare_stands_in_for_the_member,
        IN_PAIR,
        {**PAIR, "spare_guid": "9"},
        "unknown",
        "is not what this run is about",
    ),
    "no pair": (spares.the_spare_stands_in_for_the_member, FLEET, PAIR, "unknown", "No spare stands in"),
    "no way chosen": (spares.the_one_that_stays_is_whole, IN_PAIR, {**PAIR, "way": ""}, "unknown", "has not been chosen"),
    "the member stays": (spares.the_one_that_stays_is_whole, IN_PAIR, PAIR, "pass", f"The member {SDFL}"),
    "the spare stays": (spares.the_one_that_stays_is_whole, IN_PAIR, {**PAIR, "way": "promote"}, "pass", f"The spare {TWIN}"),
    "the member is not there": (
        spares.the_member_is_whole_again,
        a_spare(replace(MEMBERS[1], state="UNAVAIL"), MEMBERS[0]),
        PAIR,
        "refuse",
        "is UNAVAIL",
    ),
    "the member is being filled": (
        spares.the_member_is_whole_again,
        a_spare(replace(MEMBERS[1], resilvering=True), MEMBERS[0]),
        PAIR,
        "refuse",
        "still being filled",
    ),
    "no resilver": (spares.the_last_scan_was_clean, FLEET, {}, "unknown", "shows no resilver that has ended"),
    "a resilver that runs": (
        spares.the_last_scan_was_clean,
        with_pool(scans=(ScanFacts("resilver", "running", "x"),)),
        {},
        "refuse",
        "is running",
    ),
    "a resilver with errors": (
        spares.the_last_scan_was_clean,
        with_pool(scans=(ScanFacts("resilver", "finished", "x", None, 0), ScanFacts("scrub", "finished", "x", None, 2))),
        {},
        "refuse",
        "finished with 2 errors",
    ),
    "a resilver whose errors nobody counted": (
        spares.the_last_scan_was_clean,
        with_pool(scans=(ScanFacts("resilver", "finished", "x"),)),
        {},
        "refuse",
        "finished with None errors",
    ),
    "a resilver that wrote nothing, and the spare stays": (
        spares.the_last_scan_was_clean,
        with_pool(scans=(ScanFacts("resilver", "finished", NOTHING_WRITTEN, None, 0),)),
        {"way": spares.PROMOTE},
        "refuse",
        "the spare may not hold its share",
    ),
    "a resilver that wrote nothing, and the member stays": (
        spares.the_last_scan_was_clean,
        with_pool(scans=(ScanFacts("resilver", "finished", NOTHING_WRITTEN, None, 0),)),
        {"way": spares.CANCEL},
        "pass",
        "with 0 errors",
    ),
    "a resilver that wrote nothing to a new disk": (
        replaced.the_resilver_ended_without_errors,
        with_pool(scans=(ScanFacts("resilver", "finished", NOTHING_WRITTEN, None, 0),)),
        {},
        "refuse",
        "Order `zpool scrub",
    ),
    "a resilver that wrote nothing to a new disk of a log": (
        replaced.the_resilver_ended_without_errors,
        with_pool(scans=(ScanFacts("resilver", "finished", NOTHING_WRITTEN, None, 0),), tops=(("log", replace(TOP, children=MEMBERS)),)),
        {"wwid": SDFL_WWID},
        "pass",
        "with 0 errors",
    ),
    "a resilver that wrote nothing to a spare in a log": (
        spares.the_last_scan_was_clean,
        with_pool(scans=(ScanFacts("resilver", "finished", NOTHING_WRITTEN, None, 0),), tops=(("log", replace(TOP, children=MEMBERS)),)),
        {**PAIR, "way": spares.PROMOTE},
        "pass",
        "with 0 errors",
    ),
    "a rebuild that wrote nothing to a new disk": (
        replaced.the_resilver_ended_without_errors,
        with_pool(scans=(ScanFacts("rebuild", "finished", NOTHING_WRITTEN.replace("resilvered", "resilvered (mirror-0)"), None, 0),)),
        {},
        "refuse",
        "wrote nothing",
    ),
    "a scrub that repaired nothing": (
        replaced.the_resilver_ended_without_errors,
        with_pool(scans=(ScanFacts("scrub", "finished", NOTHING_WRITTEN.replace("resilvered", "scrub repaired"), None, 0),)),
        {},
        "pass",
        "with 0 errors",
    ),
    "a clean resilver": (
        spares.the_last_scan_was_clean,
        with_pool(scans=(ScanFacts("resilver", "finished", "x", None, 0),)),
        {},
        "pass",
        "with 0 errors",
    ),
    "the spare goes and is there": (spares.the_one_that_goes_is_gone, IN_PAIR, PAIR, "refuse", f"{TWIN} is still in spare-0"),
    "a whole vdev goes and is there": (
        spares.the_one_that_goes_is_gone,
        with_pool(tops=(("data", MEMBERS[0]),)),
        PAIR,
        "refuse",
        f"{TWIN} is still in ost_0",
    ),
    "the spare goes and is gone": (spares.the_one_that_goes_is_gone, FLEET, GIVEN_BACK, "pass", "is not in the tree"),
    "nobody says who goes": (spares.the_one_that_goes_is_gone, FLEET, {"spare_guid": "x"}, "unknown", "does not say which member"),
    "the member stays and serves": (spares.the_one_that_stays_serves, FLEET, GIVEN_BACK, "pass", "is ONLINE in raidz2-0"),
    "the member stays in the pair": (spares.the_one_that_stays_serves, IN_PAIR, PAIR, "refuse", "is still inside spare-0"),
    "the member stays and is gone": (spares.the_one_that_stays_serves, FLEET, {"vdev_guid": "6"}, "refuse", "is not in the pool any more"),
    "the member stays and is lost": (spares.the_one_that_stays_serves, FLEET, {}, "refuse", "is FAULTED"),
    "the spare is back": (spares.the_spare_is_where_it_belongs, with_pool(spares=(AVAIL,)), GIVEN_BACK, "pass", "AVAIL again"),
    "the spare is in use": (
        spares.the_spare_is_where_it_belongs,
        with_pool(spares=(replace(AVAIL, state="INUSE"),)),
        GIVEN_BACK,
        "refuse",
        "is INUSE",
    ),
    "the spare is no spare": (spares.the_spare_is_where_it_belongs, FLEET, GIVEN_BACK, "refuse", "is not among the spares"),
    "promoted": (spares.the_spare_is_where_it_belongs, FLEET, {**GIVEN_BACK, "way": "promote"}, "pass", "but a member"),
    "promoted and listed": (
        spares.the_spare_is_where_it_belongs,
        with_pool(spares=(AVAIL,)),
        {**GIVEN_BACK, "way": "promote"},
        "refuse",
        "is still listed as a spare of ost_0 (AVAIL)",
    ),
    "nothing is lost": (spares.the_vdev_has_lost_nothing, FLEET, GIVEN_BACK, "pass", "survives the loss of 1 more"),
    "who stays is not there": (spares.the_vdev_has_lost_nothing, FLEET, {"vdev_guid": "6"}, "unknown", "is not there"),
    "too much is lost": (
        spares.the_vdev_has_lost_nothing,
        with_leaf(LOST_LEAF, MEMBERS[1], *(replace(m, state="UNAVAIL") for m in (MEMBERS[0], *MEMBERS[2:]))),
        GIVEN_BACK,
        "refuse",
        "has lost more disks than it can rebuild",
    ),
    "nothing more may be lost": (
        spares.the_vdev_has_lost_nothing,
        with_leaf(LOST_LEAF, *MEMBERS[:2], replace(MEMBERS[2], state="UNAVAIL"), MEMBERS[3]),
        GIVEN_BACK,
        "pass",
        "has no redundancy left",
    ),
    "its bay is eliminated": (
        suspect.its_bay_is_known,
        with_disk(BLANK_WWID, bay=replace(BLANK.bay, evidence=3)),
        {},
        "pass",
        "sits in bay 70",
    ),
    "its bay is guessed": (
        suspect.its_bay_is_known,
        with_disk(BLANK_WWID, bay=replace(BLANK.bay, evidence=4)),
        {},
        "unknown",
        "for certain",
    ),
    "its bay is not known": (suspect.its_bay_is_known, with_disk(BLANK_WWID, bay=SILENT), {}, "unknown", "pull it on every host"),
    "its bay is disputed": (
        suspect.its_bay_is_known,
        with_disk(BLANK_WWID, bay=replace(BLANK.bay, conflict="x")),
        {},
        "unknown",
        "for certain",
    ),
    "it is back": (suspect.it_is_back_or_out, FLEET, {}, "pass", "shows naa:5000c500a65b207b again"),
    "it is out": (suspect.it_is_back_or_out, fleet(without(BLANK_WWID)), {}, "pass", "is gone"),
    "it is neither back nor out": (suspect.it_is_back_or_out, fleet(without(BLANK_WWID, "OK")), {}, "refuse", "so something is in it"),
    # --- a disk that is deleted from the kernel
    "the kernel shows it": (suspect.it_is_gone_from_the_kernel, FLEET, {}, "refuse", "still shows sdcx"),
    "the kernel shows it no more": (suspect.it_is_gone_from_the_kernel, fleet(without(BLANK_WWID)), {}, "pass", "no more"),
    "a nameless disk with a label of the pool": (
        suspect.it_is_gone_from_the_kernel,
        with_disk(SDCW_WWID, wwid=SILENT),
        {"wwid": SDCW_WWID},
        "unknown",
        "sdcw (no WWID), and it may be",
    ),
    "a nameless disk whose labels nobody read": (
        suspect.it_is_gone_from_the_kernel,
        with_disk(BLANK_WWID, wwid=SILENT, labels=SILENT),
        {},
        "unknown",
        "sdcx (no WWID), and it may be",
    ),
    "a nameless disk of another pool": (
        suspect.it_is_gone_from_the_kernel,
        fleet(replace(NODE, disks=tuple(replace(d, wwid=SILENT) if d.wwid == FOREIGN_WWID else d for d in without(BLANK_WWID).disks))),
        {},
        "pass",
        "no more",
    ),
    "another disk in its bay": (suspect.it_is_out_of_its_bay, FLEET, {"old_wwid": SDCW_WWID}, "pass", "holds another disk, sdcx"),
    "a nameless disk in its bay": (
        suspect.it_is_out_of_its_bay,
        with_disk(BLANK_WWID, wwid=SILENT),
        {"old_wwid": SDCW_WWID},
        "refuse",
        "is still in bay 70",
    ),
    "exactly this one is lacking": (suspect.the_pool_lacks_exactly_this_disk, FLEET, {}, "pass", "and nothing else"),
    "another one is lacking": (suspect.the_pool_lacks_exactly_this_disk, FLEET, {"vdev_guid": str(TWIN)}, "refuse", f"lacks {LOST}"),
    "none is lacking": (suspect.the_pool_lacks_exactly_this_disk, with_leaf(MEMBERS[0]), {}, "refuse", "lacks nothing"),
    "one more is lacking": (
        suspect.the_pool_lacks_exactly_this_disk,
        with_leaf(LOST_LEAF, replace(MEMBERS[0], state="OFFLINE"), *MEMBERS[1:]),
        {},
        "refuse",
        "Find out what else is away",
    ),
    "nobody knows who is lacking": (
        suspect.the_pool_lacks_exactly_this_disk,
        with_leaf(replace(LOST_LEAF, guid=SILENT)),
        {},
        "unknown",
        "is not known",
    ),
    # --- a mode
    "shown twice": (
        modes.the_disk_is_in_service,
        with_leaf(LOST_LEAF, MEMBERS[0], MEMBERS[0]),
        {"vdev_guid": str(TWIN)},
        "unknown",
        "2 times",
    ),
    "on another disk": (
        modes.the_disk_is_the_one_meant,
        FLEET,
        {**LABELLED, "old_wwid": SDCW_WWID, "old_serial": "ZA000068"},
        "refuse",
        f"{SDFL} sits on {SDFL_WWID}, not on {SDCW_WWID}",
    ),
    "the one meant": (modes.the_disk_is_the_one_meant, FLEET, LABELLED, "pass", "serial number ZA000005"),
    "a spare": (modes.the_vdev_can_spare_it, with_pool(spares=(AVAIL,)), {"vdev_guid": "5"}, "pass", "is a hot spare"),
    "a log device": (
        modes.the_vdev_can_spare_it,
        with_pool(tops=(("data", TOP), ("log", leaf(5, "/dev/sdq1")))),
        {"vdev_guid": "5"},
        "refuse",
        "is a log device",
    ),
    "in a replacement": (modes.the_vdev_can_spare_it, IN_PAIR, {"vdev_guid": str(SDFL)}, "refuse", "is in a replacement"),
    "not in the tree": (
        modes.the_vdev_can_spare_it,
        with_pool(caches=(leaf(5, "/dev/sdq1"),)),
        {"vdev_guid": "5"},
        "unknown",
        "Where 5 stands in ost_0 is not known",
    ),
    "a serial number that is not the one": (modes.the_disk_is_the_one_meant, FLEET, {**LABELLED, "old_serial": "ZZ1"}, "refuse", "not ZZ1"),
    "a serial number nobody read": (
        modes.the_disk_is_the_one_meant,
        with_disk(SDFL_WWID, serial=SILENT),
        LABELLED,
        "unknown",
        "is not known",
    ),
    "a label nobody read": (
        modes.the_disk_is_the_one_meant,
        with_leaf(LOST_LEAF, MEMBERS[0], replace(MEMBERS[1], wwid=SILENT), *MEMBERS[2:]),
        LABELLED,
        "unknown",
        "is not known",
    ),
    "no member named": (modes.the_disk_rests, FLEET, {"vdev_guid": ""}, "unknown", "names no vdev guid"),
    "it rests": (modes.the_disk_rests, with_leaf(replace(LOST_LEAF, state="OFFLINE"), *MEMBERS), {}, "pass", "serves nothing"),
    "a spare rests": (modes.the_disk_rests, with_pool(spares=(AVAIL,)), {"vdev_guid": "5"}, "pass", "is AVAIL"),
    "it does not rest": (modes.the_disk_rests, FLEET, {"vdev_guid": str(TWIN)}, "refuse", "take it offline first"),
    "it serves nothing and no other may go": (
        modes.the_vdev_can_spare_it,
        with_leaf(LOST_LEAF, replace(MEMBERS[1], state="UNAVAIL"), MEMBERS[0], *MEMBERS[2:]),
        {},
        "pass",
        "has no redundancy left",
    ),
    "it serves and no other may go": (
        modes.the_vdev_can_spare_it,
        with_leaf(LOST_LEAF, replace(MEMBERS[1], state="UNAVAIL"), MEMBERS[0], *MEMBERS[2:]),
        {"vdev_guid": str(TWIN)},
        "refuse",
        "cannot do without another disk",
    ),
    "scans nobody read": (modes.no_scan_runs_on_the_pool, with_pool(scans=SILENT), {}, "unknown", "scan lines of ost_0"),
    "caught up, for all anybody knows": (
        modes.the_member_has_caught_up,
        with_pool(scans=SILENT),
        {"vdev_guid": str(TWIN)},
        "unknown",
        "scan lines",
    ),
    "nobody knows what is lost": (modes.nothing_is_lost_together, with_pool(tops=SILENT), {}, "unknown", "has lost is not known"),
    "it can be spared": (modes.the_vdev_can_spare_it, FLEET, {"vdev_guid": str(TWIN)}, "pass", "has no redundancy left"),
    "it serves": (modes.the_disk_is_in_service, FLEET, {"vdev_guid": str(TWIN)}, "pass", "serves ost_0"),
    "it serves nothing": (modes.the_disk_is_in_service, FLEET, {}, "refuse", "serves nothing"),
    "a scrub that waits": (
        modes.no_scan_runs_on_the_pool,
        with_pool(scans=(ScanFacts("resilver", "finished", "x"), ScanFacts("scrub", "paused", "x"))),
        {},
        "refuse",
        "A scrub of ost_0 is paused",
    ),
    "no scan": (modes.no_scan_runs_on_the_pool, FLEET, {}, "pass", "No scan runs"),
    "not caught up": (modes.the_member_has_caught_up, FLEET, {}, "refuse", "is FAULTED. Check its disk"),
    "caught up": (modes.the_member_has_caught_up, FLEET, {"vdev_guid": str(TWIN)}, "pass", "holds its share"),
    "caught up while a repair runs": (
        modes.the_member_has_caught_up,
        with_pool(scans=(ScanFacts("resilver", "paused", "x"),)),
        {"vdev_guid": str(TWIN)},
        "refuse",
        "still catches up",
    ),
    "caught up while a scrub runs": (
        modes.the_member_has_caught_up,
        with_pool(scans=(ScanFacts("scrub", "running", "x"), ScanFacts("resilver", "finished", "x"))),
        {"vdev_guid": str(TWIN)},
        "pass",
        "holds its share",
    ),
}


@pytest.mark.parametrize("name", EDGES)
def test_it_turns_there(name):
    guard, facts, changes, outcome, expected = EDGES[name]
    verdict = guard(facts, {**HERE, **changes})
    assert (verdict.outcome, expected in verdict.reason) == (outcome, True), verdict


def test_a_member_may_be_taken_out_of_a_pool_with_two_vdevs_by_what_its_own_survives():
    other = vdev(9, "raidz2-1", "raidz", 2, *(leaf(n, f"/dev/sd{n}1", "UNAVAIL") for n in range(100, 103)), leaf(103, "/dev/sdq1"))
    facts = with_pool(tops=(("data", other), ("data", TOP)))
    assert member.the_vdev_can_do_without_the_member(facts, {**HERE, "vdev_guid": str(TWIN)}).outcome == "pass"

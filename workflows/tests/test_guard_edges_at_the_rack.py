"""Where the guards of bays, members, spares and answers turn: what somebody at the rack sees, types and holds in the hand."""

from dataclasses import replace

import pytest

from workflows.facts import FleetFacts, Gone, LeafChange, ScanFacts, Unknown
from workflows.guards import answers, bay, member, modes, spare, spares, suspect
from workflows.tests.incident import (
    BLANK_WWID,
    DISKS,
    FLEET,
    FOREIGN_WWID,
    LOST,
    LOST_LEAF,
    MEMBERS,
    NODE,
    OTHER,
    PARAMS,
    POOL_GUID,
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

SILENT = Unknown("Nobody said.")
SHELF = "0x50050cc11ac016e2"
BLANK = next(d for d in DISKS if d.wwid == BLANK_WWID)
HERE = {
    **PARAMS,
    "old_wwid": BLANK_WWID,
    "old_serial": "ZA000070",
    "spare_serial": "ZA000070",
    "enclosure": SHELF,
    "slot": "70",
    "way": "cancel",
}


def with_bay(slot, shelf=SHELF, **changes):
    bays = (*NODE.bays, replace(BLANK.bay, slot=0, enclosure_id="0x5005"))
    return fleet(replace(NODE, bays=tuple(replace(b, **changes) if (b.slot, b.enclosure_id) == (slot, shelf) else b for b in bays)))


def without(wwid, status="not installed"):
    """Its bay is empty and the kernel shows it no more."""
    bays = tuple(replace(b, status=status) if b.slot == 70 else b for b in NODE.bays)
    return replace(NODE, bays=bays, disks=tuple(d for d in DISKS if d.wwid != wwid))


def elsewhere(**changes):
    """The disk that was in bay 70 is seen, and that bay is empty."""
    gone = without(BLANK_WWID)
    return fleet(replace(gone, disks=(*gone.disks, replace(BLANK, **changes))))


def left(age, state="REMOVED", pool_guid=POOL_GUID):
    """A member that left service so long ago."""
    here = with_leaf(LOST_LEAF, replace(MEMBERS[0], state=state, name=str(TWIN)), *MEMBERS[1:]).nodes["oss01"]
    return fleet(replace(here, leaf_changes=(LeafChange(pool_guid, TWIN, "ONLINE", state, age),)))


def a_spare(*children, state="ONLINE"):
    return with_pool(tops=(("data", replace(TOP, children=(vdev(4, "spare-0", "spare", 0, *children, state=state), *MEMBERS[2:]))),))


PAIR = {**HERE, "vdev_guid": str(SDFL), "spare_guid": str(TWIN)}
IN_PAIR = a_spare(MEMBERS[1], MEMBERS[0])
GIVEN_BACK = {**HERE, "vdev_guid": str(SDFL), "spare_guid": "5"}
AVAIL = leaf(5, "/dev/sdq1", "AVAIL")
LABELLED = {**HERE, "vdev_guid": str(SDFL), "old_wwid": SDFL_WWID, "old_serial": "ZA000005"}


EDGES = {
    # --- which bay
    "no bay named": (bay.the_bay_is_lit, FLEET, {"slot": ""}, "unknown", "names no bay"),
    "a bay of another shelf": (bay.the_bay_is_lit, FLEET, {"enclosure": "0x5"}, "unknown", "does not show bay 70"),
    "lit": (bay.the_bay_is_lit, with_bay(70, locate=True), {}, "pass", "is lit"),
    "dark": (bay.the_bay_is_dark, FLEET, {}, "pass", "is dark"),
    "whether another is lit": (bay.no_other_bay_is_lit, with_bay(5, locate=SILENT), {}, "unknown", "Whether bay 5"),
    "another shelf is lit": (bay.no_other_bay_is_lit, with_bay(0, "0x5005", locate=True), {}, "pass", "No other bay"),
    "this one is lit": (bay.no_other_bay_is_lit, with_bay(70, locate=True), {}, "pass", "No other bay"),
    "only this one": (bay.exactly_this_bay_is_lit, with_bay(70, locate=True), {}, "pass", "No other bay"),
    "only another one": (bay.exactly_this_bay_is_lit, with_bay(5, locate=True), {}, "refuse", "is dark"),
    "not seen": (bay.the_disk_sits_in_the_bay_meant, FLEET, {"old_wwid": "naa:5000c500a65b9999"}, "unknown", "does not see"),
    "disputed": (
        bay.the_disk_sits_in_the_bay_meant,
        with_disk(BLANK_WWID, bay=replace(BLANK.bay, conflict="ses says 71")),
        {},
        "unknown",
        "in dispute: ses says 71",
    ),
    "guessed": (bay.the_disk_sits_in_the_bay_meant, with_disk(BLANK_WWID, bay=replace(BLANK.bay, evidence=4)), {}, "unknown", "guessed"),
    "eliminated": (
        bay.the_disk_sits_in_the_bay_meant,
        with_disk(BLANK_WWID, bay=replace(BLANK.bay, evidence=3)),
        {},
        "pass",
        "sits in bay 70",
    ),
    "another shelf": (
        bay.the_disk_sits_in_the_bay_meant,
        with_disk(BLANK_WWID, bay=replace(BLANK.bay, enclosure_id="0x5")),
        {},
        "refuse",
        "sits in bay 70 of 0x5",
    ),
    # --- what is in it
    "still in it": (bay.the_bay_is_empty, FLEET, {}, "refuse", "is still in bay 70"),
    "empty and gone": (bay.the_bay_is_empty, fleet(without(BLANK_WWID)), {}, "pass", f"{BLANK_WWID} is gone"),
    "empty, and the disk in another bay": (
        bay.the_bay_is_empty,
        elsewhere(bay=replace(BLANK.bay, slot=71)),
        {},
        "refuse",
        "is still seen, in bay 71",
    ),
    "empty, and the disk somewhere": (bay.the_bay_is_empty, elsewhere(bay=SILENT), {}, "refuse", "is still seen, in some bay"),
    "something that is no disk": (bay.the_bay_is_empty, fleet(without(BLANK_WWID, "OK")), {}, "refuse", "calls bay 70"),
    "nothing in it yet": (bay.the_planned_disk_is_in_the_bay, fleet(without(BLANK_WWID)), {}, "refuse", "is empty. Put the disk"),
    "the planned one": (bay.the_planned_disk_is_in_the_bay, FLEET, {}, "pass", "is in bay 70"),
    "back in it": (bay.the_old_disk_is_in_its_bay, FLEET, {}, "pass", "sits in bay 70"),
    "another in it": (bay.the_old_disk_is_in_its_bay, FLEET, {"old_wwid": SDCW_WWID}, "refuse", "holds sdcx"),
    "the new one in it": (spare.the_new_disk_sits_where_the_old_one_was, FLEET, {}, "pass", "sits in bay 70"),
    "the new one elsewhere": (spare.the_new_disk_sits_where_the_old_one_was, FLEET, {"slot": "71"}, "refuse", "is not in bay 71"),
    # --- what was pulled
    "just pulled": (bay.nothing_else_was_pulled, left(900.0), {}, "refuse", "Put it back now"),
    "given up just now": (bay.nothing_else_was_pulled, left(900.0, "FAULTED"), {}, "refuse", "Put it back now"),
    "gone for long": (bay.nothing_else_was_pulled, left(901.0), {}, "pass", "No other disk was pulled"),
    "taken out by somebody": (bay.nothing_else_was_pulled, left(1.0, "OFFLINE"), {}, "pass", "No other disk was pulled"),
    "of another pool": (bay.nothing_else_was_pulled, left(1.0, pool_guid=4711), {}, "pass", "No other disk was pulled"),
    "the one that was meant": (bay.nothing_else_was_pulled, left(1.0), {"vdev_guid": str(TWIN)}, "pass", "No other disk"),
    "nothing": (bay.nothing_else_was_pulled, FLEET, {}, "pass", "No other disk was pulled"),
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
    "a vdev by itself": (
        member.the_member_stands_alone,
        with_pool(tops=(("data", MEMBERS[0]),)),
        {"vdev_guid": str(TWIN)},
        "refuse",
        "is a vdev by itself",
    ),
    "a disk of a raidz": (member.the_member_stands_alone, FLEET, {}, "pass", "is a disk of raidz2-0"),
    "one more may go": (member.the_vdev_can_do_without_the_member, FLEET, {"vdev_guid": str(TWIN)}, "pass", "survives 0 more"),
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
        "survives 0 more losses without this disk",
    ),
    "none is spared any more": (
        member.only_the_member_left,
        with_leaf(LOST_LEAF, replace(MEMBERS[1], state="UNAVAIL"), MEMBERS[0], *MEMBERS[2:]),
        {},
        "pass",
        "survives 0 more losses",
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
    "nothing is lost": (spares.the_vdev_has_lost_nothing, FLEET, GIVEN_BACK, "pass", "survives 1 more"),
    "who stays is not there": (spares.the_vdev_has_lost_nothing, FLEET, {"vdev_guid": "6"}, "unknown", "is not there"),
    "too much is lost": (
        spares.the_vdev_has_lost_nothing,
        with_leaf(LOST_LEAF, MEMBERS[1], *(replace(m, state="UNAVAIL") for m in (MEMBERS[0], *MEMBERS[2:]))),
        GIVEN_BACK,
        "refuse",
        "has lost more disks than it can rebuild",
    ),
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
    "it can be spared": (modes.the_vdev_can_spare_it, FLEET, {"vdev_guid": str(TWIN)}, "pass", "survives 0 more losses"),
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
    guard, facts, changes, outcome, said = EDGES[name]
    verdict = guard(facts, {**HERE, **changes})
    assert (verdict.outcome, said in verdict.reason) == (outcome, True), verdict


# --- what somebody types

AWAY = {**HERE, "old_serial": "ZA000068", "slot": "68"}
TYPED = {
    "of nobody": (answers.a_disk_from_the_shelf, "ZZ999999", FLEET, "pass", "No node has a disk"),
    "no serial number": (answers.a_disk_from_the_shelf, "no", FLEET, "refuse", "is no serial number"),
    "the one that goes": (answers.a_disk_from_the_shelf, "ZA000068", FLEET, "refuse", "is the disk that is to go"),
    "the one that goes, scanned": (answers.a_disk_from_the_shelf, "S/N: ZA000068", FLEET, "refuse", "is the disk that is to go"),
    "more than the number": (answers.a_disk_from_the_shelf, " SN ZZ999999", FLEET, "refuse", "Type the serial number alone: ZZ999999."),
    "one that serves": (answers.a_disk_from_the_shelf, "ZA000005", FLEET, "refuse", f"of oss01 in bay 5 of {SHELF}"),
    "one that is somewhere": (
        answers.a_disk_from_the_shelf,
        "ZA000005",
        with_disk(SDFL_WWID, bay=SILENT),
        "refuse",
        "of oss01, and not on the shelf",
    ),
    "of whom another node does not say": (
        answers.a_disk_from_the_shelf,
        "ZZ999999",
        fleet(NODE, replace(OTHER, disks=SILENT)),
        "unknown",
        "Whether oss02 has this disk",
    ),
    "the bay": (answers.the_bay_that_blinks, "68", FLEET, "pass", "It is bay 68"),
    "the disk in it": (answers.the_bay_that_blinks, "ZA000068", FLEET, "pass", "with the disk ZA000068"),
    "another bay": (answers.the_bay_that_blinks, "005", FLEET, "refuse", "You see bay 005 blink"),
    "no bay": (answers.the_bay_that_blinks, "0005", FLEET, "refuse", "0005 is neither the bay"),
    "another disk": (answers.the_bay_that_blinks, "ZA000005", FLEET, "refuse", "which stays. Pull nothing"),
    "nobody's disk": (answers.the_bay_that_blinks, "ZZ999999", FLEET, "refuse", "is neither the bay"),
    "nobody's disk, and none is known": (
        answers.the_bay_that_blinks,
        "ZZ999999",
        fleet(replace(NODE, disks=SILENT)),
        "refuse",
        "is neither the bay",
    ),
    "pulled": (answers.the_serial_that_was_pulled, "S/N ZA000068", FLEET, "pass", "is the disk that was to go"),
    "pulled another": (answers.the_serial_that_was_pulled, "ZA000005", FLEET, "refuse", "Put it back now"),
}


@pytest.mark.parametrize("name", TYPED)
def test_what_is_typed_is_judged(name):
    judge, said, facts, outcome, words = TYPED[name]
    verdicts = judge(facts, AWAY, said)
    assert [v.outcome for v in verdicts] == [outcome]
    assert words in verdicts[0].reason, verdicts


# --- what is told to somebody with the wrong disk in the hand


def pulled(leaf_=replace(MEMBERS[2], state="REMOVED"), gone=None, disks=DISKS):
    here = with_leaf(LOST_LEAF, *MEMBERS[:2], leaf_, MEMBERS[3]).nodes["oss01"]
    here = replace(here, disks=disks, leaf_changes=(LeafChange(POOL_GUID, 88, "ONLINE", leaf_.state, 1.0),))
    return FleetFacts({"oss01": here}, gone={("oss01", "naa:5000c500a65b3a1b"): gone} if gone else {})


PULLED = {
    "that was in a bay": (
        pulled(gone=Gone("ZA000001", SHELF, 1)),
        f"Put it back now: the disk with the serial number ZA000001 was pulled out of bay 1 of enclosure {SHELF}. "
        f"It serves ost_0 as wwn-0x5000c500a65b3a1b-part1. The disk that was meant is still in bay 70 of enclosure {SHELF}. Pull nothing else.",
    ),
    "whose label remembers": (
        pulled(replace(MEMBERS[2], state="REMOVED", enc_path="/sys/class/enclosure/6:0:89:0/4"), disks=without(BLANK_WWID).disks),
        "Put it back now: a disk that serves was pulled out of bay 4, by what its label remembers. "
        "It serves ost_0 as wwn-0x5000c500a65b3a1b-part1. Pull nothing else.",
    ),
    "of which nobody knows anything": (
        pulled(replace(MEMBERS[2], state="UNAVAIL", name="88", was="/dev/sda1"), disks=without(BLANK_WWID).disks),
        "Put it back now: a disk that serves was pulled. It serves ost_0 as 88. Pull nothing else.",
    ),
    "that told no serial number and was in no known bay": (
        pulled(gone=Gone("", "", None), disks=without(BLANK_WWID).disks),
        "Put it back now: a disk that serves was pulled. It serves ost_0 as wwn-0x5000c500a65b3a1b-part1. Pull nothing else.",
    ),
}


@pytest.mark.parametrize("name", PULLED)
def test_who_pulled_the_wrong_disk_is_told_which(name):
    facts, said = PULLED[name]
    verdict = bay.nothing_else_was_pulled(facts, HERE)
    assert (verdict.outcome, verdict.reason) == ("refuse", said)


def test_a_disk_that_is_gone_while_its_member_is_still_called_online_was_pulled():
    facts = fleet(replace(NODE, disks=tuple(d for d in DISKS if d.wwid != "naa:5000c500a65b3a1b")))
    assert bay.nothing_else_was_pulled(facts, HERE).outcome == "refuse"


def test_a_member_may_be_taken_out_of_a_pool_with_two_vdevs_by_what_its_own_survives():
    other = vdev(9, "raidz2-1", "raidz", 2, *(leaf(n, f"/dev/sd{n}1", "UNAVAIL") for n in range(100, 103)), leaf(103, "/dev/sdq1"))
    facts = with_pool(tops=(("data", other), ("data", TOP)))
    assert member.the_vdev_can_do_without_the_member(facts, {**HERE, "vdev_guid": str(TWIN)}).outcome == "pass"

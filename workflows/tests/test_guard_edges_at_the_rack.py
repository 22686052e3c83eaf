"""Where the guards of bays and answers turn: what somebody at the rack sees, types and holds in the hand."""

from dataclasses import replace

import pytest

from workflows.facts import Ever, FleetFacts, Gone, LeafChange, Unknown
from workflows.guards import answers, bay, spare
from workflows.tests.incident import (
    BLANK_WWID,
    DISKS,
    FLEET,
    LOST_LEAF,
    MEMBERS,
    NODE,
    OTHER,
    PARAMS,
    POOL_GUID,
    SDCW_WWID,
    SDFL_WWID,
    TWIN,
    fleet,
    with_disk,
    with_leaf,
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
    "whether it is lit": (bay.the_bay_is_lit, with_bay(70, locate=SILENT), {}, "unknown", "is lit is not known"),
    # --- what is in it
    "still in it": (bay.the_bay_is_empty, FLEET, {}, "refuse", "is still in bay 70"),
    "empty and gone": (bay.the_bay_is_empty, fleet(without(BLANK_WWID)), {}, "pass", "the serial number ZA000070 is gone"),
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
    "another in it": (
        bay.the_old_disk_is_in_its_bay,
        FLEET,
        {"old_wwid": SDCW_WWID},
        "refuse",
        "holds the disk with the serial number ZA000070. Take that out, and put",
    ),
    "the new one in it": (spare.the_new_disk_sits_where_the_old_one_was, FLEET, {}, "pass", "sits in bay 70"),
    "the new one elsewhere": (spare.the_new_disk_sits_where_the_old_one_was, FLEET, {"slot": "71"}, "refuse", "is not in bay 71"),
    "no new one": (spare.the_new_disk_sits_where_the_old_one_was, FLEET, {"wwid": ""}, "unknown", "No disk is chosen"),
    "the new one as planned": (spare.the_new_disk_is_the_one_planned, FLEET, {}, "pass", "that was planned"),
    "another than planned": (spare.the_new_disk_is_the_one_planned, FLEET, {"spare_serial": "ZZ1"}, "refuse", "the disk planned is ZZ1"),
    "one that does not say": (
        spare.the_new_disk_is_the_one_planned,
        with_disk(BLANK_WWID, serial=SILENT),
        {},
        "unknown",
        "The serial number of sdcx",
    ),
    # --- what was pulled
    "just pulled": (bay.nothing_else_was_pulled, left(900.0), {}, "refuse", "Put it back now"),
    "given up just now": (bay.nothing_else_was_pulled, left(900.0, "FAULTED"), {}, "refuse", "Put it back now"),
    "gone for long": (bay.nothing_else_was_pulled, left(901.0), {}, "pass", "No other disk was pulled"),
    "taken out by somebody": (bay.nothing_else_was_pulled, left(1.0, "OFFLINE"), {}, "pass", "No other disk was pulled"),
    "of another pool": (bay.nothing_else_was_pulled, left(1.0, pool_guid=4711), {}, "pass", "No other disk was pulled"),
    "the one that was meant": (bay.nothing_else_was_pulled, left(1.0), {"vdev_guid": str(TWIN)}, "pass", "No other disk"),
    "nothing": (bay.nothing_else_was_pulled, FLEET, {}, "pass", "No other disk was pulled"),
}


@pytest.mark.parametrize("name", EDGES)
def test_it_turns_there(name):
    guard, facts, changes, outcome, expected = EDGES[name]
    verdict = guard(facts, {**HERE, **changes})
    assert (verdict.outcome, expected in verdict.reason) == (outcome, True), verdict


# --- what somebody types

SHELVED = Ever("naa:5000c500a65b9999", "ZZ999999", "bay 5 of 0x5 on oss09", "until noon", "")
EVER = replace(FLEET, ever=(SHELVED,))
MISSED = replace(FLEET, ever=(replace(SHELVED, vdev_guid=str(MEMBERS[1].guid)),))
AWAY = {**HERE, "old_serial": "ZA000068", "slot": "68"}
TYPED = {
    "of nobody": (answers.a_disk_from_the_shelf, "ZZ999999", FLEET, "pass", "No node has ever shown a disk"),
    "no serial number": (answers.a_disk_from_the_shelf, "no", FLEET, "refuse", "is no serial number"),
    "the one that goes": (answers.a_disk_from_the_shelf, "ZA000068", FLEET, "refuse", "is the disk that is to go"),
    "the one that goes, scanned": (answers.a_disk_from_the_shelf, "S/N: ZA000068", FLEET, "refuse", "is the disk that is to go"),
    "more than the number": (answers.a_disk_from_the_shelf, " SN ZZ999999", FLEET, "pass", "serial number ZZ999999"),
    "seen before, and on the shelf": (
        answers.a_disk_from_the_shelf,
        "zz999999",
        EVER,
        "pass",
        "last seen in bay 5 of 0x5 on oss09 until noon",
    ),
    "missed by a pool": (answers.a_disk_from_the_shelf, "zz999999", MISSED, "refuse", "is a member of ost_0 on oss01"),
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
    "another bay": (answers.the_bay_that_blinks, "005", FLEET, "refuse", "You see bay 5 blink"),
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
    judge, reported, facts, outcome, words = TYPED[name]
    verdicts = judge(facts, AWAY, reported)
    assert [v.outcome for v in verdicts] == [outcome]
    assert words in verdicts[0].reason, verdicts


# --- what is told to somebody with the wrong disk in the hand


REMOVED = replace(MEMBERS[2], state="REMOVED")


def pulled(leaf_=REMOVED, gone=None, disks=DISKS):
    here = with_leaf(LOST_LEAF, *MEMBERS[:2], leaf_, MEMBERS[3]).nodes["oss01"]
    here = replace(here, disks=disks, leaf_changes=(LeafChange(POOL_GUID, 88, "ONLINE", leaf_.state, 1.0),))
    return FleetFacts({"oss01": here}, gone={("oss01", "naa:5000c500a65b3a1b"): gone} if gone else {})


PULLED = {
    "that was in a bay": (
        pulled(gone=Gone("ZA000001", SHELF, 1)),
        f"Put it back now: the disk with the serial number ZA000001 was pulled out of bay 1 of enclosure {SHELF}. "
        f"It serves ost_0. The disk that was meant is still in bay 70 of enclosure {SHELF}. Pull nothing else.",
    ),
    "whose label remembers": (
        pulled(replace(REMOVED, enc_path="/sys/class/enclosure/6:0:89:0/4"), disks=without(BLANK_WWID).disks),
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
    facts, reported = PULLED[name]
    verdict = bay.nothing_else_was_pulled(facts, HERE)
    assert (verdict.outcome, verdict.reason) == ("refuse", reported)


def test_a_disk_that_is_gone_while_its_member_is_still_called_online_was_pulled():
    facts = fleet(replace(NODE, disks=tuple(d for d in DISKS if d.wwid != "naa:5000c500a65b3a1b")))
    assert bay.nothing_else_was_pulled(facts, HERE).outcome == "refuse"


@pytest.mark.parametrize("judge", [answers.the_serial_that_was_pulled, answers.the_disk_meant_in_its_place, answers.the_bay_that_blinks])
def test_where_neither_serial_nor_wwid_is_known_nothing_that_is_typed_is_right(judge):
    nothing = {"node": NODE.node, "old_serial": "", "old_wwid": "", "slot": ""}
    assert [judge(FLEET, nothing, typed)[0].outcome for typed in ("", "ZZ999999", "5")] == ["refuse"] * 3

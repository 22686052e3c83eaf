"""Where the guards of a rewind turn: which point may be chosen, what was imaged, and what was written since."""

from dataclasses import replace

import pytest

from agents.collectors.kstat_txgs import PoolWrites, Txg
from workflows.analysis.rewind_points import Point, Timeline
from workflows.facts import ImportableFacts, KstatFacts, Unknown
from workflows.guards import importing, rewinding
from workflows.tests.incident import FLEET, NODE, OTHER, PARAMS, POOL_GUID, TOP, fleet

SILENT = Unknown("Nobody said.")
LISTED = ImportableFacts("ost_0", POOL_GUID, "FAULTED", "", "", (("data", TOP),))
NEWEST = Point(103, (1000,), 0, 0, ("sda", "sdb"), 4, ())
SHORT = replace(NEWEST, txg=101, txgs_back=2, short=(("raidz2-0", 2, 3),))
SPLIT = replace(NEWEST, txg=100, txgs_back=3, times=(900, 941))
LINE = Timeline(NODE, LISTED, (NEWEST, SHORT, SPLIT), (), 0)
IMAGED = {"images": "All 4 are imaged by ann, on nas01."}

OF_A_POINT = {
    "the newest": (rewinding.it_lies_behind_the_newest, LINE, {"txg": "103"}, "refuse", "is the newest there is"),
    "behind the newest": (rewinding.it_lies_behind_the_newest, LINE, {"txg": "101"}, "pass", "lies 2 behind"),
    "no such point": (rewinding.it_lies_behind_the_newest, LINE, {"txg": "7"}, "unknown", "No disk holds the txg 7"),
    "no point": (rewinding.it_lies_behind_the_newest, LINE, {}, "unknown", "is chosen yet"),
    "the point that was accepted": (rewinding.it_lies_behind_the_newest, LINE, {"txg": "103", "took": "101"}, "pass", "lies 2 behind"),
    "too few hold it": (rewinding.enough_disks_hold_it, LINE, {"txg": "101"}, "refuse", "Only 2 disks of raidz2-0 hold txg 101, and 3"),
    "enough hold it": (rewinding.enough_disks_hold_it, LINE, {"txg": "100"}, "pass", "2 of 4 disks hold txg 100"),
    "two times": (rewinding.its_disks_agree_on_when_it_was, LINE, {"txg": "100"}, "refuse", "41 s apart"),
    "one time": (rewinding.its_disks_agree_on_when_it_was, LINE, {"txg": "101"}, "pass", "dates it alike"),
    "as far as -F goes": (rewinding.the_rewind_is_short_enough, LINE, {"txg": "101"}, "pass", "which -F reaches"),
    "further than -F goes": (rewinding.the_rewind_is_short_enough, LINE, {"txg": "100"}, "refuse", "goes back 2"),
    "all told": (rewinding.every_disk_told_its_uberblocks, LINE, {}, "pass", "All 4 disks gave their uberblocks: 3 points"),
    "one is silent": (rewinding.every_disk_told_its_uberblocks, replace(LINE, silent=("sdc",)), {}, "unknown", "uberblocks of sdc"),
    "none could be read": (rewinding.every_disk_told_its_uberblocks, replace(LINE, points=()), {}, "unknown", "No uberblock of ost_0"),
    "nobody knows the line": (rewinding.every_disk_told_its_uberblocks, SILENT, {}, "unknown", "Nobody said."),
    "a checkpoint": (rewinding.no_checkpoint_stands, replace(LINE, checkpoint=90), {}, "refuse", "a checkpoint of txg 90"),
    "no checkpoint": (rewinding.no_checkpoint_stands, LINE, {}, "pass", "has no checkpoint"),
    "a checkpoint or none": (rewinding.no_checkpoint_stands, SILENT, {}, "unknown", "Nobody said."),
    "imaged": (rewinding.every_disk_is_imaged, LINE, IMAGED, "pass", "4 disks are said to be imaged"),
    "imaged, in 20 characters": (rewinding.every_disk_is_imaged, LINE, {"images": "4 are on nas01, says"}, "pass", "said to be imaged"),
    "imaged, in 19 characters": (rewinding.every_disk_is_imaged, LINE, {"images": "4 are on nas01, sai"}, "refuse", "Say that all 4"),
    "some imaged": (rewinding.every_disk_is_imaged, LINE, {"images": "All 14 are imaged by ann, on nas01."}, "refuse", "4 disks carry"),
    "how many nobody knows": (rewinding.every_disk_is_imaged, replace(LINE, points=()), IMAGED, "unknown", "look again"),
    "how many cannot be told": (rewinding.every_disk_is_imaged, SILENT, IMAGED, "unknown", "Nobody said."),
}


@pytest.mark.parametrize("name", OF_A_POINT)
def test_a_point_is_judged(name, monkeypatch):
    guard, line, changes, outcome, expected = OF_A_POINT[name]
    monkeypatch.setattr(rewinding, "timeline", lambda *_: line)
    verdict = guard(FLEET, {**PARAMS, **changes})
    assert (verdict.outcome, expected in verdict.reason) == (outcome, True), verdict


def wrote(*txgs, **more):
    """(txg, its state, bytes written) of each that the kernel remembers."""
    rows = tuple(Txg(number, 0, state, 0, written, 0, 0, 0, 0) for number, state, written in txgs)
    writes = {"ost_0": PoolWrites("ost_0", rows, None, None), **more}
    return fleet(replace(NODE, kstats=KstatFacts((), SILENT, writes)))


def listed(**changes):
    """Not imported here, by a node whose hostid is that of the labels."""
    here = replace(NODE, pools=(), hostid="5b2f9c01", importable=(replace(LISTED, **changes),))
    return fleet(here, replace(OTHER, age_seconds=5.0))


DONE = "committed"
LEFT = {"newest_txg": "103"}
SINCE = {
    "passed": (rewinding.it_has_passed_what_it_left_behind, wrote((104, DONE, 1), (90, DONE, 1)), LEFT, "pass", "has written txg 104"),
    "not passed": (rewinding.it_has_passed_what_it_left_behind, wrote((103, DONE, 1)), LEFT, "refuse", "It has written txg 103."),
    "an empty one": (rewinding.it_has_passed_what_it_left_behind, wrote((104, DONE, 0)), LEFT, "refuse", "written nothing yet"),
    "one under way": (rewinding.it_has_passed_what_it_left_behind, wrote((104, "syncing", 1)), LEFT, "refuse", "written nothing yet"),
    "nothing yet": (rewinding.it_has_passed_what_it_left_behind, wrote(), {"newest_txg": "0"}, "refuse", "written nothing yet"),
    "gone": (
        rewinding.it_has_passed_what_it_left_behind,
        fleet(replace(NODE, pools=())),
        LEFT,
        "unknown",
        "It had not passed what it left behind",
    ),
    "what it left nobody knows": (rewinding.it_has_passed_what_it_left_behind, wrote(), {}, "unknown", "names no newest txg"),
    "writes nobody asked for": (rewinding.it_has_passed_what_it_left_behind, wrote(ost_0=SILENT), LEFT, "unknown", "Nobody said."),
    "no history": (
        rewinding.it_has_passed_what_it_left_behind,
        wrote(ost_0=PoolWrites("ost_0", None, None, None)),
        LEFT,
        "unknown",
        "zfs_txg_history is 0",
    ),
    "still imported": (rewinding.it_is_still_imported, FLEET, {}, "pass", "is imported on oss01"),
    "imported no more": (rewinding.it_is_still_imported, fleet(replace(NODE, pools=())), {}, "unknown", "do not import it again"),
    "it does not come in": (rewinding.it_does_not_come_in_as_it_is, listed(), {}, "pass", "does not come in"),
    "it comes in": (rewinding.it_does_not_come_in_as_it_is, listed(state="DEGRADED"), {}, "refuse", "Begin read-only-import"),
    "no force": (rewinding.no_force_is_needed, listed(), {}, "pass", "used ost_0 last, or it was exported"),
    "force": (rewinding.no_force_is_needed, fleet(replace(NODE, pools=())), {}, "refuse", "oss01 used ost_0 last and never exported it"),
    "no label": (rewinding.no_force_is_needed, fleet(replace(NODE, disks=())), {}, "unknown", "No disk of oss01 is known to carry"),
    "where it came in": (rewinding.the_log_says_where_it_came_in, fleet(replace(NODE, loads={"ost_0": 9})), {}, "pass", "at txg 9"),
    "where it came in is forgotten": (rewinding.the_log_says_where_it_came_in, fleet(replace(NODE, loads={})), {}, "unknown", "any more"),
    "further back than nobody chose": (
        rewinding.it_landed_further_back,
        fleet(replace(NODE, loads={"ost_0": 9})),
        {},
        "unknown",
        "names no txg",
    ),
    "nobody knows where": (rewinding.it_landed_further_back, fleet(replace(NODE, loads=SILENT)), {"txg": "9"}, "unknown", "Nobody said."),
}


@pytest.mark.parametrize("name", SINCE)
def test_what_happened_is_judged(name):
    guard, facts, changes, outcome, expected = SINCE[name]
    verdict = guard(facts, {**PARAMS, **changes})
    assert (verdict.outcome, expected in verdict.reason) == (outcome, True), verdict


def test_points_that_say_no_loss_are_none():
    assert rewinding.older_points({"older": "98=2 s;97=;=4 s;x"}) == {"98": "2 s"}
    assert rewinding.older_points({}) == {}


def test_the_newest_label_of_all_bounds_an_old_zfs():
    disks = tuple(replace(d, labels=tuple(replace(x, txg=90 + n) for x in d.labels)) for n, d in enumerate(NODE.disks))
    facts = fleet(replace(NODE, zfs_module="zfs-kmod-0.7.13-1", disks=disks))
    assert [rewinding.this_zfs_can_go_back(facts, {**PARAMS, "txg": txg}).outcome for txg in ("92", "93")] == ["refuse", "pass"]


def test_nobody_is_told_to_force_where_the_own_hostid_is_not_known():
    assert not importing.last_used_elsewhere(fleet(replace(NODE, hostid=SILENT)), PARAMS)
    assert importing.last_used_elsewhere(FLEET, PARAMS)

"""Where the guards of scrubs, of what comes back after a mass event, of imports and of rewinds turn."""

from dataclasses import replace

import pytest

from workflows.facts import ImportableFacts, ScanFacts, Unknown
from workflows.guards import importing, mass, rewinding
from workflows.tests.incident import (
    DISKS,
    FLEET,
    LOST,
    LOST_LEAF,
    MEMBERS,
    NODE,
    OTHER,
    PARAMS,
    POOL,
    POOL_GUID,
    SDCW_WWID,
    TOP,
    TWIN,
    fleet,
    label,
    leaf,
    vdev,
    with_disk,
    with_leaf,
    with_pool,
)


def scan(function, state, errors=None):
    return with_pool(scans=(ScanFacts(function, state, "x", None, errors),))


def whole(**changes):
    """Every member serves."""
    here = with_leaf(MEMBERS[0], *MEMBERS[1:]).nodes["oss01"]
    return fleet(replace(here, pools=(replace(here.pools[0], **changes),)))


def lost(count, **more):
    many = [leaf(200 + n, f"/dev/disk/by-id/scsi-{n}-part1", "REMOVED", **more) for n in range(count)]
    return with_leaf(many[0], *many[1:], *MEMBERS)


def listed(absent=0, tops=None, **changes):
    """Not imported, and listed by `zpool import`; OTHER answers now."""
    leaves = [replace(m, state="UNAVAIL") if n < absent else m for n, m in enumerate(MEMBERS)]
    one = ImportableFacts("ost_0", POOL_GUID, "ONLINE", "", "", (("data", replace(TOP, children=tuple(leaves))),) if tops is None else tops)
    there = replace(NODE, pools=(), hostid="5b2f9c01", importable=(replace(one, **changes),))
    return fleet(there, replace(OTHER, age_seconds=5.0))


def not_imported(**changes):
    return fleet(replace(NODE, pools=(), **changes), replace(OTHER, age_seconds=5.0))


def elsewhere(**changes):
    """Another node that sees a member, answers now, and whose host used the pool last."""
    other = replace(OTHER, hostid="5b2f9c01", disks=DISKS[:1], age_seconds=5.0)
    return fleet(replace(NODE, pools=()), replace(other, **changes))


def old_zfs(txg=4000):
    labels = label("sdcw1", TWIN)
    here = replace(
        NODE, zfs_module="zfs-kmod-0.7.13-1", disks=tuple(replace(d, labels=d.labels and (replace(labels, txg=txg),)) for d in DISKS)
    )
    return fleet(here)


def took(txg):
    return fleet(replace(NODE, loads={"ost_0": txg}))


OLDER = {"txg": "100", "older": "98=2 s;97=4 s"}
EDGES = {
    # --- scrubs
    "a scrub that found none so far": (mass.the_scrub_goes_well, scan("scrub", "running", 0), {}, "pass", "no error so far"),
    "a scrub that says nothing yet": (mass.the_scrub_goes_well, scan("scrub", "running"), {}, "pass", "no error so far"),
    "a scrub with one": (mass.the_scrub_goes_well, scan("scrub", "running", 1), {}, "refuse", "found 1 errors"),
    "a scrub that was canceled": (mass.the_scrub_goes_well, scan("scrub", "canceled"), {}, "refuse", "was canceled"),
    "a resilver that was canceled": (mass.the_scrub_goes_well, scan("resilver", "canceled", 3), {}, "pass", "no error so far"),
    "no scrub": (mass.the_scrub_found_nothing, scan("resilver", "finished", 0), {}, "refuse", "shows no scrub"),
    "a scrub that runs": (mass.the_scrub_found_nothing, scan("scrub", "running", 0), {}, "refuse", "is running"),
    "a scrub that counted nothing": (mass.the_scrub_found_nothing, scan("scrub", "finished"), {}, "refuse", "is finished"),
    "a scrub that found one": (mass.the_scrub_found_nothing, scan("scrub", "finished", 1), {}, "refuse", "found 1 errors"),
    "a scrub that found nothing": (mass.the_scrub_found_nothing, scan("scrub", "finished", 0), {}, "pass", "found 0 errors"),
    "errors nobody told": (mass.no_data_is_damaged, FLEET, {}, "unknown", "was not said"),
    "no errors": (mass.no_data_is_damaged, with_pool(errors="No known data errors"), {}, "pass", "knows of no damaged data"),
    "not suspended": (mass.the_pool_is_suspended, FLEET, {}, "refuse", "nothing has to be cleared"),
    "suspended": (mass.the_pool_is_suspended, with_pool(suspended=True), {}, "pass", "is suspended"),
    "nothing to spare": (
        mass.no_vdev_is_beyond_rebuilding,
        with_leaf(LOST_LEAF, replace(MEMBERS[0], state="REMOVED"), *MEMBERS[1:]),
        {},
        "pass",
        "has no redundancy left",
    ),
    "less than nothing to spare": (
        mass.no_vdev_is_beyond_rebuilding,
        with_leaf(LOST_LEAF, *(replace(m, state="REMOVED") for m in MEMBERS[:2]), *MEMBERS[2:]),
        {},
        "refuse",
        "has lost more disks",
    ),
    # --- members that come back
    "one is away": (mass.some_members_are_away, FLEET, {}, "pass", "1 member of ost_0 is away"),
    "one was taken out": (mass.some_members_are_away, with_leaf(replace(LOST_LEAF, state="OFFLINE")), {}, "refuse", "is away by itself"),
    "all serve": (mass.every_member_serves, whole(), {}, "pass", "nothing is being rebuilt"),
    "all serve, and one catches up": (
        mass.every_member_serves,
        whole(scans=(ScanFacts("resilver", "paused", "x"),)),
        {},
        "refuse",
        "its members catch up",
    ),
    "all serve, and a scrub runs": (mass.every_member_serves, whole(scans=(ScanFacts("scrub", "running", "x"),)), {}, "pass", "serves"),
    "one was switched off": (
        mass.every_member_serves,
        with_leaf(replace(LOST_LEAF, state="OFFLINE"), *MEMBERS),
        {},
        "refuse",
        "Bring it back with `zpool online` and let it resilver, or replace it.",
    ),
    "all that went are back, and one was switched off": (
        mass.every_member_that_went_is_back,
        with_leaf(replace(LOST_LEAF, state="OFFLINE"), *MEMBERS),
        {},
        "pass",
        "Still OFFLINE, by `zpool offline`: ",
    ),
    "one is in a state nobody knows": (
        mass.every_member_serves,
        with_leaf(replace(LOST_LEAF, state="SPLIT"), *MEMBERS),
        {},
        "unknown",
        "reads “SPLIT”",
    ),
    "four do not": (mass.every_member_serves, lost(4), {}, "refuse", "scsi-0, scsi-1, scsi-2, scsi-3."),
    "six do not": (mass.every_member_serves, lost(6), {}, "refuse", "scsi-3 and 2 more."),
    "its disk is not back": (mass.the_disks_are_back, FLEET, {}, "refuse", "1 member of ost_0 have no running disk"),
    "its disk is back": (mass.the_disks_are_back, with_disk(SDCW_WWID, labels=(label("sdcw1", LOST),)), {}, "pass", "has its disk"),
    "its disk is back and not awake": (
        mass.the_disks_are_back,
        with_disk(SDCW_WWID, labels=(label("sdcw1", LOST),), paths=(replace(DISKS[0].paths[0], state="offline"),)),
        {},
        "refuse",
        "no running disk",
    ),
    "its label is on another disk than its own": (
        mass.the_disks_are_back,
        with_leaf(replace(LOST_LEAF, wwid="naa:5000c500a65b9999"), *MEMBERS),
        {},
        "refuse",
        "no running disk",
    ),
    # --- before an import
    "listed once": (importing.the_listing_shows_the_pool_once, listed(), {}, "pass", "once"),
    "not listed": (importing.the_listing_shows_the_pool_once, listed(guid=5), {}, "unknown", "does not list it"),
    "listed twice": (
        importing.the_listing_shows_the_pool_once,
        fleet(replace(NODE, importable=listed().nodes["oss01"].importable * 2)),
        {},
        "unknown",
        "lists it 2 times",
    ),
    "two disks less than all": (importing.enough_of_its_disks_are_here, listed(2), {}, "pass", "enough of its disks"),
    "three disks less than all": (importing.enough_of_its_disks_are_here, listed(3), {}, "refuse", "lacks 3 disks"),
    "no vdev is listed": (importing.enough_of_its_disks_are_here, listed(tops=()), {}, "unknown", "shows no vdevs"),
    "somebody writes to it": (
        importing.no_other_system_writes_to_it,
        listed(action="The pool must be exported from oss77 (hostid=1) before it can be safely imported."),
        {},
        "refuse",
        "is imported on oss77 (hostid=1) right now",
    ),
    "somebody has it": (
        importing.no_other_system_writes_to_it,
        listed(status="The pool is currently imported by another\nsystem."),
        {},
        "refuse",
        "is imported on another system right now",
    ),
    "somebody whom nobody knows": (
        importing.no_other_system_writes_to_it,
        listed(
            status="The pool is currently imported by another\nsystem.",
            action="The pool must be exported from unknown (hostid=0)\nbefore it can be safely imported.",
        ),
        {},
        "unknown",
        "no proof that another host has it",
    ),
    "nobody writes to it": (importing.no_other_system_writes_to_it, listed(), {}, "pass", "sees no other system"),
    "features nobody knows here": (
        importing.this_software_can_read_it,
        listed(status="The pool uses the following feature(s) not supported"),
        {},
        "refuse",
        "uses features",
    ),
    "a newer version": (importing.this_software_can_read_it, listed(action="is formatted using a newer version"), {}, "refuse", "features"),
    "known features": (importing.this_software_can_read_it, listed(), {}, "pass", "other software"),
    "no hostid": (importing.the_node_has_a_hostid, not_imported(hostid="00000000"), {}, "refuse", "zgenhostid"),
    "a hostid": (importing.the_node_has_a_hostid, not_imported(hostid="00000001"), {}, "pass", "00000001"),
    "a namesake": (importing.no_imported_pool_has_its_name, with_pool(guid=5), {}, "refuse", "Another pool named ost_0"),
    "itself": (importing.no_imported_pool_has_its_name, FLEET, {}, "pass", "No other pool"),
    "another name": (importing.no_imported_pool_has_its_name, with_pool(guid=5, name="x"), {}, "pass", "No other pool"),
    "read-only": (importing.the_pool_is_read_only, with_pool(properties={"readonly": "on"}), {}, "pass", "read-only"),
    "not read-only": (importing.the_pool_is_read_only, with_pool(properties={"readonly": "off"}), {}, "refuse", "for writing"),
    "read-only or not": (importing.the_pool_is_read_only, with_pool(properties={}), {}, "unknown", "is not known"),
    "it reads": (importing.the_pool_can_be_read, FLEET, {}, "pass", "Whether data is damaged was not read."),
    "it does not": (importing.the_pool_can_be_read, with_pool(state="SUSPENDED"), {}, "refuse", "is SUSPENDED"),
    "a rewind": (importing.a_rewind_is_offered, not_imported(), {"dry_run": "rewind"}, "pass", "Going back to"),
    "no rewind": (importing.a_rewind_is_offered, not_imported(), {"dry_run": "nothing"}, "refuse", "offers no rewind"),
    "nobody asked for a rewind": (importing.a_rewind_is_offered, not_imported(), {}, "unknown", "Ask again"),
    "a rewind of what is imported": (importing.a_rewind_is_offered, FLEET, {"dry_run": "rewind"}, "refuse", "is imported on oss01 now"),
    "used last by us": (importing.no_other_node_has_or_may_have_it, listed(), {}, "pass", "nor may have it"),
    "used last by nobody who speaks": (importing.no_other_node_has_or_may_have_it, not_imported(), {}, "unknown", "has no agent"),
    "used last by one who has let go": (importing.no_other_node_has_or_may_have_it, elsewhere(), {}, "pass", "nor may have it"),
    "used last by one who is silent": (
        importing.no_other_node_has_or_may_have_it,
        elsewhere(age_seconds=7200.0, disks=()),
        {},
        "unknown",
        "oss02 used it last and never exported it",
    ),
    "seen by one who is silent": (
        importing.no_other_node_has_or_may_have_it,
        elsewhere(age_seconds=7200.0),
        {},
        "unknown",
        "sees disks of it",
    ),
    "imported by another": (importing.no_other_node_has_or_may_have_it, elsewhere(pools=(POOL,)), {}, "refuse", "is imported on oss02"),
    "seen by one who is blind": (
        importing.no_other_node_has_or_may_have_it,
        elsewhere(disks=Unknown("Nobody said.")),
        {},
        "unknown",
        "oss02 may see the same disks",
    ),
    "imported by one who is blind": (
        importing.no_other_node_imports_it_by_itself,
        elsewhere(disks=Unknown("Nobody said.")),
        {},
        "unknown",
        "oss02 may see the same disks",
    ),
    "in nobody's cache file": (importing.no_other_node_imports_it_by_itself, elsewhere(cached=()), {}, "pass", "No other node that sees"),
    "in a cache file nobody read": (
        importing.no_other_node_imports_it_by_itself,
        elsewhere(),
        {},
        "unknown",
        "at its next boot is not known",
    ),
    "no guid": (importing.no_other_node_imports_it_by_itself, elsewhere(cached=()), {"pool_guid": ""}, "unknown", "names no pool guid"),
    # --- rewinds
    "at the point chosen": (rewinding.it_came_in_at_the_point_chosen, took(100), OLDER, "pass", "as it was chosen"),
    "not at the point chosen": (rewinding.it_came_in_at_the_point_chosen, took(98), OLDER, "refuse", "and 100 was chosen"),
    "at the point that was accepted": (
        rewinding.it_came_in_at_the_point_chosen,
        took(98),
        {**OLDER, "took": "98"},
        "pass",
        "as it was chosen",
    ),
    "no further back": (rewinding.it_landed_further_back, took(100), OLDER, "refuse", "as it was chosen"),
    "further back": (rewinding.it_landed_further_back, took(97), OLDER, "pass", "That loses 4 s"),
    "further back, at no point": (rewinding.it_landed_further_back, took(99), OLDER, "unknown", "was no point"),
    "further on": (rewinding.it_landed_further_back, took(101), {**OLDER, "older": "101=1 s"}, "unknown", "was no point"),
    "as much as was agreed": (rewinding.it_lost_no_more_than_was_agreed, took(100), OLDER, "pass", "100 was agreed to"),
    "more than was agreed": (rewinding.it_lost_no_more_than_was_agreed, took(99), OLDER, "refuse", "older than the 100"),
    "less than was agreed": (rewinding.it_lost_no_more_than_was_agreed, took(101), OLDER, "pass", "100 was agreed to"),
    "nobody agreed": (rewinding.it_lost_no_more_than_was_agreed, took(101), {}, "unknown", "names no txg"),
    "for writing": (rewinding.the_pool_is_imported_for_writing, with_pool(properties={"readonly": "off"}), {}, "pass", "for writing"),
    "not for writing": (rewinding.the_pool_is_imported_for_writing, with_pool(properties={"readonly": "on"}), {}, "refuse", "readonly on"),
    "for writing or not": (rewinding.the_pool_is_imported_for_writing, with_pool(properties={}), {}, "unknown", "is not known"),
    "an old ZFS before a label": (rewinding.this_zfs_can_go_back, old_zfs(), {"txg": "3999"}, "refuse", "(txg 4000)"),
    "an old ZFS at the label": (rewinding.this_zfs_can_go_back, old_zfs(), {"txg": "4000"}, "pass", "No label is newer"),
    "an old ZFS and no point": (rewinding.this_zfs_can_go_back, old_zfs(), {}, "unknown", "names no txg"),
    "an old ZFS and a label without a txg": (rewinding.this_zfs_can_go_back, old_zfs(None), {"txg": "4000"}, "unknown", "not every label"),
    "a ZFS that tries again": (
        rewinding.this_zfs_can_go_back,
        fleet(replace(NODE, zfs_module="zfs-kmod-0.8.0-1")),
        {},
        "pass",
        "tries again without the limit",
    ),
}


@pytest.mark.parametrize("name", EDGES)
def test_it_turns_there(name):
    guard, facts, changes, outcome, expected = EDGES[name]
    verdict = guard(facts, {**PARAMS, **changes})
    assert (verdict.outcome, expected in verdict.reason) == (outcome, True), verdict


def back(guid, wwid, slot):
    """A lost member whose own disk runs again in this bay."""
    found = replace(DISKS[0], wwid=wwid, labels=(label("sdq1", guid),), bay=replace(DISKS[0].bay, slot=slot))
    return leaf(guid, f"/dev/disk/by-id/{guid}", "REMOVED", wwid=wwid), found


def test_who_survives_least_comes_back_first_and_then_bay_after_bay():
    strong = [back(301, "naa:5000c500a65b0301", 9), back(302, "naa:5000c500a65b0302", 3)]
    weak = [back(303, "naa:5000c500a65b0303", 7), back(304, "naa:5000c500a65b0304", 4)]
    away = leaf(305, "/dev/disk/by-id/305", "REMOVED", wwid="naa:5000c500a65b0305")
    serving = [leaf(n, f"/dev/disk/by-id/{n}") for n in range(310, 316)]
    tops = (
        ("data", vdev(1, "raidz3-0", "raidz", 3, *(one for one, _ in strong), *serving[:3])),
        ("data", vdev(2, "raidz2-1", "raidz", 2, *(one for one, _ in weak), away, *serving[3:])),
    )
    pool = replace(POOL, tops=tops)
    node = replace(NODE, pools=(pool,), disks=tuple(found for _, found in (*strong, *weak)))
    assert mass.bring_back_order(node, pool) == (304, 303, 302, 301)

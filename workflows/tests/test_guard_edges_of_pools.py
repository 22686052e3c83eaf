"""Where the guards about the lost member, the pool and the finished replacement turn. Written against `./run bench mutants`."""

from dataclasses import replace

import pytest

from workflows.facts import LeafChange, ScanFacts, Unknown
from workflows.guards import CANDIDATE_GUARDS, GUARDS, REPLACED_GUARDS, TARGET_GUARDS
from workflows.guards.replaced import full_margin, the_new_disk_has_taken_over
from workflows.guards.subject import Target, number
from workflows.tests.incident import (
    BLANK_WWID,
    DISKS,
    FLEET,
    LOST,
    LOST_LEAF,
    MEMBERS,
    NEW_LEAF,
    NODE,
    OTHER,
    PARAMS,
    POOL,
    POOL_GUID,
    REPLACED,
    RESILVERED,
    SPARE_WWID,
    TOP,
    TWIN,
    after,
    disk,
    fleet,
    label,
    leaf,
    vdev,
    with_leaf,
    with_pool,
)

SILENT = Unknown("nobody said.")
FILLING = replace(NEW_LEAF, resilvering=True)
GONE = tuple(replace(m, state="UNAVAIL") for m in MEMBERS)


def answer(guard, facts, **params):
    found = GUARDS[guard](facts, {**PARAMS, **params})
    return found.outcome, found.reason


def tops(*found, **more):
    return with_pool(tops=tuple(("data", top) for top in found), **more)


def whole(kind, parity, *members, scans=RESILVERED, name="raidz2-0"):
    return tops(vdev(TOP.guid, name, kind, parity, NEW_LEAF, *members), state="ONLINE", scans=scans)


def changes(*guids, age_seconds=600.0, state="REMOVED"):
    return tuple(LeafChange(POOL_GUID, guid, "ONLINE", state, age_seconds) for guid in guids)


def left(*guids, **more):
    return fleet(replace(NODE, leaf_changes=changes(*guids, **more)))


def left_from(kind, parity, *guids):
    top = replace(TOP, kind=kind, parity=parity)
    return fleet(replace(NODE, pools=(replace(POOL, tops=(("data", top),)),), leaf_changes=changes(*guids)))


def scan(function="resilver", state="finished", errors=0):
    return ScanFacts(function, state, f"{function} …", None, errors)


IN_A_ROW = fleet(  # bays 1 to 3, while other disks of the enclosure run
    replace(
        NODE,
        disks=tuple(replace(d, bay=replace(d.bay, slot=3)) if d.bay.slot == 5 else d for d in DISKS),
        pools=(replace(POOL, tops=(("data", replace(TOP, children=(LOST_LEAF, MEMBERS[0], *GONE[1:]))),)),),
    )
)
MIRROR = vdev(30, "mirror-1", "mirror", 0, leaf(31, "/dev/sdq1"), leaf(32, "/dev/sdr1"))
EDGES = {
    # after the replacement
    "an old member below a vdev": ("the-old-member-is-gone", FLEET, "refuse", "still in raidz2-0 of ost_0"),
    "an old member that was a pool's own disk": ("the-old-member-is-gone", tops(LOST_LEAF), "refuse", f"{LOST} is still in ost_0"),
    "an old member two steps down": (
        "the-old-member-is-gone",
        with_leaf(vdev(9, "replacing-0", "replacing", 0, LOST_LEAF, FILLING)),
        "refuse",
        "still in replacing-0",
    ),
    "a scan that does not count its errors": (
        "the-resilver-ended-without-errors",
        after(scans=(scan(errors=None),)),
        "unknown",
        "With how many errors",
    ),
    "a scrub that ended well afterwards": ("the-resilver-ended-without-errors", after(scans=(scan("scrub"),)), "pass", "The scrub"),
    "a resilver, and a scrub that runs": (
        "the-resilver-ended-without-errors",
        after(scans=(scan(), scan("scrub", "running"))),
        "refuse",
        "The scrub of ost_0 is running",
    ),
    "a vdev that is whole": ("the-vdev-counts-the-new-disk", REPLACED, "pass", "is whole and survives the loss of 2 more disks"),
    "a vdev that lost another": (
        "the-vdev-counts-the-new-disk",
        whole("raidz", 2, GONE[0], *MEMBERS[1:]),
        "pass",
        "survives the loss of 1 more disk. raidz2-0 does without",
    ),
    "a vdev without any margin left": (
        "the-vdev-counts-the-new-disk",
        whole("raidz", 2, *GONE[:2], *MEMBERS[2:]),
        "pass",
        "has no redundancy left",
    ),
    "a vdev beyond rebuilding": (
        "the-vdev-counts-the-new-disk",
        whole("raidz", 2, *GONE[:3], *MEMBERS[3:]),
        "refuse",
        "lost more disks than it can rebuild",
    ),
    "a vdev that is still being rebuilt": (
        "the-vdev-counts-the-new-disk",
        after(FILLING, scans=(scan(state="running", errors=None),)),
        "refuse",
        "still being rebuilt",
    ),
    "a mirror that is whole": (
        "the-vdev-counts-the-new-disk",
        whole("mirror", 0, MEMBERS[0], name="mirror-0"),
        "pass",
        "is whole and survives the loss of 1 more disk",
    ),
    "a single disk": (
        "the-vdev-counts-the-new-disk",
        tops(NEW_LEAF, state="ONLINE", scans=RESILVERED),
        "pass",
        "is whole and has no redundancy left",
    ),
    "a pool nobody could read": ("the-vdev-counts-the-new-disk", fleet(replace(NODE, pools=SILENT)), "unknown", "nobody said"),
    "one disk as two members": (
        "the-new-disk-has-its-place",
        after(NEW_LEAF, replace(NEW_LEAF, guid=77)),
        "unknown",
        "is 2 members of ost_0 at once",
    ),
    # the lost member
    "a member in a mirror": (
        "the-lost-member-is-not-being-replaced",
        tops(vdev(9, "mirror-0", "mirror", 0, MEMBERS[0], LOST_LEAF)),
        "pass",
        "Nothing stands",
    ),
    "a pool's own disk": ("the-lost-member-is-not-being-replaced", tops(LOST_LEAF), "pass", "Nothing stands"),
    "the last child of a raidz": (
        "the-lost-member-is-not-being-replaced",
        tops(replace(TOP, children=(*MEMBERS, LOST_LEAF))),
        "pass",
        "Nothing stands",
    ),
    "a removed member without a former name": (
        "the-lost-member-has-not-come-back",
        fleet(
            replace(
                NODE,
                disks=(*DISKS, disk("sdq", SPARE_WWID, label("sdq1", LOST))),
                pools=(replace(POOL, tops=(("data", replace(TOP, children=(replace(LOST_LEAF, state="REMOVED", was=None), *MEMBERS))),)),),
            )
        ),
        "refuse",
        "the member is back",
    ),
    "a mounted disk whose labels nobody read": (
        "the-lost-member-has-not-come-back",
        fleet(replace(NODE, disks=(*DISKS, replace(disk("sdq", SPARE_WWID), labels=SILENT, in_use=("mounted on /",))))),
        "pass",
        "No disk on oss01",
    ),
    "an idle disk whose labels nobody read": (
        "the-lost-member-has-not-come-back",
        fleet(replace(NODE, disks=(*DISKS, replace(disk("sdq", SPARE_WWID), labels=SILENT)))),
        "unknown",
        "its labels are not known",
    ),
    "a margin of one": ("the-vdev-can-still-rebuild", FLEET, "pass", "It survives the loss of 1 more disk."),
    "no margin": ("the-vdev-can-still-rebuild", with_leaf(LOST_LEAF, GONE[0], *MEMBERS[1:]), "pass", "It has no redundancy left"),
    "a margin below none": ("the-vdev-can-still-rebuild", with_leaf(LOST_LEAF, *GONE[:2], *MEMBERS[2:]), "refuse", "Do not write to it"),
    "a vdev of which another disk is being filled": (
        "the-vdev-counts-the-new-disk",
        whole("raidz", 2, replace(MEMBERS[0], resilvering=True), *MEMBERS[1:]),
        "refuse",
        "raidz2-0 is still being rebuilt",
    ),
    "a spare that stays in its place": (
        "the-vdev-counts-the-new-disk",
        whole("spare", 0, MEMBERS[0], name="spare-0"),
        "pass",
        "spare-0 has no redundancy left",
    ),
    # mass events
    "three in a row of bays, nobody saw when": ("no-mass-event-is-under-way", IN_A_ROW, "refuse", "3 members of ost_0 are lost together"),
    "two in a row of bays": (
        "no-mass-event-is-under-way",
        with_leaf(LOST_LEAF, *MEMBERS[:2], *GONE[2:]),
        "refuse",
        "look at what they share before any of them",
    ),
    "two disks of a raidz3": ("no-mass-event-is-under-way", left_from("raidz", 3, LOST, TWIN), "pass", "2 of the disks"),
    "three disks of a raidz3": ("no-mass-event-is-under-way", left_from("raidz", 3, LOST, TWIN, 88), "refuse", "3 disks of oss01"),
    "one disk of a raidz1": ("no-mass-event-is-under-way", left_from("raidz", 1, LOST), "pass", "1 of the disks"),
    "one disk of a mirror": ("no-mass-event-is-under-way", left_from("mirror", 0, LOST), "pass", "1 of the disks"),
    "two disks within half an hour": ("no-mass-event-is-under-way", left(LOST, TWIN), "refuse", "2 disks of oss01"),
    "the second just within half an hour": (
        "no-mass-event-is-under-way",
        fleet(replace(NODE, leaf_changes=(*changes(LOST), *changes(TWIN, age_seconds=1800.0)))),
        "refuse",
        "2 disks",
    ),
    "the second just before": (
        "no-mass-event-is-under-way",
        fleet(replace(NODE, leaf_changes=(*changes(LOST), *changes(TWIN, age_seconds=1800.5)))),
        "pass",
        "1 of the disks",
    ),
    "a second that came back": (
        "no-mass-event-is-under-way",
        fleet(replace(NODE, leaf_changes=(*changes(LOST), *changes(TWIN, state="ONLINE")))),
        "pass",
        "1 of the disks",
    ),
    # resilvers
    "a resilver that is paused": (
        "no-resilver-touches-the-vdev",
        with_pool(scans=(scan(state="paused", errors=None),)),
        "refuse",
        "is resilvering",
    ),
    "a resilver that has ended": ("no-resilver-touches-the-vdev", with_pool(scans=(scan(),)), "pass", "No resilver touches"),
    "a resilver that has ended, and a scrub that runs": (
        "no-resilver-touches-the-vdev",
        with_pool(scans=(scan(), scan("scrub", "running", None))),
        "pass",
        "No resilver touches",
    ),
}


@pytest.mark.parametrize("name", EDGES)
def test_it_turns_exactly_here(name):
    guard, facts, outcome, expected = EDGES[name]
    found, reason = answer(guard, facts)
    assert (found, expected in reason) == (outcome, True), reason


@pytest.mark.parametrize("name", ["pool_guid", "vdev_guid"])
@pytest.mark.parametrize("guard", ["the-old-member-is-gone", "the-lost-member-is-one-known-vdev"])
def test_a_run_that_names_no_member_knows_nothing(guard, name):
    outcome, reason = answer(guard, REPLACED, **{name: "x"})
    assert (outcome, reason) == ("unknown", f"The run names no {name.replace('_', ' ')}.")


@pytest.mark.parametrize("guard", ["the-new-disk-has-its-place", "the-new-disk-is-in-service", "the-vdev-counts-the-new-disk"])
def test_before_a_disk_is_chosen_nothing_is_known_of_it(guard):
    assert answer(guard, REPLACED, wwid="") == ("unknown", "No disk is chosen yet.")


@pytest.mark.parametrize(
    ("facts", "outcome", "expected"),
    [
        (REPLACED, "pass", "holds its whole share"),
        (FLEET, "refuse", "is still in raidz2-0"),
        (after(vdev(9, "spare-0", "spare", 0, leaf(10, "/dev/sdx1"), NEW_LEAF)), "refuse", "still under spare-0"),
        (after(FILLING), "refuse", "still being filled"),
        (fleet(replace(NODE, pools=SILENT)), "unknown", "nobody said"),
    ],
    ids=["done", "old-member", "spare", "filling", "unread"],
)
def test_waiting_ends_when_the_new_disk_has_taken_over(facts, outcome, expected):
    verdict = the_new_disk_has_taken_over(facts, PARAMS)
    assert (verdict.outcome, expected in verdict.reason) == (outcome, True), verdict


@pytest.mark.parametrize(
    ("top", "margin"),
    [
        (TOP, 2),
        (vdev(1, "draid1", "draid", 1, *MEMBERS), 1),
        (vdev(1, "mirror-0", "mirror", 0, *MEMBERS[:3]), 2),
        (leaf(1, "/dev/sda1"), 0),
        (vdev(1, "indirect-0", "indirect", 0, *MEMBERS), None),
        (vdev(1, "raidz-0", "raidz", 0, *MEMBERS), None),
        (vdev(1, "mirror-0", "mirror", 1, *MEMBERS[:3]), 2),
    ],
)
def test_what_a_whole_vdev_survives(top, margin):
    assert full_margin(top) == margin if margin is not None else isinstance(full_margin(top), Unknown)


@pytest.mark.parametrize(
    ("text", "is_one"), [("1", True), ("9" * 20, True), ("9" * 21, False), ("²", False), ("-1", False), ("", False), ("1x", False)]
)
def test_a_guid_is_a_short_number(text, is_one):
    assert isinstance(number({"x": text}, "x"), int) is is_one


def test_a_target_knows_what_is_above_it():
    assert Target(NODE, POOL, (LOST_LEAF,)).parent is None
    assert Target(NODE, POOL, (TOP, LOST_LEAF)).parent is TOP
    assert Target(NODE, POOL, (TOP, MEMBERS[0], LOST_LEAF)).parent is MEMBERS[0]


BLANK = next(d for d in DISKS if d.wwid == BLANK_WWID)


@pytest.mark.parametrize(
    ("size_there", "size_here", "may_be"),
    [
        (BLANK.size_bytes, BLANK.size_bytes, True),
        (1, BLANK.size_bytes, False),
        (SILENT, BLANK.size_bytes, True),
        (1, SILENT, True),
    ],
    ids=["same-size", "other-size", "size-there-unknown", "size-here-unknown"],
)
def test_a_nameless_disk_elsewhere_may_be_any_of_its_size(size_there, size_here, may_be):
    nameless = replace(disk("sdq", SPARE_WWID), wwid=Unknown("the controller hides it."), size_bytes=size_there)
    here = replace(NODE, disks=tuple(replace(d, size_bytes=size_here) if d.wwid == BLANK_WWID else d for d in DISKS))
    facts = fleet(here, replace(OTHER, disks=(nameless,), age_seconds=5.0))
    assert (answer("no-other-node-uses-the-disk", facts)[0] != "pass") is may_be


def nameless(size_bytes, **more):
    """Another node that sees a disk whose name is hidden from it."""
    hidden = replace(disk("sdq", SPARE_WWID), wwid=Unknown("the controller hides it."), size_bytes=size_bytes)
    return replace(OTHER, **{"disks": (hidden,), "age_seconds": 5.0, "pools": SILENT, **more})


@pytest.mark.parametrize("size", [DISKS[0].size_bytes, DISKS[0].size_bytes + 512], ids=["of most", "of one"])
def test_a_nameless_disk_elsewhere_may_be_any_member_of_the_pool(size):
    """It is enough that one member has its size."""
    uneven = replace(NODE, disks=(*DISKS[:1], replace(DISKS[1], size_bytes=DISKS[0].size_bytes + 512), *DISKS[2:]))
    assert answer("the-pool-is-imported-here-and-nowhere-else", fleet(uneven, nameless(size)))[0] == "unknown"
    assert answer("the-pool-is-imported-here-and-nowhere-else", fleet(uneven, nameless(4096)))[0] == "pass"


def test_a_nameless_disk_elsewhere_may_be_a_member_that_is_not_seen_here():
    """Nobody knows how large that one is."""
    less = replace(NODE, disks=tuple(d for d in DISKS if d.wwid != MEMBERS[2].wwid))
    assert answer("the-pool-is-imported-here-and-nowhere-else", fleet(less, nameless(4096)))[0] == "unknown"


def test_a_disk_without_a_name_is_no_sibling_of_a_member_without_one():
    """Two things of which the same is not known are not the same thing: a small stranger does not make a small disk fit."""
    stranger = replace(disk("sdq", SPARE_WWID, size_bytes=4096), wwid=SILENT)
    here = replace(
        NODE, disks=(*DISKS, stranger), pools=with_leaf(LOST_LEAF, *MEMBERS, leaf(90, "/dev/sdq1", wwid=SILENT)).nodes["oss01"].pools
    )
    small = next(d for d in DISKS if d.size_bytes < DISKS[0].size_bytes)
    assert answer("the-disk-is-large-enough", fleet(here), wwid=small.wwid)[0] == "refuse"


def test_a_run_that_names_no_vdev_is_told_so():
    assert answer("the-lost-member-is-out-of-service", FLEET, vdev_guid="") == ("unknown", "The run names no vdev guid.")


def test_every_guard_is_in_the_registry_by_its_sentence():
    every = (*TARGET_GUARDS, *CANDIDATE_GUARDS, *REPLACED_GUARDS)
    assert {guard.__name__.replace("_", "-"): guard for guard in every} == GUARDS
    assert len(TARGET_GUARDS) == 15
    assert len(CANDIDATE_GUARDS) == 12
    assert len(REPLACED_GUARDS) == 5

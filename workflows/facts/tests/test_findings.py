"""What the census of the fleet says: duplicates, timelines that split, old copies, and pools that are imported elsewhere."""

from dataclasses import replace

import pytest

from agents.tests.scenarios import STEPS
from workflows.facts import FleetFacts, Unknown, known
from workflows.facts.fleet.census import census
from workflows.facts.fleet.findings import disks_of, findings, of_node, of_pool
from workflows.facts.fleet.label_timelines import outliers
from workflows.facts.tests.played import fleet as played_fleet
from workflows.facts.tests.played import played
from workflows.tests.incident import (
    BLANK_WWID,
    DISKS,
    FLEET,
    LOST,
    LOST_LEAF,
    MEMBERS,
    NODE,
    OTHER,
    POOL_GUID,
    SDCW_WWID,
    TWIN,
    disk,
    fleet,
    label,
    with_disk,
    with_leaf,
)

OST2 = 12305735828161034898


def kinds(found):
    return [(f.kind, f.tone) for f in found]


# What the labels of each genuine step show. Every other step shows nothing but foreign labels, where nothing is imported.
SHOWN = {
    "disk-removed/1-pulled-not-noticed": ["damaged", "unread"],
    "import-blocked-diverged-disk/1-not-imported": ["split"],
    "import-blocked-diverged-disk-ashift12/1-not-imported": ["split"],
    "import-blocked-labels/1-labels-0-1-garbage": ["damaged"],
    "import-blocked-labels/2-all-labels-garbage": ["damaged"],
    "import-blocked-labels/3-other-pool-label": ["damaged"],
    "slow-disk/1-writing": ["unread"],
}


@pytest.mark.parametrize("name", STEPS)
def test_it_shows_what_each_genuine_step_holds(name):
    found = [f for f in findings(played_fleet(name)) if "not installed" not in f.sentence]  # labels that were not recorded
    assert [f.kind for f in found if f.kind != "foreign"] == SHOWN.get(name, [])
    facts = played(name)
    imported = known(facts.pools) and facts.pools
    assert not (imported and [f for f in found if f.kind == "foreign" and f.pool in {p.name for p in facts.pools}])


def test_the_diverged_disk_is_named_and_no_other():
    (found,) = outliers(
        played_fleet("import-blocked-diverged-disk/1-not-imported"), census(played_fleet("import-blocked-diverged-disk/1-not-imported"))
    )
    assert (found.kind, found.seen.wwid, found.txg, found.siblings) == ("split", "naa:5000c500a65b203b", 22, 5)
    for word in ("txg 222 by oss07", "5 others of its vdev (txg 22, by oss01)", "may follow it"):
        assert word in found.sentence


def test_top_level_vdevs_are_not_compared_with_each_other():
    """Of sixty disks 11 have a label of txg 32 and 48 one of txg 4: the vdev that lost a disk was written again."""
    facts = played_fleet("sixty-disks/2-one-removed")
    assert {s.label.txg for group in census(facts).by_vdev.values() for s in group} == {4, 32}
    assert outliers(facts, census(facts)) == ()


def at_rest(*disks):
    return fleet(replace(NODE, disks=disks, pools=()))


def of(txg, guid, name="sdq", **more):
    return disk(name, f"naa:5000c500a65b2{guid:02x}f", replace(label(f"{name}1", guid), txg=txg, **more))


def test_the_most_disks_are_right_and_the_later_half_of_two():
    assert [(o.kind, o.seen.label.guid) for o in judged(of(30, 1), of(30, 2), of(20, 3))] == [("behind", 3)]
    assert [(o.kind, o.seen.label.guid) for o in judged(of(20, 1), of(30, 2))] == [("behind", 1)]
    assert [(o.kind, o.seen.label.guid) for o in judged(of(20, 1), of(20, 2), of(30, 3))] == [("ahead", 3)]
    assert [(o.kind, o.seen.label.guid) for o in judged(of(20, 1), of(20, 2), of(30, 3, hostid=7))] == [("split", 3)]
    assert [(o.kind, o.seen.label.guid) for o in judged(of(20, 1), of(20, 2), of(20, 3, top="another"))] == [("split", 3)]


def judged(*disks):
    return outliers(at_rest(*disks), census(at_rest(*disks)))


def test_while_a_pool_is_imported_only_disks_out_of_service_are_judged():
    """Members are read one after the other; a running pool writes meanwhile."""
    fresher = tuple(replace(d, labels=tuple(replace(x, txg=4711) for x in d.labels)) if d.wwid == SDCW_WWID else d for d in DISKS)
    assert outliers(fleet(replace(NODE, disks=fresher)), census(fleet(replace(NODE, disks=fresher)))) == ()
    back = disk("sdq", BLANK_WWID, replace(label("sdq1", LOST), txg=3000))
    facts = fleet(replace(with_leaf(LOST_LEAF, *MEMBERS).nodes["oss01"], disks=(*DISKS[:4], back)))
    (found,) = outliers(facts, census(facts))
    assert (found.kind, found.leaf.state) == ("behind", "FAULTED")
    assert "has this member FAULTED" in found.sentence


def test_two_disks_that_claim_one_vdev_are_said():
    found = of_pool(findings(with_disk(BLANK_WWID, labels=(label("sdcx1", TWIN),))), POOL_GUID)
    assert kinds(found) == [("duplicate", "bad")]
    assert "sdcw" in found[0].sentence
    assert "sdcx" in found[0].sentence


def test_a_shared_shelf_is_counted_once_and_said_on_both_sides():
    facts = fleet(NODE, replace(OTHER, disks=DISKS, age_seconds=5.0))
    found = findings(facts)
    assert disks_of(census(facts), POOL_GUID) == 4
    assert [(f.kind, f.nodes) for f in of_pool(found, POOL_GUID)] == [("elsewhere", ("oss02",))]
    assert "They share a shelf" in of_node(found, "oss02", frozenset())[0].sentence
    assert POOL_GUID not in {f.pool_guid for f in of_node(found, "oss01", frozenset({POOL_GUID}))}


def test_a_member_that_only_another_node_sees_is_told_apart_from_a_shared_shelf():
    (found,) = of_node(findings(fleet(NODE, replace(OTHER, disks=(disk("sda", BLANK_WWID, label("sda1", LOST)),)))), "oss02", frozenset())
    assert "on disks that are not seen there: sda" in found.sentence


def test_former_members_and_strangers():
    found = findings(with_disk(BLANK_WWID, labels=(label("sdcx1", 31337),)))
    assert kinds(found) == [("former", "info"), ("foreign", "info")]
    assert "scratch9 of oss01 (exported)" in found[1].sentence


def test_a_spare_in_its_place_is_no_stranger():
    assert [f for f in findings(played_fleet("healthy-mixed")) if f.kind == "foreign"] == []


def test_it_says_which_labels_were_not_read():
    found = findings(with_disk(BLANK_WWID, labels=Unknown("zdb_label/sdcx: timeout.")))
    assert ("unread", "watch") in kinds(found)
    assert findings(FleetFacts({})) == ()
    assert kinds(findings(FLEET)) == [("foreign", "info")]

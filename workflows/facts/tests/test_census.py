"""What a disk is to a lost member: the cases A0 to A6, worst first, and what a census across nodes shows."""

from dataclasses import replace

import pytest

from workflows.facts import Unknown, known, lookup
from workflows.facts.fleet.census import candidate_case, census, imported_pools
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
    POOL,
    POOL_GUID,
    SDCW_WWID,
    SDFL,
    SDFL_WWID,
    TOP,
    TWIN,
    by_id,
    disk,
    fleet,
    label,
    leaf,
    with_disk,
    with_leaf,
    with_pool,
)

SPARE_LABEL = label("sdcx1", 66, None, None, 3)
OTHER_POOL = replace(POOL, name="ost_7", guid=777, tops=(("data", replace(TOP, guid=70, children=(leaf(5, "/dev/sdq1"),))),))
BY_NAME = leaf(99, f"{by_id(BLANK_WWID)}-part1", wwid=Unknown("No disk carries the label of 99."))


def marked(*labels):
    return with_disk(BLANK_WWID, labels=labels)


CASES = {
    "a blank disk": ("A0", FLEET, BLANK_WWID, "carries no label"),
    "the member itself, back": ("A1", marked(label("sdcx1", LOST)), BLANK_WWID, "`zpool online`"),
    "the twin of the devid": ("A2", FLEET, SDCW_WWID, f"already member {TWIN} of ost_0"),
    "the disk under the stale name": ("A2", FLEET, SDFL_WWID, f"already member {SDFL} of ost_0"),
    "a hot spare of this pool": (
        "A2",
        fleet(
            replace(
                NODE,
                pools=(replace(POOL, spares=(leaf(66, "/dev/sdcx1", "AVAIL", wwid=BLANK_WWID),)),),
                disks=marked(SPARE_LABEL).nodes["oss01"].disks,
            )
        ),
        BLANK_WWID,
        "already hot spare 66 of ost_0",
    ),
    "a former member": ("A3", marked(label("sdcx1", 31337)), BLANK_WWID, "a former member 31337"),
    "a member of a pool imported elsewhere": (
        "A4",
        fleet(replace(NODE, disks=marked(label("sdcx1", 5, 777, "ost_7")).nodes["oss01"].disks), replace(OTHER, pools=(OTHER_POOL,))),
        BLANK_WWID,
        "member 5 of ost_7, imported on oss02",
    ),
    "an exported pool": ("A5", FLEET, FOREIGN_WWID, "the pool scratch9 of oss01 (exported)"),
    "a spare of an unknown pool": ("A5", marked(SPARE_LABEL), BLANK_WWID, "(a hot spare)"),
    "a member by name whose label this path does not show": (
        "A6",
        with_leaf(LOST_LEAF, *MEMBERS, BY_NAME),
        BLANK_WWID,
        "the same disk as member 99 of ost_0",
    ),
    "two labels, one of a member": (
        "A2",
        marked(label("sdcx", 5, 1, "old", 1), label("sdcx1", TWIN)),
        BLANK_WWID,
        f"already member {TWIN}",
    ),
    "two labels, one of the lost member": ("A5", marked(label("sdcx1", LOST), label("sdcx", 5, 1, "old", 2)), BLANK_WWID, "(destroyed)"),
}


@pytest.mark.parametrize("name", CASES)
def test_it_tells_the_case(name):
    code, facts, wwid, expected = CASES[name]
    case = candidate_case(facts, "oss01", POOL_GUID, LOST, wwid)
    assert (case.code, expected in case.sentence) == (code, True), case


@pytest.mark.parametrize(
    "facts",
    [
        with_disk(BLANK_WWID, labels=Unknown("zdb_label/sdcx: timeout.")),
        fleet(replace(NODE, disks=Unknown("block was not collected."))),
        fleet(replace(NODE, pools=Unknown("zpool_status: timeout."))),
        with_pool(tops=Unknown("cannot be read")),
        with_leaf(replace(LOST_LEAF, guid=Unknown("the two runs differ"))),
    ],
)
def test_it_does_not_know_the_case_when_something_is_missing(facts):
    assert not known(candidate_case(facts, "oss01", POOL_GUID, LOST, BLANK_WWID))


def test_a_lost_members_name_makes_nobody_its_owner():
    """/dev/sdcx1 of a REMOVED leaf may be the new disk's name by now."""
    facts = with_leaf(LOST_LEAF, *MEMBERS, leaf(99, "/dev/sdcx1", "REMOVED"))
    assert lookup.owner_of_disk(facts, BLANK_WWID) == ()


def test_it_counts_a_disk_seen_by_two_nodes_once():
    seen = census(fleet(NODE, replace(OTHER, disks=DISKS)))
    assert len(seen.carriers(POOL_GUID, TWIN)) == 2
    assert seen.duplicates() == ()


def test_it_finds_two_disks_that_claim_one_vdev():
    seen = census(with_disk(BLANK_WWID, labels=(label("sdcx1", TWIN),)))
    assert [{s.disk for s in twins} for twins in seen.duplicates()] == [{"sdcw", "sdcx"}]


def test_it_finds_foreign_labels_and_unread_disks():
    seen = census(with_disk(BLANK_WWID, labels=Unknown("zdb_label/sdcx: timeout.")))
    assert [s.label.pool_name for s in seen.foreign(imported_pools(FLEET))] == ["scratch9"]
    assert [(node, why) for node, _, why in seen.unread] == [("oss01", "zdb_label/sdcx: timeout.")]
    assert seen.newest_txg(POOL_GUID) == 4000


def test_a_vdev_is_looked_up_by_its_guid():
    assert lookup.lineage(FLEET, "oss01", POOL_GUID, TWIN)[0] == TOP
    assert lookup.vdev(FLEET, "oss01", POOL_GUID, 1) is None
    assert not known(lookup.vdev(FLEET, "oss09", POOL_GUID, 1))


def test_a_name_is_looked_up_by_kernel_name_and_by_link():
    assert lookup.at_path(NODE, "/dev/sdfl1").wwid == SDFL_WWID
    assert lookup.at_path(NODE, f"{by_id(SDFL_WWID)}-part1").wwid == SDFL_WWID
    assert lookup.at_path(NODE, "/dev/sdzz1") is None


def test_two_paths_to_one_disk_are_one_disk():
    two = disk("sdcx", BLANK_WWID)
    two = replace(two, paths=(*two.paths, replace(two.paths[0], name="sdea")))
    facts = fleet(replace(NODE, disks=(two,)))
    assert lookup.disk(facts, "oss01", BLANK_WWID).names == ("sdcx", "sdea")
    assert candidate_case(facts, "oss01", POOL_GUID, LOST, BLANK_WWID).sentence.startswith("sdcx and sdea (naa:")

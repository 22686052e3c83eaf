"""Where a guard turns: the last value that passes, the first that does not, and what is refused apart from what is not known.

Written against `./run bench mutants`: each test here is the only one that notices some small mistake in a guard.
"""

from dataclasses import replace

import pytest

from workflows.facts import Unknown
from workflows.facts.fleet.identity import weigh
from workflows.facts.read.fabric import FabricFacts, PhyFacts
from workflows.guards import GUARDS, fresh
from workflows.tests.incident import (
    BLANK_WWID,
    DISKS,
    FLEET,
    FOREIGN_WWID,
    LOST_LEAF,
    MEMBERS,
    NODE,
    OTHER,
    PARAMS,
    SMALL_WWID,
    TEN_TB,
    WELL,
    disk,
    fleet,
    label,
    with_disk,
    with_leaf,
)

BLANK = next(d for d in DISKS if d.wwid == BLANK_WWID)
SILENT = Unknown("nobody said.")


def neighbour(*disks, **more):
    """Another node that sees these disks, reported just now, and has no pool imported."""
    return replace(OTHER, **{"disks": disks, "age_seconds": 5.0, **more})


def answer(guard, facts, **params):
    found = GUARDS[guard](facts, {**PARAMS, **params})
    return found.outcome, found.reason


def path(**changes):
    return replace(BLANK.paths[0], **changes)


def slow(*gbit):
    return replace(WELL, links=tuple(replace(WELL.links[0], phy=i, gbit=each) for i, each in enumerate(gbit)))


def phy(wwid, gbit):
    return PhyFacts("phy-6:0:12", "expander-6:0", "port-6:0:12", 1, "end_device-6:0:12", wwid, "", SILENT, f"{gbit} Gbit", gbit, SILENT)


SEEN = disk("sdq", BLANK_WWID, slot=70)
SHARED = neighbour(SEEN)
SIBLINGS = tuple(replace(d, size_bytes=TEN_TB + i * 512) if d.labels else d for i, d in enumerate(DISKS))
EDGES = {
    "a state nobody knows": ("the-disk-is-seen-and-running", with_disk(BLANK_WWID, paths=(path(state=SILENT),)), "unknown", "is not known"),
    "no device at all": ("the-disk-is-seen-and-running", with_disk(BLANK_WWID, paths=()), "unknown", "has no device"),
    "one path of two with the link": (
        "the-disk-answers-to-its-wwid",
        with_disk(BLANK_WWID, paths=(path(name="sdzz", by_id=()), path())),
        "pass",
        "leads to",
    ),
    "nobody who says who it is": (
        "nothing-contradicts-who-the-disk-is",
        with_disk(BLANK_WWID, identity=weigh(())),
        "unknown",
        "is not known",
    ),
    "pools nobody could read": (
        "nothing-contradicts-who-the-disk-is",
        fleet(replace(NODE, pools=SILENT)),
        "unknown",
        "The pools of oss01 are not known",
    ),
    "a serial number that another node cannot read": (
        "nothing-contradicts-who-the-disk-is",
        fleet(NODE, neighbour(replace(SEEN, serial=SILENT))),
        "unknown",
        "oss02 sees sdcx",
    ),
    "a neighbour that sees it and leaves it alone": ("no-other-node-uses-the-disk", fleet(NODE, SHARED), "pass", "oss02 sees sdcx"),
    "nobody else": ("no-other-node-uses-the-disk", FLEET, "pass", "No other node sees"),
    "the second of two neighbours": (
        "no-other-node-uses-the-disk",
        fleet(NODE, SHARED, neighbour(replace(SEEN, in_use=("swap",)), node="oss03")),
        "refuse",
        "oss03 uses",
    ),
    "a neighbour that is silent": (
        "no-other-node-uses-the-disk",
        fleet(NODE, neighbour(SEEN, age_seconds=3600.0)),
        "unknown",
        "Check its agent.",
    ),
    "a neighbour that does not know whether it uses it": (
        "no-other-node-uses-the-disk",
        fleet(NODE, neighbour(replace(SEEN, in_use=SILENT))),
        "unknown",
        "whether it uses the disk is not known",
    ),
    "a neighbour that does not know its pools": (
        "no-other-node-uses-the-disk",
        fleet(NODE, neighbour(SEEN, pools=SILENT)),
        "unknown",
        "whether it uses the disk is not known",
    ),
    "a neighbour that cannot read its labels": (
        "no-other-node-uses-the-disk",
        fleet(NODE, neighbour(replace(SEEN, labels=SILENT))),
        "unknown",
        "the labels it reads there are not known",
    ),
    "partitions of a label": (
        "the-disk-has-no-partitions",
        with_disk(BLANK_WWID, paths=(path(partitions=("sdcx1",)),), labels=(label("sdcx1", 5),)),
        "refuse",
        "go with its label",
    ),
    "partitions, and labels nobody could read": (
        "the-disk-has-no-partitions",
        with_disk(BLANK_WWID, paths=(path(partitions=("sdcx1",)),), labels=SILENT),
        "refuse",
        "Find out whose they are",
    ),
    "partitions without a label": (
        "the-disk-has-no-partitions",
        with_disk(BLANK_WWID, paths=(path(partitions=("sdcx1",)),)),
        "refuse",
        "Find out whose they are",
    ),
    "siblings of no known size": (
        "the-disk-is-large-enough",
        with_leaf(LOST_LEAF, *(replace(m, wwid=SILENT) for m in MEMBERS)),
        "unknown",
        "The size of no other disk",
    ),
    "as large as the smallest sibling": ("the-disk-is-large-enough", fleet(replace(NODE, disks=SIBLINGS)), "pass", "are needed"),
    "a lost member that was smaller": (
        "the-disk-is-large-enough",
        with_leaf(replace(LOST_LEAF, wwid=SMALL_WWID)),
        "pass",
        f"{TEN_TB} are needed",
    ),
    "blocks just as large": ("the-disk-block-size-fits", with_disk(BLANK_WWID, logical_block_bytes=4096), "pass", "4096 bytes"),
    "a bay on good evidence": ("the-disk-sits-in-a-known-bay", with_disk(BLANK_WWID, bay=replace(BLANK.bay, evidence=4)), "pass", "bay 70"),
    "a bay on an old inventory": (
        "the-disk-sits-in-a-known-bay",
        with_disk(BLANK_WWID, bay=replace(BLANK.bay, evidence=5)),
        "unknown",
        "only guessed",
    ),
    "a bay in dispute": (
        "the-disk-sits-in-a-known-bay",
        with_disk(BLANK_WWID, bay=replace(BLANK.bay, conflict="SES says 71")),
        "unknown",
        "is in dispute: SES says 71",
    ),
    "pending defects by the attribute alone": (
        "the-disk-is-healthy",
        with_disk(BLANK_WWID, condition=replace(WELL, pending_defects=0, attributes=(("pending", 8),))),
        "refuse",
        "8 places",
    ),
    "a self-test that went well": ("the-disk-is-healthy", FLEET, "pass", "its last self-test says: Completed"),
    "no self-test ever": (
        "the-disk-is-healthy",
        with_disk(BLANK_WWID, condition=replace(WELL, self_tests=())),
        "pass",
        "no self-test was ever run",
    ),
    "an NVMe disk that has no self-test": (
        "the-disk-is-healthy",
        with_disk(BLANK_WWID, condition=replace(WELL, self_tests=SILENT, has_no_self_test=True)),
        "pass",
        "it has no self-test",
    ),
    "an NVMe disk without a self-test that counts errors": (
        "the-disk-is-healthy",
        with_disk(BLANK_WWID, condition=replace(WELL, self_tests=SILENT, has_no_self_test=True, media_errors=1)),
        "refuse",
        "could not correct",
    ),
    "an NVMe disk whose log this smartctl does not read": (
        "the-disk-is-healthy",
        with_disk(BLANK_WWID, condition=replace(WELL, self_tests=SILENT), paths=(path(name="nvme0n1"),)),
        "unknown",
        "since 7.4",
    ),
    "a disk without a SAS link": (
        "the-disk-link-is-as-fast-as-others",
        with_disk(BLANK_WWID, paths=(path(sas_address=None),), condition=SILENT),
        "pass",
        "is no SAS disk",
    ),
    "a second path without an address": (
        "the-disk-link-is-as-fast-as-others",
        with_disk(BLANK_WWID, paths=(path(), path(name="sdzz", sas_address=None)), condition=slow(6.0)),
        "refuse",
        "at 6 Gbit/s",
    ),
    "a slow link among slow ones": (
        "the-disk-link-is-as-fast-as-others",
        fleet(
            replace(NODE, disks=tuple(replace(d, condition=slow(6.0)) if d.wwid == BLANK_WWID else replace(d, model="X") for d in DISKS))
        ),
        "pass",
        "6 Gbit/s",
    ),
    "one slow link of two": (
        "the-disk-link-is-as-fast-as-others",
        with_disk(BLANK_WWID, condition=slow(12.0, 6.0)),
        "refuse",
        "at 6 Gbit/s",
    ),
    "a second link that is down": (
        "the-disk-link-is-as-fast-as-others",
        with_disk(BLANK_WWID, condition=slow(12.0, None)),
        "pass",
        "12 Gbit/s",
    ),
    "a link that is slow on our side only": (
        "the-disk-link-is-as-fast-as-others",
        fleet(replace(NODE, fabric=FabricFacts((phy(BLANK_WWID, 3.0),), {}, {}))),
        "refuse",
        "at 3 Gbit/s",
    ),
    "a slow phy of another disk": (
        "the-disk-link-is-as-fast-as-others",
        fleet(replace(NODE, fabric=FabricFacts((phy(FOREIGN_WWID, 3.0),), {}, {}))),
        "pass",
        "12 Gbit/s",
    ),
    "a phy that leads to nobody": (
        "the-disk-link-is-as-fast-as-others",
        fleet(replace(NODE, fabric=FabricFacts((phy(None, 3.0), phy(BLANK_WWID, 12.0)), {}, {}))),
        "pass",
        "12 Gbit/s",
    ),
    "a report of this moment": ("facts-are-fresh", fleet(replace(NODE, age_seconds=0.0)), "pass", "0 s ago"),
    "a report of half a second ago": ("facts-are-fresh", fleet(replace(NODE, age_seconds=0.5)), "pass", "reported"),
    "sources of this moment": ("facts-are-fresh", fleet(replace(NODE, ages=dict.fromkeys(NODE.ages, 0.0))), "pass", "0 s ago"),
    "a report of a minute ago": ("facts-are-fresh", fleet(replace(NODE, age_seconds=60.0)), "pass", "60 s ago"),
}


@pytest.mark.parametrize("name", EDGES)
def test_it_turns_exactly_here(name):
    guard, facts, outcome, expected = EDGES[name]
    found, reason = answer(guard, facts)
    assert (found, expected in reason) == (outcome, True), reason


@pytest.mark.parametrize("name", ["pool_guid", "vdev_guid"])
def test_what_the_run_does_not_say_is_not_known(name):
    assert answer("the-disk-carries-no-label", FLEET, **{name: "x"})[0] == "unknown"
    assert answer("the-disk-carries-no-label", FLEET, wwid=FOREIGN_WWID)[0] == "refuse"


def test_the_guards_rest_on_these_sources():
    """One less, and a fact as old as the hills would count."""
    assert set(fresh.SOURCES) == {"zpool_status", "zpool_status_guid", "zdb_label", "block", "disk_links", "mounts", "enclosure", "node"}
    assert set(fresh.OF_OTHERS) == {"zpool_status", "zdb_label", "block", "mounts"}

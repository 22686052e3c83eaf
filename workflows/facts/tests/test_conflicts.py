"""Disks that cannot be told apart; and everything that only looks like it."""

from dataclasses import replace

import pytest

from agents.tests.scenarios import STEPS
from workflows.facts import FleetFacts, PathFacts, Remembered
from workflows.facts.fleet.conflicts import conflicts
from workflows.facts.fleet.identity import Statement
from workflows.facts.tests.played import fleet as played_fleet
from workflows.tests.incident import BLANK_WWID, DISKS, NODE, OTHER, SDCW_WWID, SPARE_WWID, disk, fleet, identity, leaf, with_leaf

SERIAL = "ZA000070"


def bay(value):
    return Statement("bay", value, "enclosure", f"the slot {value}", "kernel")


def here(*disks, **more):
    return replace(NODE, disks=disks, pools=(), **more)


def kinds(*nodes, **more):
    return [(c.kind, c.grave, c.sure) for c in conflicts(FleetFacts({n.node: n for n in nodes}, **more))]


@pytest.mark.parametrize("name", STEPS)
def test_no_genuine_node_has_a_conflict(name):
    assert conflicts(played_fleet(name)) == ()


def test_two_nodes_of_one_shelf_see_one_disk():
    assert conflicts(fleet(NODE, replace(OTHER, disks=DISKS, age_seconds=5.0))) == ()


def test_one_wwid_in_two_bays_is_two_disks_under_one_name():
    twice = disk("sdq", BLANK_WWID, identity=identity("sdq", BLANK_WWID, SERIAL, bay("0x5/3"), bay("0x5/9")))
    (found,) = conflicts(fleet(here(twice)))
    assert (found.kind, found.grave) == ("one-wwid", True)
    assert "bay 3 of 0x5 and bay 9 of 0x5" in found.sentence


def test_two_expanders_that_name_one_slot_are_no_conflict():
    assert kinds(here(disk("sdq", BLANK_WWID, identity=identity("sdq", BLANK_WWID, SERIAL, bay("0x5/3"), bay("0x6/3"))))) == []


def test_one_wwid_with_two_serial_numbers_on_two_nodes():
    other = replace(OTHER, disks=(disk("sda", BLANK_WWID, slot=71),), age_seconds=5.0)
    assert kinds(here(disk("sdq", BLANK_WWID, slot=70)), other) == [("one-wwid", True, True)]


def test_one_wwid_in_bays_of_two_nodes_may_have_been_moved():
    moved = replace(disk("sda", BLANK_WWID, slot=70), bay=replace(DISKS[0].bay, slot=9, enclosure_id="0x77"))
    node = here(disk("sdq", BLANK_WWID, slot=70))
    assert kinds(node, replace(OTHER, disks=(moved,), age_seconds=5.0)) == [("one-wwid", False, False)]
    assert kinds(node, replace(OTHER, disks=(moved,), age_seconds=3600.0)) == []


def test_a_wwid_that_came_back_with_another_serial_number():
    memory = {BLANK_WWID: Remembered((("ZX111111", "oss01, until yesterday"),))}
    assert kinds(here(disk("sdq", BLANK_WWID, slot=70)), remembered=memory) == [("one-wwid", False, False)]
    assert kinds(here(disk("sdq", BLANK_WWID, slot=70)), remembered={BLANK_WWID: Remembered(((SERIAL, "oss02"),))}) == []


TWO = (disk("sdq", BLANK_WWID, slot=70, serial=SERIAL), disk("sdr", SPARE_WWID, slot=71, serial=SERIAL))


def test_one_serial_number_on_two_disks():
    apart = (TWO[0], replace(TWO[1], paths=(replace(TWO[1].paths[0], hctl="6:0:177:0"),)))
    (found,) = conflicts(fleet(here(*apart)))
    assert (found.kind, found.subject, found.grave) == ("one-serial", SERIAL, False)
    assert "sdq" in found.sentence
    assert "sdr" in found.sentence


def test_two_halves_of_one_drive_share_its_serial_number():
    """A drive with two actuators shows two logical units on one SCSI target, an NVMe drive several namespaces."""
    halves = (TWO[0], replace(TWO[1], paths=(replace(TWO[1].paths[0], hctl="6:0:176:1"),)))
    assert kinds(here(*halves)) == []
    nvme = [
        replace(d, bay=replace(d.bay, slot=n), paths=(PathFacts(f"nvme0n{n}", None, "live", None, (), (), ()),))
        for n, d in enumerate(TWO, 1)
    ]
    assert kinds(here(*nvme)) == []


@pytest.mark.parametrize("serial", ["0", "00000000", "n/a"])
def test_a_serial_number_that_tells_nothing_is_no_conflict(serial):
    assert kinds(here(*(replace(d, serial=serial) for d in TWO))) == []


def test_sources_at_odds():
    doubted = identity("sdq", BLANK_WWID, SERIAL, Statement("wwid", SDCW_WWID, "smart/sdq", "smartctl (sdq)", "disk"))
    assert kinds(here(disk("sdq", BLANK_WWID, identity=doubted))) == [("sources", False, True)]


def test_a_member_opened_under_the_name_of_a_disk_with_another_label():
    open_as = leaf(4711, "/dev/sdcw1", "ONLINE")
    (found,) = conflicts(with_leaf(open_as))
    assert (found.kind, found.sure) == ("pool", False)
    assert "4711" in found.sentence

"""Disks that no light leads to: what the guards at the rack answer where a run names no bay."""

from __future__ import annotations

from dataclasses import replace

import pytest

from workflows.facts import BayFacts, FleetFacts, Unknown, lookup
from workflows.facts.lookup import NO_BAY, bay_to_light
from workflows.guards import bay, spare
from workflows.guards.answers import the_disk_that_comes_out
from workflows.guards.candidate import the_disk_sits_in_a_known_bay
from workflows.tests.incident import BLANK_WWID, DISKS, FLEET, NODE, PARAMS, fleet, with_disk

OLD = next(disk for disk in DISKS if disk.wwid == BLANK_WWID)
UNLIT = {
    **PARAMS,
    "enclosure": NO_BAY,
    "slot": NO_BAY,
    "old_wwid": OLD.wwid,
    "old_serial": OLD.serial,
    "spare_serial": "ZA0NEW01",
    "wwid": "",
}
GONE = fleet(replace(NODE, disks=tuple(disk for disk in DISKS if disk.wwid != OLD.wwid)))
NEW = replace(OLD, wwid="naa:5000c500a65bffff", serial="ZA0NEW01")
SWAPPED = fleet(replace(NODE, disks=(*(disk for disk in DISKS if disk.wwid != OLD.wwid), NEW)))
UNREAD = fleet(replace(NODE, disks=Unknown("sysfs was not read")))


@pytest.mark.parametrize(
    ("guard", "facts", "outcome"),
    [
        (bay.the_bay_is_empty, FLEET, "refuse"),
        (bay.the_bay_is_empty, GONE, "pass"),
        (bay.the_bay_is_empty, UNREAD, "unknown"),
        (bay.the_old_disk_is_in_its_bay, FLEET, "pass"),
        (bay.the_old_disk_is_in_its_bay, GONE, "refuse"),
        (bay.the_planned_disk_is_in_the_bay, GONE, "refuse"),
        (bay.the_planned_disk_is_in_the_bay, SWAPPED, "pass"),
        (bay.the_planned_disk_is_in_the_bay, UNREAD, "unknown"),
        (bay.the_bay_is_lit, FLEET, "refuse"),
        (bay.the_bay_is_dark, FLEET, "pass"),
        (bay.the_bay_can_be_lit_and_is_dark, FLEET, "refuse"),
        (bay.the_fault_light_is_on, FLEET, "refuse"),
        (bay.the_disk_is_found_by_its_serial_number, FLEET, "pass"),
        (bay.the_disk_sits_in_the_bay_meant, FLEET, "pass"),
        (bay.the_bay_is_empty, FleetFacts({}), "unknown"),
        (bay.the_bay_is_dark, FleetFacts({}), "unknown"),
    ],
)
def test_without_a_bay_the_node_itself_says_which_disk_is_there(guard, facts, outcome):
    assert guard(facts, UNLIT).outcome == outcome


def test_a_run_that_does_not_say_which_disk_goes_is_not_over():
    assert bay.the_bay_is_empty(GONE, {**UNLIT, "old_wwid": ""}).outcome == "unknown"


def test_two_disks_with_the_planned_serial_number_are_not_one():
    twice = fleet(replace(NODE, disks=(*DISKS, NEW, replace(NEW, wwid="naa:5000c500a65bfffe"))))
    assert bay.the_planned_disk_is_in_the_bay(twice, UNLIT).outcome == "unknown"


def test_the_disk_that_comes_out_is_scanned_in_its_place():
    assert the_disk_that_comes_out(FLEET, UNLIT, OLD.serial)[0].outcome == "pass"
    (wrong,) = the_disk_that_comes_out(FLEET, UNLIT, "ZZ999999")
    assert wrong.outcome == "refuse"
    assert "Pull nothing" in wrong.reason


def test_the_new_disk_is_known_by_what_was_scanned():
    assert spare.the_new_disk_sits_where_the_old_one_was(SWAPPED, {**UNLIT, "wwid": NEW.wwid}).outcome == "pass"
    assert spare.the_new_disk_sits_where_the_old_one_was(FLEET, {**UNLIT, "wwid": OLD.wwid}).outcome == "refuse"


def test_another_name_of_its_place_is_a_hint_that_is_not_read_back():
    named = replace(OLD.paths[0], other_names=("/dev/disk/by-vdev/A3", "/dev/disk/by-vdev/A3-part1"))
    reason = bay.the_disk_sits_in_the_bay_meant(with_disk(OLD.wwid, paths=(named,)), UNLIT).reason
    assert "/dev/disk/by-vdev/A3" in reason
    assert "A3-part1" not in reason
    assert "not read back" in reason


def test_a_light_leads_to_a_disk_only_where_a_source_names_its_bay_and_shows_the_light():
    place = OLD.bay
    assert isinstance(place, BayFacts)
    assert bay_to_light(OLD) == {"enclosure": place.enclosure_id, "slot": str(place.slot)}
    for unlit in (
        Unknown("no enclosure"),
        replace(place, locate=Unknown("no light")),
        replace(place, evidence=lookup.BAY_EVIDENCE_TO_LIGHT + 1),
    ):
        assert bay_to_light(replace(OLD, bay=unlit)) == {"enclosure": NO_BAY, "slot": NO_BAY}


def test_a_bay_in_dispute_is_named_so_that_the_run_refuses_it():
    place = replace(OLD.bay, conflict="two sources differ", locate=Unknown("no light"))
    assert bay_to_light(replace(OLD, bay=place))["slot"] == str(place.slot)
    assert the_disk_sits_in_a_known_bay(with_disk(OLD.wwid, bay=place), {**UNLIT, "wwid": OLD.wwid}).outcome == "unknown"

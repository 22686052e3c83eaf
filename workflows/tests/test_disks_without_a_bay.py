"""Disks that no enclosure reports, and disks whose identity another could have: what the portal asks before one is chosen."""

from __future__ import annotations

from dataclasses import replace

import pytest

from workflows.facts import FleetFacts, Unknown
from workflows.guards import candidate
from workflows.guards.answers import the_chosen_disk
from workflows.tests.incident import BLANK_WWID, DISKS, FLEET, NODE, PARAMS, fleet, with_disk

BLANK = next(disk for disk in DISKS if disk.wwid == BLANK_WWID)
NO_BAY = with_disk(BLANK_WWID, bay=Unknown("no enclosure names this disk"))
CHOSEN = {**PARAMS, "wwid": BLANK_WWID}
SCANNED = {**CHOSEN, "scanned_serial": BLANK.serial}


def outcome(guard, facts: FleetFacts, params=CHOSEN) -> str:
    return guard(facts, params).outcome


def test_a_disk_without_a_bay_can_be_chosen_and_must_be_scanned():
    assert outcome(candidate.the_disk_can_be_found_at_the_rack, NO_BAY) == "pass"
    assert outcome(candidate.the_bay_of_the_disk_is_not_known, NO_BAY) == "pass", "so the step is needed"
    assert outcome(candidate.the_disk_sits_in_a_known_bay, NO_BAY) == "unknown"
    assert outcome(candidate.the_disk_sits_in_a_known_bay, NO_BAY, SCANNED) == "pass"


def test_a_disk_in_a_known_bay_is_not_scanned():
    assert outcome(candidate.the_bay_of_the_disk_is_not_known, FLEET) == "refuse"
    assert outcome(candidate.the_disk_can_be_found_at_the_rack, FLEET) == "pass"


def test_a_scan_does_not_settle_a_bay_in_dispute():
    disputed = with_disk(BLANK_WWID, bay=replace(BLANK.bay, conflict="two sources differ"))
    assert outcome(candidate.the_disk_sits_in_a_known_bay, disputed, SCANNED) == "unknown"
    assert outcome(candidate.the_disk_can_be_found_at_the_rack, disputed) == "unknown"


def test_a_disk_with_neither_bay_nor_serial_number_cannot_be_chosen():
    neither = with_disk(BLANK_WWID, bay=Unknown("no enclosure names this disk"), serial=Unknown("The device gives none."))
    assert outcome(candidate.the_disk_can_be_found_at_the_rack, neither) == "unknown"
    assert outcome(candidate.the_disk_sits_in_a_known_bay, neither, SCANNED) == "unknown"


@pytest.mark.parametrize(
    ("answer", "wanted", "reason"),
    [
        (BLANK.serial, "pass", "is the disk that was chosen"),
        (f"S/N: {BLANK.serial}", "pass", "is the disk that was chosen"),
        ("ZZ999999", "refuse", "is not the disk that was chosen"),
    ],
)
def test_the_scan_must_name_the_disk_that_was_chosen(answer, wanted, reason):
    (verdict,) = the_chosen_disk(NO_BAY, CHOSEN, answer)
    assert verdict.outcome == wanted
    assert reason in verdict.reason


def test_a_serial_number_that_two_disks_have_settles_nothing():
    other = replace(BLANK, wwid="naa:5000c500a65bffff")
    (verdict,) = the_chosen_disk(fleet(replace(NODE, disks=(*DISKS, other))), CHOSEN, BLANK.serial)
    assert verdict.outcome == "refuse"
    assert "alike" in verdict.reason


@pytest.mark.parametrize("disks", [Unknown("sysfs was not read"), ()])
def test_a_scan_of_a_disk_that_is_not_seen_settles_nothing(disks):
    (verdict,) = the_chosen_disk(fleet(replace(NODE, disks=disks)), CHOSEN, BLANK.serial)
    assert verdict.outcome == "unknown"


def test_a_disk_whose_identity_another_could_have_is_named_in_no_command():
    doubted = with_disk(BLANK_WWID, doubt="sda and sdb report one identity. Take one out")
    verdict = candidate.the_disk_answers_to_its_wwid(doubted, CHOSEN)
    assert verdict.outcome == "refuse"
    assert "Take one out." in verdict.reason

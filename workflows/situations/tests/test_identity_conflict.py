"""identity-conflict: silent on every genuine step, loud where a wrong disk could be pulled."""

from dataclasses import replace

import pytest

from agents.tests.scenarios import STEPS
from workflows.facts.fleet.identity import Statement
from workflows.facts.tests.played import fleet as played_fleet
from workflows.situations import identity_conflict
from workflows.tests.incident import BLANK_WWID, NODE, disk, fleet, identity


@pytest.mark.parametrize("name", STEPS)
def test_no_genuine_step_shows_one(name):
    assert identity_conflict.detect(played_fleet(name)) == ()


def bay(value):
    return Statement("bay", value, "block", f"the slot {value}", "kernel")


def test_one_wwid_in_two_bays_is_acted_upon():
    twice = disk("sdq", BLANK_WWID, identity=identity("sdq", BLANK_WWID, "ZA000070", bay("0x5/3"), bay("0x5/9")))
    (found,) = identity_conflict.detect(fleet(replace(NODE, disks=(twice,), pools=())))
    assert (found.severity, found.key) == ("act", f"identity-conflict:one-wwid:{BLANK_WWID}")
    assert {e.line for e in found.evidence} >= {"the slot 0x5/3: bay 0x5/3", "the slot 0x5/9: bay 0x5/9"}
    assert all(e.digest for e in found.evidence)


def test_sources_at_odds_are_watched():
    doubted = identity("sdq", BLANK_WWID, "ZA000070", Statement("wwid", "naa:5000c500a65b2fff", "smart/sdq", "smartctl (sdq)", "disk"))
    (found,) = identity_conflict.detect(fleet(replace(NODE, disks=(disk("sdq", BLANK_WWID, identity=doubted),), pools=())))
    assert (found.severity, found.subject["wwid"]) == ("watch", BLANK_WWID)
    assert "Guards refuse sdq" in found.meaning

"""Damaged data: what is said of it in the genuine cases, with and without the list; and errors that were mended."""

from dataclasses import replace

import pytest

from agents.collectors.base import Capture
from agents.tests.scenarios import step
from workflows.facts import FleetFacts, node_facts
from workflows.facts.read.data_errors import data_errors
from workflows.facts.tests.played import captures, fleet
from workflows.situations import data_errors as situation
from workflows.situations import detect_all, disk_errors

FILES, DELETED = "permanent-errors-files/1-files", "permanent-errors-files/2-deleted"
ONE = "scrub-states/08-permanent-errors"


def listed(name: str) -> FleetFacts:
    """With the text of `zpool status -v`, as an operator pastes it."""
    text = (step(name) / "zpool-status-v.txt").read_text()
    return FleetFacts({"oss01": node_facts("oss01", {"zpool_status": Capture("zpool_status", "", "data", text)}, 1.0, ())})


def not_listed(name: str) -> FleetFacts:
    """As an agent reports it whose `zpool status -v` does not answer."""
    taken = {where: capture for where, capture in captures(name).items() if not where.startswith("zpool_status_errors")}
    return FleetFacts({"oss01": node_facts("oss01", taken, 1.0, ())})


def only(facts):
    (found,) = situation.detect(facts)
    return found


@pytest.mark.parametrize(("name", "count"), [(FILES, 1), (DELETED, 1), (ONE, 133), ("scrub-states/09-files-deleted", 133)])
def test_without_the_list_it_says_how_to_get_it(name, count):
    found = only(not_listed(name))
    assert found.severity == "act"
    assert str(count) in found.title
    assert "zpool status -v" in found.meaning
    assert "Replacing a disk does not bring this data back." in found.meaning
    assert found.evidence[0].line.startswith(f"errors: {count} data errors")


def test_an_agent_names_the_files_too():
    found = only(fleet(FILES))
    assert "Damaged: /mnt/oss/with space." in found.meaning
    assert "1 place" in found.title
    (entry,) = [one for one in found.evidence if one.line == "/mnt/oss/with space"]
    assert (entry.source, bool(entry.digest)) == ("zpool_status_errors/ost_15", True), "the capture that has this line"


def test_the_files_are_named():
    found = only(listed(FILES))
    assert "Damaged: /mnt/oss/with space." in found.meaning
    assert "/mnt/oss/with space" in [e.line for e in found.evidence]


def test_the_same_errors_on_both_sides_of_a_mirror_accuse_no_disk():
    meaning = only(fleet(FILES)).meaning
    assert "2 members counted errors" in meaning
    assert "suspect memory, HBA and cables before any disk" in meaning


def test_a_disk_without_a_copy_beside_it_says_so():
    assert "It has no copy beside it." in only(fleet(ONE)).meaning


def test_what_is_left_of_removed_files_is_only_watched():
    found = only(listed(DELETED))
    assert (found.severity, "ost_15/ost0:<0x2>" in found.meaning) == ("watch", True)
    assert "Nothing is left to restore" in found.meaning


def test_damage_to_what_finds_the_files_is_urgent():
    """The list of the one-disk pool begins with object 0 of its root dataset."""
    found = only(listed(ONE))
    assert found.severity == "act"
    assert "one:<0x0> is no file" in found.meaning


def test_with_members_away_those_come_first():
    pool = replace(fleet("disk-removed/2-removed").nodes["oss01"].pools[0], errors="7 data errors, use '-v' for a list")
    node = replace(fleet("disk-removed/2-removed").nodes["oss01"], pools=(pool,))
    found = only(FleetFacts({"oss01": node}))
    assert (found.severity, found.sure) == ("watch", False)
    assert "Bring that back first" in found.meaning


@pytest.mark.parametrize("errors", ["No known data errors", "", "List of errors unavailable: permission denied", "1.2K data errors"])
def test_what_tells_of_no_damage_is_none(errors):
    assert data_errors(replace(fleet(FILES).nodes["oss01"].pools[0], errors=errors)) is None


def test_errors_that_were_mended_are_watched():
    (found,) = disk_errors.detect(fleet("scrub-states/06-scrub-repaired"))
    assert (found.severity, found.subject["wwid"]) == ("watch", "naa:5000c500a65b201b")
    assert "562 checksum errors" in found.title
    assert "zpool clear" in found.meaning


def test_the_counters_of_damaged_data_are_explained_by_it():
    found = detect_all(fleet(FILES))
    assert [(s.slug, bool(s.cause)) for s in found] == [("data-errors", False), ("disk-errors", True), ("disk-errors", True)]

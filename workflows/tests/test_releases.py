"""docs/releases.md is what the table gives, and a change of the table shows in it."""

from dataclasses import replace

import pytest

from agents.operations import OPERATIONS, zpool_import_dry_run, zpool_import_readonly, zpool_import_txg, zpool_import_writable
from agents.zfs_releases import READ, TABLE, ruling, words
from workflows import releases
from workflows.facts import FleetFacts, Unknown
from workflows.guards.releases import released, tellings
from workflows.tests.cast import NODE
from workflows.tests.test_import_wait import GUID, timeline, uberblock


def test_the_page_is_what_the_table_gives():
    assert releases.PAGE.read_text(encoding="utf-8") == releases.page(), "write it anew: python -m workflows.releases"


def test_every_release_that_was_read_stands_in_one_column():
    columns = [release for column in releases._columns() for release in column]
    assert columns == [(*series, patch) for series, (low, high) in READ.items() for patch in range(low, high + 1)]


def test_every_operation_has_a_row_and_the_runbooks_that_give_it():
    rows = [line.split(" | ") for line in releases.page().splitlines() if line.startswith("| ")]
    found = {row[0].removeprefix("| "): row for row in rows}
    assert set(TABLE) <= set(found)
    assert set(TABLE) == {name for name, one in OPERATIONS.items() if one.EFFECT != "pure"}
    assert "blink-and-replace" in found["zpool_replace"][1]


def test_a_cell_is_what_the_ruling_says():
    for operation in TABLE:
        for column in releases._columns():
            for release in column:
                said = ruling(operation, words(release), words(release), {"multihost": False, "checked": False})
                assert (said.outcome == "pass") == releases._cell(operation, column[0]).startswith("ordered"), (operation, release)


@pytest.mark.parametrize(
    ("operation", "module", "multihost", "outcome", "says"),
    [
        (zpool_import_readonly, "2.3.5-1", True, "pass", ""),
        (zpool_import_readonly, "2.3.9-1", True, "refuse", "writes a claim to the disks first, whatever readonly says"),
        (zpool_import_dry_run, "2.4.1-1", True, "refuse", "What only reads there: `zpool import` without a name, `zdb -e`"),
        (zpool_import_readonly, "2.4.4-1", False, "pass", ""),
        (zpool_import_txg, "2.4.4-1", True, "pass", ""),
        (zpool_import_writable, "2.4.4-1", True, "pass", ""),
        (zpool_import_writable, "2.4.3-1", True, "refuse", "panics the kernel"),
        (zpool_import_readonly, "2.3.9-1", None, "unknown", "which is not known"),
        (zpool_import_readonly, "2.3.5-1", None, "pass", ""),
    ],
)
def test_the_ladder_says_before_anything_is_typed_that_an_import_writes(operation, module, multihost, outcome, says):
    rings = timeline(uberblock(multihost=multihost)) if multihost is not None else Unknown("No ring was read.")
    node = replace(NODE, timelines=rings, hostid="00c0ffee", zfs_module=module, zfs_userland=module)
    facts, params = FleetFacts({"oss01": node}), {"node": "oss01", "pool": "tank", "pool_guid": GUID}
    verdict = released(operation)(facts, params)
    assert (verdict.outcome, says in verdict.reason) == (outcome, True), verdict
    (warns,) = tellings(operation) or (None,)
    if outcome == "pass" and multihost and module == "2.4.4-1":
        assert "claim" in warns(facts, params)

"""docs/releases.md is what the table gives, and a change of the table shows in it."""

from dataclasses import replace

import pytest

from agents.operations import (
    OPERATIONS,
    set_tunable,
    zpool_clear,
    zpool_import_dry_run,
    zpool_import_readonly,
    zpool_import_txg,
    zpool_import_writable,
    zpool_replace,
    zpool_set_path,
)
from agents.orders.policy import Policy
from agents.zfs_releases import READ, TABLE, ruling, words
from workflows import releases
from workflows.by_hand import grounds
from workflows.engine import by_hand
from workflows.engine.core import PlanStep, ok
from workflows.engine.state import OrderSeen, RunState
from workflows.facts import FleetFacts, Unknown, known
from workflows.facts.read.policies import NOT_REPORTED, OLDER
from workflows.guards.policy import allowed
from workflows.guards.releases import released, tellings
from workflows.runbooks import RUNBOOKS
from workflows.tests import incident
from workflows.tests.cast import NODE
from workflows.tests.incident import fleet
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
                verdict = ruling(operation, words(release), words(release), {"multihost": False, "checked": False})
                assert (verdict.outcome == "pass") == releases._cell(operation, column[0]).startswith("ordered"), (operation, release)


@pytest.mark.parametrize(
    ("operation", "module", "multihost", "outcome", "expected"),
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
def test_the_ladder_says_before_anything_is_typed_that_an_import_writes(operation, module, multihost, outcome, expected):
    rings = timeline(uberblock(multihost=multihost)) if multihost is not None else Unknown("No ring was read.")
    node = replace(NODE, timelines=rings, hostid="00c0ffee", zfs_module=module, zfs_userland=module)
    facts, params = FleetFacts({"oss01": node}), {"node": "oss01", "pool": "tank", "pool_guid": GUID}
    verdict = released(operation)(facts, params)
    assert (verdict.outcome, expected in verdict.reason) == (outcome, True), verdict
    (warns,) = tellings(operation) or (None,)
    if outcome == "pass" and multihost and module == "2.4.4-1":
        assert "claim" in warns(facts, params)


HERE = {"tools": "2.4.4-1", "module": "2.4.4-1"}
NEITHER = {"multihost": False, "checked": False}
OBSERVES = Policy("observe", why="This node is only observed.")


def of_policy(rule) -> bool:
    return allowed(zpool_replace)(fleet(replace(incident.NODE, policy=rule)), incident.PARAMS).by_hand


def of_ruling(operation, tools, module) -> bool:
    verdict = ruling(operation, tools, module, NEITHER)
    assert verdict.outcome != "pass"
    return verdict.by_hand


def of_a_refused_order() -> bool:
    state = RunState({}, requester="ann", status="stopped", order=OrderSeen("d", "REFUSED", "by policy"))
    runbook = RUNBOOKS["scrub-due"]
    plan = next(step for step in runbook.steps if isinstance(step, PlanStep))
    return by_hand.order_was_not_taken(runbook, state, plan, (ok("All is well."),))


def of_no_boot_id() -> bool:
    node = replace(incident.NODE, hostid="007f0101", boot_id=Unknown("This system tells none."))
    return known(grounds.of(fleet(node), node.node, {"operation": "zpool_replace", "params": {}, "preconditions": {}}))


def of_freebsd() -> bool:
    node = replace(incident.NODE, system="FreeBSD", policy=NOT_REPORTED)
    verdicts = [allowed(operation)(fleet(node), incident.PARAMS) for operation in (zpool_replace, zpool_set_path)]
    assert all(verdict.outcome == "refuse" for verdict in verdicts)
    assert allowed(set_tunable)(fleet(node), incident.PARAMS).outcome == "pass"
    return verdicts[0].by_hand and not verdicts[1].by_hand


def of_illumos() -> bool:
    node = replace(incident.NODE, system="illumos", policy=NOT_REPORTED)
    verdicts = [allowed(operation)(fleet(node), incident.PARAMS) for operation in (zpool_replace, zpool_clear, set_tunable)]
    assert all(verdict.outcome == "refuse" for verdict in verdicts)
    return [verdict.by_hand for verdict in verdicts] == [True, False, False]


ASKED = {
    "the node's policy file does not let it run": lambda: of_policy(OBSERVES),
    "a release that was not read": lambda: of_ruling("zpool_replace", "2.5.0-1", "2.5.0-1") and of_ruling("zpool_replace", "0.6.4-1", "0.6.4-1"),
    "the node refused the order": of_a_refused_order,
    "a version of the tools or the kernel module that cannot be read": lambda: of_ruling("zpool_replace", "2.4.4-1", "unknown"),
    "tools and kernel module of different minors": lambda: of_ruling("zpool_replace", "2.4.4-1", "2.3.2-1"),
    "tools and kernel module of one minor, and the operation changed": lambda: of_ruling("zpool_clear", "2.2.3-1", "2.2.4-1"),
    "an agent that is too old": lambda: of_policy(OLDER),
    "the node runs FreeBSD, and the command is not that of a tunable": of_freebsd,
    "the node runs illumos": of_illumos,
    "the node reports no boot id": of_no_boot_id,
}  # fmt: skip


@pytest.mark.parametrize(("row", "asked"), tuple(zip(releases.WAYS, ASKED, strict=True)), ids=[why for why, _, _ in releases.WAYS])
def test_where_no_order_is_made_the_guards_say_what_the_page_says(row, asked):
    why, then, way = row
    assert why.startswith(asked)
    assert ASKED[asked]() == (then == "by hand")
    assert way


def test_a_runbook_is_refused_where_the_row_of_its_operation_is():
    rows = {line.split(" | ")[0].removeprefix("| "): line for line in releases.page().splitlines() if line.startswith("| ")}
    assert "refused: zpool_set_path" in rows["wwid-mismatch-replace"]
    assert "refused: zdb_without" in rows["device-delete-reimport"]
    assert rows["scrub-due"].split(" | ")[1:3] == ["by hand", "by hand"]

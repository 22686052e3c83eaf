"""hostid-mismatch leads to the runbook that exports and imports the pool, where that could begin; else to the one after the export by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from twin.scenarios import tiny
from workflows.engine.core import ask, blockers
from workflows.facts import Unknown
from workflows.runbooks import RUNBOOKS
from workflows.runbooks.rename_members.rehearsal import under_kernel_names
from workflows.situations import hostid_mismatch as situation
from workflows.tests.stage import Stage

STATUS = "Mismatch between pool hostid and system hostid on imported pool. This pool was previously imported into a system with a different hostid."


def facts_of(tmp_path, node, **changes):
    facts = Stage(tmp_path, {"oss01": node}).facts()
    here = facts.nodes["oss01"]
    pools = tuple(replace(pool, status=STATUS, see="ZFS-8000-EY") for pool in here.pools)
    return replace(facts, nodes={"oss01": replace(here, pools=pools, **changes)})


def test_a_pool_under_kernel_names_is_exported_and_imported_by_a_runbook_that_can_begin(tmp_path):
    facts = facts_of(tmp_path, under_kernel_names())
    (found,) = situation.detect(facts)
    (answer,) = found.answers
    last = found.cures[-1]
    assert (answer.runbook, last.kind, last.runbook) == ("rename-members", "export-import", "rename-members")
    check = next(step for step in RUNBOOKS["rename-members"].steps if step.kind == "CHECK")
    assert blockers(ask(check.guards, facts, answer.params)) == ()


def test_any_other_pool_is_exported_by_hand_and_import_pool_begins_then(tmp_path):
    (found,) = situation.detect(facts_of(tmp_path, tiny()))
    last = found.cures[-1]
    assert (found.answers, last.runbook) == ((), "import-pool")
    assert "import-pool begins at its page then" in last.text
    assert last.argv[0] == ("zpool", "export", "ost_0")


@pytest.mark.parametrize("hostid", ["00000000", Unknown("It was not read.")])
def test_without_a_hostid_no_runbook_is_offered(tmp_path, hostid):
    (found,) = situation.detect(facts_of(tmp_path, under_kernel_names(), hostid=hostid))
    assert found.answers == ()

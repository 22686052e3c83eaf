"""What import-without-log does and refuses, beyond what is asked of every runbook."""

from __future__ import annotations

import pytest

from agents.operations import zpool_import_without_log
from twin import scenarios
from twin.scenarios import take_away
from workflows.engine.core import warnings
from workflows.runbooks.import_pool.rehearsal import not_at_boot
from workflows.runbooks.import_without_log.rehearsal import without_its_log
from workflows.runbooks.import_without_log.tests.stories import FIRST, OF_A_MIRROR
from workflows.situations import import_blocked
from workflows.tests.walks import Stuck, Walk, stages_of


@pytest.fixture(scope="module")
def stages():
    return stages_of(FIRST)


def test_an_ordinary_import_refuses_and_names_m(tmp_path):
    host = scenarios.host(tmp_path, without_its_log(), scenarios.Clock())
    answer = host.run(("zpool", "import", "-N", "-d", "/dev/disk/by-id", str(host.view().node.pool("ost_0").guid)), 5.0)
    assert answer.exit_code == 1
    assert b"use '-m' to import the pool anyway" in answer.stdout
    assert not host.view().node.pool("ost_0").imported


def test_it_is_imported_once_with_m_and_never_by_force(stages):
    walk = stages.end
    assert walk.commands() == [["zpool", "import", "-N", "-m", "-d", "/dev/disk/by-id", walk.state.params["pool_guid"]]]


def test_what_is_lost_stands_in_the_plan(stages):
    walk = stages.at("confirm-import")
    assert "acknowledged as written synchronously" in str(walk.state.plan["given_up"])


def test_afterwards_the_lost_log_is_named_by_its_guid(stages):
    walk = stages.at("see-the-log")
    (shown,) = warnings(walk.step, walk.facts(), walk.state.params)
    assert f"(guid {walk.node.pool('ost_0').tops[-1].guid}) with remove-auxiliary" in shown


def a_disk_is_away(node):
    take_away(node, node.disks[2].wwid)


def active_elsewhere(node):
    node.pool("ost_0").active_on = "oss07 5b2f9c07"


def used_elsewhere(node):
    node.pool("ost_0").hostid, node.pool("ost_0").hostname = 0x5B2F9C07, "oss07"


@pytest.mark.parametrize(
    ("change", "why"),
    [(a_disk_is_away, "more than a log is missing"), (active_elsewhere, "is imported on oss07"), (used_elsewhere, "Fence it first")],
)
@pytest.mark.parametrize("step", ["check", "plan-import", "import"])
def test_what_else_is_amiss_refuses(stages, step, change, why):
    walk = stages.at(step)
    with walk.changing() as node:
        change(node)
    assert any(why in reason for reason in walk.why_not()), walk.why_not()
    assert walk.commands() == []


def test_a_disk_that_goes_after_the_portal_asked_last_is_refused_by_the_node(stages):
    walk = stages.at("import")
    facts = walk.facts()
    with walk.changing() as node:
        a_disk_is_away(node)
    walk.facts = lambda: facts
    with pytest.raises(Stuck, match=r"import\.absent"):
        walk.go()
    assert walk.commands() == []


def test_a_log_that_is_there_is_refused_by_the_node(tmp_path):
    host = scenarios.host(tmp_path, not_at_boot(), scenarios.Clock())
    given = {"pool": "ost_0", "pool_guid": str(host.view().node.pool("ost_0").guid), "cachefile": "none"}
    pre = zpool_import_without_log.preconditions(host, given)
    assert (
        "refuse",
        "Every log of ost_0 is there, so nothing has to be lost. Import it with import-pool.",
    ) in zpool_import_without_log.guards(pre, given)


def test_both_halves_of_a_log_mirror():
    walk = Walk(OF_A_MIRROR).to_the_end()
    assert [pool.name for pool in walk.node.imported] == ["ost_0"]


def test_its_situation_offers_it(stages):
    (found,) = import_blocked.detect(stages.at("check").facts())
    assert found.subject["why"] == "missing-log"
    assert [answer.runbook for answer in found.answers] == ["import-without-log"]

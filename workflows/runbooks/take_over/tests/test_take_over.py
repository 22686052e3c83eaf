"""What take-over does and refuses, beyond what is asked of every runbook."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agents.tests.test_zpool_import_fenced import written
from workflows.engine import events as ev
from workflows.engine.core import blockers
from workflows.engine.decide import Refused
from workflows.runbooks.take_over.guards import a_minute_lies_between_the_looks, the_first_look
from workflows.runbooks.take_over.rehearsal import DEAD, DEAD_HOSTID, SERIALS
from workflows.runbooks.take_over.tests.stories import FIRST, FORCED, comes_back, date_u, of_its_controller
from workflows.tests.test_fencing import FRU, STATUS, WATCHDOG
from workflows.tests.walks import ANN, Stuck, stages_of


@pytest.fixture(scope="module")
def stages():
    return stages_of(FIRST)


def test_it_forces_once_and_this_node_has_the_pool(stages):
    walk = stages.end
    (command,) = walk.commands()
    assert command[:-1] == FORCED
    pool = walk.node.pool("ost_0")
    assert (pool.imported, pool.hostname, pool.readonly) == (True, "oss01", False)


def resumes(walk) -> None:
    """The head has power after all, and writes to the pool: on this node its disks show it."""
    with walk.changing() as node:
        written(node)


@pytest.mark.parametrize("step", ["stood", "plan-import"])
def test_a_head_that_resumes_in_the_middle_of_the_check_refuses(step, stages):
    walk = stages.at(step)
    resumes(walk)
    with pytest.raises(Stuck, match="Some host has it"):
        walk.go() if step == "stood" else walk.asked() and walk.go()
    assert walk.commands() == []


def test_a_head_that_resumes_while_the_first_look_is_kept_refuses(stages):
    walk = stages.at("still")
    walk.look()
    resumes(walk)
    with pytest.raises(Stuck, match="Some host has it"):
        walk.to_the_end()
    assert walk.commands() == []


def test_the_minute_counts_from_when_the_first_look_is_kept_however_old_a_text_of_its_source_is(stages):
    """On a real node a text of a disk that was blank when it was asked kept the source ten minutes older than its rings were."""
    walk = stages.at("still")
    facts = walk.facts()
    node = facts.nodes["oss01"]
    old = replace(facts, nodes={**facts.nodes, "oss01": replace(node, ages={**node.ages, "zdb_uberblocks": 616.0})})
    kept = the_first_look(old, walk.state.params, old.at)
    assert float(kept["looked_at"]) >= old.at
    assert a_minute_lies_between_the_looks(old, {**walk.state.params, **kept}).outcome == "refuse"


def test_a_head_that_resumes_after_the_portal_asked_last_is_refused_by_the_node(stages):
    walk = stages.at("import")
    facts = walk.facts()
    resumes(walk)
    walk.facts = lambda: facts
    with pytest.raises(Stuck, match=r"uberblocks\.rings"):
        walk.go()
    assert walk.commands() == []


@pytest.mark.parametrize("step", ["check", "fence", "plan-import", "import"])
def test_a_head_that_reports_again_is_not_dead(step, stages):
    walk = stages.at(step)
    with walk.hosts[DEAD].store.changing() as node:
        node.off_since = 0.0
    assert any("so it runs" in why for why in walk.why_not()), walk.why_not()


def test_while_it_waits_a_head_that_reports_is_an_alarm(stages):
    walk = stages.at("still")
    with walk.hosts[DEAD].store.changing() as node:
        node.off_since = 0.0
    walk.look()
    assert "so it runs" in walk.state.alarm


@pytest.mark.parametrize("step", ["check", "plan-import", "import"])
def test_any_multihost_activity_refuses_and_nothing_overrides_it(step, stages):
    walk = stages.at(step)
    with walk.changing() as node:
        node.pool("ost_0").active_on = f"{DEAD} {DEAD_HOSTID}"
    assert any("never force it here" in why for why in walk.why_not()), walk.why_not()


def shown(walk, text: str):
    outcome = walk.send(ev.HandsDone, by=ANN, evidence=text, facts=walk.facts())
    return " ".join(v.reason for v in blockers(outcome.verdicts)) if isinstance(outcome, Refused) else ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (STATUS.replace(": off", ": on", 1) + WATCHDOG + FRU, "the machine has power. Switch it off first."),
        (STATUS.replace("always-off", "previous") + WATCHDOG + FRU, "may be switched on by itself"),
        (STATUS + FRU, "mc watchdog get"),
        (STATUS + WATCHDOG, "states no serial number"),
        (STATUS + WATCHDOG + FRU.replace("C8470LJ12P30033", "C8470LJ12P30034"), "It is about another machine than oss02"),
        (STATUS + WATCHDOG + "Chassis Serial : To Be Filled By O.E.M.\n", "It is about another machine than oss02"),
        ("$ ipmitool -H bmc -U root -P secret chassis status\n" + STATUS + WATCHDOG + FRU, "Paste only what the command printed"),
    ],
)
def test_a_text_that_does_not_show_it_is_refused(text, expected, stages):
    walk = stages.at("fence")
    assert expected in shown(walk, f"{date_u(walk.clock.at)}\n{text}")


@pytest.mark.parametrize(
    ("seconds", "expected"), [(600, "600 s is the limit"), (950, "600 s is the limit"), (-600, "Set the clock of that host"), (30, "")]
)
def test_a_text_is_good_for_ten_minutes(seconds, expected, stages):
    walk = stages.at("fence")
    found = shown(walk, f"{date_u(walk.clock.at - seconds)}\n{STATUS}{WATCHDOG}{FRU}")
    assert expected in found if expected else not found


def test_a_text_without_its_time_is_not_known(stages):
    assert "Run `date -u`" in shown(stages.at("fence"), STATUS + WATCHDOG + FRU)


def test_evidence_that_ran_out_is_shown_again_and_everything_after_it_is_done_again(stages):
    walk = stages.at("import")
    walk.clock.at += 601
    assert any("Have it shown again" in why for why in walk.why_not()), walk.why_not()
    first = dict(walk.state.params)
    walk.must(ev.Corrected, by=ANN, step="fence", evidence=of_its_controller(walk), facts=walk.facts())
    assert (walk.state.step, walk.state.plan, walk.state.approvals) == ("still", None, ())
    assert "rings" not in walk.state.params
    walk.to_the_end()
    assert walk.state.params["fenced_at"] > first["fenced_at"]
    assert len(walk.commands()) == 1


def test_evidence_that_runs_out_on_the_way_is_refused_by_the_node(stages):
    walk = stages.at("import")
    facts = walk.facts()
    walk.facts = lambda: facts
    walk.clock.at += 601
    with pytest.raises(Stuck, match=r"fence\.age"):
        walk.go()
    assert walk.commands() == []


def test_after_the_nodes_refusal_it_is_shown_again_and_goes_on(stages):
    walk = stages.at("import")
    facts, real = walk.facts(), walk.facts
    walk.facts = lambda: facts
    walk.clock.at += 601
    with pytest.raises(Stuck):
        walk.go()
    walk.facts = real
    walk.must(ev.Corrected, by=ANN, step="fence", evidence=of_its_controller(walk), facts=walk.facts())
    walk.to_the_end()
    assert (walk.state.status, len(walk.commands())) == ("done", 1)


def test_a_serial_number_that_two_nodes_share_shows_neither(stages):
    walk = stages.at("check")
    with walk.changing() as node:
        node.dmi["chassis_serial"] = SERIALS["chassis_serial"]
    walk.go()
    assert "another machine" in shown(walk, f"chassis: {SERIALS['chassis_serial']}\nunplugged")
    assert shown(walk, f"chassis: {SERIALS['product_serial']}\nunplugged") == ""


def test_what_was_pasted_is_kept_line_by_line_as_far_as_it_was_understood(stages):
    walk = stages.at("fence")
    walk.go()
    body = next(body for name, body in walk.records if name == "run.done-by-hand" and body["step"] == "fence")
    assert "`Power Restore Policy : always-off`" in str(body["verdicts"])


def test_a_head_that_comes_back_with_the_pool_is_two_hosts(stages):
    walk = stages.at("returned")
    with walk.hosts[DEAD].store.changing() as node:
        node.off_since = 0.0
    walk.look()
    assert "Two hosts write to it" in walk.state.alarm
    comes_back(walk)
    walk.look()
    assert walk.state.status == "done"

"""A node that was brought has no agent: it ages by its own limit, and is never what answers a question about other nodes."""

from dataclasses import replace

import pytest

from workflows.analysis.judgement import judge_node
from workflows.facts import known
from workflows.facts.read.source_states import BROUGHT_SECONDS, source_states
from workflows.guards import facts_are_fresh
from workflows.guards.candidate import no_other_node_uses_the_disk
from workflows.guards.fresh import OF_OTHERS, stale, stale_elsewhere
from workflows.guards.importing import no_other_node_has_or_may_have_it, no_other_node_imports_it_by_itself
from workflows.guards.target import the_pool_is_imported_here_and_nowhere_else
from workflows.tests.incident import NODE, PARAMS, fleet


def brought(node, age=60.0):
    ages = dict.fromkeys(node.ages, age)
    return replace(node, brought=True, age_seconds=age, ages=ages)


def neighbour(**more):
    """Another host that sees the same disks and has no pool."""
    return replace(NODE, node="oss02", pools=(), hostid="0badcafe", **more)


def test_it_counts_for_a_quarter_of_an_hour():
    assert facts_are_fresh(fleet(brought(NODE, BROUGHT_SECONDS)), PARAMS).outcome == "pass"
    late = facts_are_fresh(fleet(brought(NODE, BROUGHT_SECONDS + 1)), PARAMS)
    assert late.outcome == "unknown"
    assert "slotlight collect oss01" in late.reason


@pytest.mark.parametrize("age", [-1.0, float("nan")])
def test_an_age_that_cannot_be_is_no_age(age):
    assert stale(brought(NODE, age), ())


def test_then_every_source_of_it_is_late_and_it_is_not_good():
    old = brought(NODE, BROUGHT_SECONDS + 1)
    assert {one.state for one in source_states(old)} <= {"late", "failed", "not watched"}
    assert any("has no agent" in why for why in judge_node(old, ()).unknown)
    assert not any("was taken" in why for why in judge_node(brought(NODE), ()).unknown)


def test_a_source_that_is_asked_often_is_not_late_before():
    assert all(one.state != "late" for one in source_states(brought(NODE, BROUGHT_SECONDS)))


@pytest.mark.parametrize("age", [1.0, 60.0, 9e9])
def test_what_others_ask_of_it_is_not_known_however_young_it_is(age):
    assert "has no agent" in stale_elsewhere(brought(neighbour(), age), OF_OTHERS)
    assert stale_elsewhere(neighbour(), OF_OTHERS) == stale(neighbour(), OF_OTHERS)


def test_no_guard_about_other_nodes_passes_by_its_word_alone():
    assert known(NODE.disks)
    params = PARAMS | {"wwid": next(disk.wwid for disk in NODE.disks if known(disk.wwid))}
    for guard in (the_pool_is_imported_here_and_nowhere_else, no_other_node_uses_the_disk):
        there = fleet(NODE, brought(neighbour(), 1.0))
        assert guard(there, params).outcome == "unknown", guard.__name__
        assert "oss02 has no agent" in guard(there, params).reason
    with_agent = the_pool_is_imported_here_and_nowhere_else(fleet(NODE, neighbour()), params)
    assert "has no agent" not in with_agent.reason


def test_that_it_has_the_pool_refuses_all_the_same():
    """What it shows against an act counts, whatever its age."""
    there = fleet(NODE, brought(replace(NODE, node="oss02"), 9e9))
    assert the_pool_is_imported_here_and_nowhere_else(there, PARAMS).outcome == "refuse"
    assert no_other_node_has_or_may_have_it(there, PARAMS).outcome == "refuse"


def test_that_it_imports_nothing_by_itself_is_not_taken_from_it():
    verdict = no_other_node_imports_it_by_itself(fleet(NODE, brought(neighbour(), 1.0)), PARAMS)
    assert verdict.outcome == "unknown"

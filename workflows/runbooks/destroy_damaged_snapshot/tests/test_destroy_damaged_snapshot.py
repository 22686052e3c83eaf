"""What destroy-damaged-snapshot does and refuses, beyond what is asked of every runbook."""

from __future__ import annotations

import pytest

from workflows.engine.core import blockers
from workflows.facts import known
from workflows.runbooks.destroy_damaged_snapshot.guards import snapshots_there_are
from workflows.runbooks.destroy_damaged_snapshot.rehearsal import CLONED, GONE, HELD
from workflows.runbooks.destroy_damaged_snapshot.tests.stories import FIRST
from workflows.situations import data_errors
from workflows.tests.walks import Stuck, stages_of


@pytest.fixture(scope="module")
def stages():
    return stages_of(FIRST)


def test_exactly_one_is_destroyed_by_its_name_alone(stages):
    walk = stages.end
    assert walk.commands() == [["zfs", "destroy", GONE]]
    assert [one.name for one in walk.node.pool("ost_0").snapshots] == [HELD, CLONED]


def test_one_that_is_held_or_has_a_clone_cannot_be_chosen_and_says_why(stages):
    walk = stages.at("snapshot")
    options = {one.value: one for one in snapshots_there_are(walk.facts(), walk.state.params)}
    assert not blockers(options[GONE].verdicts)
    assert "zfs holds" in blockers(options[HELD].verdicts)[0].reason
    assert "ost_0/clone" in blockers(options[CLONED].verdicts)[0].reason
    assert "40.0 MiB" in options[GONE].detail


def made_anew(node):
    node.pool("ost_0").snapshots[0].guid = 4711


def held(node):
    node.pool("ost_0").snapshots[0].holds = 1


@pytest.mark.parametrize(("change", "why"), [(made_anew, "another snapshot"), (held, "is held 1 times")])
def test_the_node_itself_refuses_what_changed_after_the_plan(stages, change, why):
    """The portal still has the facts of before."""
    walk = stages.at("destroy")
    facts = walk.facts()
    with walk.changing() as node:
        change(node)
    walk.facts = lambda: facts
    with pytest.raises(Stuck, match="snapshot"):
        walk.go()
    assert walk.commands() == []
    assert len(walk.node.pool("ost_0").snapshots) == 3


def test_its_situation_offers_it_beside_damaged_data(stages):
    facts = stages.at("check").facts()
    (pool,) = facts.nodes["oss01"].pools_read
    assert known(pool.snapshots)
    (found,) = data_errors.detect(facts)
    assert [answer.runbook for answer in found.answers] == ["damaged-data", "destroy-damaged-snapshot"]

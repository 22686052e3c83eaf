"""A detector sees no more in the whole fleet than in the nodes that touch each other: the portal settles situations by that."""

from __future__ import annotations

import random

import pytest

from agents.tests.scenarios import STEPS
from workflows.facts import FleetFacts
from workflows.facts.fleet.related_nodes import touches
from workflows.facts.join import node_facts
from workflows.facts.tests.played import captures
from workflows.situations import detect_all


def node(step: str, name: str):
    return node_facts(name, captures(step), 1.0, ())


def reach(start, by_node) -> frozenset[str]:
    """What the portal asks its rows: the nodes that touch one of the things in `start`, and all that those touch in turn."""
    found, things, fresh = set(), set(start), True
    while fresh:
        fresh = {name for name, theirs in by_node.items() if name not in found and not things.isdisjoint(theirs)}
        found |= fresh
        things.update(*(by_node[name] for name in fresh))
    return frozenset(found)


def shown(fleet: FleetFacts, names) -> list:
    return [situation for situation in detect_all(fleet) if situation.node in names]


@pytest.mark.parametrize("seed", range(40))
def test_nodes_that_touch_nothing_of_each_other_have_no_situation_together(seed):
    rng = random.Random(seed)
    nodes = {f"node{i}": node(step, f"node{i}") for i, step in enumerate(rng.sample(STEPS, 6))}
    by_node = {name: touches(facts) for name, facts in nodes.items()}
    for name in nodes:
        near = reach(by_node[name], by_node)
        part = FleetFacts({other: facts for other, facts in nodes.items() if other in near})
        assert shown(part, near) == shown(FleetFacts(nodes), near)


def test_the_scenarios_hold_nodes_that_touch_and_nodes_that_do_not():
    by_node = {step: touches(node(step, step)) for step in STEPS}
    sizes = {len(reach(by_node[step], by_node)) for step in STEPS}
    assert len(sizes) > 1
    assert max(sizes) > 1

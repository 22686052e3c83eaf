"""Guards where the stories ask them: knowing less never opens a step, and the node asks the same of itself."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from agents.operations import OPERATIONS
from agents.operations.base import UNKNOWN
from workflows.engine.core import ask, blockers
from workflows.facts import FleetFacts, Unknown
from workflows.tests.stories import STORIES
from workflows.tests.walks import Stages, assert_readable, stages_of

GUARDED = [(title, step.slug) for title, story in STORIES.items() for step in story.definition.steps if step.guards or step.kind == "WAIT"]
ORDERS = [(title, step.slug) for title, story in STORIES.items() for step in story.definition.steps if step.kind == "EXECUTE"]


@pytest.fixture(scope="module")
def stages():
    def of(title: str) -> Stages:
        return stages_of(STORIES[title])

    return of


def guards_of(step):
    return tuple(filter(None, (*step.guards, step.needed, getattr(step, "until", None), getattr(step, "alarm", None))))


@pytest.mark.parametrize(("title", "slug"), GUARDED)
def test_no_guard_passes_for_a_run_that_says_nothing_or_a_fleet_nobody_knows(title, slug, stages):
    step = STORIES[title].definition.step(slug)
    walk = stages(title).end
    for facts, params in ((walk.facts(), {}), (FleetFacts({}), walk.state.params)):
        for verdict in ask(guards_of(step), facts, params):
            assert verdict.outcome != "pass", verdict
            assert_readable(verdict.reason)


@pytest.mark.parametrize(("title", "slug"), GUARDED)
def test_no_guard_is_troubled_by_a_fact_that_is_not_known(title, slug, stages):
    if slug not in stages(title):
        return
    walk = stages(title).at(slug)
    node = walk.facts().nodes[walk.state.params["node"]]
    for field in fields(node):
        if not str(field.type).startswith("Known["):
            continue  # such a field is never unknown
        less = FleetFacts({node.node: replace(node, **{field.name: Unknown("It was not read.")})})
        for verdict in ask(guards_of(walk.step), less, walk.state.params):
            assert_readable(verdict.reason)


@pytest.mark.parametrize(("title", "slug"), ORDERS)
def test_the_node_asks_for_every_fact_itself(title, slug, stages):
    if slug not in stages(title):
        return
    walk = stages(title).at(slug)
    operation, params, facts = OPERATIONS[walk.step.operation], walk.state.plan["params"], walk.state.plan["preconditions"]
    assert all(outcome == "pass" for outcome, _ in operation.guards(facts, params))
    asked = operation.asked(params) if hasattr(operation, "asked") else operation.FACTS
    asked = (*asked, "disk.map") if "map" in params else asked  # asked where there is one; without one the order has no such fact
    assert set(facts) >= set(asked)
    assert set(facts) == {*asked, *operation.FACTS}
    for name in asked:
        for less in ({k: v for k, v in facts.items() if k != name}, {**facts, name: f"{UNKNOWN}no answer"}):
            against = [reason for outcome, reason in operation.guards(less, params) if outcome != "pass"]
            assert against, f"{operation.NAME} does without {name}"
            for reason in against:
                assert_readable(reason)


@pytest.mark.parametrize("title", STORIES)
def test_what_was_asked_at_a_step_passed_when_it_was_left(title, stages):
    assert blockers(stages(title).end.state.verdicts) == ()

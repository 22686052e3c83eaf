"""Every operation, as some story orders it, through the real executor and journal: the agent dies at each place, and the next tells the truth."""

from __future__ import annotations

import json
import os

import pytest

from agents import failpoints
from agents.domain.times import iso
from agents.operations import OPERATIONS
from agents.orders import executor
from agents.orders.journal import Journal
from agents.tests import rig
from agents.tests.stage import Portal, Stage
from twin.demo import WRITING
from workflows.tests.stories import STORIES
from workflows.tests.walks import Stages, Walk, assert_readable, stages_of

POLICY = {"mode": "operate", "operations": list(WRITING), "pools": ["*"]}
# where it dies -> how the order ends, what the probe may say then, and whether the command can have been given
TRUTH = {
    "after_claim": ("refused", (None,), False),
    "before_intent": ("refused", (None,), False),
    "after_intent": ("unknown", ("did_not", "cannot_tell"), False),
    "after_exec": ("unknown", ("did", "cannot_tell"), True),
    "after_result": ("succeeded", (None,), True),
}
# what leaves no trace where it changed nothing, and may be ordered again: to have had no effect is all that its probe can see
NO_TRACE = ("zpool_import_dry_run", "disk_rescan", "zpool_online", "zdb_without")
NOT_ORDERED: tuple[str, ...] = ()  # which no runbook orders, so that the portal cannot either
ORDERED = [name for name in WRITING if name not in NOT_ORDERED]
ONLY_READS = ("zdb_without",)  # an order all the same, as it may take many minutes and somebody asks for it


class Died(BaseException):
    """The agent is gone, as by kill -9: nothing of it runs any more."""


class Node(Stage):
    """The executor of an agent on the node of a walk, at the walk's own time."""

    def __init__(self, walk: Walk, folder) -> None:
        self.host = walk.host
        self.folder = str(rig.agent_folder(folder, "http://127.0.0.1:1", POLICY))
        nonce = os.path.join(self.folder, "run", "nonce")
        with open(nonce, "w") as file:
            file.write(f"{rig.NONCE} {walk.node.boot_id}\n")
        self.journal = Journal(os.path.join(self.folder, "journal.sqlite"))
        self.portal, self.ledger = Portal(), rig.Ledger(rig.keys())
        self.executor = self.new_executor()


def sealed(walk: Walk) -> tuple[str, str]:
    operation, params = OPERATIONS[walk.step.operation], dict(walk.state.plan["params"])
    at = walk.clock.at
    return rig.seal(
        operation=operation.NAME,
        effect=operation.EFFECT,
        params=params,
        argv=list(operation.argv(params)),
        preconditions=operation.preconditions(walk.host, params),
        sealed_at=iso(at),
        not_before=iso(at),
        expires_at=iso(at + 600),
    )


@pytest.fixture(scope="module")
def orders():
    """By operation: a walk that stands before it, on its way forward or back."""
    found: dict[str, tuple[Stages, str]] = {}
    for story in STORIES.values():
        wanted = {s.operation for s in story.definition.steps if s.kind == "EXECUTE"} - set(found)
        if wanted:
            stages = stages_of(story)
            asked = [s for s in story.definition.steps if s.kind == "EXECUTE" and s.operation in wanted]
            ordered = [s for s in asked if s.slug in stages or stages.turned_to(s.slug)]
            found |= {s.operation: (stages, s.slug) for s in reversed(ordered)}
    return found


@pytest.mark.parametrize("name", ORDERED)
def test_some_story_orders_it(name, orders):
    assert name in orders


def test_what_no_runbook_orders_is_named(orders):
    assert set(NOT_ORDERED) == set(WRITING) - set(orders)


@pytest.mark.parametrize("place", failpoints.NAMES)
@pytest.mark.parametrize("name", ORDERED)
def test_it_runs_at_most_once_and_the_next_agent_tells_the_truth(name, place, orders, tmp_path, monkeypatch):
    stages, step = orders[name]
    walk = stages.at(step) if step in stages else stages.turned_to(step)
    outcome, text, can_have_run = TRUTH[place]
    node, before, as_it_was = Node(walk, tmp_path / "agent"), len(walk.commands()), walk.node

    def die(where: str) -> None:
        if where == place:
            raise Died

    monkeypatch.setattr(executor.failpoints, "hit", die)
    order = node.order(sealed(walk))
    with pytest.raises(Died):
        node.executor.handle(order)
    given, now = walk.commands()[before:], walk.node
    assert (bool(given) or now != as_it_was) == (can_have_run and name not in ONLY_READS)

    monkeypatch.setattr(executor.failpoints, "hit", lambda where: None)
    second = node.new_executor()
    second.recover()
    second.handle(order)  # the portal offers it again, having heard nothing
    receipt = json.loads(node.journal.find(order.id).receipt)
    node.journal.close()
    probe = receipt["probe"]["result"] if receipt["probe"] else None
    assert receipt["outcome"] == outcome, receipt["reason"]
    assert probe in text or (probe == "did_not" and name in NO_TRACE), receipt["reason"]
    assert_readable(receipt["reason"] or "It ended.")
    assert (walk.commands()[before:], walk.node) == (given, now), "nothing is run again"

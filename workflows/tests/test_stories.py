"""Every story to its good end, off at each step and back, and through a crash of the agent in the middle of each order."""

from __future__ import annotations

import pytest

from workflows.core import blockers
from workflows.tests import walks
from workflows.tests.stories import STORIES

EACH = [pytest.param(story, id=title) for title, story in STORIES.items()]


def steps_of(story, kinds=None):
    main = story.definition.steps[: story.definition.place(story.definition.undo)] if story.definition.undo else story.definition.steps
    return [step for step in main if kinds is None or step.kind in kinds]


STEPS = [pytest.param(story, step.slug, id=f"{title}/{step.slug}") for title, story in STORIES.items() for step in steps_of(story)]
ORDERS = [
    pytest.param(story, step.slug, crash, id=f"{title}/{step.slug}/{crash}")
    for title, story in STORIES.items()
    for step in steps_of(story, ("EXECUTE",))
    for crash in walks.CRASHES
]


def walk_to(story, step, folder):
    """The walk standing at `step`, or None when this story does not come by."""
    walk = walks.Walk(story, folder)
    return walk if walk.comes_by(step) else None


@pytest.mark.parametrize("story", EACH)
def test_it_comes_to_its_good_end(story, tmp_path):
    walk = walks.Walk(story, tmp_path).to_the_end()
    assert (walk.state.status, walk.state.loops) == ("done", ())
    assert blockers(walk.state.verdicts) == ()


@pytest.mark.parametrize(("story", "step"), STEPS)
def test_it_can_be_ended_at_each_step_and_leaves_nothing_open(story, step, tmp_path):
    walk = walk_to(story, step, tmp_path)
    if walk is not None:
        walks.end_here(walk)


@pytest.mark.parametrize(("story", "step", "crash"), ORDERS)
def test_it_comes_to_its_good_end_though_the_agent_dies_in_the_middle_of_an_order(story, step, crash, tmp_path):
    walk = walk_to(story, step, tmp_path)
    if walk is None:
        return
    before = len(walk.commands())
    walk.crash_here(crash)
    assert len(walk.commands()) - before <= 1
    assert walk.to_the_end().state.status == "done"

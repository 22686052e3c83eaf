"""Every story to its good end, off at each step and back, and through a crash of the agent in the middle of each order."""

from __future__ import annotations

import pytest

from agents.operations import OPERATIONS
from agents.tests.test_operations import GOOD
from workflows.engine.core import Step
from workflows.facts import FleetFacts
from workflows.runbooks import RUNBOOKS
from workflows.tests import tally, walks
from workflows.tests.stories import STORIES
from workflows.tests.walks import Stages, Story, stages_of


def forward(story: Story, *kinds: str) -> list[Step]:
    """The steps of the way forward."""
    runbook = story.definition
    steps = runbook.steps[: runbook.place(runbook.undo)] if runbook.undo else runbook.steps
    return [step for step in steps if not kinds or step.kind in kinds]


EACH = [(title, step.slug) for title, story in STORIES.items() for step in forward(story)]
ORDERS = [(title, step.slug, crash) for title, story in STORIES.items() for step in forward(story, "EXECUTE") for crash in walks.CRASHES]


@pytest.fixture(scope="module")
def stages():
    def of(title: str) -> Stages:
        return stages_of(STORIES[title])

    return of


@pytest.mark.parametrize("title", STORIES)
def test_it_comes_to_its_good_end(title, stages):
    end = stages(title).end.state
    assert (end.status, end.loops) == ("done", ())
    tally.count(STORIES[title].runbook, tally.GOOD, title)


@pytest.mark.parametrize(("title", "step"), EACH)
def test_it_can_be_ended_at_each_step_and_leaves_nothing_open(title, step, stages):
    if step in stages(title):
        walks.end_here(stages(title).at(step))


@pytest.mark.parametrize(("title", "step", "crash"), ORDERS)
def test_it_comes_to_its_good_end_though_the_agent_dies_in_an_order(title, step, crash, stages):
    if step not in stages(title):
        return
    walk = stages(title).at(step)
    before = len(walk.commands())
    walk.crash_here(crash)
    given = [tuple(argv) for argv in walk.commands()[before:]]
    assert len(given) == len(set(given)), "nothing is given twice"
    assert len(given) <= (0 if crash == "before" else most(walk.runbook.step(step), len(given)))
    assert walk.to_the_end().state.status == "done"
    tally.count(walk.runbook.slug, tally.CRASHED, f"{step} {crash}")


def most(step: Step, given: int) -> int:
    """One command of what is given once; some operations are several commands, each of which is given once."""
    several = getattr(OPERATIONS[step.operation], "commands", None)
    return given if step.effect != "at_most_once" else len(several(GOOD[step.operation])) if several else 1


def back(story: Story, *kinds: str) -> list[Step]:
    """The steps of the way back."""
    runbook = story.definition
    return [step for step in runbook.steps[runbook.place(runbook.undo) :] if step.kind in kinds] if runbook.undo else []


BACK = [(title, step.slug, crash) for title, story in STORIES.items() for step in back(story, "EXECUTE") for crash in walks.CRASHES]


@pytest.mark.parametrize(("title", "step", "crash"), BACK)
def test_it_finds_its_way_back_though_the_agent_dies_on_it(title, step, crash, stages):
    walk = stages(title).turned_to(step)
    if walk is None:
        return
    before = len(walk.commands())
    walk.crash_here(crash)
    assert crash != "before" or len(walk.commands()) == before
    walk.to_the_end()
    assert walk.state.loops == (), [open_.what for open_ in walk.state.loops]
    tally.count(walk.runbook.slug, tally.CRASHED, f"{step} {crash}")


ASKING = [(title, step.slug) for title, story in STORIES.items() for step in forward(story, "PLAN", "VERIFY")]


@pytest.mark.parametrize(("title", "step"), ASKING)
def test_it_comes_to_its_good_end_though_a_plan_or_a_look_is_lost(title, step, stages):
    """The agent dies while it plans or looks. Nothing is given meanwhile, and the same is asked for once more."""
    if step not in stages(title):
        return
    walk = stages(title).at(step)
    before, answered = walk.commands(), walk.lose_the_answer()
    assert (walk.state.step, walk.commands(), answered) == (step, before, False)
    assert walk.to_the_end().state.status == "done"
    tally.count(walk.runbook.slug, tally.CRASHED, f"{step} lost")


def test_every_order_plan_and_look_of_every_runbook_is_walked_through_a_death(stages):
    """Those that a story comes by; each must be come by in some story."""
    for slug, runbook in RUNBOOKS.items():
        lines = [story for story in STORIES.values() if story.runbook == slug]
        walked = {step.slug for story in lines for step in forward(story, "PLAN", "VERIFY", "EXECUTE") if step.slug in stages(story.title)}
        walked |= {step.slug for story in lines for step in back(story, "EXECUTE") if stages(story.title).turned_to(step.slug)}
        assert walked == {place.partition(" ")[0] for place in tally.deaths(runbook)}


def test_every_runbook_has_a_story():
    assert {story.runbook for story in STORIES.values()} == set(RUNBOOKS)


ASKED = [(title, step.slug) for title, story in STORIES.items() for step in forward(story, "CHECK", "PLAN", "EXECUTE")]


@pytest.mark.parametrize(("title", "step"), ASKED)
def test_of_a_fleet_that_nobody_knows_it_goes_nowhere(title, step, stages):
    if step not in stages(title):
        return
    walk = stages(title).at(step)
    before = walk.commands()
    walk.facts = lambda: FleetFacts({})
    assert walk.why_not()
    assert (walk.state.step, walk.commands()) == (step, before)


def test_every_step_of_every_runbook_is_walked_by_some_story(stages):
    for slug in {story.runbook for story in STORIES.values()}:
        lines = [title for title, story in STORIES.items() if story.runbook == slug]
        steps = {step.slug for step in forward(STORIES[lines[0]])}
        assert steps <= {step for step in steps for title in lines if step in stages(title)}

"""What each runbook's orders touch can be held by the portal's rule for locks. A walk on a twin takes no lock of the portal's."""

import pytest

from app.runs.apply_decision import several
from app.runs.ordering import locks
from workflows.engine.locks import needed
from workflows.runbooks import RUNBOOKS
from workflows.tests.stories import STORIES
from workflows.tests.walks import stages_of

FIRST = {story.runbook: story for story in reversed(STORIES.values())}


@pytest.mark.parametrize("runbook", RUNBOOKS)
def test_what_its_orders_touch_can_be_held(runbook):
    stages = stages_of(FIRST[runbook])
    before_an_order = [stages.at(step.slug) for step in RUNBOOKS[runbook].steps if step.kind == "EXECUTE" and step.slug in stages]
    for walk in before_an_order:
        locks.check(needed(walk.runbook, walk.state, walk.facts()), several(walk.state))
    assert before_an_order or not any(step.kind == "EXECUTE" for step in RUNBOOKS[runbook].steps)

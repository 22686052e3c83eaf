"""Walks of import-pool: the first one is its transcript."""

from __future__ import annotations

from workflows.runbooks.import_pool import rehearsal
from workflows.tests.stories_of_disks import answer
from workflows.tests.stories_of_imports import by_hand
from workflows.tests.stories_of_slowness import NOW
from workflows.tests.walks import Story, Walk

STARTED = "Keys loaded, datasets mounted, shares and targets started."


def not_imported(walk: Walk) -> None:
    """What was imported is exported again."""
    assert [pool.name for pool in walk.node.imported] == []
    assert walk.state.loops == ()


FIRST = Story(
    runbook="import-pool",
    twins=lambda: rehearsal.NODES["import-pool"](NOW),
    params=lambda facts: answer(facts, "import-pool"),
    hands={"start": lambda walk: STARTED},
    restored=not_imported,
)
OF_AN_EXPORTED = Story(
    runbook="import-pool",
    twins=lambda: {"oss01": rehearsal.exported()},
    params=by_hand,
    hands={"start": lambda walk: STARTED},
    restored=not_imported,
    name="import-pool, it was exported",
)
STORIES = (FIRST, OF_AN_EXPORTED)

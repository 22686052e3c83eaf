"""Walks of destroy-damaged-snapshot: the first one is its transcript."""

from __future__ import annotations

from workflows.runbooks.destroy_damaged_snapshot import rehearsal
from workflows.tests.stories_of_disks import answer
from workflows.tests.stories_of_slowness import NOW
from workflows.tests.walks import Story, Walk


def as_it_was(walk: Walk) -> None:
    assert walk.commands() == []
    assert len(walk.node.pool("ost_0").snapshots) == 3


FIRST = Story(
    runbook="destroy-damaged-snapshot",
    twins=lambda: rehearsal.NODES["destroy-damaged-snapshot"](NOW),
    params=lambda facts: answer(facts, "destroy-damaged-snapshot"),
    restored=as_it_was,
)
STORIES = (FIRST,)

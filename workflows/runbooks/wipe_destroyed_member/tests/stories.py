"""Walks of wipe-destroyed-member: the first one is its transcript."""

from __future__ import annotations

from workflows.runbooks.wipe_destroyed_member import rehearsal
from workflows.tests.stories_of_disks import answer
from workflows.tests.stories_of_slowness import NOW
from workflows.tests.walks import Story, Walk


def as_it_was(walk: Walk) -> None:
    assert walk.commands() == []
    assert walk.node.disks[6].partitions[0].label is not None


FIRST = Story(
    runbook="wipe-destroyed-member",
    twins=lambda: rehearsal.NODES["wipe-destroyed-member"](NOW),
    params=lambda facts: answer(facts, "wipe-destroyed-member"),
    restored=as_it_was,
)
STORIES = (FIRST,)

"""Walks of scrub-due: the first one is its transcript."""

from __future__ import annotations

from workflows.runbooks.scrub_due import rehearsal
from workflows.tests.stories_of_disks import answer
from workflows.tests.stories_of_slowness import NOW
from workflows.tests.walks import Story, Walk


def as_it_was(walk: Walk) -> None:
    """A scrub that was begun is paused or over; nothing else was done."""
    assert walk.commands() in ([], [["zpool", "scrub", "ost_0"]], [["zpool", "scrub", "ost_0"], ["zpool", "scrub", "-p", "ost_0"]])


FIRST = Story(
    runbook="scrub-due",
    twins=lambda: rehearsal.NODES["scrub-due"](NOW),
    params=lambda facts: answer(facts, "scrub-due"),
    restored=as_it_was,
)
PAUSED = Story(
    runbook="scrub-due",
    twins=lambda: rehearsal.NODES["scrub-due-paused"](NOW),
    params=lambda facts: answer(facts, "scrub-due"),
    restored=as_it_was,
    name="scrub-due, of a scrub that is paused",
)
STORIES = (FIRST, PAUSED)

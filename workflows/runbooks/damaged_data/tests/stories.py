"""Walks of damaged-data: the first one is its transcript."""

from __future__ import annotations

from workflows.runbooks.damaged_data import rehearsal
from workflows.tests.stories_of_disks import answer
from workflows.tests.stories_of_slowness import NOW
from workflows.tests.walks import Story, Walk


def as_it_was(walk: Walk) -> None:
    """What was scrubbed is paused, and nothing else was done."""
    scan = walk.node.pool("ost_0").scan
    assert scan is not None
    assert (scan.function, scan.state) in (("scrub", "paused"), ("scrub", "finished"))
    assert walk.state.loops == ()


FIRST = Story(
    runbook="damaged-data",
    twins=lambda: rehearsal.NODES["damaged-data"](NOW),
    params=lambda facts: answer(facts, "damaged-data"),
    restored=as_it_was,
)


def restored_meanwhile(walk: Walk) -> str:
    with walk.changing() as node:
        node.pool("ost_0").damaged = []
    return ""


OF_ONE_LEFT = Story(
    runbook="damaged-data",
    twins=lambda: rehearsal.NODES["damaged-data-left"](NOW),
    params=lambda facts: answer(facts, "damaged-data"),
    hands={"scrubbed-again": restored_meanwhile},
    restored=as_it_was,
    name="damaged-data, a file was left",
)
STORIES = (FIRST, OF_ONE_LEFT)

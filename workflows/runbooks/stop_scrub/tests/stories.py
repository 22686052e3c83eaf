"""Walks of stop-scrub: the first one is its transcript."""

from __future__ import annotations

from collections.abc import Callable

from twin.model import Node
from workflows.runbooks.stop_scrub import rehearsal
from workflows.tests.stories_of_slowness import NOW
from workflows.tests.walks import Story, Walk


def as_it_was(walk: Walk) -> None:
    """Nothing was ordered: the stop is the last thing that is done."""
    assert walk.commands() == []


def of_the_pool(facts):
    pool = facts.nodes["oss01"].pools[0]
    return {"node": "oss01", "pool": pool.name, "pool_guid": str(pool.guid)}


def story(name: str, node: Callable[[float], Node]) -> Story:
    return Story(runbook="stop-scrub", twins=lambda: {"oss01": node(NOW)}, params=of_the_pool, restored=as_it_was, name=name)


FIRST = story("", rehearsal.paused)
OF_A_RUNNING = story("stop-scrub, it runs", rehearsal.running)
STORIES = (FIRST, OF_A_RUNNING)

"""Walks of remove-auxiliary: the first one is its transcript."""

from __future__ import annotations

from collections.abc import Callable

from twin.model import Node
from workflows.runbooks.remove_auxiliary import rehearsal
from workflows.tests.stories_of_disks import answer
from workflows.tests.stories_of_slowness import NOW
from workflows.tests.walks import Story, Walk


def as_it_was(walk: Walk) -> None:
    """Nothing was ordered: nothing is changed before the removal, and it is the last step that changes anything."""
    assert walk.commands() == []


def story(name: str, node: Callable[[], Node]) -> Story:
    return Story(
        runbook="remove-auxiliary",
        twins=lambda: {"oss01": node()},
        params=lambda facts: answer(facts, "remove-auxiliary"),
        restored=as_it_was,
        name=name,
    )


LOG = story("", lambda: rehearsal.with_one("log", True))
LOG_MIRROR = story("remove-auxiliary, a log mirror", lambda: rehearsal.log_mirror(NOW))
CACHE = story("remove-auxiliary, a cache device", lambda: rehearsal.with_one("cache", True))
SPARE = story("remove-auxiliary, a spare", lambda: rehearsal.with_one("spare", True))
STORIES = (LOG, LOG_MIRROR, CACHE, SPARE)

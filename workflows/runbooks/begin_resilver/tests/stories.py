"""Walks of begin-resilver: the first one is its transcript."""

from __future__ import annotations

from workflows.runbooks.begin_resilver import rehearsal
from workflows.tests.stories_of_disks import answer
from workflows.tests.stories_of_slowness import NOW
from workflows.tests.walks import Story, Walk


def as_it_was(walk: Walk) -> None:
    """A resilver that was begun goes on; nothing else was done."""
    assert walk.commands() in ([], [["zpool", "resilver", "ost_0"]])


def of_the_pool(facts):
    """With the new disk filled nothing is wrong but that the old one is still there."""
    pool = facts.nodes["oss01"].pools[0]
    return {"node": "oss01", "pool": pool.name, "pool_guid": str(pool.guid)}


FIRST = Story(
    runbook="begin-resilver",
    twins=lambda: rehearsal.NODES["begin-resilver"](NOW),
    params=lambda facts: answer(facts, "begin-resilver"),
    restored=as_it_was,
)
ONLY_THE_END = Story(
    runbook="begin-resilver",
    twins=lambda: {"oss01": rehearsal.needs_nothing_but_its_end(NOW)},
    params=of_the_pool,
    restored=as_it_was,
    name="begin-resilver, nothing is missing",
)
CANCELLED = Story(
    runbook="begin-resilver",
    twins=lambda: {"oss01": rehearsal.cancelled(NOW)},
    params=lambda facts: answer(facts, "begin-resilver"),
    restored=as_it_was,
    name="begin-resilver, ZFS begins none",
)
STORIES = (FIRST, ONLY_THE_END, CANCELLED)

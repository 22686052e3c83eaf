"""Walks of rename-members: the first one is its transcript."""

from __future__ import annotations

from workflows.runbooks.rename_members import rehearsal
from workflows.tests.stories_of_disks import answer
from workflows.tests.stories_of_slowness import NOW
from workflows.tests.walks import Story, Walk

STOPPED = "NFS and the backup are stopped; Ann has the passphrase of ost_0/home."
STARTED = "Keys loaded, datasets mounted, shares started."


def stop(walk: Walk) -> str:
    with walk.changing() as node:
        rehearsal.unmount(node)
    return STOPPED


def imported(walk: Walk) -> None:
    """Whatever was done to it, it is imported, and the run holds nothing open."""
    assert [pool.name for pool in walk.node.imported] == ["ost_0"]
    assert walk.state.loops == ()


FIRST = Story(
    runbook="rename-members",
    twins=lambda: rehearsal.NODES["rename-members"](NOW),
    params=lambda facts: answer(facts, "rename-members"),
    hands={"stop": stop, "start": lambda walk: STARTED, "start-again": lambda walk: STARTED},
    restored=imported,
)
STORIES = (FIRST,)

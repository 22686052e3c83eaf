"""Walks of remove-vdev: the first one is its transcript."""

from __future__ import annotations

from workflows.runbooks.remove_vdev import rehearsal
from workflows.tests.stories_of_disks import answer
from workflows.tests.walks import Story, Walk


def as_it_was(walk: Walk) -> None:
    """Nothing was ordered, or the removal went through: it is never called off by itself."""
    assert walk.commands() in ([], [["zpool", "remove", "ost_0", walk.state.params["vdev_guid"]]])


def story(name: str, cls: str) -> Story:
    return Story(
        runbook="remove-vdev",
        twins=lambda: {"oss01": rehearsal.added_by_mistake(cls)},
        params=lambda facts: answer(facts, "remove-vdev"),
        restored=as_it_was,
        name=name,
    )


FIRST = story("", "data")
SPECIAL = story("remove-vdev, a special vdev", "special")
STORIES = (FIRST, SPECIAL)

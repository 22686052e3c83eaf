"""Walks of add-auxiliary: the first one is its transcript."""

from __future__ import annotations

from collections.abc import Callable

from twin.model import Node
from workflows.engine.core import Option
from workflows.runbooks.add_auxiliary import rehearsal
from workflows.tests.stories_of_disks import answer
from workflows.tests.stories_of_slowness import NOW
from workflows.tests.walks import Story, Walk


def as_it_was(walk: Walk) -> None:
    """Nothing was ordered: nothing is changed before the disk is added, and that is the last step that changes anything."""
    assert walk.commands() == []


def the_fittest(options: tuple[Option, ...]) -> str:
    return options[0].value


def scanned(walk: Walk) -> str:
    return walk.node.disk(walk.state.params["wwid"]).serial


def story(name: str, node: Callable[[float], Node]) -> Story:
    return Story(
        runbook="add-auxiliary",
        twins=lambda: {"oss01": node(NOW)},
        params=lambda facts: answer(facts, "add-auxiliary"),
        choices={"choose": the_fittest},
        hands={"scan": scanned},
        restored=as_it_was,
        name=name,
    )


SPARE = story("", rehearsal.needs_a_spare)
LOG = story("add-auxiliary, a log", rehearsal.needs_a_log)
CACHE = story("add-auxiliary, a cache device", rehearsal.needs_a_cache)
NVME = story("add-auxiliary, a log on NVMe disks", rehearsal.needs_a_log_on_nvme)
STORIES = (SPARE, LOG, CACHE, NVME)

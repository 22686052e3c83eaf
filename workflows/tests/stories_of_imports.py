"""Stories about pools that are not imported: read-only-import."""

from __future__ import annotations

from collections.abc import Mapping

from agents.twin import scenarios
from workflows.facts import FleetFacts
from workflows.tests.stories_of_disks import answer
from workflows.tests.walks import Story, Walk

NOTE = "Listed the datasets; evidence is with the storage team."


def by_hand(facts: FleetFacts) -> Mapping[str, str]:
    """No situation asks for a pool that comes in as it should; somebody begins from the node's page."""
    (pool,) = facts.nodes["oss01"].importable
    return {"node": "oss01", "pool": pool.name, "pool_guid": str(pool.guid)}


def nothing_imported(walk: Walk) -> None:
    assert [pool.name for pool in walk.node.imported] == []
    assert all(pool.state == 0 for pool in walk.node.pools), "an import for writing, or an export of one, would have changed the labels"


def story(name: str, twins, params=by_hand, **choices: str) -> Story:
    return Story(
        runbook="read-only-import",
        twins=twins,
        params=params,
        choices={step: (lambda options, value=value: value) for step, value in choices.items()},
        hands={"use": lambda walk: NOTE, "image": lambda walk: NOTE},
        restored=nothing_imported,
        name=f"read-only-import, {name}",
    )


def blocked(facts: FleetFacts) -> Mapping[str, str]:
    return answer(facts, "read-only-import")


COMES_IN = story("it comes in", lambda: {"oss01": scenarios.not_imported()})
REWINDS = story("the last seconds are lost", lambda: {"oss01": scenarios.lost_last_txgs()}, blocked, why="dry-run", offer="rewind")
IMAGED = story("a rewind is not wanted", lambda: {"oss01": scenarios.lost_last_txgs()}, blocked, why="dry-run", offer="image")
ONE_DISK = story("one disk blocks it", lambda: {"oss01": scenarios.diverged_disk()}, blocked, why="take-away")
HANDED_OVER = story("handed over at once", lambda: {"oss01": scenarios.diverged_disk()}, blocked, why="image")
STORIES = (COMES_IN, REWINDS, IMAGED, ONE_DISK, HANDED_OVER)

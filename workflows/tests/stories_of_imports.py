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


def pulled(walk: Walk) -> str:
    with walk.changing() as node:
        disk = node.deleted.pop()
        place = node.bay_of(disk.wwid)[1]
        place.wwid, place.status = None, "not installed"
    return f"{disk.serial} is kept in the safe of the storage team."


def all_disks_here(walk: Walk) -> None:
    nothing_imported(walk)
    assert walk.node.deleted == []
    assert len(walk.node.disks) == 7


def two_at_fault():
    """Without the disk that stands out it still cannot be read."""
    node = scenarios.diverged_disk()
    node.pool("ost_0").blocked_by.append(node.disks[0].wwid)
    return {"oss01": node}


DELETES = Story(
    runbook="device-delete-reimport",
    twins=lambda: {"oss01": scenarios.diverged_disk()},
    params=lambda facts: answer(facts, "device-delete-reimport"),
    hands={"use": lambda walk: NOTE, "pull": pulled, "hand-over": lambda walk: NOTE},
    restored=all_disks_here,
)
DELETES_IN_VAIN = Story(**{**vars(DELETES), "twins": two_at_fault, "name": "device-delete-reimport, it was not this disk alone"})
STORIES = (COMES_IN, REWINDS, IMAGED, ONE_DISK, HANDED_OVER, DELETES, DELETES_IN_VAIN)

"""Stories about pools that are not imported: read-only-import, device-delete-reimport, rewind-import."""

from __future__ import annotations

from collections.abc import Mapping

from twin import scenarios
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
    return disk.serial


def as_far_as_it_came(walk: Walk) -> None:
    """Before anything is written the disk comes back; where the pool was imported for writing it stays away."""
    assert walk.node.deleted == []
    nothing_imported(walk)
    assert len(walk.node.disks) == 7


def two_at_fault():
    """Without the disk that stands out it still cannot be read."""
    node = scenarios.diverged_disk()
    node.pool("ost_0").blocked_by.append(node.disks[0].wwid)
    return {"oss01": node}


def always(value: str):
    return lambda options: value


DELETES = Story(
    runbook="device-delete-reimport",
    twins=lambda: {"oss01": scenarios.diverged_disk()},
    params=lambda facts: answer(facts, "device-delete-reimport"),
    choices={"next": always("write")},
    hands={
        "use": lambda walk: NOTE,
        "hand-over": lambda walk: NOTE,
        **dict.fromkeys(("find", "leave-find", "find-after-all"), lambda walk: walk.node.deleted[-1].serial),
        **dict.fromkeys(("pull", "leave", "pull-after-all"), pulled),
    },
    restored=as_far_as_it_came,
)
DELETES_ONLY = Story(**{**vars(DELETES), "choices": {"next": always("leave")}, "name": "device-delete-reimport, nothing is written"})


def untried():
    """On this node nothing can be hidden from zdb."""
    node = scenarios.diverged_disk()
    node.faults.absent.append("systemd-run")
    return {"oss01": node}


DELETES_UNTRIED = Story(
    **{**vars(DELETES), "twins": untried, "choices": {"next": always("leave")}, "name": "device-delete-reimport, it cannot be tried before"}
)
DELETES_IN_VAIN = Story(**{**vars(DELETES), "twins": two_at_fault, "name": "device-delete-reimport, it was not this disk alone"})

IMAGES = "All 6 disks are imaged by the storage team; the images are on nas3."


def rewind(name: str, lost: int, **choices: str) -> Story:
    return Story(
        runbook="rewind-import",
        twins=lambda: {"oss01": scenarios.lost_txgs(lost)},
        params=lambda facts: answer(facts, "rewind-import"),
        choices={step: always(value) for step, value in choices.items()},
        hands={"compare": lambda walk: NOTE, "evacuate": lambda walk: f"Sent to nas3. {NOTE}", "image": lambda walk: IMAGES},
        restored=nothing_imported,
        name=f"rewind-import, {name}",
    )


EVACUATES = rewind("copied out", 9, point="3991", way="evacuate")
GOES_BACK = rewind("gone back for good", 1, point="3999", way="back", after="rewind")
LANDED = rewind("it lands further back", 9, point="3997", landed="accept", way="evacuate")
TOO_FAR = rewind("too far back for good", 9, point="3991", way="back", after="hand-over")
NO_POINT = rewind("no point is chosen", 9, point="image", after="hand-over")
NOTHING_HELPS = rewind("no point can be loaded", 20, point="3991", after="hand-over")
STORIES = (
    *(COMES_IN, REWINDS, IMAGED, ONE_DISK, HANDED_OVER),
    *(DELETES, DELETES_ONLY, DELETES_UNTRIED, DELETES_IN_VAIN),
    *(EVACUATES, GOES_BACK, LANDED, TOO_FAR, NO_POINT, NOTHING_HELPS),
)

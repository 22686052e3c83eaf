"""Walks of finish-replacement: the first one is its transcript."""

from __future__ import annotations

from collections.abc import Callable

from twin.disk_kinds import nvme, sata_without_wwn, turned
from twin.model import Node
from workflows.engine.core import Option
from workflows.runbooks.finish_replacement import rehearsal
from workflows.runbooks.finish_replacement.guards import LET_GO, UNDO, WAIT
from workflows.tests.stories_of_disks import answer
from workflows.tests.stories_of_slowness import NOW
from workflows.tests.walks import Story, Walk


def chosen(way: str) -> Callable[[tuple[Option, ...]], str]:
    """The first option of this way: one that lets a disk go names it."""
    return lambda options: next(option.value for option in options if option.value.split()[0] == way)


def as_it_was(walk: Walk) -> None:
    """Nothing was done; or the new disk is out again, which is how the pool was before the replacement."""
    given = walk.commands()
    params = walk.state.params
    undone = [["zpool", "detach", params["pool"], params.get("goes_guid", "")]]
    assert given == [] or (given == undone and params["way"] == UNDO), given


def story(name: str, node: Callable[[float], Node], way: str, **more) -> Story:
    return Story(
        runbook="finish-replacement",
        twins=lambda: {"oss01": node(NOW)},
        params=lambda facts: answer(facts, "finish-replacement"),
        choices={"way": chosen(way)},
        restored=as_it_was,
        name=name,
        **more,
    )


def of_the_halves(facts):
    """A replacement that runs has no situation that leads here; a person begins it at the pool."""
    pool = facts.nodes["oss01"].pools[0]
    holder = next(vdev for _, top in pool.tops for vdev in top.walk() if vdev.kind == "replacing")
    guids = {"vdev_guid": str(holder.children[0].guid), "new_guid": str(holder.children[-1].guid)}
    return {"node": "oss01", "pool": pool.name, "pool_guid": str(pool.guid), **guids}


FIRST = story("", rehearsal.new_one_lost, UNDO)
CALLED_OFF = story("finish-replacement, called off", rehearsal.called_off, UNDO)
BY_ITSELF = story("finish-replacement, a vdev by itself", rehearsal.by_itself, UNDO)
OLD_LOST = story("finish-replacement, the old disk is lost", rehearsal.old_one_lost, LET_GO)
TWO_SPARES = story("finish-replacement, two spares", rehearsal.two_spares, LET_GO)
WAITS = Story(
    **{
        **vars(story("finish-replacement, the resilver ends it", rehearsal.being_filled, WAIT)),
        "params": of_the_halves,
    }
)
NVME = story("finish-replacement, an NVMe mirror", lambda now: turned(rehearsal.half_of_a_mirror(now), nvme), UNDO)
SATA = story("finish-replacement, SATA disks without a WWN", lambda now: turned(rehearsal.new_one_lost(now), sata_without_wwn), UNDO)
STORIES = (FIRST, CALLED_OFF, BY_ITSELF, OLD_LOST, TWO_SPARES, WAITS, NVME, SATA)

"""Walks of replace-in-place: the first one is its transcript."""

from __future__ import annotations

from collections.abc import Mapping

from twin import scenarios
from twin.disk_kinds import multipath, sata_without_wwn, turned
from twin.model import Node
from workflows.engine.core import Params
from workflows.guards.bay import has_no_bay
from workflows.runbooks.replace_in_place import rehearsal
from workflows.runbooks.replace_in_place.guards import about_the_new_disk
from workflows.tests.stories_of_disks import answer
from workflows.tests.stories_of_slowness import NOW
from workflows.tests.walks import Story, Walk


def the_lit_one(walk: Walk) -> str:
    return str(rehearsal.lit_bay(walk.node).number)


def pull(walk: Walk) -> str:
    return pulled(walk, walk.state.params)


def pull_the_new_one(walk: Walk) -> str:
    return pulled(walk, about_the_new_disk(walk.state.params))


def pulled(walk: Walk, params: Params) -> str:
    with walk.changing() as node:
        walk.kept["pulled"] = scenarios.unplug(node, params["old_wwid"] if has_no_bay(params) else rehearsal.lit_bay(node).wwid)
    return ""


def as_it_was(walk: Walk) -> None:
    """One disk serves alone: the old one where it did, or the new one where it was filled already. No half is left, and nothing is lit."""
    filled = any(one.step == "resilver" for one in walk.state.finished)
    leaf = scenarios.leaf_on(walk.node, walk.state.params["wwid" if filled else "old_wwid"])
    assert leaf.state in ("ONLINE", "DEGRADED")
    assert not any(vdev.type == "replacing" for pool in walk.node.pools for vdev in pool.walk())
    assert not any(bay.locate for enclosure in walk.node.enclosures for bay in enclosure.bays)
    given = [argv[1] for argv in walk.commands() if argv[0] == "zpool"]
    assert given in ([], ["replace"] if filled else ["replace", "detach"]), given


def story(name: str, twins: Mapping[str, Node]) -> Story:
    return Story(
        runbook="replace-in-place",
        twins=lambda: dict(twins),
        params=lambda facts: answer(facts, "replace-in-place"),
        hands={
            "scan-chosen": lambda walk: walk.state.params["spare_serial"],
            "blinks": the_lit_one,
            "find": lambda walk: walk.state.params["old_serial"],
            "pull": pull,
            "scan": lambda walk: walk.state.params["old_serial"],
            "blinks-new": the_lit_one,
            "find-new": lambda walk: walk.state.params["spare_serial"],
            "pull-new": pull_the_new_one,
        },
        restored=as_it_was,
        name=name,
    )


FIRST = story("", rehearsal.NODES["replace-in-place"](NOW))
BY_ITSELF = story("replace-in-place, a vdev by itself", {"oss01": rehearsal.by_itself(NOW)})
MIRROR = story("replace-in-place, a half of a mirror", {"oss01": rehearsal.half_of_a_mirror(NOW)})
DRAID = story("replace-in-place, a member of a dRAID", {"oss01": rehearsal.of_a_draid(NOW)})
SEVERAL = story("replace-in-place, the first of two", {"oss01": rehearsal.two_of_a_raidz(NOW)})
SATA = story("replace-in-place, SATA disks without a WWN", {"oss01": turned(rehearsal.needs_it(NOW), sata_without_wwn)})
NVME = story("replace-in-place, NVMe disks without an enclosure", {"oss01": rehearsal.on_nvme(NOW)})
MAPPED = story("replace-in-place, disks behind multipath maps", {"oss01": turned(rehearsal.needs_it(NOW), multipath)})
STORIES = (FIRST, BY_ITSELF, MIRROR, DRAID, SEVERAL, SATA, NVME, MAPPED)

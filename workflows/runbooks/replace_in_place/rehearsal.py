"""Nodes that need replace-in-place, for the demo, rehearsals and tests, and what somebody does on them when a step asks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from twin import scenarios
from twin.build import add_pool, guid_of, member, top
from twin.disk_kinds import nvme, turned
from twin.model import Bay, Node, Pool
from workflows.engine.core import Params
from workflows.guards.bay import has_no_bay
from workflows.rehearsal.hand import ASSUMED_DONE, CannotSuppose, Hand
from workflows.runbooks.replace_in_place.guards import about_the_new_disk

if TYPE_CHECKING:
    from workflows.rehearsal.play import Play


FILLING_SECONDS = 3600.0


def needs_it(now: float) -> Node:
    """A member of its raidz2 is DEGRADED and serves; two blank disks sit in free bays beside it."""
    return filling_slowly(scenarios.sick_disk())


def by_itself(now: float) -> Node:
    """The pool's one disk says that it will fail, and no other disk holds what it holds; a blank disk sits beside it."""
    disks = [scenarios.lab_disk(number, number) for number in range(2)]
    node = scenarios.lab_node(disks=disks)
    leaf = member(node, disks[0], guid_of("by-itself", 0))
    pool = Pool("scratch", guid_of("by-itself"), [top("disk", leaf.guid, [leaf], disks[0].size_bytes)], int(node.hostid, 16), node.hostname)
    pool.alloc_bytes = 65396736
    add_pool(node, pool, disks, [leaf])
    disks[0].smart.passed = False
    return filling_slowly(node)


def half_of_a_mirror(now: float) -> Node:
    """One half of a mirror says that it will fail; a blank disk sits beside it."""
    disks = [scenarios.lab_disk(number, number) for number in range(3)]
    node = scenarios.lab_node(disks=disks)
    leaves = [member(node, disk, guid_of("mirrored", disk.wwid)) for disk in disks[:2]]
    pool = Pool(
        "home",
        guid_of("mirrored"),
        [top("mirror", guid_of("mirrored", 0), leaves, disks[0].size_bytes)],
        int(node.hostid, 16),
        node.hostname,
    )
    pool.alloc_bytes = 65396736
    add_pool(node, pool, disks, leaves)
    disks[0].smart.passed = False
    return filling_slowly(node)


def of_a_draid(now: float) -> Node:
    """A member of a dRAID says that it will fail; its distributed spare is free, and blank disks sit beside it."""
    node = scenarios.draid()
    node.disks[2].smart.passed = False
    return filling_slowly(node)


def two_of_a_raidz(now: float) -> Node:
    """Two members say that they will fail, and two blank disks sit beside them: one after the other."""
    node = scenarios.tiny()
    node.mounts = ["sysfs /sys sysfs rw,nosuid 0 0"]
    for disk in (node.disks[1], node.disks[4]):
        disk.smart.passed = False
    return filling_slowly(node)


def filling_slowly(node: Node) -> Node:
    """So that there is time to call it off."""
    node.knobs.resilver_seconds = FILLING_SECONDS
    return node


def on_nvme(now: float) -> Node:
    """Half of a mirror of NVMe disks says that it will fail. No enclosure knows of any of them, so no light leads to them."""
    return turned(half_of_a_mirror(now), nvme)


NODES: Mapping[str, Callable[[float], Mapping[str, Node]]] = {
    "replace-in-place": lambda now: {"oss01": needs_it(now)},
    "replace-in-place-nvme": lambda now: {"oss01": on_nvme(now)},
}


def lit_bay(node: Node) -> Bay:
    lit = [bay for enclosure in node.enclosures for bay in enclosure.bays if bay.locate]
    if len(lit) != 1:
        raise CannotSuppose(f"{len(lit)} bays are lit, so it cannot be told which one somebody would go to.")
    return lit[0]


def _names_it(play: Play) -> str:
    return str(lit_bay(play.node).number)


def _pulls_it(play: Play) -> str:
    return _pulls(play, play.params)


def _pulls_the_new_one(play: Play) -> str:
    return _pulls(play, about_the_new_disk(play.params))


def _pulls(play: Play, params: Params) -> str:
    with play.host.store.changing() as node:
        wwid = params["old_wwid"] if has_no_bay(params) else lit_bay(node).wwid
        if wwid is None:
            raise CannotSuppose("The lit bay is empty by the report, so there is nothing to pull.")
        play.kept["pulled"] = scenarios.unplug(node, wwid)
    return ASSUMED_DONE


def _scans_the_new_one(play: Play) -> str:
    return play.params["spare_serial"]


def _scans_the_old_one(play: Play) -> str:
    return play.params["old_serial"]


def _reads_it(play: Play) -> str:
    pulled = play.kept.get("pulled")
    return pulled.serial if pulled is not None else play.params["old_serial"]


HANDS: Mapping[str, Hand] = {  # step -> what is taken for done there
    "scan-chosen": Hand("The serial number that the chosen disk reports is scanned off it.", _scans_the_new_one),
    "blinks": Hand("The bay that the node lit is the bay that blinks.", _names_it),
    "find": Hand("The serial number of the old disk is scanned off it, in its place.", _scans_the_old_one),
    "pull": Hand("The old disk is pulled.", _pulls_it),
    "scan": Hand("The serial number on the disk that was pulled is scanned.", _reads_it),
    "blinks-new": Hand("The bay that the node lit is the bay that blinks.", _names_it),
    "find-new": Hand("The serial number of the new disk is scanned off it, in its place.", _scans_the_new_one),
    "pull-new": Hand("The new disk is pulled.", _pulls_the_new_one),
}

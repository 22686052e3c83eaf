"""Several blank disks that go into a pool together as one mirror: what is asked of a new disk, asked of each under a number of its own.

They are named in one parameter, in the order in which they stand in the command: `disk_2.state` is a fact of the second. Where some are behind multipath
maps, the parameter `maps` has the UUIDs of those maps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from agents.collectors.base import Capture
from agents.domain.multipath_maps import uuid_of
from agents.host.host import Host
from agents.operations import _member, _new_disk, _released, _tree
from agents.operations._member import Question
from agents.operations.base import NONE, UNKNOWN, check_wwid

DISKS_MIN, DISKS_MAX = 2, 4
MAPS = "maps"
ALIKE, APART = "alike", "apart"
FACTS = ("disks.blocks", "disks.bays", "zfs.prepares", *_released.FACTS)


@dataclass(frozen=True)
class Scene(_member.Scene):
    """One tree, and beside it each disk as it is when it comes alone."""

    each: tuple[_new_disk.Scene, ...]


def wwids(params: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(params["wwids"].split(" "))


def check(params: Mapping[str, str]) -> str:
    """Of the disks alone: enough of them, and none twice."""
    named = wwids(params)
    if not DISKS_MIN <= len(named) <= DISKS_MAX or len(set(named)) < len(named):
        return f"A mirror is made of {DISKS_MIN} to {DISKS_MAX} disks, none of them twice, and not of {params['wwids']!r}."
    return next((why for wwid in named if (why := check_wwid(wwid))), "") or _check_maps(params)


def _check_maps(params: Mapping[str, str]) -> str:
    maps = params.get(MAPS, "").split(" ") if MAPS in params else []
    strange = [uuid for uuid in maps if uuid not in map(uuid_of, wwids(params))]
    if strange or len(set(maps)) < len(maps):
        return f"{params[MAPS]!r} are not multipath maps of {params['wwids']}, each named once."
    return ""


def each(params: Mapping[str, str]) -> tuple[Mapping[str, str], ...]:
    """The parameters as they are of each disk when it comes alone."""
    maps, alone = params.get(MAPS, "").split(" "), {name: value for name, value in params.items() if name != MAPS}
    of_the_maps = {wwid: {_new_disk.MAP: str(uuid_of(wwid))} for wwid in wwids(params) if uuid_of(wwid) in maps}
    return tuple({**alone, "wwid": wwid, **of_the_maps.get(wwid, {})} for wwid in wwids(params))


def survey(host: Host, params: Mapping[str, str]) -> Scene:
    status = _member.survey(host, params).status
    return Scene(host, params, status, tuple(_new_disk.seen(host, one, status) for one in each(params)))


def numbered(name: str, number: int) -> str:
    return name.replace("disk.", f"disk_{number}.", 1)


def names(params: Mapping[str, str]) -> tuple[str, ...]:
    """Of every fact of the disks."""
    of_one = [name for name in _new_disk.FACTS if name.startswith("disk.")]
    return (*FACTS, *(numbered(name, number) for number, _ in enumerate(wwids(params), 1) for name in of_one))


def facts(scene: Scene) -> dict[str, str]:
    of_each = [_new_disk.of_the_disk(one) for one in scene.each]
    return {
        **{numbered(name, number): value for number, found in enumerate(of_each, 1) for name, value in found.items()},
        "disks.blocks": _together([found["disk.logical_block_bytes"] for found in of_each], ALIKE, lambda values: len(set(values)) == 1),
        "disks.bays": _together([found["disk.bay"] for found in of_each], APART, _are_apart),
        **_new_disk.of_zfs(scene.host),
    }


def questions(params: Mapping[str, str]) -> tuple[Question, ...]:
    of_each = ((numbered(fact, number), *rest) for number, one in enumerate(each(params), 1) for fact, *rest in _new_disk.questions(one))
    return (
        *of_each,
        ("disks.blocks", (ALIKE,), "The disks have blocks of different sizes: {} bytes. Choose disks that are alike."),
        ("disks.bays", (APART,), "Two of the disks are shown in one bay: {}. Find out which is where before anything is written."),
    )


def incoming(scene: Scene) -> dict[str, dict[str, str]]:
    """Each disk as a plan shows it, under its number."""
    return {f"disk {number}": _new_disk.incoming(one) for number, one in enumerate(scene.each, 1)}


def evidence(host: Host, params: Mapping[str, str]) -> tuple[Capture, ...]:
    """What the disks' labels say now."""
    return tuple(capture for one in each(params) for capture in _new_disk.labels_now(host, one))


def aftermath(host: Host, params: Mapping[str, str]) -> tuple[Capture, ...]:
    return (*_tree.captures(host), *evidence(host, params))


def _together(values: Sequence[str], word: str, holds: Callable[[Sequence[str]], bool]) -> str:
    """`word` where it holds of all, else the values; not known where one of them is not."""
    missing = next((value for value in values if value.startswith(UNKNOWN)), "")
    return missing or (word if holds(values) else ", ".join(values))


def _are_apart(bays: Sequence[str]) -> bool:
    """A disk that no enclosure can report is in no bay that another one could be in."""
    known_bays = [bay for bay in bays if bay != NONE]
    return len(set(known_bays)) == len(known_bays)

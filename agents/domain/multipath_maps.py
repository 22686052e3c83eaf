"""Which multipath map is one disk, by what a write names it, and why a map is not taken for the disk.

A map is the disk where its UUID is that of the disk and its slaves are exactly the disk's paths. multipath-tools names it `mpath-` and the WWID that
scsi_id gives (multipath.conf(5), uid_attribute): a 3 for an NAA name. Its alias, `mpatha`, may move to another disk (user_friendly_names), and the
`wwn-…` link leads to a path while no map is there, so neither is written to: `/dev/disk/by-id/dm-uuid-mpath-3…` leads to the map or to nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Optional, Protocol, Tuple, TypeVar

from agents.domain.wwid import by_id_path

LINK = "/dev/disk/by-id/dm-uuid-"
_NAA = re.compile(r"naa:([0-9a-f]{16}|[0-9a-f]{32})", re.ASCII)
# What device mapper and the path checker call a path that takes I/O (multipathd(8)); the checker's word is None where the kernel alone was asked.
UP = (("active", "ready"), ("active", None))


class Path(Protocol):
    """One path of a map, as multipathd or the kernel reports it."""

    @property
    def name(self) -> str: ...
    @property
    def dm_state(self) -> str | None: ...
    @property
    def checker(self) -> str | None: ...


class Map(Protocol):
    @property
    def dm(self) -> str: ...
    @property
    def uuid(self) -> str: ...
    @property
    def paths(self) -> Sequence[Path]: ...


class Device(Protocol):
    """One kernel device that leads to the disk, as sysfs shows it."""

    @property
    def name(self) -> str: ...
    @property
    def holders(self) -> Sequence[str] | None: ...


AMap = TypeVar("AMap", bound=Map)


def uuid_of(wwid: str) -> str | None:
    """ "mpath-35000c500a65b207b" of "naa:5000c500a65b207b"; None of a disk whose map is not known by its WWID alone."""
    match = _NAA.fullmatch(wwid)
    return f"mpath-3{match.group(1)}" if match else None


def path_of(wwid: str, uuid: str = "") -> str | None:
    """What a write names the disk by: its map where it is behind one, else the link of its identity."""
    return f"{LINK}{uuid}" if uuid else by_id_path(wwid)


def map_of(wwid: str, devices: Sequence[Device], maps: Iterable[AMap]) -> Tuple[Optional[AMap], str]:
    """(the map that is this disk, ""), or (None, why it is not known). (None, "") of a disk that no map touches.

    `devices` are all that report the disk's identity, `maps` all of the node.
    """
    names = {device.name for device in devices}
    found = [one for one in maps if one.uuid == uuid_of(wwid) or names & {path.name for path in one.paths}]
    if not found:
        return None, ""
    if len(found) > 1:
        return None, f"{' and '.join(sorted(one.dm for one in found))} are multipath maps on one disk, {wwid}: `multipath -ll` shows them"
    why = _other_disk(wwid, found[0]) or _other_paths(wwid, found[0], names) or _not_held(found[0], devices)
    return (None, why) if why else (found[0], "")


def _other_disk(wwid: str, one: Map) -> str:
    wanted = uuid_of(wwid)
    if wanted is None:
        return f"the map {one.dm} is known by {one.uuid}, and {wwid} is no NAA name that could be compared with it"
    return "" if one.uuid == wanted else f"the map {one.dm} is {one.uuid}, and the map of {wwid} would be {wanted}"


def _other_paths(wwid: str, one: Map, names: set[str]) -> str:
    slaves = {path.name for path in one.paths}
    if foreign := sorted(slaves - names):
        return f"the map {one.dm} of {wwid} has the path {', '.join(foreign)}, which does not report that it is this disk"
    if outside := sorted(names - slaves):
        return f"{', '.join(outside)} leads to {wwid} and is no path of its map {one.dm}: `multipath -ll` and `multipath -v3` show why"
    return ""


def _not_held(one: Map, devices: Iterable[Device]) -> str:
    for device in devices:
        if device.holders is None:
            return f"sysfs does not show what holds {device.name}"
        if one.dm not in device.holders:
            return f"{device.name} is a path of {one.dm}, and sysfs does not show that {one.dm} holds it"
    return ""


def paths_up(one: Map) -> Tuple[str, ...]:
    """Names of the paths that take I/O, by device mapper, and by the path checker where it was asked."""
    return tuple(path.name for path in one.paths if (path.dm_state, path.checker) in UP)


def paths_down(one: Map) -> Tuple[str, ...]:
    """Names of those that are reported to take none. One in standby (`ghost`), and one of which nothing is reported, is neither."""
    return tuple(path.name for path in one.paths if path.dm_state == "failed" or path.checker in ("faulty", "shaky"))


def states(one: Map) -> str:
    """ "sda active ready, sdq failed faulty", "sda active" where the kernel alone was asked."""
    return ", ".join(f"{path.name} {' '.join(filter(None, (path.dm_state, path.checker))) or 'no state'}" for path in one.paths)

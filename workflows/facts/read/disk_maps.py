"""The multipath map that a disk is behind, where it is the whole of the disk; and what is known by the map and its partitions."""

from __future__ import annotations

from collections.abc import Mapping

from agents.collectors import multipath as multipath_source
from agents.collectors.block import RUNNING, BlockDisk
from agents.collectors.multipath import MultipathMap
from agents.domain.multipath_maps import LINK, map_of, paths_down, paths_up
from workflows.facts.model import MapFacts
from workflows.facts.read.sources import Sources
from workflows.facts.unknown import Known, Unknown, derived, known, need


@derived
def map_above(sources: Sources, devices: list[BlockDisk]) -> Known[MultipathMap | None]:
    """None of a disk that no map touches; Unknown with the reason of one whose maps do not show that they are this disk."""
    maps = sources.read(multipath_source)
    if not known(maps):
        held = any(device.holders is None or any(holder.startswith("dm-") for holder in device.holders) for device in devices)
        return Unknown(f"Whether a multipath map is above it is not known: {maps.reason}") if held else None
    found, why = map_of(devices[0].wwid or "", devices, maps)
    return Unknown(f"It is not known as one disk behind a multipath map: {why}.") if why else found


def facts_of(one: Known[MultipathMap | None], devices: list[BlockDisk]) -> Known[MapFacts | None]:
    if not known(one) or one is None:
        return one
    dead = tuple(device.name for device in devices if device.state not in RUNNING)
    up, down = paths_up(one), paths_down(one)
    return MapFacts(
        one.dm,
        one.name or one.dm,
        one.uuid,
        tuple(name for name in up if name not in dead),
        tuple(device.name for device in devices if device.name in down or device.name in dead),
        tuple(part.dm for part in one.partitions),
    )


def read_through(one: Known[MapFacts | None], devices: list[BlockDisk]) -> list[BlockDisk]:
    """The devices that show what is on the disk: behind a map those whose path works, else all."""
    up = [device for device in devices if known(one) and one is not None and device.name in one.up]
    return up or devices


@derived
def holders_above(one: Known[MultipathMap | None], holders: tuple[str, ...]) -> Known[tuple[str, ...]]:
    """`holders` of the paths, with what holds the map and its partitions in place of the map itself."""
    if not known(one) or one is None:
        return holders
    found = [holder for holder in holders if holder != one.dm]
    for dm, held in ((one.dm, one.holders), *((part.dm, part.holders) for part in one.partitions)):
        found += need(Unknown(f"What holds {dm} could not be read.") if held is None else held)
    return tuple(holder for holder in dict.fromkeys(found) if holder not in one.devices)


def whole_links(one: Known[MultipathMap | None], links: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Those that lead to the map itself, which are links of the disk; the one that names it alone comes first."""
    return tuple(sorted(links.get(one.dm, ()), key=lambda link: LINK not in link)) if known(one) and one is not None else ()


def links_of(one: Known[MultipathMap | None], links: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Every link that leads to the map or a partition of it."""
    return tuple(link for dm in one.devices for link in links.get(dm, ())) if known(one) and one is not None else ()

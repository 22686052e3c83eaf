"""What the uberblocks of an unimported pool say: to which points in time it could go back, and which disks still hold them.

ZFS takes the best uberblock over all disks: the highest txg, then the latest time. Parity does not vote on it, so one disk that
went its own way decides for all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from agents.collectors import zdb_uberblocks
from agents.collectors.zdb_uberblocks import Uberblock
from workflows.facts.model import DiskFacts, LabelFacts
from workflows.facts.read.sources import Sources
from workflows.facts.unknown import Known, Unknown, known

SOURCE = zdb_uberblocks.NAME


@dataclass(frozen=True)
class DiskTimeline:
    """The uberblocks of one partition, the newest first, and whose they are by its label."""

    disk: DiskFacts
    label: LabelFacts
    uberblocks: Known[tuple[Uberblock, ...]]

    @property
    def newest(self) -> Uberblock | None:
        return self.uberblocks[0] if known(self.uberblocks) and self.uberblocks else None


@dataclass(frozen=True)
class Moment:
    """One txg that some disk could take the pool back to. `timestamps` are two when the timelines split before it."""

    txg: int
    timestamps: tuple[int, ...]
    seconds_before_newest: int
    held_by: tuple[str, ...]  # kernel names of the partitions


@dataclass(frozen=True)
class PoolTimeline:
    """All disks of one unimported pool whose uberblocks were asked for."""

    pool_name: str
    pool_guid: int
    disks: tuple[DiskTimeline, ...]

    def moments(self) -> tuple[Moment, ...]:
        """Every txg on any disk, the newest first."""
        held: dict[int, dict[str, int]] = {}
        for disk in self.disks:
            for uberblock in disk.uberblocks if known(disk.uberblocks) else ():
                held.setdefault(uberblock.txg, {})[disk.label.partition] = uberblock.timestamp
        newest = max((at for times in held.values() for at in times.values()), default=0)
        return tuple(_moment(txg, held[txg], newest) for txg in sorted(held, reverse=True))

    def common(self) -> tuple[Moment, ...]:
        """The moments that every disk holds and dates alike: where a rewind would find the pool whole."""
        names = {disk.label.partition for disk in self.disks}
        return tuple(m for m in self.moments() if set(m.held_by) == names and len(m.timestamps) == 1)


def read_timelines(sources: Sources, disks: Known[tuple[DiskFacts, ...]]) -> Known[tuple[PoolTimeline, ...]]:
    """By pool. Disks of imported pools are not asked, so a pool that is missing here was not looked at."""
    if not known(disks):
        return disks
    if not any(True for _ in sources.keys(SOURCE)):
        return Unknown("No uberblocks were collected; they are read on disks of no imported pool, once an hour or on request.")
    pools: dict[int, list[DiskTimeline]] = {}
    for disk in _disks(sources, disks):
        pools.setdefault(disk.label.pool_guid or 0, []).append(disk)
    return tuple(PoolTimeline(found[0].label.pool_name or "", guid, tuple(found)) for guid, found in pools.items())


def _disks(sources: Sources, disks: tuple[DiskFacts, ...]) -> Iterator[DiskTimeline]:
    asked = set(sources.keys(SOURCE))
    for disk in disks:
        for label in disk.labels if known(disk.labels) else ():
            if label.partition in asked and label.pool_guid is not None:
                yield DiskTimeline(disk, label, sources.read(zdb_uberblocks, label.partition))


def _moment(txg: int, times: dict[str, int], newest: int) -> Moment:
    return Moment(txg, tuple(sorted(set(times.values()))), newest - max(times.values()), tuple(sorted(times)))

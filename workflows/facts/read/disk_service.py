"""How the kernel is served by each disk: the state that multipath gives each path, commands that failed or took too long, and waits as ZFS counts them.

By kernel name, and for the waits by vdev guid. They are for people who look at one disk; whether a disk is slow is decided elsewhere,
from what happens now.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from agents.collectors import io_counters as io_counters_source
from agents.collectors import multipath as multipath_source
from agents.collectors import zpool_iostat_w as zpool_iostat_w_source
from agents.collectors.io_counters import IoCounters
from agents.collectors.zpool_iostat_w import Histogram
from workflows.facts.read.sources import Sources
from workflows.facts.unknown import Known, derived, known, need

LONG_NS = 1_000_000_000


@dataclass(frozen=True)
class OnPath:
    """One path of a multipath map. A state is None where the daemon said nothing of it."""

    map: str  # "mpatha", or "dm-3" of one without a name
    state: str | None  # "active", "failed", "undef"
    checker: str | None  # "ready", "faulty", "shaky", "ghost"

    @property
    def failed(self) -> bool:
        return self.state == "failed" or self.checker in ("faulty", "shaky")


@dataclass(frozen=True)
class ServiceFacts:
    """Each part is known or not by itself. A disk without an entry in `paths` is behind no multipath map."""

    paths: Known[Mapping[str, OnPath]]
    commands: Known[Mapping[str, IoCounters]]
    waits: Known[Mapping[str, Histogram]]

    def long(self, guid: int, kind: str) -> tuple[int, int] | None:
        """How many I/Os to this leaf took longer than a second since its pool was imported, and of how many; None when not known."""
        found = self.waits.get(str(guid)) if known(self.waits) else None
        long, all_ = (found.above(kind, LONG_NS), found.above(kind, 0)) if found else (None, None)
        return None if long is None or all_ is None else (long, all_)


def read_service(sources: Sources) -> ServiceFacts:
    return ServiceFacts(_paths(sources), _commands(sources), _waits(sources))


@derived
def _paths(sources: Sources) -> Known[Mapping[str, OnPath]]:
    maps = need(sources.read(multipath_source))
    return {path.name: OnPath(one.name or one.dm, path.dm_state, path.checker) for one in maps for path in one.paths}


def _commands(sources: Sources) -> Known[Mapping[str, IoCounters]]:
    reading = sources.read(io_counters_source)
    return {one.name: one for one in reading} if known(reading) else reading


def _waits(sources: Sources) -> Known[Mapping[str, Histogram]]:
    reading = sources.read(zpool_iostat_w_source)
    return {one.name: one for one in reading} if known(reading) else reading

"""What a node remembers by itself: the kernel's log, ZFS's events, and the history inside each pool."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from agents.collectors import kernel_log as kernel_log_source
from agents.collectors import zpool_events as zpool_events_source
from agents.collectors import zpool_history as zpool_history_source
from agents.collectors.kernel_log import KernelEvent, KernelLog
from agents.collectors.zpool_events import Event
from agents.collectors.zpool_history import History
from workflows.facts.read.sources import Sources
from workflows.facts.unknown import Known, known

SECOND = 1_000_000
ABOUT_A_DISK = ("task-abort-begun", "task-abort", "command-failed", "io-error", "zio-error")


@dataclass(frozen=True)
class Place:
    """A bay as an HBA's driver names it in the log."""

    enclosure_id: str
    slot: int


def read_kernel_log(sources: Sources) -> Known[KernelLog]:
    return sources.read(kernel_log_source)


def read_events(sources: Sources) -> Known[tuple[Event, ...]]:
    return sources.read(zpool_events_source)


def read_histories(sources: Sources) -> Mapping[str, Known[History]]:
    """By pool name; a pool that is not here was not asked."""
    return {pool: sources.read(zpool_history_source, pool) for pool in sources.keys("zpool_history")}


def last_suspension(log: Known[KernelLog], pool: str) -> tuple[KernelEvent, ...]:
    """The lines that say `pool` was suspended, without those before its last resumption."""
    lines: list[KernelEvent] = []
    for event in log.events if known(log) else ():
        if event.field("pool") != pool:
            continue
        if event.kind == "resumed":
            lines.clear()
        elif event.kind in ("suspended", "multihost-suspended"):
            lines.append(event)
    return tuple(lines)


def disks_in_trouble(log: Known[KernelLog], from_us: int, to_us: int) -> dict[str, list[KernelEvent]]:
    """Kernel names and H:C:T:L that lines between two moments complain of, most complained of first. Names of that moment only."""
    found: dict[str, list[KernelEvent]] = {}
    for event in log.events if known(log) else ():
        if event.kind in ABOUT_A_DISK and from_us <= event.at_us <= to_us:
            name = event.field("disk") or event.field("hctl") or event.field("vdev")
            if name:
                found.setdefault(name, []).append(event)
    return dict(sorted(found.items(), key=lambda item: -len(item[1])))


def places(log: Known[KernelLog]) -> Mapping[str, Place]:
    """SAS address -> bay, where the driver printed both in two lines one after the other."""
    return {target: place for target, place in _places(log.events)} if known(log) else {}


def _places(events: tuple[KernelEvent, ...]) -> Iterator[tuple[str, Place]]:
    for before, event in itertools.pairwise(events):
        if before.kind == "target" and event.kind == "place" and event.at_us - before.at_us < SECOND:
            yield before.field("sas_address") or "", Place(event.field("enclosure") or "", int(event.field("slot") or 0))

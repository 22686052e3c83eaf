"""The captures that the agent would have made on the host of an archive: its own collectors, asked in the order of its schedule."""

from collections.abc import Iterator
from typing import Any

from agents.collectors import COLLECTORS
from agents.collectors.base import ASLEEP, WOULD_WAKE, Capture
from agents.domain.wwid import strip_partition
from agents.reporting.schedule import NAMED, SLEEP
from workflows.snapshot.recorded import NotCollected, RecordedHost, Recording


def captures(recording: Recording) -> tuple[Capture, ...]:
    """Of every source, in the order of the collectors. A disk that slept was asked nothing that would have woken it."""
    host = RecordedHost(recording)
    sleeping = tuple(sorted(recording.asleep, key=lambda name: (len(name), name)))
    return tuple(capture for name, module in COLLECTORS.items() for capture in _of(name, module, host, sleeping))


def _of(name: str, module: Any, host: RecordedHost, sleeping: tuple[str, ...]) -> Iterator[Capture]:
    if getattr(module, "WAKES_ALL", False) and sleeping:
        yield Capture(name, "", "nothing", "", f"{', '.join(sleeping[:NAMED])} {WOULD_WAKE}")
        return
    try:
        if not hasattr(module, "keys"):
            yield from module.collect(host)
            return
        keys = module.keys(host)
    except NotCollected as why:
        yield Capture(name, "", "failed", "", f"{why.filename}: {why.strerror}")
        return
    for key in keys:
        yield _one(name, module, host, key, sleeping)


def _one(name: str, module: Any, host: RecordedHost, key: str, sleeping: tuple[str, ...]) -> Capture:
    disk = strip_partition(key)[0]
    if name != SLEEP and getattr(module, "WAKES", False) and disk in sleeping:
        return Capture(name, key, "nothing", "", f"{disk} {ASLEEP}")
    try:
        found: Capture = module.collect_one(host, key)
    except NotCollected as why:
        return Capture(name, key, "failed", "", f"{why.filename}: {why.strerror}")
    return found

"""From which uberblock the last import of each pool took it, and which disk's uberblock made a load fail, by ZFS's own log."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from agents.collectors import dbgmsg as dbgmsg_source
from workflows.facts.read.sources import Sources
from workflows.facts.unknown import Known, derived, need

_TOOK = re.compile(r"spa_load\(([^,()]+), config \w+\): using uberblock with txg=([0-9]{1,20})")


_BEST = re.compile(r"vdev '([^']+)': best uberblock found for spa (\S+)\. txg ([0-9]{1,20})")
_FAILED = re.compile(r"spa_load\(([^,()]+), config \w+\): FAILED: (.+)")


@dataclass(frozen=True)
class FailedLoad:
    """A look or an import that followed the uberblock of this vdev, and failed. Looks call every pool `$import`, so the vdev identifies it."""

    path: str
    txg: int
    why: str


@derived
def read_failed_loads(sources: Sources) -> Known[tuple[FailedLoad, ...]]:
    parsed = need(sources.read(dbgmsg_source))
    led: dict[str, tuple[str, int]] = {}
    found = []
    for message in parsed:
        best, failed = _BEST.search(message.text), _FAILED.search(message.text)
        if best:
            led[best.group(2)] = (best.group(1), int(best.group(3)))
        elif failed and (by := led.pop(failed.group(1), None)):
            found.append(FailedLoad(*by, failed.group(2).strip()))
    return tuple(found)


@derived
def read_loads(sources: Sources) -> Known[Mapping[str, int]]:
    """Pool name -> txg. A pool that is missing here was imported longer ago than the log reaches."""
    parsed = need(sources.read(dbgmsg_source))
    found = (_TOOK.search(message.text) for message in parsed)
    return {match.group(1): int(match.group(2)) for match in found if match}

"""Replacements that nothing fills. One look cannot distinguish them from one whose resilver is about to begin, or has just ended; two looks can.

OpenZFS 2.1.11: a resilver that restarts while the pool's devices are being reopened begins as a scrub (`dsl_scan_sync` asks
`vdev_resilver_needed`, and a device that is just being reopened is not writable), and no other one follows it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from agents.collectors._vdevs import Vdev
from agents.collectors.zpool_status import Pool
from workflows.facts.model import REPAIRS
from workflows.facts.unknown import Known, derived, need

Halves = tuple[str, ...]  # the names of what stands in one `replacing`, the old first


@derived
def read_idle(now: Pool, earlier: Known[tuple[Pool, float]]) -> Known[Mapping[Halves, float]]:
    """Halves -> for how many seconds at least nothing has filled the new one. `now` and `earlier` are one pool as `zpool status` had it."""
    then, seconds = need(earlier)
    if any(_repairs_now(pool) for pool in (now, then)) or not _repairs(now) <= _repairs(then):
        return {}
    before = set(_standing(then))
    return {halves: seconds for halves in _standing(now) if halves in before}


def _repairs_now(pool: Pool) -> bool:
    return any(scan.function in REPAIRS and scan.state in ("running", "paused") for scan in pool.scans)


def _repairs(pool: Pool) -> set[str]:
    """What is reported of repairs that are over: one that is reported now and was not then has run in between."""
    return {scan.text for scan in pool.scans if scan.function in REPAIRS}


def _standing(pool: Pool) -> Iterator[Halves]:
    for vdev in (pool.vdevs, *(vdev for _, vdevs in pool.sections for vdev in vdevs)):
        yield from _below(vdev)


def _below(vdev: Vdev) -> Iterator[Halves]:
    if vdev.name.startswith("replacing-") and len(vdev.children) > 1:
        yield tuple(child.name for child in vdev.children)
    for child in vdev.children:
        yield from _below(child)

"""Hang what the tables of numbers say onto the pools: fill, properties, latency and how far a scan is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from agents.collectors import zfs_get as zfs_get_source
from agents.collectors import zfs_snapshots as zfs_snapshots_source
from agents.collectors import zpool_get as zpool_get_source
from agents.collectors import zpool_list as zpool_list_source
from agents.collectors import zpool_status_errors as zpool_status_errors_source
from agents.collectors.zpool_list import PoolSpace
from agents.collectors.zpool_status import Pool, Scan
from workflows.facts.model import DiskFacts, PoolFacts
from workflows.facts.read.idle_replacements import Halves, read_idle
from workflows.facts.read.latency import read_latency
from workflows.facts.read.scan_progress import Earlier, ScanProgress, read_progress
from workflows.facts.read.sources import Sources
from workflows.facts.unknown import Known, Unknown, derived, known, need


@derived
def with_figures(
    pools: Known[tuple[PoolFacts, ...]], sources: Sources, disks: Known[tuple[DiskFacts, ...]]
) -> Known[tuple[PoolFacts, ...]]:
    """The same pools with their figures."""
    return tuple(
        replace(
            pool,
            space=_space(sources, pool.name),
            properties=_properties(sources, pool.name),
            latency=read_latency(sources, pool, disks),
            snapshots=sources.read(zfs_snapshots_source, pool.name, if_nothing=()),
            error_list=sources.read(zpool_status_errors_source, pool.name),
            datasets=sources.read(zfs_get_source, pool.name),
            progress=_progress(sources, pool) if known(pool.scans) else pool.scans,
            partial_progress=() if known(pool.scans) else _progress(sources, pool),
            idle=_idle(sources, pool.name),
        )
        for pool in need(pools)
    )


@derived
def _space(sources: Sources, name: str) -> Known[PoolSpace]:
    found: Known[PoolSpace] = Unknown(f"zpool list does not list {name}.")
    return next((one for one in need(sources.read(zpool_list_source)) if one.pool.name == name), found)


@derived
def _properties(sources: Sources, name: str) -> Known[Mapping[str, str]]:
    parsed = need(sources.read(zpool_get_source))
    return {p.name: p.value for p in parsed if p.pool == name} or Unknown(f"zpool get says nothing of {name}.")


def _progress(sources: Sources, pool: PoolFacts) -> tuple[ScanProgress, ...]:
    """Of every scan that was understood and runs."""
    exact = _exact(sources.pools("zpool_status_json"), pool.name)
    return read_progress(
        pool.scans_read, exact, _looks(sources, "zpool_status", pool.name), _looks(sources, "zpool_status_json", pool.name)
    )


@derived
def _idle(sources: Sources, name: str) -> Known[Mapping[Halves, float]]:
    now = next((pool for pool in need(sources.pools("zpool_status")) if pool.name == name), None)
    if now is None:
        return Unknown(f"zpool status does not list {name}.")
    return read_idle(now, _before(sources.earlier_pools("zpool_status"), name))


def _looks(sources: Sources, source: str, name: str) -> tuple[Earlier, ...]:
    """The pool's scans at earlier looks, the oldest first."""
    found = [_before(look, name) for look in (sources.earlier_pools(source), sources.lately_pools(source))]
    return tuple((before[0].scans, before[1]) if known(before) else before for before in found)


@derived
def _before(look: Known[tuple[tuple[Pool, ...], float]], name: str) -> Known[tuple[Pool, float]]:
    """The pool at an earlier look, and how many seconds before the last one that was."""
    pools, seconds = need(look)
    pool = next((pool for pool in pools if pool.name == name), Unknown(f"{name} was not imported when it was looked at before."))
    return (pool, seconds) if known(pool) else pool


def _exact(pools: Known[tuple[Pool, ...]], name: str) -> Scan | None:
    """The scan as the JSON of 2.3 gives it, to the byte; None where there is none."""
    found = [scan for pool in pools if pool.name == name for scan in pool.scans] if known(pools) else []
    return found[0] if len(found) == 1 else None

"""Hang what the tables of numbers say onto the pools: fill, properties, latency and how far a scan is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from workflows.facts.model import DiskFacts, PoolFacts
from workflows.facts.read.idle_replacements import Halves, read_idle
from workflows.facts.read.latency import read_latency
from workflows.facts.read.scan_progress import ScanProgress, read_progress
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
            snapshots=sources.read(f"zfs_snapshots/{pool.name}", if_nothing=()),
            error_list=sources.read(f"zpool_status_errors/{pool.name}"),
            datasets=sources.read(f"zfs_get/{pool.name}"),
            progress=_progress(sources, pool) if known(pool.scans) else pool.scans,
            partial_progress=() if known(pool.scans) else _progress(sources, pool),
            idle=_idle(sources, pool.name),
        )
        for pool in need(pools)
    )


def _space(sources: Sources, name: str) -> Known[Any]:
    reading = sources.read("zpool_list")
    return reading if not known(reading) else _named(reading, name, lambda p: p.pool.name, "zpool list")


@derived
def _properties(sources: Sources, name: str) -> Known[Mapping[str, str]]:
    parsed = need(sources.read("zpool_get"))
    return {p.name: p.value for p in parsed if p.pool == name} or Unknown(f"zpool get says nothing of {name}.")


def _progress(sources: Sources, pool: PoolFacts) -> tuple[ScanProgress, ...]:
    """Of every scan that was understood and runs."""
    exact = _exact(sources.read("zpool_status_json"), pool.name)
    return read_progress(
        pool.scans_read, exact, _looks(sources, "zpool_status", pool.name), _looks(sources, "zpool_status_json", pool.name)
    )


def _idle(sources: Sources, name: str) -> Known[Mapping[Halves, float]]:
    reading = sources.read("zpool_status")
    now = reading if not known(reading) else _named(reading, name, lambda p: p.name, "zpool status")
    return read_idle(now, _before(sources.earlier("zpool_status"), name)) if known(now) else now


def _looks(sources: Sources, source: str, name: str) -> tuple[Known[tuple[Any, float]], ...]:
    """The pool's scans at earlier looks, the oldest first."""
    found = [_before(look, name) for look in (sources.earlier(source), sources.lately(source))]
    return tuple((before[0].scans, before[1]) if known(before) else before for before in found)


@derived
def _before(look: Known[tuple[Any, float]], name: str) -> Known[tuple[Any, float]]:
    """The pool at an earlier look, and how many seconds before the last one that was."""
    pools, seconds = need(look)
    pool = next((pool for pool in pools if pool.name == name), Unknown(f"{name} was not imported when it was looked at before."))
    return (pool, seconds) if known(pool) else pool


def _exact(pools: Known[Any], name: str) -> Any:
    """The scan as the JSON of 2.3 gives it, to the byte; None where there is none."""
    found = [scan for pool in pools if pool.name == name for scan in pool.scans] if known(pools) else []
    return found[0] if len(found) == 1 else None


def _named(things: Any, name: str, of: Any, tool: str) -> Known[Any]:
    return next((thing for thing in things if of(thing) == name), Unknown(f"{tool} does not list {name}."))

"""A suspended pool's tree stands still: it says what was so when the pool was suspended, and nothing of what went since.

A real node whose shelf had lost its six disks at once went on printing each of them ONLINE below `state: SUSPENDED`, and "raidz2-0 ONLINE"
above them (OpenZFS 2.1.11 and 2.3.2, docs/lab.md). Whether a member's disk is there, only the kernel says then.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from agents.collectors.block import RUNNING
from workflows.facts.lookup import IN_SERVICE, wwid_of
from workflows.facts.model import DiskFacts, PoolFacts, VdevFacts
from workflows.facts.unknown import Known, Unknown, known


def with_gone(pools: Known[tuple[PoolFacts, ...]], disks: Known[tuple[DiskFacts, ...]]) -> Known[tuple[PoolFacts, ...]]:
    """The same pools; of a suspended one, each member that is called in service says whether its disk is gone."""
    if not known(pools) or not any(_stands_still(pool) for pool in pools):
        return pools
    runs = {d.wwid: _runs(d) for d in disks if known(d.wwid)} if known(disks) else {}
    why = "" if known(disks) else disks.reason
    return tuple(_thawed(pool, runs, why) if _stands_still(pool) else pool for pool in pools)


def _stands_still(pool: PoolFacts) -> bool:
    return known(pool.suspended) and pool.suspended and known(pool.tops)


def _thawed(pool: PoolFacts, runs: Mapping[str, Known[bool]], why: str) -> PoolFacts:
    assert known(pool.tops)
    return replace(pool, tops=tuple((kind, _with_state(top, runs, why)) for kind, top in pool.tops))


def _with_state(vdev: VdevFacts, runs: Mapping[str, Known[bool]], why: str) -> VdevFacts:
    if vdev.children:
        return replace(vdev, children=tuple(_with_state(child, runs, why) for child in vdev.children))
    return replace(vdev, gone=_gone(vdev, runs, why)) if vdev.kind == "disk" and vdev.state in IN_SERVICE else vdev


def _gone(leaf: VdevFacts, runs: Mapping[str, Known[bool]], why: str) -> Known[bool]:
    was = f"The pool is suspended, so its tree is as it was then, and whether the disk of {leaf.name} is still there is not known"
    if why:
        return Unknown(f"{was}: {why}")
    wwid = wwid_of(leaf)
    if wwid is None:
        return Unknown(f"{was}: its WWID is in no label and in no name.")
    here = runs.get(wwid, False)
    return not here if known(here) else Unknown(f"{was}: {here.reason}")


def _runs(disk: DiskFacts) -> Known[bool]:
    states = [path.state for path in disk.paths]
    if any(known(state) and state in RUNNING for state in states):
        return True
    return next((state for state in states if not known(state)), False)

"""Pools as the kernel's own statistics show them. They answer when `zpool` hangs, and say less: no vdev, no counter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from agents.collectors import kstat_pools as kstat_pools_source
from agents.collectors import kstat_txgs as kstat_txgs_source
from agents.collectors.kstat_pools import Importing, KernelPool
from agents.collectors.kstat_txgs import MultihostWrite, PoolWrites
from workflows.facts.model import PoolFacts
from workflows.facts.read.sources import Sources
from workflows.facts.unknown import Known, Unknown, derived, known, need

SLOW_MULTIHOST_NS = 1_000_000_000  # as long as a whole default interval


@dataclass(frozen=True)
class KstatFacts:
    """`writes` is by pool name; a pool without an entry was not asked."""

    pools: tuple[KernelPool, ...]
    importing: Known[tuple[Importing, ...]]
    writes: Mapping[str, Known[PoolWrites]]

    def pool(self, name: str) -> KernelPool | None:
        return next((pool for pool in self.pools if pool.name == name), None)

    def troubled(self, pool: str) -> tuple[MultihostWrite, ...]:
        """The multihost writes to `pool` that failed, could not be tried, or took as long as a whole interval."""
        writes = self.writes.get(pool, Unknown("The writes of this pool were not read."))
        rows = (writes.multihost or ()) if known(writes) else ()
        return tuple(w for w in rows if w.error or w.vdev_guid is None or w.duration_ns >= SLOW_MULTIHOST_NS)


@derived
def read_kstats(sources: Sources) -> Known[KstatFacts]:
    parsed = need(sources.read(kstat_pools_source))
    writes = {pool: sources.read(kstat_txgs_source, pool) for pool in sources.keys("kstat_txgs")}
    importing = Unknown("This version of ZFS does not say which imports are under way.") if parsed.importing is None else parsed.importing
    return KstatFacts(parsed.pools, importing, writes)


def with_kernel(pools: Known[tuple[PoolFacts, ...]], kstats: Known[KstatFacts]) -> Known[tuple[PoolFacts, ...]]:
    """What `zpool status` says, and what the kernel adds: all that is known where `zpool` does not answer.

    A kernel that shows no pool proves nothing: before 0.7.10 it shows none ever.
    """
    if not known(kstats) or not kstats.pools:
        return pools
    if not known(pools):
        return tuple(_by_kernel(pool, pools.reason) for pool in kstats.pools)
    return tuple(_joined(pool, kstats.pool(pool.name)) for pool in pools)


def _by_kernel(pool: KernelPool, why: str) -> PoolFacts:
    unknown = Unknown(f"Only the kernel's own state of {pool.name} could be read. {why}")
    return PoolFacts(
        name=pool.name,
        guid=Unknown(f"The kernel does not say the guid of {pool.name}. {why}") if pool.guid is None else pool.guid,
        state=pool.state,
        suspended=pool.state == "SUSPENDED",
        scans=unknown,
        tops=unknown,
        removing=unknown,
        expanding=unknown,
        checkpoint=unknown,
    )


def _joined(pool: PoolFacts, kernel: KernelPool | None) -> PoolFacts:
    """Before 0.7.10 `zpool status` prints another state for a suspended pool; either of the two is enough."""
    if kernel is None:
        return pool
    return replace(pool, suspended=True) if kernel.state == "SUSPENDED" else pool

"""Why writers had to wait, from the kernel statistic `dmu_tx`: the counters explained. Also of a paste that does not say which file it is.

What each counter is stands in OpenZFS, module/zfs/dmu_tx.c (`dmu_tx_try_assign`, `dmu_tx_wait`) and arc.c (`arc_tempreserve_space`).
They count since the module was loaded: whether writers wait now takes a second look.
"""

from __future__ import annotations

from collections.abc import Sequence

from agents.collectors import kstat_dmu_tx
from agents.collectors.base import Unparsed
from agents.collectors.kstat_dmu_tx import DmuTx
from workflows.engine.core import Situation
from workflows.pasted.base import Reader, Where

EXPLAINED = (  # counter, what it counts
    ("dirty_delay", "transactions were slowed down because more than zfs_delay_min_dirty_percent of zfs_dirty_data_max was dirty"),
    ("dirty_over_max", "of those had to stop until a sync made room, because zfs_dirty_data_max itself was reached"),
    ("dirty_throttle", "were put off because the dirty data would have taken too much of the ARC"),
    ("memory_reclaim", "waited because memory was short and the ARC had to give some back"),
    ("memory_reserve", "could not reserve memory"),
    ("quota", "met a quota or a full pool"),
    ("suspended", "waited for a suspended pool"),
)
MATTERS = ("dirty_delay", "dirty_over_max", "dirty_throttle", "memory_reclaim", "memory_reserve")
LEAST, LEAST_SHARE = 1000, 0.001  # fewer than these have waited on every node that ever copied a large file


def parse(lines: Sequence[str]) -> DmuTx | Unparsed:
    return kstat_dmu_tx.parse("".join(f"{kstat_dmu_tx.PATH}:{line}\n" for line in lines if line.strip()))


def situations(value: DmuTx, where: Where) -> tuple[Situation, ...]:
    """One, when more than a few transactions had to wait."""
    assigned = value.count("assigned") or 0
    if not _has_waited(value, assigned):
        return ()
    counts = [f"{count:,} {text}{_share(count, assigned)}" for name, text in EXPLAINED if (count := value.count(name))]
    limit = bool(value.count("dirty_over_max") or value.count("dirty_delay"))
    return (
        Situation(
            "writers-throttled", f"writers-throttled:{where.node}", where.node, "info",
            "Writers have been throttled by ZFS",
            f"Of {assigned:,} transactions since ZFS was loaded {'; '.join(counts)}. "
            + (
                "ZFS does that to make writers as slow as the disks are. What limits is how fast the pool writes, mostly its slowest top-level vdev "
                "or disk; a larger zfs_dirty_data_max only makes the wait longer. "
                if limit
                else ""
            )
            + "Look twice some seconds apart whether the numbers grow, and with `zpool iostat -v -l 5 2` which disk takes longest.",
            where.evidence(*(f"dmu_tx_{name}" for name in MATTERS if value.count(name))),
            subject={"node": where.node},
        ),
    )  # fmt: skip


def _has_waited(value: DmuTx, assigned: int) -> bool:
    return max(value.count(name) or 0 for name in MATTERS) >= max(LEAST, LEAST_SHARE * assigned)


def _share(count: int, assigned: int) -> str:
    return f" ({100 * count / assigned:.1f} %)" if assigned and count / assigned >= 0.001 else ""


def notes(value: DmuTx) -> tuple[str, ...]:
    return () if _has_waited(value, value.count("assigned") or 0) else ("No or hardly any writer has been throttled since ZFS was loaded.",)


READER = Reader(
    name="dmu_tx",
    first=r"[0-9]+ [0-9]+ 0x[0-9a-f]+ [0-9]+ [0-9]+ [0-9]+ [0-9]+$|name +type +data$",
    confirm=lambda lines, i: any(line.startswith("dmu_tx_") for line in lines[i + 1 : i + 3]),
    goes_on=r"dmu_tx_",
    parse=parse,
    situations=situations,
    notes=notes,
    again="cat /proc/spl/kstat/zfs/dmu_tx",
)

"""What in the captures changes how often a source is read: a scan that runs or ended, a disk that came, a pool that was exported."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agents.collectors import block, zdb_label, zpool_status
from agents.collectors.base import Unparsed
from agents.reporting.stored_capture import Kept

EXPORTED = 1  # POOL_STATE_EXPORTED, sys/fs/zfs.h
PoolState = tuple[int | None, int]  # what a label says: guid of the pool, and POOL_STATE_*
Scans = list[tuple[zpool_status.Pool, zpool_status.Scan]]


class Noticed:
    """Each method takes what its source said last. The first time nothing is news."""

    def __init__(self) -> None:
        self._read: tuple[str, Scans] = ("", [])
        self._scans: tuple[tuple[str, str], ...] | None = None
        self._disks: tuple[str, frozenset[tuple[str, str | None]]] | None = None  # digest of the text, and (kernel name, WWID)
        self._labels: dict[str, tuple[str, frozenset[PoolState]]] = {}  # by partition: digest of the text, and what it says of pools

    def scans(self, status: Sequence[Kept]) -> Scans:
        digest = " ".join(kept.digest for kept in status)
        if digest != self._read[0]:
            parsed = [zpool_status.parse(kept.text) for kept in status]
            self._read = (
                digest,
                [(pool, scan) for pools in parsed if not isinstance(pools, Unparsed) for pool in pools for scan in pool.scans],
            )
        return self._read[1]

    def a_scan_ended(self, status: Sequence[Kept]) -> bool:
        """Or began; while one runs its figures are no news."""
        before = self._scans
        self._scans = tuple((pool.name, "running" if scan.state == "running" else scan.text) for pool, scan in self.scans(status))
        return before is not None and self._scans != before

    def a_disk_came(self, devices: Sequence[Kept]) -> bool:
        """Also one under the name of one that went. A text that cannot be read counts as no change."""
        came = False
        for kept in devices:
            if kept.outcome != "data" or (self._disks is not None and kept.digest == self._disks[0]):
                continue
            disks = block.parse(kept.text)
            if not isinstance(disks, Unparsed):
                here = frozenset((disk.name, disk.wwid) for disk in disks)
                came = came or (self._disks is not None and bool(here - self._disks[1]))
                self._disks = (kept.digest, here)
        return came

    def changed_labels(self, labels: Iterable[Kept]) -> LabelNews:
        """What labels say of pools that they did not say before.

        A label that cannot be read counts as no change. The first of a partition is no export: that pool was listed when the node was first asked.
        """
        first, exports, pools = not self._labels, False, False
        for kept in labels:
            digest, before = self._labels.get(kept.key, ("", None))
            if kept.outcome == "data" and kept.digest != digest:
                now = _states(kept.text)
                exports = exports or (before is not None and _exported(now) != _exported(before))
                pools = pools or (not first and now != (before or frozenset()))
                self._labels[kept.key] = (kept.digest, now)
        return LabelNews(exports, pools)


@dataclass(frozen=True)
class LabelNews:
    """`exports`: a pool is exported since, or exported no longer. `pools`: another pool, or the same in another state, stands on a partition."""

    exports: bool
    pools: bool


def _states(text: str) -> frozenset[PoolState]:
    read = zdb_label.parse(text)
    labels = () if isinstance(read, Unparsed) else read.labels
    return frozenset((label.pool_guid, label.state) for label in labels)


def _exported(states: frozenset[PoolState]) -> frozenset[int | None]:
    return frozenset(guid for guid, state in states if state == EXPORTED)

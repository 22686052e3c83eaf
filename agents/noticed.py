"""What the texts of a schedule tell it about its own pace: a scan that runs or ended, a disk that came."""

from __future__ import annotations

from collections.abc import Sequence

from agents.collectors import block, zpool_status
from agents.collectors.base import Unparsed
from agents.kept import Kept

Scans = list[tuple[zpool_status.Pool, zpool_status.Scan]]


class Noticed:
    """Each method takes what its source said last. The first time nothing is news."""

    def __init__(self) -> None:
        self._read: tuple[str, Scans] = ("", [])
        self._scans: tuple[tuple[str, str], ...] | None = None
        self._disks: tuple[str, frozenset] | None = None  # digest of the text, and (kernel name, WWID)

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
        """Also one under the name of one that went. A text that cannot be read tells nothing."""
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

"""May a disk be put in, or a member be taken out for one, while ZFS fills disks of the pool? The node's own check and the portal's guards ask here.

    nothing is being filled                                   -> yes
    a disk of the same top-level vdev, or nothing says which  -> no: that vdev has least to spare now
    by a sequential rebuild, wherever                         -> no: ZFS refuses to attach a disk meanwhile (2.0 and newer)
    by a resilver of another vdev
        feature resilver_defer on (0.8 and newer)             -> yes: the new disk has its turn afterwards; since 2.3 both begin together
                                                                 where less than zfs_resilver_defer_percent is done
        off, not there, or zfs_resilver_disable_defer set     -> no: the one that runs begins anew

Read in `spa_vdev_attach` and `dsl_scan_assess_vdev` at the release tags from 0.7.13 to 2.4.4. Bringing a member back (`zpool online`) is
ruled alike by ZFS and never refused here: it gains a copy, and costs time at the most.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal, Optional

from agents.collectors import parameters, zpool_get
from agents.collectors.base import Unparsed, decode
from agents.collectors.node import module_version
from agents.host.host import Host
from agents.operations._tree import Member, PoolTree, value_of
from agents.operations.base import NONE, Unread

Outcome = Literal["pass", "refuse", "unknown"]
REPAIRS = ("resilver", "rebuild")
DISABLED = "zfs_resilver_disable_defer"
ON = ("enabled", "active")


@dataclass(frozen=True)
class Defers:
    """Whether a second resilver waits for the first. `feature` is the property's value, "" where the release has none; None: not known."""

    feature: Optional[str]
    disabled: Optional[str] = None  # the value of zfs_resilver_disable_defer

    def why_not(self, pool: str) -> Optional[str]:
        """Why the one that runs would begin anew; "" when it would not, None when that is not known."""
        if self.feature == "":
            return "this release of OpenZFS defers none (0.8 and newer do)"
        if self.feature is not None and self.feature not in ON:
            return f"the feature resilver_defer of {pool} is {self.feature}"
        if self.feature is None or self.disabled is None:
            return None
        return "" if self.disabled == "0" else f"{DISABLED} is {self.disabled} on this node"


def in_the_way(pool: str, vdev: str, runs: Iterable[str], here: bool, elsewhere: bool, defers: Callable[[], Defers]) -> tuple[Outcome, str]:
    """(outcome, reason). `runs`: functions of the scans that are not over; `here` and `elsewhere`: where disks are being filled."""
    repairs = [function for function in runs if function in REPAIRS]
    look = f"`zpool status {pool}` says how far it is."
    if here:
        return "refuse", f"{vdev} of {pool} is being rebuilt. One replacement at a time: wait until it ends. {look}"
    if not repairs:
        return "pass", f"No resilver touches {vdev}."
    if "rebuild" in repairs:
        return "refuse", f"A sequential rebuild of {pool} runs, and ZFS attaches no disk meanwhile. Wait until it ends. {look}"
    if not elsewhere:
        return "refuse", f"{pool} is resilvering and does not show which disk, so it may be one of {vdev}. Wait until it ends. {look}"
    why = defers().why_not(pool)
    if why is None:
        return "unknown", f"Whether a second resilver of {pool} waits for the one that runs is not known. Have the node look again. {look}"
    if why:
        return "refuse", f"{pool} is resilvering another vdev, and that would begin anew: {why}. Wait until it ends. {look}"
    return "pass", f"{pool} is resilvering another vdev; a disk of {vdev} has its turn when that ends."


def not_over(scans: Iterable[Any]) -> tuple[str, ...]:
    return tuple(scan.function for scan in scans if scan.state in ("running", "paused"))


def being_filled(vdev: Any, scans: tuple[Any, ...], filling: Callable[[Any], bool]) -> bool:
    """Whether something below `vdev` is being filled, waits for it, or is the new half of a replacement. `filling` answers it for a leaf."""
    unfinished = (v for v in vdev.walk() if v.kind in ("replacing", "spare") and not settled(v, scans))
    return any(filling(leaf) for leaf in vdev.leaves()) or next(unfinished, None) is not None


def settled(vdev: Any, scans: tuple[Any, ...]) -> bool:
    """Whether the newest child counts too. It is the last one, and in a `replacing` never: ZFS ends that itself."""
    if vdev.kind == "replacing":
        return False
    return vdev.kind != "spare" or (bool(scans) and all(is_clean(scan) for scan in scans))


def is_clean(scan: Any) -> bool:
    return bool(scan.state == "finished" and scan.errors == 0)


# --- what the node reads for it


def on_the_node(host: Host, pool: PoolTree, top: Member) -> str:
    """The fact of an operation: "none" where nothing is in the way, else what is. Raises Unread."""
    others = [one for one in pool.tops if one is not top]
    here, elsewhere = _filled(top, pool), any(_filled(one, pool) for one in others)
    outcome, reason = in_the_way(pool.name, top.name, not_over(pool.scans), here, elsewhere, lambda: _defers(host, pool.name))
    if outcome == "unknown":
        raise Unread(reason)
    return NONE if outcome == "pass" else reason


def _filled(top: Member, pool: PoolTree) -> bool:
    return being_filled(top, pool.scans, lambda leaf: leaf.filling)


def feature(host: Host, pool: str) -> str:
    """The state of the feature resilver_defer: "disabled", "enabled", "active", or that the release has none. Raises Unread."""
    found = _defers(host, pool).feature
    if found is None:
        raise Unread(f"zpool get does not say the {zpool_get.DEFERS} of {pool}")
    return found or "not there, as this release has none"


def _defers(host: Host, pool: str) -> Defers:
    capture = zpool_get.collect(host)[0]
    parsed = value_of(capture, zpool_get.parse)
    found = [] if isinstance(parsed, Unparsed) else [one.value for one in parsed if (one.pool, one.name) == (pool, zpool_get.DEFERS)]
    return Defers(found[0] if found else before_it(module_version(host)), _disabled(host))


def before_it(release: Optional[tuple[int, ...]]) -> Optional[str]:
    """What a property that was not printed means: a release that has no such feature, or not known."""
    return "" if release is not None and release < zpool_get.DEFERS_SINCE else None


def _disabled(host: Host) -> Optional[str]:
    try:
        return decode(host.read(f"{parameters.VALUES}/{DISABLED}")).strip()
    except OSError:
        return None

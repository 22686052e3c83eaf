"""The last resilver was cancelled: some member may miss part of its data, and no line says which.

Where a replacement stays over it, that is `resilver-stuck`. Here everything looks in service.
"""

from workflows.engine.core import Situation
from workflows.facts import REPAIRS, FleetFacts, NodeFacts, PoolFacts, ScanFacts, known, release_numbers
from workflows.situations import _pools, _replacements
from workflows.situations._pools import Wording, cure

SLUG = "resilver-cancelled"
MANUALS: tuple[str, ...] = ("begin-resilver",)
RESILVER_SINCE = (0, 8)


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    return tuple(_situation(node, pool, scan) for node, pool in _pools.pools(fleet) if (scan := _cancelled(pool)) is not None)


def _cancelled(pool: PoolFacts) -> ScanFacts | None:
    """The repair that was cancelled, where nothing runs or ended since and no replacement stays over it."""
    scans = _pools.scans(pool)
    found = next((scan for scan in scans if scan.function in REPAIRS and scan.state == "canceled"), None)
    if found is None or _replaces(pool) or any(scan.state == "running" for scan in scans):
        return None
    at = _pools.stamp(found.text)
    ended = [_pools.stamp(scan.text) for scan in scans if scan.state == "finished"]
    return None if at is not None and any(end is not None and end > at for end in ended) else found


def _replaces(pool: PoolFacts) -> bool:
    return any(vdev.kind == "replacing" for _, top in pool.tops_read for vdev in top.walk())


def _situation(node: NodeFacts, pool: PoolFacts, scan: ScanFacts) -> Situation:
    what = "rebuild" if scan.function == "rebuild" else "resilver"
    meaning = (
        f"The last {what} of {pool.name} on {node.node} was cancelled before its end: it was stopped by command, or the disk it filled was detached. If that disk is "
        "still a member, it misses part of its data although it is called ONLINE, and the redundancy is less than the tree shows. "
        "Take no disk out of this pool before a resilver or a scrub came to its end."
    )
    old = known(here := release_numbers(node.zfs_module)) and here < RESILVER_SINCE
    again = (
        cure(
            "resilver",
            "Begin it again.",
            ("zpool", "resilver", pool.name),
            releases="0.8 and newer",
            needs="Nothing else is being filled or scrubbed.",
        ),
    )
    scrub = cure(
        "scrub",
        "Or scrub the pool: that checks every copy on every disk, and mends what is missing.",
        ("zpool", "scrub", pool.name),
        needs="No resilver runs.",
    )
    wording = Wording(
        "watch",
        f"{pool.name}: the last {what} was cancelled",
        meaning,
        (_pools.line(node, "scan", scan.text),),
        () if _pools.stands_still(pool) else ((scrub,) if old or scan.function == "rebuild" else (*again, scrub)),
    )
    return _pools.situation(SLUG, node, pool, wording, answers=() if _pools.stands_still(pool) else _replacements.resilvered(node, pool))

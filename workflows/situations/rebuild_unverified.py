"""A disk was filled by a sequential rebuild, which checks no checksums, and no scrub came after it. OpenZFS 2.0 and newer.

Since 2.1 a scrub begins by itself after a rebuild (`zfs_rebuild_scrub_enabled`); where it does not, a person has to begin it.
"""

from workflows.engine.core import Answer, Situation
from workflows.facts import FleetFacts, NodeFacts, PoolFacts, ScanFacts, reason_of
from workflows.situations import _pools, _words
from workflows.situations._pools import Wording, cure

SLUG = "rebuild-unverified"
SCRUB_DUE = "scrub-due"
MANUALS: tuple[str, ...] = (SCRUB_DUE,)


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    return tuple(_situation(node, pool) for node, pool in _pools.pools(fleet) if is_unverified(pool))


def is_unverified(pool: PoolFacts) -> bool:
    """By the status line of ZFS; where that is about something else, by the scans: a rebuild that ended, and no scrub that runs or ended after it."""
    reason = reason_of(pool.status) if pool.status else None
    if reason is not None and reason.name == "REBUILD_SCRUB":
        return True
    rebuilt = _rebuilt(pool)
    return rebuilt is not None and not any(scan.function == "scrub" and _is_since(scan, rebuilt) for scan in _pools.scans(pool))


def _is_since(scrub: ScanFacts, rebuilt: ScanFacts) -> bool:
    """Both moments are by the same clock. One that is not known proves nothing."""
    if scrub.state != "finished":
        return scrub.state in ("running", "paused")
    return scrub.ended is not None and rebuilt.ended is not None and scrub.ended >= rebuilt.ended


def _rebuilt(pool: PoolFacts) -> ScanFacts | None:
    return next((scan for scan in _pools.scans(pool) if scan.function == "rebuild" and scan.state == "finished"), None)


def _situation(node: NodeFacts, pool: PoolFacts) -> Situation:
    scan = _rebuilt(pool)
    meaning = (
        f"A disk of {pool.name} on {node.node} was filled by a sequential rebuild. That copies blocks without checking their checksums: what was wrong on the disks "
        "it was filled from is wrong on the new one too, undetected. A scrub reads and checks all of it. Until then do not count on the redundancy that the "
        "tree shows, and take no other disk out."
    )
    lines = (
        *((_pools.line(node, "status", pool.status),) if pool.status else ()),
        *((_pools.line(node, "scan", scan.text),) if scan is not None else ()),
    )
    can = not _pools.stands_still(pool)
    scrub = cure(
        "scrub", "Scrub the pool to its end.", ("zpool", "scrub", pool.name), needs="No resilver or rebuild runs.", runbook=SCRUB_DUE
    )
    wording = Wording("watch", f"{pool.name}: it was rebuilt and not scrubbed since", meaning, lines, (scrub,) * can)
    return _pools.situation(SLUG, node, pool, wording, answers=_answers(node, pool) if can and not _pools.is_paste(node) else ())


def _answers(node: NodeFacts, pool: PoolFacts) -> tuple[Answer, ...]:
    return _words.pool_answers(
        node, pool, SCRUB_DUE, "It checks that nothing forbids a scrub, begins it, and waits for its end, however lately one ended before."
    )

"""A row of the tree is not as well as its leaves, and no leaf says why: the contradiction itself is what is known.

    DEGRADED, every disk ONLINE       ->  the disk that is missing from it is not shown, or ZFS has not looked again
    counts errors, no disk counts any ->  ZFS could not identify which disk returned what was wrong
    ONLINE, and lacks too many disks  ->  the text was taken in the middle of a change, or one of the rows is wrong

A pool or vdev that cannot be opened at all is `pool-down`.
"""

from collections.abc import Iterator

from workflows.analysis import pool_fate
from workflows.engine.core import Cure, Evidence, Severity, Situation
from workflows.facts import FleetFacts, NodeFacts, PoolFacts, VdevFacts, known, reason_of
from workflows.facts.read.data_errors import data_errors
from workflows.situations import _cures, _redundancy, _words

SLUG = "vdev-degraded"
MANUALS: tuple[str, ...] = ()
GATES = True


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    return tuple(found for node in fleet.nodes.values() for pool in node.pools_read for found in _of_pool(node, pool))


def _of_pool(node: NodeFacts, pool: PoolFacts) -> Iterator[Situation]:
    if pool_fate.is_suspended(pool) or pool_fate.why_down(pool):
        return
    rows = pool_fate.rows_without_a_reason(pool)
    yield from (_degraded(node, pool, row) for row in rows)
    if not rows and _only_the_pool(pool):
        yield _the_pool(node, pool) if pool.tops_read else _without_rows(node, pool)
    contradiction = pool_fate.contradicts_itself(pool)
    if contradiction:
        yield _contradicting(node, pool, contradiction)
    if data_errors(pool) is None:
        yield from (_counting(node, pool, top) for _, top in pool.tops_read if counts_alone(top))


def _only_the_pool(pool: PoolFacts) -> bool:
    """Whether the pool is DEGRADED and nothing in it says why."""
    whole = all(vdev.state == "ONLINE" for _, top in pool.tops_read for vdev in top.walk())
    busy = any(scan.function in ("resilver", "rebuild") and scan.state in ("running", "paused") for scan in pool.scans_read)
    return pool.state == "DEGRADED" and whole and not busy


def counts_alone(top: VdevFacts) -> bool:
    """Whether errors are counted at the row of a vdev, and at none of its disks."""
    if not top.children or not known(top.errors) or not any(top.errors):
        return False
    return all(known(leaf.errors) and not any(leaf.errors) for leaf in top.leaves())


def _degraded(node: NodeFacts, pool: PoolFacts, row: VdevFacts) -> Situation:
    missing = " A line of this text was not understood; it may be the one that says why." if pool.unread else ""
    meaning = (
        f"{row.name} of {pool.name} is {row.state}, but each of the {len(row.leaves())} disks listed below it is ONLINE and none is being filled. So what is "
        f"wrong with it is not shown, and how many more losses it survives is not known.{missing} The pool serves. If the row stays so, take "
        "it that the vdev has less redundancy than it was made with."
    )
    return _make(node, pool, "act", row, f"{pool.name}: {row.name} is {row.state}, and no disk of it says why", meaning, _rows(node, row))


def _the_pool(node: NodeFacts, pool: PoolFacts) -> Situation:
    if _redundancy.has_gaps(pool):
        return _without_rows(node, pool)
    meaning = (
        f"{pool.name} is DEGRADED, but each of its vdevs is ONLINE. So what is wrong with it is not shown. The pool serves; take it that it has less "
        "redundancy than it was made with until a second look says otherwise."
    )
    line = _words.evidence(node, "zpool_status", f"state: {pool.state}")
    return _make(node, pool, "act", None, f"{pool.name} is DEGRADED, and no vdev of it says why", meaning, (line,))


def _without_rows(node: NodeFacts, pool: PoolFacts) -> Situation:
    """Its tree was cut off, or could not be read."""
    reason = reason_of(pool.status, pool.see)
    meaning = (
        f"{pool.name} is DEGRADED, and the rows that say which member is lost are not here or were not understood. {f'By its status line: {reason.means} ' if reason else ''}"
        "The pool serves, with less redundancy than it was made with; how much is left is not known. Find the member and its guid first: where it is to be "
        "replaced, that is done by its guid and never by a name, since the name may be another disk's today."
    )
    quoted = (f"state: {pool.state}", *((f"status: {' '.join(pool.status.split())}",) if pool.status else ()))
    lines = tuple(_words.evidence(node, "zpool_status", line) for line in quoted)
    return _make(
        node,
        pool,
        "act",
        None,
        f"{pool.name} is DEGRADED, and {'the row that says why is' if pool.tops_read else 'its rows are'} not here",
        meaning,
        lines,
    )


def _contradicting(node: NodeFacts, pool: PoolFacts, contradiction: str) -> Situation:
    meaning = (
        f"{contradiction} Both cannot be so. The text may have been taken in the middle of a change, or a row of it is wrong; until a second look settles "
        f"it, how many more losses {pool.name} survives is not known, and no disk of it is to be changed."
    )
    line = _words.evidence(node, "zpool_status", contradiction)
    return _make(node, pool, "act", None, f"{pool.name}: its rows contradict each other", meaning, (line,), gate=True)


def _counting(node: NodeFacts, pool: PoolFacts, top: VdevFacts) -> Situation:
    counts = "read {}, write {}, checksum {}".format(*top.figures)
    meaning = (
        f"{top.name} of {pool.name} counts errors ({counts}), and none of its disks counts one. ZFS found wrong data and could not identify which disk returned "
        "it: what the disks share is more likely the cause than one of them: memory, the HBA, a cable, an expander. A scrub shows whether data is "
        f"damaged. {_words.margin_sentence(pool, top)}"
    )
    return _make(node, pool, "watch", top, f"{pool.name}: {top.name} counts errors, and none of its disks does", meaning, _rows(node, top))


def _rows(node: NodeFacts, row: VdevFacts) -> tuple[Evidence, ...]:
    rows = (row, *row.leaves()[:8])
    return tuple(
        _words.evidence(
            node, "zpool_status", "  ".join((one.name, one.state, *(map(str, one.errors) if known(one.errors) else ()), one.note)).rstrip()
        )
        for one in rows
    )


def _make(
    node: NodeFacts,
    pool: PoolFacts,
    severity: Severity,
    row: VdevFacts | None,
    title: str,
    meaning: str,
    lines: tuple[Evidence, ...],
    gate: bool = False,
) -> Situation:
    about = row.name if row is not None else "contradiction" if gate else "pool"
    return Situation(
        slug=SLUG,
        key=f"{SLUG}:{node.node}:{pool.name}:{about}",
        node=node.node,
        severity=severity,
        title=title,
        meaning=meaning,
        evidence=lines,
        subject=_words.subject(node, pool, row),
        cures=tuple(_cures_of(pool)),
        gate=gate,
        vdevs=(_cures.guid(row),) if row is not None else (),
    )


def _cures_of(pool: PoolFacts) -> Iterator[Cure]:
    yield _cures.look(
        "Look again, by name and by guid, and at what ZFS noticed: a row that is gone, or an event of that time, says what is missing.",
        ("zpool", "status", "-P", "-p", pool.name),
        ("zpool", "status", "-g", pool.name),
        ("zpool", "events", "-v", pool.name),
    )
    yield _cures.scrub(pool, f"Scrub {pool.name}: it reads every copy, and shows which disk does not return what was written.")

"""A scrub or resilver ended with errors, and none is listed now.

Where damaged data is listed or counted, that is `data-errors`. Where a replacement stays over it, it is `resilver-stuck`.
"""

from workflows.engine.core import Situation
from workflows.facts import REPAIRS, FleetFacts, NodeFacts, PoolFacts, ScanFacts
from workflows.facts.read.data_errors import data_errors
from workflows.situations import _pools, _words
from workflows.situations._pools import Wording, cure
from workflows.situations.errors_not_listed import not_listed

SLUG = "scrub-errors"
MANUALS: tuple[str, ...] = ()


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    return tuple(
        _situation(node, pool, scan) for node, pool in _pools.pools(fleet) if (scan := _ended(pool)) is not None and not _is_covered(pool)
    )


def _ended(pool: PoolFacts) -> ScanFacts | None:
    scans = _pools.scans(pool)
    return next((scan for scan in scans if scan.state == "finished" and scan.errors), None)


def _is_covered(pool: PoolFacts) -> bool:
    replaces = any(vdev.kind == "replacing" for _, top in pool.tops_read for vdev in top.walk())
    return replaces or data_errors(pool) is not None or bool(not_listed(pool))


def _situation(node: NodeFacts, pool: PoolFacts, scan: ScanFacts) -> Situation:
    what = "resilver" if scan.function in REPAIRS else "scrub"
    none_listed = pool.errors == "No known data errors"
    meaning = (
        f"The last {what} of {pool.name} on {node.node} ended with {_words.plural(scan.errors or 0, 'error')}: so many blocks had no good copy. "
        + (
            "No damaged data is listed now, so what was damaged was deleted or written anew since, or could be read again later. "
            if none_listed
            else "Whether damaged data is listed now is not known: the text does not say. "
        )
        + "Only a scrub that ends with 0 errors shows that all can be read. ZFS forgets an entry after the second one."
    )
    wording = Wording(
        "watch",
        f"{pool.name}: the last {what} ended with {_words.plural(scan.errors or 0, 'error')}",
        meaning,
        (_pools.line(node, "scan", scan.text), *((_pools.line(node, "errors", pool.errors),) if pool.errors else ())),
        (
            cure("look", "Ask for the list of damaged files; it only reads.", ("zpool", "status", "-v", pool.name)),
            *(
                ()
                if _pools.stands_still(pool)
                else (
                    cure(
                        "scrub",
                        "Scrub to the end. When it counts errors again, look at the list and at the disks.",
                        ("zpool", "scrub", pool.name),
                    ),
                )
            ),
        ),
    )
    return _pools.situation(SLUG, node, pool, wording, subject={"scan": what})

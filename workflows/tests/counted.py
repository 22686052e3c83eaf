"""How many more losses a vdev survives, counted by the leaves alone: what guards went by before a vdev's own state could lower it.

The tests hold that no margin of `workflows.analysis.redundancy` is larger than this one. It is written a second time on purpose: whoever changes
the margins has to change both, and says so. Source of the rule: the worked examples in `test_redundancy`.
"""

from __future__ import annotations

from workflows.facts import REPAIRS, Known, PoolFacts, ScanFacts, Unknown, VdevFacts, known


def margins(pool: PoolFacts) -> tuple[Known[int], ...]:
    """One for each top-level vdev, in their order. The tree and the scans must be known."""
    assert known(pool.tops)
    assert known(pool.scans)
    nameless = _unsettled(pool.scans) and not any(_rebuilt(top, pool.scans) for _, top in pool.tops)
    return tuple(_margin(top, pool.scans, nameless) for _, top in pool.tops)


def _margin(top: VdevFacts, scans: tuple[ScanFacts, ...], nameless: bool) -> Known[int]:
    untold = next((leaf.gone for leaf in top.leaves() if not known(leaf.gone)), None)
    if untold is not None:
        return untold
    if not top.children or top.kind in ("replacing", "spare"):
        return 0 if _whole(top, scans) and not nameless else -1
    lost = sum(not _whole(child, scans) for child in top.children) + nameless
    if top.kind == "mirror":
        return len(top.children) - 1 - lost
    if top.kind in ("raidz", "draid") and top.parity:
        return top.parity - lost
    return Unknown("another kind")


def _whole(vdev: VdevFacts, scans: tuple[ScanFacts, ...]) -> bool:
    if not vdev.children:
        return vdev.state == "ONLINE" and vdev.gone is False and not _filled(vdev)
    counting = vdev.children if _over(vdev, scans) else vdev.children[:-1]
    return any(_whole(child, scans) for child in counting)


def _over(vdev: VdevFacts, scans: tuple[ScanFacts, ...]) -> bool:
    clean = bool(scans) and all(scan.state == "finished" and scan.errors == 0 for scan in scans)
    return {"replacing": False, "spare": clean}.get(vdev.kind, True)


def _filled(leaf: VdevFacts) -> bool:
    return leaf.resilvering or leaf.awaiting_resilver or leaf.rebuilding_since_txg is not None


def _unsettled(scans: tuple[ScanFacts, ...]) -> bool:
    return any(scan.function in REPAIRS and not (scan.state == "finished" and scan.errors == 0) for scan in scans)


def _rebuilt(top: VdevFacts, scans: tuple[ScanFacts, ...]) -> bool:
    pairs = any(v.kind in ("replacing", "spare") and not _over(v, scans) for v in top.walk())
    return pairs or any(_filled(leaf) for leaf in top.leaves())

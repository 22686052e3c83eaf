"""How many more disks a vdev may lose before data is gone.

Counted conservatively: a leaf whose copy is not proven complete does not count. That is stricter than the kernel,
which records by transaction group what each leaf missed; a text of `zpool status` does not say that much.
The state of the vdev itself may lower the count and never raises it.
A margin of 0 means one more loss destroys the pool, and a negative one that data is already out of reach.
"""

import re
from collections.abc import Iterator

from agents.operations import _resilver
from workflows.facts import REPAIRS, Known, PoolFacts, ScanFacts, Unknown, VdevFacts, derived, known, need

Scans = Known[tuple[ScanFacts, ...]]

CANNOT_SERVE = ("UNAVAIL", "FAULTED")  # states of a vdev that is not open: `vdev_propagate_state`, module/zfs/vdev.c
COUNTED_CLASSES = ("data", "special", "dedup")  # losing one of these loses the pool; a log or cache does not


def margin(vdev: VdevFacts, scans: Scans, trust_degraded: bool = False) -> Known[int]:
    """Further losses the top-level `vdev` survives, seen without the rest of its pool.

    A leaf that is DEGRADED still reads, and the kernel counts it; for planning we do not, unless `trust_degraded`.
    """
    if not known(scans):
        return Unknown(f"The scan lines are not known: {scans.reason}")
    return _of_top(vdev, scans, unsettled(scans) and not being_rebuilt(vdev, scans), trust_degraded)


@derived
def class_margins(pool: PoolFacts) -> Known[tuple[tuple[str, VdevFacts, Known[int]], ...]]:
    """Each top-level vdev with its class and margin. A resilver that names its leaf elsewhere costs nothing here."""
    tops = need(pool.tops, f"The vdevs of {pool.name} are not known")
    scans = need(pool.scans, f"The scan lines of {pool.name} are not known")
    blip = _blip(tops, scans)
    return tuple((kind, top, _of_top(top, scans, blip, False)) for kind, top in tops)


def _blip(tops: tuple[tuple[str, VdevFacts], ...], scans: tuple[ScanFacts, ...]) -> bool:
    """Whether a resilver is not over and names its leaf nowhere in the pool."""
    return unsettled(scans) and not any(being_rebuilt(top, scans) for _, top in tops)


def pool_margin(pool: PoolFacts) -> Known[int]:
    """The smallest margin over the vdevs that hold data; a log is not one of them, see `log_margin`."""
    return _smallest(pool, COUNTED_CLASSES)


def log_margin(pool: PoolFacts) -> Known[int | None]:
    """The margin of the log devices, None when the pool has none. Losing them loses sync writes after a crash only."""
    if known(pool.tops) and not any(kind == "log" for kind, _ in pool.tops):
        return None
    return _smallest(pool, ("log",))


@derived
def top_margin(pool: PoolFacts, top: VdevFacts) -> Known[int]:
    """The margin of one top-level vdev of `pool`, with what the rest of the pool says about its scans."""
    margins = need(class_margins(pool))
    return next((m for _, t, m in margins if t is top or t == top), Unknown(f"{top.name} is not a top-level vdev of {pool.name}."))


def survival(margin: int) -> str:
    """What a margin means, as the rest of a sentence about a vdev or a pool."""
    if margin < 0:
        return "has lost more disks than it can rebuild"
    if margin == 0:
        return "has no redundancy left: it does not survive the loss of 1 more disk"
    return f"survives the loss of {margin} more disk{'s' if margin > 1 else ''}"


def explain(top: VdevFacts, scans: Scans) -> str:
    """Which leaves do not count, in words, for the page and the plan."""
    if not known(scans):
        return f"The scan lines are not known: {scans.reason}"
    lost = not_counting(top, scans)
    text = ", ".join(f"{leaf.name} ({leaf.note or ('its disk is gone' if leaf.gone is True else leaf.state)})" for leaf in lost)
    if lost:
        return f"{top.name} does without {text}."
    if unsettled(scans):
        return f"{top.name}: a resilver runs or ended with errors and does not say for which disk, so one is taken as lost."
    return f"Every disk of {top.name} counts."


def not_counting(top: VdevFacts, scans: Scans) -> list[VdevFacts]:
    """The leaves that do not hold their whole share, as far as that is known."""
    return [leaf for child in (top.children or (top,)) for leaf in _not_counting(child, scans)] if known(scans) else []


def unsettled(scans: tuple[ScanFacts, ...]) -> bool:
    """Whether a resilver or rebuild still runs, or ended with errors, so that some leaf may miss data."""
    return any(scan.function in REPAIRS and not _resilver.is_clean(scan) for scan in scans)


def being_rebuilt(vdev: VdevFacts, scans: tuple[ScanFacts, ...]) -> bool:
    """Whether something below `vdev` is being resilvered, waits for it, or is the new half of a replacement."""
    return _resilver.being_filled(vdev, scans, _filling)


def leaf_counts(leaf: VdevFacts, trust_degraded: bool = False) -> bool:
    """Whether a leaf holds a complete copy of its share, as far as its own line and label say."""
    readable = leaf.state == "ONLINE" or (trust_degraded and leaf.state == "DEGRADED")
    return readable and leaf.gone is False and not _filling(leaf)


@derived
def _smallest(pool: PoolFacts, classes: tuple[str, ...]) -> Known[int]:
    margins = need(class_margins(pool))
    chosen = [m for kind, _, m in margins if kind in classes]
    reasons = [m.reason for m in chosen if not known(m)]
    if reasons:
        return Unknown(reasons[0])
    return min((m for m in chosen if known(m)), default=Unknown(f"{pool.name} lists no vdev of the class {' or '.join(classes)}."))


def _of_top(top: VdevFacts, scans: tuple[ScanFacts, ...], blip: bool, trust_degraded: bool) -> Known[int]:
    """By its leaves, and no more than its own state allows: what the kernel cannot open serves nothing, whatever its leaves are called."""
    counted = _margin(top, scans, blip, trust_degraded)
    return min(counted, -1) if known(counted) and top.state in CANNOT_SERVE else counted


def counted(vdev: VdevFacts, scans: tuple[ScanFacts, ...], nameless: bool, trust_degraded: bool) -> Known[int]:
    """By its leaves alone, for showing. `nameless` says that a resilver is not over and names its leaf nowhere in the pool."""
    return _margin(vdev, scans, nameless, trust_degraded)


def _margin(vdev: VdevFacts, scans: tuple[ScanFacts, ...], blip: bool, trust_degraded: bool) -> Known[int]:
    untold = next((leaf.gone for leaf in vdev.leaves() if not known(leaf.gone)), None)
    if untold is not None:
        return untold
    bad = sum(1 for child in vdev.children if not _counts(child, scans, trust_degraded)) + blip
    if not vdev.children:
        return 0 if leaf_counts(vdev, trust_degraded) and not blip else -1
    if vdev.kind in ("raidz", "draid") and vdev.parity:
        return vdev.parity - bad
    if vdev.kind == "mirror":
        return len(vdev.children) - bad - 1  # any one complete copy serves
    if vdev.kind in ("replacing", "spare"):  # a single disk, while another takes its place
        return 0 if _counts(vdev, scans, trust_degraded) and not blip else -1
    return Unknown(f"How many losses {vdev.name} survives is not known: it is a vdev of the kind {vdev.kind}.")


def _counts(vdev: VdevFacts, scans: tuple[ScanFacts, ...], trust_degraded: bool) -> bool:
    if not vdev.children:
        return leaf_counts(vdev, trust_degraded)
    children = vdev.children if _resilver.settled(vdev, scans) else vdev.children[:-1]
    return any(_counts(child, scans, trust_degraded) for child in children)


def wrote_nothing(scan: ScanFacts) -> bool:
    """A repair that is over and says "resilvered 0B". Seen on 2.1.11 where the pool was reopened again and again during a replacement,
    with checksum errors in the vdev afterwards; see `has_nothing_to_fill` for where it is right.
    """
    return scan.function in REPAIRS and scan.state == "finished" and re.match(r"resilvered (?:\(\S+\) )?0B? in ", scan.text) is not None


def has_nothing_to_fill(pool: PoolFacts, line: Known[tuple[VdevFacts, ...]]) -> bool:
    """Whether the new disk at the end of `line` rightly gets nothing. Both seen on 2.1.11 as `resilvered 0B ... with 0 errors`.

    In a log: of its blocks a resilver reads only those of logs that were claimed and not replayed yet (`dsl_scan_zil`).
    In a top-level vdev of which `zpool list` says that nothing is allocated there. Where that is not known, it gets something.
    """
    if not known(line) or not line:
        return False
    top = line[0]
    if known(pool.tops) and any(role == "log" and (one is top or one == top) for role, one in pool.tops):
        return True
    listed = pool.space.vdevs if known(pool.space) else ()
    return any(row.alloc_bytes == 0 and known(top.guid) and row.name == str(top.guid) for row in listed)


def _filling(leaf: VdevFacts) -> bool:
    return leaf.resilvering or leaf.awaiting_resilver or leaf.rebuilding_since_txg is not None


def _not_counting(vdev: VdevFacts, scans: tuple[ScanFacts, ...]) -> Iterator[VdevFacts]:
    if _counts(vdev, scans, False):
        return
    for leaf in vdev.leaves():
        if not leaf_counts(leaf) or len(vdev.children) > 1:
            yield leaf

"""What the next loss would do: for each leaf of a pool, what becomes of the data when that one is lost too.

What a vdev survives now, and with one leaf less, is counted by `workflows.analysis.pool_fate`, as everything else on the pool's page is: a line here
never contradicts the verdict or the margin beside it. Guards count by `workflows.analysis.redundancy`, which counts less. Of a pool that does not
serve, or of which that is not known, nothing is said: its tree does not show what another loss would do.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from workflows.analysis.pool_fate import GATING, Fate, losses, losses_without
from workflows.analysis.redundancy import COUNTED_CLASSES, leaf_counts
from workflows.facts import Known, PoolFacts, Unknown, VdevFacts, derived, known, need
from workflows.facts.lookup import serves_nothing

SHORT = {
    "lost": "lost already",
    "gone": "data is out of reach already",
    "pool": "the pool is lost",
    "bare": "no redundancy left",
    "less": "data stays",
    "same": "nothing more is lost",
    "fill": "its filling begins anew",
    "log": "sync writes, if it crashes too",
    "spare": "a stand-in less",
    "cache": "cached reads only",
    "unknown": "not known",
}
# What is not here is neither good nor bad: that data would stay says nothing of how the pool or the disk is now.
TONES = {"gone": "bad", "pool": "bad", "bare": "watch", "unknown": "watch", "log": "watch"}


@dataclass(frozen=True)
class Loss:
    """What the loss of one leaf does. `kind` is a key of SHORT."""

    kind: str
    words: str

    @property
    def short(self) -> str:
        return SHORT[self.kind]

    @property
    def tone(self) -> str:
        return TONES.get(self.kind, "idle")


@dataclass(frozen=True)
class TopLoss:
    """One top-level vdev: its leaves by what their loss does, the gravest first."""

    top: VdevFacts
    role: str  # "data", "special", "dedup", "log", "spare", "cache"
    groups: tuple[tuple[Loss, tuple[VdevFacts, ...]], ...]

    @property
    def worst(self) -> Loss:
        return self.groups[0][0]

    @property
    def name(self) -> str:
        return self.top.name.removeprefix("/dev/disk/by-id/").removeprefix("/dev/")


@derived
def of_pool(pool: PoolFacts, verdict: Fate) -> Known[tuple[TopLoss, ...]]:
    """Every top-level vdev, then spares and caches. Unknown when the tree or its scans are, and where the pool's `verdict` forbids to count."""
    if verdict.verdict in GATING:
        return Unknown(verdict.reason)
    if not known(pool.tops):
        return Unknown(f"The vdevs of {pool.name} are not known: {pool.tops.reason}")
    need(pool.scans, f"The scan lines of {pool.name} are not known")
    tops = [_top(pool, role, top) for role, top in pool.tops if top.kind != "indirect"]  # what was removed has no disk
    return (*tops, *(_stand_in(pool, v, "spare") for v in pool.spares), *(_stand_in(pool, v, "cache") for v in pool.caches))


def by_leaf(found: tuple[TopLoss, ...]) -> dict[int, Loss]:
    """The same by `id` of the leaf, for a page that walks the tree: two absent leaves may have one name."""
    return {id(leaf): loss for one in found for loss, leaves in one.groups for leaf in leaves}


def _top(pool: PoolFacts, role: str, top: VdevFacts) -> TopLoss:
    now = losses(pool, top)
    grouped: dict[Loss, list[VdevFacts]] = {}
    for leaf in top.leaves():
        grouped.setdefault(_of_leaf(pool, role, top, leaf, now), []).append(leaf)
    order = list(SHORT)
    weight = {"lost": len(order)} | {kind: i for i, kind in enumerate(order) if kind != "lost"}
    return TopLoss(top, role, tuple(sorted(((loss, tuple(v)) for loss, v in grouped.items()), key=lambda pair: weight[pair[0].kind])))


def _of_leaf(pool: PoolFacts, role: str, top: VdevFacts, leaf: VdevFacts, now: Known[int]) -> Loss:
    after = losses_without(pool, top, leaf)
    if not known(now) or not known(after):
        return Loss("unknown", next(m.reason for m in (now, after) if isinstance(m, Unknown)))
    if serves_nothing(leaf):
        return Loss("lost", f"It is lost already: {leaf.note or ('its disk is gone' if leaf.gone is True else leaf.state)}.")
    if role not in COUNTED_CLASSES:
        return _of_log(pool, top, after)
    if now < 0:
        return Loss("gone", f"Data of {top.name} is out of reach already. Bring back what is lost; take nothing else out.")
    if after == now:
        return _changes_nothing(top, leaf, now)
    return _costs(pool, top, role, after)


def _changes_nothing(top: VdevFacts, leaf: VdevFacts, now: int) -> Loss:
    left = f"{top.name} can lose as many as before: {now}"
    if leaf.resilvering or leaf.awaiting_resilver or leaf.rebuilding_since_txg is not None:
        return Loss("fill", f"What was filled into it so far is lost, and filling begins anew with another disk. {left}.")
    if not leaf_counts(leaf, trust_degraded=True):
        return Loss("same", f"It does not count now ({leaf.note or leaf.state}), so nothing more is lost. {left}.")
    return Loss("same", f"Another disk holds the same in its place, so nothing more is lost. {left}.")


def _costs(pool: PoolFacts, top: VdevFacts, role: str, after: int) -> Loss:
    what = "" if role == "data" else f" It is a {role} vdev, and the pool does not live without it."
    if after < 0:
        alone = "It has no redundancy. " if not top.children else ""
        return Loss("pool", f"{alone}Data of {top.name} is out of reach then, and with it the whole pool {pool.name}.{what}")
    stands_in = _stands_in(pool, top)
    if after == 0:
        return Loss("bare", f"Data stays readable, but {top.name} has no redundancy left: one more loss there takes the pool.{stands_in}")
    return Loss("less", f"Data stays readable; {top.name} can then lose {after} more.{stands_in}")


def _stands_in(pool: PoolFacts, top: VdevFacts) -> str:
    free = [spare for spare in pool.spares if spare.state == "AVAIL" and _serves(spare, top)]
    if not free:
        return ""
    many = "A hot spare is free" if len(free) == 1 else f"{len(free)} hot spares are free"
    return f" {many}; ZED puts one in, where it runs and the spare is large enough."


def _serves(spare: VdevFacts, top: VdevFacts) -> bool:
    """A distributed spare ("draid2-0-0") serves its own draid only."""
    return not spare.name.startswith("draid") or spare.name.startswith(_own(top))


def _own(top: VdevFacts) -> str:
    """ "draid2:4d:8c:1s-0" -> "draid2-0-", as its distributed spares are called."""
    kind, _, number = top.name.rpartition("-")
    return f"{kind.split(':')[0]}-{number}-"


def _of_log(pool: PoolFacts, top: VdevFacts, after: int) -> Loss:
    if after >= 0:
        return Loss("less", f"Data stays, and so do sync writes: another copy of the log {top.name} serves on.")
    return Loss(
        "log",
        f"Data in {pool.name} stays. If the node crashes while it is gone, the sync writes of the last seconds are lost, and the pool "
        "comes back only by `zpool import -m`.",
    )


def _stand_in(pool: PoolFacts, vdev: VdevFacts, role: str) -> TopLoss:
    words = {
        "spare": f"No data is on it; {pool.name} has one stand-in less.",
        "cache": "Only reads that were cached are slower for a while; no data is on it.",
    }[role]
    busy = role == "spare" and vdev.state == "INUSE"
    loss = Loss("unknown", "It stands in for a member; what its loss does is said at that member.") if busy else Loss(role, words)
    return TopLoss(vdev, role, ((loss, vdev.leaves()),))


def sentences(found: tuple[TopLoss, ...]) -> Iterator[tuple[TopLoss, Loss, tuple[VdevFacts, ...]]]:
    """One line for each group of leaves, for a page that says it vdev by vdev."""
    for one in found:
        yield from ((one, loss, leaves) for loss, leaves in one.groups)

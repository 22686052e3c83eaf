"""A resilver runs: data is being written to a disk again, and until it is done the pool survives fewer losses. Nothing to do but wait.

Where the scan: line is not there, "(resilvering)" behind a row says so too: `print_status_config` prints it only while a scan runs that fills
this vdev (cmd/zpool/zpool_main.c).
"""

from collections.abc import Iterator

from workflows.engine.core import Situation
from workflows.facts import FleetFacts, NodeFacts, PoolFacts, VdevFacts
from workflows.situations import _cures, _words
from workflows.situations._resilver import Running, running

SLUG = "resilver-running"
MANUALS: tuple[str, ...] = ("resilver-tuning",)


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    return (*(_situation(one) for one in running(fleet)), *_by_rows_alone(fleet))


def _by_rows_alone(fleet: FleetFacts) -> Iterator[Situation]:
    """Pools of whose scan nothing was printed, and whose rows say that they are being filled."""
    for node in fleet.nodes.values():
        for pool in node.pools_read:
            marked = tuple(vdev for _, top in pool.tops_read for vdev in top.walk() if "(resilvering)" in vdev.note)
            if marked and not pool.scans_read:
                yield _marked(node, pool, marked)


def _marked(node: NodeFacts, pool: PoolFacts, marked: tuple[VdevFacts, ...]) -> Situation:
    names = ", ".join(vdev.short for vdev in marked)
    return Situation(
        slug=SLUG,
        key=f"{SLUG}:{node.node}:{pool.name}",
        node=node.node,
        severity="watch",
        title=f"{pool.name} resilvers, and how far it is is not here",
        meaning=f"Behind the row of {names} of {pool.name} stands “(resilvering)”: a resilver runs, or waits for another scan. Its scan: line is not in this "
        "text, so how much is done, and whether it goes on, is not known. Take no disk out of this pool until its scan: line says that it has ended.",
        evidence=tuple(_words.evidence(node, "zpool_status", f"{vdev.name}  {vdev.state}  {vdev.note}") for vdev in marked),
        subject=_words.subject(node, pool),
        cures=(_cures.wait("Look at the scan: line of zpool status first; then wait until the resilver has ended."),),
    )


def _situation(one: Running) -> Situation:
    margin = one.worst_margin()
    return Situation(
        slug=SLUG,
        key=one.key(SLUG),
        node=one.node.node,
        severity="info" if margin is not None and margin > 0 else "watch",
        title=f"{one.pool.name} resilvers" + (f", {one.scan.percent} % done" if one.scan.percent else ""),
        meaning=_meaning(one, margin),
        evidence=(one.line(),),
        subject=_words.subject(one.node, one.pool),
        cures=(_cures.wait(f"Wait until the {one.scan.function} has ended; then look at the pool again."),),
    )


def _meaning(one: Running, margin: int | None) -> str:
    filling = ", ".join(leaf.short for leaf in one.filling())
    sentences = [f"{one.pool.name}: {one.done()}. {one.speed()}", one.to_go()]
    if filling:
        sentences.append(f"It fills {filling}.")
    calm = "Nothing is lost by it. " if margin is not None and margin >= 0 else ""
    sentences.append(
        f"{calm}Wait: until it is done take no disk out of this pool, do not reboot, and start no other replacement in the same vdev."
    )
    if margin is None:
        sentences.append("How many more losses the pool survives meanwhile is not known.")
    elif margin > 0:
        sentences.append(f"Meanwhile the pool survives {_words.plural(margin, 'more loss', 'more losses')}.")
    elif margin < 0:
        sentences.append("A vdev of it lacks more disks than it can do without: that comes first, and the resilver does not mend it.")
    else:
        sentences.append("Meanwhile one more loss in its weakest vdev loses the pool.")
    return " ".join(sentences)

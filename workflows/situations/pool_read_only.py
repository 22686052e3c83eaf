"""A pool is imported read-only. That was chosen, most often to copy away what can still be read; nothing can be repaired meanwhile."""

from workflows.analysis import pool_fate
from workflows.engine.core import Cure, Situation
from workflows.facts import FleetFacts, NodeFacts, PoolFacts, known
from workflows.situations import _words

SLUG = "pool-read-only"
MANUALS: tuple[str, ...] = ()
GATES = True


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    return tuple(
        _situation(node, pool)
        for node in fleet.nodes.values()
        for pool in node.pools_read
        if known(only := pool_fate.is_read_only(pool)) and only
    )


def _situation(node: NodeFacts, pool: PoolFacts) -> Situation:
    meaning = (
        f"{pool.name} on {node.node} is imported read-only: nothing is written to it, no resilver fills a disk, no scrub mends a block, and ZFS refuses to change "
        "its disks. That is right while data is copied away from a pool that is in doubt; for normal use it has to be exported and imported again."
    )
    named = str(pool.guid) if known(pool.guid) else pool.name
    again = Cure(
        "export-import",
        "When what cannot be lost is copied away, and whoever imported it so agrees: export it, and import it writable.",
        (("zpool", "export", pool.name), ("zpool", "import", "-N", "-d", "/dev/disk/by-id", named)),
        needs="It is known why it was imported read-only, and that is mended.",
    )
    return Situation(
        slug=SLUG,
        key=f"{SLUG}:{node.node}:{pool.name}",
        node=node.node,
        severity="info",
        title=f"{pool.name} is imported read-only",
        meaning=meaning,
        evidence=(_words.evidence(node, "zpool_get", f"{pool.name}  readonly  on"),),
        subject=_words.subject(node, pool),
        cures=(again,),
        gate=True,
    )

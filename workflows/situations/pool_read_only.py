"""A pool is imported read-only. That was chosen, most often to copy away what can still be read; nothing can be repaired meanwhile."""

from workflows.analysis import pool_fate
from workflows.engine.core import Cure, Situation
from workflows.facts import FleetFacts, NodeFacts, PoolFacts, known
from workflows.facts.status_reasons import reason_of
from workflows.situations import _cures, _words

SLUG = "pool-read-only"
MANUALS: tuple[str, ...] = ()
GATES = True


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    pools = [(node, pool) for node in fleet.nodes.values() for pool in node.pools_read]
    features = tuple(_by_features(node, pool) for node, pool in pools if _lacks_features(pool))
    chosen = (
        _situation(node, pool) for node, pool in pools if known(only := pool_fate.is_read_only(pool)) and only and not _lacks_features(pool)
    )
    return (*features, *chosen)


def _lacks_features(pool: PoolFacts) -> bool:
    """Whether `zpool status` says that this system can only read the pool."""
    reason = reason_of(pool.status) if pool.status else None
    return reason is not None and reason.name == "UNSUP_FEAT_WRITE"


def _by_features(node: NodeFacts, pool: PoolFacts) -> Situation:
    return Situation(
        slug=SLUG,
        key=f"{SLUG}:{node.node}:{pool.name}",
        node=node.node,
        severity="watch",
        title=f"{pool.name} can only be read here: it uses features that this system does not have",
        meaning=f"{pool.name} uses features that the ZFS of {node.node} can read and cannot write, so it is imported read-only: nothing is written to it, no resilver "
        "fills a disk, no scrub mends a block. Nothing is damaged, and no disk is at fault. A release of ZFS that has these features imports it as it was.",
        evidence=(_words.evidence(node, "zpool_status", f"status: {pool.status[:200]}"),),
        subject=_words.subject(node, pool),
        cures=(
            _cures.look(
                "See which features are missing: `zpool status -v` and `zpool import` name them, and `zpool upgrade -v` lists what this system has."
            ),
            Cure(
                "export-import",
                "Export it, and import it where ZFS has these features, or after a newer release is installed here.",
                (("zpool", "export", pool.name),),
                needs="What still has to be read here was copied.",
            ),
        ),
        gate=True,
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

"""The pool is imported read-only: nothing can be written, replaced, scrubbed or cleared, and no disk is filled."""

from __future__ import annotations

from collections.abc import Iterator

from workflows.core import Cure, Evidence, Situation
from workflows.facts import FleetFacts, NodeFacts, PoolFacts, known
from workflows.facts.status_reasons import reason_of
from workflows.situations import _pools, _words
from workflows.situations._pools import Said, cure

SLUG = "pool-read-only"
MANUALS: tuple[str, ...] = ("read-only-import",)


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    return tuple(_situation(node, pool) for node, pool in _pools.pools(fleet) if _is_read_only(pool))


def _is_read_only(pool: PoolFacts) -> bool:
    if known(pool.properties) and pool.properties.get("readonly") == "on":
        return True
    return _lacks_features(pool) and pool.state in ("ONLINE", "DEGRADED")


def _lacks_features(pool: PoolFacts) -> bool:
    """Whether this release can only read it."""
    reason = reason_of(pool.status, pool.see) if pool.status else None
    return reason is not None and reason.name == "UNSUP_FEAT_WRITE"


def _situation(node: NodeFacts, pool: PoolFacts) -> Situation:
    meaning = (
        f"{pool.name} is imported read-only on {node.node}. Its data can be read and nothing can be written; replace, online, clear and scrub are refused, and no disk is "
        "filled. That is the state in which data is copied away, and it harms nothing. Find out why it was done before anything else: after a rewind or a blocked import "
        "it is what keeps the damage from growing."
    )
    said = Said("watch", f"{pool.name}: it is imported read-only", meaning, tuple(_evidence(node, pool)), tuple(_cures(pool)))
    return _pools.situation(SLUG, node, pool, said, gate=True)


def _evidence(node: NodeFacts, pool: PoolFacts) -> Iterator[Evidence]:
    if known(pool.properties) and "readonly" in pool.properties:
        yield _words.evidence(node, "zpool_get", f"{pool.name}  readonly  {pool.properties['readonly']}")
    else:
        yield _pools.line(node, "status", pool.status)


def _cures(pool: PoolFacts) -> Iterator[Cure]:
    yield cure("look", "Ask who imported it so, and when.", ("zpool", "history", "-il", pool.name))
    yield cure("restore", "Copy away what is not stored elsewhere, while it can be read.", save_first="all data that has no other copy")
    if _lacks_features(pool):
        yield cure("upgrade", "To write to it takes a release of ZFS that has the features it uses, named in the status line.")
        return
    yield cure(
        "export-import",
        "When the reason is over, export it and import it for writing. It cannot be changed while it is imported.",
        ("zpool", "export", pool.name),
        ("zpool", "import", str(pool.guid) if known(pool.guid) else pool.name),
        needs="What made it read-only is understood, and what has no other copy was copied away.",
    )

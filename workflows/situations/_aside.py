"""What answers a log, a cache device or a spare that serves nothing: the runbook that takes it out of its pool."""

from __future__ import annotations

from workflows.engine.core import Answer
from workflows.facts import NodeFacts, PoolFacts, VdevFacts, known
from workflows.situations import _cures, _pools, _words


def removed(node: NodeFacts, pool: PoolFacts, vdev: VdevFacts) -> tuple[Answer, ...]:
    """None while the pool stands still, or where the guid is not known: a command names it by that alone."""
    if _pools.stands_still(pool) or not known(vdev.guid):
        return ()
    return _words.pool_answers(node, pool, _cures.REMOVE, "It takes the device out of the pool by its guid.", vdev_guid=str(vdev.guid))

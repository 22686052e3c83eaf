"""What answers a log, a cache device or a spare that serves nothing: the runbooks that take it out of its pool, and that add another one."""

from workflows.analysis import fit_disks
from workflows.engine.core import Answer
from workflows.facts import NodeFacts, PoolFacts, VdevFacts, known
from workflows.situations import _cures, _pools, _words


def removed(node: NodeFacts, pool: PoolFacts, vdev: VdevFacts) -> tuple[Answer, ...]:
    """None while the pool stands still, or where the guid is not known: a command names it by that alone."""
    if _pools.stands_still(pool) or not known(vdev.guid):
        return ()
    return _words.pool_answers(node, pool, _cures.REMOVE, "It takes the device out of the pool by its guid.", vdev_guid=str(vdev.guid))


def added(node: NodeFacts, pool: PoolFacts, role: str) -> tuple[Answer, ...]:
    """None while the pool stands still, or where the node has no blank disk."""
    if _pools.stands_still(pool) or not fit_disks.free(node, scanned=True):
        return ()
    return _words.pool_answers(node, pool, _cures.ADD, f"It adds a blank disk of this node as a {role}.", role=role)

"""What answers a replacement that does not end, or several spares in one place: the runbooks about the vdev that holds them."""

from workflows.engine.core import Answer
from workflows.facts import NodeFacts, PoolFacts, VdevFacts, known
from workflows.situations import _cures, _words

NO_RESILVER = "It begins a resilver when no check refuses it, and waits until nothing misses data."


def finished(node: NodeFacts, pool: PoolFacts, holder: VdevFacts, why: str) -> tuple[Answer, ...]:
    """None where its disks cannot be told apart by guid, where one of them is itself being replaced, or where none serves."""
    first, last = holder.children[0], holder.children[-1]
    if not known(first.guid) or not known(last.guid) or any(child.children for child in holder.children):
        return ()
    if not any(child.state in ("ONLINE", "DEGRADED") for child in holder.children):
        return ()
    return _words.pool_answers(node, pool, _cures.FINISH, why, vdev_guid=str(first.guid), new_guid=str(last.guid))


def resilvered(node: NodeFacts, pool: PoolFacts) -> tuple[Answer, ...]:
    return _words.pool_answers(node, pool, _cures.RESILVER, NO_RESILVER)

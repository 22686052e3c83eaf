"""A disk carries an older label of a pool that is imported here and does not list that member any more: it was replaced or taken out.

A member that is only missing is still listed by its pool, so it is none of these; nor is any disk of a pool that is not imported.
"""

from collections.abc import Iterator

from agents.collectors.zdb_label import ACTIVE
from workflows.engine.core import Answer, Situation
from workflows.facts import DiskFacts, FleetFacts, LabelFacts, NodeFacts, PoolFacts, known, lookup
from workflows.facts.fleet.label_age import newest_txg, top_of_label
from workflows.situations import _pools, _words
from workflows.situations._pools import Wording, cure

SLUG = "former-member"
WIPE = "wipe-disk"
MANUALS: tuple[str, ...] = (WIPE,)


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    return tuple(_situation(*found) for node in fleet.nodes.values() if not _pools.is_paste(node) for found in _former(node))


def _former(node: NodeFacts) -> Iterator[tuple[NodeFacts, PoolFacts, DiskFacts, LabelFacts]]:
    pools = {pool.guid: pool for pool in (node.pools if known(node.pools) else ()) if known(pool.guid)}
    for disk in node.disks if known(node.disks) else ():
        labels = disk.labels if known(disk.labels) else ()
        pool = pools.get(labels[0].pool_guid or 0) if len(labels) == 1 else None
        if pool is not None and _let_go(pool, labels[0]) and _is_older(node, pool, labels[0]):
            yield node, pool, disk, labels[0]


def _let_go(pool: PoolFacts, label: LabelFacts) -> bool:
    """What is not known is not so, and the guards of the runbook ask again."""
    listed = lookup.pool_lineage(pool, label.guid)
    aside = (*pool.spares, *pool.caches)
    if not known(listed) or listed is not None or label.state != ACTIVE:
        return False
    return all(known(vdev.guid) and vdev.guid != label.guid for vdev in aside)


def _is_older(node: NodeFacts, pool: PoolFacts, label: LabelFacts) -> bool:
    """One that is not older may be of a second life of the pool, which other situations and the label census show."""
    top = top_of_label(pool, label)
    newest = newest_txg(node, top) if top is not None else None
    return label.txg is not None and newest is not None and label.txg < newest


def _situation(node: NodeFacts, pool: PoolFacts, disk: DiskFacts, label: LabelFacts) -> Situation:
    meaning = (
        f"{_words.where(disk)} carries the label of member {label.guid} of {pool.name}, which {pool.name} does not list any more: another disk took its place, or "
        "it was taken out. Nothing is amiss. As long as it carries that label, no runbook takes it as a new disk."
    )
    wording = Wording(
        "info",
        f"{_words.short_where(disk)} was a member of {pool.name}",
        meaning,
        (
            _words.evidence(
                node,
                f"zdb_label/{label.partition}",
                f"name: '{label.pool_name}'  guid: {label.guid}  txg: {'not known' if label.txg is None else label.txg}",
            ),
        ),
        (
            cure(
                "other",
                "If nothing on it is wanted any more, wipe it: then it can be used as a new disk. Never with `zpool labelclear -f`.",
                needs=f"{pool.name} is ONLINE and fills no disk, and every node that may see the disk reported lately.",
                runbook=WIPE,
            ),
        ),
    )
    wwid = disk.wwid if known(disk.wwid) else disk.names[0]
    return _pools.situation(
        SLUG,
        node,
        pool,
        wording,
        about=wwid,
        subject={"vdev_guid": str(label.guid), "wwid": wwid},
        answers=_answers(node, pool, disk, label),
    )


def _answers(node: NodeFacts, pool: PoolFacts, disk: DiskFacts, label: LabelFacts) -> tuple[Answer, ...]:
    if not known(disk.wwid) or not known(disk.serial) or disk.doubt:
        return ()
    params = {"node": node.node, "pool": pool.name, "pool_guid": str(pool.guid)}
    return (Answer(WIPE, {**params, "vdev_guid": str(label.guid), "wwid": disk.wwid, "serial": disk.serial}),)

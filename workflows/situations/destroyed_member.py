"""A disk carries the label of a pool that was destroyed, and nothing shows that the pool was brought back.

`zpool destroy` leaves the labels, with another state; `zpool import` passes over them, and `zpool import -D` finds them
(include/sys/fs/zfs.h:POOL_STATE_DESTROYED; cmd/zpool/zpool_main.c:import_pools, zfs-2.4.4). One situation for each disk, of the first node that sees it.
"""

from collections.abc import Iterator

from agents.collectors.zdb_label import DESTROYED
from workflows.engine.core import Answer, Situation
from workflows.facts import DiskFacts, FleetFacts, LabelFacts, NodeFacts, census, imported_pools, known
from workflows.situations import _pools, _words
from workflows.situations._pools import cure

SLUG = "destroyed-member"
WIPE = "wipe-destroyed-member"
MANUALS: tuple[str, ...] = (WIPE,)


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    first: dict[str, Situation] = {}
    for node, disk, label in _of_destroyed_pools(fleet):
        first.setdefault(disk.wwid if known(disk.wwid) else f"{node.node} {disk.names[0]}", _situation(node, disk, label))
    return tuple(first.values())


def _of_destroyed_pools(fleet: FleetFacts) -> Iterator[tuple[NodeFacts, DiskFacts, LabelFacts]]:
    alive = _alive(fleet)
    for node in fleet.nodes.values():
        for disk in node.disks if known(node.disks) and not _pools.is_paste(node) else ():
            labels = disk.labels if known(disk.labels) else ()
            if len(labels) == 1 and labels[0].state == DESTROYED and labels[0].pool_guid not in {None, *alive}:
                yield node, disk, labels[0]


def _alive(fleet: FleetFacts) -> frozenset[int | None]:
    """Pools that some node has imported or lists for import, and those of which some label does not say that they were destroyed."""
    listed = {pool.guid for node in fleet.nodes.values() for pool in node.importable_read if not pool.destroyed}
    labelled = {guid for (guid, _), seen in census(fleet).by_vdev.items() if any(one.label.state != DESTROYED for one in seen)}
    return frozenset((*imported_pools(fleet), *listed, *labelled))


def _situation(node: NodeFacts, disk: DiskFacts, label: LabelFacts) -> Situation:
    pool = label.pool_name or "a pool that it does not name"
    wwid = disk.wwid if known(disk.wwid) else disk.names[0]
    return Situation(
        slug=SLUG,
        key=f"{SLUG}:{label.pool_guid}:{wwid}",
        node=node.node,
        severity="info",
        title=f"{_words.short_where(disk)} carries a label of the destroyed pool {pool}",
        meaning=(
            f"{_words.where(disk)} carries the label of member {label.guid} of {pool} (guid {label.pool_guid}), which was destroyed with `zpool destroy`. Nothing "
            f"is amiss. `zpool import -D {label.pool_guid}` may still bring the pool back, as long as enough of its disks carry their labels. As long as this one "
            "does, no runbook takes it as a new disk."
        ),
        evidence=(
            _words.evidence(node, f"zdb_label/{label.partition}", f"name: '{label.pool_name}'  state: {label.state}  guid: {label.guid}"),
        ),
        answers=_answers(node, disk, label),
        subject={
            **{"node": node.node, "pool": label.pool_name or "", "pool_guid": str(label.pool_guid)},
            **{"vdev_guid": str(label.guid), "wwid": wwid},
        },
        cures=(
            cure(
                "import",
                "If it was destroyed by mistake, bring it back before anything is written to its disks.",
                ("zpool", "import", "-D", str(label.pool_guid)),
                needs="No disk of it was wiped or given to another pool.",
            ),
            cure(
                "other",
                "If nothing in it is wanted any more, wipe the disk: then it can be used as a new one, and `zpool import -D` does not find it again. Never with "
                "`zpool labelclear -f`.",
                needs="The pool was not brought back on any node, and every node that may see the disk reported lately.",
                runbook=WIPE,
            ),
        ),
    )


def _answers(node: NodeFacts, disk: DiskFacts, label: LabelFacts) -> tuple[Answer, ...]:
    if not known(disk.wwid) or not known(disk.serial) or disk.doubt or not label.pool_name:
        return ()
    params = {"node": node.node, "pool": label.pool_name, "pool_guid": str(label.pool_guid), "vdev_guid": str(label.guid)}
    return (Answer(WIPE, {**params, "wwid": disk.wwid, "serial": disk.serial}),)

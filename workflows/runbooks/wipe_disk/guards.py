"""What wipe-disk asks: that the pool let go of the disk for good, and that no node that sees it may think otherwise.

What is so of any disk that is to be wiped, `wipe_destroyed_member` asks too.
"""

from agents.collectors.zdb_label import ACTIVE
from agents.domain.wwid import strip_partition
from workflows.analysis import disk_reuse
from workflows.engine.core import Params, Verdict, guard, ok, refuse, unknown
from workflows.facts import (
    LABEL_STATES,
    REPAIRS,
    DiskFacts,
    FleetFacts,
    Known,
    LabelFacts,
    NodeFacts,
    ScanFacts,
    Unknown,
    VdevFacts,
    census,
    derived,
    known,
    lookup,
    need,
    size,
)
from workflows.facts.fleet.label_age import newest_txg, top_of_label
from workflows.guards.candidate import behind_a_map
from workflows.guards.fresh import OF_OTHERS, stale_elsewhere
from workflows.guards.scanned import same_serial
from workflows.guards.subject import name_of, number, sharing_nodes, the_disk, the_pool

SOURCES = (*OF_OTHERS, "zpool_import")  # what is read of each node that may have the disk in use
OF_ZFS = (1, 9)  # the partitions that ZFS makes of a whole disk on Linux; the node asks the same (agents/operations/_areas.py)
STAYS = "It stays as it is."


@derived
def nodes_near(facts: FleetFacts, params: Params) -> Known[tuple[NodeFacts, ...]]:
    """Other nodes that see the disk or may see it, and those that share a shelf with this node or do not say which shelves they have."""
    here = need(lookup.node(facts, params.get("node", "")))
    sharing = need(sharing_nodes(facts, here.node, frozenset({params.get("wwid", "")})))
    shelves = _shelves(here)
    return tuple(
        node
        for node in facts.nodes.values()
        if node.node != here.node and (node in sharing or shelves is None or (theirs := _shelves(node)) is None or shelves & theirs)
    )


def _shelves(node: NodeFacts) -> frozenset[str] | None:
    return frozenset(bay.enclosure_id for bay in node.bays) if known(node.bays) else None


@guard
def every_node_near_the_disk_reported(facts: FleetFacts, params: Params) -> Verdict:
    disk, near = need(the_disk(facts, params)), need(nodes_near(facts, params))
    for node in near:
        if why := stale_elsewhere(node, SOURCES):
            return unknown(f"{node.node} may see {name_of(disk)} too, and may have it in use. {why}")
    seen = ", ".join(node.node for node in near)
    return ok(f"{seen} may see the disk too, and reported lately." if seen else "No other node may see the disk.")


@guard
def no_node_has_the_disk_in_a_pool(facts: FleetFacts, params: Params) -> Verdict:
    """Imported, or listed by `zpool import`: a pool that is only down still needs each of its members."""
    disk, here = need(the_disk(facts, params)), need(lookup.node(facts, params.get("node", "")))
    for node in (here, *need(nodes_near(facts, params))):
        if why := lookup.why_trees_unknown(node):
            return unknown(f"Whether {name_of(disk)} is a member of a pool of {node.node} is not known: {why}")
        if not known(node.importable):
            return unknown(f"Which pools {node.node} could import is not known: {node.importable.reason}")
        for listed in node.importable:
            if any(lookup.is_called(node, leaf.name, params["wwid"]) for _, top in listed.tops for leaf in top.leaves()):
                return refuse(f"{node.node} lists {listed.name} for import with {name_of(disk)} as its member. {STAYS}")
    if members := lookup.owner_of_disk(facts, params["wwid"]):
        return refuse(f"{name_of(disk)} is {members[0].title}, imported on {members[0].node}. {STAYS}")
    return ok(f"No pool that a node has imported or could import has {name_of(disk)} as a member.")


@guard
def no_node_reads_another_label(facts: FleetFacts, params: Params) -> Verdict:
    """One label, of this pool and this member, wherever it is read, and no second disk that carries the same."""
    pool_guid, vdev_guid = need(number(params, "pool_guid")), need(number(params, "vdev_guid"))
    disk = need(the_disk(facts, params))
    for reader, label in need(labels_read(facts, params)):
        if (label.pool_guid, label.guid) != (pool_guid, vdev_guid):
            whose = f"member {label.guid} of {label.pool_name or 'a pool that it does not name'}"
            return refuse(f"{reader} reads a label of {whose} on {name_of(disk)}, which is not the one of this run. {STAYS}")
    carriers = {seen.wwid or f"{seen.disk} of {seen.node}" for seen in census(facts).carriers(pool_guid, vdev_guid)} - {params["wwid"]}
    if carriers:
        return refuse(
            f"{', '.join(sorted(carriers))} carries the label of member {vdev_guid} too. One is a copy of the other: find out which first."
        )
    return ok(f"The one label on {name_of(disk)} is that of member {vdev_guid} of {params.get('pool', pool_guid)}.")


@guard
def its_label_names_a_pool_in_use(facts: FleetFacts, params: Params) -> Verdict:
    """Neither exported nor destroyed, so that the imported pool decides which members it has."""
    disk = need(the_disk(facts, params))
    for _, label in need(labels_read(facts, params)):
        if label.state != ACTIVE:
            what = LABEL_STATES.get(label.state, f"in state {label.state}")
            return refuse(
                f"The label on {name_of(disk)} says that its pool is {what}, so the disk may belong to a pool that can be imported. {STAYS}"
            )
    return ok(f"The label on {name_of(disk)} says that its pool is in use or was not exported.")


@guard
def the_pool_let_go_of_the_member(facts: FleetFacts, params: Params) -> Verdict:
    """By the tree of the imported pool. A member that is only missing stays listed there, whatever its state."""
    pool, vdev_guid = need(the_pool(facts, params)), need(number(params, "vdev_guid"))
    listed = need(lookup.pool_lineage(pool, vdev_guid))
    if listed is not None:
        return refuse(f"{vdev_guid} is a vdev of {pool.name} and is {listed[-1].state}. A member is never wiped; replace it first.")
    for vdev in (*pool.spares, *pool.caches):
        if need(vdev.guid) == vdev_guid:
            return refuse(f"{vdev_guid} is a hot spare or cache device of {pool.name}. Take it out with remove-auxiliary first.")
    return ok(f"{pool.name} does not list member {vdev_guid} any more.")


@guard
def its_label_is_older_than_its_vdev(facts: FleetFacts, params: Params) -> Verdict:
    pool, label, disk = need(the_pool(facts, params)), need(the_label(facts, params)), need(the_disk(facts, params))
    need(pool.tops)
    if label.txg is None:
        return unknown(f"The label on {name_of(disk)} has no txg, so how old it is is not known. {STAYS}")
    top = top_of_label(pool, label)
    if top is None:
        return unknown(
            f"The label on {name_of(disk)} is of the top-level vdev {label.top_guid}, which {pool.name} does not have, so nothing shows how old it is. {STAYS}"
        )
    newest = newest_txg(facts.nodes[params["node"]], top)
    if newest is None:
        return unknown(f"No label of an ONLINE member of {top.name} is known. Have the node look again.")
    if label.txg >= newest:
        return refuse(
            f"The label on {name_of(disk)} is of txg {label.txg}, and the newest of {top.name} is of {newest}: it is not older than its pool. "
            "Find out why before anything is wiped."
        )
    return ok(f"The label on {name_of(disk)} is of txg {label.txg}, older than those of {top.name}, of {newest}.")


@guard
def the_pool_needs_no_older_copy(facts: FleetFacts, params: Params) -> Verdict:
    """Until a disk is filled, and while a checkpoint could be gone back to, an old disk may hold the last good copy."""
    pool = need(the_pool(facts, params))
    if pool.state != "ONLINE":
        return refuse(f"{pool.name} is {pool.state}. While it is not whole, an old disk may be its last good copy: mend the pool first.")
    if busy := _filled(need(pool.tops), need(pool.scans)):
        return refuse(f"{pool.name} fills a disk or has one being replaced: {busy}. Wait until that is over, then look again.")
    if need(pool.checkpoint):
        return refuse(f"{pool.name} has a checkpoint, and going back to it may need this disk. Discard the checkpoint first.")
    return ok(f"{pool.name} is ONLINE, fills no disk and has no checkpoint.")


def _filled(tops: tuple[tuple[str, VdevFacts], ...], found: tuple[ScanFacts, ...]) -> str:
    vdevs = [vdev for _, top in tops for vdev in top.walk()]
    names = [vdev.short for vdev in vdevs if vdev.kind in ("replacing", "spare") or vdev.resilvering or vdev.awaiting_resilver]
    scans = [scan.function for scan in found if scan.function in REPAIRS and scan.state in ("running", "paused")]
    return ", ".join([*names, *scans])


@guard
def only_zfs_made_its_partitions(facts: FleetFacts, params: Params) -> Verdict:
    disk = need(the_disk(facts, params))
    if against := behind_a_map(disk):
        return against
    if len(disk.paths) != 1:
        return refuse(f"{len(disk.paths)} paths lead to {name_of(disk)}, and only one can be held while it is written. {STAYS}")
    for name in disk.paths[0].partitions:
        if strip_partition(name)[1] not in OF_ZFS:
            return refuse(f"{name_of(disk)} has the partition {name}, which ZFS did not make. Find out whose it is. {STAYS}")
    return ok(f"{name_of(disk)} has one path, and no partition but those that ZFS makes.")


@guard
def the_disk_has_the_serial_number_of_the_run(facts: FleetFacts, params: Params) -> Verdict:
    """It is what two people type and accept, so it must be what the disk says now."""
    disk = need(the_disk(facts, params))
    serial = need(disk.serial, f"The serial number of {name_of(disk)} is not known")
    if not same_serial(params.get("serial", ""), serial):
        return refuse(f"{name_of(disk)} has the serial number {serial}, and this run is about {params.get('serial', '')}. {STAYS}")
    return ok(f"{name_of(disk)} has the serial number {serial}.")


@guard
def the_disk_is_blank(facts: FleetFacts, params: Params) -> Verdict:
    disk = need(the_disk(facts, params))
    if labels := need(disk.labels):
        return refuse(f"{name_of(disk)} still carries a label of {labels[0].pool_name}. Begin wipe-disk again while one is left.")
    if partitions := [name for path in disk.paths for name in path.partitions]:
        return refuse(f"The kernel still shows {', '.join(partitions)} on {name_of(disk)}. Run `blockdev --rereadpt` there and look again.")
    return ok(f"{name_of(disk)} carries no label and has no partitions.")


@derived
def labels_read(facts: FleetFacts, params: Params) -> Known[tuple[tuple[str, LabelFacts], ...]]:
    """(node, label) of the disk, as each node reads it that sees it. This node reads exactly one."""
    need(the_label(facts, params))
    found: list[tuple[str, LabelFacts]] = []
    for node in (facts.nodes[params["node"]], *need(nodes_near(facts, params))):
        seen = need(lookup.disk(facts, node.node, params["wwid"]))
        found += [(node.node, label) for label in (need(seen.labels) if seen is not None else ())]
    return tuple(found)


@derived
def the_label(facts: FleetFacts, params: Params) -> Known[LabelFacts]:
    disk = need(the_disk(facts, params))
    labels = need(disk.labels)
    if len(labels) != 1:
        return Unknown(f"{name_of(disk)} carries {len(labels)} labels, and only a disk with exactly one is wiped here. {STAYS}")
    return labels[0]


def what_the_disk_is(facts: FleetFacts, params: Params) -> str:
    """Shown before it is wiped: whether it is worth using again, and where."""
    disk = the_disk(facts, params)
    if not known(disk):
        return f"Not known: what the disk is. {disk.reason}"
    return " ".join(
        (
            f"{' '.join((disk.vendor, disk.model)).strip()}, {size(disk.size_bytes)}; {_blocks(disk)}; {_protection(disk)}.",
            _health(disk),
        )
    )


def _blocks(disk: DiskFacts) -> str:
    logical, physical = disk.logical_block_bytes, disk.physical_block_bytes
    if not known(logical) or not known(physical):
        return "the sizes of its sectors are not known"
    form = {(512, 512): " (512n)", (512, 4096): " (512e)", (4096, 4096): " (4Kn)"}.get((logical, physical), "")
    return f"sectors of {logical} bytes, {physical} on the medium{form}"


def _protection(disk: DiskFacts) -> str:
    if not known(disk.protection_type):
        return "whether it is formatted with protection information (DIF) is not known"
    return f"protection information (DIF) of type {disk.protection_type}" if disk.protection_type else "no protection information (DIF)"


def _health(disk: DiskFacts) -> str:
    return f"It says of itself: {disk.health.text}." if known(disk.health) else f"Its health is not known: {disk.health.reason}"


def whether_it_is_used_again(facts: FleetFacts, params: Params) -> str:
    """Kept in the plan: the wipe makes a disk that fails look like a new one."""
    disk = the_disk(facts, params)
    if not known(disk):
        return f"Not known: whether the disk may be used again. {disk.reason}"
    node, pool = lookup.node(facts, params.get("node", "")), the_pool(facts, params)
    return disk_reuse.sentence(disk, node if known(node) else None, pool if known(pool) else None)

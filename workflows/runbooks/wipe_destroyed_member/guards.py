"""What wipe-destroyed-member alone asks: that the pool was destroyed, and that nothing shows it was brought back since."""

from agents.collectors.zdb_label import DESTROYED
from workflows.engine.core import Params, Verdict, guard, ok, refuse, unknown
from workflows.facts import LABEL_STATES, FleetFacts, census, known, lookup, need, title
from workflows.guards.subject import name_of, number, the_disk
from workflows.runbooks.wipe_disk.guards import STAYS, labels_read, nodes_near


@guard
def its_label_names_a_destroyed_pool(facts: FleetFacts, params: Params) -> Verdict:
    disk = need(the_disk(facts, params))
    for reader, label in need(labels_read(facts, params)):
        if label.state != DESTROYED:
            what = LABEL_STATES.get(label.state, f"in state {label.state}")
            return refuse(
                f"{reader} reads on {name_of(disk)} that its pool is {what}. Only a disk of a destroyed pool is wiped here. {STAYS}"
            )
    return ok(f"The label on {name_of(disk)} says that its pool was destroyed.")


@guard
def no_node_has_the_destroyed_pool(facts: FleetFacts, params: Params) -> Verdict:
    """`zpool import -D` brings a destroyed pool back, and does not need every disk for it: the label of one that was away stays as it was."""
    guid, here = need(number(params, "pool_guid")), need(lookup.node(facts, params.get("node", "")))
    asked = {here.node, *(node.node for node in need(nodes_near(facts, params)))}
    for node in facts.nodes.values():
        if node.node in asked:
            need(node.pools)
            need(node.importable)
        for pool in node.pools if known(node.pools) else ():
            if pool.guid == guid:
                return refuse(f"{node.node} has the pool imported, as {pool.name}: it was brought back. {STAYS}")
            if not known(pool.guid) and node.node in asked:
                return unknown(f"The guid of {pool.name} on {node.node} is not known, so it may be this pool. {pool.guid.reason}")
        for listed in node.importable if known(node.importable) else ():
            if listed.guid == guid and not listed.destroyed:
                return refuse(f"{node.node} lists {listed.name} for import, so it is not destroyed any more. {STAYS}")
    return ok(f"No node has {params.get('pool', guid)} imported, and none lists it for import.")


@guard
def every_label_of_the_pool_is_of_a_destroyed_one(facts: FleetFacts, params: Params) -> Verdict:
    """Every label that is read on any node, and none that cannot be read on a node near the disk. One that says otherwise is of a pool that was
    brought back, or of a disk that was away."""
    guid, disk, here = need(number(params, "pool_guid")), need(the_disk(facts, params)), need(lookup.node(facts, params.get("node", "")))
    need(disk.labels)
    found = [seen for (pool_guid, _), carriers in census(facts).by_vdev.items() if pool_guid == guid for seen in carriers]
    against = [seen for seen in found if seen.label.state != DESTROYED]
    if against:
        where = ", ".join(sorted({f"{seen.disk} of {seen.node} ({seen.wwid or 'no WWID'})" for seen in against}))
        return refuse(
            f"A label of the pool does not say that it was destroyed: {where}. The pool was brought back, or that disk was away when it was "
            f"destroyed. Find out which: `zdb -l` there shows it. {STAYS}"
        )
    for node in (here, *need(nodes_near(facts, params))):
        for one in need(node.disks):
            if not known(one.labels):
                return unknown(
                    f"The label of {name_of(one)} on {node.node} is not known, and may be of this pool: {one.labels.reason} Have the node look again; a "
                    "disk that does not answer is mended or taken out first."
                )
    return ok(f"Every label of {params.get('pool', guid)} that can be read says that it was destroyed.")


def what_ends_with_it(facts: FleetFacts, params: Params) -> str:
    """What `zpool import -D` may still do, and loses."""
    pool, guid = params.get("pool", ""), params.get("pool_guid", "")
    others = _other_disks(facts, params)
    seen = (
        f"Its label is also on {len(others)} other disk{'s' if len(others) != 1 else ''}: {', '.join(others)}."
        if others
        else ("No other disk with its label is seen.")
    )
    return (
        f"The destroyed pool {pool} may still be brought back with `zpool import -D {guid}`. This ends that for this disk: afterwards the pool comes back "
        f"without it or, where it cannot do without it, never. {seen} If anything in it may still be wanted, end this run and bring the pool back first."
    )


def _other_disks(facts: FleetFacts, params: Params) -> tuple[str, ...]:
    guid, wwid = params.get("pool_guid", ""), params.get("wwid", "")
    disks = [disk for node in facts.nodes.values() if known(node.disks) for disk in node.disks]
    carriers = (disk for disk in disks if known(disk.labels) and any(str(label.pool_guid) == guid for label in disk.labels))
    return tuple(sorted({title(disk) for disk in carriers if disk.wwid != wwid}))

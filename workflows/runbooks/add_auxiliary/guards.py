"""What add-auxiliary alone asks: whether the disk may be what it is to be, and whether it stands there afterwards."""

from agents.domain.wwid import by_id_path
from agents.operations.zpool_add import ROLES
from workflows.engine.core import Params, Verdict, guard, ok, refuse, unknown
from workflows.facts import DiskFacts, FleetFacts, Known, NodeFacts, PoolFacts, VdevFacts, derived, known, lookup, need
from workflows.guards.subject import name_of, the_disk, the_pool

HOLD_DATA = ("special", "dedup")
SERVES = {"spare": "AVAIL", "log": "ONLINE", "cache": "ONLINE"}


@guard
def it_is_added_beside_the_data(facts: FleetFacts, params: Params) -> Verdict:
    """A disk that is added as data may never leave the pool again; nor is one added as special or dedup here, which hold data too."""
    need(the_pool(facts, params))
    role = params.get("role", "")
    if role in HOLD_DATA:
        return refuse(
            f"A {role} vdev holds data, so it is a mirror of several disks, and this runbook adds one disk. End this run, and begin add-special at the page of "
            f"{params.get('pool', '')}."
        )
    if role not in ROLES:
        return refuse(f"A disk is added as {', '.join(ROLES)}, and not as {role or 'nothing'}. End this run.")
    return ok(f"The disk is to be a {role} of {params.get('pool', '')}, which holds no data.")


@guard
def it_can_be_removed_again(facts: FleetFacts, params: Params) -> Verdict:
    """The kernel removes nothing while a checkpoint stands, so what is added then has no way back."""
    pool = need(the_pool(facts, params))
    if need(pool.checkpoint, f"Whether {pool.name} has a checkpoint is not known"):
        return refuse(
            f"{pool.name} has a checkpoint, so what is added now cannot be removed. Whoever made it decides: `zpool checkpoint -d {pool.name}` gives it up."
        )
    return ok(f"{pool.name} has no checkpoint: what is added can be removed again.")


@guard
def the_disk_carries_no_label_at_all(facts: FleetFacts, params: Params) -> Verdict:
    """A former spare or cache device keeps its label when it is removed; whose it is no label of theirs says."""
    disk = need(the_disk(facts, params))
    labels = need(disk.labels, f"The labels of {name_of(disk)} are not known")
    if labels:
        whose = f"the pool {labels[0].pool_name}" if labels[0].pool_name else "a spare or cache device of some pool"
        return refuse(f"{name_of(disk)} carries a label of {whose}. Find out whether it is needed, or choose a disk without a label.")
    return ok(f"{name_of(disk)} carries no label.")


@guard
def the_disk_is_fit_for_its_role(facts: FleetFacts, params: Params) -> Verdict:
    """ZFS compares the size of a spare with nothing when it is added: one that is too small is found out when it is needed."""
    pool, disk = need(the_pool(facts, params)), need(the_disk(facts, params))
    if not known(disk.size_bytes) or not known(disk.logical_block_bytes):
        return unknown(f"The size or the block size of {name_of(disk)} is not known. Have the node look again.")
    data = [
        top
        for role, top in need(pool.tops, f"The vdevs of {pool.name} are not known")
        if role == "data" and top.kind not in ("indirect", "other")
    ]
    shifts = [top.ashift for top in data if known(top.ashift)]
    if not shifts or len(shifts) < len(data):
        return unknown(f"The ashift of each data vdev of {pool.name} is not known. Have the node look again.")
    block = 1 << min(shifts)
    if disk.logical_block_bytes > block:
        return refuse(
            f"{name_of(disk)} has blocks of {disk.logical_block_bytes} bytes; {pool.name} writes {block}. Choose a disk with smaller blocks."
        )
    if params.get("role") != "spare":
        return ok(f"{name_of(disk)} has blocks of {disk.logical_block_bytes} bytes; {pool.name} writes {block}.")
    return _large_enough(facts.nodes[params["node"]], disk, pool, data)


def _large_enough(node: NodeFacts, disk: DiskFacts, pool: PoolFacts, data: list[VdevFacts]) -> Verdict:
    sizes = {one.wwid: one.size_bytes for one in (node.disks if known(node.disks) else ()) if known(one.wwid) and known(one.size_bytes)}
    members = {lookup.wwid_of(leaf) for top in data for leaf in top.leaves() if leaf.state in lookup.IN_SERVICE}
    found = [sizes[wwid] for wwid in members if wwid in sizes]
    if not found or len(found) < len(members):
        return unknown(f"The size of each disk of {pool.name} is not known, so whether {name_of(disk)} can stand in for it is not either.")
    if known(disk.size_bytes) and disk.size_bytes < max(found):
        return refuse(
            f"{name_of(disk)} has {disk.size_bytes} bytes; the largest disk of {pool.name} has {max(found)}, and it could not stand in for that one."
        )
    return ok(f"{name_of(disk)} has {disk.size_bytes} bytes; the largest disk of {pool.name} has {max(found)}.")


# --- afterwards


@derived
def _of_role(pool: PoolFacts, role: str) -> Known[tuple[VdevFacts, ...]]:
    if role == "log":
        return tuple(leaf for one, top in need(pool.tops) for leaf in top.leaves() if one == "log")
    return {"spare": pool.spares, "cache": pool.caches}.get(role, ())


@guard
def the_pool_lists_it_in_its_role(facts: FleetFacts, params: Params) -> Verdict:
    pool, role, wwid = need(the_pool(facts, params)), params.get("role", ""), params.get("wwid", "")
    need(pool.tops, f"The vdevs of {pool.name} are not known")
    found = next((one for one in need(_of_role(pool, role)) if lookup.wwid_of(one) == wwid), None)
    if found is None:
        return refuse(f"{pool.name} has no {role} on {wwid}. Have the node look again, and see what the command answered.")
    if found.state != SERVES.get(role):
        return refuse(
            f"The {role} {found.guid} of {pool.name} is {found.state}. Look at its bay and its cable; remove-auxiliary takes it out."
        )
    return ok(f"{wwid} is a {role} of {pool.name}, and {found.state}.")


@guard
def the_data_is_as_it_was(facts: FleetFacts, params: Params) -> Verdict:
    """Nothing of the disk is among the vdevs that hold data."""
    pool, wwid = need(the_pool(facts, params)), params.get("wwid", "")
    if not wwid:
        return unknown("No disk is chosen yet.")
    strange = next(
        (
            top
            for role, top in need(pool.tops, f"The vdevs of {pool.name} are not known")
            if role != "log" and any(_is_on(leaf, wwid) for leaf in top.leaves())
        ),
        None,
    )
    if strange is not None:
        return refuse(f"{wwid} is in {strange.name} of {pool.name}, which holds data. Write nothing more by hand, and get help.")
    return ok(f"No vdev of {pool.name} that holds data is on {wwid}.")


def _is_on(leaf: VdevFacts, wwid: str) -> bool:
    """By the disk behind it; also by the name that the command gave, where the disk behind a leaf is not known."""
    return lookup.wwid_of(leaf) == wwid or leaf.name.startswith(by_id_path(wwid) or wwid)

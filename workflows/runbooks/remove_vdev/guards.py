"""What remove-vdev alone asks: whether it is a whole vdev that holds data, and whether ZFS can move its data to the others."""

from agents.operations.zpool_remove_vdev import CLASSES
from workflows.engine.core import Params, Verdict, guard, ok, refuse, unknown
from workflows.facts import FleetFacts, Known, PoolFacts, Unknown, VdevFacts, derived, known, lookup, need
from workflows.guards.subject import number, the_pool
from workflows.situations import _redundancy

PARITY = ("raidz", "draid")
WHOLE = ("disk", "mirror")
INSTEAD = "Attach a second disk to it instead: add-redundancy does that."


@derived
def the_vdev(facts: FleetFacts, params: Params) -> Known[VdevFacts]:
    pool, guid = need(the_pool(facts, params)), need(number(params, "vdev_guid"))
    found = [top for role, top in need(pool.tops) if role in CLASSES and top.guid == guid]
    return (
        found[0]
        if len(found) == 1
        else Unknown(f"{pool.name} has no data, special or dedup vdev {guid}. Look at the pool again, and end this run.")
    )


def role_of(pool: PoolFacts, top: VdevFacts) -> str:
    return next((role for role, one in pool.tops_read if one is top), "data")


@guard
def it_is_a_whole_data_vdev(facts: FleetFacts, params: Params) -> Verdict:
    """Judged by its place in the tree, not by its name."""
    pool, guid = need(the_pool(facts, params)), need(number(params, "vdev_guid"))
    line = need(lookup.pool_lineage(pool, guid)) or ()
    if len(line) > 1:
        return refuse(
            f"{guid} is a part of {line[-2].name} in {pool.name}. Name the whole vdev; one disk of a mirror is detached. End this run."
        )
    top = need(the_vdev(facts, params))
    if top.kind not in WHOLE:
        return refuse(f"{guid} is a {top.kind}, and ZFS takes none out of a pool. End this run.")
    return ok(f"{guid} is a {top.kind} among the {role_of(pool, top)} of {pool.name}.")


@guard
def the_others_can_take_its_data(facts: FleetFacts, params: Params) -> Verdict:
    """spa_vdev_remove_top_check in module/zfs/vdev_removal.c. Whether the feature device_removal is enabled the kernel asks before it changes anything."""
    pool, top = need(the_pool(facts, params)), need(the_vdev(facts, params))
    others = [one for _, one in need(pool.tops) if one is not top]
    if parity := next((one for one in others if one.kind in PARITY), None):
        return refuse(f"{pool.name} has {parity.name}, and ZFS takes no data vdev out of a pool with a {parity.kind}. {INSTEAD}")
    data = [one for one in _redundancy.data_tops(pool) if one is not top]
    if not data:
        return refuse(f"{pool.name} has no other data vdev, so nothing could hold the data of {top.guid}. End this run.")
    need(pool.checkpoint)
    need(pool.removing)
    if unread := next((one for one in _redundancy.of_one_ashift(pool, top)[0] if not known(one.ashift)), None):
        return unknown(
            f"The ashift of {unread.name} of {pool.name} is not known, and ZFS asks that all are equal. Have the node look again."
        )
    if not known(room := _redundancy.room_elsewhere(pool, top)):
        return unknown(f"{room.reason} Have the node look again.")
    if why := _redundancy.forbidden_now(pool, top):
        return refuse(f"ZFS would refuse it now: {why} {INSTEAD}")
    return ok(f"The others have room for what {top.guid} holds, and nothing that is seen forbids it.")


@guard
def it_left_the_pool(facts: FleetFacts, params: Params) -> Verdict:
    pool, guid = need(the_pool(facts, params)), need(number(params, "vdev_guid"))
    need(pool.tops)
    if need(lookup.pool_lineage(pool, guid)):
        return refuse(f"{guid} is still in {pool.name}. Its data is being copied, or the removal was called off.")
    if need(pool.removing):
        return refuse(f"A removal is still under way in {pool.name}.")
    return ok(f"{guid} is not in {pool.name} any more.")


@guard
def the_removal_goes_on(facts: FleetFacts, params: Params) -> Verdict:
    """Asked all the time while it is waited for."""
    pool, guid = need(the_pool(facts, params)), need(number(params, "vdev_guid"))
    need(pool.tops)
    if need(lookup.pool_lineage(pool, guid)) and not need(pool.removing):
        return refuse(
            f"{guid} is in {pool.name}, and nothing is being removed: the removal was called off, or an error of a read ended it. Look at `zpool status {pool.name}` "
            "and the events; end this run, and begin anew when the reason is mended."
        )
    return ok(f"The removal of {guid} goes on, or is over.")

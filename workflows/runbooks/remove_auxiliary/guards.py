"""What remove-auxiliary alone asks: whether the guid is that of a whole log, a cache device or a spare, and whether it may go."""

from typing import NamedTuple

from agents.operations.zpool_remove import STATES
from workflows.engine.core import Params, Verdict, guard, ok, refuse, unknown
from workflows.facts import FleetFacts, Known, PoolFacts, Unknown, VdevFacts, derived, known, lookup, need
from workflows.facts.read.used_twice import DISTRIBUTED
from workflows.guards.subject import number, the_pool

KINDS = {"cache": "cache device", "log": "log", "spare": "spare"}
ELSEWHERE = "Look at the pool again, and end this run."


class Device(NamedTuple):
    role: str  # "cache", "log", "spare"
    vdev: VdevFacts

    @property
    def title(self) -> str:
        return f"The {KINDS[self.role]} {self.vdev.guid}"


@derived
def devices(pool: PoolFacts) -> Known[tuple[Device, ...]]:
    """Everything of the pool that may be removed whole, with its guid."""
    logs = (Device("log", top) for role, top in need(pool.tops, f"The vdevs of {pool.name} are not known") if role == "log")
    found = (*logs, *(Device("cache", one) for one in pool.caches), *(Device("spare", one) for one in pool.spares))
    unread = [one.vdev for one in found if not known(one.vdev.guid)]
    if unread:
        return Unknown(f"The guid of {unread[0].name} in {pool.name} is not known. Have the node look again.")
    return found


@derived
def the_device(facts: FleetFacts, params: Params) -> Known[Device]:
    pool, guid = need(the_pool(facts, params)), need(number(params, "vdev_guid"))
    found = [one for one in need(devices(pool)) if one.vdev.guid == guid]
    if len(found) != 1:
        return Unknown(f"{pool.name} has no log, cache device or spare {guid}. {ELSEWHERE}")
    return found[0]


@guard
def it_holds_no_data(facts: FleetFacts, params: Params) -> Verdict:
    """By where it stands in the tree, and never by its name: what stands among the data, special or dedup vdevs holds data."""
    pool, guid = need(the_pool(facts, params)), need(number(params, "vdev_guid"))
    line = need(lookup.pool_lineage(pool, guid)) or ()
    if len(line) > 1:
        if any(spare.guid == guid for spare in pool.spares):
            return refuse(f"The spare {guid} stands in for a member in {line[-2].name}. Give it back first: spare-return does that.")
        return refuse(f"{guid} is a part of {line[-2].name} in {pool.name}. Replace that disk, or name the whole log mirror. {ELSEWHERE}")
    role = next((role for role, top in need(_tops(pool)) if line and top is line[0]), "")
    if role and role != "log":
        return refuse(f"{guid} is {line[0].name}, which holds {role} of {pool.name}. It is not removed by this runbook. {ELSEWHERE}")
    device = need(the_device(facts, params))
    if device.vdev.state == "INUSE":
        return refuse(f"{device.title} is in use: it stands in for a member of this pool or another. Replace that member first.")
    if device.role == "spare" and DISTRIBUTED.fullmatch(device.vdev.name):
        return refuse(f"{device.vdev.name} is space on the disks of its dRAID, not a device. It cannot be removed; end this run.")
    if device.role == "log" and device.vdev.kind not in ("disk", "mirror"):
        return refuse(f"{device.title} is a {device.vdev.kind}: a replacement in it is not over. End that first.")
    if device.vdev.state not in STATES:
        return unknown(f"{device.title} is {device.vdev.state or 'in no state that was read'}. Have the node look again.")
    return ok(f"{device.title} of {pool.name} is {device.vdev.state}, and holds no data that is nowhere else.")


def _tops(pool: PoolFacts) -> Known[tuple[tuple[str, VdevFacts], ...]]:
    return pool.tops if known(pool.tops) else Unknown(f"The vdevs of {pool.name} are not known: {pool.tops.reason}")


@guard
def nothing_blocks_a_removal(facts: FleetFacts, params: Params) -> Verdict:
    """The kernel removes nothing while a checkpoint stands (spa_vdev_remove, module/zfs/vdev_removal.c)."""
    pool = need(the_pool(facts, params))
    if need(pool.checkpoint, f"Whether {pool.name} has a checkpoint is not known"):
        return refuse(
            f"{pool.name} has a checkpoint, and ZFS removes nothing while it stands. Whoever made it decides: `zpool checkpoint -d {pool.name}` gives it up."
        )
    return ok(f"{pool.name} has no checkpoint.")


@guard
def it_is_out_of_the_pool(facts: FleetFacts, params: Params) -> Verdict:
    pool, guid = need(the_pool(facts, params)), need(number(params, "vdev_guid"))
    if any(one.vdev.guid == guid for one in need(devices(pool))) or need(lookup.pool_lineage(pool, guid)):
        return refuse(f"{guid} is still in {pool.name}. Have the node look again, and see what the command answered.")
    return ok(f"{guid} is not in {pool.name} any more.")


@guard
def the_pool_goes_on_without_it(facts: FleetFacts, params: Params) -> Verdict:
    pool = need(the_pool(facts, params))
    if pool.state not in ("ONLINE", "DEGRADED"):
        return refuse(f"{pool.name} is {pool.state or 'in no state that was read'}. Look at its situations before anything else.")
    return ok(f"{pool.name} is {pool.state}.")

"""Runbooks that a person may begin at a node, a pool or a disk, without anything being wrong: for what they fit, and what refuses them.

Every parameter comes from the facts of this moment; none is typed. What is asked first in the run is asked here too, so that a page
says beforehand why a runbook would not get far. The run asks it again.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from agents.operations.zpool_add import ROLES
from agents.operations.zpool_remove_vdev import CLASSES
from workflows.analysis.fit_disks import beside, free
from workflows.engine.core import Guard, Params, Runbook, Verdict, ask, blockers, goes_by_hand
from workflows.facts import DiskFacts, FleetFacts, NodeFacts, PoolFacts, VdevFacts, known, lookup
from workflows.runbooks import RUNBOOKS
from workflows.runbooks.remove_auxiliary.guards import KINDS, devices
from workflows.situations._partitions import by_devid, partition
from workflows.situations._redundancy import classes_for_more


@dataclass(frozen=True)
class Offer:
    runbook: Runbook
    params: Params
    about: str  # what it would be about, in words
    against: tuple[Verdict, ...]

    @property
    def by_hand(self) -> bool:
        """Whether only an order is refused there: a person gives the commands, in the same run."""
        return goes_by_hand(self.against)

    @property
    def key(self) -> str:
        """The same for as long as it is about the same thing, so that a second click begins no second run."""
        subject = ":".join(self.params[name] for name in ("pool_guid", "vdev_guid", "role") if name in self.params)
        return f"by-hand:{self.runbook.slug}:{self.params['node']}:{subject}"


Found = Iterator[tuple[dict[str, str], str]]  # parameters, and what it is about


def of_node(fleet: FleetFacts, name: str) -> tuple[Offer, ...]:
    here = fleet.nodes.get(name)
    return () if here is None else tuple(_offers(fleet, {slug: find(here) for slug, find in OF_NODE.items()}))


def of_pool(fleet: FleetFacts, name: str, pool_name: str) -> tuple[Offer, ...]:
    here = fleet.nodes.get(name)
    pools = here.pools if here is not None and known(here.pools) else ()
    found = ({slug: find(here, pool) for slug, find in OF_POOL.items()} for pool in pools if pool.name == pool_name and known(pool.guid))
    return tuple(offer for one in found for offer in _offers(fleet, one))


def of_disk(fleet: FleetFacts, wwid: str) -> tuple[Offer, ...]:
    """On every node that has the disk in an imported pool."""
    found = ({slug: find(*seat) for slug, find in OF_DISK.items()} for seat in _seats(fleet, wwid))
    return tuple(offer for one in found for offer in _offers(fleet, one))


def _offers(fleet: FleetFacts, found: Mapping[str, Found]) -> Iterator[Offer]:
    for slug, subjects in found.items():
        for params, about in subjects:
            yield Offer(RUNBOOKS[slug], params, about, blockers(ask(_asked_first(RUNBOOKS[slug]), fleet, params)))


def _asked_first(runbook: Runbook) -> tuple[Guard, ...]:
    """The guards of the first step that every run comes by and that weighs anything; what follows a choice is asked about that choice."""
    return next((step for step in runbook.steps if step.kind in ("CHECK", "DECIDE")), runbook.steps[0]).guards


def _links(here: NodeFacts) -> Found:
    if known(here.fabric) and here.fabric.phys:
        yield {"node": here.node}, f"every SAS link of {here.node}"


def _listed(here: NodeFacts) -> Found:
    """Whether another host has it, or may have it, the run asks; a pool of a moved shelf is listed like one in use elsewhere."""
    for pool in here.importable if known(here.importable) else ():
        yield {"node": here.node, "pool": pool.name, "pool_guid": str(pool.guid)}, f"{pool.name}, which {here.node} could import"


def _scan(here: NodeFacts, pool: PoolFacts) -> Found:
    if known(pool.scans) and any(scan.state == "running" for scan in pool.scans):
        yield _pool(here, pool), f"what {pool.name} is scanning now"


def _scrubbing(here: NodeFacts, pool: PoolFacts) -> Found:
    if known(pool.scans) and any(scan.function == "scrub" and scan.state in ("running", "paused") for scan in pool.scans):
        yield _pool(here, pool), f"the scrub of {pool.name}"


def _stand_ins(here: NodeFacts, pool: PoolFacts) -> Found:
    tops = pool.tops if known(pool.tops) else ()
    for vdev in (vdev for _, top in tops for vdev in top.walk() if vdev.kind == "spare" and len(vdev.children) > 1):
        original, spare = vdev.children[0], vdev.children[-1]
        if known(original.guid) and known(spare.guid) and not original.children:
            more = {"vdev_guid": str(original.guid), "spare_guid": str(spare.guid)}
            yield _pool(here, pool) | more, f"the spare that stands in for member {original.guid}"


def _unfinished(here: NodeFacts, pool: PoolFacts) -> Found:
    """Each replacement, and each place that several spares stand in; one with a vdev in it is ended from inside first."""
    tops = pool.tops if known(pool.tops) else ()
    holders = (v for _, top in tops for v in top.walk() if v.kind == "replacing" or (v.kind == "spare" and len(v.children) > 2))
    for vdev in (v for v in holders if len(v.children) > 1 and not any(child.children for child in v.children)):
        old, new = vdev.children[0], vdev.children[-1]
        if known(old.guid) and known(new.guid):
            more = {"vdev_guid": str(old.guid), "new_guid": str(new.guid)}
            yield _pool(here, pool) | more, f"{vdev.name} of {pool.name}, which holds {len(vdev.children)} disks"


def _aside(here: NodeFacts, pool: PoolFacts) -> Found:
    """Each log, cache device and spare; whether it may go the run asks."""
    found = devices(pool)
    for device in found if known(found) else ():
        yield _pool(here, pool) | {"vdev_guid": str(device.vdev.guid)}, f"the {KINDS[device.role]} {device.vdev.short} of {pool.name}"


def _data(here: NodeFacts, pool: PoolFacts) -> Found:
    """Each disk or mirror that holds data in a pool without parity, where another data vdev can take what it holds; whether it may go the run asks."""
    tops = pool.tops if known(pool.tops) else ()
    found = [(role, top) for role, top in tops if role in CLASSES and top.kind in ("disk", "mirror")]
    if any(top.kind in ("raidz", "draid") for _, top in tops):
        return
    for role, top in found:
        if known(top.guid) and any(one == "data" and other is not top for one, other in found):
            yield _pool(here, pool) | {"vdev_guid": str(top.guid)}, f"the {role} vdev {top.short} of {pool.name}"


def _more_aside(here: NodeFacts, pool: PoolFacts) -> Found:
    """Each of the three that can be added, where the node has a blank disk."""
    for role in ROLES if free(here, scanned=True) else ():
        yield _pool(here, pool) | {"role": role}, f"another {KINDS[role]} for {pool.name}"


def _classes(here: NodeFacts, pool: PoolFacts) -> Found:
    """A special and a dedup vdev, where the node has blank disks enough for a mirror that fits beside the data; whether they may go in the run asks."""
    for role in classes_for_more(here, pool):
        yield _pool(here, pool) | {"role": role}, f"a {role} vdev for {pool.name}, a mirror of new disks"


def _alone(here: NodeFacts, pool: PoolFacts) -> Found:
    """Each vdev of one disk, where a disk of the node fits beside it."""
    for role, top in pool.tops if known(pool.tops) else ():
        if top.kind == "disk" and known(top.guid) and beside(here, top, top, scanned=True):
            yield _pool(here, pool) | {"vdev_guid": str(top.guid)}, f"the disk {top.short}, which is a {role} vdev of {pool.name} by itself"


def _partitions_beside_others(here: NodeFacts, pool: PoolFacts) -> Found:
    """Each member that is one partition of a disk with others, as of a pool that the node boots from."""
    for role, leaf in lookup.pool_leaves(pool):
        found = partition(leaf) or by_devid(leaf)
        if found is not None and role not in ("spare", "cache") and known(leaf.guid):
            yield (
                _pool(here, pool) | {"vdev_guid": str(leaf.guid)},
                f"the member {leaf.short} of {pool.name}, which is partition {found[1]} of its disk",
            )


def _member(here: NodeFacts, pool: PoolFacts, leaf: VdevFacts, disk: DiskFacts) -> Found:
    if known(disk.serial) and known(disk.wwid):
        named = {"vdev_guid": str(leaf.guid), "old_wwid": disk.wwid, "old_serial": disk.serial}
        yield _pool(here, pool) | named, f"the disk {disk.serial}, member of {pool.name} on {here.node}"


def _member_in_bay(here: NodeFacts, pool: PoolFacts, leaf: VdevFacts, disk: DiskFacts) -> Found:
    place = lookup.bay_to_light(disk)
    unlit, light = "whose place a person finds by that number", f"at {lookup.place_in_words(place['enclosure'], place['slot'])}"
    where = unlit if place["enclosure"] == lookup.NO_BAY else light if lookup.is_a_light(place["enclosure"]) else f"in bay {place['slot']}"
    for params, about in _member(here, pool, leaf, disk):
        yield params | place, f"{about}, {where}"


def _pool(here: NodeFacts, pool: PoolFacts) -> dict[str, str]:
    return {"node": here.node, "pool": pool.name, "pool_guid": str(pool.guid)}


def _seats(fleet: FleetFacts, wwid: str) -> Iterator[tuple[NodeFacts, PoolFacts, VdevFacts, DiskFacts]]:
    """Where the disk is a member, by its label."""
    for here in fleet.nodes.values():
        disk = lookup.disk(fleet, here.node, wwid)
        if not known(disk) or disk is None:
            continue
        for pool in here.pools if known(here.pools) else ():
            for role, leaf in lookup.pool_leaves(pool) if known(pool.guid) else ():
                if role not in ("spare", "cache") and known(leaf.guid) and known(leaf.wwid) and leaf.wwid == wwid:
                    yield here, pool, leaf, disk


OF_NODE: Mapping[str, Callable[..., Found]] = {"sas-link-triage": _links, "read-only-import": _listed, "import-pool": _listed}
OF_POOL: Mapping[str, Callable[..., Found]] = {
    "resilver-tuning": _scan,
    "stop-scrub": _scrubbing,
    "spare-return": _stand_ins,
    "finish-replacement": _unfinished,
    "remove-auxiliary": _aside,
    "add-auxiliary": _more_aside,
    "remove-vdev": _data,
    "add-redundancy": _alone,
    "add-special": _classes,
    "replace-boot-member": _partitions_beside_others,
}
OF_DISK: Mapping[str, Callable[..., Found]] = {
    "slow-disk-triage": _member,
    "drive-mode-audit": _member,
    "blink-and-replace": _member_in_bay,
    "replace-in-place": _member_in_bay,
}

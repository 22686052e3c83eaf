"""Find things in facts: a node, a pool, a vdev, a disk, and who owns a disk.

Every answer is the thing, None when it is certainly not there, or `Unknown` when it is not known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import wraps
from typing import TypeVar

from agents.collectors.enclosure import PORTS
from agents.collectors.light_tools import PROGRAMS, READ_BACK
from agents.domain.wwid import DISKID, DSK, by_id_path, normalise, strip_partition
from workflows.facts.model import DiskFacts, FleetFacts, NodeFacts, PoolFacts, VdevFacts
from workflows.facts.unknown import Known, Unknown, derived, known, need

T = TypeVar("T")
IN_SERVICE = ("ONLINE", "DEGRADED", "AVAIL", "INUSE")
UNWELL = (
    "DEGRADED",
    "FAULTED",
    "OFFLINE",
    "REMOVED",
    "UNAVAIL",
)  # of what holds no data; any other word is not explained, and nothing is advised for it
LOST_STATES = ("UNAVAIL", "FAULTED", "REMOVED", "OFFLINE")  # a leaf that serves nothing
BAY_EVIDENCE_TO_LIGHT = 3  # domain: beyond the enclosure's own page a bay is a log line, an inventory or an elimination
NO_BAY = "none"  # the enclosure and the slot of a run for a disk that no light leads to


def once(asks: Callable[[NodeFacts], T]) -> Callable[[NodeFacts], T]:
    """Keeps what a function makes of a node with those facts, which never change: guards ask it of every disk."""
    name = f"_{asks.__module__}.{asks.__qualname__}"

    @wraps(asks)
    def answer(here: NodeFacts) -> T:
        kept: dict[str, T] = vars(here)
        if name not in kept:
            kept[name] = asks(here)
        return kept[name]

    return answer


def serves_nothing(leaf: VdevFacts) -> bool:
    """Whether the pool does without it: by its own state, or because the tree stands still and its disk is gone."""
    return leaf.state in LOST_STATES or (known(leaf.gone) and leaf.gone)


def wwid_of(leaf: VdevFacts) -> str | None:
    """Of the disk that carries its label; of one that cannot be read, the WWID that is its name. A name that can move is none."""
    if known(leaf.wwid):
        return leaf.wwid
    name = strip_partition(leaf.was or leaf.name)[0]
    found = normalise(name) if name.startswith("/dev/disk/by-id/") else None
    return found if found and by_id_path(found) == name else None


@dataclass(frozen=True)
class Member:
    """A leaf of an imported pool, and where it stands."""

    node: str
    pool: str
    pool_guid: Known[int]
    role: str  # "data", "special", "dedup", "log", "spare", "cache"
    vdev: VdevFacts

    @property
    def title(self) -> str:
        """How a sentence names it: "member 7602440441426092393 of ost_0"."""
        what = {"spare": "hot spare", "cache": "cache device"}.get(self.role, "member")
        return f"{what} {self.vdev.guid if known(self.vdev.guid) else self.vdev.name} of {self.pool}"


def node(fleet: FleetFacts, name: str) -> Known[NodeFacts]:
    found = fleet.nodes.get(name)
    return Unknown(f"No node named {name or 'nothing'} has reported.") if found is None else found


@derived
def pool(fleet: FleetFacts, node_name: str, pool_guid: int) -> Known[PoolFacts | None]:
    """The imported pool with this guid on this node. Unknown when there is none and some pool's guid could not be read."""
    here = need(node(fleet, node_name))
    pools = need(here.pools, f"The pools of {node_name} are not known")
    unread = None
    for each in pools:
        if not known(each.guid):
            unread = each.guid
        elif each.guid == pool_guid:
            return each
    return None if unread is None else Unknown(f"The pool guid of a pool on {node_name} is not known: {unread.reason}")


def trees_known(here: NodeFacts) -> bool:
    """Whether every imported pool and every vdev of it is known. The kernel alone lists pools without their vdevs."""
    return not why_trees_unknown(here)


@derived
def trees(here: NodeFacts) -> Known[tuple[tuple[PoolFacts, tuple[tuple[str, VdevFacts], ...]], ...]]:
    """Every imported pool with the roles and top-level vdevs of its tree; Unknown where the tree of one is not known."""
    pools = need(here.pools)
    found = []
    for pool in pools:
        if not known(pool.tops):
            return pool.tops
        found.append((pool, pool.tops))
    return tuple(found)


def why_trees_unknown(here: NodeFacts) -> str:
    """Empty when they are known."""
    if not known(here.pools):
        return here.pools.reason
    return next((pool.tops.reason for pool in here.pools if not known(pool.tops)), "")


@derived
def disk(fleet: FleetFacts, node_name: str, wwid: str) -> Known[DiskFacts | None]:
    """The disk with this WWID, as this node sees it."""
    here = need(node(fleet, node_name))
    need(here.disks, f"The disks of {node_name} are not known")
    return _by_wwid(here).get(wwid)


@once
def _by_wwid(here: NodeFacts) -> Mapping[str, DiskFacts]:
    """The first disk of each WWID."""
    disks = here.disks if known(here.disks) else ()
    return {disk.wwid: disk for disk in reversed(disks) if known(disk.wwid)}


def vdev(fleet: FleetFacts, node_name: str, pool_guid: int, vdev_guid: int) -> Known[VdevFacts | None]:
    """The vdev with this guid, anywhere in the pool's tree (spares and cache devices are not in the tree)."""
    line = lineage(fleet, node_name, pool_guid, vdev_guid)
    return line[-1] if known(line) and line is not None else line


@derived
def lineage(fleet: FleetFacts, node_name: str, pool_guid: int, vdev_guid: int) -> Known[tuple[VdevFacts, ...] | None]:
    """From the top-level vdev down to the vdev itself."""
    here = pool(fleet, node_name, pool_guid)
    if not known(here) or here is None:
        return here
    need(here.tops, f"The vdevs of {here.name} are not known")
    return pool_lineage(here, vdev_guid)


@derived
def pool_lineage(pool: PoolFacts, vdev_guid: int) -> Known[tuple[VdevFacts, ...] | None]:
    """From the top-level vdev down to the vdev itself. Unknown when the guid occurs twice or some guid is not known."""
    lines = [line for _, top in need(pool.tops, f"The vdevs of {pool.name} are not known") for line in lineages(top)]
    for *_, vdev in lines:
        if not known(vdev.guid):
            return Unknown(f"The guid of {vdev.name} in {pool.name} is not known: {vdev.guid.reason}")
    found = [line for line in lines if line[-1].guid == vdev_guid]
    if len(found) > 1:
        return Unknown(f"{pool.name} lists the vdev {vdev_guid} {len(found)} times.")
    return found[0] if found else None


_IN_MEMORY = ("/dev/shm/", "/dev/mqueue/")  # file systems that Linux mounts there
_OF_DEVICES = ("/dev/", "/devices/", "/private/var/run/disk/", "/var/run/disk/")


def is_file(leaf: VdevFacts) -> bool:
    """Whether it is a file. Of a file the path is printed whole, of a disk its name in a folder of devices (zpool_vdev_name, lib/libzfs/libzfs_pool.c, zfs-2.3.4);
    on macOS those folders are /private/var/run/disk/by-id and its like."""
    path = path_of_file(leaf)
    return path.startswith("/") and (path.startswith(_IN_MEMORY) or not path.startswith(_OF_DEVICES))


def path_of_file(leaf: VdevFacts) -> str:
    """Its path; of one that is away and goes by its guid the one that it had."""
    return leaf.note.removeprefix("was ").split()[0] if leaf.note.startswith("was /") else leaf.name


def members(fleet: FleetFacts) -> Iterator[Member]:
    """Every leaf of every imported pool, spares and cache devices included, on every node whose pools are known."""
    for name, here in fleet.nodes.items():
        yield from (member if member.node == name else replace(member, node=name) for member in _members(here))


@once
def _members(here: NodeFacts) -> tuple[Member, ...]:
    pools = here.pools if known(here.pools) else ()
    return tuple(Member(here.node, pool.name, pool.guid, role, leaf) for pool in pools for role, leaf in pool_leaves(pool))


def pool_leaves(pool: PoolFacts) -> Iterator[tuple[str, VdevFacts]]:
    """Every leaf with its role. A pool whose vdevs are not known has only the spares and cache devices we saw."""
    if known(pool.tops):
        yield from ((role, leaf) for role, top in pool.tops for leaf in top.leaves())
    yield from (("spare", leaf) for leaf in pool.spares)
    yield from (("cache", leaf) for leaf in pool.caches)


def owner_of_disk(fleet: FleetFacts, wwid: str) -> tuple[Member, ...]:
    """Which vdevs sit on this disk, on any node: by the label it carries, else by the name its pool opened it under.

    Only a leaf in service is matched by name. The name of a lost one may lead to a stranger by now.
    """
    return tuple(m for m in members(fleet) if _sits_on(fleet.nodes[m.node], m, wwid))


def _sits_on(here: NodeFacts, member: Member, wwid: str) -> bool:
    if known(member.vdev.wwid):
        return member.vdev.wwid == wwid
    return member.vdev.state in IN_SERVICE and is_called(here, member.vdev.name, wwid)


@derived
def at_path(here: NodeFacts, path: str) -> Known[DiskFacts | None]:
    """The disk a name leads to now on this node. A name is a place to look, never an identity."""
    disks = need(here.disks, f"The disks of {here.node} are not known")
    base, _ = strip_partition(path)
    kernel, links, others = here.places_by_name
    found = [kernel.get(base.rsplit("/", 1)[-1])]
    if base.startswith(("/dev/disk/", DISKID, DSK)):
        found.append(links.get(base))
    if path.startswith("/dev/"):  # a by-vdev name may be that of a disk or of its partition; what is mapped onto it has a name of its own
        found += [others.get(base), others.get(path)]
    places = [place for place in found if place is not None]
    return disks[min(places)] if places else None


def is_called(here: NodeFacts, name: str, wwid: str) -> bool:
    """Whether a name leads to this disk on this node now."""
    return wwid in wwids_called(here, name)


def wwids_called(here: NodeFacts, name: str) -> tuple[str, ...]:
    """The WWID that a name says, and that of the disk it leads to now."""
    named = normalise(strip_partition(name)[0].rsplit("/", 1)[-1]) if name.startswith("/dev/disk/by-id/") else None
    found = at_path(here, name)
    there = found.wwid if known(found) and found is not None and known(found.wwid) else None
    return tuple(dict.fromkeys(wwid for wwid in (named, there) if wwid is not None))


def lineages(vdev: VdevFacts, above: tuple[VdevFacts, ...] = ()) -> Iterator[tuple[VdevFacts, ...]]:
    """Every vdev from here down, each with all that is above it."""
    line = (*above, vdev)
    yield line
    for child in vdev.children:
        if child.children:
            yield from lineages(child, line)
        else:
            yield (*line, child)


def is_a_light(enclosure: str) -> bool:
    """Whether what a run takes for an enclosure is a light whose place has no number."""
    return enclosure == PORTS or enclosure in PROGRAMS


def reads_back(by: str) -> bool:
    """Whether such a light can be read."""
    return by == PORTS or by in READ_BACK


def place_in_words(enclosure: str, place: str) -> str:
    """A light whose place has no number, within a sentence."""
    return f"PCIe port {place}" if enclosure == PORTS else f"place {place} of {enclosure}"


def bay_to_light(disk: DiskFacts) -> dict[str, str]:
    """Enclosure and slot as a run takes them: a bay; else a light that leads to the disk, as PORTS and the address of the port above it, or as the tool that
    switches it and the place as that names it. NO_BAY where no light leads to the disk: then a person finds it by its serial number.

    A bay in dispute is none of these: the run names it and refuses until that is settled.
    """
    bay = disk.bay
    if not known(bay) or (not bay.conflict and (bay.evidence > BAY_EVIDENCE_TO_LIGHT or not known(bay.locate))):
        if known(disk.light) and (known(disk.light.lit) or not reads_back(disk.light.by)):
            return {"enclosure": disk.light.by, "slot": disk.light.place}
        return {"enclosure": NO_BAY, "slot": NO_BAY}
    return {"enclosure": bay.enclosure_id, "slot": str(bay.slot)}

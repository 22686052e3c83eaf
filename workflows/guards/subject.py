"""What guards ask about: the lost member and the chosen disk, found from a run's parameters or not known."""

from dataclasses import dataclass
from typing import TypeVar

from agents.domain.wwid import as_other_systems_name, is_unit_of, parts_of_geom, scheme
from workflows.engine.core import Params
from workflows.facts import DiskFacts, FleetFacts, Known, NodeFacts, PoolFacts, Unknown, VdevFacts, derived, known, lookup, need, title

T = TypeVar("T")


@dataclass(frozen=True)
class Target:
    """A lost member and everything above it."""

    node: NodeFacts
    pool: PoolFacts
    line: tuple[VdevFacts, ...]  # from the top-level vdev down to the leaf

    @property
    def leaf(self) -> VdevFacts:
        return self.line[-1]

    @property
    def top(self) -> VdevFacts:
        return self.line[0]

    @property
    def parent(self) -> VdevFacts | None:
        return self.line[-2] if len(self.line) > 1 else None


def number(params: Params, name: str) -> Known[int]:
    text = params.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 20 else Unknown(f"The run names no {name.replace('_', ' ')}.")


@derived
def the_pool(facts: FleetFacts, params: Params) -> Known[PoolFacts]:
    guid = need(number(params, "pool_guid"))
    found = lookup.pool(facts, params.get("node", ""), guid)
    return _present(found, f"{params.get('pool', guid)} is not imported on {params.get('node', '')}.")


@derived
def the_target(facts: FleetFacts, params: Params) -> Known[Target]:
    pool, guid = need(the_pool(facts, params)), need(number(params, "vdev_guid"))
    line = _present(lookup.pool_lineage(pool, guid), f"{pool.name} has no vdev {guid} any more.")
    return line if not known(line) else Target(facts.nodes[params["node"]], pool, line)


def the_disk(facts: FleetFacts, params: Params) -> Known[DiskFacts]:
    wwid, node = params.get("wwid", ""), params.get("node", "")
    if not wwid:
        return Unknown("No disk is chosen yet.")
    return _present(lookup.disk(facts, node, wwid), f"{node} does not see the disk {wwid}. Check that it is seated, and look again.")


def name_of(disk: DiskFacts) -> str:
    return title(disk)


def nameless(facts: FleetFacts, params: Params) -> DiskFacts | None:
    """A disk of the node that does not say who it is, and may be any of the pool: it carries a label of it, or one that could not be read."""
    node = lookup.node(facts, params.get("node", ""))
    for disk in node.disks if known(node) and known(node.disks) else ():
        unread = not known(disk.labels) or any(str(label.pool_guid) == params.get("pool_guid", "") for label in disk.labels)
        if unread and not known(disk.wwid):
            return disk
    return None


def sharing_nodes(facts: FleetFacts, node: str, wwids: frozenset[str]) -> Known[tuple[NodeFacts, ...]]:
    """Other nodes that see, or may see, at least one of these disks; Unknown when a node does not say which disks it sees."""
    others = [other for name, other in facts.nodes.items() if name != node]
    seen = []
    for other in others:
        if not known(other.disks):
            return Unknown(f"{other.node} may see the same disks, and which disks it sees is not known: {other.disks.reason}")
        seen.append((other, other.disks))
    here = [lookup.disk(facts, node, wwid) for wwid in wwids]
    sizes = [d.size_bytes if known(d) and d is not None else None for d in here]
    return tuple(other for other, disks in seen if any(_may_be(d, wwids, sizes) for d in disks))


def _may_be(disk: DiskFacts, wwids: frozenset[str], sizes: list[Known[int] | None]) -> bool:
    """A disk without a WWID may be any disk of its size; virtual media of a management controller are distinguished by the size."""
    if known(disk.wwid):
        return disk.wwid in wwids or any(_one_named_otherwise(disk, wwid) for wwid in wwids)
    return not known(disk.size_bytes) or any(size is None or not known(size) or size == disk.size_bytes for size in sizes)


def _one_named_otherwise(disk: DiskFacts, wwid: str) -> bool:
    """Whether a disk that FreeBSD or illumos names may be one that another system names otherwise: by the name of its logical unit, or by its serial
    number."""
    if (
        as_other_systems_name(str(disk.wwid)) == as_other_systems_name(wwid)
        or is_unit_of(wwid, str(disk.wwid))
        or is_unit_of(str(disk.wwid), wwid)
    ):
        return True
    for one, other in ((str(disk.wwid), wwid), (wwid, str(disk.wwid))):
        if (parts := parts_of_geom(one)) and scheme(other) != "geom":
            serial = disk.serial if one == wwid else other.rpartition(":")[2]
            return serial == parts[1]
    return False


def _present(found: Known[T | None], otherwise: str) -> Known[T]:
    return Unknown(otherwise) if found is None else found

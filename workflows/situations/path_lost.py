"""A disk is reached by fewer ways than it was built for: a path of a multipath map failed, or one disk has one path where its peers have two.

The pool serves as before. What is lost is the reserve: the next cable, module or HBA that fails takes disks away.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from agents.collectors.block import RUNNING
from workflows.engine.core import Cure, Situation
from workflows.facts import DiskFacts, FleetFacts, NodeFacts, OnPath, known
from workflows.situations import _ill, _words

SLUG = "path-lost"
MANUALS: tuple[str, ...] = ("sas-link-triage",)
TOGETHER_MIN = 3  # disks that lost a path of one HBA: then it is not the disks
PEERS_MIN = 3  # disks with two paths that make one with a single path odd


@dataclass(frozen=True)
class Lost:
    """One disk, by what multipath or the kernel calls it, and its paths that do not work."""

    name: str  # "mpatha", or "sde"
    disk: DiskFacts | None
    failed: tuple[str, ...]  # kernel names; () where a path is not there at all
    working: int
    hosts: frozenset[str]  # of the lost paths, as far as known: "6"
    source: str
    line: str


def detect(fleet: FleetFacts) -> tuple[Situation, ...]:
    return tuple(found for node in fleet.nodes.values() for found in _on(node))


def _on(node: NodeFacts) -> Iterator[Situation]:
    """One situation a disk; where three or more lost a path of one HBA, one for the HBA."""
    lost = [*_of_maps(node), *_of_states(node)] or list(_of_peers(node))
    together = Counter(host for one in lost for host in one.hosts)
    host = next((host for host, count in together.most_common(1) if count >= TOGETHER_MIN), None)
    if host is not None:
        same = [one for one in lost if host in one.hosts]
        yield _of_host(node, host, same)
        lost = [one for one in lost if host not in one.hosts]
    yield from (_of_disk(node, one) for one in lost)


def _of_maps(node: NodeFacts) -> Iterator[Lost]:
    paths = node.service.paths if known(node.service) else None
    if paths is None or not known(paths):
        return
    maps: dict[str, dict[str, OnPath]] = {}
    for name, path in paths.items():
        maps.setdefault(path.map, {})[name] = path
    for name, each in maps.items():
        failed = tuple(path for path, on in each.items() if on.failed)
        if failed and len(failed) < len(each):
            line = ", ".join(f"{path} {each[path].state or ''} {each[path].checker or ''}".strip() for path in failed)
            yield Lost(name, _disk_at(node, tuple(each)), failed, len(each) - len(failed), _hosts(node, failed), "multipath", line)


def _of_states(node: NodeFacts) -> Iterator[Lost]:
    """Disks behind no map, of which the kernel has one path that runs and one that does not."""
    mapped: Mapping[str, OnPath] = node.service.paths if known(node.service) and known(node.service.paths) else {}
    for disk in node.disks if known(node.disks) else ():
        failed = tuple(path.name for path in disk.paths if known(path.state) and path.state not in RUNNING)
        if not failed:
            continue  # as nearly always
        states = {path.name: path.state for path in disk.paths if known(path.state)}
        if any(state in RUNNING for state in states.values()) and not any(name in mapped for name in disk.names):
            working = sum(state in RUNNING for state in states.values())
            line = ", ".join(f"{name} {states[name]}" for name in failed)
            yield Lost(disk.names[0], disk, failed, working, _hosts(node, failed), "block", line)


def _of_peers(node: NodeFacts) -> Iterator[Lost]:
    """Disks with one path where their peers have two: disks of the same model in the same enclosure, by two HBAs."""
    disks = node.disks if known(node.disks) else ()
    if not any(len(disk.paths) > 1 for disk in disks):
        return
    groups: dict[tuple[str, str], list[DiskFacts]] = {}
    for disk in disks:
        if known(disk.wwid) and known(disk.bay) and any(path.sas_address for path in disk.paths):
            groups.setdefault((disk.model, disk.bay.enclosure_id), []).append(disk)
    for group in groups.values():
        double = [disk for disk in group if len(disk.paths) > 1]
        if len(double) < PEERS_MIN or 2 * len(double) < len(group):
            continue
        usual = frozenset.union(*(_hosts(node, disk.names) for disk in double))
        for disk in group:
            if len(disk.paths) == 1:
                line = f"{disk.names[0]}: one path, where {len(double)} disks beside it have two"
                yield Lost(disk.names[0], disk, (), 1, usual - _hosts(node, disk.names), "block", line)


def _disk_at(node: NodeFacts, names: tuple[str, ...]) -> DiskFacts | None:
    return next((disk for disk in node.disks if set(names) & set(disk.names)), None) if known(node.disks) else None


def _hosts(node: NodeFacts, names: tuple[str, ...]) -> frozenset[str]:
    """SCSI host numbers of these kernel devices."""
    paths = (path for disk in (node.disks if known(node.disks) else ()) for path in disk.paths)
    return frozenset(path.hctl.partition(":")[0] for path in paths if path.name in names and path.hctl)


def _title(node: NodeFacts, one: Lost) -> str:
    """The disk with the pool that it serves; the map alone where no disk is known to be behind it. A map's name may go to another disk."""
    if one.disk is None or not known(one.disk.wwid):
        return one.name
    wwid = one.disk.wwid
    pool = next((f"{seat.pool.name}: " for seat in _ill.seats(node) if seat.leaf.wwid == wwid), "")
    return f"{pool}{_words.named(one.disk)}"


def _of_disk(node: NodeFacts, one: Lost) -> Situation:
    named = one.name if one.disk is None else _words.where(one.disk)
    if one.disk is not None and one.name not in one.disk.names:
        named += f", the map {one.name}"
    missing = f"Its path {' and '.join(one.failed)} does not work" if one.failed else "It has one path where the disks beside it have two"
    return Situation(
        slug=SLUG,
        key=f"{SLUG}:{node.node}:{one.disk.wwid if one.disk is not None and known(one.disk.wwid) else one.name}",
        node=node.node,
        severity="watch",
        title=f"{_title(node, one)} lost a path: {_words.plural(one.working, 'path')} left",
        meaning=(
            f"{named}: {missing}; it is reached by {_words.plural(one.working, 'other path')}. Nothing is lost, and it is slower at most. "
            "If the last path fails, the disk is gone for its pool."
        ),
        evidence=(_words.evidence(node, one.source, one.line),),
        subject={"node": node.node} | ({"wwid": one.disk.wwid} if one.disk is not None and known(one.disk.wwid) else {}),
        cures=(
            Cure(
                "reseat",
                "Only this disk lost a path, so look at its bay first: reseat the disk when its pool can do without it for a moment.",
            ),
            Cure("look", "Look at the kernel's log and at the error counters of its phys for the time when it went."),
        ),
    )


def _of_host(node: NodeFacts, host: str, lost: list[Lost]) -> Situation:
    names = ", ".join(one.name for one in lost[:8]) + (" and others" if len(lost) > 8 else "")
    return Situation(
        slug=SLUG,
        key=f"{SLUG}:{node.node}:host{host}",
        node=node.node,
        severity="act",
        title=f"{len(lost)} disks lost their path by HBA host{host}",
        meaning=(
            f"{len(lost)} disks lost the path that leads over host{host}: {names}. They are reached by their other path, and no disk is to blame. "
            "Until it is mended, one more cable, module or HBA takes all of them away at once."
        ),
        evidence=tuple(_words.evidence(node, one.source, one.line) for one in lost[:8]),
        subject={"node": node.node, "host": f"host{host}"},
        cures=(
            Cure(
                "reseat",
                f"Look at the cable between host{host} and the shelf, at the module of the shelf that it is plugged into, and at the HBA.",
            ),
            Cure("look", "When it is back, see that each disk has its two paths again. Replace no disk."),
        ),
    )

"""What an answer rests on: which captures of which nodes a guard's verdict was read from.

This is not written down beside a guard, where it would be forgotten: the guard is asked with facts that note which of them it reads.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from workflows.engine.core import Guard, Params, Verdict, ask
from workflows.facts import DiskFacts, FleetFacts, NodeFacts, known
from workflows.guards.several import CHOSEN

# Field of a node's facts -> the sources it is read from. What is not listed is the portal's own: how old a report is, what left service.
OF_A_NODE: Mapping[str, tuple[str, ...]] = {
    "hostname": ("node",),
    "hostid": ("node",),
    "boot_id": ("node",),
    "zfs_userland": ("node",),
    "zfs_module": ("node",),
    "pools": ("zpool_status", "zpool_status_guid"),
    "bays": ("enclosure",),
    "lights": ("enclosure", "light_tools"),
    "light_tools": ("light_tools",),
    "importable": ("zpool_import",),
    "fabric": ("sas_topology",),
    "timelines": ("zdb_uberblocks",),
    "cached": ("zdb_config",),
    "kstats": ("kstat_pools",),
    "tunables": ("parameters",),
    "policy": ("agent",),
    "hostids": ("node", "sysctl"),
    "kernel_log": ("kernel_log",),
    "loads": ("dbgmsg",),
    "events": ("zpool_events",),
    "histories": ("zpool_history",),
    "expected": ("zdb_label",),
    "service": ("multipath", "io_counters", "zpool_iostat_w"),
}
# The same of a disk. A source with a key is asked disk by disk: only the captures of the disks that were looked at count.
OF_A_DISK: Mapping[str, tuple[str, ...]] = {
    "wwid": ("block",),
    "serial": ("block",),
    "model": ("block",),
    "size_bytes": ("block",),
    "logical_block_bytes": ("block",),
    "physical_block_bytes": ("block",),
    "protection_type": ("block",),
    "paths": ("block", "disk_links"),
    "identity": ("block", "disk_links", "lsscsi"),
    "labels": ("zdb_label",),
    "copies": ("zdb_label",),
    "in_use": ("mounts", "block"),
    "bay": ("enclosure", "block"),
    "bay_witnesses": ("enclosure", "block"),
    "light": ("enclosure", "light_tools", "block"),
    "health": ("smart",),
    "condition": ("smart", "sg_logs"),
    "modes": ("drive_modes",),
}
NAMING_A_DISK = (*CHOSEN, "old_wwid")  # run parameters
Read = tuple[str, str, tuple[str, ...]]  # node, source, kernel names of the disk it was read of


class Ground(NamedTuple):
    """One capture, as evidence."""

    node: str
    source: str  # "zpool_status", "zdb_label/sda1"
    digest: str


class Answered(NamedTuple):
    verdict: Verdict
    grounds: tuple[Ground, ...]


def answered(guards: tuple[Guard, ...], facts: FleetFacts, params: Params) -> tuple[Answered, ...]:
    """Every guard's answer with the captures it was read from, those of the run's own node and disks first."""
    read: set[Read] = set()
    watched = replace(facts, nodes={name: _watch_node(node, read.add) for name, node in facts.nodes.items()})
    found = []
    for guard in guards:
        read.clear()
        [verdict] = ask((guard,), watched, params)
        found.append(Answered(verdict, _grounds(facts, read, params)))
    return tuple(found)


# --- facts that note what is read of them


class _Node(NodeFacts):
    def __getattribute__(self, name: str) -> Any:
        own = object.__getattribute__(self, "__dict__")
        if name in OF_A_NODE:
            _note(own, OF_A_NODE[name], ())
        if name == "disks" and "_read" in own:
            if "_disks" not in own:
                own["_disks"] = _watch_disks(own)
            return own["_disks"]
        return object.__getattribute__(self, name)


class _Disk(DiskFacts):
    def __getattribute__(self, name: str) -> Any:
        own = object.__getattribute__(self, "__dict__")
        if name in OF_A_DISK:
            _note(own, OF_A_DISK[name], own.get("_names", ()))
        return object.__getattribute__(self, name)


def _note(own: dict[str, Any], sources: tuple[str, ...], names: tuple[str, ...]) -> None:
    note = own.get("_read")  # absent of a copy that a guard made for itself
    if note is None:
        return
    for source in sources:
        note((own["_node"], source, names))


def _watch_node(node: NodeFacts, note: Callable[[Read], None]) -> _Node:
    watched = object.__new__(_Node)
    watched.__dict__.update(node.__dict__, _read=note, _node=node.node)
    return watched


def _watch_disks(own: dict[str, Any]) -> Any:
    """Only of nodes whose disks are asked for: a fleet has a hundred thousand."""
    disks = own["disks"]
    return tuple(_watch_disk(disk, own["_node"], own["_read"]) for disk in disks) if known(disks) else disks


def _watch_disk(disk: DiskFacts, node: str, note: Callable[[Read], None]) -> _Disk:
    watched = object.__new__(_Disk)
    watched.__dict__.update(disk.__dict__, _read=note, _node=node, _names=disk.names)
    return watched


# --- the captures behind what was read


def _grounds(facts: FleetFacts, read: Iterable[Read], params: Params) -> tuple[Ground, ...]:
    wanted: dict[str, dict[str, set[str]]] = {}
    for node, source, names in read:
        wanted.setdefault(node, {}).setdefault(source, set()).update(names or ("",))
    found = [one for name, sources in wanted.items() for one in _captures(facts.nodes[name], sources)]
    own = _own_disks(facts, params)
    return tuple(sorted(found, key=lambda one: (one.node != params.get("node"), bool(_disk_of(one)) and _disk_of(one) not in own, one)))


def _captures(node: NodeFacts, sources: Mapping[str, set[str]]) -> Iterator[Ground]:
    for where, digest in node.digests.items():
        source, _, key = where.partition("/")
        names = sources.get(source)
        if names is not None and (not key or "" in names or key.rstrip("0123456789") in names):
            yield Ground(node.node, where, digest)


def _disk_of(one: Ground) -> str:
    return one.source.partition("/")[2].rstrip("0123456789")


def _own_disks(facts: FleetFacts, params: Params) -> set[str]:
    """The kernel names of the disks this run is about."""
    meant = {params[name] for name in NAMING_A_DISK if params.get(name)}
    node = facts.nodes.get(params.get("node", ""))
    disks = node.disks if node is not None and known(node.disks) else ()
    return {name for disk in disks if known(disk.wwid) and disk.wwid in meant for name in disk.names}

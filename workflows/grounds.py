"""What an answer rests on: which captures of which nodes a guard's verdict was read from.

Nobody writes this down beside a guard, where it would be forgotten: the guard is asked with facts that note which of them it reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from workflows.core import Guard, Params, Verdict, ask
from workflows.facts import FleetFacts, NodeFacts, known

LABELS, OF_THE_DISK = ("zdb_label",), ("block", "disk_links", "mounts")
# Field of the facts -> the sources it is read from. What is not listed is the portal's own: how old a report is, what left service.
SOURCES: Mapping[str, tuple[str, ...]] = {
    "hostname": ("node",),
    "hostid": ("node",),
    "boot_id": ("node",),
    "zfs_userland": ("node",),
    "zfs_module": ("node",),
    "pools": ("zpool_status", "zpool_status_guid"),
    "disks": (*OF_THE_DISK, *LABELS),
    "bays": ("enclosure",),
    "importable": ("zpool_import",),
    "fabric": ("sas_topology",),
    "timelines": ("zdb_uberblocks",),
    "cached": ("zdb_config",),
    "kstats": ("kstat_pools",),
    "tunables": ("parameters",),
    "hostids": ("node", "sysctl"),
    "kernel_log": ("kernel_log",),
    "loads": ("dbgmsg",),
    "events": ("zpool_events",),
    "histories": ("zpool_history",),
    "expected": LABELS,
}
NAMING_A_DISK = ("wwid", "old_wwid")  # run parameters


class Ground(NamedTuple):
    """One capture, as evidence."""

    node: str
    source: str  # "zpool_status", "zdb_label/sda1"
    digest: str


class Answered(NamedTuple):
    verdict: Verdict
    grounds: tuple[Ground, ...]


class _Watched(NodeFacts):
    """The facts of a node that note which of their fields were read."""

    def __getattribute__(self, name: str) -> Any:
        if name in SOURCES:
            own = object.__getattribute__(self, "__dict__")
            own["_read"].append((own["node"], name))
        return object.__getattribute__(self, name)


def answered(guards: tuple[Guard, ...], facts: FleetFacts, params: Params) -> tuple[Answered, ...]:
    """Every guard's answer with the captures it was read from."""
    read: list[tuple[str, str]] = []
    watched = replace(facts, nodes={name: _watch(node, read) for name, node in facts.nodes.items()})
    found = []
    for guard in guards:
        read.clear()
        [verdict] = ask((guard,), watched, params)
        found.append(Answered(verdict, _grounds(facts, set(read), params)))
    return tuple(found)


def _watch(node: NodeFacts, read: list[tuple[str, str]]) -> _Watched:
    watched = object.__new__(_Watched)
    watched.__dict__.update(node.__dict__, _read=read)
    return watched


def _grounds(facts: FleetFacts, read: set[tuple[str, str]], params: Params) -> tuple[Ground, ...]:
    """The run's own node first."""
    fields = {name: [field for node, field in read if node == name] for name, _ in read}
    found = {one for name in fields for one in _captures(facts.nodes[name], fields[name], params)}
    return tuple(sorted(found, key=lambda one: (one.node != params.get("node"), one)))


def _captures(node: NodeFacts, fields: list[str], params: Params) -> Iterator[Ground]:
    sources = {source for field in fields for source in SOURCES[field]}
    names = _names(node, params)
    for where, digest in node.digests.items():
        source, _, key = where.partition("/")
        if source in sources and (not key or source not in LABELS or key.rstrip("0123456789") in names):
            yield Ground(node.node, where, digest)


def _names(node: NodeFacts, params: Params) -> set[str]:
    """The kernel names of the disks this run is about: of the labels of eighty disks only theirs are worth a look."""
    meant = {params[name] for name in NAMING_A_DISK if params.get(name)}
    disks = node.disks if known(node.disks) else ()
    return {name for disk in disks if known(disk.wwid) and disk.wwid in meant for name in disk.names}

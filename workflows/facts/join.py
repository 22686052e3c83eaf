"""One node's captures become one node's facts. WWID is the key: labels, kernel devices, bays and pool trees meet there.

Nothing is guessed: a source that failed, is missing or cannot be read leaves `Unknown` with its reason in every field
that needed it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from agents.collectors.base import Capture
from agents.wwid import normalise, strip_partition
from workflows.facts.bays import read_bays
from workflows.facts.disks import around, by_disk, label_names, read_disks
from workflows.facts.fabric import read_fabric
from workflows.facts.labels import LabelIndex, Read, index, read_labels
from workflows.facts.model import Known, LeafChange, NodeFacts, Unknown, known
from workflows.facts.pools import Resolve, read_importable, read_pools
from workflows.facts.sources import Sources


def node_facts(
    node: str,
    captures: Mapping[str, Capture | Mapping[str, Any]],
    age_seconds: float,
    leaf_changes: Known[tuple[LeafChange, ...]],
) -> NodeFacts:
    """Join what one node said. `captures` is by "source" or "source/key"; the portal adds age and history."""
    sources = Sources(captures)
    labels, bays, devices = read_labels(sources), read_bays(sources), sources.read("block")
    about, carried = around(sources, labels, bays), _index(labels, devices)
    disks = read_disks(sources, about)
    return NodeFacts(
        node=node,
        age_seconds=age_seconds,
        hostname=_of_node(sources, "hostname"),
        hostid=_of_node(sources, "hostid"),
        boot_id=_of_node(sources, "boot_id"),
        zfs_userland=_of_node(sources, "zfs_userland"),
        zfs_module=_of_node(sources, "zfs_module"),
        pools=read_pools(sources, carried, _resolver(devices, about.links)),
        disks=disks,
        bays=bays,
        importable=read_importable(sources),
        leaf_changes=leaf_changes,
        digests=sources.digests(),
        failures=sources.failures(),
        fabric=read_fabric(sources, disks, _before(sources, "sas_phys")),
        expected=Unknown(carried.blind) if carried.blind else carried.expected,
    )


def _before(sources: Sources, where: str) -> Known[Any]:
    """What a source said some time ago, where the portal keeps that: (value, seconds)."""
    earlier = getattr(sources, "earlier", None)
    return earlier(where) if earlier else Unknown(f"What {where} said before is not kept.")


def _of_node(sources: Sources, field: str) -> Known[str]:
    said = sources.read("node")
    if not known(said):
        return said
    return getattr(said, field) or Unknown(f"The node does not say its {field.replace('_', ' ')}.")


def _index(labels: Mapping[str, Read], devices: Known[Any]) -> LabelIndex:
    return index(_by_disk(labels, devices)) if known(devices) else LabelIndex(blind=devices.reason)


def _by_disk(labels: Mapping[str, Read], devices: Any) -> Iterator[tuple[str, Read]]:
    """Each label with the key of the disk it is on. A label on a device the kernel does not list any more is nobody's."""
    for key, group in by_disk(devices).items():
        for name in dict.fromkeys(name for device in group for name in label_names(device, labels)):
            if name in labels:
                yield key, labels[name]


def _resolver(devices: Known[Any], links: Mapping[str, tuple[str, ...]]) -> Resolve:
    """How a path leads to a disk's key today: by kernel name, or by a link that the kernel's own names confirm."""
    keys = {device.name: device.wwid or device.name for device in devices} if known(devices) else {}
    linked = {path: keys[name] for name, paths in links.items() if name in keys for path in paths}

    def resolve(path: str) -> str | None:
        base, _ = strip_partition(path)
        if base in linked:
            return linked[base]
        if base.startswith("/dev/disk/"):
            return normalise(base)
        return keys.get(base.removeprefix("/dev/"))

    return resolve

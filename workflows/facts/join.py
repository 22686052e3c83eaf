"""One node's captures become one node's facts. WWID is the key: labels, kernel devices, bays and pool trees meet there.

Nothing is guessed: a source that failed, is missing or cannot be read leaves `Unknown` with its reason in every field
that needed it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from agents.collectors import block as block_source
from agents.collectors import boot_tool as boot_tool_source
from agents.collectors import node as node_source
from agents.collectors import sas_phys as sas_phys_source
from agents.collectors import zdb_config as zdb_config_source
from agents.collectors.base import Capture
from agents.collectors.block import BlockDisk
from agents.domain.wwid import normalise, strip_partition
from workflows.facts.model import NO_AGES, LeafChange, NodeFacts
from workflows.facts.read.bays import read_bays
from workflows.facts.read.disk_service import read_service
from workflows.facts.read.disks import by_disk, label_names, mapped, read_disks, read_links
from workflows.facts.read.enclosures import read_enclosures
from workflows.facts.read.fabric import read_fabric
from workflows.facts.read.figures import with_figures
from workflows.facts.read.firmware import read_firmware
from workflows.facts.read.hostids import read_hostids
from workflows.facts.read.kstats import read_kstats, with_kernel
from workflows.facts.read.labels import Copies, LabelIndex, Labels, Read, index
from workflows.facts.read.lights import read_light_tools, read_lights
from workflows.facts.read.past import read_events, read_histories, read_kernel_log
from workflows.facts.read.policies import read_policy
from workflows.facts.read.pool_loads import read_failed_loads, read_loads
from workflows.facts.read.pools import Resolve, read_importable, read_pools
from workflows.facts.read.smart_reports import read_reports
from workflows.facts.read.sources import NO_BEFORE, Before, Memory, Sources
from workflows.facts.read.suspended_trees import with_gone
from workflows.facts.read.tunables import read_tunables
from workflows.facts.read.uberblocks import read_timelines
from workflows.facts.read.unnoticed import with_unnoticed
from workflows.facts.read.used_twice import with_used_twice
from workflows.facts.unknown import Known, Unknown, derived, known, need


def node_facts(
    node: str,
    captures: Mapping[str, Capture | Mapping[str, Any]],
    age_seconds: float,
    leaf_changes: Known[tuple[LeafChange, ...]],
    *,
    ages: Known[Mapping[str, float]] = NO_AGES,
    earlier: Mapping[str, Before] = NO_BEFORE,
    lately: Mapping[str, Before] = NO_BEFORE,
    digests: Mapping[str, str] | None = None,
    memory: Memory | None = None,
) -> NodeFacts:
    """Join what one node said. `captures` is by "source" or "source/key"; the portal adds ages and history.

    `ages`: source -> how many seconds ago it was asked. `earlier`: place -> (body, how many seconds before what it says now).
    `lately`: the same of some minutes ago, of a source that is compared with what began since, too.
    `digests`: place -> digest, where they need not be computed again. `memory`: this node's own, empty at first; most of a node
    does not change from report to report, and what was joined from the same texts is taken from there.
    """
    sources = Sources(captures, earlier, digests, memory, lately)
    disks, carried, kstats = read_disks(sources), _carried(sources), read_kstats(sources)
    listed = read_pools(sources, carried, _resolver(sources.read(block_source), read_links(sources)))
    there = with_gone(with_kernel(listed.pools, kstats), disks)
    if known(ages) and not carried.blind and not carried.unread:  # of a paste it is not known that every disk is in it
        there = with_unnoticed(there, disks)
    pools = with_used_twice(with_figures(there, sources, disks))
    importable, partial_importable = read_importable(sources)
    return NodeFacts(
        node=node,
        age_seconds=age_seconds,
        hostname=_of_node(sources, "hostname"),
        hostid=_of_node(sources, "hostid"),
        boot_id=_of_node(sources, "boot_id"),
        system=_of_node(sources, "system"),
        zfs_userland=_of_node(sources, "zfs_userland"),
        zfs_module=_of_node(sources, "zfs_module"),
        prepares=_of_node(sources, "prepares"),
        powers=_of_node(sources, "powers"),
        pools=listed.for_guards(pools),
        partial_pools=listed.partial(pools),
        unread=listed.unread,
        disks=disks,
        bays=read_bays(sources),
        lights=read_lights(sources),
        light_tools=read_light_tools(sources),
        importable=importable,
        partial_importable=partial_importable,
        leaf_changes=leaf_changes,
        digests=sources.digests(),
        failures=sources.failures(),
        not_understood=sources.not_understood(),
        absent=sources.absent(),
        left_asleep=sources.left_asleep(),
        fabric=read_fabric(sources, disks, sources.earlier(sas_phys_source)),
        ages=ages,
        timelines=read_timelines(sources, disks),
        boot=sources.read(boot_tool_source),
        cached=sources.read(zdb_config_source, if_nothing=()),
        kstats=kstats,
        tunables=read_tunables(sources),
        policy=read_policy(sources),
        firmware=read_firmware(sources),
        hostids=read_hostids(sources),
        kernel_log=read_kernel_log(sources),
        loads=read_loads(sources),
        failed_loads=read_failed_loads(sources),
        events=read_events(sources),
        histories=read_histories(sources),
        unplaced=() if known(disks) else tuple(_unplaced(sources)),
        expected=Unknown(carried.blind) if carried.blind else carried.expected,
        service=read_service(sources),
        loose_reports=read_reports(sources),
        enclosures=read_enclosures(sources),
    )


def _unplaced(sources: Sources) -> Iterator[Copies]:
    """The copies of each label that was read, where the disks are not known: of a paste of `zdb -l` alone."""
    yield from (read.copies for read in Labels(sources).values() if known(read.copies))


def _carried(sources: Sources) -> LabelIndex:
    return sources.once("carried", lambda: _index(Labels(sources), sources.read(block_source)))


@derived
def _of_node(sources: Sources, field: str) -> Known[str]:
    parsed = need(sources.read(node_source))
    return getattr(parsed, field) or Unknown(f"The node does not say its {field.replace('_', ' ')}.")


def _index(labels: Mapping[str, Read], devices: Known[tuple[BlockDisk, ...]]) -> LabelIndex:
    return index(_by_disk(labels, devices)) if known(devices) else LabelIndex(blind=devices.reason)


def _by_disk(labels: Mapping[str, Read], devices: tuple[BlockDisk, ...]) -> Iterator[tuple[str, Read]]:
    """Each label with the key of the disk it is on. A label on a device the kernel does not list any more belongs to no disk."""
    for key, group in by_disk(devices).items():
        for name in dict.fromkeys(name for device in group for name in label_names(device, labels)):
            if name in labels:
                yield key, labels[name]


def _resolver(devices: Known[tuple[BlockDisk, ...]], links: Mapping[str, tuple[str, ...]]) -> Resolve:
    """How a path leads to a disk's key today: by kernel name, or by a link that the kernel's own names confirm."""
    keys: dict[str, str] = {device.name: device.wwid or device.name for device in devices} if known(devices) else {}
    inside = {part.name: keys[device.name] for device in devices for part in device.partitions} if known(devices) else {}
    below = {**inside, **(mapped(devices) if known(devices) else {})}
    linked = {path: keys[name] for name, paths in links.items() if name in keys for path in paths}
    linked |= {path: below[name] for name, paths in links.items() if name in below for path in paths if path not in linked}

    def resolve(path: str) -> str | None:
        base, _ = strip_partition(path)
        if base in linked or path in linked:
            return linked.get(path) or linked[base]  # a name of FreeBSD may end like a partition: /dev/gpt/tank1p2
        if base.startswith("/dev/disk/"):
            return normalise(base)
        return keys.get(base.removeprefix("/dev/"))

    return resolve

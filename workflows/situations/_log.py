"""What situations that come of the kernel's log have in common: how old a line is, whether the pools are well today, and whose name it bears."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from agents.collectors.kernel_log import KernelEvent, KernelLog
from agents.domain.wwid import strip_partition
from workflows.engine.core import Evidence
from workflows.facts import DiskFacts, FleetFacts, NodeFacts, PoolFacts, VdevFacts, known, lookup
from workflows.facts.read.past import SECOND, Place, places
from workflows.situations import _words

DAY_US = 24 * 3600 * SECOND
BOOTING_US = 60 * SECOND  # drivers reset their adapters and disks while they start
OF_NO_START = frozenset(("panic", "kernel-fault", "suspended", "multihost-suspended"))  # pools are imported in that minute
LINES_SHOWN = 6


@dataclass(frozen=True)
class Log:
    """The kernel's log of one node, with what decides how much it weighs."""

    fleet: FleetFacts
    node: NodeFacts
    log: KernelLog

    def is_reported(self, event: KernelEvent) -> bool:
        """Not of the time when the kernel started, but for what no driver prints because it starts."""
        return event.kind in OF_NO_START or not (self.log.since_boot and event.of_boot_us < BOOTING_US)

    def events(self, *kinds: str) -> tuple[KernelEvent, ...]:
        """Of these kinds, without what drivers print while they start."""
        return tuple(e for e in self.log.events if e.kind in kinds and self.is_reported(e))

    @cached_property
    def now_us(self) -> int:
        """By the portal's clock where the node reports when it booted, else the newest line's."""
        ids, at = self.node.hostids, self.fleet.at
        if self.log.since_boot and known(ids) and ids.booted_at is not None and known(at):
            return int((at - ids.booted_at) * SECOND)
        return self.log.newest_us

    @property
    def is_young(self) -> bool:
        """Whether its newest line is of the first minute: then what it tells of that minute is all there is."""
        return self.log.since_boot and self.log.newest_us < BOOTING_US

    def is_recent(self, event: KernelEvent) -> bool:
        """Of the last 24 hours, and not of the time when the kernel started."""
        return self.is_reported(event) and event.at_us >= self.now_us - DAY_US

    def recent(self, *kinds: str) -> tuple[KernelEvent, ...]:
        return tuple(event for event in self.log.events if event.kind in kinds and self.is_recent(event))

    def evidence(self, events: tuple[KernelEvent, ...]) -> tuple[Evidence, ...]:
        return tuple(_words.evidence(self.node, "kernel_log", event_text(event)) for event in events[:LINES_SHOWN])

    def disk(self, name: str) -> DiskFacts | None:
        """What the name or address of a log leads to today."""
        disks = self.node.disks if known(self.node.disks) else ()
        base = strip_partition(name.rsplit("/", 1)[-1])[0]
        for disk in disks:
            if any(base in (path.name, path.hctl) or any(link.endswith(f"/{base}") for link in path.by_id) for path in disk.paths):
                return disk
        return None

    def leaf(self, name: str) -> tuple[PoolFacts, VdevFacts] | None:
        """The member that the name leads to today: by its disk's label, else by the name in the tree."""
        disk, base = self.disk(name), strip_partition(name.rsplit("/", 1)[-1])[0]
        for pool in self.node.pools_read:
            leaves = [leaf for _, top in pool.tops_read for leaf in top.leaves()]
            for leaf in (*leaves, *pool.spares, *pool.caches):
                own = disk is not None and (
                    disk is _words.disk_behind(self.node, leaf) or (known(disk.wwid) and lookup.wwid_of(leaf) == disk.wwid)
                )
                if own or strip_partition(leaf.name.rsplit("/", 1)[-1])[0] == base:
                    return pool, leaf
        return None

    def place(self, events: tuple[KernelEvent, ...], name: str) -> str:
        """ ", bay 30 of enclosure 0x5005…", from today's facts or from what the driver logged right after a line about this disk; "" if neither."""
        disk = self.disk(name)
        if disk is not None and known(disk.bay):
            return f", bay {disk.bay.slot} of enclosure {disk.bay.enclosure_id}"
        found = next(self._logged_place(events), None)
        return f", SAS address {found[0]}, bay {found[1].slot} of enclosure {found[1].enclosure_id} as the log says" if found else ""

    def _logged_place(self, events: tuple[KernelEvent, ...]) -> Iterator[tuple[str, Place]]:
        hctls = {hctl for event in events if (hctl := event.field("hctl"))}
        targets = {hctl.rpartition(":")[0] for hctl in hctls}
        known_places = places(self.node.kernel_log) if targets else {}
        for event in self.log.events if known_places else ():
            if event.kind == "target" and any(f"target{target}:" in event.line for target in targets):
                address = event.field("sas_address") or ""
                if address in known_places:
                    yield address, known_places[address]


def logs(fleet: FleetFacts) -> Iterator[Log]:
    """Of every node whose kernel log says something of our matters."""
    for node in fleet.nodes.values():
        if known(node.kernel_log) and node.kernel_log.events:
            yield Log(fleet, node, node.kernel_log)


def event_text(event: KernelEvent) -> str:
    """The line with the time that was printed before it."""
    return f"[{event.printed}] {event.line}" if event.printed else event.line


def all_well(node: NodeFacts) -> bool:
    """Whether the trees of all its pools were read, and every vdev in them is ONLINE with no error counted."""
    if not known(node.pools) or not node.pools:
        return False
    return all(_is_well(pool) for pool in node.pools)


def _is_well(pool: PoolFacts) -> bool:
    if pool.state != "ONLINE" or not known(pool.tops) or (known(pool.suspended) and pool.suspended):
        return False
    return all(serves_well(vdev) for _, top in pool.tops for vdev in top.walk())


def serves_well(vdev: VdevFacts) -> bool:
    """Whether it is ONLINE today and no error is counted of it."""
    return vdev.state in lookup.IN_SERVICE[:1] and (not known(vdev.errors) or not any(vdev.errors))

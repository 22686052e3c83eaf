"""How long an import listens for another host before it takes the pool, in words: what the kernel counts down, else what its settings give.

An import that seems to hang for twenty seconds is doing this; whoever cuts it short, or shortens the intervals, may import a pool twice.
"""

from __future__ import annotations

from collections.abc import Iterator

from workflows.core import Params
from workflows.facts import FleetFacts, Known, NodeFacts, Unknown, known, lookup

INTERVAL, TIMES = "zfs_multihost_interval", "zfs_multihost_import_intervals"
RANDOM = 1.25  # ZFS adds up to a quarter, so that two hosts that begin together do not end together


def lines(facts: FleetFacts, params: Params) -> tuple[str, ...]:
    node = lookup.node(facts, params.get("node", ""))
    if not known(node):
        return (f"How long it listens for another host is not known: {node.reason}",)
    return tuple(_lines(node, params.get("pool_guid", "")))


def _lines(node: NodeFacts, pool_guid: str) -> Iterator[str]:
    counted = _counted_down(node, pool_guid)
    if counted is not None:
        yield f"{node.node} listened for another host {counted} s more when it last reported. That is no hang."
        return
    multihost, least = _multihost(node, pool_guid), _least_seconds(node)
    if known(multihost) and not multihost:
        yield "Multihost is off for this pool, so the import does not listen for another host first."
        return
    whether = "Multihost is on for this pool" if known(multihost) else f"If multihost is on for this pool ({multihost.reason})"
    if not known(least):
        yield f"{whether}, the import listens for another host first; for how long is not known: {least.reason}"
        return
    yield (
        f"{whether}, the import listens for another host first: by the settings of {node.node} for {least:.0f} to {least * RANDOM:.0f} s, longer "
        "if the host that had the pool wrote slower. That is no hang."
    )


def _counted_down(node: NodeFacts, pool_guid: str) -> int | None:
    if not known(node.kstats) or not known(node.kstats.importing):
        return None
    found = (one.multihost_seconds for one in node.kstats.importing if str(one.guid) == pool_guid)
    return next((seconds for seconds in found if seconds > 0), None)


def _multihost(node: NodeFacts, pool_guid: str) -> Known[bool]:
    """Whether the newest uberblock of any of its disks was written with multihost on. One yes is a yes."""
    if not known(node.timelines):
        return Unknown(node.timelines.reason.rstrip("."))
    of_it = (one for one in node.timelines if str(one.pool_guid) == pool_guid)
    newest = [disk.newest for one in of_it for disk in one.disks if disk.newest is not None]
    return any(one.multihost for one in newest) if newest else Unknown("no uberblock of it was read")


def _least_seconds(node: NodeFacts) -> Known[float]:
    if not known(node.tunables):
        return node.tunables
    interval, times = (node.tunables.get(name) for name in (INTERVAL, TIMES))
    if interval is None or times is None or not (interval.value.isdigit() and times.value.isdigit()):
        return Unknown(f"{node.node} does not say {INTERVAL} and {TIMES}.")
    return max(int(interval.value) * int(times.value) / 1000, 1.0)

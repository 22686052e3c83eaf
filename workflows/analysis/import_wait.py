"""How long an import listens for another host before it takes the pool, in words: what the kernel counts down, else what the pool and the settings give.

An import that seems to hang for most of a minute is doing this; whoever cuts it short, or shortens the intervals, may import a pool twice.
It listens twice, each time for as long: when it looks at the pool and when it takes it (2.1.11 and 2.3.2, docs/lab.md). For how long is in
OpenZFS's spa_activity_check_duration, and when not at all in spa_activity_check_required.
"""

from collections.abc import Iterator
from typing import Any

from agents.collectors.zdb_uberblocks import Uberblock
from agents.zfs_releases import CHECKED, asks
from workflows.engine.core import Params
from workflows.facts import FleetFacts, Known, NodeFacts, Unknown, derived, known, lookup, need
from workflows.facts.fleet.divergence import rows

INTERVAL, TIMES = "zfs_multihost_interval", "zfs_multihost_import_intervals"
RANDOM = 1.25  # ZFS adds up to a quarter, so that two hosts that begin together do not end together
CLAIM_ROUNDS = 10  # MMP_IMPORT_VERIFY_ITERS
SAFETY = 2  # a host that suspends after so many intervals without a write is watched for this much longer
EXPORTED = 1  # a label's state
LOOKS = "tryimport"  # the load state while it looks


def lines(facts: FleetFacts, params: Params) -> tuple[str, ...]:
    node = lookup.node(facts, params.get("node", ""))
    if not known(node):
        return (f"How long it listens for another host is not known: {node.reason}",)
    return tuple(_lines(node, params.get("pool_guid", "")))


def _lines(node: NodeFacts, pool_guid: str) -> Iterator[str]:
    counted = _counted_down(node, pool_guid)
    if counted is not None:
        again = ", and will once more for as long when it takes the pool" if counted.load_state == LOOKS else ""
        yield f"{node.node} listened for another host {counted.multihost_seconds} s more when it last reported{again}. That is no hang."
        return
    disks = _disks(node, pool_guid)
    if not known(disks):
        whether, least = f"If multihost is on for this pool ({_within(disks.reason)})", _by_own_settings(node)
    elif not max(disks, key=_age).newest.multihost:
        yield "Multihost is off for this pool, so the import does not listen for another host first."
        return
    elif all(_is_free(disk.label, node) for disk in disks):
        yield f"Multihost is on for this pool, and {_why_free(node)}, so the import does not listen for one first."
        return
    else:
        whether, least = "Multihost is on for this pool", _least_seconds(node, max(disks, key=_age).newest)
    if not known(least):
        yield f"{whether}, the import listens for another host first; for how long is not known: {least.reason}"
        return
    yield (
        f"{whether}, the import listens for another host twice, when it looks at the pool and when it takes it: "
        f"{least:.0f} to {least * RANDOM:.0f} s each time. That is no hang."
    )
    if _claims(node):
        yield (
            f"Since 2.3.6 and 2.4.1 it then writes a claim to the disks {CLAIM_ROUNDS} times, and listens for the interval of the last host after each, "
            "also where this host had the pool last and did not export it. With -T it does not."
        )


def is_checked(node: NodeFacts, pool_guid: int) -> Known[bool]:
    """Whether an import looks for another host even where this one had the pool last, as it does since 2.3.6 and 2.4.1: multihost is on, and not
    every label says that this very host exported it. The node asks alike: `agents/operations/_importing.py`."""
    labels = [row.label for row in rows(node, pool_guid)]
    own = int(node.hostid, 16) if known(node.hostid) else 0
    if labels and own and all(label.state == EXPORTED and label.hostid == own for label in labels):
        return False
    disks = _disks(node, str(pool_guid))
    return bool(max(disks, key=_age).newest.multihost) if known(disks) else disks


def _counted_down(node: NodeFacts, pool_guid: str) -> Any:
    if not known(node.kstats) or not known(node.kstats.importing):
        return None
    return next((one for one in node.kstats.importing if str(one.guid) == pool_guid and one.multihost_seconds > 0), None)


def _within(reason: str) -> str:
    """A reason as part of another sentence."""
    return (reason[:1].lower() + reason[1:]).rstrip(".") if reason.startswith("The ") else reason.rstrip(".")


def _disks(node: NodeFacts, pool_guid: str) -> Known[tuple[Any, ...]]:
    """Its disks whose uberblocks were read."""
    if not known(node.timelines):
        return Unknown(node.timelines.reason.rstrip("."))
    of_it = (one for one in node.timelines if str(one.pool_guid) == pool_guid)
    return tuple(disk for one in of_it for disk in one.disks if disk.newest is not None) or Unknown("no uberblock of it was read")


def _age(disk: Any) -> tuple[int, int]:
    return disk.newest.txg, disk.newest.timestamp


def _is_free(label: Any, node: NodeFacts) -> bool:
    """Exported, or last had by this host itself; since 2.3.6 and 2.4.1 it must be both."""
    own = known(node.hostid) and label.hostid == int(node.hostid, 16) != 0
    return (label.state == EXPORTED and own) if _claims(node) else (label.state == EXPORTED or own)


def _claims(node: NodeFacts) -> bool:
    return known(node.zfs_module) and asks(CHECKED, node.zfs_module)


def _why_free(node: NodeFacts) -> str:
    return "this host exported it" if _claims(node) else "no other host had it last"


def _least_seconds(node: NodeFacts, newest: Uberblock) -> Known[float]:
    """By what the host that had the pool wrote into it of its own settings; those of this node are the least where that one never suspends."""
    interval, fails = newest.mmp_interval_ms, newest.mmp_fail_intervals
    if interval and fails:
        return SAFETY * fails * interval / 1000
    own, settings = _by_own_settings(node), _settings(node)
    if not known(own) or not known(settings):
        return own
    return max(own, ((interval or settings[0]) / 1000 + newest.mmp_delay_ns / 1e9) * settings[1])


def _by_own_settings(node: NodeFacts) -> Known[float]:
    settings = _settings(node)
    return max(settings[0] * settings[1] / 1000, 1.0) if known(settings) else settings


@derived
def _settings(node: NodeFacts) -> Known[tuple[int, int]]:
    """Milliseconds, and how many times."""
    tunables = need(node.tunables)
    interval, times = (tunables.get(name) for name in (INTERVAL, TIMES))
    if interval is None or times is None or not (interval.value.isdigit() and times.value.isdigit()):
        return Unknown(f"{node.node} does not say {INTERVAL} and {TIMES}.")
    return int(interval.value), int(times.value)

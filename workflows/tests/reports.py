"""What the nodes of a walk report: captures by the real collectors, and what the portal keeps of earlier ones.

A twin gives the same captures whenever it is in the same state, so they are taken once for each state, and read once for each history.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

from agents.collectors import COLLECTORS
from agents.collectors.base import Capture
from twin.host import TwinHost
from twin.model import Node
from workflows.facts import LeafChange, NodeFacts, known, node_facts


class History:
    """What the portal keeps of earlier reports: which leaves left ONLINE, and when; and what sources with a memory said."""

    def __init__(self, collect: Callable[[TwinHost], Taken] | None = None) -> None:
        self._collect = collect or (lambda host: _taken(host, as_it_stands(host)))
        self._collected: dict[str, list[tuple[float, Remembered]]] = {}
        self._states: dict[tuple[str, int], str] = {}
        self._changes: dict[str, dict[tuple[int, int], tuple[str, float]]] = {}

    def fork(self) -> History:
        """The same history, to go on from separately. What was collected is never changed, so it is not copied."""
        other = History(self._collect)
        other._collected = {name: list(kept) for name, kept in self._collected.items()}
        other._states = dict(self._states)
        other._changes = {name: dict(kept) for name, kept in self._changes.items()}
        return other

    def facts_at(self, host: TwinHost, name: str, at: float) -> NodeFacts:
        """What the node says now, beside what it said as long ago as each source is remembered, or at the first look."""
        read = self._collect(host)
        collected, earlier = self._collected.setdefault(name, []), {}
        for when, then in reversed(collected):
            earlier |= {where: (then, at - when) for where in then.bodies if 0 < at - when <= _memory(where)}
        collected.append((at, read.remembered))
        off_since = host.view().node.off_since
        age = at - off_since if off_since else 0.5  # without power it reports nothing: what it reported last stands, and grows old
        return _facts(name, read, age, tuple(earlier.items()))

    def seen(self, node: NodeFacts, at: float) -> NodeFacts:
        changes = self._changes.setdefault(node.node, {})
        for pool in node.pools if known(node.pools) else ():
            for _, top in pool.tops if known(pool.tops) else ():
                for leaf in top.leaves():
                    before = self._states.get((node.node, leaf.guid))
                    if before == "ONLINE" and leaf.state != "ONLINE":
                        changes[pool.guid, leaf.guid] = (leaf.state, at)
                    self._states[node.node, leaf.guid] = leaf.state
        kept = tuple(LeafChange(pool, guid, "ONLINE", after, at - when) for (pool, guid), (after, when) in changes.items())
        return NodeFacts(**{**vars(node), "leaf_changes": kept})


def goes_by_the_clock(node: Node) -> bool:
    """Whether what it says changes by itself, or how long something has been quiet counts."""
    scanned = any(pool.scan and pool.scan.state == "running" for pool in node.pools)
    goes_on = any(pool.written_since for pool in node.pools)
    return scanned or goes_on or bool(node.phys or node.phy_rates) or any(disk.smart.test_began_at for disk in node.disks)


def as_it_stands(host: TwinHost) -> tuple[bytes, float]:
    """What decides which captures it gives: its state, and the time where something goes by the clock."""
    node = host.view().node
    return hashlib.sha256(pickle.dumps(node)).digest(), host.now() if node.off_since or goes_by_the_clock(node) else 0.0


@dataclass(frozen=True, eq=False)
class Taken:
    """Captures of one node, compared by what they are and not by what is in them."""

    captures: dict[str, Capture]

    @cached_property
    def remembered(self) -> Remembered:
        return Remembered({where: capture.body() for where, capture in self.captures.items() if _memory(where)})


@dataclass(frozen=True, eq=False)
class Remembered:
    """What the sources with a memory said."""

    bodies: dict[str, Any]


KEPT = lru_cache(maxsize=256)  # forks of a walk come by the same states of a node again and again


def _taken(host: TwinHost, state: tuple[bytes, float]) -> Taken:
    return _once(OnATwin(state, host)) if type(host) is TwinHost else Taken(taken(host))


@dataclass(frozen=True)
class OnATwin:
    state: tuple[bytes, float]
    host: TwinHost = field(compare=False)


@KEPT
def _once(twin: OnATwin) -> Taken:
    return Taken(taken(twin.host))


@KEPT
def _facts(name: str, read: Taken, age: float, earlier: tuple[tuple[str, tuple[Remembered, float]], ...]) -> NodeFacts:
    before = {where: (then.bodies[where], ago) for where, (then, ago) in earlier}
    return node_facts(name, read.captures, age, (), ages=dict.fromkeys(COLLECTORS, age), earlier=before)


def taken(host: TwinHost) -> dict[str, Capture]:
    captures = (capture for collector in COLLECTORS.values() for capture in collector.collect(host))
    return {f"{c.source}/{c.key}" if c.key else c.source: c for c in captures}


def _memory(where: str) -> float:
    return getattr(COLLECTORS[where.partition("/")[0]], "HISTORY_SECONDS", 0)

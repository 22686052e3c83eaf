"""What the portal would know during a rehearsal: the node's own words, and the twin's where the rehearsal has changed something.

As long as nothing was done, facts are exactly those of the report. A text of the twin stands in for the node's only where it says
something else than the same twin said at the beginning. A source that the node does not have, or that failed, stays so.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from agents.collectors import COLLECTORS
from twin.host import TwinHost
from twin.memory import MemoryStore
from twin.model import Node
from workflows.facts import FleetFacts, LeafChange, NodeFacts, Remembered, known, node_facts
from workflows.facts.read.sources import Memory, digest_of
from workflows.rehearsal.twin_of_node import CannotRebuild, Rebuilt, rebuild

Body = Mapping[str, Any]
AGE_SECONDS = 0.5
SILENT_SECONDS = 120  # a node that has not reported for so long may be dead, and no twin of it answers in its place
# What only grows. The twin does not know what stood there before, so the node's own words stay until it has booted anew.
LOGS = frozenset(("kernel_log", "dbgmsg", "zpool_events", "zpool_history"))
# Of these what the twin adds follows the node's own words.
ADDED_TO = frozenset(("dbgmsg",))
# What an agent that reports the one reports of each pool as soon as it is imported.
READ_WITH = {"kstat_txgs": "kstat_pools"}
# What is only the time of day. A text that differs in nothing else counts as unchanged.
_TIME_OF_DAY = re.compile(r'^Local Time is:.*$|"local_time":\{[^}]*\},?', re.MULTILINE)


class Clock:
    """The time of a rehearsal: a wait makes it pass, at once."""

    def __init__(self, at: float) -> None:
        self.at = at

    def __call__(self) -> float:
        return self.at

    def sleep(self, seconds: float) -> None:
        self.at += seconds


@dataclass(frozen=True)
class Report:
    """One node's last report, as the portal keeps it: the bodies by "source" or "source/key", and the facts made of them.

    `earlier` holds what sources with a memory said before, with how many seconds before the report.
    """

    facts: NodeFacts
    bodies: Mapping[str, Body]
    earlier: Mapping[str, tuple[Body, float]] = field(default_factory=dict)


@dataclass
class Seen:
    """One twin, and what it said at the beginning."""

    report: Report
    host: TwinHost
    made: Rebuilt
    at_first: NodeFacts  # the twin's own, before anything was done
    first: dict[str, Body]
    history: list[tuple[float, dict[str, Body]]]
    changes: dict[tuple[int, int], LeafChange] = field(default_factory=dict)
    states: dict[tuple[int, int], str] = field(default_factory=dict)
    memory: Memory = field(default_factory=dict)
    last: tuple[Node, float, NodeFacts] | None = None  # the state that was read, when, and what it came to


class Stage:
    """The twins of a rehearsal, and the rest of the fleet as it was last seen."""

    def __init__(self, reports: Mapping[str, Report], others: FleetFacts, at: float, beside: Mapping[str, Report] | None = None) -> None:
        """`reports` are the nodes that become twins, and `beside` those that do where they can; every other node of `others` stands
        still. Raises CannotRebuild."""
        self.clock = Clock(at)
        self.others = others
        self.seen = {name: self._twin(report) for name, report in reports.items()}
        self.gaps: list[str] = []
        for name, report in (beside or {}).items():
            if report.facts.age_seconds > SILENT_SECONDS:
                self.gaps.append(
                    f"{name} has not reported for {report.facts.age_seconds:.0f} s. It stands still in the rehearsal, as silent as it is."
                )
                continue
            try:
                self.seen[name] = self._twin(report)
            except CannotRebuild as why:
                self.gaps.append(f"{name} stands still in the rehearsal. {why}")

    def _twin(self, report: Report) -> Seen:
        made = rebuild(report.facts, report.bodies, report.earlier, self.clock.at)
        host = TwinHost(MemoryStore(made.node), self.clock, self.clock.sleep)
        before = [(self.clock.at - seconds, {where: body}) for where, (body, seconds) in report.earlier.items()]
        first = collected(host)
        return Seen(report, host, made, node_facts(report.facts.node, first, AGE_SECONDS, ()), first, before)

    def facts(self) -> FleetFacts:
        nodes = {**self.others.nodes, **{name: self._facts(name) for name in self.seen}}
        return FleetFacts(nodes, self._remembered, at=self.clock.at)

    @property
    def _remembered(self) -> Mapping[str, Remembered]:
        return self.others.remembered

    def host(self, name: str) -> TwinHost:
        return self.seen[name].host

    def _facts(self, name: str) -> NodeFacts:
        seen, at = self.seen[name], self.clock.at
        node = seen.host.view().node
        moment = at if _goes_by_the_clock(node) else 0.0
        if seen.last is None or seen.last[0] is not node or seen.last[1] != moment:
            seen.last = (node, moment, self._read(name, seen, at))
        facts = seen.last[2]
        return replace(facts, leaf_changes=_changes(seen, facts, at))

    def _read(self, name: str, seen: Seen, at: float) -> NodeFacts:
        booted = seen.host.view().node.boot_id != seen.made.node.boot_id
        captured = merged(seen.report.bodies, seen.first, collected(seen.host), frozenset() if booted else LOGS)
        earlier: dict[str, tuple[Body, float]] = {}
        lately: dict[str, tuple[Body, float]] = {}
        for when, bodies in sorted(seen.history, key=lambda entry: -entry[0]):
            earlier |= {where: (body, at - when) for where, body in bodies.items() if 0 < at - when <= _memory(where)}
            lately |= {
                where: (body, at - when) for where, body in bodies.items() if where not in lately and at - when >= _lately(where) > 0
            }
        seen.history.append((at, {where: body for where, body in captured.items() if _memory(where)}))
        digests = {where: digest_of(body) for where, body in captured.items()}
        ages = dict.fromkeys(COLLECTORS, AGE_SECONDS)
        return node_facts(name, captured, AGE_SECONDS, (), ages=ages, earlier=earlier, lately=lately, digests=digests, memory=seen.memory)


def merged(real: Mapping[str, Body], first: Mapping[str, Body], now: Mapping[str, Body], own: frozenset[str] = LOGS) -> dict[str, Body]:
    """The node's texts, with the twin's where that says something else than it did at first. Those of the sources `own` stay."""
    sources = {where.partition("/")[0] for where, body in real.items() if body["outcome"] == "data"}
    kept = {where: body for where, body in real.items() if where in now or where not in first}
    for where, body in now.items():
        if where in real and where in own & ADDED_TO:
            kept[where] = _added(real[where], first.get(where), body)
        if where.partition("/")[0] in own or (where in first and _same(body, first[where])):
            continue
        if where in real and real[where]["outcome"] == "failed":
            continue
        source = where.partition("/")[0]
        if source in sources or READ_WITH.get(source) in sources:
            kept[where] = body
    return kept


def _added(real: Body, first: Body | None, now: Body) -> Body:
    """A log of the node with the lines that the twin has written since it began."""
    before = frozenset(first["text"].splitlines()) if first else frozenset()
    lines = [line for line in now["text"].splitlines() if line not in before]
    return {**real, "text": real["text"] + "".join(f"{line}\n" for line in lines)} if lines and real["outcome"] == "data" else real


def _same(one: Body, other: Body) -> bool:
    return one == other or {**one, "text": _TIME_OF_DAY.sub("", one["text"])} == {**other, "text": _TIME_OF_DAY.sub("", other["text"])}


def collected(host: TwinHost) -> dict[str, Body]:
    captures = (capture for collector in COLLECTORS.values() for capture in collector.collect(host))
    return {f"{c.source}/{c.key}" if c.key else c.source: c.body() for c in captures}


def _lately(where: str) -> float:
    return getattr(COLLECTORS.get(where.partition("/")[0]), "LATELY_SECONDS", 0)


def _memory(where: str) -> float:
    return getattr(COLLECTORS.get(where.partition("/")[0]), "HISTORY_SECONDS", 0)


def _goes_by_the_clock(node: Node) -> bool:
    """Whether what it says changes by itself, or how long something has been quiet counts."""
    scanned = any(pool.scan and pool.scan.state == "running" for pool in node.pools)
    goes_on = any(pool.written_since for pool in node.pools)
    return scanned or goes_on or any(disk.smart.test_began_at for disk in node.disks)


def _changes(seen: Seen, facts: NodeFacts, at: float) -> tuple[LeafChange, ...]:
    """Which leaves left ONLINE, before the rehearsal and in it."""
    for pool in facts.pools if known(facts.pools) else ():
        for _, top in pool.tops if known(pool.tops) else ():
            for leaf in top.leaves():
                if not known(pool.guid) or not known(leaf.guid):
                    continue
                where = (pool.guid, leaf.guid)
                if seen.states.get(where) == "ONLINE" and leaf.state != "ONLINE":
                    seen.changes[where] = LeafChange(*where, "ONLINE", leaf.state, at)
                seen.states[where] = leaf.state
    before = seen.report.facts.leaf_changes
    here = tuple(replace(change, age_seconds=at - change.age_seconds) for change in seen.changes.values())
    return (*(before if known(before) else ()), *here)

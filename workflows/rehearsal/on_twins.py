"""A stage of twins that are played as they are, for what a report could not be made into again: disks without an identity, LUKS, links of a site's own."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import replace

from agents.collectors import COLLECTORS
from twin.host import TwinHost
from twin.memory import MemoryStore
from twin.model import Node
from workflows.facts import FleetFacts, node_facts
from workflows.rehearsal.known_facts import AGE_SECONDS, Clock, Report, Seen, Stage, collected
from workflows.rehearsal.twin_of_node import Rebuilt


class TwinStage(Stage):
    def __init__(self, nodes: Mapping[str, Node], at: float) -> None:
        """`nodes` by hostname, which nothing changes: a twin's store copies what it changes. `at` is when the rehearsal begins, in seconds."""
        super().__init__({}, FleetFacts({}, at=at), at)
        self._stores = {name: MemoryStore(node) for name, node in nodes.items()}
        self.seen = {name: self._played(name, node) for name, node in nodes.items()}

    def _played(self, name: str, node: Node) -> Seen:
        host = self._host(name)
        first = collected(host)
        facts = node_facts(name, first, AGE_SECONDS, (), ages=dict.fromkeys(COLLECTORS, AGE_SECONDS))
        return Seen(Report(facts, first), host, Rebuilt(node), facts, first, [])

    def _host(self, name: str) -> TwinHost:
        return TwinHost(self._stores[name], self.clock, self.clock.sleep)

    def fork(self) -> TwinStage:
        """The same stage at the same time, to rehearse on once more: what is done on one is not seen on the other."""
        other = copy.copy(self)
        other.clock = Clock(self.clock.at)
        other.gaps = list(self.gaps)
        other._stores = {name: store.fork() for name, store in self._stores.items()}
        other.seen = {
            name: replace(
                seen,
                host=other._host(name),
                history=list(seen.history),
                changes=dict(seen.changes),
                states=dict(seen.states),
                memory=dict(seen.memory),
            )
            for name, seen in self.seen.items()
        }
        return other

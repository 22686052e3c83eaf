"""Facts of a genuine step: the real collectors read the captures, and the join makes facts of them. Cached per session."""

from __future__ import annotations

from functools import lru_cache

from agents.collectors import COLLECTORS
from agents.collectors.base import Capture
from agents.tests.scenarios import step
from twin.captured_host import CapturedHost
from workflows.facts import FleetFacts, NodeFacts, node_facts


@lru_cache(maxsize=256)
def captures(name: str) -> dict[str, Capture]:
    host = CapturedHost(step(name))
    taken = (capture for collector in COLLECTORS.values() for capture in collector.collect(host))
    return {f"{c.source}/{c.key}" if c.key else c.source: c for c in taken}


@lru_cache(maxsize=256)
def played(name: str) -> NodeFacts:
    return node_facts("oss01", captures(name), 1.0, (), ages=dict.fromkeys(COLLECTORS, 1.0))


def fleet(name: str) -> FleetFacts:
    return FleetFacts({"oss01": played(name)})

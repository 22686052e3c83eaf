"""A second node beside a walk's own, and what is known of a node changed for a test."""

from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path

from twin.host import TwinHost
from twin.store import Store
from workflows.facts import FleetFacts
from workflows.tests.walks import Walk


def partner(walk: Walk, folder: Path, name: str = "ost_0", **pool: object) -> None:
    """A second node at the same shelf."""
    node = copy.deepcopy(walk.node)
    node.hostname, node.hostid = "oss02", "5b2f9c02"
    node.pool(name).imported = False
    for field, value in pool.items():
        setattr(node.pool(name), field, value)
    (folder / "oss02").mkdir()
    Store(folder / "oss02" / "state.json").create(node)
    walk.hosts["oss02"] = TwinHost(folder / "oss02" / "state.json", walk.clock, walk.clock.sleep)


def aged(walk: Walk, name: str, **fields: object) -> None:
    """What is known of one node, changed."""
    facts = walk.facts()
    walk.facts = lambda: FleetFacts({**facts.nodes, name: replace(facts.nodes[name], **fields)})

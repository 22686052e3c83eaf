"""A scenario's node beside the demo fleet: the tiny node that needs one runbook, with identities that nothing else has.

The scenarios share their disks and guids, because tests play one at a time; in a fleet every disk and pool must be its own.
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import asdict
from pathlib import Path as FilePath
from typing import Any, Optional

from agents.twin import rack
from agents.twin.build import guid_of
from agents.twin.demo import REPLACE_SECONDS, RESILVER_SECONDS, RESILVER_SECONDS_VARIABLE, UPTIME_SECONDS, allow, policy_path, state_path
from agents.twin.model import Disk, Knobs, Node, load
from agents.twin.scenarios import SCENARIOS, shelf_disk
from agents.twin.store import Store

PREFIX = "try-"


def node_name(scenario: str) -> str:
    return f"{PREFIX}{scenario}"


def make(folder: os.PathLike, scenario: str, now: Optional[float] = None) -> FilePath:
    """Write the scenario's node, its policy, and what lies on the shelf beside it. What was there is replaced."""
    at = time.time() if now is None else now
    node, name = own(SCENARIOS[scenario](), scenario), node_name(scenario)
    node.knobs = Knobs(REPLACE_SECONDS, float(os.environ.get(RESILVER_SECONDS_VARIABLE, RESILVER_SECONDS)))
    node.booted_at = at - UPTIME_SECONDS
    path = state_path(folder, name)
    Store(path).create(node)
    allow(policy_path(folder, name))
    rack.lay_out(path, [spare(scenario)])
    return path


def spare(scenario: str) -> Disk:
    """The new disk that lies beside the rack."""
    return load(Disk, json.loads(_renumbered(json.dumps(asdict(shelf_disk())), _number(scenario))))


def own(node: Node, scenario: str) -> Node:
    """The same node under a name, a hostid, guids, WWIDs, serial numbers and an enclosure of its own."""
    hostid = f"5b2f9d{_number(scenario):02x}"
    before = int(node.hostid, 16)
    for pool in node.pools:
        if pool.hostid == before:
            pool.hostid, pool.hostname = int(hostid, 16), node_name(scenario)
    node.hostname, node.hostid = node_name(scenario), hostid
    guids = {v.guid for pool in node.pools for v in (*pool.walk(), *pool.spares)} | {pool.guid for pool in node.pools}
    return load(Node, _with_guids(json.loads(_renumbered(json.dumps(asdict(node)), _number(scenario))), guids, scenario))


def _with_guids(value: Any, guids: set[int], scenario: str) -> Any:
    if isinstance(value, dict):
        return {key: _with_guids(inner, guids, scenario) for key, inner in value.items()}
    if isinstance(value, list):
        return [_with_guids(inner, guids, scenario) for inner in value]
    return guid_of(scenario, value) if type(value) is int and value in guids else value


def _renumbered(text: str, number: int) -> str:
    """Disks and enclosure of the lab become those of the `number`-th try-out."""
    for lab, ours in (
        ("5000c500a65b2", f"5000c500a6{0xC0 + number:02x}2"),
        ('"ZA20', f'"ZAX{number}'),
        ("500605b0000272bf", f"500605b00003{number:02x}bf"),
    ):
        text = text.replace(lab, ours)
    return text


def _number(scenario: str) -> int:
    return 1 + list(SCENARIOS).index(scenario)

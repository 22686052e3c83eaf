"""A scenario's nodes beside the demo fleet: the tiny node that needs one runbook, with identities that nothing else has.

The scenarios share their disks and guids, because tests play one at a time; in a fleet every disk and pool must be its own. A scenario that
needs a partner at the same shelf has a second node.
"""

import json
import os
from dataclasses import asdict
from pathlib import Path as FilePath
from typing import Any

from twin import rack
from twin.build import guid_of
from twin.demo import REPLACE_SECONDS, RESILVER_SECONDS, RESILVER_SECONDS_VARIABLE, UPTIME_SECONDS, allow, policy_path, state_path
from twin.model import Disk, Knobs, Node, load
from twin.scenarios import shelf_disk
from twin.store import Store
from workflows.rehearsal import scenarios

PREFIX, PARTNER = "try-", "-partner"
Writer = tuple[str, str]  # hostname, hostid


def node_name(scenario: str) -> str:
    """The node that needs the runbook."""
    return f"{PREFIX}{scenario}"


def node_names(scenario: str) -> tuple[str, ...]:
    return tuple(node_name(scenario) + PARTNER * place for place in range(len(scenarios.nodes(scenario, 0.0))))


def make(folder: os.PathLike[str], scenario: str, now: float) -> FilePath:
    """Write the scenario's nodes, their policies, and what lies on the shelf beside the first, whose state is returned."""
    nodes = list(scenarios.nodes(scenario, now).values())
    writers = {int(node.hostid, 16): _writer(scenario, place) for place, node in enumerate(nodes)}
    paths = [_write(folder, own(node, scenario, writers), name, now) for node, name in zip(nodes, node_names(scenario), strict=False)]
    rack.lay_out(paths[0], [spare(scenario)])
    return paths[0]


def _write(folder: os.PathLike[str], node: Node, name: str, at: float) -> FilePath:
    node.knobs = Knobs(REPLACE_SECONDS, float(os.environ.get(RESILVER_SECONDS_VARIABLE, RESILVER_SECONDS)))
    node.booted_at = at - UPTIME_SECONDS
    path = state_path(folder, name)
    Store(path).create(node)
    allow(policy_path(folder, name))
    return path


def _writer(scenario: str, place: int) -> Writer:
    return node_names(scenario)[place], f"5b2f9{0xD + place:x}{_number(scenario):02x}"


def spare(scenario: str) -> Disk:
    """The new disk that lies beside the rack."""
    found: Disk = load(Disk, json.loads(_renumbered(json.dumps(asdict(shelf_disk())), _number(scenario))))
    return found


def own(node: Node, scenario: str, writers: dict[int, Writer]) -> Node:
    """The same node under a name, a hostid, guids, WWIDs, serial numbers and an enclosure of its own, shared with its partner only."""
    for pool in node.pools:
        if pool.hostid in writers:
            pool.hostname, hostid = writers[pool.hostid]
            pool.hostid = int(hostid, 16)
    node.hostname, node.hostid = writers[int(node.hostid, 16)]
    guids = {v.guid for pool in node.pools for v in (*pool.walk(), *pool.spares, *pool.caches)} | {pool.guid for pool in node.pools}
    found: Node = load(Node, _with_guids(json.loads(_renumbered(json.dumps(asdict(node)), _number(scenario))), guids, scenario))
    return found


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
        ('"ZA20', f'"ZAX{number:X}'),
        ("500605b0000272bf", f"500605b00003{number:02x}bf"),
    ):
        text = text.replace(lab, ours)
    return text


def _number(scenario: str) -> int:
    return 1 + scenarios.names().index(scenario)

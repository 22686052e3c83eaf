"""Nodes that need rename-members, for the demo, rehearsals and tests, and what somebody does on them when a step asks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from twin.model import Node
from twin.scenarios import tiny
from workflows.rehearsal.hand import ASSUMED_DONE, Hand

if TYPE_CHECKING:
    from workflows.rehearsal.play import Play


def under_kernel_names() -> Node:
    """A healthy pool that was made with sdX names, and whose file systems are mounted."""
    node = tiny()
    pool = node.pool("ost_0")
    for leaf, disk in zip(pool.leaves(), node.disks, strict=False):
        leaf.path = f"/dev/{disk.paths[0].name}1"
    pool.datasets = {
        "ost_0": {"canmount": "off", "mountpoint": "none"},
        "ost_0/home": {"sharenfs": "rw=@10.21.0.0/16", "keystatus": "available", "keylocation": "prompt", "encryptionroot": "ost_0/home"},
        "ost_0/scratch": {},
    }
    node.mounts = ["sysfs /sys sysfs rw,nosuid 0 0", "ost_0/home /ost_0/home zfs rw 0 0", "ost_0/scratch /ost_0/scratch zfs rw 0 0"]
    return node


def unmount(node: Node) -> None:
    node.mounts = [line for line in node.mounts if not line.split(" ")[0].startswith(tuple(pool.name for pool in node.pools))]


NODES: Mapping[str, Callable[[float], Mapping[str, Node]]] = {
    "rename-members": lambda now: {"oss01": under_kernel_names()},
}


def _stops(play: Play) -> str:
    with play.host.store.changing() as node:
        unmount(node)
    return ASSUMED_DONE


def _starts(play: Play) -> str:
    return "All that is listed was started by hand."


HANDS: Mapping[str, Hand] = {
    "stop": Hand("That what uses the pool is stopped, and nothing of it is mounted.", _stops),
    "start": Hand("That what is listed was started by hand.", _starts),
    "start-again": Hand("That what is listed was started by hand.", _starts),
}

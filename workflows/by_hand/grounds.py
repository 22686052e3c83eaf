"""What a command by hand rests on: which boot of which host, which pool, which members, which disks with which labels.

Worked out when the node's plan arrives and bound into the plan, so that whoever confirms and approves it has it before them, and the snippet
holds the node to it: it reads every line of this again before it runs anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from agents.domain.multipath_maps import path_of
from agents.domain.wwid import OF_OTHER_SYSTEMS, by_id_path, scheme
from agents.operations._new_disks import numbered
from workflows.by_hand.disk import ANY, NONE, Disk
from workflows.by_hand.systems import SYSTEMS
from workflows.facts import DiskFacts, FleetFacts, Known, NodeFacts, Unknown, derived, known, lookup, need

IN_PLAN = "by_hand"  # the part of a plan that makes it one to be carried out by hand
_STATE = re.compile("[A-Z]{2,12}")
_HOSTID, _BOOT_ID = re.compile("[0-9a-f]{8}"), re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
# They name a disk of which the plan asks that it carries the label of the member they name.
_LABELLED = ("zpool_set_path", "set_drive_mode")
# Members there are partitions beside others, and their labels are not where a snippet reads those of a whole disk: the tree of the pool is compared.
_OF_PARTITIONS = ("partition_copy", "zpool_replace_partition", "proxmox_boot_init")


@dataclass(frozen=True)
class Grounds:
    """`imported`: whether the pool is in use on this host when the command is given. `members`: (vdev guid, its state, or ANY).

    `system`: one of SYSTEMS, or "" of Linux. The snippet is made for it, and asks for nothing that would have to be guessed in a shell.
    """

    hostid: str
    boot_id: str
    imported: bool
    members: tuple[tuple[str, str], ...] = ()
    disks: tuple[Disk, ...] = ()
    system: str = ""

    def to_plan(self) -> dict[str, Any]:
        """For the plan, which holds texts and lists alone."""
        return {
            "hostid": self.hostid,
            "boot_id": self.boot_id,
            "imported": "yes" if self.imported else "no",
            "members": [list(member) for member in self.members],
            "disks": [[disk.path, disk.wwid, disk.label] for disk in self.disks],
            **({"system": self.system} if self.system else {}),
        }

    @classmethod
    def from_plan(cls, plan: Mapping[str, Any]) -> Grounds | None:
        """None where the plan is not one to be carried out by hand."""
        kept = plan.get(IN_PLAN)
        if not isinstance(kept, Mapping):
            return None
        members = tuple((guid, state) for guid, state in kept["members"])
        disks, system = tuple(Disk(*each) for each in kept["disks"]), kept.get("system", "")
        if system and system not in SYSTEMS:
            return None
        return cls(kept["hostid"], kept["boot_id"], kept["imported"] == "yes", members, disks, system)


@derived
def of(facts: FleetFacts, node_name: str, plan: Mapping[str, Any]) -> Known[Grounds]:
    """What this plan rests on at its node; Unknown with the reason where that is not known, and then nothing is shown."""
    node = need(lookup.node(facts, node_name))
    for value, pattern, what in ((node.hostid, _HOSTID, "hostid"), (node.boot_id, _BOOT_ID, "boot id")):
        if not known(value):
            return Unknown(f"The {what} of {node.node} is not known: {value.reason}")
        if pattern.fullmatch(value) is None:
            return Unknown(f"The {what} of {node.node} is {value!r}, which cannot be compared.")
    system = node.system if known(node.system) and node.system in SYSTEMS else ""
    if system and (why := SYSTEMS[system].why_not(str(plan.get("operation", "")), plan.get("argv", ()))):
        return Unknown(why)
    pre, params = plan.get("preconditions", {}), plan.get("params", {})
    members = tuple(_members(pre, params))
    disks = tuple(_disks(node, str(plan.get("operation", "")), pre, params, members))
    imported = known(node.pools) and any(known(pool.guid) and str(pool.guid) == params.get("pool_guid") for pool in node.pools)
    return Grounds(str(node.hostid), str(node.boot_id), imported, members, disks, system)


def _members(pre: Mapping[str, str], params: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    state = pre.get("target.state", "")
    for name in ("vdev_guid", "spare_guid"):
        if guid := params.get(name):
            yield guid, state if name == "vdev_guid" and _STATE.fullmatch(state) else ANY
    for guid in params.get("vdev_guids", "").split():
        yield guid, ANY


def _disks(
    node: NodeFacts, operation: str, pre: Mapping[str, str], params: Mapping[str, str], members: tuple[tuple[str, str], ...]
) -> Iterator[Disk]:
    named = {wwid: fact for wwid, fact in _named(params) if by_id_path(wwid)}
    for wwid, fact in named.items():
        label = params.get("vdev_guid", ANY) if operation in _LABELLED else NONE if pre.get(fact) == NONE else ANY
        yield Disk(str(path_of(wwid, pre.get(fact.replace(".labels", ".map"), ""))), wwid, label)
    if operation in _LABELLED:
        return
    if operation in _OF_PARTITIONS:
        if source := by_id_path(params.get("from_wwid", "")):
            yield Disk(source, params["from_wwid"], ANY)
        return
    for guid, _ in members:
        yield from (disk for disk in _disks_of_member(node, params.get("pool_guid", ""), guid) if disk.wwid not in named)


def _named(params: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """(WWID, fact of its labels) of each disk that the operation is given."""
    yield params.get("wwid", ""), "disk.labels"
    yield from ((wwid, numbered("disk.labels", number)) for number, wwid in enumerate(params.get("wwids", "").split(), 1))


def _disks_of_member(node: NodeFacts, pool_guid: str, guid: str) -> Iterator[Disk]:
    """Of a member whose disk the node sees. A disk that is gone has no label to read; its member is then looked for in the tree alone."""
    seen = {disk.wwid: disk for disk in node.disks if known(disk.wwid)} if known(node.disks) else {}
    for pool in node.pools if known(node.pools) else ():
        if not known(pool.guid) or str(pool.guid) != pool_guid:
            continue
        for _, leaf in lookup.pool_leaves(pool):
            if known(leaf.guid) and str(leaf.guid) == guid and known(leaf.wwid) and leaf.wwid in seen and (path := by_id_path(leaf.wwid)):
                yield Disk(path + _partition(seen[leaf.wwid], guid), leaf.wwid, guid)


def _partition(disk: DiskFacts, guid: str) -> str:
    """Which partition of the disk carries the label, "p2", "s0"; "" where the disk itself does, and on Linux, where the first one is looked at too."""
    found = [one.partition for one in disk.labels if str(one.guid) == guid] if known(disk.labels) else []
    name = next((path.name for path in disk.paths if found and found[0].startswith((f"{path.name}p", f"{path.name}s"))), "")
    return found[0][len(name) :] if name and scheme(str(disk.wwid)) in OF_OTHER_SYSTEMS else ""

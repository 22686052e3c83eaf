"""Nodes that need add-redundancy, for the demo, rehearsals and tests, and what somebody does on them when a step asks."""

from collections.abc import Callable, Mapping

from twin.build import guid_of, member, partition, top
from twin.disk_kinds import nvme, turned
from twin.model import Label, Node
from twin.scenarios import tiny
from workflows.rehearsal.hand import SCAN_CHOSEN, Hand

RESILVER_SECONDS = 3600.0


def single(role: str) -> Node:
    """Beside a raidz2 one disk is a vdev by itself, of data, special, dedup or log; a blank disk is in another bay."""
    node = tiny()
    node.mounts = ["sysfs /sys sysfs rw,nosuid 0 0"]
    node.knobs.resilver_seconds = RESILVER_SECONDS
    disk = node.disks[6]
    leaf = member(node, disk, guid_of("alone", role))
    leaf.enc_path = ""
    pool = node.pool("ost_0")
    pool.tops.append(top("disk", leaf.guid, [leaf], disk.size_bytes, cls=role))
    partition(disk)[0].label = Label(pool.name, leaf.guid, pool.txg)
    return node


def single_on_nvme(role: str) -> Node:
    """No enclosure gives the bay of any disk."""
    return turned(single(role), nvme)


NODES: Mapping[str, Callable[[float], Mapping[str, Node]]] = {
    "add-redundancy": lambda now: {"oss01": single("data")},
    "add-redundancy-special": lambda now: {"oss01": single("special")},
}
HANDS: Mapping[str, Hand] = SCAN_CHOSEN  # step -> what is taken for done there, for each MANUAL step

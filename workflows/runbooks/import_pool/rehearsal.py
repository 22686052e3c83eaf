"""Nodes that need import-pool, for the demo, rehearsals and tests, and what somebody does on them when a step asks."""

from collections.abc import Callable, Mapping

from twin.model import Node
from twin.scenarios import not_imported
from workflows.rehearsal.hand import Hand


def not_at_boot() -> Node:
    """This host used the pool last and never exported it; at boot its disks came too late for the import. They are all here now."""
    node = not_imported()
    node.pool("ost_0").cached = True
    node.pool("ost_0").datasets = {
        "ost_0": {"canmount": "off", "mountpoint": "none"},
        "ost_0/home": {"sharenfs": "rw=@10.21.0.0/16", "keystatus": "unavailable", "keylocation": "prompt", "encryptionroot": "ost_0/home"},
        "ost_0/ost0": {"canmount": "off", "mountpoint": "none", "lustre:svname": "demo-OST0000"},
    }
    return node


def exported() -> Node:
    """It was exported here, and nobody has imported it since."""
    node = not_imported()
    node.pool("ost_0").state = 1
    return node


NODES: Mapping[str, Callable[[float], Mapping[str, Node]]] = {
    "import-pool": lambda now: {"oss01": not_at_boot()},
}
HANDS: Mapping[str, Hand] = {
    "start": Hand("That what is listed was started by hand.", lambda play: "All that is listed was started by hand.")
}

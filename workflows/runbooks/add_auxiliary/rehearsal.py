"""Nodes that need add-auxiliary, for the demo, rehearsals and tests, and what somebody does on them when a step asks."""

from collections.abc import Callable, Mapping

from twin.disk_kinds import nvme, turned
from twin.model import Node
from workflows.rehearsal.hand import SCAN_CHOSEN, Hand
from workflows.runbooks.remove_auxiliary.rehearsal import with_one


def needs_a_spare(now: float) -> Node:
    """The pool's one spare is away, and a blank disk is in another bay."""
    return with_one("spare", True)


def needs_a_log(now: float) -> Node:
    return with_one("log", True)


def needs_a_cache(now: float) -> Node:
    return with_one("cache", True)


def needs_a_log_on_nvme(now: float) -> Node:
    """No enclosure gives the bay of any disk."""
    return turned(with_one("log", True), nvme)


NODES: Mapping[str, Callable[[float], Mapping[str, Node]]] = {
    "add-auxiliary": lambda now: {"oss01": needs_a_spare(now)},
    "add-auxiliary-log": lambda now: {"oss01": needs_a_log(now)},
}
HANDS: Mapping[str, Hand] = SCAN_CHOSEN  # step -> what is taken for done there, for each MANUAL step

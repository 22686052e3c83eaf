"""A node that needs wipe-destroyed-member, for the demo, rehearsals and tests."""

from collections.abc import Callable, Mapping

from twin.model import Node
from twin.scenarios import destroyed
from workflows.rehearsal.hand import Hand

NODES: Mapping[str, Callable[[float], Mapping[str, Node]]] = {"wipe-destroyed-member": lambda now: {"oss01": destroyed()}}
HANDS: Mapping[str, Hand] = {}  # step -> what is taken for done there, for each MANUAL step

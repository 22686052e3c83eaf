"""A node that needs wipe-disk, for the demo, rehearsals and tests."""

from collections.abc import Callable, Mapping

from twin.model import Node
from twin.scenarios import superseded
from workflows.rehearsal.hand import Hand

NODES: Mapping[str, Callable[[float], Mapping[str, Node]]] = {"wipe-disk": lambda now: {"oss01": superseded()}}
HANDS: Mapping[str, Hand] = {}  # step -> what is taken for done there, for each MANUAL step

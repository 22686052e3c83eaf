"""Nodes that need import-without-log, for the demo, rehearsals and tests, and what somebody does on them when a step asks."""

from collections.abc import Callable, Mapping

from twin.model import Node
from twin.scenarios import not_imported
from workflows.rehearsal.hand import Hand
from workflows.runbooks.remove_auxiliary.rehearsal import add_log, lose


def without_its_log(mirror: bool = False) -> Node:
    """This host used the pool last, and its log did not come up after the boot."""
    node = not_imported(blanks=3)
    disks = node.disks[6:8] if mirror else node.disks[6:7]
    lose(node, add_log(node, "ost_0", disks), disks)
    return node


NODES: Mapping[str, Callable[[float], Mapping[str, Node]]] = {
    "import-without-log": lambda now: {"oss01": without_its_log()},
}
HANDS: Mapping[str, Hand] = {
    "search": Hand("That the log was looked for and does not come back.", lambda play: "Looked for in every slot; its controller is dead."),
    "start": Hand("That what is listed was started by hand.", lambda play: "All that is listed was started by hand."),
}

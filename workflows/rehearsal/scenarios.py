"""The scenarios of `./run demo --scenario NAME`, one at least for each runbook: those of the twin, and those in the runbooks' folders."""

from collections.abc import Callable, Mapping

from twin import stories
from twin.model import Node
from workflows.runbooks._parts import parts

Nodes = Callable[[float], Mapping[str, Node]]
OF_RUNBOOKS: dict[str, Nodes] = {name: make for _, part in parts("rehearsal") for name, make in part.NODES.items()}


def nodes(name: str, now: float) -> dict[str, Node]:
    """The nodes of a scenario by hostname, the one that needs the runbook first. Raises KeyError for a name that is none."""
    return dict(OF_RUNBOOKS[name](now)) if name in OF_RUNBOOKS else stories.nodes(name, now)


def names() -> tuple[str, ...]:
    return (*stories.names(), *OF_RUNBOOKS)

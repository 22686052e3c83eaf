"""What an output only lists: an output that says of nothing whether it is well, and a pool that is in a list and whose tree was not pasted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from agents.collectors.zpool_get import Property
from agents.collectors.zpool_list import PoolSpace
from workflows.facts import FleetFacts
from workflows.pasted import zpool_list_text
from workflows.pasted.pool_states import States
from workflows.pasted.zfs_list import Datasets
from workflows.triage import no_pools, silent_logs
from workflows.triage.hosts import NAMELESS


def only_lists(source: str, value: Any) -> bool:
    """Whether what was read says of nothing whether it is well: a list of disks, an enclosure without its elements."""
    if source == "kernel_log":
        return silent_logs.only_names(value)
    return (source == "smart" and value.is_empty) or (source == "ses" and not value.elements) or no_pools.lists_none(source, value)


def pools(values: Iterable[Any]) -> frozenset[str]:
    """The pools of which these outputs show that they are imported, without a word on their vdevs."""
    return frozenset(name for value in values for name in _names(value)) - {zpool_list_text.NOT_NAMED, "-"}


def _names(value: Any) -> Iterator[str]:
    if isinstance(value, States):
        yield from (state.pool for state in value.states if not state.vdev)
    elif isinstance(value, zpool_list_text.Pools):
        yield from (pool.space.name for pool in value.pools)
    elif isinstance(value, Datasets):
        yield from (row.name.partition("@")[0].partition("/")[0] for row in value.rows)
    elif isinstance(value, tuple):
        yield from (one.pool.name for one in value if isinstance(one, PoolSpace))
        yield from (one.pool.partition("/")[0] for one in value if isinstance(one, Property))


def doubts(listed: Mapping[str, frozenset[str]], fleet: FleetFacts) -> Iterator[str]:
    """One sentence for each pool in a list, where the tree of another pool was read and its own was not."""
    trees = {node: {pool.name for pool in facts.pools_read} for node, facts in fleet.nodes.items()}
    every = frozenset(name for names in trees.values() for name in names)
    for node, names in listed.items():
        own = every if node == NAMELESS else trees.get(node, set()) | trees.get(NAMELESS, set())
        for name in sorted(names - own) if own else ():
            yield f"{node}: {name} is in a list, and no `zpool status` of it was read: how it is, is not known. `zpool status -P -p {name}` shows it."

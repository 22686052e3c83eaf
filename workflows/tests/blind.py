"""The same facts with one of them not known, for each that may be: of the node, of its pools, its disks and its members."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any

from workflows.facts import DiskFacts, FleetFacts, NodeFacts, PoolFacts, Unknown, VdevFacts, known

SILENT = Unknown("Nobody said.")


def may_be_unknown(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind) if str(field.type).startswith("Known["))


def blinded(facts: FleetFacts, name: str) -> Iterator[tuple[str, FleetFacts]]:
    """What is not known any more of this node, and the facts without it. What is not known already is left out."""
    here = facts.nodes[name]
    for field in may_be_unknown(NodeFacts):
        yield from _without(facts, here, f"node.{field}", {field: SILENT})
    for field in may_be_unknown(PoolFacts):
        yield from _without(facts, here, f"pool.{field}", {"pools": _each(here.pools, field)})
    for field in may_be_unknown(DiskFacts):
        yield from _without(facts, here, f"disk.{field}", {"disks": _each(here.disks, field)})
    for field in may_be_unknown(VdevFacts):
        yield from _without(facts, here, f"member.{field}", {"pools": _each_member(here.pools, field)})


def _without(facts: FleetFacts, here: NodeFacts, what: str, changes: dict[str, Any]) -> Iterator[tuple[str, FleetFacts]]:
    blind = replace(here, **changes)
    if blind != here:
        yield what, replace(facts, nodes={**facts.nodes, here.node: blind})


def _each(things: Any, field: str) -> Any:
    return tuple(replace(thing, **{field: SILENT}) for thing in things) if known(things) else things


def _each_member(pools: Any, field: str) -> Any:
    if not known(pools):
        return pools
    tops = [pool.tops if known(pool.tops) else () for pool in pools]
    return tuple(
        replace(pool, tops=tuple((role, _members(top, field)) for role, top in found)) if known(pool.tops) else pool
        for pool, found in zip(pools, tops, strict=True)
    )


def _members(vdev: VdevFacts, field: str) -> VdevFacts:
    if not vdev.children:
        return replace(vdev, **{field: SILENT})
    return replace(vdev, children=tuple(_members(child, field) for child in vdev.children))

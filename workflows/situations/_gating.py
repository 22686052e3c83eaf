"""While the fate of a pool is in doubt, nobody is told to replace a disk of it.

What gates is a situation with `gate`, or the verdict on the pool itself. Of every other situation of that pool the runbooks that replace go, and
the cures that do; the situation says what comes first, and where that stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from workflows.core import Situation
from workflows.facts import FleetFacts
from workflows.fate import fate
from workflows.situations._cures import REPLACING

GATED_BY = "gated_by"  # in `subject`: the key of the situation that gates, or BY_FATE
BY_FATE = "fate"
ALL = ""  # in place of a pool's name: every pool of the node


@dataclass(frozen=True)
class Gate:
    """What comes before any replacement."""

    key: str  # of the situation, or BY_FATE
    why: str  # one sentence without its full stop


Gates = Mapping[tuple[str, str], Gate]  # (node, pool)


def gates(fleet: FleetFacts, found: Iterable[Situation]) -> Gates:
    """Every pool that is gated, and by what. A situation that names no pool gates all of its node."""
    standing = {(one.node, pool): Gate(one.key, one.title) for one in reversed(tuple(found)) if one.gate for pool in _pools(one)}
    by_fate = {}
    for node in fleet.nodes.values():
        for pool in node.pools_read:
            verdict = fate(node, pool, fleet)
            if verdict.gates:
                by_fate[node.node, pool.name] = Gate(BY_FATE, verdict.reason.rstrip("."))
    return by_fate | standing


def _pools(one: Situation) -> tuple[str, ...]:
    return tuple(one.subject.get("pools", one.subject.get("pool", ALL)).split(" "))


def gated(fleet: FleetFacts, found: Iterable[Situation]) -> tuple[Situation, ...]:
    """The same situations; those of a pool that is gated without anything that replaces, and with a word on what comes first."""
    listed = tuple(found)
    standing = gates(fleet, listed)
    return tuple(_without(one, gate) if standing and (gate := _of(one, standing)) is not None else one for one in listed)


def _of(one: Situation, standing: Gates) -> Gate | None:
    found = (standing.get((one.node, pool)) or standing.get((one.node, ALL)) for pool in _pools(one))
    return next((gate for gate in found if gate is not None), None)


def _without(one: Situation, gate: Gate) -> Situation:
    """Left alone where there is nothing to hold back."""
    answers = tuple(answer for answer in one.answers if answer.runbook not in REPLACING)
    cures = tuple(cure for cure in one.cures if cure.kind != "replace" and cure.runbook not in REPLACING)
    subject = {**one.subject, GATED_BY: gate.key}
    if (answers, cures) == (one.answers, one.cures):
        return replace(one, subject=subject)
    note = (
        f"First: {gate.why}. Until that is settled take no disk of {one.subject.get('pool', 'this node')} out, and put none in its place."
    )
    return replace(one, answers=answers, cures=cures, subject=subject, meaning=one.meaning if one.gate else f"{one.meaning} {note}")


def is_gated(one: Situation) -> bool:
    return one.gate or GATED_BY in one.subject


def gating(fleet: FleetFacts, modules: Iterable, node: str, pool: str) -> Iterator[Situation]:
    """The situations with `gate` that stand on this pool, from the modules that can have one."""
    for module in modules:
        for one in module.detect(fleet):
            if one.gate and one.node == node and (pool in _pools(one) or ALL in _pools(one)):
                yield one

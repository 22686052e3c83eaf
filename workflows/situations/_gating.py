"""While the state of a pool is not decided, no situation advises to replace a disk of it.

What gates is a situation with `gate`, or the verdict on the pool itself. Of every other situation of that pool the runbooks that replace go, and
the cures that do, with what else that gate holds back; the situation says what comes first, and where that stands.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from workflows.analysis.pool_fate import Verdict, fate
from workflows.engine.core import Cure, Situation
from workflows.facts import FleetFacts
from workflows.situations._cures import DOES

GATED_BY = "gated_by"  # in `subject`: the key of the situation that gates, or BY_FATE
BY_FATE = "fate"
REPLACEMENT = frozenset(("replace",))
# What a pool that does not serve would refuse, or what would hide why it does not
OF_A_POOL_THAT_SERVES = REPLACEMENT | {"clear", "detach", "attach", "add", "remove", "scrub", "resilver"}
HANGS = OF_A_POOL_THAT_SERVES | {"online"}  # commands that wait for ever on a pool whose I/O is suspended
SETTINGS = ("other", "upgrade")  # kinds of cures
READS = frozenset(("status", "events", "list", "iostat", "get", "history", "version"))
HELD_BACK_BY = {"device-used-twice": HANGS}  # slug of a gating situation -> kinds of cures; of others those that replace
_NEW_DISK = re.compile(r"(?:^|/)NEW(?:_DISK|$)")  # stands in a command for a disk that only the operator knows
ALL = ""  # in place of a pool's name: every pool of the node


@dataclass(frozen=True)
class Gate:
    """What comes before any replacement."""

    key: str  # of the situation, or BY_FATE
    why: str  # one sentence without its full stop
    held_back: frozenset[str] = REPLACEMENT  # kinds of cures


class Detector(Protocol):
    """A module of this folder."""

    def detect(self, fleet: FleetFacts) -> tuple[Situation, ...]: ...


Gates = Mapping[tuple[str, str], Gate]  # (node, pool)


def gates(fleet: FleetFacts, found: Iterable[Situation]) -> Gates:
    """Every pool that is gated, and by what. A situation that names no pool gates all of its node."""
    standing = {(one.node, pool): one for one in reversed(tuple(found)) if one.gate for pool in _pools(one)}
    by_name = {where: Gate(one.key, one.title, HELD_BACK_BY.get(one.slug, REPLACEMENT)) for where, one in standing.items()}
    for node in fleet.nodes.values():
        for pool in node.pools_read:
            verdict = fate(node, pool, fleet)
            if verdict.gates:
                gate = by_name.get((node.node, pool.name), Gate(BY_FATE, verdict.reason.rstrip(".")))
                by_name[node.node, pool.name] = replace(gate, held_back=gate.held_back | _held_back(verdict.verdict))
    return by_name


def _held_back(verdict: Verdict) -> frozenset[str]:
    if verdict in ("hung", "suspended"):
        return HANGS
    return OF_A_POOL_THAT_SERVES if verdict in ("down", "held", "moved") else REPLACEMENT


def _pools(one: Situation) -> tuple[str, ...]:
    return tuple(one.subject.get("pools", one.subject.get("pool", ALL)).split(" "))


def gated(fleet: FleetFacts, found: Iterable[Situation]) -> tuple[Situation, ...]:
    """The same situations; those of a pool that is gated without anything that replaces, and with a word on what comes first."""
    listed = tuple(found)
    standing = gates(fleet, listed)
    return tuple(_without(one, gate) if standing and (gate := _of(one, standing)) is not None else one for one in listed)


def _of(one: Situation, standing: Gates) -> Gate | None:
    """Of one that names no pool and would replace a disk, any gate of its node: whose member that disk is is not known."""
    found = (standing.get((one.node, pool)) or standing.get((one.node, ALL)) for pool in _pools(one))
    gate = next((gate for gate in found if gate is not None), None)
    if gate is not None or ALL not in _pools(one) or not _replaces(one):
        return gate
    other = next((each for (node, _), each in standing.items() if node == one.node), None)
    return None if other is None else replace(other, held_back=REPLACEMENT)


def _replaces(one: Situation) -> bool:
    return any("replace" in (cure.kind, DOES.get(cure.runbook)) for cure in one.cures) or any(
        DOES.get(answer.runbook) == "replace" for answer in one.answers
    )


def _without(one: Situation, gate: Gate) -> Situation:
    """Left alone where there is nothing to hold back."""
    held_back = REPLACEMENT if one.gate else gate.held_back  # what gates knows what helps the pool
    answers = tuple(answer for answer in one.answers if DOES.get(answer.runbook) not in held_back)
    cures = tuple(
        cure
        for cure in one.cures
        if not {cure.kind, DOES.get(cure.runbook)} & held_back
        and not (_of_a_new_disk(cure) and not one.gate)
        and not (held_back != REPLACEMENT and _writes_to_it(cure))
    )
    subject = one.subject if one.key == gate.key else {**one.subject, GATED_BY: gate.key}
    if (answers, cures) == (one.answers, one.cures):
        return replace(one, subject=subject)
    note = (
        f"First: {gate.why}. Until that is settled take no disk of {one.subject.get('pool', 'this node')} out, and put none in its place."
    )
    cures = cures or (Cure("wait", note),)
    return replace(one, answers=answers, cures=cures, subject=subject, meaning=one.meaning if one.gate else f"{one.meaning} {note}")


def _writes_to_it(cure: Cure) -> bool:
    """Whether it changes a setting of the pool, which one that does not serve refuses, or never answers."""
    return cure.kind in SETTINGS and any(argv[0] in ("zpool", "zfs") and argv[1] not in READS for argv in cure.argv)


def _of_a_new_disk(cure: Cure) -> bool:
    """Whether it prepares or writes to a disk that comes, which only a replacement needs."""
    return any(_NEW_DISK.search(word) for argv in cure.argv for word in argv)


def is_gated(one: Situation) -> bool:
    return one.gate or GATED_BY in one.subject


def gating(fleet: FleetFacts, modules: Iterable[Detector], node: str, pool: str) -> Iterator[Situation]:
    """The situations with `gate` that stand on this pool, from the modules that can have one."""
    for module in modules:
        for one in module.detect(fleet):
            if one.gate and one.node == node and (pool in _pools(one) or ALL in _pools(one)):
                yield one

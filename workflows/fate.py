"""What a pool does for its users now, decided before anything is said of a member.

serving    all of it serves, with the redundancy it was made with
reduced    it serves with less redundancy than it was made with
hung       commands about it do not return
suspended  the kernel stopped its I/O
down       it cannot serve: FAULTED or UNAVAIL, or a top-level vdev that holds data is
held       another host has it
moved      its members are there under other names
unknown    what was read does not say, or contradicts itself
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from workflows.facts import NodeFacts, PoolFacts, known

Verdict = Literal["serving", "reduced", "hung", "suspended", "down", "held", "moved", "unknown"]


@dataclass(frozen=True)
class Fate:
    """The verdict of one pool, why, and whether it forbids replacing any member for now."""

    verdict: Verdict
    reason: str  # one sentence
    gates: bool = False
    contradiction: str = ""  # where the row of the pool or of a vdev and its leaves do not fit together


def fate(node: NodeFacts, pool: PoolFacts) -> Fate:
    """The verdict of `pool` as `node` has it."""
    if known(pool.suspended) and pool.suspended:
        return Fate("suspended", f"The kernel suspended the I/O of {pool.name}.", gates=True)
    if pool.state in ("FAULTED", "UNAVAIL"):
        return Fate("down", f"{pool.name} is {pool.state}.", gates=True)
    if pool.state == "DEGRADED":
        return Fate("reduced", f"{pool.name} is DEGRADED.")
    if pool.state == "ONLINE":
        return Fate("serving", f"{pool.name} is ONLINE.")
    return Fate("unknown", f"{pool.name} is {pool.state or 'in a state that was not read'}.", gates=True)

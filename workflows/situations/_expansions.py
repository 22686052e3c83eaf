"""What an `expand:` entry says: a raidz that takes in one more disk moves all its data. OpenZFS 2.3 and newer."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from workflows.engine.core import Cure
from workflows.facts import FleetFacts, NodeFacts, PoolFacts, VdevFacts, lookup
from workflows.situations import _pools
from workflows.situations._limits import EXPANSION_PERCENT_MAX

_RUNS = re.compile(r"[Ee]xpansion of (?:vdev [0-9]{1,9}|(\S+)) in progress since|\bSCANNING\b")
_WAITS = re.compile(r"(?:paused|waiting) for resilver or clear")
_PERCENT = re.compile(r"([0-9]{1,9}(?:[.,][0-9]{1,4})?)% done")
_RATE = re.compile(r" at ([0-9]+(?:[.,][0-9]+)?)([BKMGTPE]?)B?/s")


@dataclass(frozen=True)
class Expansion:
    """One that has not ended."""

    node: NodeFacts
    pool: PoolFacts
    top: str  # "raidz2-0", or "raidz2-0-0" where the number of the vdev is appended once more; "" where it is not given
    percent: float | None

    @property
    def text(self) -> str:
        return self.pool.expansion_line

    @property
    def waits(self) -> bool:
        """Whether it stands until a resilver has ended or errors were cleared."""
        return _WAITS.search(self.text) is not None

    @property
    def too_far(self) -> bool:
        return self.percent is not None and self.percent > EXPANSION_PERCENT_MAX

    @property
    def slow(self) -> bool:
        """Whether ZFS gives no time to go, or a rate of nothing."""
        rate = _RATE.search(self.text)
        return "copy is slow" in self.text or (rate is not None and not rate.group(1).strip("0.,"))

    @property
    def is_stuck(self) -> bool:
        return self.waits or self.too_far or self.slow

    @property
    def lost(self) -> tuple[VdevFacts, ...]:
        """Members out of service: it stands still until each is back or replaced."""
        return tuple(leaf for _, top in self.pool.tops_read for leaf in top.leaves() if lookup.serves_nothing(leaf))

    def replacing(self) -> Iterator[Cure]:
        if self.lost:
            names = ", ".join(one.short for one in self.lost)
            yield _pools.cure(
                "replace",
                f"Bring back or replace {names}, and let the resilver end: the expansion waits for that and goes on by itself. ZFS replaces a "
                "lost member during an expansion.",
            )

    @property
    def done(self) -> str:
        return "" if self.percent is None else f", {self.percent:g} % done"


def expansions(fleet: FleetFacts) -> Iterator[Expansion]:
    for node, pool in _pools.pools(fleet):
        found = _RUNS.search(pool.expansion_line) if pool.expansion_line else None
        if found is not None:
            percent = _PERCENT.search(pool.expansion_line)
            yield Expansion(node, pool, found.group(1) or "", float(percent.group(1).replace(",", ".")) if percent else None)
